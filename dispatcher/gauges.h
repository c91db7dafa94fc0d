// gauges.h: reads the figures that only the database knows, every ten seconds.
#pragma once
#include "dispatcher/work.h"

struct gauges;
struct gauges *gauges_new(void);
void gauges_free(struct gauges *gauges);
struct work_kind gauges_work(struct gauges *gauges);
void gauges_show_age(const struct gauges *gauges, int64_t now_ms);
