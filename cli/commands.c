#include "cli/commands.h"

#include "cli/deliveries/deliveries.h"
#include "cli/demo/demo.h"
#include "cli/doctor/doctor.h"
#include "cli/gates/gates.h"
#include "cli/help.h"
#include "cli/inbox/inbox.h"
#include "cli/inbox/rejected.h"
#include "cli/inbox/reverify.h"
#include "cli/keys/keys.h"
#include "cli/migrate_commands.h"
#include "cli/operate/operate.h"
#include "cli/policy/policy.h"
#include "cli/reconcile/reconcile.h"
#include "cli/run/run.h"
#include "cli/schemes/schemes.h"
#include "cli/story/show.h"
#include "cli/trigger/trigger.h"
#include "cli/up/up.h"
#include "cli/verify/verify.h"

#define FILES_MAX CALL_ARGS_MAX
// Which deliveries a command acts on, and that it may only say so.
#define FILTER_FLAGS                                                                               \
    (FLAG_BIT(TYPE) | FLAG_BIT(CHANNEL) | FLAG_BIT(PROVIDER) | FLAG_BIT(STATE) | FLAG_BIT(UNTIL) | \
            FLAG_BIT(ORDER) | FLAG_BIT(MAX) | FLAG_BIT(DRY_RUN))

// clang-format off
const struct command commands[] = {
    {.group = "Run", .words = "receiver", .args = "", .run = run_receiver,
     .summary = "take webhooks in", .example = "pawl receiver --config /etc/pawl/pawl.yaml"},
    {.group = "Run", .words = "dispatcher", .args = "", .run = run_dispatcher,
     .summary = "send what is due", .example = "pawl dispatcher --config /etc/pawl/pawl.yaml"},
    {.group = "Run", .words = "up", .args = "", .run = up_command, .flags = FLAG_BIT(DIR),
     .summary = "all of it with a private PostgreSQL, until ^C", .example = "pawl up --dir ./shop"},
    {.group = "Run", .words = "demo", .args = "", .run = demo_command, .flags = FLAG_BIT(DIR) | FLAG_BIT(KEEP),
     .summary = "five copies of one webhook in, one mail out: exit 0 only then", .example = "pawl demo --keep"},
    {.group = "Database", .words = "migrate up", .args = "", .run = migrate_command_up,
     .summary = "bring the schema to what this version needs", .example = "pawl migrate up"},
    {.group = "Database", .words = "migrate list", .args = "", .run = migrate_command_list,
     .summary = "which migrations are applied", .example = "pawl migrate list"},
    {.group = "Database", .words = "migrate check", .args = "", .run = migrate_command_check,
     .summary = "exit 1 when a migration is pending", .example = "pawl migrate check"},
    {.group = "Database", .words = "migrate sql", .args = "", .run = migrate_command_sql,
     .flags = FLAG_BIT(FROM) | FLAG_BIT(TO_N),
     .summary = "the migrations as a script for psql", .example = "pawl migrate sql | psql shop"},
    {.group = "Database", .words = "doctor", .args = "", .run = doctor_command,
     .summary = "looks at an installation and says what mends it: exit 1 when something fails", .example = "pawl doctor --json"},
    {.group = "Database", .words = "reconcile", .args = "", .run = reconcile_command,
     .summary = "asks whether what is promised holds: exit 1 when not", .example = "pawl reconcile --since 24h"},
    {.group = "Webhooks in", .words = "trigger", .args = "SOURCE:TYPE", .min_args = 1, .max_args = 1, .run = trigger_command,
     .flags = FLAG_BIT(ORDER) | FLAG_BIT(COPIES) | FLAG_BIT(PARALLEL) | FLAG_BIT(SET) | FLAG_BIT(TO_N) | FLAG_BIT(ID),
     .summary = "send signed copies of one event, as its provider would", .example = "pawl trigger stripe:payment_intent.succeeded --order 1001 --copies 5"},
    {.group = "Webhooks in", .words = "inbox list", .args = "", .run = inbox_list,
     .summary = "what came in, newest first", .example = "pawl inbox list --since 1h --limit 20"},
    {.group = "Webhooks in", .words = "inbox show", .args = "EVENT", .min_args = 1, .max_args = 1, .run = inbox_show,
     .flags = FLAG_BIT(RAW) | FLAG_BIT(HEADERS),
     .summary = "an event as it was received", .example = "pawl inbox show evt_9f2c --raw | jq ."},
    {.group = "Webhooks in", .words = "inbox waiting", .args = "", .run = inbox_waiting, .flags = FLAG_BIT(EXPIRED),
     .summary = "events that wait for a step or an order, the longest first", .example = "pawl inbox waiting --expired"},
    {.group = "Webhooks in", .words = "verify", .args = "", .run = verify_command, .flags = FLAG_BIT(SOURCE) | FLAG_BIT(AT),
     .summary = "why a saved request (on stdin) is refused, and what would match: exit 1 when it is", .example = "pawl verify --source stripe < request.http"},
    {.group = "Webhooks in", .words = "keys list", .args = "", .run = keys_list, .flags = FLAG_BIT(SOURCE),
     .summary = "the secrets of sources: their dates, last use, and which can go", .example = "pawl keys list --source stripe"},
    {.group = "Webhooks in", .words = "keys check", .args = "", .run = keys_check, .flags = FLAG_BIT(SOURCE),
     .summary = "looks for what is wrong with the secrets' files: exit 1 when something is", .example = "pawl keys check"},
    {.group = "Webhooks in", .words = "schemes list", .args = "", .run = schemes_list, .flags = FLAG_BIT(MARKDOWN),
     .summary = "every scheme that a source may name", .example = "pawl schemes list --json"},
    {.group = "Webhooks in", .words = "schemes show", .args = "NAME", .min_args = 1, .max_args = 1, .run = schemes_show,
     .summary = "what a scheme signs, where the id is, how it is answered", .example = "pawl schemes show stripe"},
    {.group = "Webhooks in", .words = "inbox rejected list", .args = "", .run = rejected_list,
     .flags = FLAG_BIT(SOURCE) | FLAG_BIT(REASON),
     .summary = "what was refused, newest first", .example = "pawl inbox rejected list --source stripe --since 1h"},
    {.group = "Webhooks in", .words = "inbox rejected show", .args = "ID", .min_args = 1, .max_args = 1, .run = rejected_show,
     .flags = FLAG_BIT(RAW) | FLAG_BIT(HEADERS),
     .summary = "a refused request as it came, why, and what to do", .example = "pawl inbox rejected show 0f1e2d3c4b5a69788796a5b4c3d2e1f0"},
    {.group = "Webhooks in", .words = "inbox reverify", .args = "", .run = reverify_command,
     .flags = FLAG_BIT(SOURCE) | FLAG_BIT(DRY_RUN),
     .summary = "admit refused requests after a secret was mended", .example = "pawl inbox reverify --source stripe --since 24h --dry-run"},
    {.group = "Messages out", .words = "deliveries list", .args = "", .run = deliveries_list,
     .flags = FLAG_BIT(STATE) | FLAG_BIT(TYPE) | FLAG_BIT(PROVIDER),
     .summary = "what was, is or will be sent, newest first", .example = "pawl deliveries list --state unknown"},
    {.group = "Messages out", .words = "deliveries show", .args = "NOTIFICATION", .min_args = 1, .max_args = 1, .run = deliveries_show,
     .summary = "a notification's deliveries, content, attempts and receipts, by id or once key", .example = "pawl deliveries show c747338f564809bce41e00cf06092fa0"},
    {.group = "Messages out", .words = "deliveries resolve", .args = "[NOTIFICATION]", .max_args = 1, .run = deliveries_resolve,
     .flags = FLAG_BIT(AS) | FLAG_BIT(REASON) | FLAG_BIT(REDRIVE) | FLAG_BIT(PROVIDER_ID) | FILTER_FLAGS,
     .summary = "say what became of deliveries whose outcome is unknown", .example = "pawl deliveries resolve payment-receipt/1001 --as sent --reason 'the customer has it'"},
    {.group = "Messages out", .words = "deliveries cancel", .args = "[NOTIFICATION]", .max_args = 1, .run = deliveries_cancel,
     .flags = FLAG_BIT(REASON) | FILTER_FLAGS,
     .summary = "end deliveries that wait, by id or by filter", .example = "pawl deliveries cancel --type order-shipped --reason 'wrong text' --dry-run"},
    {.group = "Messages out", .words = "deliveries redrive", .args = "[NOTIFICATION]", .max_args = 1, .run = deliveries_redrive,
     .flags = FLAG_BIT(REASON) | FILTER_FLAGS,
     .summary = "send deliveries that ended anew, by id or by filter", .example = "pawl deliveries redrive --state dead --since 2h --reason 'the relay is back' --dry-run"},
    {.group = "Messages out", .words = "pause", .args = "WHAT", .min_args = 1, .max_args = 1, .run = pause_command,
     .flags = FLAG_BIT(REASON) | FLAG_BIT(FOR),
     .summary = "hold back a message type, channel:C, provider:P or all", .example = "pawl pause channel:sms --reason 'wrong sender' --for 1h"},
    {.group = "Messages out", .words = "resume", .args = "WHAT", .min_args = 1, .max_args = 1, .run = resume_command,
     .flags = FLAG_BIT(REASON),
     .summary = "let what was paused go on", .example = "pawl resume channel:sms"},
    {.group = "Messages out", .words = "pauses", .args = "", .run = pauses_command,
     .summary = "what is paused, since when, by whom, and how much it holds", .example = "pawl pauses"},
    {.group = "Messages out", .words = "suppress list", .args = "[ADDRESS]", .max_args = 1, .run = suppress_list, .flags = FLAG_BIT(CHANNEL),
     .summary = "addresses that get nothing, newest first", .example = "pawl suppress list ann@example.net"},
    {.group = "Messages out", .words = "suppress add", .args = "ADDRESS", .min_args = 1, .max_args = 1, .run = suppress_add,
     .flags = FLAG_BIT(CHANNEL) | FLAG_BIT(TYPE) | FLAG_BIT(REASON),
     .summary = "send an address nothing more, or nothing of one type", .example = "pawl suppress add ann@example.net --reason 'asked on the phone'"},
    {.group = "Messages out", .words = "suppress remove", .args = "ADDRESS", .min_args = 1, .max_args = 1, .run = suppress_remove,
     .flags = FLAG_BIT(CHANNEL) | FLAG_BIT(TYPE) | FLAG_BIT(REASON),
     .summary = "let an address get messages again", .example = "pawl suppress remove ann@example.net --reason 'the box works again'"},
    {.group = "Story", .words = "story", .args = "REF", .min_args = 1, .max_args = 1, .run = story_command,
     .summary = "the timeline of an order, event, notification or message id", .example = "pawl story 1001"},
    {.group = "Policy", .words = "policy check", .args = "[FILES]", .max_args = FILES_MAX, .run = policy_command_check,
     .flags = FLAG_BIT(TEMPLATES),
     .summary = "check policy files, without a database", .example = "pawl policy check policy.yaml"},
    {.group = "Policy", .words = "policy apply", .args = "[FILES]", .max_args = FILES_MAX, .run = policy_command_apply,
     .flags = FLAG_BIT(TEMPLATES) | FLAG_BIT(NOTE),
     .summary = "check, store as a version, make it the active one", .example = "pawl policy apply --note 'a second text for refunds'"},
    {.group = "Policy", .words = "policy show", .args = "[VERSION]", .max_args = 1, .run = policy_command_show,
     .summary = "what the active version (or another) says", .example = "pawl policy show 3"},
    {.group = "Policy", .words = "policy list", .args = "", .run = policy_command_list,
     .summary = "all versions, newest first", .example = "pawl policy list"},
    {.group = "Other", .words = "help", .args = "[TOPIC]", .max_args = 3, .run = help_run,
     .summary = "help on a command, flags or exit-codes; --json gives all of it", .example = "pawl help story"},
    {.group = "Other", .words = "version", .args = "", .run = help_version,
     .summary = "the version", .example = "pawl version --json"},
    {.group = "Other", .words = "completion", .args = "SHELL", .min_args = 1, .max_args = 1, .run = help_completion,
     .summary = "completion for a shell (bash)", .example = "source <(pawl completion bash)"},
};
// clang-format on
const size_t commands_count = ARRAY_LEN(commands);

static bool names(const char *words, const char *const *typed, size_t n, size_t *ret_words)
{
    size_t at = 0;
    while (at < n && *words) {
        size_t len = strcspn(words, " ");
        if (strlen(typed[at]) != len || strncmp(typed[at], words, len) != 0)
            return false;
        words += len;
        words += *words == ' ';
        at++;
    }
    *ret_words = at;
    return *words == '\0';
}

const struct command *commands_find(const char *const *words, size_t n, size_t *ret_words)
{
    const struct command *best = NULL;
    for (size_t i = 0; i < commands_count; i++) {
        size_t used = 0;
        if (names(commands[i].words, words, n, &used) && (!best || used > *ret_words)) {
            best = &commands[i];
            *ret_words = used;
        }
    }
    return best;
}
