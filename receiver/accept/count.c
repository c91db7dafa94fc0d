#include "receiver/accept/count.h"

#include "common/metrics.h"

static bool is_copy(enum event_outcome outcome)
{
    return outcome == EVENT_DUPLICATE || outcome == EVENT_MISMATCH || outcome == EVENT_REPLAY;
}

static void count_copy(const struct event *event, const char *hop, double window_s)
{
    series_inc(metric(METRIC_DUPLICATES, hop, NULL));
    series_observe(metric(METRIC_DUPLICATE_AGE, hop, NULL), (double)event->age_us / 1e6);
    series_observe(metric(METRIC_WINDOW_USED, hop, NULL), (double)event->age_us / 1e6 / window_s);
}

static void count_copies(const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct event *event = batch->items[i].event;
        if (event->outcome == EVENT_LATE)
            series_inc(metric(METRIC_LATE, batch->items[i].source->name, NULL));
        if (event->remark && strcmp(event->remark, EVENT_NOT_KEPT) == 0)
            series_inc(metric(METRIC_NOT_KEPT, batch->items[i].source->name, NULL));
        if (is_copy(event->outcome))
            count_copy(event, batch->items[i].source->receipts ? "receipt" : "inbox",
                    (double)batch->policy->keep_keys_s);
    }
}

// What says again what is known already is a repeat too, be it another event.
static void count_receipts(const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct item *item = &batch->items[i];
        if (!item->settled)
            continue;
        series_inc(metric(METRIC_RECEIPTS, item->source->name,
                receipt_kind_name(item->event->receipt->kind), settle_outcome_name(item->settled),
                NULL));
        if (item->settled == SETTLE_SAME)
            series_inc(metric(METRIC_DUPLICATES, "receipt", NULL));
    }
}

static void count_moves(const struct batch *batch)
{
    struct series *of[MOVE_UNKNOWN_ORDER + 1] = {0};
    for (size_t i = 0; i < batch->judgements.n; i++) {
        const struct judgement *row = &batch->judgements.rows[i];
        if (row->order == SIZE_MAX)
            continue;
        if (!of[row->outcome])
            of[row->outcome] = metric(METRIC_MOVES, move_outcome_name(row->outcome), NULL);
        series_inc(of[row->outcome]);
        if (row->outcome == MOVE_ALREADY_DONE)
            series_inc(metric(METRIC_DUPLICATES, "move", NULL));
    }
}

static void count_notes(const struct batch *batch)
{
    for (size_t i = 0; i < batch->n_notes; i++) {
        const struct note *note = &batch->notes[i];
        if (!note->made) {
            series_inc(metric(METRIC_DUPLICATES, "notification", NULL));
            continue;
        }
        series_inc(metric(METRIC_NOTIFICATIONS, note->message->name, NULL));
        for (size_t s = 0; s < note->message->n_steps; s++)
            if (!note->message->steps[s].active)
                series_inc(metric(METRIC_STEPS_INACTIVE, note->message->name,
                        channel_name(note->message->steps[s].channel), NULL));
    }
}

void count_batch(const struct batch *batch)
{
    series_observe(metric(METRIC_BATCH_EVENTS, NULL), (double)batch->n);
    series_set(metric(METRIC_DEDUPE_WINDOW, NULL), (double)batch->policy->keep_keys_s);
    count_copies(batch);
    count_receipts(batch);
    count_moves(batch);
    count_notes(batch);
}
