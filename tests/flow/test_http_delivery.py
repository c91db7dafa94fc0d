"""Mail over HTTP through the whole dispatcher: what is promised of a delivery, by the provider's own log."""
import os
import sys

from harness import *
from kit.deliveries import POLICY, Rows, ended, promises_hold
from kit.npm import prism

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402

BUSY = b'{"statusCode":429,"name":"rate_limit_exceeded","message":"Too many requests"}'


def fine(c, _):
    c.say()


def drop(c, _):
    c.cut()


def reset_after_status(c, _):
    c.say(200, b'{"id"', length=400)
    c.reset()


FAULTS = [drop, lambda c, _: c.say(500, b""), lambda c, _: c.say(429, BUSY), reset_after_status,
          lambda c, _: c.say(307, b"", f"Location: {c.peer.url}/again"), lambda c, _: c.reset(), lambda c, _: c.say(502, b"<html>")]


def setup(t, script, dispatchers=1, driver="resend"):
    p = t.keep(HttpPeer(script))
    row = f'{{ driver: {driver}, token: credential:api, url: "{p.url}" }}'
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", row))
    for _ in range(dispatchers):
        w.dispatcher()
    return w, p, Rows(w)


def test_one_due_row_makes_one_request_under_the_deliverys_key(t):
    w, p, rows = setup(t, fine)
    nid = rows.add("least", "ann@example.net", order="1001")
    ended(rows, nid, 2)
    eq(p.by_rcpt(), {"ann@example.net": 1})
    request = p.requests[0]
    eq(request["headers"]["authorization"], ["Bearer " + secret("api")])
    eq(request["json"]["tags"], [{"name": "pawl_delivery", "value": request["key"]},
                                 {"name": "pawl_place", "value": f"1-{nid.replace('-', '')}-0"}], "receipts find the row by them")
    eq(request["json"]["subject"], "least 1001")
    eq(rows.cluster.value("SELECT provider_id FROM pawl.attempts"), "re_1")
    w.counted(1, "pawl_attempts_total", outcome="accepted")


def test_a_lost_reply_is_unknown_for_ever_or_sent_again_under_the_same_key(t):
    w, p, rows = setup(t, lambda c, r: (drop if r["n"] < 2 else fine)(c, r))
    most, least = rows.add("most", "m@example.net"), rows.add("least", "l@example.net")
    ended(rows, most, 9)
    ended(rows, least, 2)
    eq((rows.outcomes(most), rows.outcomes(least)), ([4], [4, 1]))
    eq(p.by_rcpt(), {"m@example.net": 1, "l@example.net": 2})
    copies = [(r["key"], r["body"]) for r in p.requests if r["json"]["to"] == ["l@example.net"]]
    eq(copies[0], copies[1], "the repeat has the same key and the same bytes")
    w.counted(1, "pawl_possible_duplicates_total")


def test_retry_after_delays_the_next_try(t):
    w, p, rows = setup(t, lambda c, r: c.say(429, BUSY, "Retry-After: 2") if r["n"] == 0 else c.say())
    del w
    nid = rows.add("most", "ann@example.net")
    ended(rows, nid, 2)
    waited = rows.cluster.value("SELECT extract(epoch FROM max(at) - min(at)) FROM pawl.attempts")
    check(waited >= 1.9, f"tried again after {waited} s")
    eq(len(p.requests), 2)


def test_what_the_provider_refuses_ends_and_what_is_about_us_waits(t):
    answers = {"bad@example.net": (422, b'{"name":"validation_error","message":"Invalid `to` field"}'),
               "us@example.net": (401, b'{"name":"missing_api_key","message":"no key"}')}
    w, p, rows = setup(t, lambda c, r: c.say(*answers.get(r["json"]["to"][0], (200, b'{"id":"x"}'))))
    bad, us = rows.add("least", "bad@example.net"), rows.add("least", "us@example.net")
    ended(rows, bad, 3)
    eventually(lambda: len(rows.outcomes(us)) >= 2, 10, "the provider's failure is tried again")
    eq(rows.outcomes(us)[:2], [3, 3])
    eventually(lambda: "provider.failing" in w.dispatchers[0].log(), 5, "the failing provider is told")
    answers.clear()
    ended(rows, us, 2)
    eq(sum(r["json"]["to"] == ["bad@example.net"] for r in p.requests), 1)


def test_promises_hold_with_a_fault_in_one_of_five_and_a_kill(t):
    def script(c, r):
        (FAULTS[r["n"] // 5 % len(FAULTS)] if r["n"] % 5 == 4 else fine)(c, r)
    w, p, rows = setup(t, script, dispatchers=2)
    count = {"most": 150, "least": 150}
    ids = [rows.add(kind, f"{kind}{i}@example.net") for kind, n in count.items() for i in range(n)]
    eventually(lambda: len(p.requests) > 60, 20, "it runs")
    w.dispatchers[0].kill9()
    w.dispatcher()
    eventually(lambda: all(rows.state(nid) in (2, 9) for nid in ids), 40, "every delivery has an end")
    promises_hold(p, rows, count)


@timeout(300)
def test_resends_own_document_allows_what_is_sent(t):
    proc, url = prism(t, "openapi/resend.yaml")
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{url}" }}'))
    w.dispatcher()
    rows = Rows(w)
    nid = rows.add("least", "Ann <ann@example.net>", note="Käse & Brot")
    ended(rows, nid, 2, 20)
    [(code, said)] = rows.cluster.query("SELECT code, provider_id FROM pawl.attempts")
    check(code == 200 and said, f"{code} {said}")
    check("violation" not in proc.output().lower(), proc.tail())
