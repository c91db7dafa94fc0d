"""The statement of collapse as the dispatcher runs it, and how much work it and that of caps are."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cap_rig import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import,unused-wildcard-import


def test_an_older_message_ends_and_the_newest_goes(t):
    w = World(t)
    old, new = w.delivery(collapse="o/1", version=1), w.delivery(collapse="o/1", version=2)
    other = w.delivery(collapse="o/2", version=1)
    eq(w.one.collapse((old, ""), (other, "")), [(1, 1, SUPERSEDED)])
    eq((w.state(old), w.state(new), w.state(other)), (SUPERSEDED, DUE, DUE))
    older = w.delivery(collapse="o/2", version=0)
    eq(w.one.collapse((other, ""), (new, "")), [(0, 1, SUPERSEDED)])
    eq(w.state(older), SUPERSEDED)


def test_a_newer_one_that_was_sent_counts_too_and_a_doubtful_end_is_unknown(t):
    w = World(t)
    old = w.delivery(collapse="o/1", version=1, unknown=1)
    w.delivery(collapse="o/1", version=2, state=ACCEPTED)
    eq(w.one.collapse((old, "")), [(1, 1, UNKNOWN)])
    eq(w.cluster.value("SELECT count(*) FROM pawl.unknown_outcomes"), 1)


def test_a_newer_one_waits_while_an_older_is_on_the_wire(t):
    w = World(t)
    old, new = w.delivery(collapse="o/1", version=1, state=WIRE), w.delivery(collapse="o/1", version=2)
    eq(w.one.collapse((new, "")), [(1, 1, -1)])
    w.state(old, ACCEPTED)
    eq(w.one.collapse((new, "")), [])


def test_messages_of_one_move_and_devices_of_one_message_do_not_end_each_other(t):
    w = World(t)
    a = w.delivery(collapse="o/1", target="p1")
    w.delivery(collapse="o/1", target="p2", of=a)
    w.cluster.query("INSERT INTO pawl.deliveries (bucket, channel, notification_id, delivery_order, lane, address, collapse, order_version,"
                    " created_at, updated_at) SELECT 5, 1, gen_random_uuid(), 2, 11, 'a', collapse, order_version, created_at, now()"
                    " FROM pawl.deliveries WHERE target = 'p1'")
    w.cluster.query("UPDATE pawl.deliveries SET created_at = (SELECT max(created_at) FROM pawl.deliveries)")
    eq(w.one.collapse((a, "p1"), (a, "p2")), [])


def test_two_claims_of_an_older_and_a_newer_one_never_both_go_and_nobody_waits(t):
    w = World(t)
    mark = "UPDATE pawl.deliveries SET state = 1 WHERE notification_id = %s AND state = 0"
    for first in ("old", "new"):
        w.cluster.query("DELETE FROM pawl.deliveries")
        old = w.delivery(collapse="o/1", version=1)
        new = None
        if first == "old":
            eq(w.one.begin().collapse((old, "")), [], "there is nothing newer yet")
            new = w.delivery(collapse="o/1", version=2)
            eq(w.two.begin().collapse((new, "")), [(1, 1, -1)], "the older may be about to go")
            w.one.cur.execute(mark, (old,))
        else:
            new = w.delivery(collapse="o/1", version=2)
            eq(w.two.begin().collapse((new, "")), [(0, 1, SUPERSEDED)])
            eq(w.one.begin().collapse((old, "")), [(1, 1, -1)], "its row is in the other's hands")
        w.one.commit()
        w.two.commit()
        eq((w.state(old), w.state(new)), (WIRE if first == "old" else SUPERSEDED, DUE), first)
    eq(w.cluster.deadlocks(), 0)


# --- how much work it is


@timeout(240)
def test_the_work_grows_with_the_members_of_a_claim_and_not_with_their_square(t):
    w = World(t)

    def of_caps(n, hot):
        ids = w.deliveries(n)
        rows = sorted(((i, c, f"cap{c}" if hot else f"cap{c} {i}") for i in range(n) for c in (0, 1)), key=lambda row: row[2])
        columns = [[i + 1 for i, _, _ in rows], [c for _, c, _ in rows], [1] * len(rows), [name for _, _, name in rows], [400] * len(rows),
                   [60000] * len(rows), [5] * len(rows), [ids[i] for i, _, _ in rows], [1] * len(rows), [0] * len(rows), [True] * len(rows), 7]
        return w.one.explain(CAP_TAKE, columns)

    def of_collapse(n, hot):
        ids = [w.delivery(collapse="hot" if hot else f"c{i}", version=i) for i in range(n)]
        return w.one.explain(COLLAPSE, ([5] * n, ids, [1] * n, [""] * n, [0] * n))

    for work in (of_caps, of_collapse):
        for hot in (False, True):
            touched = {}
            for n in (50, 500):
                w.cluster.query("TRUNCATE pawl.deliveries")
                touched[n] = work(n, hot)
            check(touched[500] < 12 * touched[50] and touched[500] < 500 * 200, f"{work.__name__}, {'one' if hot else 'many'}: {touched}")
