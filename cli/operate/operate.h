// operate.h: what a person does to deliveries by hand: `pawl deliveries resolve|cancel|redrive`.
#pragma once
#include "cli/command.h"

int deliveries_resolve(const struct call *call);
int deliveries_cancel(const struct call *call);
int deliveries_redrive(const struct call *call);
