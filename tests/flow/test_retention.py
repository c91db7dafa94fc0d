"""Retention below the running programs: emptying under load, what waits for a person, how much of the window repeats use."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

OLD = """
    INSERT INTO pawl.bodies SELECT pawl.ring_slot(now() - interval '24 days', 172800), 1, 1, 1, 'old-' || n, '', gen_random_uuid(),
        now() - interval '24 days', 't', NULL, NULL, NULL, repeat('x', 500)::bytea FROM generate_series(1, 40000) n;
    INSERT INTO pawl.repeats SELECT pawl.ring_slot(now() - interval '80 days', 691200), 1, 1, 2, 'old-' || n, '', gen_random_uuid(),
        interval '1 s', now() - interval '80 days', NULL FROM generate_series(1, 40000) n;
    INSERT INTO pawl.keys SELECT 1, 1, 2, 'old-' || n, '', 'x', gen_random_uuid(), 'o', now() - interval '200 days'
        FROM generate_series(1, 40000) n"""


def emptied(w):
    return {table: w.metric("pawl_retention_emptied_total", table=table) for table in ("bodies", "repeats", "keys")}


def test_emptying_slots_under_load_stalls_no_request_beyond_its_deadline(t):
    w = t.world(dispatchers=0)
    w.breaks_data = "rows that no receiver made"
    w.cluster.query(OLD)
    load = w.load([app_request(secret("shop"), f"evt-{n}", "step.s1", order=f"o-{n}") for n in range(60000)], connections=16)
    eventually(lambda: load.done() > 200, 20)
    w.dispatcher()
    eventually(lambda: min(emptied(w).values()) >= 1, 60, "a slot of each was emptied")
    eq(w.cluster.value("SELECT pg_relation_size('pawl.keys_2')"), 0)
    done = load.done()
    eventually(lambda: load.done() > done + 200, 20, "and it goes on")
    load.stop()
    answers = [a for a in load.result() if a is not None]
    eq({a.status for a in answers}, {200})
    worst = max(a.ms for a in answers)
    check(worst < 2500, f"the slowest of {len(answers)} answers took {worst:.0f} ms")
    eq(w.cluster.value("SELECT count(*) FROM pawl.keys"), len(answers), "nothing of now went")
    eq((w.cluster.deadlocks(), w.receivers[0].metric("pawl_db_errors_total")), (0, 0))


def test_events_that_wait_are_listed_and_those_past_park_need_a_person(t):
    w = t.world(dispatchers=0)
    eq(w.post(app_request(secret("shop"), "evt-early", "step.s2", order="1001")).status, 200)
    eq(w.post(app_request(secret("shop"), "evt-more", "step.s2", order="1002")).status, 200)
    rows = w.json("inbox", "waiting")["items"]
    eq([(r["event"], r["order"], r["source"], r["type"], r["to"], r["expired"]) for r in rows],
       [("evt-early", "1001", "shop", "step.s2", "s2", False), ("evt-more", "1002", "shop", "step.s2", "s2", False)])
    eq(w.json("inbox", "waiting", "--expired")["items"], [])
    w.cluster.query("UPDATE pawl.waiting SET since = since - interval '61 days' WHERE order_id = '1002'")
    eq([r["event"] for r in w.json("inbox", "waiting", "--expired")["items"]], ["evt-more"])
    eq([r["expired"] for r in w.json("inbox", "waiting", "--limit", "1")["items"]], [True], "the longest first")
    check("evt-more" in w.must("inbox", "waiting"), "as text too")
    w.dispatcher()
    eventually(lambda: w.metric("pawl_waiting_events", expired="true") == 1, 15, "the gauge shows it")
    w.counted(1, "pawl_waiting_events", expired="false")


def test_a_repeat_tells_how_much_of_the_window_it_used(t):
    w = t.world(dispatchers=0)
    one = app_request(secret("shop"), "evt-1", "step.s1", order="1001")
    w.post(one)
    w.post(one)
    w.cluster.query("UPDATE pawl.keys SET first_at = first_at - interval '36 days'")
    w.post(one)
    window = w.metric("pawl_dedupe_window_seconds")
    check(window >= 3600, f"the window is {window} s")
    w.counted(2, "pawl_duplicate_window_used_ratio_count", hop="inbox")
    below = [w.metric("pawl_duplicate_window_used_ratio_bucket", hop="inbox", le=le) for le in ("0.01", "1")]
    eq(below[0], 1, "the first was quick")
    w.breaks_data = "the key is older than the order"


def test_a_stop_does_not_wait_for_retention(t):
    w = t.world(host={"dispatcher": {"grace": "1s"}})  # a claim in the air is waited for
    w.cluster.freeze()
    eq(w.dispatchers[0].stop(10) in (0, 69), True)
    w.cluster.thaw()
