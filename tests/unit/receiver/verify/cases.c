#include "tests/unit/receiver/verify/cases.h"

#include "receiver/verify/mac.h"
#include "tests/test.h"
#include <stdio.h>

static const char *text_of(const json_t *json, const char *name)
{
    const char *value = json_string_value(json_object_get(json, name));
    return value ? value : "";
}

// The test's texts are read only, whatever the policy's structs say.
static char *text_in(const json_t *json, const char *name)
{
    const char *value = json_string_value(json_object_get(json, name));
    char *held;
    memcpy(&held, &value, sizeof held);
    return held;
}

static struct slice slice_in(const json_t *json)
{
    return (struct slice){(const unsigned char *)json_string_value(json), json_string_length(json)};
}

static void case_secrets(struct sig_case *made)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(made->json, "secrets"), i, value)
    {
        assert_true(i < CASE_SECRETS_MAX);
        made->secrets[i].value = slice_in(value);
        made->source.n_secrets = i + 1;
    }
    // A public key is a secret's file like any other.
    struct slice key = slice_in(json_object_get(made->json, "public_key"));
    if (key.len && made->source.n_secrets < CASE_SECRETS_MAX)
        made->secrets[made->source.n_secrets++].value = key;
    made->source.secrets = made->secrets;
}

static void case_headers(struct sig_case *made)
{
    size_t i;
    json_t *pair;
    json_array_foreach(json_object_get(made->json, "headers"), i, pair)
    {
        assert_true(i < CASE_HEADERS_MAX);
        made->headers[i] = (struct verify_header){
                slice_in(json_array_get(pair, 0)), slice_in(json_array_get(pair, 1))};
        made->request.n_headers = i + 1;
    }
    made->request.headers = made->headers;
}

static void case_body(struct sig_case *made)
{
    struct slice text = slice_in(json_object_get(made->json, "body"));
    size_t len = 0;
    made->body = xmalloc(text.len + 1);
    assert_row(encoding_decode_any(ENCODING_BASE64, text, made->body, text.len, &len), made->name);
    made->request.body = (struct slice){made->body, len};
}

static void case_keys(struct sig_case *made, const json_t *verify)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(verify, "keys"), i, value)
    {
        const char *name = json_string_value(value);
        assert_true(i < CASE_KEYS_MAX);
        memcpy(&made->keys[i], &name, sizeof name);
        made->custom.n_keys = i + 1;
    }
    made->custom.keys = made->keys;
}

static void case_custom(struct sig_case *made)
{
    const json_t *verify = json_object_get(made->json, "verify");
    if (!verify)
        return;
    made->custom = (struct custom_verify){
            .signature_header = text_in(verify, "header"),
            .signature_second = text_in(verify, "second"),
            .signature_field = text_in(verify, "field"),
            .signature_prefix = text_in(verify, "prefix"),
            .item_sep = text_in(verify, "item_sep"),
            .kv_sep = text_in(verify, "kv_sep"),
            .encoding = text_in(verify, "encoding"),
            .timestamp_header = text_in(verify, "timestamp"),
            .timestamp_item = text_in(verify, "item"),
            .timestamp_field = text_in(verify, "ts_field"),
            .timestamp_unit = text_in(verify, "unit"),
            .tolerance_s = json_integer_value(json_object_get(verify, "tolerance")),
            .signed_form = text_in(verify, "signed"),
            .algorithm = text_in(verify, "algorithm"),
            .key = text_in(verify, "key"),
            .id_header = text_in(verify, "id_header"),
            .token_header = text_in(verify, "token_header"),
            .token_prefix = text_in(verify, "token_prefix"),
            .token_query = text_in(verify, "token_query"),
            .token_basic = json_is_true(json_object_get(verify, "token_basic")),
    };
    case_keys(made, verify);
    made->source.verify = &made->custom;
    made->source.id_ptr = text_in(verify, "id");
}

// The URL that the provider signed, as the policy would have it, and the request target.
static void case_url(struct sig_case *made)
{
    const char *url = text_of(made->json, "url"), *host = strstr(url, "://");
    const char *target = host ? strchr(host + 3, '/') : NULL;
    if (!target)
        return;
    made->request.method = SLICE("POST");
    made->request.target = slice_of(target);
    made->url = slice_dup((struct slice){(const unsigned char *)url, strcspn(url, "?")});
    made->source.public_url = made->url;
}

// The policy of an SNS source names its topics; here those of all cases.
static void case_topics(struct sig_case *made)
{
    static char topic[] = "arn:aws:sns:us-east-1:1:MyTopic";
    static char *topics[] = {topic};
    if (strcmp(made->provider, "aws-sns") != 0)
        return;
    made->source.topics = topics;
    made->source.n_topics = 1;
}

static void case_make(json_t *json, struct sig_case *made)
{
    *made = (struct sig_case){
            .json = json,
            .name = text_of(json, "id"),
            .provider = text_of(json, "provider"),
            .reason = text_of(json, "reason"),
            .note = text_of(json, "note"),
            .accept = strcmp(text_of(json, "expect"), "accept") == 0,
            .source = {.name = text_in(json, "provider"), .scheme = text_in(json, "provider")},
            .request = {.now_s = json_integer_value(json_object_get(json, "now"))},
    };
    case_secrets(made);
    case_headers(made);
    case_body(made);
    case_custom(made);
    case_url(made);
    case_topics(made);
}

int cases_each(const char *path, void (*fn)(struct sig_case *signed_case, void *user), void *user)
{
    const char *root = getenv("PAWL_ROOT");
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root ? root : ".", path);
    FILE *file = fopen(full, "r");
    if (!file)
        return -1;
    int n = 0;
    AUTO_FREE char *line = NULL;
    size_t room = 0;
    for (ssize_t len; (len = getline(&line, &room, file)) > 0; n++) {
        json_t *json = json_loadb(line, (size_t)len, 0, NULL);
        assert_non_null(json);
        struct sig_case made;
        case_make(json, &made);
        fn(&made, user);
        free(made.body);
        free(made.url);
        json_decref(json);
    }
    fclose(file);
    return n;
}
