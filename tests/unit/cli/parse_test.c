#include "tests/test.h"

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/parse.h"

#include <stdio.h>

enum { WORDS_MAX = 12 };

static bool parse(const char *const *words, struct call *call, struct err *err)
{
    char *argv[WORDS_MAX + 2] = {(char[]){"pawl"}};
    static char copies[WORDS_MAX][64];
    int argc = 1;
    for (; words[argc - 1]; argc++) {
        snprintf(copies[argc - 1], sizeof copies[0], "%s", words[argc - 1]);
        argv[argc] = copies[argc - 1];
    }
    *err = (struct err){0};
    return parse_call(argc, argv, call, err);
}

static void words_flags_and_arguments_are_told_apart(void **state)
{
    (void)state;
    const struct {
        const char *name, *words[WORDS_MAX], *command;
        size_t args;
        const char *first;
        enum flag flag;
        const char *value;
    } rows[] = {
            {"one word", {"receiver", "-c", "x.yaml"}, "receiver", 0, NULL, FLAG_CONFIG, "x.yaml"},
            {"flags first", {"--config", "x", "migrate", "up"}, "migrate up", 0, NULL, FLAG_CONFIG,
                    "x"},
            {"equals", {"policy", "check", "--templates=t", "a", "b"}, "policy check", 2, "a",
                    FLAG_TEMPLATES, "t"},
            {"no value", {"story", "--json", "1001"}, "story", 1, "1001", FLAG_JSON, ""},
            {"end of flags", {"story", "--", "--json"}, "story", 1, "--json", FLAG_JSON, NULL},
            {"bundled", {"-qv", "policy", "list"}, "policy list", 0, NULL, FLAG_QUIET, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct call call;
        struct err err;
        assert_row(parse(rows[i].words, &call, &err), rows[i].name);
        assert_row(strcmp(call.command->words, rows[i].command) == 0, rows[i].name);
        assert_row(call.n_args == rows[i].args, rows[i].name);
        assert_row(!rows[i].first || strcmp(call.args[0], rows[i].first) == 0, rows[i].name);
        const char *value = call.values[rows[i].flag];
        assert_row(
                rows[i].value ? value && strcmp(value, rows[i].value) == 0 : !value, rows[i].name);
    }
}

static void mistakes_are_named_with_the_nearest_word(void **state)
{
    (void)state;
    const struct {
        const char *words[WORDS_MAX], *want;
    } rows[] = {
            {{"polcy", "check"}, "did you mean 'pawl policy check'?"},
            {{"sotry", "1"}, "did you mean 'pawl story'?"},
            {{"policy"}, "needs one more word"},
            {{"frobnicate"}, "unknown command 'frobnicate': see pawl help"},
            {{"story", "1", "--jsn"}, "unknown flag '--jsn'; did you mean '--json'?"},
            {{"story", "1", "--conf", "x"}, "unknown flag '--conf'; did you mean '--config'?"},
            {{"story", "1", "--js"}, "unknown flag '--js'"},
            {{"story", "1", "--copies", "5"}, "'pawl story' has no flag --copies"},
            {{"story"}, "'pawl story' needs REF"},
            {{"story", "1", "2"}, "has no use for '2'"},
            {{"story", "1", "--config"}, "'--config' needs a value"},
            {{"receiver", "-x"}, "unknown flag '-x'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct call call;
        struct err err;
        assert_row(!parse(rows[i].words, &call, &err) && err.kind == ERR_INPUT, rows[i].want);
        if (!strstr(err.msg, rows[i].want))
            fail_msg("'%s' is not in '%s'", rows[i].want, err.msg);
    }
}

static void a_mistake_does_not_hide_that_json_was_asked_for(void **state)
{
    (void)state;
    static struct call call;
    struct err err;
    assert_false(parse((const char *const[]){"story", "1", "--nope", "--json", NULL}, &call, &err));
    assert_true(call_has(&call, FLAG_JSON));
}

static void every_set_is_kept(void **state)
{
    (void)state;
    static struct call call;
    struct err err;
    assert_true(
            parse((const char *const[]){"trigger", "a:b", "--set", "/x=1", "--set", "/y=2", NULL},
                    &call, &err));
    assert_int_equal(call.n_sets, 2);
    assert_string_equal(call.sets[1], "/y=2");
}

static void times_and_numbers_are_read_strictly(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t seconds; // -1 = refused
    } rows[] = {{"90", -1}, {"0", -1}, {"90s", 90}, {"15m", 900}, {"24h", 86400}, {"7d", 604800},
            {"", -1}, {"h", -1}, {"-5m", -1}, {"1.5h", -1}, {"3w", -1},
            {"99999999999999999999", -1}, {"999999d", -1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct call call = {0};
        int64_t got = 1;
        call.values[FLAG_SINCE] = rows[i].text;
        bool ok = flag_duration(&call, FLAG_SINCE, &got, NULL);
        assert_row(ok == (rows[i].seconds >= 0) && (!ok || got == rows[i].seconds), rows[i].text);
    }
    struct call call = {.values = {[FLAG_LIMIT] = "7x"}};
    int64_t n = 3;
    assert_false(flag_number(&call, FLAG_LIMIT, 1, 10, &n, NULL));
    call.values[FLAG_LIMIT] = "11";
    assert_false(flag_number(&call, FLAG_LIMIT, 1, 10, &n, NULL));
    assert_int_equal(n, 3);
}

static void the_table_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < commands_count; i++) {
        const struct command *command = &commands[i];
        assert_row(command->run && command->summary[0] && command->group[0], command->words);
        assert_row(strstr(command->example, command->words), command->words);
        assert_row(command->min_args <= command->max_args, command->words);
        assert_row((command->args[0] != '\0') == (command->max_args > 0), command->words);
        assert_row((command->flags & FLAGS_GLOBAL) == 0, command->words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(words_flags_and_arguments_are_told_apart),
            cmocka_unit_test(mistakes_are_named_with_the_nearest_word),
            cmocka_unit_test(a_mistake_does_not_hide_that_json_was_asked_for),
            cmocka_unit_test(every_set_is_kept),
            cmocka_unit_test(times_and_numbers_are_read_strictly),
            cmocka_unit_test(the_table_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
