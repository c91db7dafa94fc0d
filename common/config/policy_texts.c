// Reads what a policy is made of from files.
#include "common/config/file.h"
#include "common/config/policy.h"
#include "common/config/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

enum {
    FILES_MAX = 256,
    TEMPLATES_MAX = 4096,
    TEMPLATE_MAX = 256 * 1024,
    FOLDERS_DEEP_MAX = 4,
};

struct texts {
    struct policy_text *rows;
    size_t n, max;
};

void policy_texts_free(struct policy_text *texts, size_t n)
{
    for (size_t i = 0; texts && i < n; i++) {
        free(texts[i].path);
        free(texts[i].body);
    }
    free(texts);
}

static bool read_text(
        struct texts *texts, const char *file, const char *path, size_t size_max, struct err *err)
{
    for (size_t i = 0; i < texts->n; i++) {
        if (strcmp(texts->rows[i].path, path) == 0)
            return true; // two patterns name it
    }
    if (texts->n == texts->max)
        return err_set(
                err, ERR_INPUT, "more than %zu files, '%s' is one too many", texts->max, path);
    char *body = NULL;
    size_t len = 0;
    if (!file_read(file, size_max, &body, &len, err))
        return false;
    texts->rows = xrealloc(texts->rows, (texts->n + 1) * sizeof *texts->rows);
    texts->rows[texts->n++] = (struct policy_text){.path = xstrdup(path), .body = body, .len = len};
    return true;
}

// A folder that is not there (policies.d) gives no match; one that can't be read is an error.
static int glob_failed(const char *path, int error)
{
    (void)path;
    return error != ENOENT;
}

static bool read_pattern(
        struct texts *texts, const char *base_dir, const char *pattern, struct err *err)
{
    AUTO_FREE char *whole = path_join(base_dir, pattern);
    glob_t found = {0};
    int rc = glob(whole, 0, glob_failed, &found);
    bool ok = rc == 0 || (rc == GLOB_NOMATCH && strpbrk(pattern, "*?["));
    if (!ok)
        err_set(err, ERR_NOTFOUND, "can't find policy file '%s'", whole);
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = read_text(texts, found.gl_pathv[i], found.gl_pathv[i], YAML_FILE_MAX, err);
    globfree(&found);
    return ok;
}

static bool handed_over(bool ok, struct texts *texts, struct policy_text **ret_texts, size_t *ret_n)
{
    if (!ok) {
        policy_texts_free(texts->rows, texts->n);
        return false;
    }
    *ret_texts = texts->rows;
    *ret_n = texts->n;
    return true;
}

bool policy_read_files(const char *base_dir, char *const *patterns, size_t n_patterns,
        struct policy_text **ret_files, size_t *ret_n, struct err *err)
{
    struct texts texts = {.max = FILES_MAX};
    bool ok = true;
    for (size_t i = 0; ok && i < n_patterns; i++)
        ok = read_pattern(&texts, base_dir, patterns[i], err);
    return handed_over(ok, &texts, ret_files, ret_n);
}

static bool is_template(const char *name)
{
    static const char end[] = ".mustache";
    size_t n = strlen(name);
    return n >= sizeof end && strcmp(name + n - (sizeof end - 1), end) == 0;
}

static bool read_folder(
        struct texts *texts, const char *dir, const char *below, int depth, struct err *err);

static bool read_entry(struct texts *texts, const char *dir, const char *below, const char *name,
        int depth, struct err *err)
{
    AUTO_FREE char *file = path_join(dir, name);
    AUTO_FREE char *path = path_join(below, name);
    struct stat st;
    if (name[0] == '.' || stat(file, &st) != 0)
        return true; // hidden, or gone since the folder was listed
    if (S_ISDIR(st.st_mode) && depth == FOLDERS_DEEP_MAX)
        return err_set(err, ERR_INPUT, "'%s' is nested too deep for templates", file);
    if (S_ISDIR(st.st_mode))
        return read_folder(texts, file, path, depth + 1, err);
    return !is_template(name) || read_text(texts, file, path, TEMPLATE_MAX, err);
}

static bool read_folder(
        struct texts *texts, const char *dir, const char *below, int depth, struct err *err)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, alphasort);
    if (n < 0)
        return depth == 0 || err_set(err, ERR_INPUT, "can't list '%s'", dir);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok = ok && read_entry(texts, dir, below, entries[i]->d_name, depth, err);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

bool policy_read_templates(
        const char *dir, struct policy_text **ret_texts, size_t *ret_n, struct err *err)
{
    struct texts texts = {.max = TEMPLATES_MAX};
    bool ok = read_folder(&texts, dir, "", 0, err);
    return handed_over(ok, &texts, ret_texts, ret_n);
}
