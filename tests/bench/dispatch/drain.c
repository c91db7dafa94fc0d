// drain.c: the dispatcher as it ships, with a sender that costs nothing: what it takes from the
// database, renders, stores, marks, records. Prints one JSON line of figures when it stops.
//
//   drain CONFIG [LIMIT [MILLISECONDS]]     stops after so many sends, or so long after the first

#include "common/clock.h"
#include "dispatcher/claim/claim.h"
#include "dispatcher/main.h"
#include "dispatcher/record/record.h"
#include "tests/bench/dispatch/free_send.h"

#include <stdio.h>

enum { SAMPLES_MAX = 1 << 16 };

// One kind of work, timed from its start to its confirmed end.
struct timed {
    struct work_kind real;
    int64_t started_us;
    int32_t us[SAMPLES_MAX];
    int n;
};

static struct timed claims, records;
static struct {
    const void *self;
    int64_t us;
} claim_starts[2]; // one a claimer
// As with the other queues the clock starts when the first batch has been done, which does not
// count: the server plans and reads for it what later ones find ready.
static int64_t first_us, last_us, first_jobs;

// --wrap: the loop asks for these.
struct work_kind __real_claimer_work(struct claimer *claimer);
struct work_kind __wrap_claimer_work(struct claimer *claimer);
struct work_kind __real_recorder_work(struct recorder *recorder);
struct work_kind __wrap_recorder_work(struct recorder *recorder);

static void note(struct timed *timed)
{
    if (timed->n < SAMPLES_MAX)
        timed->us[timed->n++] = (int32_t)(clock_mono_us() - timed->started_us);
}

// Claims of several claimers are under way at once.
static int64_t *started(const void *self)
{
    bool first = !claim_starts[0].self || claim_starts[0].self == self;
    claim_starts[!first].self = self;
    return &claim_starts[!first].us;
}

static enum work start_claim(void *self, struct pg *pg, struct err *err)
{
    *started(self) = clock_mono_us();
    return claims.real.start(self, pg, err);
}

static enum work next_claim(void *self, struct pg *pg, struct err *err)
{
    enum work how = claims.real.next(self, pg, err);
    if (how == WORK_DONE && claimer_report(self).took > 0) {
        if (claims.n == 0)
            first_jobs = free_send_count();
        claims.started_us = *started(self);
        note(&claims);
    }
    return how;
}

struct work_kind __wrap_claimer_work(struct claimer *claimer)
{
    claims.real = __real_claimer_work(claimer);
    struct work_kind kind = claims.real;
    kind.start = start_claim;
    kind.next = next_claim;
    return kind;
}

static enum work start_record(void *self, struct pg *pg, struct err *err)
{
    records.started_us = clock_mono_us();
    return records.real.start(self, pg, err);
}

static enum work next_record(void *self, struct pg *pg, struct err *err)
{
    enum work how = records.real.next(self, pg, err);
    if (how != WORK_DONE)
        return how;
    note(&records);
    last_us = clock_mono_us();
    if (first_us == 0)
        first_us = last_us;
    return how;
}

struct work_kind __wrap_recorder_work(struct recorder *recorder)
{
    records.real = __real_recorder_work(recorder);
    struct work_kind kind = records.real;
    kind.start = start_record;
    kind.next = next_record;
    return kind;
}

static void print_samples(const char *name, const struct timed *timed)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < timed->n; i++)
        printf("%s%.3f", i ? "," : "", (double)timed->us[i] / 1000.0);
    printf("]");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: drain CONFIG [LIMIT [MILLISECONDS]]\n");
        return 64;
    }
    free_send_plan(&(struct free_send_plan){
            .limit = argc > 2 ? strtoll(argv[2], NULL, 10) : 0,
            .for_ms = argc > 3 ? strtoll(argv[3], NULL, 10) : 0,
    });
    int code = dispatcher_main(
            &(struct dispatcher_options){.config = argv[1], .admin = "127.0.0.1:0"});
    printf("{\"sent\":%lld,\"jobs\":%lld,\"seconds\":%.6f", (long long)free_send_count(),
            (long long)(free_send_count() - first_jobs), (double)(last_us - first_us) / 1e6);
    print_samples("claim_ms", &claims);
    print_samples("record_ms", &records);
    printf("}\n");
    return code;
}
