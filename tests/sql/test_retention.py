"""What is too old goes, and nothing else: real passes over rows of every age."""
import os
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from retention_rig import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import,unused-wildcard-import

RINGS = {  # table: its time, length of a slot in days, keep in days
    "bodies": ("received_at", 2, 14), "contents": ("at", 2, 14), "repeats": ("at", 8, 45), "moves": ("at", 8, 45), "attempts": ("at", 8, 45), "rejected": ("at", 1, 7), "receipts": ("at", 8, 45)}
OTHER = {"integer": "1", "bigint": "1", "text": "'x'", "uuid": "gen_random_uuid()", "bytea": "'x'", "boolean": "false", "interval": "'1s'",
         "timestamp with time zone": "now()"}


def columns(cluster, table):
    return cluster.query("""SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid = %s::regclass AND attnum > 0 AND attnotnull""", ("pawl." + table,))


def put(cluster, table, ages, slot=None):
    """A row of each age (intervals before now) where the receiver or dispatcher would have put it then."""
    time, days, _ = RINGS[table]
    own = {"slot": slot if slot is not None else f"pawl.ring_slot(now() - d, {days * DAY})", time: "now() - d"}
    names = columns(cluster, table)
    cluster.query(f"INSERT INTO pawl.{table} ({', '.join(n for n, _ in names)}) SELECT "
                  + ", ".join(str(own.get(n, OTHER.get(kind))) for n, kind in names) + " FROM unnest(%s::interval[]) d", (ages,))


def ages(cluster, table):
    """The ages in whole days of what is there, youngest first."""
    return [r[0] for r in cluster.query(f"SELECT round(extract(epoch FROM now() - {RINGS[table][0]}) / 86400)::int FROM pawl.{table} ORDER BY 1")]


def test_what_is_kept_is_there_and_what_is_older_goes_by_the_slot(t):
    cluster = kept(t)
    for table, (_, days, keep) in RINGS.items():
        put(cluster, table, [f"{d} days" for d in range(0, 15 * days, 1)])
    sweep = sweeper(t, cluster)
    sweep.sweep()
    for table, (_, days, keep) in RINGS.items():
        left = ages(cluster, table)
        eq(left, list(range(len(left))), f"{table}: the youngest, without a gap")
        check(keep <= len(left) - 1 <= keep + days + 1, f"{table}: {len(left)} days are kept for {keep}")
        check(sweep.metrics()["pawl_retention_emptied_total", (("table", table),)] >= 3, table)
        eq(sweep.metrics()["pawl_retention_lag_seconds", (("table", table),)], 0)
    noted = cluster.query("SELECT ring, count(*) FROM pawl.emptied WHERE bytes > 0 AND newest IS NOT NULL GROUP BY 1")
    eq({ring for ring, _ in noted}, set(RINGS))
    sweep.sweep()
    eq(cluster.query("SELECT ring, count(*) FROM pawl.emptied WHERE bytes > 0 GROUP BY 1"), noted, "an empty slot is left alone")


def test_a_slot_with_a_young_row_stays_whatever_its_turn(t):
    """As after a clock that went back, or rows of a ring whose slots had another length: the rows' own time counts."""
    cluster = kept(t)
    old = cluster.value("SELECT pawl.ring_slot(now() - interval '24 days', 172800)")
    put(cluster, "bodies", ["24 days"] * 500 + ["1 day"], slot=old)
    sweep = sweeper(t, cluster)
    sweep.sweep()
    eq(len(ages(cluster, "bodies")), 501)
    cluster.query("UPDATE pawl.bodies SET received_at = received_at - interval '15 days'")
    sweep.sweep()
    eq(ages(cluster, "bodies"), [])


def test_a_slot_that_fills_while_it_is_waited_for_stays(t):
    cluster = kept(t)
    old = cluster.value("SELECT pawl.ring_slot(now() - interval '24 days', 172800)")
    put(cluster, "bodies", ["24 days"])
    writer = cluster.connect(autocommit=False)
    with writer.cursor() as cur:
        cur.execute(f"""INSERT INTO pawl.bodies (slot, bucket, source, outcome, event_id, scope, arrival, received_at, body)
            VALUES ({old}, 1, 1, 1, 'late', '', gen_random_uuid(), now(), '')""")
    sweep = sweeper(t, cluster)
    sweep.begin()
    eventually(lambda: cluster.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1, 5, "it waits for the writer")
    writer.commit()
    sweep.end()
    eq(len(ages(cluster, "bodies")), 2)
    writer.close()


def test_a_reader_postpones_it_and_breaks_nothing(t):
    cluster = kept(t)
    put(cluster, "moves", ["0 days", "70 days"])
    reader = cluster.connect(autocommit=False)
    with reader.cursor() as cur:
        cur.execute("SELECT count(*) FROM pawl.moves")
    sweep = sweeper(t, cluster)
    sweep.sweep()
    eq(len(ages(cluster, "moves")), 2)
    check(sweep.metrics()["pawl_retention_lag_seconds", (("table", "moves"),)] > DAY, "it shows that something is late")
    reader.rollback()
    sweep.sweep()
    eq(ages(cluster, "moves"), [0])
    sweep.sweep()
    eq(sweep.metrics()["pawl_retention_lag_seconds", (("table", "moves"),)], 0)
    reader.close()


def test_any_number_may_pass_at_once(t):
    cluster = kept(t)
    for table, (_, days, _) in RINGS.items():
        put(cluster, table, [f"{d} days" for d in range(0, 15 * days, 1)])
    sweepers = [sweeper(t, cluster) for _ in range(4)]
    for s in sweepers:
        s.begin()
    for s in sweepers:
        s.end()
    for table, (_, days, keep) in RINGS.items():
        check(keep <= len(ages(cluster, table)) - 1 <= keep + days + 1, table)
        slots = cluster.value("SELECT count(*) FROM pawl.emptied WHERE ring = %s", (table,))
        eq(sum(s.metrics().get(("pawl_retention_emptied_total", (("table", table),)), 0) for s in sweepers) >= slots, True)
    eq(cluster.deadlocks(), 0)


def test_another_policy_than_the_active_one_empties_nothing(t):
    cluster = kept(t)
    put(cluster, "bodies", ["24 days"])
    cluster.query("INSERT INTO pawl.policy_versions VALUES (2, 'y')")
    sweeper(t, cluster, version=1).sweep()
    eq(len(ages(cluster, "bodies")), 1)
    sweeper(t, cluster, version=2).sweep()
    eq(ages(cluster, "bodies"), [])


# --- what hangs on deliveries


def delivery(cluster, age, state, slot=None, due=False):
    nid = str(uuid.uuid4())
    cluster.query("""
        INSERT INTO pawl.notifications VALUES (1, 1, 1, 1, %(n)s, 1, %(n)s, '1001', 'e', '', '{"a":1}', now() - %(age)s::interval);
        INSERT INTO pawl.deliveries(bucket, channel, notification_id, state, delivery_order, lane, content_slot, address, created_at, updated_at)
        VALUES (1, 1, %(n)s, %(state)s, 1, 11, %(slot)s, 'a@example.net', now() - %(age)s::interval, now())""",
                  {"n": nid, "age": age, "state": state, "slot": slot})
    if due:
        cluster.query("INSERT INTO pawl.due VALUES (1, 11, now(), %s, 1, 0, 0, '')", (nid,))
    return nid


def test_content_stays_while_a_delivery_without_an_end_may_need_it(t):
    for where in ("due", "claims"):
        cluster = kept(t)
        put(cluster, "contents", ["24 days"])
        slot = cluster.value("SELECT slot FROM pawl.contents")
        nid = delivery(cluster, "24 days", 0, slot, due=where == "due")
        if where == "claims":
            cluster.query("""INSERT INTO pawl.claims VALUES (gen_random_uuid(), gen_random_uuid(), now(), '{1}', ARRAY[%s]::uuid[], '{1}',
                '{""}', '{0}', '{1}')""", (nid,))
        sweep = sweeper(t, cluster)
        sweep.sweep()
        eq(len(ages(cluster, "contents")), 1, where)
        cluster.query("UPDATE pawl.deliveries SET state = 2")
        sweep.sweep()
        eq(ages(cluster, "contents"), [], where)


def blank(cluster, nid):
    return cluster.value("SELECT data IS NULL FROM pawl.notifications WHERE notification_id = %s", (nid,))


def test_data_of_notifications_is_blanked_when_their_deliveries_have_an_end(t):
    cluster = kept(t)
    old = [delivery(cluster, f"{d} days", state) for d, state in [(15, 2), (20, 3), (400, 9)]]
    still = delivery(cluster, "20 days", 0, due=True)
    young = delivery(cluster, "13 days", 2)
    sweep = sweeper(t, cluster)
    sweep.sweep()
    eq([blank(cluster, n) for n in old + [still, young]], [True, True, True, False, False])
    eq(sweep.metrics()["pawl_retention_blanked_total", ()], 3)
    cluster.query("UPDATE pawl.deliveries SET state = 2 WHERE notification_id = %s", (still,))
    sweep.sweep()
    eq((blank(cluster, still), cluster.value("SELECT count(*) FROM pawl.blank_later")), (True, 0))
    cluster.query("UPDATE pawl.notifications SET created_at = created_at - interval '2 days' WHERE notification_id = %s", (young,))
    sweep.sweep()
    eq(blank(cluster, young), True)
    eq(cluster.value("SELECT count(*) FROM pawl.notifications"), 5, "the rows stay")


def test_many_of_one_moment_are_blanked_whole_batches_at_a_time(t):
    cluster = kept(t)
    cluster.query("""INSERT INTO pawl.notifications SELECT 1, 1, 1, 1, gen_random_uuid(), 1, 'x', '1001', 'e', '', 'data', at
        FROM (VALUES (now() - interval '20 days', 1700), (now() - interval '19 days', 1), (now() - interval '1 day', 3)) v(at, n),
             generate_series(1, n)""")
    for s in [sweeper(t, cluster) for _ in range(2)]:
        s.sweep()
    eq(cluster.query("SELECT data IS NULL, count(*) FROM pawl.notifications GROUP BY 1 ORDER BY 1"), [(False, 3), (True, 1701)])


def test_waiting_events_that_ran_out_are_shown(t):
    cluster = kept(t)
    cluster.query("""INSERT INTO pawl.waiting SELECT 1, 1, 1, 4, NULL, 'o', 'e' || n, '', 't', '{}', '{}', now() - n * interval '1 day'
        FROM unnest('{1,2,8,9,10}'::int[]) n""")
    sweep = sweeper(t, cluster)
    sweep.sweep()
    seen = sweep.metrics()
    eq([seen["pawl_waiting_events", (("expired", x),)] for x in ("false", "true")], [2, 3])
    eq([round(seen["pawl_waiting_events_oldest_age_seconds", (("expired", x),)] / DAY) for x in ("false", "true")], [2, 10])
    eq(cluster.value("SELECT count(*) FROM pawl.waiting"), 5, "none is dropped")


# --- Cap slots


def slot(cluster, cap, dated=None, state=None, ended="0s", taken="9 days", in_s=3600):
    """A slot of one hour. dated: how long ago its message arrived; else its delivery is in this state since `ended`."""
    nid = delivery(cluster, taken, state if state is not None else 2)
    cluster.query("UPDATE pawl.deliveries SET updated_at = now() - %s::interval WHERE notification_id = %s", (ended, nid))
    cluster.query("""INSERT INTO pawl.cap_slots (bucket, cap, nth, of_bucket, notification_id, channel, redrive, taken_at, in_ms, used_at)
        SELECT 3, %s, 0, bucket, notification_id, channel, redrive, now() - %s::interval, %s, now() - %s::interval
        FROM pawl.deliveries WHERE notification_id = %s""", (cap, taken, in_s * 1000, dated, nid))
    return nid


def slots(cluster):
    return sorted(cap for cap, in cluster.query("SELECT cap FROM pawl.cap_slots"))


def test_cap_slots_go_when_their_time_is_long_over(t):
    cluster = kept(t)
    slot(cluster, "dated, over", dated="121 min")
    slot(cluster, "dated, over just now", dated="61 min")
    slot(cluster, "dated, in use", dated="59 min")
    slot(cluster, "dated, of a long window", dated="8 days", in_s=30 * DAY)
    slot(cluster, "held, ended", ended="121 min")
    slot(cluster, "held, ended just now", ended="61 min")
    slot(cluster, "held, never sent", state=7, ended="3 hours")
    slot(cluster, "held, due", state=0, ended="8 days")
    slot(cluster, "held, on the wire", state=1, ended="8 days")
    sweep = sweeper(t, cluster)
    sweep.sweep()  # it begins at some bucket ..
    sweep.sweep()  # .. and then anew
    eq(slots(cluster), ["dated, in use", "dated, of a long window", "dated, over just now", "held, due", "held, ended just now", "held, on the wire"])
    eq(sweep.metrics()["pawl_retention_cap_slots_total", ()], 3)


def test_a_cap_slot_in_the_hands_of_a_claim_is_left(t):
    cluster = kept(t)
    slot(cluster, "x", dated="5 hours")
    rival = cluster.connect(autocommit=False)
    rival.cursor().execute("SELECT FROM pawl.cap_slots WHERE cap = 'x' FOR UPDATE")
    sweep = sweeper(t, cluster)
    sweep.sweep()
    sweep.sweep()
    eq(slots(cluster), ["x"], "nobody waits")
    rival.rollback()
    sweep.sweep()
    eq(slots(cluster), [])


def test_many_cap_slots_are_deleted_by_several_processes_a_bounded_number_a_turn(t):
    cluster = kept(t)
    nid = delivery(cluster, "9 days", 2)
    cluster.query("""INSERT INTO pawl.cap_slots (bucket, cap, nth, of_bucket, notification_id, channel, redrive, taken_at, in_ms, used_at)
        SELECT i %% 1024, 'c' || i, 0, 1, %s, 1, 0, now() - interval '9 days', 1000, now() - interval '8 days' FROM generate_series(1, 22000) i""", (nid,))
    left = lambda: cluster.value("SELECT count(*) FROM pawl.cap_slots")
    sweeps = [sweeper(t, cluster) for _ in range(2)]
    sweeps[0].sweep()
    check(2000 <= left() < 22000, f"one turn: {left()} are left")
    for _ in range(3):
        for sweep in sweeps:
            sweep.begin()
        for sweep in sweeps:
            sweep.end()
    eq(left(), 0)
    eq(cluster.deadlocks(), 0)
