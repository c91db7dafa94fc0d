#include "receiver/accept/run.h"

#include "receiver/accept/values.h"

struct judgement *judgements_add(struct judgements *all)
{
    if (all->n == all->room) {
        all->room = all->room ? 2 * all->room : 64;
        all->rows = xrealloc(all->rows, all->room * sizeof *all->rows);
    }
    struct judgement *row = &all->rows[all->n++];
    *row = (struct judgement){0};
    return row;
}

static struct wait *add_wait(struct order_run *run)
{
    run->waits = xrealloc(run->waits, (run->n_waits + 1) * sizeof *run->waits);
    struct wait *wait = &run->waits[run->n_waits++];
    *wait = (struct wait){0};
    run->open_waits++;
    return wait;
}

static const char *keep_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

void run_add_stored_wait(struct order_run *run, const struct candidate *event)
{
    struct wait *wait = add_wait(run);
    wait->event = *event;
    wait->stored = true;
    wait->owned = xmalloc(strlen(event->id) + strlen(event->scope) + strlen(event->type) +
                          strlen(event->contact) + strlen(event->data) + 5);
    char *at = wait->owned;
    wait->event.id = keep_text(&at, event->id);
    wait->event.scope = keep_text(&at, event->scope);
    wait->event.type = keep_text(&at, event->type);
    wait->event.contact = keep_text(&at, event->contact);
    wait->event.data = keep_text(&at, event->data);
}

static struct last_sequence *sequence_of(struct order_run *run, int source)
{
    for (size_t i = 0; i < run->n_sequences; i++)
        if (run->sequences[i].source == source)
            return &run->sequences[i];
    return NULL;
}

static void raise_sequence(struct order_run *run, const struct candidate *event)
{
    if (!event->has_sequence)
        return;
    struct last_sequence *last = sequence_of(run, event->source);
    if (!last) {
        run->sequences = xrealloc(run->sequences, (run->n_sequences + 1) * sizeof *run->sequences);
        last = &run->sequences[run->n_sequences++];
        *last = (struct last_sequence){event->source, INT64_MIN};
    }
    if (event->sequence > last->last) {
        last->last = event->sequence;
        run->changed = true;
    }
}

static struct standing standing_of(struct order_run *run, const struct flow *flow, int source)
{
    struct standing order = {.state = STATE_NONE};
    if (run->state_id != 0) {
        int index = flow_state_by_id(flow, run->state_id);
        order.state = index < 0 ? STATE_FOREIGN : index;
    }
    for (size_t i = 0; i < run->n_done; i++) {
        int index = flow_state_by_id(flow, run->done[i]);
        if (index >= 0)
            order.done |= UINT64_C(1) << index;
    }
    const struct last_sequence *last = sequence_of(run, source);
    if (last) {
        order.has_last = true;
        order.last_sequence = last->last;
    }
    return order;
}

static void move_to(struct order_run *run, int state_id)
{
    run->state_id = state_id;
    run->version++;
    run->done = xrealloc(run->done, (run->n_done + 1) * sizeof *run->done);
    run->done[run->n_done++] = state_id;
    run->changed = true;
}

static bool must_wait(enum move_outcome outcome)
{
    return outcome == MOVE_EARLY || outcome == MOVE_UNKNOWN_ORDER;
}

static void note_judgement(const struct order_run *run, size_t index, int from_id,
        const struct candidate *event, enum move_outcome outcome, struct judgements *all)
{
    struct judgement *row = judgements_add(all);
    *row = (struct judgement){.order = index,
            .event = *event,
            .outcome = outcome,
            .from_id = from_id,
            .version = run->version};
}

// Judges on the running state and carries the judgement out; an event that must (still) wait leaves
// no trace.
static enum move_outcome step(struct order_run *run, size_t index, const struct flow *flow,
        const struct candidate *event, struct judgements *all)
{
    struct standing order = standing_of(run, flow, event->source);
    struct claimed_step claimed = {event->to, event->has_sequence, event->sequence};
    enum move_outcome outcome =
            event->to == STATE_FOREIGN ? MOVE_CONFLICT : judge(flow, &order, &claimed);
    if (must_wait(outcome))
        return outcome;
    int from_id = run->state_id;
    if (outcome == MOVE_APPLIED)
        move_to(run, event->to_id);
    if (outcome == MOVE_APPLIED || outcome == MOVE_ALREADY_DONE)
        raise_sequence(run, event);
    note_judgement(run, index, from_id, event, outcome, all);
    return outcome;
}

static void settle_waits(
        struct order_run *run, size_t index, const struct flow *flow, struct judgements *all)
{
    bool moved = true;
    while (moved && run->open_waits > 0) {
        moved = false;
        for (size_t i = 0; i < run->n_waits; i++) {
            struct wait *wait = &run->waits[i];
            if (wait->judged)
                continue;
            enum move_outcome outcome = step(run, index, flow, &wait->event, all);
            if (must_wait(outcome))
                continue;
            wait->judged = true;
            run->open_waits--;
            run->changed = true;
            moved |= outcome == MOVE_APPLIED;
        }
    }
}

enum move_outcome run_judge(struct order_run *run, size_t index, const struct flow *flow,
        const struct candidate *event, struct judgements *all)
{
    // Whatever becomes of it: the event is verified, so the order may keep what it says of the
    // customer.
    run->too_large = false;
    run->changed |= values_fill(&run->contact, event->contact, &run->too_large);
    run->changed |= values_fill(&run->data, event->data, &run->too_large);
    enum move_outcome outcome = step(run, index, flow, event, all);
    if (outcome == MOVE_APPLIED)
        settle_waits(run, index, flow, all);
    if (!must_wait(outcome))
        return outcome;
    if (run->open_waits >= WAITING_MAX)
        outcome = MOVE_CONFLICT;
    note_judgement(run, index, run->state_id, event, outcome, all);
    if (outcome == MOVE_CONFLICT)
        return outcome;
    struct wait *wait = add_wait(run);
    wait->event = *event;
    wait->reason = outcome;
    run->changed = true;
    return outcome;
}

void run_fini(struct order_run *run)
{
    for (size_t i = 0; i < run->n_waits; i++)
        free(run->waits[i].owned);
    free(run->waits);
    free(run->done);
    free(run->sequences);
    free(run->contact);
    free(run->data);
    *run = (struct order_run){0};
}
