"""The gates before the wire: pauses, suppressed addresses, what was cancelled. The mail server's own count is the oracle."""
import os
import sys
import time

from harness import *
from kit.deliveries import POLICY, Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from mail_server import SHORT, Mailbox  # noqa: E402

BRIEF = """  brief:
    about: Its time for tries is short
    when: s1
    once: "brief/{{order.id}}"
    delivery: at-least-once
    send: [email]
    retry: { wait: [100ms], for: 3s }
"""


def against(t, server, dispatchers=1):
    """(installation, rows)"""
    w = t.pawl(t.cluster(), server, policy=POLICY + BRIEF, host=SHORT)
    for _ in range(dispatchers):
        w.dispatcher()
    return w, Rows(w)


def pause(rows, kind, name="", until=None):
    """As `pawl pause` writes it; returns the pause's id."""
    return rows.cluster.value("INSERT INTO pawl.pauses (kind, name, reason, author, until) VALUES (%s, %s, 'a test', 'anna', now() + %s::interval)"
                              " RETURNING id", (kind, name, until))


def resume(rows, number):
    rows.cluster.query("UPDATE pawl.pauses SET until = now() WHERE id = %s", (number,))


def held(rows):
    return rows.cluster.value("SELECT count(*) FROM pawl.due WHERE lane < 0")


def gates(w, **labels):
    return sum(p.metric("pawl_gates_total", **labels) or 0 for p in w.programs())


def refused(t, code=b"550 5.1.1 no such mailbox"):
    """A server that refuses recipients dead*@."""
    return Mailbox(t, lambda what, address, _: code if what == "RCPT" and address.lower().startswith("dead") else True)


def test_what_is_paused_waits_and_goes_soon_after_it_was_resumed(t):
    server = Mailbox(t)
    w, rows = against(t, server)
    for kind, name in ((1, ""), (2, "email"), (3, "most"), (4, "smtp")):
        number = pause(rows, kind, name)
        nid = rows.add("most", f"k{kind}@example.net")
        eventually(lambda: held(rows) == 1, 5, "it is held")
        eq(rows.delivery(nid), (0, 0, 0, 0, "paused: a test"))
        free = rows.add("least", f"other{kind}@example.net")
        if kind == 3:
            ended(rows, free, 2)
        seen = rows.cluster.query("SELECT ctid::text FROM pawl.due WHERE lane < 0")
        time.sleep(1.5)
        check(set(seen) <= set(rows.cluster.query("SELECT ctid::text FROM pawl.due WHERE lane < 0")), "it is not read again meanwhile")
        eq(server.counts().get(f"k{kind}@example.net"), None)
        eq(w.programs()[0].metric("pawl_paused", kind=["", "all", "channel", "type", "provider"][kind], what=name), 1)
        resume(rows, number)
        ended(rows, nid, 2, 6)
        ended(rows, free, 2, 4)
        eq((server.counts()[f"k{kind}@example.net"], rows.delivery(nid)[1]), (1, 1), "it cost no try")
    eq(gates(w, gate="paused", channel="email", result="later"), 7)
    eq(w.programs()[0].metric("pawl_paused", kind="all", what=""), 0)


def test_a_pause_of_another_channel_type_or_provider_holds_nothing(t):
    server = Mailbox(t)
    _, rows = against(t, server)
    for kind, name in ((2, "sms"), (3, "least"), (3, "nothing-of-that-name"), (4, "resend")):
        pause(rows, kind, name)
    ended(rows, rows.add("most", "m@example.net"), 2)
    eq(held(rows), 0)


def test_what_waits_for_paused_providers_goes_on_with_any_of_them(t):
    server, other = Mailbox(t), Mailbox(t)
    w = t.pawl(t.migrated_cluster(), server, policy=POLICY.replace("@SMTP_PROVIDER@", "@SMTP_PROVIDER@\n      - "
               f'{{ name: two, driver: smtp, url: "{other.url}" }}'), host=SHORT)
    w.dispatcher()
    rows = Rows(w)
    one, two = pause(rows, 4, "smtp"), pause(rows, 4, "two")
    nid, kept = rows.add("least", "ann@example.net"), rows.add("most", "bob@example.net")
    eventually(lambda: held(rows) == 2, 5, "they are held")
    check(rows.cluster.value("SELECT bool_and(-lane / 100 = %s) FROM pawl.due", (one,)), "in the name of the first one")
    resume(rows, two)
    ended(rows, nid, 2, 10)
    ended(rows, kept, 2, 10)
    eq((server.counts(), sorted(other.counts())), ({}, ["ann@example.net", "bob@example.net"]))


def test_the_time_of_a_pause_is_not_taken_from_the_time_for_tries(t):
    server = Mailbox(t)
    _, rows = against(t, server)
    pause(rows, 3, "brief", "4 seconds")
    nid = rows.add("brief", "b@example.net", retry="3 seconds")
    ended(rows, nid, 2, 10)
    check(rows.cluster.value("SELECT wire_at - created_at > interval '4 s' AND retry_until - created_at > interval '6 s' FROM pawl.deliveries"),
          "it left after the pause, with its time for tries still to come")


def test_what_expires_during_a_pause_ends_then(t):
    server = Mailbox(t)
    _, rows = against(t, server)
    pause(rows, 1)
    nid = rows.add("most", "e@example.net", expires="2 seconds")
    ended(rows, nid, 4)
    eq((server.counts(), held(rows), rows.delivery(nid)[4]), ({}, 0, "expired before it could be sent"))


def test_a_pause_that_is_over_is_forgotten_when_nothing_is_held_any_more(t):
    server = Mailbox(t)
    _, rows = against(t, server)
    rows.cluster.query("INSERT INTO pawl.pauses (kind, name, reason, author, since, until) VALUES (1, '', 'old', 'anna', now() - interval '1 h',"
                       " now() - interval '11 minutes'), (1, '', 'new', 'anna', now() - interval '1 h', now() - interval '9 minutes')")
    eventually(lambda: rows.cluster.query("SELECT reason FROM pawl.pauses") == [("new",)], 5, "only the old one")


def test_many_held_by_two_pauses_go_each_once_when_both_are_over(t):
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=2)
    first, second = pause(rows, 2, "email"), pause(rows, 3, "most")
    n = 1500 if t.long else 60
    nids = [rows.add("most", f"n{i}@example.net") for i in range(n)]
    eventually(lambda: held(rows) == n, 20, "all are held")
    resume(rows, first)
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pawl.due WHERE lane = %s", (-(second * 100 + 11),)) == n, 20, "the other one holds them")
    eq(server.counts(), {})
    resume(rows, second)
    for nid in nids:
        ended(rows, nid, 2, 30)
    eq(set(server.counts().values()), {1})
    eq(len(server.counts()), n)
    eq(sum(p.metric("pawl_deliveries_held", channel="email") or 0 for p in w.programs()) >= 0, True)


def suppress(rows, address, channel=1, kind=0, reason=5):
    rows.cluster.query("INSERT INTO pawl.suppressions (channel, type, reason, key, address, source) VALUES (%s, %s, %s,"
                       " pawl.address_key(%s, %s), %s, 'test')", (channel, kind, reason, channel, address, address))


def test_a_suppressed_address_gets_nothing_however_it_is_written(t):
    server = Mailbox(t)
    w, rows = against(t, server)
    suppress(rows, "Anna@Example.NET")
    suppress(rows, "A <named@example.net>")
    suppress(rows, "sms@example.net", channel=2)
    suppress(rows, "typed@example.net", kind=rows.types["most"], reason=3)
    for address, kind, state, reason in (("anna@example.net", "most", 5, "suppressed by hand"), ("ANNA@EXAMPLE.net", "least", 5, "suppressed by hand"),
                                         ("Anna B. <anna@example.net>", "most", 5, "suppressed by hand"),
                                         ("named@example.net", "most", 5, "suppressed by hand"), ('"<B>" <Named@example.net> ', "most", 5, "suppressed by hand"),
                                         ("annab@example.net", "most", 2, None), ("sms@example.net", "most", 2, None),
                                         ("typed@example.net", "most", 5, "suppressed: opted out"), ("typed@example.net", "least", 2, None)):
        nid = rows.add(kind, address)
        ended(rows, nid, state)
        eq((rows.delivery(nid)[4], rows.outcomes(nid)), (reason, [1] if state == 2 else []), address)
    eq(server.counts(), {"annab@example.net": 1, "sms@example.net": 1, "typed@example.net": 1})
    eq((gates(w, gate="suppressed", channel="email", result="withheld"), gates(w, gate="suppressed", channel="email", result="open")), (6, 3))
    rows.cluster.query("DELETE FROM pawl.suppressions")
    ended(rows, rows.add("most", "anna@example.net"), 2)


def test_a_hard_bounce_suppresses_its_address_and_no_other_refusal_does(t):
    codes = {"dead1": b"550 5.1.1 no such mailbox", "full": b"552 5.2.2 mailbox full", "spam": b"550 5.7.1 no spam", "bare": b"550 no",
             "gone": b"556 5.1.10 null MX", "soft": b"450 4.1.1 later"}
    server = Mailbox(t, lambda what, address, _: codes.get(address.split("@")[0], True) if what == "RCPT" else True)
    w, rows = against(t, server)
    for name in codes:
        nid = rows.add("most", f"{name}@example.net")
        if name != "soft":
            ended(rows, nid, 3)
    eq(rows.cluster.query("SELECT address, channel, type, reason, source, note FROM pawl.suppressions ORDER BY 1"),
       [("dead1@example.net", 1, 0, 1, "smtp", "550 5.1.1 no such mailbox"), ("gone@example.net", 1, 0, 1, "smtp", "556 5.1.10 null MX")])
    again = rows.add("least", "DEAD1@example.net")
    ended(rows, again, 5)
    eq((rows.delivery(again)[4], w.programs()[0].metric("pawl_suppressed_total", channel="email", reason="hard_bounce")),
       ("suppressed: hard bounce", 2))


def test_when_very_many_addresses_die_at_once_it_is_the_provider_and_none_is_suppressed_any_more(t):
    server = refused(t)
    w, rows = against(t, server)
    nids = [rows.add("most", f"dead{i}@example.net") for i in range(110)]
    for nid in nids:
        ended(rows, nid, 3, 20)
    found = rows.cluster.value("SELECT count(*) FROM pawl.suppressions")
    check(found <= 50, f"{found} were suppressed before it showed")
    eq(w.programs()[0].metric("pawl_suppressed_not_total", channel="email", reason="hard_bounce"), 110 - found)
    eq(w.programs()[0].log().count("suppress.guard"), 1, "it is said once")


def test_what_was_cancelled_by_hand_is_only_dropped(t):
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0)
    nid = rows.add("most", "c@example.net")
    rows.cluster.query("UPDATE pawl.deliveries SET state = 7, reason = 'by anna'")
    w.dispatcher()
    eventually(lambda: rows.left() == (0, 0, 0), 5, "its row is gone")
    eq((rows.delivery(nid), server.counts()), ((7, 0, 0, 0, "by anna"), {}))
    eventually(lambda: gates(w, gate="cancelled", channel="email", result="cancelled") == 1, 5, "it is counted")


def test_without_an_address_it_is_withheld(t):
    server = Mailbox(t)
    w, rows = against(t, server)
    nid = rows.add("most", "")
    ended(rows, nid, 5)
    eq((rows.delivery(nid)[4], server.counts()), ("no address", {}))
    eventually(lambda: gates(w, gate="no_address", channel="email", result="withheld") == 1, 5)


def test_a_message_that_may_have_arrived_ends_as_unknown_whatever_closes_the_gate(t):
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0)
    nid = rows.add("least", "u@example.net")
    rows.cluster.query("UPDATE pawl.deliveries SET tries = 1, unknown_tries = 1; UPDATE pawl.due SET tries = 1")
    w.breaks.update({"tries-recorded": "the test made the first try up", "end-recorded": "the same"})
    suppress(rows, "u@example.net")
    w.dispatcher()
    ended(rows, nid, 9)
    eq((rows.delivery(nid)[4], rows.left()[2]), ("suppressed by hand, after a try whose outcome is unknown", 1))
