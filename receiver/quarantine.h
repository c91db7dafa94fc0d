// quarantine.h: hands what verify refused to the stage that keeps it; what is a secret stays out.
#pragma once
#include "receiver/http/stages.h"
#include "receiver/reject/reject.h"

// For stages.refused. Any thread.
void quarantine_refused(struct reject *reject, const struct refused *refused);
