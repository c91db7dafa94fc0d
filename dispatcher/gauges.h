// gauges.h: reads the figures that only the database knows, every ten seconds; a backlog that takes
// long to count is counted more rarely.
#pragma once
#include "dispatcher/work.h"

struct gauges;
struct gauges *gauges_new(void);
void gauges_free(struct gauges *gauges);
struct work_kind gauges_work(struct gauges *gauges);
int64_t gauges_next_ms(const struct gauges *gauges); // when they are to be read (again)
void gauges_show_age(const struct gauges *gauges, int64_t now_ms);

// Pure: how long after a count that took so long the next one begins.
int64_t gauges_rest_ms(int64_t took_ms);
