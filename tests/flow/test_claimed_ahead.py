"""Deliveries that are claimed ahead of free transfers, at a provider that is fast and then answers nothing any more."""
import os
import signal
import sys
import threading
import time

from harness import *
from kit.deliveries import POLICY, Rows, promises_hold

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402

EARLY, FAST, ALL, TRANSFERS = 20, 200, 400, 4


class Stalling(HttpPeer):
    """Answers FAST requests at once, the others when it is let go on."""

    def __init__(self):
        self.go_on = threading.Event()
        super().__init__(self.answer)

    def answer(self, connection, request):
        if request["n"] >= FAST:
            self.go_on.wait(30)
        connection.say()

    def close(self):
        self.go_on.set()
        super().close()


def setup(t, kind, settings="", grace="10s"):
    p = t.keep(Stalling())
    policy = POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}"{settings} }}')
    w = t.pawl(t.migrated_cluster(), policy=policy,
               host={"dispatcher": {"transfers": TRANSFERS, "poll": "20ms", "lease": "60s", "grace": grace}})
    rows = Rows(w)
    for i in range(ALL):
        rows.add(kind, f"p{i}@example.net")
    program = w.dispatcher()
    eventually(lambda: len(p.requests) == FAST + TRANSFERS, 30, "its transfers hang")
    return w, p, rows, program


def in_state(rows, state):
    return rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state = %s", (state,))


def given_back(rows):
    return rows.cluster.value("SELECT count(*) FROM pawl.attempts WHERE outcome = 5")


def test_what_waits_for_a_provider_that_stalls_is_given_back_and_leaves_once(t):
    w, p, rows, _ = setup(t, "most")
    eventually(lambda: in_state(rows, 1) == TRANSFERS, 10, "all but those on the wire are due again")
    ahead = given_back(rows)
    check(ahead > 0, "none was claimed ahead")
    eq(rows.left()[0], ALL - FAST - TRANSFERS, "they are due")
    eq((len(p.requests), in_state(rows, 2)), (FAST + TRANSFERS, FAST), "no more were on the wire than transfers")
    p.go_on.set()
    eventually(lambda: in_state(rows, 2) == ALL, 30, "all are sent")
    eventually(lambda: rows.left() == (0, 0, 0), 10, "no claim is left")
    promises_hold(p, rows, {"most": ALL})
    w.counted(given_back(rows), "pawl_attempts_total", outcome="given_back")


def test_at_the_end_of_the_process_only_what_is_on_the_wire_is_in_doubt(t):
    _, p, rows, program = setup(t, "most", grace="200ms")
    program.stop()
    check(given_back(rows) > 0, "none was claimed ahead")
    eq((in_state(rows, 2), in_state(rows, 9), in_state(rows, 1)), (FAST, TRANSFERS, 0))
    eq(rows.left(), (ALL - FAST - TRANSFERS, 0, TRANSFERS))
    eq(len(p.requests), FAST + TRANSFERS)


def test_a_provider_that_takes_its_time_has_none_waiting_though_its_answers_come_together(t):
    p = t.keep(HttpPeer(lambda connection, request: (time.sleep(0.7), connection.say())))
    policy = POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}')
    w = t.pawl(t.migrated_cluster(), policy=policy, host={"dispatcher": {"transfers": TRANSFERS, "poll": "20ms", "lease": "60s"}})
    rows = Rows(w)
    for i in range(4 * TRANSFERS):
        rows.add("most", f"p{i}@example.net")
    w.dispatcher()
    eventually(lambda: in_state(rows, 2) == 4 * TRANSFERS, 30, "all are sent")
    eq(given_back(rows), 0, "each is claimed once")
    promises_hold(p, rows, {"most": 4 * TRANSFERS})


def test_what_expired_while_it_waited_is_not_sent(t):
    """The process stands still as soon as its transfers hang; when it goes on there is room for what waits, too late."""
    rows, program = None, None

    def answer(connection, request):
        if request["n"] == EARLY:
            rows.cluster.query("UPDATE pawl.deliveries SET expires_at = now() + interval '4 s' WHERE state = 0")
            expiring.set()
        if request["n"] >= EARLY:
            expiring.wait(30)  # few are claimed who do not know it, and these are sent long before the stop
        if request["n"] == FAST:
            program.proc.signal(signal.SIGSTOP)
        if request["n"] >= FAST:
            go_on.wait(30)
        connection.say()

    go_on, expiring = threading.Event(), threading.Event()
    p = t.keep(HttpPeer(answer))
    policy = POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}')
    w = t.pawl(t.migrated_cluster(), policy=policy, host={"dispatcher": {"transfers": TRANSFERS, "poll": "20ms", "lease": "60s"}})
    rows = Rows(w)
    for i in range(ALL):
        rows.add("most", f"p{i}@example.net")
    program = w.dispatcher()
    eventually(lambda: len(p.requests) > FAST, 30, "a transfer hangs")
    eventually(lambda: rows.cluster.value("SELECT now() > max(expires_at) FROM pawl.deliveries"), 10, "the others have expired")
    check(in_state(rows, 1) > TRANSFERS, "some wait for a transfer")
    on_the_wire = len(p.requests)
    go_on.set()
    program.thaw()
    eventually(lambda: rows.left() == (0, 0, 0), 20, "all have their end")
    check(len(p.requests) <= on_the_wire + TRANSFERS, "only those that had a transfer already were sent after that")


def test_what_waited_while_its_lease_was_taken_over_is_not_sent(t):
    """The process stands still until another has judged its deliveries: what waited is unknown by then, and stays unsent."""
    program, go_on = None, threading.Event()

    def answer(connection, request):
        if request["n"] == FAST:
            program.proc.signal(signal.SIGSTOP)
            go_on.wait(60)
        connection.say()

    p = t.keep(HttpPeer(answer))
    policy = POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}')
    w = t.pawl(t.migrated_cluster(), policy=policy, host={"dispatcher": {"transfers": TRANSFERS, "poll": "20ms", "lease": "3s"}})
    rows = Rows(w)
    for i in range(ALL):
        rows.add("most", f"p{i}@example.net")
    program = w.dispatcher()
    eventually(lambda: len(p.requests) > FAST, 30, "a transfer hangs")
    w.dispatcher()
    eventually(lambda: rows.left()[:2] == (0, 0), 30, "another has judged what it held, and sent the rest")
    unknown, sent = in_state(rows, 9), len(p.requests)
    check(unknown > TRANSFERS, "some waited for a transfer")
    go_on.set()
    program.thaw()
    eventually(lambda: program.metric("pawl_stale_records_total", channel="email") > 0
               and program.metric("pawl_inflight", component="dispatcher") == 0, 20, "it has told of what it held, and sends nothing")
    check(len(p.requests) <= sent + TRANSFERS, "only what had a transfer already may have left since")
    eq((in_state(rows, 9), max(p.bodies().values())), (unknown, 1), "all of it stays unknown, and nobody got it twice")


def test_with_a_rate_nothing_is_claimed_ahead(t):
    _, p, rows, _ = setup(t, "least", ", rate: 2000/s")
    eventually(lambda: in_state(rows, 1) == TRANSFERS, 5, "what was answered is recorded")
    eq(given_back(rows), 0)
    p.go_on.set()
    eventually(lambda: in_state(rows, 2) == ALL, 30, "all are sent")
    eq(given_back(rows), 0)
    promises_hold(p, rows, {"least": ALL})


def test_a_claim_of_many_retries_brings_few_large_contents_along(t):
    """16 MiB of them and one more, however many are due. (A checker reads those for longer than a transaction may be idle: there
    they are small.)"""
    n, size = 10, 3 << 20 if not os.environ.get("PAWL_WRAP") else 3 << 10
    p = t.keep(HttpPeer(lambda connection, request: connection.say()))
    patient = POLICY.replace("[100ms, 200ms]", "[1h]").replace("for: 10m", "for: 2h")
    w = t.pawl(t.migrated_cluster(), t.sink(), policy=patient)
    rows = Rows(w)
    nids = [rows.add("least", f"rcpt451-1+{i}@example.net", retry="2 hours") for i in range(n)]
    program = w.dispatcher()
    eventually(lambda: all(rows.delivery(nid)[:2] == (0, 1) for nid in nids), 20, "each was told 451 once")
    program.stop()  # so that all are due at once
    rows.cluster.query("UPDATE pawl.contents SET content = jsonb_set(content::jsonb, '{text}', to_jsonb(repeat('x', %s)))::text;"
                       "UPDATE pawl.due SET due_at = now()", (size,))
    w.set_policy(patient.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}'))
    w.must("policy", "apply")
    w.dispatcher()
    eventually(lambda: in_state(rows, 2) == n and rows.left() == (0, 0, 0), 30, "all are sent")
    claims = [k for k, in rows.cluster.query("SELECT count(*) FROM pawl.attempts WHERE step > 1 GROUP BY claim_id")]
    check(sum(claims) >= n and max(claims) * size <= 6 * (3 << 20), f"of one claim: {claims}")
    eq({len(r["json"]["text"]) for r in p.requests}, {size})
