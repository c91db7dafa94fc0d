"""SIGTERM of a dispatcher under load: nothing new starts, what flies may end, the rest goes back and is sent by another."""
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from rig import (ACCEPTED, DUE, POLICY, T_BACK, UNKNOWN, WIRE, all_done, both_at_once, copies, either_first, message,  # noqa: E402
                 messages_kept_their_promise, step)

WIRES = 8
BACKLOG = 20  # orders, with two messages each


def town(t, policy=both_at_once, **dispatcher):
    return t.world(policy=policy(POLICY), dispatchers=0, host={"dispatcher": {"transfers": WIRES, "lease": "2s", **dispatcher}})


def counts(cluster, column, table):
    return dict(cluster.query(f"SELECT {column}, count(*)::int FROM pawl.{table} GROUP BY 1"))


def claimed(cluster):
    return cluster.value("SELECT count(*) FROM pawl.claims")


def silent(sink):
    """Mails that the server took and never answers."""
    return sum(m["end"] == "silentafterdot" for m in sink.mails())


def unfinished(cluster):
    return cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state IN (%s, %s)", (DUE, WIRE))


def test_what_is_on_the_wire_ends_within_the_grace_and_nothing_new_starts(t):
    w = town(t)
    w.post(*[step(f"o{n}", "s1", f"slow+{n}@example.net") for n in range(BACKLOG)])
    one = w.dispatcher()
    eventually(lambda: w.sink.count() == WIRES, 10, "all transfers are in use; the server answers after 2 s")
    eq(one.stop(), 0)
    eq((w.sink.count(), claimed(w.cluster)), (WIRES, 0), "mails taken, claims left")
    eq(counts(w.cluster, "state", "deliveries"), {ACCEPTED: WIRES, DUE: 2 * BACKLOG - WIRES})
    eq(w.cluster.value("SELECT count(*) FROM pawl.due WHERE due_at <= now()"), 2 * BACKLOG - WIRES, "due at once")
    w.host["dispatcher"]["transfers"] = 50
    w.dispatcher()
    all_done(w.cluster, 15, "the second dispatcher")
    eq(messages_kept_their_promise(w.cluster, w.sink, exactly=True), 2 * BACKLOG)


def test_what_was_claimed_but_not_started_goes_back_as_never_sent(t):
    t.need_faults()
    w = town(t)
    w.post(*[step(f"o{n}", "s1") for n in range(BACKLOG)])
    one = w.dispatcher(wait=False, fault="stop@claim.before_commit:1")
    eventually(one.proc.frozen, 20, "it stops before its claim's commit")
    w.cluster.freeze()  # So that the commit is not confirmed before the signal was seen.
    one.proc.sigterm()
    one.thaw()
    eventually(lambda: "dispatcher.stopping" in one.log(), 10, "it has seen the signal")
    w.cluster.thaw()
    eq(one.proc.wait(15), 0)
    eq((w.sink.count(), claimed(w.cluster)), (0, 0), "mails taken, claims left")
    eq(counts(w.cluster, "outcome", "attempts"), {T_BACK: WIRES})
    eq(counts(w.cluster, "state", "deliveries"), {DUE: 2 * BACKLOG})
    w.dispatcher()
    all_done(w.cluster, 10, "the second dispatcher")
    eq(messages_kept_their_promise(w.cluster, w.sink, exactly=True), 2 * BACKLOG)


def test_what_did_not_end_within_the_grace_is_unknown_or_due_again_as_a_possible_duplicate(t):
    w = town(t, either_first, grace="500ms")
    orders = {kind: [message(w, kind, f"silentafterdot-1+{kind}{n}@example.net") for n in range(WIRES)] for kind in ("most", "least")}
    first = [f"{kind} {order}" for kind in orders for order in orders[kind]]
    one = w.dispatcher()
    eventually(lambda: w.sink.count() == WIRES, 10, "all transfers are in use; the server never answers")
    flying = dict(copies(w.sink))
    eq(one.stop(), 0)
    eq((dict(copies(w.sink)), claimed(w.cluster)), (flying, 0), "mails taken, claims left")
    lost = sum(what.startswith("most") for what in flying)
    eq(counts(w.cluster, "state", "deliveries"), {k: n for k, n in ((UNKNOWN, lost), (DUE, 2 * WIRES - lost)) if n})
    # The address of a message that waits is silent to its first mail too: the next dispatcher is stopped when all it holds is silent.
    eq(len(first), 2 * WIRES)
    while w.cluster.value("SELECT count(*) FROM pawl.due") > 0:
        before = silent(w.sink)
        more = w.dispatcher()
        eventually(lambda n=before: silent(w.sink) - n == min(WIRES, unfinished(w.cluster)), 10, "no answer is to come")
        eq(more.stop(), 0)
        eq(claimed(w.cluster), 0, "claims left")
    messages_kept_their_promise(w.cluster, w.sink)
    eq(counts(w.cluster, "possible_duplicates > 0", "deliveries"), {True: WIRES, False: WIRES})
    eq(sorted(copies(w.sink).values()), [1] * WIRES + [2] * WIRES)
