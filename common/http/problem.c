#include "common/http/problem.h"

#include "common/base.h"

#define PROBLEM(title, status, code)                                                               \
    "{\"type\":\"about:blank\",\"title\":\"" title "\",\"status\":" status ",\"code\":\"" code     \
    "\"}\n"

static const struct problem {
    int status;
    const char *body;
} problems[] = {
        {400, PROBLEM("Bad Request", "400", "malformed_http")},
        {413, PROBLEM("Content Too Large", "413", "too_large")},
        {417, PROBLEM("Expectation Failed", "417", "expectation")},
        {500, PROBLEM("Internal Server Error", "500", "error")},
};

struct stream {
    h2o_ostream_t super;
    const char *body;
};

static const struct problem *problem_of(int status)
{
    size_t i = 0;
    while (i < ARRAY_LEN(problems) - 1 && problems[i].status != status)
        i++;
    return &problems[i];
}

// Puts the problem in the place of what h2o wanted to send; an answer to HEAD has no body.
static void send_problem(
        h2o_ostream_t *self, h2o_req_t *req, h2o_iovec_t *bufs, size_t n, h2o_send_state_t state)
{
    h2o_iovec_t buf = h2o_strdup(&req->pool, ((struct stream *)self)->body, SIZE_MAX);
    h2o_ostream_send_next(self, req, n ? &buf : bufs, n ? 1 : 0, state);
}

static bool is_plain_text(const h2o_req_t *req)
{
    ssize_t at = h2o_find_header(&req->res.headers, H2O_TOKEN_CONTENT_TYPE, -1);
    if (at < 0)
        return false;
    h2o_iovec_t value = req->res.headers.entries[at].value;
    return value.len >= 10 && memcmp(value.base, "text/plain", 10) == 0;
}

static void on_setup(h2o_filter_t *self, h2o_req_t *req, h2o_ostream_t **slot)
{
    (void)self;
    if (req->res.status >= 400 && is_plain_text(req)) {
        const struct problem *problem = problem_of(req->res.status);
        h2o_set_header(
                &req->pool, &req->res.headers, H2O_TOKEN_CONTENT_TYPE, H2O_STRLIT(PROBLEM_TYPE), 1);
        req->res.content_length = strlen(problem->body);
        struct stream *stream = (struct stream *)h2o_add_ostream(req, sizeof *stream, slot);
        stream->super.do_send = send_problem;
        stream->body = problem->body;
        slot = &stream->super.next;
    }
    h2o_setup_next_ostream(req, slot);
}

void problem_filter(h2o_pathconf_t *path)
{
    h2o_filter_t *filter = h2o_create_filter(path, sizeof *filter);
    filter->on_setup_ostream = on_setup;
}
