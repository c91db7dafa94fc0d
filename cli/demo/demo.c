#include "cli/demo/demo.h"

#include "cli/context.h"
#include "cli/fire_sql.h"
#include "cli/format.h"
#include "cli/out.h"
#include "cli/sink/sink.h"
#include "cli/story/show.h"
#include "cli/story_sql.h"
#include "cli/trigger/fire.h"
#include "cli/up/up.h"
#include "common/clock.h"
#include "common/json/scan.h"
#include "common/store/policy_store.h"
#include "receiver/arrival.h"

#include <stdio.h>

#define COPIES 5
#define MAIL_MS 20000
#define LOOK_MS 30
#define SETTLE_MS 300 // a second mail, if there were one, has time to come
#define SINCE_S 3600
#define OUTPUT_MAX (8 << 20)

struct demo {
    struct up up;
    struct policy *policy;
    struct pg *pg;
    struct fire fire;
    struct story *story;
    char order[32], email[64];
    int mails; // by the sink's own count
};

static void demo_fini(struct demo *demo)
{
    story_free(demo->story);
    fire_fini(&demo->fire);
    pg_close(demo->pg);
    policy_unref(demo->policy);
    up_stop(&demo->up);
}

static bool load_policy(struct demo *demo, struct err *err)
{
    char dir[512];
    struct diag diag = {0};
    demo->policy =
            policy_store_load_from(demo->up.database, "pawl_operator", 0, &policy_knowledge, err);
    snprintf(dir, sizeof dir, "%.480s/credentials", demo->up.place.dir);
    bool ok = demo->policy &&
              (secrets_load(demo->policy, dir, SECRETS_OF_SOURCES, &diag) ||
                      err_set(err, ERR_INPUT, "can't read the secrets in '%.180s'", dir));
    diag_fini(&diag);
    return ok;
}

// Statements of both topics on one connection: the story's follow the copies'.
static bool open_session(struct demo *demo, struct err *err)
{
    static struct pg_stmt all[FIRE_COUNT + STORY_COUNT];
    memcpy(all, fire_statements, sizeof fire_statements);
    memcpy(all + FIRE_COUNT, story_statements, sizeof story_statements);
    const struct context context = {.database = demo->up.database};
    demo->pg = context_connect(&context, all, ARRAY_LEN(all), err);
    return demo->pg != NULL;
}

static bool send_copies(struct demo *demo, struct err *err)
{
    char hex[KEY_HEX];
    key_hex(key_random(), hex);
    snprintf(demo->order, sizeof demo->order, "demo-%.8s", hex);
    snprintf(demo->email, sizeof demo->email, "%s@example.net", demo->order);
    const struct fire_wish wish = {.policy = demo->policy,
            .source = "stripe",
            .type = "payment_intent.succeeded",
            .order = demo->order,
            .email = demo->email,
            .copies = COPIES,
            .parallel = COPIES};
    struct http_target target = {.host = "127.0.0.1"};
    snprintf(target.port, sizeof target.port, "%d", demo->up.port);
    if (!fire_load(&wish, &demo->fire, err) || !fire_before(&demo->fire, demo->pg, 0, err))
        return false;
    fire_send(&demo->fire, &target, COPIES);
    return fire_after(&demo->fire, demo->pg, 0, err);
}

static bool tell_again(struct demo *demo, struct err *err)
{
    story_free(demo->story);
    demo->story = story_new(demo->pg, FIRE_COUNT, demo->order, SINCE_S, err);
    return demo->story && sink_count(demo->up.mails, demo->email, &demo->mails, err);
}

static bool pause_or_why(struct demo *demo, int ms, struct err *err)
{
    return up_pause(&demo->up, ms) ||
           (!up_died(&demo->up, err) && err_set(err, ERR_TEMP, "ended before the mail came"));
}

static bool wait_for_mail(struct demo *demo, struct err *err)
{
    int64_t deadline_ms = clock_mono_ms() + MAIL_MS;
    do {
        if (!pause_or_why(demo, LOOK_MS, err) || !tell_again(demo, err))
            return false;
    } while ((demo->mails == 0 || demo->story->count.due > 0) && clock_mono_ms() < deadline_ms);
    return pause_or_why(demo, SETTLE_MS, err) && tell_again(demo, err);
}

static bool as_promised(const struct demo *demo)
{
    const struct story_count *count = &demo->story->count;
    return fire_count(&demo->fire, EVENT_ACCEPTED) == 1 &&
           fire_count(&demo->fire, EVENT_DUPLICATE) == COPIES - 1 && count->copies == COPIES &&
           count->caught == COPIES - 1 && count->moves == 1 && count->messages == 1 &&
           count->accepted == 1 && count->possible_duplicates == 0 && demo->mails == 1;
}

static void ages(const struct fire *fire, int64_t *ret_least, int64_t *ret_most)
{
    *ret_least = *ret_most = 0;
    for (size_t i = 0; i < fire->n; i++) {
        int64_t age = fire->rows[i].age_us;
        if (age > 0 && (*ret_least == 0 || age < *ret_least))
            *ret_least = age;
        if (age > *ret_most)
            *ret_most = age;
    }
}

static void show_json(const struct demo *demo, struct text *out)
{
    text_fmt(out, "{\"ok\":%s,\"copies\":%d,\"moves\":%d,\"mails\":%d,\"caught\":%d,\"ages_s\":[",
            as_promised(demo) ? "true" : "false", demo->story->count.copies,
            demo->story->count.moves, demo->mails, demo->story->count.caught);
    const char *comma = "";
    for (size_t i = 0; i < demo->fire.n; i++) {
        if (demo->fire.rows[i].outcome != EVENT_DUPLICATE)
            continue;
        text_fmt(out, "%s%.6f", comma, (double)demo->fire.rows[i].age_us / 1e6);
        comma = ",";
    }
    text_fmt(out, "],\"order\":\"%s\",\"event\":\"%s\",\"port\":%d,\"dir\":", demo->order,
            demo->fire.event_id, demo->up.port);
    json_quote(out, slice_of(demo->up.place.dir));
    text_str(out, ",\"config\":");
    json_quote(out, slice_of(demo->up.config));
    text_str(out, ",\"story\":");
    story_json(demo->story, out);
    text_str(out, "}\n");
}

static void show_text(const struct demo *demo, struct text *out)
{
    char range[2 * FORMAT_MAX];
    int64_t least, most;
    ages(&demo->fire, &least, &most);
    story_text(demo->story, out_width(), out);
    text_fmt(out, "\n%d copies in, %d move%s, %d mail%s, %d caught (%s old)%s\n",
            demo->story->count.copies, demo->story->count.moves,
            demo->story->count.moves == 1 ? "" : "s", demo->mails, demo->mails == 1 ? "" : "s",
            demo->story->count.caught, format_age_range(least, most, range),
            as_promised(demo) ? "." : ": NOT as promised.");
}

static int show(const struct call *call, const struct demo *demo)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    if (call_has(call, FLAG_JSON))
        show_json(demo, &out);
    else
        show_text(demo, &out);
    return out_data(&out, as_promised(demo) ? EXIT_DONE : EXIT_NEGATIVE);
}

static int keep_running(const struct call *call, struct demo *demo, int code)
{
    out_note(call, "\nIt runs on, until ^C; the data stays in %s. Try:", demo->up.place.dir);
    out_note(call, "  pawl -c %s trigger stripe:payment_intent.succeeded --order 1001 --copies 5",
            demo->up.config);
    out_note(call, "  pawl -c %s story 1001", demo->up.config);
    out_note(call, "  ls %s    (the mails)", demo->up.mails);
    while (up_pause(&demo->up, 200))
        continue;
    struct err err;
    if (!demo->up.ending && up_died(&demo->up, &err))
        return out_fail(call, &err);
    return code;
}

static bool play(struct demo *demo, struct err *err)
{
    out_note(demo->up.call, "sending %d copies of one signed webhook at once", COPIES);
    return load_policy(demo, err) && open_session(demo, err) && send_copies(demo, err) &&
           wait_for_mail(demo, err);
}

int demo_command(const struct call *call)
{
    struct call own = *call; // it brings its own configuration
    struct err err = {0};
    struct demo *demo = xcalloc(1, sizeof *demo);
    AUTO_FREE void *held = demo;
    own.values[FLAG_CONFIG] = NULL;
    bool ok = up_start(&demo->up, &own, "demo", &err) && play(demo, &err);
    int code = ok ? show(call, demo) : EXIT_DONE;
    if (ok && call_has(call, FLAG_KEEP))
        code = keep_running(call, demo, code);
    demo_fini(demo);
    return ok ? code : out_fail(call, &err);
}
