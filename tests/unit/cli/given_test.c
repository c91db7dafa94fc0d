// Every flag and every argument of every command, with what none of them may be.
#include "tests/test.h"

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/given.h"
#include "cli/parse.h"

#include <stdio.h>

enum { WORDS_MAX = 8, HUGE_BYTES = 100 * 1000 };

static char huge[HUGE_BYTES + 1];

static const struct bad {
    const char *name, *text, *want;
} bads[] = {{"empty", "", "is empty"}, {"huge", huge, "is longer than"},
        {"no UTF-8", "a\xff\xfe", "is not UTF-8"}, {"cut UTF-8", "\xe2\x82", "is not UTF-8"},
        {"a surrogate", "\xed\xa0\x80", "is not UTF-8"},
        {"a control", "a\x1b[2Jb", "has a control character"},
        {"a line", "a\nb", "has a control character"},
        {"C1",
                "a\xc2\x9b"
                "2J",
                "has a control character"}};

// The words of a command, with `arg` for each argument it demands, and a flag.
static bool parse(const struct command *command, const char *arg, const char *flag,
        const char *value, struct err *err)
{
    static struct call call;
    static char words[64], name[64];
    char *argv[WORDS_MAX + 2] = {(char[]){"pawl"}};
    int argc = 1;
    snprintf(words, sizeof words, "%s", command->words);
    for (char *rest = words, *word; (word = strsep(&rest, " "));)
        argv[argc++] = word;
    if (flag) {
        snprintf(name, sizeof name, "--%s", flag);
        argv[argc++] = name;
        argv[argc++] = (char *)(uintptr_t)value;
    }
    if (arg)
        argv[argc++] = (char *)(uintptr_t)arg;
    *err = (struct err){0};
    return parse_call(argc, argv, &call, err);
}

static bool may_be(const struct bad *bad, int flag)
{
    return (flag == FLAG_NOTE && (!*bad->text || strcmp(bad->text, "a\nb") == 0)) ||
           (flag == FLAG_SET && strstr(bad->want, "control"));
}

static void check_one(const struct command *command, int flag, const struct bad *bad)
{
    struct err err;
    char want[128];
    const char *name = flag_rows[flag].name;
    bool ok = parse(command, command->min_args ? "x" : NULL, name, bad->text, &err);
    assert_row(ok == may_be(bad, flag), bad->name);
    snprintf(want, sizeof want, "--%s %s", name, bad->want);
    if (!ok && (err.kind != ERR_INPUT || !strstr(err.msg, want)))
        fail_msg("pawl %s --%s, %s: '%s'", command->words, name, bad->name, err.msg);
}

static void no_flag_of_any_command_takes_what_is_no_text(void **state)
{
    (void)state;
    memset(huge, 'x', HUGE_BYTES);
    int checked = 0;
    for (size_t c = 0; c < commands_count; c++)
        for (int flag = 0; flag < FLAG_COUNT; flag++) {
            bool has = (commands[c].flags | FLAGS_GLOBAL) & (1ULL << flag);
            for (size_t b = 0; has && flag_rows[flag].arg && b < ARRAY_LEN(bads); b++, checked++)
                check_one(&commands[c], flag, &bads[b]);
        }
    assert_true(checked > 1000);
}

static void no_argument_of_any_command_does(void **state)
{
    (void)state;
    for (size_t c = 0; c < commands_count; c++)
        for (size_t b = 0; commands[c].max_args > 0 && b < ARRAY_LEN(bads); b++) {
            struct err err;
            assert_false(parse(&commands[c], bads[b].text, NULL, NULL, &err));
            char name[32];
            const char *from = commands[c].args + strspn(commands[c].args, "[");
            snprintf(name, sizeof name, "%.*s is", (int)strcspn(from, "]"), from);
            name[strlen(name) - 3] = '\0';
            if (strncmp(err.msg, name, strlen(name)) != 0 || !strstr(err.msg, bads[b].want))
                fail_msg("pawl %s, %s: '%s'", commands[c].words, bads[b].name, err.msg);
        }
}

static void what_is_usual_is_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {"x", "ann@example.net", "wrong text, \xe2\x82\xac 5",
            "\xf0\x9f\x93\xa6", "a/b c%20d", "-"};
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        size_t words = 0;
        const char *story[] = {"story"}, *pause[] = {"pause"};
        assert_row(parse(commands_find(story, 1, &words), texts[i], NULL, NULL, &err), texts[i]);
        assert_row(
                parse(commands_find(pause, 1, &words), "all", "reason", texts[i], &err), texts[i]);
    }
}

static void what_is_told_can_be_shown(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {{"fine \xe2\x82\xac\n", "fine \xe2\x82\xac\n"}, {"a\x1b[2J", "a?[2J"},
            {"cut \xe2\x82", "cut ??"}, {"\xff", "?"}, {"", ""}, {"\xc2\x9b", "?"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_FREE char *got = given_printable(rows[i].text);
        assert_string_equal(got, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(no_flag_of_any_command_takes_what_is_no_text),
            cmocka_unit_test(no_argument_of_any_command_does),
            cmocka_unit_test(what_is_usual_is_taken), cmocka_unit_test(what_is_told_can_be_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
