"""A service of one's own is told what became of its event: the answers of scheme `app` (design: answers of POST /hooks/{source})."""
import json
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import Barrier, applied, blocked, keys, repeats, retire, states, statuses, unavailable  # noqa: E402


def shop(key, kind, order, **more):
    return app_request(secret("shop"), key, kind, order, "a@example.net", **more)


def outcome(answer, status=200, replayed=False):
    """The outcome that an answer tells, once the rest of it is as it must be."""
    eq(answer.status, status, f"{answer.error}{answer.body!r}")
    eq(answer.headers.get("idempotency-replayed"), "true" if replayed else None, "Idempotency-Replayed")
    return json.loads(answer.body)["outcome"]


def problem(answer, status):
    eq((answer.status, answer.headers.get("content-type")), (status, "application/problem+json"), f"{answer.body!r}")
    return json.loads(answer.body)["code"]


def test_the_first_is_told_its_outcome_and_every_copy_the_stored_one_whatever_happened_since(t):
    w = t.world(policy="example", receivers=2, dispatchers=0)
    erp = lambda kind, order, **more: erp_request(secret("erp"), f"{kind}-{order}", kind, order, **more)  # noqa: E731
    placed, cancelled = shop("k1", "order.placed", "1"), shop("k2", "order.cancelled", "2")
    firsts = [(placed, "applied"), (shop("k3", "order.placed", "1"), "already_done"), (cancelled, "unknown_order"),
              (shop("k4", "order.forgotten", "1"), "unmapped"), (shop("k5", "order.cancelled", "1"), "applied"),
              (shop("k6", "order.placed", "3"), "applied")]
    for request, want in firsts:
        eq(outcome(w.post(request)), want, request.tag)
    paid = stripe_request(secret("stripe"), "evt-1", "payment_intent.succeeded", "3", "a@example.net")
    eq(statuses(w.post(paid, erp("packed", "3"), connections=1)), {200: 2})
    firsts.append((shop("k7", "order.cancelled", "3"), "conflict"))
    eq(outcome(w.post(firsts[-1][0])), "conflict")
    eq(outcome(w.post(shop("k8", "order.placed", "2"))), "applied")  # k2 waited for this.
    eq(states(w.cluster), {"1": "cancelled", "2": "cancelled", "3": "packed"})
    for request, want in firsts:
        for answer in w.post(request, request, request, connections=1):
            eq(outcome(answer, replayed=True), want, f"copy of {request.tag}")
    eq(sum(repeats(w.cluster, request.tag) for request, _ in firsts), 3 * len(firsts))


def test_a_step_too_early_is_told_early_also_by_its_copies_after_it_was_applied(t):
    w = t.world(receivers=1, dispatchers=0)
    eq(outcome(w.post(shop("k1", "step.s1", "1"))), "applied")
    eq(outcome(w.post(shop("k3", "step.s3", "1"))), "early")
    eq(outcome(w.post(shop("k2", "step.s2", "1"))), "applied")
    eq(states(w.cluster), {"1": "s3"})
    eq(outcome(w.post(shop("k3", "step.s3", "1")), replayed=True), "early")


def test_what_is_wrong_is_told_and_an_unreadable_body_leaves_its_key_free(t):
    w = t.world(receivers=1, dispatchers=0)
    good = shop("k1", "step.s1", "1")
    for body in (b"{", b"", b"[1,2]", b'{"type":"step.s1"}', b'{"type":"step.s1","order":{"id":null}}',
                 b'{"type":"step.s1","order":{"id":"1"},"order":{"id":"2"}}', b'{"order":{"id":"1"}}'):
        eq(problem(w.post(Request(good.path, good.headers, body)), 422), "unreadable", f"{body!r}")
    eq((keys(w.cluster, "k1"), w.cluster.value("SELECT count(*) FROM pawl.bodies")), (0, 0))
    eq(outcome(w.post(good)), "applied")
    twin = shop("k1", "step.s1", "2")
    eq(problem(w.post(twin), 422), "idempotency_mismatch")
    eq(problem(w.post(twin), 422), "idempotency_mismatch")
    eq(outcome(w.post(good), replayed=True), "applied")
    eq(states(w.cluster), {"1": "s1"})

    def without(**headers):
        return w.post(Request(good.path, {k: v for k, v in {**good.headers, **headers}.items() if v is not None}, good.body))
    eq(problem(without(**{"Idempotency-Key": None}), 400), "idempotency_key_missing")
    eq(problem(without(**{"Idempotency-Key": ""}), 400), "idempotency_key_missing")
    for bad in (None, "", "Bearer", "Bearer x", "Basic " + secret("shop"), "Bearer " + secret("shop")[:-1]):
        eq(problem(without(Authorization=bad), 401), "unauthorized", f"{bad!r}")


def shop_reads(old, new):
    """The policy with other words in what it says of the shop."""
    def edit(text):
        before, of_shop = text.split("\n  shop:\n", 1)
        of_shop, after = of_shop.split("\norders:\n", 1)
        check(old in of_shop, old)
        return before + "\n  shop:\n" + of_shop.replace(old, new) + "\norders:\n" + after
    return edit


def test_a_repeat_is_told_what_its_first_was_told_whatever_the_policy_reads_today(t):
    w = t.world(receivers=1, dispatchers=0)
    firsts = []
    for key, kind, order, want in (("k1", "step.s1", "S1", "applied"), ("k2", "step.s1", "S1", "already_done"), ("k3", "step.s3", "S1", "early"),
                                   ("k4", "step.s2", "S2", "unknown_order"), ("k5", "step.s9", "S1", "unmapped")):
        request = shop(key, kind, order, customer={"number": "9"})
        answer = w.post(request)
        eq(outcome(answer), want, key)
        firsts.append((request, answer.body))
    state = states(w.cluster)
    changes = (("order: /order/id", "order: /order/nr"),  # which the bodies don't have: they can't be read any more
               ("order: /order/id", "order: /customer/number"), ("step.", "stage."), ("step.s6", "step.s9"))
    for n, change in enumerate(changes):
        w.set_policy("strict", shop_reads(*change))
        w.must("policy", "apply")
        for request, told in firsts:
            for answer in w.post(request, request, connections=2):
                outcome(answer, replayed=True)
                eq(answer.body, told, f"{request.tag} under {change[1]}")
            eq(repeats(w.cluster, request.tag), 2 * (n + 1), "each copy is recorded")
        eq(states(w.cluster), state)


def test_what_can_not_be_read_is_a_mismatch_of_a_key_that_is_taken_and_takes_none(t):
    w = t.world(receivers=1, dispatchers=0)
    good = shop("k1", "step.s1", "1")
    eq(outcome(w.post(good)), "applied")
    counts = lambda: w.cluster.query(  # noqa: E731
        "SELECT (SELECT count(*) FROM pawl.keys), (SELECT count(*) FROM pawl.bodies), (SELECT count(*) FROM pawl.repeats)")[0]
    eq(counts(), (1, 1, 0))
    eq(problem(w.post(Request(good.path, good.headers, b"{")), 422), "idempotency_mismatch")
    eq(counts(), (1, 2, 1), "what differs is kept")
    for _ in range(2):
        eq(problem(w.post(Request(good.path, app_auth(secret("shop"), "k2"), b"{")), 422), "unreadable")
    eq(counts(), (1, 2, 1))
    # Together, over one receiver: those that can be read share the key, whoever comes first.
    for n in range(3, 11):
        request = shop(f"k{n}", "step.s1", f"o{n}")
        torn = Request(request.path, request.headers, b"{")
        answers = w.post(*[torn, request] * 12, connections=24)
        good = [a for a in answers if a.status == 200]
        eq({json.loads(a.body)["outcome"] for a in good}, {"applied"})
        eq((len(good), sum("idempotency-replayed" not in a.headers for a in good)), (12, 1))
        eq({problem(a, 422) for a in answers if a.status != 200} - {"unreadable", "idempotency_mismatch"}, set())
        eq(keys(w.cluster, request.tag), 1)
    eq(len(applied(w.cluster)), 9)


def test_the_body_is_json_whatever_the_content_type_says(t):
    w = t.world(receivers=1, dispatchers=0)
    for n, kind in enumerate(("application/x-www-form-urlencoded", "text/plain", "")):  # the first is what `curl -d` says
        request = shop(f"k{n}", "step.s1", f"o{n}")
        request.headers["Content-Type"] = kind
        eq(outcome(w.post(request)), "applied", kind)


def test_copies_in_parallel_are_one_first_and_else_its_stored_outcome(t):
    w = t.world(receivers=2, dispatchers=0)
    for n, (kind, want) in enumerate((("step.s1", "applied"), ("step.s2", "unknown_order"), ("step.none", "unmapped")) * 4):
        request = shop(f"k{n}", kind, f"o{n}")
        answers = w.post(*[request] * 24, connections=24)
        eq(statuses(answers), {200: 24})
        eq({json.loads(a.body)["outcome"] for a in answers}, {want}, f"round {n}")
        eq(sum("idempotency-replayed" not in a.headers for a in answers), 1, f"answers to a first in round {n}")
        eq((keys(w.cluster, request.tag), repeats(w.cluster, request.tag)), (1, 23))


def test_a_copy_waits_for_a_first_that_is_under_way_in_another_receiver(t):
    t.need_faults()
    w = t.world(receivers=1, dispatchers=0)
    slow = w.receiver(fault="stop@accept.before_commit:1")
    first, copy = shop("k1", "step.s1", "1"), shop("k1", "step.s1", "1")
    first.port, copy.port = slow.port, w.receivers[0].port
    told = w.load([first])
    eventually(slow.proc.frozen, 5, "the first stops before its commit", every=0.005)
    waits = w.load([copy])
    eventually(lambda: blocked(w.cluster), 5, "the copy waits in the unique index", every=0.005)
    eq(waits.done(), 0, "a copy answered before its first")
    slow.thaw()
    eq((outcome(told.result()[0]), outcome(waits.result()[0], replayed=True)), ("applied", "applied"))
    eq(slow.stop(), 0)
    retire(w, slow)

    # And a first that never commits leaves its key to the copy.
    slow = w.receiver(fault="stop@accept.before_commit:1")
    first, copy = shop("k2", "step.s2", "1"), shop("k2", "step.s2", "1")
    first.port, copy.port = slow.port, w.receivers[0].port
    told = w.load([first])
    eventually(slow.proc.frozen, 5, "the first stops before its commit", every=0.005)
    waits = w.load([copy])
    eventually(lambda: blocked(w.cluster), 5, "the copy waits in the unique index", every=0.005)
    slow.kill9()
    retire(w, slow)
    eq((told.result()[0].status, outcome(waits.result()[0])), (0, "applied"))
    eq(len(applied(w.cluster)), 2)


def test_past_the_deadline_a_copy_is_told_409_while_its_first_is_under_way_and_the_first_503(t):
    w = t.world(receivers=1, dispatchers=0, host={"receiver": {"deadline": "1s"}})
    barrier = t.keep(Barrier(w.cluster))
    first = w.load([shop("k1", "step.s1", "1")])
    barrier.reached()
    w.cluster.freeze()  # So that the first's transaction can't be given up before the copy's deadline too.
    copy = w.load([shop("k1", "step.s1", "1")]).result()[0]
    w.cluster.thaw()
    unavailable(first.result()[0], "the first, past its deadline")
    eq(problem(copy, 409), "in_flight")
    check(copy.headers.get("retry-after"), "409 without Retry-After")
    barrier.open()
    eventually(lambda: w.post(shop("k1", "step.s1", "1")).status == 200, 10, "the next one is taken")
    eq((states(w.cluster), len(applied(w.cluster))), ({"1": "s1"}, 1))
