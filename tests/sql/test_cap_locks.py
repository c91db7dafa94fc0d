"""In which order the statements of caps lock: claims, records and a person's commands beside one another never wait in a ring."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from cap_rig import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import,unused-wildcard-import

SETTLE = ("EXECUTE settle (%s::int[], %s::uuid[], %s::int[], %s::text[], %s::int[], %s::int[], 8, 'ann', 'why', NULL, %s::int[],"
          " %s::int[])")


def test_a_slot_that_is_settled_while_a_claim_is_on_its_way_to_it_makes_no_ring(t):
    w = World(t)
    three = Claimer(w.cluster)
    a, b, c, d, e = w.deliveries(5)
    w.two.begin().take([(1, "b", 1, 60, a)])
    # It has a's slot, waits for b's, and has chosen c's, which is free just now.
    first, found = behind(w.one.begin(), lambda x: x.take([(1, cap, 1, 60, b) for cap in "abc"]))
    three.take([(1, "c", 1, 60, c)])
    w.state(c, REFUSED)
    second, later = behind(three.begin(), lambda x: x.take([(1, "a", 1, 60, d), (2, "c", 1, 60, e)]))
    w.two.rollback()
    first.join(5)
    w.one.commit()
    second.join(5)
    three.commit()
    eq((found, later), ([{(1, "c"): LOST}], [{(1, "a"): LOST, (2, "c"): CROWDED}]))
    eq(w.cluster.deadlocks(), 0)
    eq([n for _, n, _ in w.slots("c")], [], "given back, for who asks next")
    eq(w.one.take([(1, cap, 1, 60, b) for cap in "abc"]), {})


def test_a_record_waits_for_no_slot(t):
    w = World(t)
    a, b = w.deliveries(2)
    w.one.take([(1, "x", 2, 60, a), (2, "x", 2, 60, b)])
    w.state(a, REFUSED)
    w.two.begin().cur.execute("SELECT FROM cap_slots WHERE notification_id = %s FOR UPDATE", (a,))
    w.one.cur.execute("SET lock_timeout = '2s'")
    w.settle()
    eq({n for _, n, _ in w.slots()}, {a, b}, "it is left")
    w.two.rollback()
    w.settle()
    eq([n for _, n, _ in w.slots()], [b], "to who asks next")


def test_slots_that_a_person_gives_back_are_locked_in_the_order_of_claims(t):
    w = World(t)
    mine, a, b, c = w.deliveries(4)
    for nid, cap in ((a, "a"), (b, "b"), (c, "c")):
        w.one.take([(1, cap, 1, 0.001, nid)])
        w.state(nid, UNKNOWN)
        w.settle(cap)
    person = w.cluster.connect(user="pawl_operator").cursor()
    person.execute(text_of("common/pg/setup.sql").replace("$1", "'0'"))
    person.execute("PREPARE settle AS " + text_of("cli/operate/settle.sql"))
    w.two.begin().cur.execute("SELECT FROM cap_slots WHERE cap = 'b' FOR UPDATE")
    first, found = behind(w.one.begin(), lambda x: x.take([(1, cap, 1, 0.001, mine) for cap in "abc"]))
    args = ([5, 5], [c, a], [1, 1], ["", ""], [0, 0], [0, 0], [1, 1], [-1, -1])
    second, settled = behind(person, lambda x: x.execute(SETTLE, args) or x.fetchall())
    w.two.rollback()
    first.join(5)
    w.one.commit()
    second.join(5)
    eq((found, settled), ([{}], [[(1,), (2,)]]))
    eq({cap: [n for _, n, _ in w.slots(cap)] for cap in "abc"}, {cap: [mine] for cap in "abc"}, "what a claim took meanwhile is not given back")
    eq(w.cluster.deadlocks(), 0)


def test_why_a_delivery_waits_is_not_written_down_while_a_rival_ends_it(t):
    w = World(t)
    other = w.delivery()
    old, new = w.delivery(collapse="o/1", version=1), w.delivery(collapse="o/1", version=2)
    eq(w.one.begin().collapse((new, "")), [(0, 1, SUPERSEDED)])
    eq(w.two.begin().collapse((old, "")), [(1, 1, -1)], "its row is in the other's hands")
    w.two.take([(1, "x", 1, 60, other)])
    thread, found = behind(w.one, lambda x: x.take([(1, "x", 1, 60, new)]))
    w.two.hold(old, other)
    w.two.commit()
    thread.join(5)
    w.one.commit()
    eq((found, w.cluster.deadlocks()), ([{(1, "x"): LOST}], 0))
    eq([w.cluster.value("SELECT reason FROM pawl.deliveries WHERE notification_id = %s", (nid,)) for nid in (old, other)],
       ["a newer message took its place", "it waits"])
