#include "common/fault.h"

#ifdef PAWL_FAULTS
#include "common/base.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define SPECS_MAX 32

static const char *const labels[FAULT_COUNT] = {
#define FAULT(name, text) [FAULT_##name] = (text),
#include "common/fault.def"
#undef FAULT
};

enum action { CRASH, STOP, FAIL };

static struct spec {
    enum action action;
    enum fault_label label;
    unsigned long pass;
} specs[SPECS_MAX];
static size_t n_specs;
static atomic_ulong passes[FAULT_COUNT];
static int log_fd = -1;

static int label_by_name(struct slice name)
{
    for (int i = 0; i < FAULT_COUNT; i++)
        if (slice_eq(name, slice_of(labels[i])))
            return i;
    return -1;
}

static int action_by_name(struct slice name)
{
    static const char *const names[] = {[CRASH] = "crash", [STOP] = "stop", [FAIL] = "fail"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (slice_eq(name, slice_of(names[i])))
            return (int)i;
    return -1;
}

// "crash@accept.after_commit:3"; the pass is 1 when it is left out.
static bool spec_parse(const char *text, size_t len, struct spec *ret)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const char *at = memchr(text, '@', len);
    if (!at)
        return false;
    size_t name = (size_t)(at + 1 - text);
    const char *colon = memchr(at, ':', len - (size_t)(at - text));
    size_t end = colon ? (size_t)(colon - text) : len;
    int action = action_by_name((struct slice){bytes, name - 1});
    int label = label_by_name((struct slice){bytes + name, end - name});
    unsigned long pass = colon ? strtoul(colon + 1, NULL, 10) : 1;
    if (action < 0 || label < 0 || pass == 0)
        return false;
    *ret = (struct spec){(enum action)action, (enum fault_label)label, pass};
    return true;
}

void fault_init(void)
{
    const char *log = getenv("PAWL_FAULT_LOG");
    if (log && *log)
        log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const char *rest = getenv("PAWL_FAULT");
    while (rest && *rest) {
        size_t len = strcspn(rest, ",");
        if (n_specs == SPECS_MAX || !spec_parse(rest, len, &specs[n_specs])) {
            fprintf(stderr, "pawl: PAWL_FAULT: \"%.*s\" names no fault label\n", (int)len, rest);
            exit(78);
        }
        n_specs++;
        rest += len + (rest[len] == ',');
    }
}

static void note(enum fault_label label)
{
    if (log_fd < 0)
        return;
    char line[64];
    int n = snprintf(line, sizeof line, "%s\n", labels[label]);
    ssize_t ignored = write(log_fd, line, (size_t)n);
    (void)ignored;
}

bool fault_at(enum fault_label label)
{
    note(label);
    unsigned long pass = atomic_fetch_add(&passes[label], 1) + 1;
    bool fails = false;
    for (size_t i = 0; i < n_specs; i++) {
        if (specs[i].label != label || specs[i].pass != pass)
            continue;
        if (specs[i].action == FAIL)
            fails = true;
        else // To this thread: one sent to the process may stop another first, and this one passes.
            raise(specs[i].action == CRASH ? SIGKILL : SIGSTOP);
    }
    return fails;
}
#else
// Without fault labels the header's macros leave nothing to compile here.
extern enum fault_label fault_unused_;
#endif
