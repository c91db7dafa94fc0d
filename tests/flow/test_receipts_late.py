"""Receipts about an earlier try than the one that counts now: of what was cancelled, and of what is on the wire again."""
import json
import os
import sys
import threading
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from test_receipts import ACCEPTED, BOUNCED, DELIVERED, DUE, PHONE, UNKNOWN, Rig  # noqa: E402


class Held:
    """A peer that takes the first request without a reply, holds the second, and notes when each was taken."""

    def __init__(self):
        self.taken, self.go = [], threading.Event()

    def __call__(self, c, r):
        if r["n"] == 1:
            self.go.wait(30)
        self.taken.append((r["n"], time.monotonic()))
        if r["n"] == 0:
            c.cut()
        else:
            c.say(201, json.dumps({"sid": f"SM{r['n'] + 1}", "status": "queued"}).encode())

    def order(self):
        return [n for n, _ in self.taken]


def with_every_message(line):
    """An edit of the policy: both messages at least once, with this line."""
    return lambda text: text.replace("delivery: at-most-once", "delivery: at-least-once").replace("    send: [", f"    {line}\n    send: [")


def waits(rig, gate, times):
    d = rig.w.programs()[-1]
    eventually(lambda: d.metric("pawl_gates_total", gate=gate, result="later") >= times, 10, f"the gate {gate} says later")
    return int(d.metric("pawl_gates_total", gate=gate, result="later"))


def test_what_was_cancelled_is_not_sent_again_by_a_receipt(t):
    def script(c, r):
        if r["n"] == 0:
            return c.cut()
        return rig.take(c, r)
    rig = Rig(t, script, also=lambda text: text.replace("wait: [100ms, 200ms]", "wait: [60s]"))
    order = rig.order("least")
    eventually(lambda: rig.state(order) == DUE and rig.count("claims") == 0, 10, "it waits for its second try")
    rig.w.must("deliveries", "cancel", rig.row(order)["nid"].replace("-", ""), "--reason", "a wrong text")
    eq((rig.state(order), rig.count("unknown_outcomes")), (UNKNOWN, 1))
    rig.tell("undelivered", n=0, code="30001")
    eq((rig.state(order), rig.count("unknown_outcomes")), (BOUNCED, 0))
    eq(rig.count("due"), 1, "the row of before, which a claim drops")
    rig.cluster.query("UPDATE pawl.due SET due_at = now()")
    eventually(lambda: rig.count("due") == 0, 10, "nothing is due")
    eq((rig.state(order), rig.row(order)["tries"], len(rig.peer.requests)), (BOUNCED, 1, 1))


def test_a_receipt_about_an_earlier_try_frees_no_cap_slot_while_the_next_is_on_the_wire(t):
    peer = Held()
    rig = Rig(t, peer, also=with_every_message("cap: [ { most: 1, in: 3s, per: recipient, then: defer } ]"))
    rig.shop.order("most", phone=PHONE)
    eventually(lambda: len(rig.peer.requests) == 2, 10, "the second try is on the wire")
    rig.tell("sent", n=0)
    rig.shop.order("most", phone=PHONE)
    eventually(lambda: rig.cluster.value("SELECT now() - updated_at > '3 seconds' FROM pawl.deliveries WHERE state = 2"), 10, "the cap's time is over since the receipt")
    waits(rig, "cap", waits(rig, "cap", 1) + 1)
    eq(peer.order(), [0])
    peer.go.set()
    eventually(lambda: len(peer.taken) == 3, 20, "the other one is sent, after the second copy")
    eq(peer.order(), [0, 1, 2])
    gap = peer.taken[2][1] - peer.taken[1][1]
    check(gap >= 3, f"two messages within {gap:.2f} s, the cap is 1 in 3 s")


def test_a_newer_message_waits_for_a_second_copy_of_the_older_although_a_receipt_ended_it(t):
    peer = Held()
    rig = Rig(t, peer, also=with_every_message('collapse: "order/{{order.id}}"'))

    def event(kind, n):
        answer = rig.w.post(app_request(secret("shop"), f"evt-{n}", kind, "o-1", customer={"phone": PHONE}))
        eq((answer.status, json.loads(answer.body)["outcome"]), (200, "applied"))
    event("most", 1)
    eventually(lambda: len(rig.peer.requests) == 2, 10, "the older one's second try is on the wire")
    event("least", 2)
    rig.tell("sent", n=0)
    waits(rig, "superseded", waits(rig, "superseded", 0) + 2)
    eq(peer.order(), [0])
    peer.go.set()
    eventually(lambda: len(peer.taken) == 3, 20, "the newer one is sent")
    eq(peer.order(), [0, 1, 2])


def test_a_try_after_a_receipt_that_the_doubtful_one_failed_is_no_possible_duplicate(t):
    rig = Rig(t)
    order = rig.order("least", ACCEPTED)
    rig.cluster.query("UPDATE pawl.deliveries SET state = 0, unknown_tries = 1, doubt_at = now(), provider_id = NULL, lookup_at = now() + interval '1 hour'")
    rig.tell("undelivered", code="30001")
    eq(rig.cluster.query("SELECT state, unknown_tries, doubt_at FROM pawl.deliveries"), [(DUE, 0, None)])
    rig.cluster.query("UPDATE pawl.due SET due_at = now(); UPDATE pawl.deliveries SET not_before = NULL")
    rig.comes_to(order, ACCEPTED)
    eq((rig.row(order)["tries"], rig.row(order)["possible_duplicates"]), (2, 0))


def test_a_doubt_that_a_receipt_settles_while_the_next_try_is_due_counts_no_more(t):
    """Nobody is asked about it: it waits for its second try, in its own time."""
    rig = Rig(t, lambda c, r: c.cut() if r["n"] == 0 else rig.take(c, r), also=lambda text: text.replace("wait: [100ms, 200ms]", "wait: [60s]"))
    order = rig.order("least")
    eventually(lambda: rig.state(order) == DUE and rig.count("claims") == 0, 10, "it waits for its second try")
    rig.tell("undelivered", n=0, code="30001")
    eq(rig.cluster.query("SELECT state, unknown_tries, doubt_at FROM pawl.deliveries"), [(DUE, 0, None)])
    check(rig.cluster.value("SELECT bool_and(due_at > now() + interval '30 s') FROM pawl.due"), "nor sooner than before")
    rig.cluster.query("UPDATE pawl.due SET due_at = now(); UPDATE pawl.deliveries SET not_before = NULL")
    rig.comes_to(order, ACCEPTED)
    eq((rig.row(order)["tries"], rig.row(order)["possible_duplicates"]), (2, 0))


def test_a_doubt_two_tries_ago_that_a_receipt_settles_counts_no_more(t):
    def script(c, r):
        if r["n"] == 0:
            return c.cut()
        return c.say(429, b'{"code":20429}') if r["n"] == 1 else rig.take(c, r)
    rig = Rig(t, script, also=lambda text: text.replace("wait: [100ms, 200ms]", "wait: [100ms, 60s]"))
    order = rig.order("least")
    eventually(lambda: len(rig.peer.requests) == 2 and rig.state(order) == DUE and rig.count("claims") == 0, 10, "it waits for its third try")
    rig.tell("undelivered", n=0, code="30001")
    eq(rig.cluster.query("SELECT state, unknown_tries, tries FROM pawl.deliveries"), [(DUE, 0, 2)])
    rig.cluster.query("UPDATE pawl.due SET due_at = now(); UPDATE pawl.deliveries SET not_before = NULL")
    rig.comes_to(order, ACCEPTED)
    eq((rig.row(order)["tries"], rig.row(order)["possible_duplicates"]), (3, 1), "the second was one, the third is none")
    rig.w.must("reconcile")


def test_bad_news_while_a_repeat_is_on_the_wire_is_of_the_try_in_doubt(t):
    """No id of either is known; what the second came to is what counts."""
    peer = Held()
    rig = Rig(t, peer)
    order = rig.order("least")
    eventually(lambda: len(rig.peer.requests) == 2, 10, "the second try is on the wire")
    rig.tell("undelivered", n=0, code="30001")
    rig.tell("undelivered", n=0, code="30003")
    peer.go.set()
    rig.comes_to(order, ACCEPTED)
    eq((rig.row(order)["tries"], len(rig.peer.requests)), (2, 2))


def test_what_a_newer_message_ended_in_doubt_is_not_sent_again_by_a_receipt(t):
    rig = Rig(t, lambda c, r: c.cut() if r["n"] == 0 else rig.take(c, r),
              also=lambda text: with_every_message('collapse: "order/{{order.id}}"')(text).replace("wait: [100ms, 200ms]", "wait: [60s]"))
    def event(kind, n):
        answer = rig.w.post(app_request(secret("shop"), f"evt-{n}", kind, "o-1", customer={"phone": PHONE}))
        eq((answer.status, json.loads(answer.body)["outcome"]), (200, "applied"))
    event("most", 1)
    eventually(lambda: rig.cluster.query("SELECT state, unknown_tries FROM pawl.deliveries") == [(DUE, 1)], 10, "the older one is in doubt")
    event("least", 2)
    states = "SELECT d.state FROM pawl.deliveries d JOIN pawl.notifications n USING (bucket, notification_id) ORDER BY n.once DESC"
    eventually(lambda: rig.cluster.query(states) == [(UNKNOWN,), (ACCEPTED,)], 10, "the newer one took its place")
    rig.tell("undelivered", n=0, code="30001")
    eq(rig.cluster.query(states), [(BOUNCED,), (ACCEPTED,)])


class SecondHeld(Held):
    """The first is taken and answered, the second is held, all others are answered."""

    def __call__(self, c, r):
        if r["n"] == 1:
            self.go.wait(30)
        self.taken.append((r["n"], time.monotonic()))
        c.say(201, json.dumps({"sid": f"SM{r['n'] + 1}", "status": "queued"}).encode())


def test_a_message_that_a_receipt_ended_after_all_is_waited_for_while_its_second_copy_is_on_the_wire(t):
    """Its first was accepted, then undelivered for a while, so that it is sent again, and then delivered."""
    for gate, line in (("superseded", 'collapse: "order/{{order.id}}"'), ("cap", "cap: [ { most: 1, in: 3s, per: recipient, then: defer } ]")):
        peer = SecondHeld()
        rig = Rig(t, peer, also=with_every_message(line))
        def event(kind, n, rig=rig):
            answer = rig.w.post(app_request(secret("shop"), f"evt-{n}", kind, "o-1", customer={"phone": PHONE}))
            eq((answer.status, json.loads(answer.body)["outcome"]), (200, "applied"))
        event("most", 1)
        eventually(lambda rig=rig: rig.state("o-1") == ACCEPTED, 10, "accepted")
        rig.tell("undelivered", sid="SM1", n=0, code="30001")
        rig.cluster.query("UPDATE pawl.due SET due_at = now(); UPDATE pawl.deliveries SET not_before = NULL")
        eventually(lambda rig=rig: len(rig.peer.requests) == 2, 10, "the second copy is on the wire")
        rig.tell("delivered", sid="SM1", n=0)
        eq(rig.state("o-1"), DELIVERED)
        if gate == "cap":
            rig.shop.order("most", phone=PHONE)
        else:
            event("least", 2)
        waits(rig, gate, 2)
        peer.go.set()
        eventually(lambda peer=peer: len(peer.taken) == 3, 20, "all are taken")
        eq([n for n, _ in peer.taken], [0, 1, 2])
        if gate == "cap":
            check(peer.taken[2][1] - peer.taken[1][1] >= 3, "the cap's time runs from the second copy")
