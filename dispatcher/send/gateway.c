// Driver `http`: a request to any SMS gateway, as the policy describes it.
#include "common/json/scan.h"
#include "dispatcher/send/compose.h"
#include "dispatcher/send/rules.h"
#include "dispatcher/send/sms.h"

#include <stdio.h>

#define VALUE_MAX 16384

struct values {
    struct slice to, from, text, key, coding, token;
};

static const struct placeholder {
    const char *name;
    size_t offset;
} placeholders[] = {
#define ROW(name_) {"{" #name_ "}", offsetof(struct values, name_)},
        GATEWAY_PLACEHOLDERS(ROW)
#undef ROW
};

// How a value is written where it stands.
typedef bool write_fn(struct text *out, struct slice value);

static const struct placeholder *placeholder_at(const char *at)
{
    for (size_t i = 0; i < ARRAY_LEN(placeholders); i++) {
        if (strncmp(at, placeholders[i].name, strlen(placeholders[i].name)) == 0)
            return &placeholders[i];
    }
    return NULL;
}

// Braces that name nothing stand for themselves: JSON is full of them.
static bool expand(const char *form, const struct values *values, write_fn *write, struct text *out)
{
    while (*form) {
        const struct placeholder *found = *form == '{' ? placeholder_at(form) : NULL;
        struct slice value = {(const unsigned char *)form, 1};
        if (found)
            memcpy(&value, (const char *)values + found->offset, sizeof value);
        if (found ? !write(out, value) : !text_add(out, value))
            return false;
        form += found ? strlen(found->name) : 1;
    }
    return true;
}

static bool add_headers(const struct gateway *gateway, const struct values *values,
        struct http_request *request, struct err *err)
{
    for (size_t i = 0; i < gateway->n_headers; i++) {
        AUTO_TEXT struct text value = {0};
        text_init(&value, VALUE_MAX);
        if (!expand(gateway->headers[i].value, values, text_add, &value))
            return err_set(err, ERR_INPUT, "a header of the request is too long");
        if (!http_head_add(request, gateway->headers[i].name, text_slice(&value), err))
            return false;
    }
    return true;
}

static bool add_form(const struct gateway *gateway, const struct values *values, struct text *body)
{
    for (size_t i = 0; i < gateway->n_form; i++) {
        AUTO_TEXT struct text value = {0};
        text_init(&value, VALUE_MAX);
        if (!expand(gateway->form[i].value, values, text_add, &value) ||
                !compose_form(body, gateway->form[i].name, text_slice(&value)))
            return false;
    }
    return true;
}

// What the admin's own request says of its body is kept.
static bool add_type(struct http_request *request, const char *type, struct err *err)
{
    struct slice said;
    return http_head_find(text_slice(&request->head), "Content-Type", &said) ||
           http_head_add(request, "Content-Type", slice_of(type), err);
}

static bool add_body(const struct gateway *gateway, const struct values *values,
        struct http_request *request, struct err *err)
{
    if (!gateway->json)
        return gateway->n_form == 0 ||
               (add_type(request, "application/x-www-form-urlencoded", err) &&
                       (add_form(gateway, values, &request->body) ||
                               err_set(err, ERR_INPUT, "the request is too long")));
    if (!expand(gateway->json, values, json_escape, &request->body))
        return err_set(err, ERR_INPUT, "the request is too long");
    if (!json_check(text_slice(&request->body), err))
        return err_set(err, ERR_FATAL, "the provider's json is not JSON");
    return add_type(request, "application/json", err);
}

// Strings of the program: a request may outlive the policy it was made by.
static const char *method_of(const struct gateway *gateway)
{
    if (!gateway->method || strcmp(gateway->method, "POST") == 0)
        return NULL;
    return strcmp(gateway->method, "GET") == 0 ? "GET" : "PUT";
}

static bool begin(const struct provider *provider, const struct values *values,
        struct http_request *request, struct err *err)
{
    AUTO_TEXT struct text url = {0};
    text_init(&url, HTTP_URL_MAX);
    if (!provider->url || !expand(provider->url, values, compose_percent, &url))
        return err_set(err, ERR_INPUT, "the url is missing, or too long with the text in it");
    bool ok = http_request_begin(request, text_cstr(&url), "", err);
    explicit_bzero(url.ptr, url.room);
    return ok;
}

// A copy of what its replies mean: a request may outlive the policy it was made by.
struct reads {
    int success[GATEWAY_SUCCESS_MAX];
    size_t n_success;
    char id[GATEWAY_ID_MAX + 1]; // JSON pointer, "" = none
};

static struct reads *reads_of(const struct gateway *gateway)
{
    static const int usual[] = {200, 201, 202};
    const int *list = gateway->n_success ? gateway->success : usual;
    size_t n = gateway->n_success ? gateway->n_success : ARRAY_LEN(usual);
    struct reads *reads = xcalloc(1, sizeof *reads);
    for (; reads->n_success < n && reads->n_success < GATEWAY_SUCCESS_MAX; reads->n_success++)
        reads->success[reads->n_success] = list[reads->n_success];
    if (gateway->id)
        snprintf(reads->id, sizeof reads->id, "%s", gateway->id);
    return reads;
}

bool gateway_build(const struct content *content, const struct provider *provider,
        const char *key_hex, struct http_request *ret_request, enum failure_level *ret_level,
        struct err *err)
{
    static const struct gateway plain = {0};
    const struct gateway *gateway = provider->http ? provider->http : &plain;
    struct sms sms;
    AUTO_HTTP_REQUEST struct http_request request = {0};
    if (!sms_check(content, &sms, ret_level, err))
        return false;
    struct values values = {sms.to, sms.from, sms.text, slice_of(key_hex),
            sms.segments.coding == SEGMENTS_GSM7 ? SLICE("0") : SLICE("2"),
            provider->password.value};
    struct err why = {0};
    if (!begin(provider, &values, &request, &why) ||
            !add_headers(gateway, &values, &request, &why) ||
            !add_body(gateway, &values, &request, &why)) {
        *ret_level = why.kind == ERR_FATAL ? LEVEL_PROVIDER : LEVEL_MESSAGE;
        return err_set(err, why.kind, "%s", why.msg);
    }
    request.method = method_of(gateway);
    request.reads = reads_of(gateway);
    *ret_request = request;
    request = (struct http_request){0};
    return true;
}

static bool is_success(const struct reads *reads, int status)
{
    for (size_t i = 0; i < reads->n_success; i++) {
        if (reads->success[i] == status)
            return true;
    }
    return false;
}

static const struct http_rule success_rules[] = {
        {0, NULL, ATTEMPT_ACCEPTED, LEVEL_MESSAGE, 0, false},
};
// Another 2xx than those that mean success: nobody knows what it did.
static const struct http_rule other_rules[] = {
        {0, NULL, ATTEMPT_UNKNOWN, LEVEL_MESSAGE, 0, false},
};
static const struct http_rule rules[] = {
        {400, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {422, NULL, ATTEMPT_REFUSED, LEVEL_MESSAGE, 0, false},
        {429, NULL, ATTEMPT_RETRY, LEVEL_PROVIDER, 1, false},
};

static void classify(
        const struct reads *reads, const struct http_reply *reply, struct attempt_result *result)
{
    struct http_where where = {.id = reads->id[0] ? reads->id : NULL};
    struct http_said said;
    http_said_read(reply->body, &where, &said);
    bool success = is_success(reads, reply->status), other = reply->status / 100 == 2;
    if (success || other)
        http_judge(success ? success_rules : other_rules, 1, reply, &said, result);
    else
        http_judge(rules, ARRAY_LEN(rules), reply, &said, result);
}

void gateway_classify_as(const struct http_request *request, const struct http_reply *reply,
        struct attempt_result *result)
{
    if (request->reads)
        classify(request->reads, reply, result);
    else
        gateway_classify(reply, result);
}

void gateway_classify_by(const struct gateway *gateway, const struct http_reply *reply,
        struct attempt_result *result)
{
    AUTO_FREE struct reads *reads = reads_of(gateway);
    classify(reads, reply, result);
}

void gateway_classify(const struct http_reply *reply, struct attempt_result *result)
{
    static const struct gateway plain = {0};
    gateway_classify_by(&plain, reply, result);
}
