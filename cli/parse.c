#include "cli/parse.h"

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/given.h"
#include "common/config/near.h"

#include <getopt.h>
#include <stdio.h>

#define LONG_BASE 256 // getopt's value of flag 0, beyond any letter

static void getopt_tables(struct option options[FLAG_COUNT + 1], char letters[2 * FLAG_COUNT + 3])
{
    size_t at = 0;
    letters[at++] = ':'; // a missing value is told apart from an unknown flag
    for (int i = 0; i < FLAG_COUNT; i++) {
        const struct flag_row *row = &flag_rows[i];
        options[i] = (struct option){
                row->name, row->arg ? required_argument : no_argument, NULL, LONG_BASE + i};
        if (row->letter)
            letters[at++] = row->letter;
        if (row->letter && row->arg)
            letters[at++] = ':';
    }
    options[FLAG_COUNT] = (struct option){0};
    letters[at] = '\0';
}

static int flag_of_letter(int letter)
{
    for (int i = 0; i < FLAG_COUNT; i++)
        if (flag_rows[i].letter && flag_rows[i].letter == letter)
            return i;
    return -1;
}

// getopt_long takes any unambiguous beginning of a name; scripts that use one break with the next
// flag that is added.
static bool whole_name(char **argv, int at, const char *name)
{
    for (int i = at - 2; i < at; i++) {
        const char *text = i > 0 ? argv[i] : "";
        size_t len = strlen(name);
        if (strncmp(text, "--", 2) == 0 && strncmp(text + 2, name, len) == 0 &&
                (text[2 + len] == '\0' || text[2 + len] == '='))
            return true;
    }
    return false;
}

static bool unknown_flag(const char *text, struct err *err)
{
    char name[NEAR_WORD_MAX + 1];
    snprintf(name, sizeof name, "%s", text + strspn(text, "-"));
    name[strcspn(name, "=")] = '\0';
    struct near near = {0};
    for (int i = 0; i < FLAG_COUNT; i++)
        near_offer(&near, name, flag_rows[i].name);
    return err_set(err, ERR_INPUT, "unknown flag '%.60s'%s%s%s", text,
            near.best ? "; did you mean '--" : "", near.best ? near.best : "",
            near.best ? "'?" : "");
}

static bool take_flag(struct call *call, int flag, const char *value, struct err *err)
{
    if (flag == FLAG_SET) {
        if (call->n_sets == CALL_SETS_MAX)
            return err_set(err, ERR_INPUT, "more than %d --set", CALL_SETS_MAX);
        call->sets[call->n_sets++] = value;
    }
    call->values[flag] = value ? value : "";
    return true;
}

// One flag as getopt found it.
static bool read_flag(struct call *call, int got, int argc, char **argv, struct err *err)
{
    bool is_long = got >= LONG_BASE;
    int flag = is_long ? got - LONG_BASE : flag_of_letter(got);
    const char *text = optind > 0 && optind <= argc ? argv[optind - 1] : "";
    bool value_apart = is_long && optarg == text && optind > 1;
    if (got == ':')
        return err_set(err, ERR_INPUT, "'%.60s' needs a value", text);
    if (flag < 0 || (is_long && !whole_name(argv, optind, flag_rows[flag].name)))
        return unknown_flag(value_apart ? argv[optind - 2] : text, err);
    return take_flag(call, flag, optarg, err);
}

// Reads on after the first error, which is the one that is told: --json may follow it.
static bool read_flags(int argc, char **argv, struct call *call, struct err *err)
{
    struct option options[FLAG_COUNT + 1];
    char letters[2 * FLAG_COUNT + 3];
    getopt_tables(options, letters);
    opterr = 0;
    optind = 0; // starts anew: tests parse more than once
    bool ok = true;
    for (int got = 0; (got = getopt_long(argc, argv, letters, options, NULL)) != -1;)
        ok = read_flag(call, got, argc, argv, ok ? err : NULL) && ok;
    return ok;
}

// Is it the first of the two words of a command?
static bool is_group(const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i < commands_count; i++)
        if (strncmp(commands[i].words, word, len) == 0 && commands[i].words[len] == ' ')
            return true;
    return false;
}

static bool unknown_command(const struct call *call, struct err *err)
{
    char typed[2 * NEAR_WORD_MAX];
    snprintf(typed, sizeof typed, "%.60s%s%.60s", call->args[0], call->n_args > 1 ? " " : "",
            call->n_args > 1 ? call->args[1] : "");
    struct near near = {0};
    for (size_t i = 0; i < commands_count; i++) {
        near_offer(&near, typed, commands[i].words);
        near_offer(&near, call->args[0], commands[i].words);
    }
    if (near.best)
        return err_set(
                err, ERR_INPUT, "unknown command '%s'; did you mean 'pawl %s'?", typed, near.best);
    if (is_group(call->args[0]))
        return err_set(err, ERR_INPUT, "'pawl %.60s' needs one more word: see pawl help %.60s",
                call->args[0], call->args[0]);
    return err_set(err, ERR_INPUT, "unknown command '%s': see pawl help", typed);
}

static bool take_command(struct call *call, struct err *err)
{
    size_t words = 0;
    call->command = commands_find(call->args, call->n_args, &words);
    if (!call->command)
        return unknown_command(call, err);
    call->n_args -= words;
    memmove(call->args, call->args + words, call->n_args * sizeof call->args[0]);
    return true;
}

static bool fits(const struct call *call, struct err *err)
{
    const struct command *command = call->command;
    for (int i = 0; i < FLAG_COUNT; i++)
        if (call->values[i] && !((command->flags | FLAGS_GLOBAL) & (1ULL << i)))
            return err_set(err, ERR_INPUT, "'pawl %s' has no flag --%s", command->words,
                    flag_rows[i].name);
    if (call_has(call, FLAG_HELP))
        return true;
    if (call->n_args < command->min_args)
        return err_set(err, ERR_INPUT, "'pawl %s' needs %s", command->words, command->args);
    if (call->n_args > command->max_args)
        return err_set(err, ERR_INPUT, "'pawl %s' has no use for '%.60s'", command->words,
                call->args[command->max_args]);
    return given_check(call, err);
}

bool parse_call(int argc, char **argv, struct call *ret_call, struct err *err)
{
    *ret_call = (struct call){0};
    if (!read_flags(argc, argv, ret_call, err))
        return false;
    for (int i = optind; i < argc; i++) {
        if (ret_call->n_args == CALL_ARGS_MAX)
            return err_set(err, ERR_INPUT, "more than %d arguments", CALL_ARGS_MAX);
        ret_call->args[ret_call->n_args++] = argv[i];
    }
    bool asks_for_group =
            call_has(ret_call, FLAG_HELP) && ret_call->n_args == 1 && is_group(ret_call->args[0]);
    if (ret_call->n_args == 0 || asks_for_group)
        return true;
    return take_command(ret_call, err) && fits(ret_call, err);
}
