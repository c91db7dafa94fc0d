// count.h: the metrics of a batch that was committed.
#pragma once
#include "receiver/accept/batch.h"

void count_batch(const struct batch *batch);
