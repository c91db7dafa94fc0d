#include "dispatcher/send/streams.h"

#include <stdio.h>

#define LINE_MAX_LEN 300

static void went_away(struct goaways *goaways, long connection, int64_t last)
{
    for (size_t i = 0; i < GOAWAYS_KEPT; i++) {
        struct goaway *row = &goaways->rows[i];
        if (row->connection != connection)
            continue;
        row->last = last < row->last ? last : row->last;
        return;
    }
    goaways->rows[goaways->next] = (struct goaway){connection, last};
    goaways->next = (goaways->next + 1) % GOAWAYS_KEPT;
}

// The number after the last '#': "Re-using existing connection #3 with host ..", "Connected to ..
// port 443 (#3)".
static bool connection_number(const char *line, long *ret_number)
{
    const char *at = strrchr(line, '#');
    char *end = NULL;
    long number = at ? strtol(at + 1, &end, 10) : -1;
    if (!at || end == at + 1 || number < 0)
        return false;
    *ret_number = number;
    return true;
}

static bool starts(const char *line, const char *start)
{
    return strncmp(line, start, strlen(start)) == 0;
}

bool stream_not_taken(const struct stream *stream, const struct goaways *goaways)
{
    if (stream->refused || stream->free)
        return true;
    for (size_t i = 0; i < GOAWAYS_KEPT; i++)
        if (stream->connection > 0 && stream->id > 0 &&
                goaways->rows[i].connection == stream->connection &&
                stream->id > goaways->rows[i].last)
            return true;
    return false;
}

void stream_begin(struct stream *stream)
{
    // One that was open to the end, without an answer, may have been refused.
    *stream = (struct stream){.suspect = stream->suspect || stream->id > 0};
}

bool stream_line(struct stream *stream, struct goaways *goaways, struct slice line)
{
    static const char using[] = "Using Stream ID: ", away[] = "recveived GOAWAY, error=",
                      last[] = "last_stream=";
    char text[LINE_MAX_LEN];
    snprintf(text, sizeof text, "%.*s", (int)(line.len < 256 ? line.len : 256),
            (const char *)line.ptr);
    long number = 0;
    if (starts(text, "Re-using existing connection #") || starts(text, "Connected to ")) {
        if (connection_number(text, &number))
            *stream = (struct stream){
                    .connection = number + 1, .free = stream->free, .suspect = stream->suspect};
    } else if (starts(text, using)) {
        // From here on it may be taken, whatever became of the streams before.
        *stream = (struct stream){.connection = stream->connection,
                .id = strtoll(text + strlen(using), NULL, 10),
                .suspect = stream->suspect};
    } else if (starts(text, "REFUSED_STREAM, retrying")) {
        stream->refused = !stream->suspect;
        stream->told = true;
    } else if (starts(text, "Connection died, retrying")) {
        // What is told of is forgotten.
        *stream = (struct stream){
                .free = stream_not_taken(stream, goaways), .suspect = !stream->told};
    } else if (starts(text, away) && stream->connection > 0) {
        const char *at = strstr(text, last);
        if (at)
            went_away(goaways, stream->connection, strtoll(at + strlen(last), NULL, 10));
        return true;
    }
    return false;
}

// --- Scouts

static struct scout *find(struct scouts *scouts, struct key peer)
{
    for (size_t i = 0; i < SCOUTS; i++)
        if (memcmp(&scouts->rows[i].peer, &peer, sizeof peer) == 0)
            return &scouts->rows[i];
    return NULL;
}

// The row of this peer, else the one that was proven the longest ago; NULL when all are out.
static struct scout *row_for(struct scouts *scouts, struct key peer)
{
    struct scout *row = find(scouts, peer);
    for (size_t i = 0; !row && i < SCOUTS; i++)
        if (!scouts->rows[i].out)
            row = &scouts->rows[i];
    for (size_t i = 0; row && i < SCOUTS && row != find(scouts, peer); i++)
        if (!scouts->rows[i].out && scouts->rows[i].until_ms < row->until_ms)
            row = &scouts->rows[i];
    return row;
}

bool scouts_may_go(struct scouts *scouts, struct key peer, int64_t now_ms, bool *ret_scout)
{
    struct scout *row = row_for(scouts, peer);
    *ret_scout = false;
    if (!row)
        return true; // so many peers: none of them waits for another
    if (memcmp(&row->peer, &peer, sizeof peer) != 0)
        *row = (struct scout){.peer = peer};
    if (now_ms < row->until_ms)
        return true;
    if (row->out)
        return false;
    row->out = *ret_scout = true;
    return true;
}

void scouts_back(struct scouts *scouts, struct key peer, bool scout)
{
    struct scout *row = scout ? find(scouts, peer) : NULL;
    if (row)
        row->out = false;
}

void scouts_prove(struct scouts *scouts, struct key peer, int64_t now_ms)
{
    struct scout *row = find(scouts, peer);
    if (row)
        row->until_ms = now_ms + SCOUT_PROVEN_MS;
}

void scouts_forget(struct scouts *scouts, struct key peer)
{
    struct scout *row = find(scouts, peer);
    if (row)
        row->until_ms = 0;
}
