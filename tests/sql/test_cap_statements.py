"""The statements of caps and collapse as the dispatcher runs them, several transactions at once."""
import json
import os
import re
import sys
import threading
import time
import uuid

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

FULL, CROWDED, LOST = 1, 2, 3
CAP_TAKE = ("EXECUTE cap_take (%s::int[], %s::int[], %s::int[], %s::text[], %s::int[], %s::bigint[], %s::int[], %s::uuid[], %s::int[],"
            " %s::int[], %s::bool[], %s)")
COLLAPSE = "EXECUTE collapse (%s::int[], %s::uuid[], %s::int[], %s::text[], %s::int[])"
DUE, WIRE, ACCEPTED, REFUSED, SUPERSEDED, UNKNOWN = 0, 1, 2, 3, 6, 9


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.sub(r"--[^\n]*", "", f.read()).strip()


def rows_touched(node):
    removed = sum(n for what, n in node.items() if what.startswith("Rows Removed"))
    return (node["Actual Rows"] + removed) * node["Actual Loops"] + sum(rows_touched(below) for below in node.get("Plans", []))


class Claimer:
    """One connection of a dispatcher, in a transaction from begin() to commit()."""

    def __init__(self, cluster):
        self.cur = cluster.connect(user="pawl_dispatcher").cursor()
        self.cur.execute(text_of("common/pg/setup.sql").replace("$1", "'0'"))
        for name in ("cap_settle", "cap_take", "collapse"):
            self.cur.execute(f"PREPARE {name} AS " + text_of(f"dispatcher/claim/gates/{name}.sql"))

    def begin(self):
        self.cur.execute("BEGIN")
        return self

    def commit(self):
        self.cur.execute("COMMIT")

    def rollback(self):
        self.cur.execute("ROLLBACK")

    def explain(self, run, args):
        """How many rows the statement touches in all its parts, a row compared with another counted anew each time. Undone."""
        self.cur.execute("BEGIN")
        self.cur.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + run, args)
        plan = self.cur.fetchone()[0]
        self.cur.execute("ROLLBACK")
        return rows_touched((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])

    def take(self, wants, salt=0):
        """wants: [(member, cap, most, seconds, delivery)] or with fresh as the last; what is missed: {(member, cap): why}"""
        wants = sorted(wants, key=lambda w: w[1])
        fresh = [w[5] if len(w) > 5 else True for w in wants]
        bucket = [1] * len(wants)
        caps = [w[1] for w in wants]
        self.cur.execute("EXECUTE cap_settle (%s::int[], %s::text[])", (bucket, caps))
        self.cur.execute(
            CAP_TAKE,
            ([w[0] for w in wants], list(range(len(wants))), bucket, caps, [w[2] for w in wants], [int(w[3] * 1000) for w in wants], [5] * len(wants),
             [w[4] for w in wants], [1] * len(wants), [0] * len(wants), fresh, salt))
        self.rows = self.cur.fetchall()
        return {(m, caps[place]): why for m, place, why, *_ in self.rows}

    def collapse(self, *names):
        """names: (notification, target); {place of the name: state or -1}, 0 = of no claim"""
        self.cur.execute(COLLAPSE,
                         ([5] * len(names), [n for n, _ in names], [1] * len(names), [t for _, t in names], [0] * len(names)))
        return sorted(self.cur.fetchall())


class World:
    def __init__(self, t):
        self.cluster = t.migrated_cluster()
        self.one, self.two = Claimer(self.cluster), Claimer(self.cluster)

    def delivery(self, state=DUE, target="", of=None, collapse=None, version=1, unknown=0):
        nid = of or str(uuid.uuid4())
        self.cluster.query(
            "INSERT INTO pawl.deliveries (bucket, channel, notification_id, target, state, delivery_order, lane, address, collapse,"
            " order_version, unknown_tries, created_at, updated_at) VALUES (5, 1, %s, %s, %s, 2, 11, 'a', %s, %s, %s, now(), now())",
            (nid, target, state, collapse, version, unknown))
        return nid

    def deliveries(self, n, **how):
        return [self.delivery(**how) for _ in range(n)]

    def state(self, nid, state=None, target=""):
        if state is not None:
            self.cluster.query("UPDATE pawl.deliveries SET state = %s, updated_at = now() WHERE notification_id = %s AND target = %s",
                               (state, nid, target))
        return self.cluster.value("SELECT state FROM pawl.deliveries WHERE notification_id = %s AND target = %s", (nid, target))

    def slots(self, cap="x"):
        """[(nth, delivery, dated)]"""
        return self.cluster.query("SELECT nth, notification_id::text, used_at IS NOT NULL FROM pawl.cap_slots WHERE cap = %s ORDER BY 1", (cap,))

    def settle(self, cap="x"):
        self.one.cur.execute("EXECUTE cap_settle (ARRAY[1], ARRAY[%s])", (cap,))


def behind(claimer, work):
    """Runs work(claimer) in the background, which has to wait for a rival; the thread and its results."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work(claimer)), daemon=True)
    thread.start()
    time.sleep(0.2)
    check(thread.is_alive(), "it waits for the rival")
    return thread, found


def test_a_slot_is_taken_once_held_dated_and_taken_again_after_its_time(t):
    w = World(t)
    a, b, c = w.deliveries(3)
    eq(w.one.take([(1, "x", 2, 0.3, a), (2, "x", 2, 0.3, b)]), {})
    eq(w.one.take([(1, "x", 2, 0.3, a)]), {}, "all tries of a delivery share its slot")
    eq(sorted(n for _, n, _ in w.slots()), sorted([a, b]))
    eq(w.one.take([(1, "x", 2, 0.3, c)]), {(1, "x"): FULL})
    eq(w.one.rows[0][3:], (0, 2, None), "two are held, none has a date")
    w.state(a, ACCEPTED)
    time.sleep(0.4)
    eq(w.one.take([(1, "x", 2, 0.3, c)]), {}, "dated by the end, not by when that was seen")
    eq([n for _, n, dated in w.slots() if not dated], [n for n in (n for _, n, _ in w.slots()) if n in (b, c)])


def test_a_dated_slot_is_used_for_its_whole_time(t):
    w = World(t)
    a, b = w.deliveries(2)
    eq(w.one.take([(1, "x", 1, 30, a)]), {})
    w.state(a, ACCEPTED)
    eq(w.one.take([(1, "x", 1, 30, b)]), {(1, "x"): FULL})
    (_, _, why, rank, held, free), = w.one.rows
    eq((why, rank, held), (FULL, 0, 0))
    check(len(free) == 1 and 28000 < free[0] <= 30001, f"it is free in 30 s: {free}")


def test_what_surely_did_not_arrive_gives_its_slot_back(t):
    w = World(t)
    for state, unknown, kept in [(REFUSED, 0, 0), (8, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0), (ACCEPTED, 0, 1),
                                 (UNKNOWN, 1, 1), (8, 1, 1), (REFUSED, 2, 1), (11, 0, 1)]:
        w.cluster.query("DELETE FROM pawl.cap_slots")
        a = w.delivery(unknown=unknown)
        w.one.take([(1, "x", 1, 60, a)])
        w.state(a, WIRE)
        w.settle()
        eq(w.slots(), [(0, a, False)], "held while it has no end")
        w.state(a, state)
        w.settle()
        eq(w.slots(), [(0, a, True)] if kept else [], f"state {state} after {unknown} unknown tries")


def test_devices_of_one_notification_share_a_slot_until_the_last_ends(t):
    w = World(t)
    a = w.delivery(target="p1")
    w.delivery(target="p2", of=a)
    eq(w.one.take([(1, "x", 1, 60, a), (2, "x", 1, 60, a)]), {})
    eq(len(w.slots()), 1)
    w.state(a, ACCEPTED, "p1")
    w.settle()
    eq(w.slots(), [(0, a, False)], "the other device has no end yet")
    w.state(a, REFUSED, "p2")
    w.settle()
    eq(w.slots(), [(0, a, True)])
    w.state(a, DUE, "p2")  # a receipt says: try again
    eq(w.one.take([(1, "x", 1, 60, a, False)]), {})
    eq(w.slots(), [(0, a, False)], "held again")


def test_a_member_gets_all_its_slots_or_none(t):
    w = World(t)
    a, b, c = w.deliveries(3)
    eq(w.one.take([(1, "y", 1, 60, a)]), {})
    eq(w.one.take([(1, "x", 5, 60, b), (1, "y", 1, 60, b)]), {(1, "y"): FULL})
    eq(w.slots(), [])
    eq(w.one.take([(1, "x", 1, 60, b), (2, "x", 1, 60, c)]), {(1 if b > c else 2, "x"): CROWDED}, "more members than slots: full is not said")
    eq(len(w.slots()), 1)


def test_slots_of_a_claim_that_got_not_all_go_when_it_has_to_wait(t):
    w = World(t)
    a, b = w.deliveries(2)
    w.one.take([(1, "x", 3, 60, a)])
    w.one.take([(1, "y", 1, 60, b)])
    eq(w.one.take([(1, "x", 3, 60, a), (1, "y", 1, 60, a)]), {(1, "y"): FULL})
    eq(w.slots(), [])
    w.one.take([(1, "x", 3, 60, a)])
    eq(w.one.take([(1, "x", 3, 60, a, False), (1, "y", 1, 60, a, False)]), {(1, "y"): FULL})
    eq(len(w.slots()), 1, "one that was on the wire keeps its own")


def test_a_device_that_has_to_wait_does_not_take_the_slot_from_one_on_the_wire(t):
    w = World(t)
    a, b, c = w.deliveries(3, target="p1")
    w.delivery(target="p2", of=a)
    # Without a contact's id each device is a recipient of its own: they share the cap of their order alone.
    eq(w.one.take([(1, "x", 1, 60, a), (1, "y1", 1, 60, a)]), {})
    w.state(a, WIRE, "p1")
    eq(w.one.take([(1, "y2", 1, 60, b)]), {})
    eq(w.one.take([(1, "x", 1, 60, a), (1, "y2", 1, 60, a)]), {(1, "y2"): FULL}, "the other device has to wait")
    eq(w.slots(), [(0, a, False)], "the one on the wire keeps its slot")
    eq(w.one.take([(1, "x", 1, 60, c)]), {(1, "x"): FULL})


def test_devices_that_all_have_to_wait_give_their_slot_back(t):
    w = World(t)
    a, b, c = w.deliveries(3, target="p1")
    w.delivery(target="p2", of=a)
    eq(w.one.take([(1, "x", 1, 60, a), (2, "x", 1, 60, a)]), {})
    eq(w.one.take([(1, "y", 1, 60, b)]), {})
    eq(w.one.take([(1, "x", 1, 60, a), (1, "y", 1, 60, a), (2, "x", 1, 60, a)]), {(1, "y"): FULL})
    eq(w.slots(), [(0, a, False)], "the other device may go, in the same claim")
    w.one.take([(1, "x", 1, 60, a)])
    w.two.begin().take([(1, "x", 1, 60, a)])  # a rival is just about to send the other device
    eq(w.one.take([(1, "x", 1, 60, a), (1, "y", 1, 60, a)]), {(1, "y"): FULL})
    w.two.commit()
    eq(w.slots(), [(0, a, False)], "it keeps what the rival has taken for both")
    eq(w.one.take([(1, "x", 1, 60, a), (1, "y", 1, 60, a)]), {(1, "y"): FULL})
    eq(w.slots(), [])
    eq(w.one.take([(1, "x", 1, 60, c)]), {}, "and somebody else has it")


def test_a_rival_that_rolls_back_takes_nothing_and_one_that_commits_is_no_reason_to_withhold_yet(t):
    w = World(t)
    for ends, want in [("rollback", {}), ("commit", {(1, "x"): LOST})]:
        w.cluster.query("DELETE FROM pawl.cap_slots")
        a, b = w.deliveries(2)
        eq(w.one.begin().take([(1, "x", 1, 60, a)]), {})
        thread, found = behind(w.two.begin(), lambda c, b=b: c.take([(1, "x", 1, 60, b)]))
        getattr(w.one, ends)()
        thread.join(5)
        w.two.commit()
        eq(found, [want], ends)
        eq([n for _, n, _ in w.slots()], [b if ends == "rollback" else a])
        if ends == "commit":
            eq(w.two.take([(1, "x", 1, 60, b)]), {(1, "x"): FULL}, "asked again it reads what is committed")


def test_who_loses_its_own_dated_slot_to_a_rival_goes_without_it_nowhere(t):
    w = World(t)
    a, b = w.deliveries(2)
    w.one.take([(1, "x", 1, 0.3, a)])
    w.state(a, ACCEPTED)
    w.settle()
    w.state(a, DUE)  # a receipt says: try again
    w.one.begin().cur.execute("SELECT now()")  # the slot is its own at this moment, and free a moment later
    time.sleep(0.4)
    eq(w.two.begin().take([(1, "x", 1, 0.3, b)]), {})
    thread, found = behind(w.one, lambda claimer: claimer.take([(1, "x", 1, 0.3, a, False)]))
    w.two.commit()
    thread.join(5)
    w.one.commit()
    eq(found, [{(1, "x"): LOST}])
    eq(w.slots(), [(0, b, False)])


def test_a_rival_on_a_slot_whose_time_is_over_is_no_reason_either(t):
    w = World(t)
    a, b, c = w.deliveries(3)
    w.one.take([(1, "x", 1, 0.1, a)])
    w.state(a, ACCEPTED)
    w.settle()
    time.sleep(0.2)
    w.one.begin().take([(1, "x", 1, 0.1, b)])
    thread, found = behind(w.two.begin(), lambda claimer: claimer.take([(1, "x", 1, 0.1, c)]))
    w.one.rollback()
    thread.join(5)
    w.two.commit()
    eq((found, w.slots()), ([{}], [(0, c, False)]))


def test_a_slot_that_a_rival_settles_while_a_receipt_reopens_its_delivery_is_held_again(t):
    w = World(t)
    a, b = w.deliveries(2)
    w.one.take([(1, "x", 1, 0.1, a)])
    w.state(a, ACCEPTED)
    time.sleep(0.2)
    w.one.begin()
    w.settle()  # dated by the end that it had
    w.state(a, DUE)  # a receipt says: try again
    thread, found = behind(w.two.begin(), lambda claimer: claimer.take([(1, "x", 1, 0.1, a, False)]))
    w.one.commit()
    thread.join(5)
    w.two.commit()
    eq((found, w.slots()), ([{}], [(0, a, False)]))
    eq(w.two.take([(1, "x", 1, 0.1, b)]), {(1, "x"): FULL})


def test_a_slot_that_a_rival_is_giving_back_is_no_reason_either(t):
    w = World(t)
    a, b = w.deliveries(2)
    w.one.take([(1, "x", 1, 60, a)])
    w.state(a, REFUSED)
    w.one.begin()
    w.settle()
    eq(w.two.begin().take([(1, "x", 1, 60, b)]), {(1, "x"): CROWDED}, "it neither waits nor calls it full")
    w.two.commit()
    w.one.commit()
    eq(w.two.take([(1, "x", 1, 60, b)]), {})


def test_many_claims_of_one_recipient_never_take_more_than_its_slots_and_never_deadlock(t):
    w = World(t)
    caps = ["a", "b", "c"]
    stop, seen = time.monotonic() + 4, []

    def work(seed):
        claimer, got, n = Claimer(w.cluster), 0, 0
        while time.monotonic() < stop:
            n += 1
            members = w.deliveries(3)
            wants = [(i + 1, cap, 3, 0.5, nid) for i, nid in enumerate(members) for cap in caps[(seed + i) % 2:]]
            claimer.begin()
            missed = {m for m, _ in claimer.take(wants, salt=seed + n)}
            sent = [nid for i, nid in enumerate(members) if i + 1 not in missed]
            time.sleep(0.002)
            claimer.rollback() if n % 5 == 0 else claimer.commit()
            for nid in sent if n % 5 else ():
                w.state(nid, ACCEPTED if n % 3 else REFUSED)
                got += 1
        seen.append(got)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eq((len(seen), w.cluster.deadlocks()), (8, 0))
    check(sum(seen) > 10, f"some were sent: {seen}")
    # Every window of 0.5 s over what may have arrived, of cap c (all want it).
    at = [x for x, in w.cluster.query("SELECT extract(epoch FROM updated_at)::float8 FROM pawl.deliveries WHERE state = 2 ORDER BY 1")]
    over = [b - a for a, b in zip(at, at[3:]) if b - a <= 0.5]
    eq(over, [], f"{len(at)} sent")


# --- collapse


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
