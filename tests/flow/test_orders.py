"""Orders only move along their flow, each step once, in whatever order and however often events come."""
import os
import random
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import (Barrier, all_sent, applied, blocked, conflicts, notifications, retire, states, statuses, stored_once,  # noqa: E402
                    waiting)

STEPS = ["s1", "s2", "s3", "s4", "s5", "s6"]

# The example's flow, written down once more and by hand: from where a state may be entered; None = there was no order.
ENTER = {
    "placed": {None},
    "paid": {None, "placed"},
    "packed": {"paid"},
    "shipped": {"packed", "paid"},
    "out_for_delivery": {"shipped", "packed", "paid"},
    "delivered": {"out_for_delivery", "shipped", "packed"},
    "cancelled": {"placed", "paid"},
    "refunded": {"paid", "packed", "shipped", "out_for_delivery", "delivered"},
}
PATH = ["placed", "paid", "packed", "shipped", "out_for_delivery", "delivered"]
MESSAGES = {"paid": "payment-receipt", "shipped": "order-shipped", "out_for_delivery": "out-for-delivery",
            "cancelled": "order-cancelled"}


def shuffled(events, copies=3):
    """Each event so many times, in an order that the printed seed gives again."""
    seed = int(os.environ.get("PAWL_TEST_SEED", random.randrange(1 << 30)))
    print(f"PAWL_TEST_SEED={seed}")
    requests = [e for e in events for _ in range(copies)]
    random.Random(seed).shuffle(requests)
    return requests


def post_all_of(w, events):
    """Posts the events shuffled and thrice over 16 connections and both receivers; all must be taken and stored once."""
    answers = w.post(*shuffled(events), connections=16, again=True, timeout=90)
    eq(statuses(answers), {200: 3 * len(events)})
    eq(stored_once(w.cluster, [e.tag for e in events]), [], "events without exactly one key")
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats WHERE outcome = 2"), 2 * len(events), "repeats")
    eq(w.cluster.deadlocks(), 0, "deadlocks in the server's log")


def chains(cluster):
    """{order: [states it was moved to]}, after a look at the versions and at where each move came from."""
    found = {}
    for order, version, source, target in applied(cluster):
        path = found.setdefault(order, [])
        eq((version, source), (len(path) + 1, path[-1] if path else None), f"move of {order} to {target}")
        path.append(target)
    return found


def strict_step(order, step, port=None, more=""):
    """The event of one step; more makes it another event that says the same."""
    make, name = (app_request, "shop") if int(step[1]) % 2 else (stripe_request, "stripe")
    request = make(secret(name), f"{order}-{step}{more}", "step." + step, order, f"{order}@example.net")
    request.port = port
    return request


def test_two_hundred_orders_reach_their_last_state_step_by_step_though_all_is_shuffled_and_tripled(t):
    w = t.world(receivers=2, dispatchers=1)
    orders = [f"o{n}" for n in range(200)]
    post_all_of(w, [strict_step(o, s) for o in orders for s in STEPS])
    eq(chains(w.cluster), {o: STEPS for o in orders})
    eq(states(w.cluster), dict.fromkeys(orders, "s6"))
    eq(waiting(w.cluster), [])
    eq(w.cluster.value("SELECT sum(waiting) FROM pawl.orders"), 0, "events that orders say wait")
    want = sorted((f"reached-{s}", o, STEPS.index(s) + 1, f"{o}-{s}") for o in orders for s in STEPS)
    eq(sorted((m, o, version, e) for m, o, version, _, e in notifications(w.cluster)), want)
    eventually(lambda: all_sent(w.cluster), 60, "everything is sent")
    eq(w.sink.by_rcpt(), {f"{o}@example.net": 6 for o in orders})


def parcel(order, status, revision, more):
    return erp_request(secret("erp"), f"{order}-{status}{more}", "parcel", order, parcel={"status": status, "revision": revision})


def whole_way(order, more):
    address = f"{order}@example.net"
    return [app_request(secret("shop"), f"{order}-placed{more}", "order.placed", order, address),
            stripe_request(secret("stripe"), f"{order}-paid{more}", "payment_intent.succeeded", order, address),
            erp_request(secret("erp"), f"{order}-packed{more}", "packed", order),
            parcel(order, "in_transit", 1, more), parcel(order, "out_for_delivery", 2, more), parcel(order, "delivered", 3, more)]


def example_events(order, chance):
    """What may happen to one order: the whole way or parts of it, some steps told by two events, a cancel, a refund."""
    address = f"{order}@example.net"
    way = [e for e in whole_way(order, "") if chance.random() < 0.85]
    way += [e for e in whole_way(order, "-again") if chance.random() < 0.3]
    if chance.random() < 0.3:
        way.append(app_request(secret("shop"), f"{order}-cancelled", "order.cancelled", order, address))
    if chance.random() < 0.3:
        way.append(stripe_request(secret("stripe"), f"{order}-refunded", "charge.refunded", order, address, amount=5))
    return way


def test_orders_of_the_example_never_go_back_and_each_step_that_a_message_names_is_told_once(t):
    w = t.world(policy="example", receivers=2, dispatchers=1)
    chance = random.Random(7)
    events = [e for n in range(120) for e in example_events(f"o{n}", chance)]
    post_all_of(w, events)
    moved, now = chains(w.cluster), states(w.cluster)
    for order, path in moved.items():
        eq(len(set(path)), len(path), f"steps of {order}: {path}")
        for source, target in zip([None] + path, path):
            check(source in ENTER[target], f"{order} went from {source} to {target}")
    eq({o: s for o, s in now.items() if s}, {o: path[-1] for o, path in moved.items()})
    for order, state, event, target in waiting(w.cluster):
        check(state not in ENTER[target], f"{event} waits although {order} is {state}")
        check(target not in moved.get(order, []), f"{event} waits although {order} has been {target}")
    eq([m for m in conflicts(w.cluster) if m[1] in PATH and m[2] in PATH and PATH.index(m[2]) <= PATH.index(m[1])], [],
       "steps that an order had behind it, called a conflict")
    want = sorted((MESSAGES[s], o, moved[o].index(s) + 1) for o in moved for s in moved[o] if s in MESSAGES)
    eq(sorted(n[:3] for n in notifications(w.cluster)), want)
    eventually(lambda: all_sent(w.cluster), 60, "everything is sent")
    addressed = w.cluster.query("SELECT address, count(*) FROM pawl.deliveries WHERE address <> '' GROUP BY 1")
    eq(w.sink.by_rcpt(), dict(addressed))
    eq(w.cluster.value("SELECT count(*) FROM pawl.deliveries"), len(want))
    check(len(moved) > 80 and any("cancelled" in p for p in moved.values()) and any("refunded" in p for p in moved.values()),
          "the events were too tame to show anything")


def test_an_event_for_an_order_that_is_created_at_the_same_moment_is_never_lost(t):
    w = t.world(receivers=2, dispatchers=0)
    a, b = w.ports()
    rounds = 250
    pairs = [strict_step(f"o{n}", step, port) for n in range(rounds) for step, port in (("s1", a), ("s2", b))]
    eq(statuses(w.post(*pairs, connections=2)), {200: 2 * rounds})
    eq(waiting(w.cluster), [])
    eq(chains(w.cluster), {f"o{n}": ["s1", "s2"] for n in range(rounds)})
    eq(w.cluster.deadlocks(), 0)


def stopped(w, label, request):
    """A receiver that has stopped with this request at the label, and the request's load."""
    receiver = w.receiver(fault=f"stop@{label}:1")
    request.port = receiver.port
    load = w.load([request])
    eventually(receiver.proc.frozen, 5, "the receiver stops", every=0.005)
    return receiver, load


def test_an_event_that_meets_an_uncommitted_one_of_its_order_waits_for_it_and_misses_nothing(t):
    t.need_faults()
    w = t.world(receivers=1, dispatchers=0)
    cases = [(f"{label}-{first}-{second}", label, before, first, second)
             for label in ("accept.after_lock", "accept.before_commit")  # Its order is locked; its order is written.
             for before, first, second in (("", "s1", "s2"), ("", "s2", "s1"), ("s1", "s2", "s3"), ("s1", "s3", "s2"))]
    for order, label, before, first, second in cases:
        if before:
            eq(w.post(strict_step(order, before)).status, 200)
        other, load = stopped(w, label, strict_step(order, first))
        late = w.load([strict_step(order, second, w.ports()[0])])
        eventually(lambda: blocked(w.cluster), 5, "the second event waits for the first's transaction", every=0.005)
        other.thaw()
        eq((load.result()[0].status, late.result()[0].status), (200, 200), order)
        eq(states(w.cluster)[order], max(first, second), order)
        eq(waiting(w.cluster), [])
        eq(other.stop(), 0)
        retire(w, other)
    eq(chains(w.cluster), {c[0]: STEPS[:3 if c[2] else 2] for c in cases})


def test_two_batches_that_name_the_same_orders_do_not_deadlock(t):
    w = t.world(receivers=2, dispatchers=0, host={"receiver": {"deadline": "10s"}})
    orders = [f"o{n}" for n in range(40)]
    eq(statuses(w.post(*[strict_step(o, "s1") for o in orders])), {200: 40})
    for step in STEPS[1:]:
        barrier = t.keep(Barrier(w.cluster))
        requests = [strict_step(o, step, port, f"-{port}") for port in w.ports() for o in orders]
        random.Random(step).shuffle(requests)
        load = w.load(requests, connections=80)
        barrier.reached(2)
        queued = lambda: sum(r.metric("pawl_inflight", component="receiver") for r in w.receivers) == 80  # noqa: E731
        eventually(queued, 8, "both receivers have gathered a batch of all orders")
        held = w.cluster.connect(autocommit=False)  # So that both batches hold some orders and want others.
        held.cursor().execute("SELECT FROM pawl.orders WHERE order_id = ANY(%s) FOR UPDATE", (orders[10:12],))
        barrier.open()
        eventually(lambda: len(blocked(w.cluster, "transactionid", "tuple")) == 2, 5, "both batches wait for orders", every=0.005)
        held.close()
        eq(statuses(load.result()), {200: 80}, step)
    eq(chains(w.cluster), {o: STEPS for o in orders})
    eq(w.cluster.deadlocks(), 0)


def with_notes(text):
    return text.replace("to: s1, contact: { email: /customer/email }", "to: s1, contact: { email: /customer/email }, data: { notes: /notes }", 1)


def test_what_an_order_has_no_room_for_is_counted_and_told(t):
    w = t.world(receivers=1, dispatchers=0, edit=with_notes)
    for order, size in (("small", 16000), ("large", 17000)):
        body = as_body({"type": "step.s1", "order": {"id": order}, "customer": {"email": "a@example.net"}, "notes": "x" * size})
        eq(w.post(Request("/hooks/shop", app_auth(secret("shop"), "evt-" + order), body)).status, 200)
    rows = w.cluster.query("SELECT order_id, length(data) FROM pawl.orders ORDER BY 1")
    eq(rows, [("large", 2), ("small", 16012)])
    eq(w.receivers[0].metric("pawl_values_not_kept_total", source="shop"), 1)
    check("values-not-kept" in w.must("story", "evt-large"), w.must("story", "evt-large"))
    check("values-not-kept" in w.must("inbox", "show", "evt-large"), "and in the inbox")
    check("values-not-kept" not in w.must("story", "evt-small"), "only there")
    eq(states(w.cluster), {"small": "s1", "large": "s1"}, "they moved all the same")
