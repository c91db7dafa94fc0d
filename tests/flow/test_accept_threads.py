"""Several accept threads and one queue: what waits gathers, and what is held up holds up no one else."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import


def step(key, kind, order):
    return app_request(secret("shop"), key, kind, order=order, email="a@example.net")


def test_an_event_that_waits_for_a_lock_holds_up_no_other(t):
    w = t.world(receivers=1, dispatchers=0, host={"receiver": {"threads": 2, "deadline": "8s"}})
    eq(w.post(step("k1", "step.s1", "o1")).status, 200)
    held = w.cluster.connect(autocommit=False)
    held.cursor().execute("SELECT FROM pawl.orders WHERE order_id = 'o1' FOR UPDATE")
    stuck = w.load([step("k2", "step.s2", "o1")])
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 1, 5)
    start = time.monotonic()
    eq([w.post(step(f"n{i}", "step.s1", f"n{i}")).status for i in range(5)], [200] * 5)
    check(time.monotonic() - start < 4, "the others did not wait for it")
    held.close()
    eq([r.status for r in stuck.result()], [200])
    eq(w.cluster.value("SELECT version FROM pawl.orders WHERE order_id = 'o1'"), 2)


def test_requests_of_several_loops_get_their_own_answers(t):
    w = t.world(receivers=1, dispatchers=0, host={"receiver": {"threads": 3}})
    requests = [step(f"k{i}", "step.s1" if i % 2 else "step.s2", f"o{i}") for i in range(600)]
    answers = w.post(*requests, connections=48)
    eq({a.status for a in answers}, {200})
    eq([next(o for o in (b"applied", b"unknown_order") if o in a.body) for a in answers],
       [b"applied" if i % 2 else b"unknown_order" for i in range(600)])
    eq(w.cluster.value("SELECT count(*) FROM pawl.keys"), 600)
    batches = w.metric("pawl_accept_batch_events_count")
    check(batches < 300, f"requests gathered over all loops: {batches} transactions for 600")
