#include "cli/help.h"

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/out.h"
#include "common/json/scan.h"

#include <stdio.h>

#define OUTPUT_MAX (256 << 10)

void help_overview(struct text *out)
{
    text_str(out, "Pawl takes webhooks in, moves orders forward, and sends what follows: once.\n\n"
                  "usage: pawl COMMAND [FLAGS] [ARGUMENTS]\n");
    const char *group = "";
    for (size_t i = 0; i < commands_count; i++) {
        const struct command *command = &commands[i];
        if (strcmp(group, command->group) != 0)
            text_fmt(out, "\n%s\n", group = command->group);
        char words[64];
        snprintf(words, sizeof words, "%s %s", command->words, command->args);
        text_fmt(out, "  %-28s %s\n", words, command->summary);
    }
    text_str(out, "\nFlags of every command: pawl help flags. Exit codes: pawl help exit-codes.\n"
                  "First try: pawl demo\n");
}

static void flag_lines(uint64_t flags, struct text *out)
{
    for (int i = 0; i < FLAG_COUNT; i++) {
        const struct flag_row *row = &flag_rows[i];
        char name[64];
        if (!(flags & (1ULL << i)))
            continue;
        snprintf(name, sizeof name, "--%s%s%s", row->name, row->arg ? " " : "",
                row->arg ? row->arg : "");
        text_fmt(out, row->letter ? "  -%c, " : "      ", row->letter);
        text_fmt(out, "%-22s %s\n", name, row->summary);
    }
}

static void exit_lines(struct text *out)
{
    text_str(out, "exit codes\n");
#define EXIT_CODE(id, number, meaning) text_fmt(out, "  %2d  %s\n", number, meaning);
#include "cli/exit.def"
#undef EXIT_CODE
}

void help_command(const struct command *command, struct text *out)
{
    text_fmt(out, "pawl %s: %s\n\nusage: pawl %s%s%s%s\n", command->words, command->summary,
            command->words, command->flags ? " [FLAGS]" : "", *command->args ? " " : "",
            command->args);
    if (command->flags) {
        text_str(out, "\nflags\n");
        flag_lines(command->flags, out);
    }
    text_str(out, "\nflags of every command\n");
    flag_lines(FLAGS_GLOBAL, out);
    text_fmt(out, "\nexample\n  %s\n", command->example);
}

static void member(struct text *out, const char *before, const char *name, const char *value)
{
    text_str(out, before);
    json_quote(out, slice_of(name));
    text_char(out, ':');
    json_quote(out, slice_of(value));
}

static void command_json(const struct command *command, struct text *out)
{
    member(out, "{", "name", command->words);
    member(out, ",", "group", command->group);
    member(out, ",", "arguments", command->args);
    member(out, ",", "summary", command->summary);
    member(out, ",", "example", command->example);
    text_str(out, ",\"flags\":[");
    const char *comma = "";
    for (int i = 0; i < FLAG_COUNT; i++) {
        if (!(command->flags & (1ULL << i)))
            continue;
        text_str(out, comma);
        json_quote(out, slice_of(flag_rows[i].name));
        comma = ",";
    }
    text_str(out, "]}");
}

static void flag_json(int i, struct text *out)
{
    const struct flag_row *row = &flag_rows[i];
    const char letter[2] = {row->letter, '\0'};
    member(out, "{", "name", row->name);
    member(out, ",", "letter", letter);
    member(out, ",", "argument", row->arg ? row->arg : "");
    member(out, ",", "summary", row->summary);
    text_fmt(out, ",\"global\":%s}", FLAGS_GLOBAL & (1ULL << i) ? "true" : "false");
}

void help_json(struct text *out)
{
    text_str(out, "{\"commands\":[");
    for (size_t i = 0; i < commands_count; i++) {
        text_str(out, i ? "," : "");
        command_json(&commands[i], out);
    }
    text_str(out, "],\"flags\":[");
    for (int i = 0; i < FLAG_COUNT; i++) {
        text_str(out, i ? "," : "");
        flag_json(i, out);
    }
    text_str(out, "],\"exit_codes\":[");
    const char *comma = "";
#define EXIT_CODE(id, number, meaning)                                                             \
    text_fmt(out, "%s{\"code\":%d,", comma, number);                                               \
    member(out, "", "meaning", meaning);                                                           \
    text_char(out, '}');                                                                           \
    comma = ",";
#include "cli/exit.def"
#undef EXIT_CODE
    (void)comma;
    text_str(out, "]}\n");
}

static bool topic(const struct call *call, struct text *out)
{
    size_t words = 0;
    if (call->n_args == 0) {
        help_overview(out);
        return true;
    }
    const struct command *command = commands_find(call->args, call->n_args, &words);
    if (command && words == call->n_args) {
        help_command(command, out);
        return true;
    }
    if (strcmp(call->args[0], "flags") == 0)
        flag_lines(FLAGS_GLOBAL, out);
    else if (strcmp(call->args[0], "exit-codes") == 0)
        exit_lines(out);
    size_t len = strlen(call->args[0]);
    for (size_t i = 0; i < commands_count && call->n_args == 1; i++) {
        const char *words_of = commands[i].words;
        if (strncmp(words_of, call->args[0], len) == 0 && words_of[len] == ' ')
            text_fmt(out, "pawl %-24s %s\n", words_of, commands[i].summary);
    }
    return out->len > 0;
}

int help_run(const struct call *call)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    bool found = topic(call, &out);
    if (found && call_has(call, FLAG_JSON)) { // always all of it
        text_reset(&out);
        help_json(&out);
    }
    if (found)
        return out_data(&out, EXIT_DONE);
    struct err err;
    err_set(&err, ERR_NOTFOUND, "no help on '%.60s%s%.60s': see pawl help", call->args[0],
            call->n_args > 1 ? " " : "", call->n_args > 1 ? call->args[1] : "");
    return out_fail(call, &err);
}

int help_version(const struct call *call)
{
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    text_fmt(
            &out, call_has(call, FLAG_JSON) ? "{\"version\":\"%s\"}\n" : "pawl %s\n", PAWL_VERSION);
    return out_data(&out, EXIT_DONE);
}

int help_completion(const struct call *call)
{
    struct err err;
    if (strcmp(call->args[0], "bash") != 0) {
        err_set(&err, ERR_INPUT, "completion is there for bash, not '%.60s'", call->args[0]);
        return out_usage(call, &err);
    }
    AUTO_TEXT struct text out = {0};
    text_init(&out, OUTPUT_MAX);
    help_completion_bash(&out);
    return out_data(&out, EXIT_DONE);
}
