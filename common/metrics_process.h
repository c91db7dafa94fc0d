// metrics_process.h: the process_* families every Prometheus client shows, read from /proc.
#pragma once
#include "common/text.h"

// Appends CPU seconds, resident bytes, open files and start time of this process. A figure that
// /proc does not give is left out. Names: prometheus.io/docs/instrumenting/writing_clientlibs.
void metrics_write_process(struct text *out);
