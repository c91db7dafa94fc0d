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


def turn(cluster, gen, overlap):
    """Turns the ring as retention does: an overlap ends when no transaction is left that may not know of it."""
    if not overlap:
        now = cluster.value("SELECT clock_timestamp()")
        eventually(lambda: cluster.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'pawl_receiver' AND xact_start <= %s",
                                         (now,)) == 0, 10, "the older transactions have ended", every=0.005)
    cluster.query("INSERT INTO pawl.key_gen (gen, overlap) VALUES (%s, %s)"
                  " ON CONFLICT (gen) DO UPDATE SET overlap = excluded.overlap", (gen, overlap))


def test_a_repeat_is_caught_while_the_ring_of_keys_turns_and_after(t):
    w = t.world(receivers=2, dispatchers=0)
    event = lambda n: stripe_request(secret("stripe"), f"evt-{n}", "step.s1", f"o{n}", "a@example.net")  # noqa: E731
    taken = []

    def again(phase):
        eq(statuses(w.post(*taken * 4, connections=8)), {200: 4 * len(taken)}, phase)
        eq([repeats(w.cluster, e.tag) for e in taken], [4] * len(taken), phase)
        w.cluster.query("TRUNCATE pawl.repeats")

    for number, (gen, overlap) in enumerate(((1, False), (2, True), (2, False), (3, True))):
        turn(w.cluster, gen, overlap)
        taken.append(event(number))
        eq(statuses(w.post(*taken[-1:] * 5, connections=5)), {200: 5})
        eq(repeats(w.cluster, taken[-1].tag), 4, f"the first in generation {gen}, overlap {overlap}")
        w.cluster.query("TRUNCATE pawl.repeats")
        again(f"generation {gen}, overlap {overlap}")
    eq(len(applied(w.cluster)), 4)

    copies = [e for e in map(event, range(100, 160)) for _ in range(20)]
    load = w.load(copies, connections=16)
    for gen, overlap in ((3, False), (4, True), (4, False)):
        midway(load, {3: 200, 4: 400 if overlap else 600}[gen])
        turn(w.cluster, gen, overlap)
    eq(statuses(load.result()), {200: len(copies)})
    eq({repeats(w.cluster, f"evt-{n}") for n in range(100, 160)}, {19}, "repeats of events that came while the ring turned")
    eq(len(applied(w.cluster)), 64)


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
