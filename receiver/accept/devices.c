#include "receiver/accept/devices.h"

#include "common/keys.h"
#include "common/utf8.h"

#include <jansson.h>
#include <stdio.h>

static void auto_decref_(json_t **json)
{
    json_decref(*json);
}
#define AUTO_JSON __attribute__((cleanup(auto_decref_)))

// What the push services take as one text: no control character, and no text cut at a NUL.
static char *token_text(const json_t *token)
{
    const char *text = json_string_value(token);
    if (!text)
        return NULL;
    struct slice said = {(const unsigned char *)text, json_string_length(token)};
    if (said.len == 0 || said.len > DEVICE_ADDRESS_MAX || utf8_has_control(said))
        return NULL;
    return slice_dup(said);
}

// A device token of Apple is hex digits: capitals name no other device.
static bool read_apns(const json_t *token, struct text *name, char **ret_address)
{
    AUTO_FREE char *address = token_text(token);
    for (const char *c = address; c && *c; c++)
        text_char(name, ascii_lower(*c));
    *ret_address = steal(&address);
    return *ret_address != NULL;
}

static bool read_fcm(const json_t *token, struct text *name, char **ret_address)
{
    AUTO_FREE char *address = token_text(token);
    if (address)
        text_str(name, address);
    *ret_address = steal(&address);
    return *ret_address != NULL;
}

// The endpoint is the subscription (RFC 8030 section 3): its keys don't make it another.
static bool read_webpush(const json_t *token, struct text *name, char **ret_address)
{
    AUTO_JSON json_t *parsed = json_is_string(token) ? json_loadb(json_string_value(token),
                                                               json_string_length(token), 0, NULL)
                                                     : json_deep_copy(token);
    const char *endpoint = json_string_value(json_object_get(parsed, "endpoint"));
    if (!endpoint || !*endpoint || !json_is_object(json_object_get(parsed, "keys")))
        return false;
    char *address = json_dumps(parsed, JSON_COMPACT | JSON_SORT_KEYS);
    if (!address || strlen(address) > DEVICE_ADDRESS_MAX) {
        free(address);
        return false;
    }
    *ret_address = address;
    return text_str(name, endpoint);
}

static const struct kind {
    const char *name;
    bool (*read)(const json_t *token, struct text *name, char **ret_address);
} kinds[] = {{"apns", read_apns}, {"fcm", read_fcm}, {"webpush", read_webpush}};

static const struct kind *kind_of(const json_t *device)
{
    const char *name = json_string_value(json_object_get(device, "kind"));
    for (size_t i = 0; name && i < ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static bool read_device(const json_t *item, struct device *ret_device)
{
    const struct kind *kind = kind_of(item);
    AUTO_TEXT struct text name = {.max = DEVICE_ADDRESS_MAX};
    char *address = NULL;
    unsigned char digest[32];
    if (!kind || !kind->read(json_object_get(item, "token"), &name, &address))
        return false;
    sha256_of(text_slice(&name), digest);
    int n = snprintf(ret_device->target, DEVICE_TARGET_ROOM, "%s-", kind->name);
    for (int i = 0; i < 8; i++)
        snprintf(ret_device->target + n + 2 * i, 3, "%02x", digest[i]);
    ret_device->address = address;
    return true;
}

static bool is_there(const struct device *list, size_t n, const char *target)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].target, target) == 0)
            return true;
    return false;
}

size_t devices_read(const char *contact, struct device **ret_list)
{
    *ret_list = NULL;
    // Most contacts have none: they are not read.
    if (!contact || !strstr(contact, "\"push\""))
        return 0;
    AUTO_JSON json_t *root = json_loads(contact, 0, NULL);
    const json_t *push = json_object_get(root, "push");
    struct device *list = xcalloc(DEVICES_MAX, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(push) && n < DEVICES_MAX; i++) {
        struct device device = {0};
        if (!read_device(json_array_get(push, i), &device))
            continue;
        if (is_there(list, n, device.target))
            free(device.address);
        else
            list[n++] = device;
    }
    *ret_list = list;
    return n;
}

void devices_free(struct device *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].address);
    free(list);
}
