"""What is acknowledged survives: neither a first copy nor a repeat is acknowledged before its commit is what was asked for."""
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import (Barrier, applied, blocked, keys, notifications, repeats, retire, states, statuses,  # noqa: E402
                    stored_once, unavailable)

CONFIG_REFUSED = 78


def step(event, order, kind="step.s1"):
    return stripe_request(secret("stripe"), event, kind, order, f"{order}@example.net")


def end_waits(w, load, how):
    """Ends each wait for the standby by pg_cancel_backend or pg_terminate_backend until the answer is there."""
    ended = 0

    def answered():
        nonlocal ended
        for pid in blocked(w.cluster, "SyncRep"):
            ended += w.cluster.value(f"SELECT {how}(%s)", (pid,))
        return load.done() == 1
    eventually(answered, 10, "the request is answered", every=0.005)
    check(ended > 0, "nothing waited for the standby")
    return load.result()[0]


def without_standby(w, what):
    """Posts a request of which no commit can be confirmed, whatever becomes of the wait."""
    for how in ("pg_cancel_backend", "pg_terminate_backend"):
        request = what(how)
        unavailable(end_waits(w, w.load([request]), how), f"{request.tag} after {how}")
    return w.load([what("nothing")]).result()[0]


def test_a_cancelled_wait_for_the_standby_is_not_acknowledged_neither_of_a_first_copy_nor_of_a_repeat(t):
    w = t.world(receivers=1, dispatchers=0, host={"receiver": {"deadline": "1s"}})
    old = step("old", "1001")
    eq(w.post(old).status, 200)
    w.cluster.miss_standby("missing")

    late = without_standby(w, lambda how: step(how, how))
    unavailable(late, "a first copy that waits past the deadline")
    check(900 <= late.ms <= 1700, f"it was answered after {late.ms:.0f} ms")
    unavailable(without_standby(w, lambda how: old), "a repeat that waits past the deadline")

    w.cluster.set(synchronous_standby_names="")
    eventually(lambda: not blocked(w.cluster, "SyncRep"), 5, "nobody waits for a standby any more")
    firsts = [step(how, how) for how in ("pg_cancel_backend", "pg_terminate_backend", "nothing")]
    eq(statuses(w.post(*firsts, old, again=True)), {200: 4})
    eq(stored_once(w.cluster, ["old"] + [f.tag for f in firsts]), [])
    eq(states(w.cluster), dict.fromkeys(["1001"] + [f.tag for f in firsts], "s1"))
    eq((len(applied(w.cluster)), len(notifications(w.cluster))), (4, 4))


def test_repeats_that_were_acknowledged_are_there_after_kill_9_of_postgresql(t):
    w = t.world(receivers=2, dispatchers=0)
    first = step("evt-1", "1001")
    eq(w.post(first).status, 200)
    load = w.load([first] * 400, connections=16)
    eventually(lambda: load.done() >= 150, 20, "some repeats are acknowledged", every=0.002)
    w.cluster.kill9()
    acknowledged = len(load.acknowledged())
    load.stop()
    load.result()
    w.cluster.start()
    check(acknowledged >= 50, f"only {acknowledged} repeats were acknowledged before the crash")
    check(repeats(w.cluster, "evt-1") >= acknowledged, f"{repeats(w.cluster, 'evt-1')} repeats of {acknowledged} acknowledged")
    eq(keys(w.cluster, "evt-1"), 1)


def test_nothing_is_stored_or_answered_before_its_commit(t):
    t.need_faults()
    w = t.world(receivers=0, dispatchers=0)
    for label in ("accept.after_keys", "accept.after_lock", "accept.before_commit"):
        receiver = w.receiver(fault=f"stop@{label}:1")
        load = w.load([step(label, label)])
        eventually(receiver.proc.frozen, 5, "the receiver stops", every=0.005)
        eq((load.done(), keys(w.cluster, label)), (0, 0), f"answered or committed at {label}")
        receiver.kill9()
        eq(load.result()[0].status, 0, f"an answer of a receiver that was killed at {label}")
        retire(w, receiver)
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'pawl_receiver'") == 0, 5)
    eq((states(w.cluster), applied(w.cluster), notifications(w.cluster)), ({}, [], []))


def test_an_event_whose_connection_ended_before_its_commit_is_taken_over_another_one(t):
    w = t.world(receivers=1, dispatchers=0)
    barrier = t.keep(Barrier(w.cluster))
    load = w.load([step("evt-1", "1001")])
    barrier.reached()
    ended = blocked(w.cluster)
    for pid in ended:
        w.cluster.query("SELECT pg_terminate_backend(%s)", (pid,))
    # The connection after it may wait at the barrier already, and not for long: its statements are prepared.
    eventually(lambda: not set(ended) & set(blocked(w.cluster)), 5, "the backend has ended", every=0.005)
    barrier.open()
    eq(load.result()[0].status, 200)
    eq((keys(w.cluster, "evt-1"), repeats(w.cluster, "evt-1"), states(w.cluster)), (1, 0, {"1001": "s1"}))


def test_receivers_refuse_to_start_where_a_commit_would_not_last(t):
    cluster = t.cluster()
    pawl = t.pawl(cluster)

    def refused(setting):
        receiver = pawl.receiver(wait=False)
        eq(receiver.proc.wait(10), CONFIG_REFUSED, f"exit status with {setting}:\n{receiver.log()}")
        check(setting in receiver.log(), f"the message does not name {setting}: {receiver.log()}")
        pawl.receivers.clear()

    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        cluster.set(**{setting: "off"})
        refused(setting)
        cluster.query(f"ALTER SYSTEM RESET {setting}")
        cluster.query("SELECT pg_reload_conf()")
    cluster.query("ALTER ROLE pawl_receiver SET synchronous_commit = off")
    refused("synchronous_commit")
    cluster.query("ALTER ROLE pawl_receiver RESET synchronous_commit")
    pawl.receiver()


def test_a_missing_standby_leaves_no_crowd_of_backends_that_wait_for_it(t):
    w = t.world(receivers=1, dispatchers=0, host={"receiver": {"deadline": "300ms"}})
    w.cluster.miss_standby("missing")
    for i in range(12):
        unavailable(w.post(step(f"e{i}", f"o{i}")), f"request {i}")
    eventually(lambda: len(blocked(w.cluster, "SyncRep")) <= 4, 5, "given up commits are cancelled")
    w.cluster.set(synchronous_standby_names="")
