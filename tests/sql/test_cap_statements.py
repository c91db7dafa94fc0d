"""The statements of caps as the dispatcher runs them, several transactions at once."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cap_rig import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import,unused-wildcard-import


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
    eq(w.one.take([(1, "x", 2, 0.3, c)]), {(1, "x"): CROWDED}, "who asks settles, for who asks next")
    eq(w.one.take([(1, "x", 2, 0.3, c)]), {}, "dated by the end, not by when that was seen")
    eq([n for _, n, dated in w.slots() if not dated], [n for n in (n for _, n, _ in w.slots()) if n in (b, c)])


def test_a_dated_slot_is_used_for_its_whole_time(t):
    w = World(t)
    a, b = w.deliveries(2)
    eq(w.one.take([(1, "x", 1, 30, a)]), {})
    w.state(a, ACCEPTED)
    w.settle()
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
