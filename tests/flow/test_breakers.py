"""A provider whose own errors pile up gets nothing for a while; what says something of a message never does that."""
import json
import os
import sys
import threading
import time

from harness import *
from kit.deliveries import ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from route_rig import BAD, DENIED, Switch, drop, fine, install, tries  # noqa: E402


def test_while_it_is_open_nothing_is_claimed_and_then_one_finds_out(t):
    first = Switch(lambda c, r: c.say(401, DENIED, "Retry-After: 3"))
    w, (peer,), rows = install(t, [("resend", first, "")], wait="[100ms]")
    opener = rows.add("least", "opens@example.net")
    eventually(lambda: w.metric("pawl_provider_breaker_open", provider="resend") == 1, 10, "the breaker is open")
    opened = time.monotonic()
    waiting = [rows.add(("most", "least")[n % 2], f"n{n}@example.net") for n in range(20)]
    ready = w.dispatchers[0].admin("/readyz")
    eq((ready.status, json.loads(ready.body)["status"]), (200, "degraded"))
    bad = [c for c in json.loads(ready.body)["checks"] if not c["ok"]]
    eq([c["name"] for c in bad], ["provider_email_resend"])
    check(bad[0]["detail"].startswith("gets none for now: "), bad)
    # The one that finds out is held by the peer: nothing else comes meanwhile.
    go_on = threading.Event()

    def held(c, _):
        go_on.wait(20)
        c.say()
    first.script = held
    eventually(lambda: len(peer.requests) == 2, 15, "one asks again")
    check(time.monotonic() - opened > 2.5, "not before the time that was asked for")
    time.sleep(1)
    eq(len(peer.requests), 2, "one only")
    eq(rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE tries > 0 AND address LIKE 'n%%'") in (0, 1), True, "the others are not claimed")
    first.script = fine
    go_on.set()
    for nid in [opener, *waiting]:
        ended(rows, nid, 2)
    eq(len(peer.requests), 22)
    eq(w.metric("pawl_provider_breaker_open", provider="resend"), 0)
    log = w.dispatchers[0].log()
    eq([log.count(event) for event in ("provider.open:", "provider.closed:")], [1, 1])
    eq(tries(rows, opener), [("resend", 3), ("resend", 1)])
    eq(rows.cluster.query("SELECT free_tries FROM pawl.deliveries WHERE address = 'opens@example.net'"), [(1,)], "it spent no try")


def test_some_errors_in_a_row_open_it_without_a_time(t):
    first = Switch(lambda c, r: c.say(401, DENIED))
    w, (peer,), rows = install(t, [("resend", first, "")], wait="[100ms]")
    nids = [rows.add("most", f"n{n}@example.net") for n in range(30)]
    eventually(lambda: w.metric("pawl_provider_breaker_open", provider="resend") == 1, 10, "the breaker is open")
    before = len(peer.requests)
    time.sleep(3)
    asked = len(peer.requests) - before
    check(asked <= 30 + 8, f"{asked} requests in 3 s to a provider that refuses us")
    first.script = fine
    for nid in nids:
        ended(rows, nid, 2, 40)


def test_refused_messages_and_addresses_never_open_it(t):
    w, (peer,), rows = install(t, [("resend", lambda c, r: c.say(422, BAD), "")])
    nids = [rows.add("least", f"n{n}@example.net") for n in range(40)]
    for nid in nids:
        ended(rows, nid, 3)
    eq(len(peer.requests), 40)
    eq(w.metric("pawl_provider_breaker_opened_total"), 0)


def test_what_waits_for_a_provider_still_expires_in_time(t):
    w, _, rows = install(t, [("resend", lambda c, r: c.say(401, DENIED, "Retry-After: 2"), "")], wait="[100ms]")
    del w
    nid = rows.add("most", "ann@example.net", expires="3 seconds")
    ended(rows, nid, 4, 15)


def test_retries_are_few_while_a_provider_fails_at_large(t):
    first = Switch(drop)
    w, (peer,), rows = install(t, [("sendgrid", first, "")], wait="[100ms, 200ms]")
    nids = [rows.add("least", f"n{n}@example.net") for n in range(25)]
    eventually(lambda: w.metric("pawl_retries_held_total") > 0, 15, "the budget is spent")
    before = len(peer.requests)
    start = time.monotonic()
    time.sleep(4)
    retried, seconds = len(peer.requests) - before, time.monotonic() - start
    check(retried <= seconds + 6, f"{retried} retries in {seconds:.1f} s")  # without a budget some hundred
    eq(rows.cluster.value("SELECT count(*) FROM pawl.attempts"), rows.cluster.value("SELECT sum(tries) FROM pawl.deliveries WHERE state <> 1") +
       rows.cluster.value("SELECT coalesce(sum(tries) - count(*), 0) FROM pawl.deliveries WHERE state = 1"), "what waits spends no step")
    first.script = lambda c, r: c.say(202, b"", "X-Message-Id: x")
    for nid in nids:
        ended(rows, nid, 2, 40)
