#include "dispatcher/claim/gates/caps.h"

#include "common/text.h"

enum { NAME_MAX_BYTES = 512, FOR_ONE_SLOT = 2 };

// Without spaces around it and a name before it.
static struct slice mailbox_of(struct slice address)
{
    while (address.len && address.ptr[0] == ' ')
        address = (struct slice){address.ptr + 1, address.len - 1};
    while (address.len && address.ptr[address.len - 1] == ' ')
        address.len--;
    bool named = address.len && address.ptr[address.len - 1] == '>';
    const unsigned char *open = named ? memrchr(address.ptr, '<', address.len) : NULL;
    if (!open)
        return address;
    size_t before = (size_t)(open - address.ptr) + 1;
    return (struct slice){open + 1, address.len - before - 1};
}

// As address_normal() of the database writes it: one address has many forms.
static char *normal_address(const struct delivery *delivery)
{
    struct slice address = slice_of(delivery->address ? delivery->address : "");
    const char *between = delivery->channel == CHANNEL_SMS ? " -./()" : "";
    bool mail = delivery->channel == CHANNEL_EMAIL;
    if (mail)
        address = mailbox_of(address);
    char *normal = xcalloc(address.len + 1, 1), *to = normal;
    for (size_t i = 0; i < address.len; i++) {
        char c = (char)address.ptr[i];
        if (!strchr(between, c))
            *to++ = (char)(mail && c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    return normal;
}

static struct key subject_of(bool by_order, const struct delivery *delivery)
{
    AUTO_FREE char *address = normal_address(delivery);
    const char *kind = by_order ? "order" : delivery->recipient ? "contact" : "address";
    const char *name = by_order ? delivery->order_id : delivery->recipient;
    struct slice parts[2] = {slice_of(kind), slice_of(name ? name : address)};
    return key_derive(parts, ARRAY_LEN(parts));
}

static void add(struct delivery *delivery, const struct cap *cap, const char *owner)
{
    bool by_order = strcmp(cap->per, "order") == 0;
    if (by_order && !delivery->order_id)
        return;
    struct key subject = subject_of(by_order, delivery);
    char hex[KEY_HEX];
    key_hex(subject, hex);
    AUTO_TEXT struct text name;
    text_init(&name, NAME_MAX_BYTES);
    text_fmt(&name, "%s/%d/%lld/%s/%s %s", owner, cap->most, (long long)cap->in_s, cap->per,
            cap->across ? "*" : channel_name(delivery->channel), hex);
    delivery->caps = xrealloc(delivery->caps, (delivery->n_caps + 1) * sizeof *delivery->caps);
    delivery->caps[delivery->n_caps++] = (struct cap_hold){.bucket = key_bucket(subject),
            .name = text_steal(&name),
            .most = cap->most,
            .in_ms = cap->in_s * 1000,
            .withhold = cap->withhold};
}

void caps_of(const struct message *message, struct delivery *delivery)
{
    if (delivery->caps)
        return;
    for (size_t i = 0; i < message->n_caps; i++)
        add(delivery, &message->caps[i], message->name);
    for (size_t i = 0; i < message->n_limits; i++)
        add(delivery, &message->limits[i], "limits");
}

void caps_buckets(const struct delivery *delivery, int *ret_order, int *ret_recipient)
{
    *ret_order = delivery->order_id ? key_bucket(subject_of(true, delivery)) : -1;
    *ret_recipient = key_bucket(subject_of(false, delivery));
}

static int64_t between(int64_t least, int64_t value, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

// When the nth slot (from 0) is free: the dated ones in their order, then those that are held, each
// of them again and again after its time.
static int64_t nth_free_ms(const struct cap_room *room, size_t nth)
{
    size_t most = (size_t)room->most, place = nth % most;
    int64_t rounds = (int64_t)(nth / most);
    size_t dated = most - (size_t)between(0, room->held, room->most);
    bool is_held = place >= dated || room->n_free == 0;
    size_t known = place < room->n_free ? place : room->n_free - 1;
    int64_t first_ms = is_held ? room->in_ms : room->free_ms[known];
    return rounds > CAP_WAIT_MAX_MS / room->in_ms ? CAP_WAIT_MAX_MS
                                                  : first_ms + rounds * room->in_ms;
}

int64_t cap_wait_ms(const struct cap_room *room, size_t rank, uint32_t random)
{
    int64_t wait_ms = nth_free_ms(room, rank / FOR_ONE_SLOT);
    int64_t probe_ms = between(CAP_PROBE_MS, room->in_ms / 20, CAP_PROBE_MAX_MS);
    if (rank == 0 && room->held > 0 && wait_ms > probe_ms)
        wait_ms = probe_ms;
    int64_t jitter_ms = between(2, room->in_ms / 200, 1000);
    return between(1, wait_ms, CAP_WAIT_MAX_MS) + (int64_t)(random % (uint32_t)jitter_ms);
}
