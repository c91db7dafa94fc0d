"""Quiet hours end to end: windows laid around the database's now, in the recipient's zone and in the policy's."""
import datetime as dt
import os
import re
import sys
import time

from harness import *
from kit.deliveries import POLICY, Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from mail_server import SHORT, Mailbox  # noqa: E402

ZONE = "Asia/Kolkata"  # half an hour beside the others, and its clock never changes


def wall(minutes, zone_minutes=330):
    """The time of day so many minutes from now, there."""
    return (dt.datetime.now(dt.timezone.utc) + dt.timedelta(minutes=minutes + zone_minutes)).strftime("%H:%M")


def policy(quiet, timezone="Asia/Kolkata", retry="10m"):
    text = POLICY.replace("Europe/Berlin", timezone) + f"""  calm:
    about: Not at night
    when: s1
    once: "calm/{{{{order.id}}}}"
    delivery: at-least-once
    send: [email]
    quiet: {{ {quiet} }}
    retry: {{ wait: [100ms], for: {retry} }}
"""
    return text


def world(t, server, quiet, **how):
    w = t.pawl(t.cluster(), server, policy=policy(quiet, **how), host=SHORT)
    w.dispatcher()
    return w, Rows(w)


def add(rows, address, zone=None, expires=None, retry="10 minutes"):
    nid = rows.add("calm", address, due=False, expires=expires, retry=retry)
    rows.cluster.query("UPDATE pawl.deliveries SET zone = %s WHERE notification_id = %s", (zone, nid))
    rows.cluster.query("INSERT INTO pawl.due VALUES (1, 11, now(), %s, 1, 0, 0, '')", (nid,))
    return nid


def waits_until(rows, nid):
    """Seconds from now at which it is due again; None = it is not in due."""
    found = rows.cluster.query("SELECT extract(epoch FROM due_at - now())::float8 FROM pawl.due WHERE notification_id = %s", (nid,))
    return found[0][0] if found else None


def test_in_the_quiet_hours_of_the_recipients_zone_it_waits_and_elsewhere_it_goes(t):
    server = Mailbox(t)
    w, rows = world(t, server, f'from: "{wall(-60)}", to: "{wall(120)}"')
    there, default = add(rows, "there@example.net", ZONE), add(rows, "default@example.net")
    unknown = add(rows, "unknown@example.net", "Mars/Olympus")
    away = add(rows, "away@example.net", "America/New_York")
    ended(rows, away, 2)
    for nid in (there, default, unknown):
        eventually(lambda n=nid: (rows.delivery(n)[4] or "").startswith("quiet hours until"), 10, "it waits")
        check(118 * 60 < waits_until(rows, nid) <= 120 * 60, f"due again when they end: {waits_until(rows, nid)}")
        eq(rows.delivery(nid)[:2], (0, 0), "without a try")
    check(re.fullmatch(r"quiet hours until \d\d:\d\d Asia/Kolkata", rows.delivery(there)[4]), rows.delivery(there)[4])
    eq(server.counts(), {"away@example.net": 1})
    d = w.programs()[0]
    eventually(lambda: d.metric("pawl_gates_total", gate="quiet", channel="email", result="later") == 3, 5)
    check(d.metric("pawl_zones_unknown_total") >= 1, "a zone of no name is counted")
    check(rows.cluster.value("SELECT min(retry_until - created_at) FROM pawl.deliveries WHERE state = 0") > dt.timedelta(minutes=120),
          "the time for tries begins after them")


def test_it_goes_when_they_end_with_all_of_its_time_for_tries(t):
    if not t.long:
        t.skip("takes a minute (--long)")
    server = Mailbox(t)
    # They end with the next minute, which is some seconds away.
    while dt.datetime.now().second > 52 or dt.datetime.now().second < 40:
        time.sleep(0.2)
    _, rows = world(t, server, f'from: "{wall(-60)}", to: "{wall(1)}"', retry="2s")
    nid = add(rows, "soon@example.net", ZONE, retry="2 seconds")
    eventually(lambda: rows.delivery(nid)[4], 10, "it waits")
    due = waits_until(rows, nid)
    check(0 < due <= 25, f"until the minute's end: {due}")
    ended(rows, nid, 2, 40)
    check(rows.cluster.value("SELECT extract(second FROM wire_at) < 5 AND tries = 1 FROM pawl.deliveries"), "not before, and soon after")
    eq(server.counts(), {"soon@example.net": 1})


def test_what_would_wait_longer_than_drop_after_is_withheld_and_what_expires_before_expires(t):
    server = Mailbox(t)
    _, rows = world(t, server, f'from: "{wall(-60)}", to: "{wall(120)}", drop_after: 1h')
    nid = add(rows, "late@example.net", ZONE)
    ended(rows, nid, 5)
    check(rows.delivery(nid)[4].startswith("quiet hours until"), "it says why")
    eq((server.counts(), rows.left()), ({}, (0, 0, 0)))


def test_what_expires_in_quiet_hours_ends_then(t):
    server = Mailbox(t)
    _, rows = world(t, server, f'from: "{wall(-60)}", to: "{wall(120)}"')
    nid = add(rows, "e@example.net", ZONE, expires="2 seconds")
    ended(rows, nid, 4)
    eq(server.counts(), {})


def test_other_messages_of_the_same_claim_go_on(t):
    server = Mailbox(t)
    w, rows = world(t, server, f'from: "{wall(-60)}", to: "{wall(120)}"')
    w.programs()[0].stop()
    nids = [add(rows, f"q{i}@example.net", ZONE) for i in range(5)]
    free = [rows.add("most", f"m{i}@example.net") for i in range(5)]
    w.dispatcher()
    for nid in free:
        ended(rows, nid, 2)
    eq({rows.state(n) for n in nids}, {0})
    eq(set(server.counts()), {f"m{i}@example.net" for i in range(5)})


def test_a_worker_whose_clock_is_an_hour_off_sends_by_the_databases(t):
    t.need_faults()
    server = Mailbox(t)
    w, rows = world(t, server, f'from: "{wall(-30)}", to: "{wall(30)}"')
    w.programs()[0].stop()
    for off in ("-3600", "+3600"):
        d = w.dispatcher(now=off)
        nid = add(rows, f"off{off}@example.net", ZONE)
        eventually(lambda n=nid: (rows.delivery(n)[4] or "").startswith("quiet"), 10, "it waits")
        check(28 * 60 < waits_until(rows, nid) <= 30 * 60, f"{waits_until(rows, nid)}")
        d.stop()
    eq(server.counts(), {})
