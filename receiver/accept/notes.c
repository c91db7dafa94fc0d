// What a batch's applied moves owe: once keys and frozen values.
#include "common/template/template.h"
#include "receiver/accept/batch.h"
#include "receiver/accept/values.h"

#define ONCE_MAX (64 * 1024)

struct once_keys {
    const struct policy *policy;
    struct template **by_message;
    struct template **collapse; // NULL where a message has none
};

struct once_keys *once_keys_new(const struct policy *policy, struct err *err)
{
    struct once_keys *once = xcalloc(1, sizeof *once);
    once->policy = policy;
    once->by_message = xcalloc(policy->n_messages, sizeof(struct template *));
    once->collapse = xcalloc(policy->n_messages, sizeof(struct template *));
    for (size_t i = 0; i < policy->n_messages; i++) {
        const struct message *message = &policy->messages[i];
        once->by_message[i] = template_new(message->name, slice_of(message->once), err);
        if (message->collapse)
            once->collapse[i] = template_new(message->name, slice_of(message->collapse), err);
        if (!once->by_message[i] || (message->collapse && !once->collapse[i])) {
            once_keys_free(once);
            return NULL;
        }
    }
    return once;
}

void once_keys_free(struct once_keys *once)
{
    if (!once)
        return;
    for (size_t i = 0; i < once->policy->n_messages; i++) {
        template_free(once->by_message[i]);
        template_free(once->collapse[i]);
    }
    free(once->by_message);
    free(once->collapse);
    free(once);
}

// What a once key may name: there an event goes by its whole name, since two sources, or two
// accounts of one, may use the same id. Returns the name, which values borrow.
static char *name_event(
        const struct batch *batch, const struct note *note, struct json_node *values)
{
    const struct candidate *event = &batch->judgements.rows[note->judgement].event;
    const struct source *source = policy_source_by_id(batch->policy, event->source);
    char *name = values_event_name(source ? source->name : "", event->scope, event->id);
    const struct json_node *id =
            json_tree_member(json_tree_member(values, SLICE("event")), SLICE("id"));
    if (id)
        values[id - values].text = slice_of(name);
    return name;
}

// One template of the note's values into a string of its own.
static bool expand(const struct template *template, const struct json_node *values, char **ret_text,
        struct err *err)
{
    struct text out;
    text_init(&out, ONCE_MAX);
    struct template_how how = {.part = TEMPLATE_TEXT};
    bool ok = template_expand(template, &how, values, &out, err);
    if (ok)
        *ret_text = text_steal(&out);
    text_fini(&out);
    return ok;
}

// The once key, and the collapse id of a message of an order.
static bool expand_keys(
        const struct batch *batch, const struct once_keys *once, struct note *note, struct err *err)
{
    AUTO_JSON_TREE struct json_tree values = {0};
    if (!json_tree_read(&values, slice_of(note->data), err))
        return false;
    size_t message = (size_t)(note->message - batch->policy->messages);
    const struct template *collapse = once->collapse[message];
    bool by_order = batch->judgements.rows[note->judgement].order != SIZE_MAX;
    AUTO_FREE char *name = name_event(batch, note, values.nodes);
    if (!expand(once->by_message[message], values.nodes, &note->once, err))
        return false;
    // Of what is always there (the policy's checker sees to it): it fails for no event.
    return !collapse || !by_order || expand(collapse, values.nodes, &note->collapse, err);
}

static struct note_words words_of(const struct batch *batch, const struct judgement *judgement)
{
    const struct candidate *event = &judgement->event;
    const struct source *source = policy_source_by_id(batch->policy, event->source);
    struct note_words words = {.event_id = event->id,
            .event_type = event->type,
            .source = source ? source->name : "",
            .contact = event->contact,
            .event_data = event->data};
    if (judgement->order == SIZE_MAX)
        return words;
    const struct order_run *run = &batch->orders[judgement->order];
    words.order_id = run->id;
    words.state = batch->policy->flow.states[event->to].name;
    words.contact = run->contact;
    words.data = run->data;
    return words;
}

static bool add_note(struct batch *batch, const struct once_keys *once, size_t message,
        size_t judgement, struct err *err)
{
    const struct judgement *row = &batch->judgements.rows[judgement];
    struct note_words words = words_of(batch, row);
    struct note note = {.message = &batch->policy->messages[message], .judgement = judgement};
    json_t *values = values_of_note(&words);
    note.data = values_compact(values);
    json_decref(values);
    bool ok = expand_keys(batch, once, &note, err);
    if (!ok) {
        free(note.data);
        free(note.once);
        return err_prefix(err, "once key of message '%s'", note.message->name);
    }
    note.contact = xstrdup(words.contact);
    note.id = key_notification(slice_of(note.once));
    note.bucket = row->order == SIZE_MAX ? key_bucket(note.id) : batch->orders[row->order].bucket;
    batch->notes = xrealloc(batch->notes, (batch->n_notes + 1) * sizeof *batch->notes);
    batch->notes[batch->n_notes++] = note;
    return true;
}

static bool owes(
        const struct message *message, const struct judgement *judgement, size_t index, int notify)
{
    if (judgement->order == SIZE_MAX)
        return (int)index == notify;
    return judgement->outcome == MOVE_APPLIED && message->when == judgement->event.to;
}

// An event without an order is judged by its rule alone: its `to` says which message (see
// judge_one).
static bool notes_of(
        struct batch *batch, const struct once_keys *once, size_t judgement, struct err *err)
{
    for (size_t m = 0; m < batch->policy->n_messages; m++) {
        const struct judgement *row = &batch->judgements.rows[judgement];
        if (owes(&batch->policy->messages[m], row, m, row->event.to) &&
                !add_note(batch, once, m, judgement, err))
            return false;
    }
    return true;
}

static struct candidate candidate_of(const struct batch *batch, const struct item *item)
{
    const struct event *event = item->event;
    struct candidate candidate = {.source = item->source->id,
            .to = event->to,
            .has_sequence = event->has_sequence,
            .sequence = event->sequence,
            .id = event->id,
            .scope = event->scope,
            .type = event->type ? event->type : "",
            .contact = event->contact ? event->contact : "{}",
            .data = event->data ? event->data : "{}"};
    if (item->order != SIZE_MAX)
        candidate.to_id = batch->policy->flow.states[event->to].id;
    return candidate;
}

static void judge_one(struct batch *batch, struct item *item)
{
    struct event *event = item->event;
    struct candidate candidate = candidate_of(batch, item);
    if (item->order != SIZE_MAX) {
        event->move = run_judge(&batch->orders[item->order], item->order, &batch->policy->flow,
                &candidate, &batch->judgements);
        if (batch->orders[item->order].too_large)
            event->remark = EVENT_NOT_KEPT;
        if (event->move == MOVE_EARLY || event->move == MOVE_UNKNOWN_ORDER)
            event->outcome = EVENT_PARKED;
    } else if (event->rule && event->rule->notify >= 0 && !event->parked_reason) {
        event->move = MOVE_APPLIED;
        candidate.to = event->rule->notify;
        struct judgement *row = judgements_add(&batch->judgements);
        *row = (struct judgement){.order = SIZE_MAX, .event = candidate, .outcome = MOVE_APPLIED};
    }
}

static int by_note_key(const void *left, const void *right)
{
    const struct note *a = left, *b = right;
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    int order = memcmp(a->id.bytes, b->id.bytes, KEY_BYTES);
    return order ? order : (a->judgement > b->judgement) - (a->judgement < b->judgement);
}

bool batch_judge(struct batch *batch, const struct once_keys *once, struct err *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct item *item = &batch->items[batch->queue[i]];
        if (!item->won)
            continue;
        size_t first = batch->judgements.n;
        judge_one(batch, item);
        // The values are frozen as they are right after these judgements, before the next event of
        // the batch.
        for (size_t j = first; j < batch->judgements.n; j++)
            if (!notes_of(batch, once, j, err))
                return false;
    }
    if (batch->n_notes)
        qsort(batch->notes, batch->n_notes, sizeof *batch->notes, by_note_key);
    return true;
}
