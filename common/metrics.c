#include "common/metrics.h"

#include "common/metrics_process.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#define LABELS_MAX 4
#define BUCKETS_MAX 16
#define SERIES_MAX 5000
#define TABLE_SIZE 8192 // slots of the hash table, a power of two above SERIES_MAX + METRIC_COUNT
#define VALUE_MAX 128   // bytes of a label value

enum type { COUNTER, GAUGE, HISTOGRAM };

static struct family {
    const char *name;
    enum type type;
    const char *spec, *help;
    size_t n_labels, n_buckets;
    char labels[LABELS_MAX][24];
    char bounds[BUCKETS_MAX][16]; // as written in the table: that is how they are shown
    double buckets[BUCKETS_MAX];
} families[METRIC_COUNT] = {
#define METRIC(id, metric_name, metric_type, labels, metric_help)                                  \
    [METRIC_##id] = {                                                                              \
            .name = (metric_name), .type = metric_type, .spec = (labels), .help = (metric_help)},
#include "common/metrics.def"
#undef METRIC
};

struct series {
    enum metric_family family;
    uint64_t hash;
    char *labels;           // rendered: source="shop",outcome="accepted"; "" for none
    struct series *next;    // of the same family, in the order of their making
    _Atomic uint64_t value; // the bits of a double: a counter's or gauge's value, a histogram's sum
    _Atomic uint64_t counts[BUCKETS_MAX + 1]; // not cumulative; the last is +Inf
};

static struct {
    pthread_rwlock_t lock;
    struct series *table[TABLE_SIZE];
    struct series *first[METRIC_COUNT], *last[METRIC_COUNT];
    size_t n;
} all = {.lock = PTHREAD_RWLOCK_INITIALIZER};

// "source,outcome:1,2,4" -> labels before the colon, bucket bounds after it.
static void parse_family(struct family *family)
{
    const char *p = family->spec;
    while (*p && *p != ':') {
        size_t len = strcspn(p, ",:");
        snprintf(family->labels[family->n_labels++], sizeof family->labels[0], "%.*s", (int)len, p);
        p += len + (p[len] == ',');
    }
    if (*p == ':')
        p++;
    while (*p) {
        size_t len = strcspn(p, ",");
        char *bound = family->bounds[family->n_buckets];
        // ".005" would be refused by strict readers: a leading zero is added.
        snprintf(bound, sizeof family->bounds[0], "%s%.*s", *p == '.' ? "0" : "", (int)len, p);
        family->buckets[family->n_buckets++] = strtod(bound, NULL);
        p += len + (p[len] == ',');
    }
}

static void parse_families(void)
{
    for (size_t i = 0; i < METRIC_COUNT; i++)
        parse_family(&families[i]);
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, parse_families);
}

static void add_escaped(struct text *out, const char *value, bool quotes)
{
    size_t left = VALUE_MAX;
    for (const char *p = value; *p && (!quotes || left-- > 0); p++) {
        size_t plain = strcspn(p, "\\\n\"");
        if (plain > 0) {
            plain = quotes && plain > left + 1 ? left + 1 : plain;
            text_add(out, (struct slice){(const unsigned char *)p, plain});
            left -= plain - 1;
            p += plain - 1;
            continue;
        }
        if (*p == '\\')
            text_str(out, "\\\\");
        else if (*p == '\n')
            text_str(out, "\\n");
        else if (*p == '"' && quotes)
            text_str(out, "\\\"");
        else
            text_char(out, *p);
    }
}

static void render_labels(
        struct text *out, const struct family *family, const char *const values[LABELS_MAX])
{
    text_reset(out);
    for (size_t i = 0; i < family->n_labels; i++) {
        text_str(out, i ? "," : "");
        text_str(out, family->labels[i]);
        text_str(out, "=\"");
        add_escaped(out, values[i], true);
        text_char(out, '"');
    }
}

static uint64_t hash_of(enum metric_family family, const char *labels)
{
    uint64_t hash = 14695981039346656037U ^ (uint64_t)family; // FNV-1a
    for (; *labels; labels++)
        hash = (hash ^ (unsigned char)*labels) * 1099511628211U;
    return hash;
}

// The slot that holds the series, or the free one where it would go. The table is never full.
static struct series **slot_of(enum metric_family family, const char *labels, uint64_t hash)
{
    size_t i = hash % TABLE_SIZE;
    for (;; i = (i + 1) % TABLE_SIZE) {
        struct series *here = all.table[i];
        if (!here ||
                (here->hash == hash && here->family == family && strcmp(here->labels, labels) == 0))
            return &all.table[i];
    }
}

static struct series *find(enum metric_family family, const char *labels)
{
    uint64_t hash = hash_of(family, labels);
    pthread_rwlock_rdlock(&all.lock);
    struct series *found = *slot_of(family, labels, hash);
    pthread_rwlock_unlock(&all.lock);
    return found;
}

static struct series *make(enum metric_family family, const char *labels)
{
    uint64_t hash = hash_of(family, labels);
    pthread_rwlock_wrlock(&all.lock);
    struct series **slot = slot_of(family, labels, hash);
    if (!*slot) {
        struct series *made = xcalloc(1, sizeof *made);
        made->family = family;
        made->hash = hash;
        made->labels = xstrdup(labels);
        if (all.last[family])
            all.last[family]->next = made;
        else
            all.first[family] = made;
        all.last[family] = made;
        *slot = made;
        all.n++;
    }
    struct series *found = *slot;
    pthread_rwlock_unlock(&all.lock);
    return found;
}

static bool is_full(void)
{
    pthread_rwlock_rdlock(&all.lock);
    bool full = all.n >= SERIES_MAX;
    pthread_rwlock_unlock(&all.lock);
    return full;
}

struct series *metric(enum metric_family family, ...)
{
    prepare();
    static const char *const other[LABELS_MAX] = {"other", "other", "other", "other"};
    const char *values[LABELS_MAX] = {"", "", "", ""};
    const char *value;
    va_list args;
    va_start(args, family);
    for (size_t i = 0; i < LABELS_MAX && (value = va_arg(args, const char *)); i++)
        values[i] = value;
    va_end(args);
    AUTO_TEXT struct text labels;
    text_init(&labels, (size_t)LABELS_MAX * (sizeof families->labels[0] + 2 * VALUE_MAX + 8));
    render_labels(&labels, &families[family], values);
    struct series *found = find(family, text_cstr(&labels));
    if (found)
        return found;
    if (is_full())
        render_labels(&labels, &families[family], other);
    return make(family, text_cstr(&labels));
}

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t to_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// Whole numbers up to 2^53 are counted exactly by any number of threads.
void series_add(struct series *series, double v)
{
    uint64_t old = atomic_load_explicit(&series->value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&series->value, &old, to_bits(from_bits(old) + v),
            memory_order_relaxed, memory_order_relaxed))
        ;
}

void series_set(struct series *series, double v)
{
    atomic_store_explicit(&series->value, to_bits(v), memory_order_relaxed);
}

void series_observe(struct series *series, double v)
{
    const struct family *family = &families[series->family];
    size_t i = 0;
    while (i < family->n_buckets && v > family->buckets[i])
        i++;
    atomic_fetch_add_explicit(&series->counts[i], 1, memory_order_relaxed);
    series_add(series, v);
}

// The shortest decimal that reads back as the same number; whole numbers without an exponent.
static void add_number(struct text *out, double v)
{
    if (v >= -9e15 && v <= 9e15 && v == (double)(int64_t)v) {
        text_fmt(out, "%lld", (long long)v);
        return;
    }
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, v);
        if (strtod(digits, NULL) == v)
            break;
    }
    text_str(out, digits);
}

static void write_plain(struct text *out, const struct family *family, struct series *series)
{
    text_str(out, family->name);
    if (series->labels[0])
        text_fmt(out, "{%s}", series->labels);
    text_char(out, ' ');
    add_number(out, from_bits(atomic_load_explicit(&series->value, memory_order_relaxed)));
    text_char(out, '\n');
}

// The count is the sum of the buckets as they were read, so that +Inf and count always agree.
static void write_histogram(struct text *out, const struct family *family, struct series *series)
{
    const char *comma = series->labels[0] ? "," : "";
    uint64_t count = 0;
    for (size_t i = 0; i <= family->n_buckets; i++) {
        count += atomic_load_explicit(&series->counts[i], memory_order_relaxed);
        text_fmt(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", family->name, series->labels, comma,
                i < family->n_buckets ? family->bounds[i] : "+Inf", (unsigned long long)count);
    }
    const char *open = series->labels[0] ? "{" : "", *close = series->labels[0] ? "}" : "";
    text_fmt(out, "%s_sum%s%s%s ", family->name, open, series->labels, close);
    add_number(out, from_bits(atomic_load_explicit(&series->value, memory_order_relaxed)));
    text_fmt(out, "\n%s_count%s%s%s %llu\n", family->name, open, series->labels, close,
            (unsigned long long)count);
}

static void write_family(struct text *out, enum metric_family id)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    const struct family *family = &families[id];
    text_fmt(out, "# HELP %s ", family->name);
    add_escaped(out, family->help, false);
    text_fmt(out, "\n# TYPE %s %s\n", family->name, types[family->type]);
    for (struct series *s = all.first[id]; s; s = s->next)
        (family->type == HISTOGRAM ? write_histogram : write_plain)(out, family, s);
}

bool metrics_write(struct text *out)
{
    prepare();
    pthread_rwlock_rdlock(&all.lock);
    for (int id = 0; id < METRIC_COUNT; id++)
        write_family(out, (enum metric_family)id);
    pthread_rwlock_unlock(&all.lock);
    metrics_write_process(out);
    return !out->overflow;
}
