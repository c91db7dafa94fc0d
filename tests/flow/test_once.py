"""Two copies of one event are applied at most once, whatever happens to the receivers meanwhile."""
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import (MISMATCH, Barrier, all_sent, applied, bodies, keys, notifications, repeats, states,  # noqa: E402
                    statuses)

COPIES = 1000


def midway(load, done):
    """Waits until so many are answered, and proves that not all are."""
    eventually(lambda: load.done() >= done, 30, f"{done} copies are answered", every=0.002)
    check(load.done() < len(load.requests) - 50, f"{load.done()} copies are answered already: nothing is under way")


def test_a_thousand_copies_over_two_receivers_that_restart_midway_are_one_event_one_move_one_mail(t):
    w = t.world(receivers=2, dispatchers=1)
    one = stripe_request(secret("stripe"), "evt-1", "step.s1", "1001", "a@example.net")
    load = w.load([one] * COPIES, connections=32, again=True)

    midway(load, 150)
    barrier = t.keep(Barrier(w.cluster)).reached(2)  # Both have a batch under way now, and more behind it.
    killed, ended = w.receivers
    killed.kill9()
    ended.proc.sigterm()
    barrier.open()
    eq(ended.proc.wait(10), 0, "exit status of the receiver that got SIGTERM")
    w.restart(killed)
    midway(load, 300)
    w.restart(ended)
    answers = load.result()

    eq(statuses(answers), {200: COPIES})
    posted = sum(a.tries for a in answers)
    check(posted > COPIES, "no copy was cut off or answered 503: the restarts did not hit")
    eq(keys(w.cluster, "evt-1"), 1)
    caught = repeats(w.cluster, "evt-1")
    check(COPIES - 1 <= caught <= posted - 1, f"{caught} repeats of {posted} copies posted, {COPIES} acknowledged")
    eq(w.cluster.value("SELECT count(DISTINCT arrival) FROM pawl.repeats"), caught, "arrivals in repeats")
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats r JOIN pawl.keys k USING (arrival)"), 0, "the first among its repeats")
    eq(len(applied(w.cluster)), 1)
    eq(len(notifications(w.cluster)), 1)
    eventually(lambda: all_sent(w.cluster), 20, "everything is sent")
    eq(w.sink.by_rcpt(), {"a@example.net": 1})


def test_a_twin_with_another_body_is_a_mismatch_that_moves_nothing_and_is_kept(t):
    w = t.world(receivers=2, dispatchers=0)
    first = stripe_request(secret("stripe"), "evt-1", "step.s1", "1001", "a@example.net")
    twin = stripe_request(secret("stripe"), "evt-1", "step.s1", "2002", "b@example.net")
    eq(w.post(first).status, 200)
    said = w.post(*[twin] * 6)
    eq(statuses(said), {200: 6})
    eq({a.body for a in said}, {w.post(first).body}, "the sender is told the same")
    eq(states(w.cluster), {"1001": "s1"})
    eq(len(applied(w.cluster)), 1)
    eq([n[1] for n in notifications(w.cluster)], ["1001"])
    eq(keys(w.cluster, "evt-1"), 1)
    eq((repeats(w.cluster, "evt-1"), repeats(w.cluster, "evt-1", MISMATCH)), (1, 6))
    eq(bodies(w.cluster, "evt-1"), [(1, first.body)] + [(3, twin.body)] * 6)


def test_of_two_bodies_that_race_for_one_id_exactly_one_moves_its_order(t):
    w = t.world(receivers=2, dispatchers=0)
    for n in range(30):
        twins = [stripe_request(secret("stripe"), f"evt-{n}", "step.s1", f"{n}-{which}", "a@example.net") for which in "ab"]
        eq(statuses(w.post(*twins * 4, connections=8)), {200: 8}, f"round {n}")
        eq(keys(w.cluster, f"evt-{n}"), 1)
        eq((repeats(w.cluster, f"evt-{n}"), repeats(w.cluster, f"evt-{n}", MISMATCH)), (3, 4), f"round {n}")
        eq(len([o for o in states(w.cluster) if o.startswith(f"{n}-")]), 1, f"orders of round {n}")
    eq(len(applied(w.cluster)), 30)


def test_what_the_provider_changes_between_tries_makes_no_mismatch_and_one_id_in_two_scopes_is_two_events(t):
    w = t.world(receivers=1, dispatchers=0)
    tries = [stripe_request(secret("stripe"), "evt-1", "step.s1", "1", "a@example.net", pending_webhooks=n) for n in (3, 2, 1)]
    eq([a.status for a in w.post(*tries, connections=1)], [200] * 3)
    eq((keys(w.cluster, "evt-1"), repeats(w.cluster, "evt-1"), repeats(w.cluster, "evt-1", MISMATCH)), (1, 2, 0))
    others = (stripe_request(secret("stripe"), "evt-1", "step.s1", "2", "a@example.net", livemode=False),
              erp_request(secret("erp"), "evt-1", "step.s1", "3"),
              app_request(secret("shop"), "evt-1", "step.s1", "4", "a@example.net"))
    eq([a.status for a in w.post(*others, connections=1)], [200] * 3)
    eq(keys(w.cluster, "evt-1"), 4)
    eq(states(w.cluster), dict.fromkeys("1234", "s1"))
