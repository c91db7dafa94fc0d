// send_driver: drives the transport from a script of JSON lines on stdin, so that tests in Python
// can set it against peers of theirs. Usage: send_driver TRANSFERS CONNECT_MS REPLY_MS FINAL_MS
//
// {"op":"send", "id":.., "url":.., "from":.., "to":.., ..}  starts a try as soon as a slot is free
// {"op":"run", "ms":N}   polls for N ms, or until nothing is in flight when N is 0
// {"op":"abort"}         cuts off what is on the wire
// Each ended try is one JSON line on stdout. {"op":"run"} prints how long one poll of 50 ms took at
// most, and {"op":"extra"} the poll events of a descriptor that is readable.
#include "common/clock.h"
#include "dispatcher/send/send.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define POLL_MS 50

static const char *member(const json_t *line, const char *name)
{
    return json_string_value(json_object_get(line, name));
}

static char *copy(const json_t *line, const char *name)
{
    const char *value = member(line, name);
    return value ? xstrdup(value) : NULL;
}

static void print(json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT);
    printf("%s\n", line);
    fflush(stdout);
    free(line);
    json_decref(object);
}

static void print_result(struct delivery *delivery, bool started)
{
    static const char *const levels[] = {"message", "address", "provider"};
    const struct attempt_result *result = &delivery->result;
    print(json_pack("{s:s, s:b, s:s, s:s, s:i, s:s, s:s, s:s, s:I, s:I}", "id", delivery->once,
            "started", started, "outcome", attempt_outcome_name(result->outcome), "level",
            levels[result->level], "code", result->code, "enhanced", result->enhanced, "detail",
            result->detail, "provider_id", result->provider_id, "wire_ms",
            (json_int_t)result->wire_ms, "retry_after_ms", (json_int_t)result->retry_after_ms));
    delivery_free(delivery);
}

static enum channel_kind channel_of(const json_t *line)
{
    const char *name = member(line, "channel");
    return name ? channel_by_name(name) : CHANNEL_EMAIL;
}

static struct delivery *make_delivery(const json_t *line)
{
    struct delivery *delivery = xcalloc(1, sizeof *delivery);
    delivery->channel = channel_of(line);
    delivery->once = copy(line, "id");
    struct slice parts[] = {slice_of(delivery->once)};
    delivery->notification = key_derive(parts, 1);
    delivery->probe = json_is_true(json_object_get(line, "probe"));
    delivery->content = (struct content){
            .from = copy(line, "from"),
            .to = copy(line, "to"),
            .subject = copy(line, "subject"),
            .text = copy(line, "text"),
            .html = copy(line, "html"),
            .message_id = copy(line, "message_id"),
            .date = copy(line, "date"),
    };
    return delivery;
}

struct rig {
    struct transport *transport;
    int in_flight;
    int64_t longest_ms; // one transport_poll
    int pipe[2];
    short extra;
};

static void poll_once(struct rig *rig, int extra_fd)
{
    int64_t before = clock_mono_ms();
    transport_poll(rig->transport, POLL_MS, extra_fd, POLLIN, &rig->extra);
    int64_t took = clock_mono_ms() - before;
    if (took > rig->longest_ms)
        rig->longest_ms = took;
    struct delivery *delivery;
    while ((delivery = transport_done(rig->transport))) {
        rig->in_flight--;
        print_result(delivery, true);
    }
}

static void send_one(struct rig *rig, const json_t *line)
{
    while (transport_free_slots(rig->transport) == 0)
        poll_once(rig, -1);
    const char *password = member(line, "password");
    const char *driver = member(line, "driver");
    AUTO_FREE char *name = xstrdup(driver ? driver : "smtp");
    struct provider provider = {
            .driver = driver ? DRIVER_HTTP : DRIVER_SMTP,
            .driver_name = name,
            .private_net = json_is_true(json_object_get(line, "private")),
            .url = copy(line, "url"),
            .user = copy(line, "user"),
            .password.value = slice_of(password),
            .plain = json_is_true(json_object_get(line, "plain")),
            .starttls = json_is_true(json_object_get(line, "starttls")),
            .ca = copy(line, "ca"),
            .account = copy(line, "account"),
            .topic = copy(line, "topic"),
            .project = copy(line, "project"),
            .subject = copy(line, "contact"),
    };
    struct channel channel = {.kind = channel_of(line)};
    struct delivery *delivery = make_delivery(line);
    struct bearer bearer = {.token = slice_of(member(line, "bearer")), .use.generation = 1};
    struct err err;
    if (transport_start(rig->transport, &channel, &provider, bearer.token.len ? &bearer : NULL,
                delivery, &err))
        rig->in_flight++;
    else
        print_result(delivery, false);
    free(provider.url);
    free(provider.user);
    free(provider.ca);
    free(provider.account);
    free(provider.topic);
    free(provider.project);
    free(provider.subject);
}

static void run(struct rig *rig, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    while (ms ? clock_mono_ms() < until : rig->in_flight > 0)
        poll_once(rig, -1);
    print(json_pack("{s:I}", "longest_poll_ms", (json_int_t)rig->longest_ms));
}

static void extra(struct rig *rig)
{
    if (write(rig->pipe[1], "x", 1) != 1)
        exit(1);
    poll_once(rig, rig->pipe[0]);
    print(json_pack("{s:b}", "extra_readable", rig->extra == POLLIN));
}

static void obey(struct rig *rig, const json_t *line)
{
    const char *op = member(line, "op");
    if (strcmp(op, "send") == 0)
        send_one(rig, line);
    else if (strcmp(op, "run") == 0)
        run(rig, json_integer_value(json_object_get(line, "ms")));
    else if (strcmp(op, "extra") == 0)
        extra(rig);
    else if (strcmp(op, "abort") == 0)
        transport_abort(rig->transport);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    struct transport_options options = {
            .transfers = (int)strtol(argv[1], NULL, 10),
            .connect_ms = strtol(argv[2], NULL, 10),
            .reply_ms = strtol(argv[3], NULL, 10),
            .final_reply_ms = strtol(argv[4], NULL, 10),
    };
    struct err err;
    struct rig rig = {.transport = transport_new(&options, &err)};
    if (!rig.transport || pipe(rig.pipe) != 0)
        return 1;
    char *text = NULL;
    size_t room = 0;
    while (getline(&text, &room, stdin) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        if (!line)
            return 2;
        obey(&rig, line);
        json_decref(line);
    }
    free(text);
    transport_free(rig.transport);
    close(rig.pipe[0]);
    close(rig.pipe[1]);
    return 0;
}
