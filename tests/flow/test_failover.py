"""Several providers of a channel: the next one is asked after a refusal that is the provider's own, never after a doubt."""
import os
import socket
import sys
import time
from collections import Counter

from harness import *
from kit.deliveries import ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from route_rig import BAD, BUSY, DENIED, Switch, denied, drop, fine, install, to, tries  # noqa: E402

LONG = "[30s, 1m]"  # no test waits for a rung


def vanish(peer):
    """Nobody listens there any more; the last connection that its thread took is used up."""
    peer.close()

    def refused():
        try:
            socket.create_connection(("127.0.0.1", peer.port), 1).close()
        except ConnectionRefusedError:
            return True
        return False
    eventually(refused, 5, "connections are refused")


def test_what_the_first_provider_itself_refuses_goes_to_the_second_at_once(t):
    w, (one, two), rows = install(t, [("sendgrid", denied, ""), ("resend", fine, "name: spare")], wait=LONG)
    for kind in ("most", "least"):
        nid = rows.add(kind, f"{kind}@example.net")
        ended(rows, nid, 2)
        eq(tries(rows, nid), [("sendgrid", 3), ("spare", 1)], kind)
        eq(rows.cluster.query("SELECT provider, free_tries, possible_duplicates FROM pawl.deliveries WHERE notification_id = %s", (nid,)),
           [("spare", 1, 0)], kind)
    eq((len(one.requests), len(two.requests)), (2, 2))
    w.counted(2, "pawl_failovers_total", provider="spare")


def test_a_server_that_is_not_there_is_passed_over(t):
    w, (one, two), rows = install(t, [("sendgrid", fine, ""), ("resend", fine, "")], wait=LONG)
    vanish(one)
    nids = [rows.add(("most", "least")[n % 2], f"n{n}@example.net") for n in range(20)]
    for nid in nids:
        ended(rows, nid, 2)
    eq(set(two.by_rcpt().values()), {1})
    eq(len(two.requests), 20)
    # Once the first one's breaker is open nobody asks it: what comes now is tried once.
    eventually(lambda: w.metric("pawl_provider_breaker_open", provider="sendgrid") == 1, 5, "its breaker is open")
    late = rows.add("most", "late@example.net")
    ended(rows, late, 2)
    eq(tries(rows, late)[-1], ("resend", 1))


def test_what_is_about_the_message_goes_nowhere_else(t):
    _, (one, two), rows = install(t, [("resend", lambda c, r: c.say(422, BAD), ""), ("sendgrid", fine, "")], wait=LONG)
    nid = rows.add("least", "ann@example.net")
    ended(rows, nid, 3)
    eq(tries(rows, nid), [("resend", 2)])
    eq((len(one.requests), len(two.requests)), (1, 0))


def test_a_doubt_never_goes_to_another_provider_at_most_once(t):
    _, (one, two), rows = install(t, [("sendgrid", drop, ""), ("resend", fine, "")], wait=LONG)
    nids = [rows.add("most", f"n{n}@example.net") for n in range(10)]
    for nid in nids:
        ended(rows, nid, 9)
    eq((len(one.requests), len(two.requests)), (10, 0))


def test_a_doubt_stays_with_the_provider_that_knows_the_key(t):
    first = Switch(drop)
    w, (one, two), rows = install(t, [("resend", first, ""), ("sendgrid", fine, "")])
    nid = rows.add("least", "ann@example.net")
    eventually(lambda: rows.outcomes(nid) == [4], 10, "its first try is in doubt")
    # From now on the provider refuses everything: whatever else goes to the other one, this waits.
    first.script = lambda c, r: c.say(401, DENIED, "Retry-After: 3")
    others = [rows.add("most", f"n{n}@example.net") for n in range(6)]
    for other in others:
        ended(rows, other, 2)
    eventually(lambda: w.metric("pawl_provider_breaker_open", provider="resend") == 1, 5, "the breaker is open")
    time.sleep(2)
    check(all(to(r) != "ann@example.net" for r in two.requests), "the doubt is not at the other")
    eq(rows.state(nid), 0)
    first.script = fine
    ended(rows, nid, 2, 30)
    eq({p for p, _ in tries(rows, nid)}, {"resend"})
    mine = [r for r in one.requests if to(r) == "ann@example.net"]
    eq(len({(r["key"], r["body"]) for r in mine}), 1, "all its requests are the same")
    check(all(to(r) != "ann@example.net" for r in two.requests), "the doubt never was at the other")


def test_what_waits_for_its_provider_spends_its_time_for_tries_and_says_of_no_gate(t):
    first = Switch(drop)
    w, _, rows = install(t, [("resend", first, ""), ("sendgrid", fine, "")], message="cap: [{ most: 5, in: 1h, per: recipient, then: defer }]")
    nid = rows.add("least", "ann@example.net")
    eventually(lambda: rows.outcomes(nid)[:1] == [4], 10, "its first try is in doubt")
    first.script = lambda c, r: c.say(401, DENIED, "Retry-After: 4")
    for n in range(3):
        rows.add("most", f"n{n}@example.net")
    later = "SELECT count(*) FROM pawl.due WHERE notification_id = %s AND due_at > now() + interval '1 second'"
    eventually(lambda: rows.cluster.value(later, (nid,)) == 1, 10, "it waits for the breaker of its provider")
    eq(rows.cluster.query("SELECT retry_until = created_at + interval '10 minutes', reason FROM pawl.deliveries WHERE notification_id = %s", (nid,)),
       [(True, None)])
    eq(w.metric("pawl_gates_total", result="later"), 0)
    first.script = fine
    ended(rows, nid, 2, 30)


def test_without_a_key_another_provider_makes_a_counted_duplicate(t):
    first = Switch(drop)
    w, (one, two), rows = install(t, [("sendgrid", first, ""), ("resend", fine, "")], wait="[2s]")
    nid = rows.add("least", "ann@example.net")
    eventually(lambda: rows.outcomes(nid) == [4], 10, "its first try is in doubt")
    first.script = lambda c, r: c.say(401, b'{"errors":[{"message":"no"}]}', "Retry-After: 60")
    opener = rows.add("most", "opens@example.net")
    ended(rows, opener, 2)
    ended(rows, nid, 2)
    eq([p for p, _ in tries(rows, nid)], ["sendgrid", "resend"])
    eq(rows.delivery(nid)[:4], (2, 2, 1, 1), "counted")
    w.counted(1, "pawl_possible_duplicates_total")
    eq(sum(to(r) == "ann@example.net" for r in one.requests + two.requests), 2)


def test_over_both_providers_no_mail_arrives_twice_with_faults_and_kills(t):
    def faulty(c, r):
        [denied, fine, drop, fine, lambda c, _: c.say(429, BUSY), fine][r["n"] % 6](c, r)
    w, peers, rows = install(t, [("resend", faulty, ""), ("sendgrid", fine, "")], dispatchers=2)
    nids = [rows.add("most", f"n{n}@example.net") for n in range(150)]
    eventually(lambda: sum(len(p.requests) for p in peers) > 40, 20, "it runs")
    w.dispatchers[0].kill9()
    w.dispatcher()
    eventually(lambda: all(rows.state(nid) in (2, 9) for nid in nids), 40, "every delivery has an end")
    taken = Counter(to(r) for p in peers for r in p.requests if not r["refused"])
    eq([a for a, n in taken.items() if n > 1], [], "taken twice")
    states = dict(rows.cluster.query("SELECT address, state FROM pawl.deliveries"))
    eq([a for a, s in states.items() if s == 2 and taken[a] != 1], [], "accepted and not there")
    check(peers[0].requests and peers[1].requests, "both were used")
