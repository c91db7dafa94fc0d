// metrics.h: counters, gauges and histograms of this process, written as Prometheus text.
//
// A family is declared in metrics.def (name, type, help, label names, buckets). Label values come
// only from configuration or from enums: never ids, addresses or error texts. Thread-safe; a series
// is found once and then counted without a lock.
#pragma once
#include "common/text.h"

enum metric_family {
#define METRIC(id, name, type, labels, help) METRIC_##id,
#include "common/metrics.def"
#undef METRIC
    METRIC_COUNT
};

struct series; // lives as long as the process

// Finds or makes the series of a family with these label values (as many as the family has labels,
// then NULL). At most 5,000 series a process; beyond that all go to one series with label values
// "other".
struct series *metric(enum metric_family family, ...) __attribute__((sentinel));

void series_add(struct series *series, double v);     // counters
void series_set(struct series *series, double v);     // gauges
void series_observe(struct series *series, double v); // histograms, v in the family's unit
static inline void series_inc(struct series *series)
{
    series_add(series, 1);
}

// Appends the exposition text of all families (0.0.4), every family with HELP and TYPE even without
// a series.
bool metrics_write(struct text *out);
