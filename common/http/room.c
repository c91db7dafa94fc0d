#include "common/http/room.h"

void room_leave(struct room *room, struct guest *guest)
{
    enum guest_place at = guest->place;
    if (at == GUEST_BUSY)
        return;
    *(guest->prev ? &guest->prev->next : &room->first[at]) = guest->next;
    *(guest->next ? &guest->next->prev : &room->last[at]) = guest->prev;
    guest->prev = guest->next = NULL;
    guest->place = GUEST_BUSY;
}

static void move(struct room *room, struct guest *guest, enum guest_place to, int64_t now_ms)
{
    room_leave(room, guest);
    guest->place = to;
    guest->since_ms = now_ms;
    guest->prev = room->last[to];
    *(room->last[to] ? &room->last[to]->next : &room->first[to]) = guest;
    room->last[to] = guest;
}

void room_rest(struct room *room, struct guest *guest, int64_t now_ms)
{
    move(room, guest, GUEST_IDLE, now_ms);
}

// A request whose head is not yet read has no version; h2o says when all of it is there.
static bool is_idle(const struct guest *guest)
{
    return guest->req && guest->req->version == 0;
}

static bool is_at_body(const struct guest *guest)
{
    return guest->req && guest->req->version != 0 && !guest->req->processed_at.str;
}

static struct guest *first(const struct room *room, enum guest_place at, int64_t before_ms)
{
    struct guest *guest = room->first[at];
    return guest && guest->since_ms <= before_ms ? guest : NULL;
}

// Nothing tells when a head or a body begins, so a guest is looked at when it is the oldest. One
// that is not what it seemed goes to an end: none is looked at twice.
h2o_req_t *room_oldest(
        struct room *room, int64_t now_ms, void (*learn)(void *context), void *context)
{
    struct guest *guest;
    while ((guest = first(room, GUEST_IDLE, now_ms - ROOM_IDLE_MIN_MS))) {
        if (!guest->req)
            learn(context);
        if (is_idle(guest))
            return guest->req;
        move(room, guest, is_at_body(guest) ? GUEST_SLOW : GUEST_IDLE, now_ms);
    }
    while ((guest = first(room, GUEST_SLOW, now_ms - ROOM_BODY_MIN_MS))) {
        if (is_at_body(guest))
            return guest->req;
        move(room, guest, GUEST_IDLE, now_ms); // answered by h2o itself
    }
    return NULL;
}
