// every.c: the tests of all files in one program: `every NAME...` runs these in turn; without a
// name it reads names from stdin, a line each, and tells how each ended, as run.py wants it. Under
// ASan a program's start and its search for leaks take longer than most files' tests.
#include "common/base.h"

#include "tests/unit/unit_tests.h"

#include <stdio.h>

// X(what the file's main is called here, its path below tests/unit without the .c)
#define X(run, name) int run(void);
UNIT_TESTS
#undef X

static const struct {
    const char *name;
    int (*run)(void);
} files[] = {
#define X(run, name) {name, run},
        UNIT_TESTS
#undef X
};

static int run_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (strcmp(files[i].name, name) == 0)
            return files[i].run();
    }
    fprintf(stderr, "no test is called '%s'\n", name);
    return -1;
}

static int run_lines(void)
{
    int failed = 0;
    char name[256];
    while (fgets(name, sizeof name, stdin)) {
        name[strcspn(name, "\n")] = '\0';
        int status = run_named(name);
        printf("[ ENDED ] %d\n", status);
        fflush(stdout);
        failed |= status;
    }
    return failed != 0;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return run_lines();
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= run_named(argv[i]);
    return failed != 0;
}
