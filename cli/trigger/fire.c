#include "cli/trigger/fire.h"

#include "cli/fire_sql.h"
#include "cli/trigger/body.h"
#include "common/clock.h"
#include "common/config/near.h"
#include "common/keys.h"
#include "receiver/accept/read.h"
#include "receiver/door.h"
#include "receiver/verify/verify.h"

#include <stdio.h>

#define BODY_MAX (1 << 20)
#define HEADERS_MAX 16384
#define TIMEOUT_MS 15000
#define FLIGHT_MS 12000

void fire_fini(struct fire *fire)
{
    text_fini(&fire->headers);
    text_fini(&fire->body);
    free(fire->rows);
    *fire = (struct fire){0};
}

static bool no_source(const struct fire_wish *wish, struct err *err)
{
    struct near near = {0};
    for (size_t i = 0; i < wish->policy->n_sources; i++)
        near_offer(&near, wish->source, wish->policy->sources[i].name);
    return err_set(err, ERR_NOTFOUND, "the policy has no source '%.60s'%s%s%s", wish->source,
            near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

static bool no_type(const struct fire_wish *wish, const struct source *source, struct err *err)
{
    struct near near = {0};
    for (size_t i = 0; i < source->n_events; i++)
        near_offer(&near, wish->type, source->events[i].type);
    const char *best = near.best ? near.best : source->n_events ? source->events[0].type : "none";
    return err_set(err, ERR_NOTFOUND, "source '%s' has no event '%.60s'; there is '%.60s'",
            source->name, wish->type, best);
}

static bool find_rule(const struct fire_wish *wish, struct fire *fire, struct err *err)
{
    fire->source = policy_source(wish->policy, slice_of(wish->source));
    if (!fire->source)
        return no_source(wish, err);
    fire->rule = source_rule(fire->source, slice_of(wish->type));
    return fire->rule || no_type(wish, fire->source, err);
}

static void new_event_id(char out[FIRE_ID_MAX])
{
    char hex[KEY_HEX];
    key_hex(key_random(), hex);
    snprintf(out, FIRE_ID_MAX, "evt_%.16s", hex);
}

// The header that says the type, where the scheme has one; its body may say the rest.
static bool add_type(struct fire *fire, struct err *err)
{
    const struct scheme *scheme = scheme_of(fire->source);
    const char *name = scheme ? scheme_type_header(scheme) : NULL;
    if (!name)
        return true;
    const char *type = fire->rule->type;
    int len = (int)(scheme_type_pointer(scheme, fire->source) ? strcspn(type, ".") : strlen(type));
    return text_fmt(&fire->headers, "%s: %.*s\r\n", name, len, type) ||
           err_set(err, ERR_INPUT, "the headers are too long");
}

// As what the receiver will know it: an id may be made of several values, or of a digest.
static void take_known_id(struct fire *fire, const struct policy *policy)
{
    struct read_pointers pointers = door_pointers(fire->source);
    struct arrival *arrival = arrival_new(slice_of(fire->source->name), text_slice(&fire->body),
            slice_of(fire->event_id), slice_of(fire->rule->type));
    arrival->received_us = clock_now_us();
    read_events(arrival, policy, &pointers);
    if (arrival->n_events == 1 && strncmp(arrival->events[0].id, "arrival:", 8) != 0)
        snprintf(fire->event_id, sizeof fire->event_id, "%s", arrival->events[0].id);
    arrival_free(arrival);
}

bool fire_load(const struct fire_wish *wish, struct fire *ret_fire, struct err *err)
{
    struct fire *fire = ret_fire;
    *fire = (struct fire){0};
    text_init(&fire->body, BODY_MAX);
    text_init(&fire->headers, HEADERS_MAX);
    if (!find_rule(wish, fire, err))
        return false;
    if (wish->event_id)
        snprintf(fire->event_id, sizeof fire->event_id, "%s", wish->event_id);
    else
        new_event_id(fire->event_id);
    const struct body_wish body = {.policy = wish->policy,
            .source = fire->source,
            .rule = fire->rule,
            .order = wish->order,
            .event_id = fire->event_id,
            .email = wish->email,
            .now_s = clock_now_s(),
            .sets = wish->sets,
            .n_sets = wish->n_sets};
    fire->n = wish->copies;
    fire->rows = xcalloc(wish->copies + 1, sizeof *fire->rows);
    if (!body_build(&body, &fire->body, err) ||
            !verify_sign(fire->source, text_slice(&fire->body), slice_of(fire->event_id),
                    body.now_s, &fire->headers, err) ||
            !add_type(fire, err))
        return false;
    take_known_id(fire, wish->policy);
    return true;
}

static bool ask(struct fire *fire, struct pg *pg, int base, int64_t offset, struct err *err)
{
    pg_add(pg, base + FIRE_COPIES);
    pg_p_ints(pg);
    for (int bucket = 0; bucket < BUCKETS; bucket++)
        pg_e_int(pg, bucket);
    pg_p_text(pg, slice_of(fire->event_id));
    pg_p_text(pg, slice_of(fire->source->name));
    pg_p_big(pg, offset);
    return pg_fly(pg, clock_mono_ms() + FLIGHT_MS, err);
}

bool fire_before(struct fire *fire, struct pg *pg, int base, struct err *err)
{
    int rows = 0;
    do {
        if (!ask(fire, pg, base, fire->before, err))
            return false;
        rows = pg_rows(pg, 0);
        fire->before += rows;
    } while (rows == HTTP_COPIES_MAX);
    return true;
}

void fire_send(struct fire *fire, const struct http_target *target, size_t parallel)
{
    char path[128];
    snprintf(path, sizeof path, "/hooks/%s", fire->source->name);
    const struct http_request request = {.method = "POST",
            .path = path,
            .headers = text_slice(&fire->headers),
            .body = text_slice(&fire->body),
            .timeout_ms = TIMEOUT_MS};
    AUTO_FREE struct http_answer *answers = xcalloc(fire->n + 1, sizeof *answers);
    http_copies(target, &request, fire->n, parallel, answers);
    for (size_t i = 0; i < fire->n; i++)
        fire->rows[i].answer = answers[i];
}

static bool taken(const struct fire_row *row)
{
    return row->answer.status / 100 == 2;
}

bool fire_after(struct fire *fire, struct pg *pg, int base, struct err *err)
{
    if (!ask(fire, pg, base, fire->before, err))
        return false;
    int at = 0;
    for (size_t i = 0; i < fire->n && at < pg_rows(pg, 0); i++) {
        if (!taken(&fire->rows[i]))
            continue;
        fire->rows[i].outcome = pg_int(pg, 0, at, 0);
        fire->rows[i].age_us = pg_big(pg, 0, at, 1);
        at++;
    }
    return true;
}

size_t fire_count(const struct fire *fire, int outcome)
{
    size_t n = 0;
    for (size_t i = 0; i < fire->n; i++)
        n += taken(&fire->rows[i]) && fire->rows[i].outcome == outcome;
    return n;
}
