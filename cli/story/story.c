#include "cli/story/story.h"

static void event_fini(struct story_event *event)
{
    free(event->scope);
    free(event->id);
}

static bool same_event(const struct story_event *a, const struct story_event *b)
{
    return a->source == b->source && strcmp(a->scope, b->scope) == 0 && strcmp(a->id, b->id) == 0;
}

void story_add_event(struct story *story, struct story_event event)
{
    bool known = story->n_events == STORY_ROWS_MAX;
    for (size_t i = 0; i < story->n_events && !known; i++)
        known = same_event(&story->events[i], &event);
    if (known)
        event_fini(&event);
    else
        story->events[story->n_events++] = event;
}

void story_add_note(struct story *story, struct story_note note)
{
    bool known = story->n_notes == STORY_ROWS_MAX;
    for (size_t i = 0; i < story->n_notes && !known; i++)
        known = memcmp(&story->notes[i].id, &note.id, sizeof note.id) == 0;
    if (!known)
        story->notes[story->n_notes++] = note;
}

void story_free(struct story *story)
{
    if (!story)
        return;
    for (size_t i = 0; i < story->n_events; i++)
        event_fini(&story->events[i]);
    for (size_t i = 0; i < story->n_lines; i++) {
        free(story->lines[i].subject);
        free(story->lines[i].what);
        free(story->lines[i].outcome);
        free(story->lines[i].detail);
    }
    free(story->lines);
    free(story->order);
    free(story->state);
    free(story->only_event);
    free(story);
}

static int by_time(const void *a, const void *b)
{
    const struct story_line *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    return x->nth - y->nth;
}

static void auto_story(struct story **story)
{
    story_free(*story);
}

struct story *story_new(struct pg *pg, int base, const char *ref, int64_t since_s, struct err *err)
{
    __attribute__((cleanup(auto_story))) struct story *story = xcalloc(1, sizeof *story);
    if (!story_find(story, pg, base, ref, since_s, err) || !story_read(story, pg, base, err))
        return NULL;
    if (story->n_lines > 0)
        qsort(story->lines, story->n_lines, sizeof *story->lines, by_time);
    return steal(&story);
}
