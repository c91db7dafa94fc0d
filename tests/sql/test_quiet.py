"""Quiet hours: dispatcher/claim/gates/quiet.sql asked at many moments. The oracle is Python's own time zone data: at each moment the wall shows a
time in the window or it does not, and the end is the first minute at which it shows the window's end."""
import datetime as dt
import os
import re
import sys
import zoneinfo

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = dt.timedelta(minutes=1)


def statement():
    with open(os.path.join(ROOT, "dispatcher/claim/gates/quiet.sql"), encoding="utf-8") as f:
        text = re.sub(r"--[^\n]*", "", f.read())
    return re.sub(r"\$(\d)::(\w+)\[\]", lambda m: "%%(p%s)s::%s[]" % m.groups(), text)


def ask(cluster, asked):
    """[(until, wall) or None] for [(moment, zone, from, to)]"""
    us = [int((at - EPOCH) / dt.timedelta(microseconds=1)) for at, *_ in asked]
    rows = cluster.query(statement(), {"p1": us, "p2": [a[1] for a in asked], "p3": [a[2] for a in asked], "p4": [a[3] for a in asked]})
    found = {i: (EPOCH + dt.timedelta(microseconds=until), wall) for i, until, wall in rows}
    return [found.get(i + 1) for i in range(len(asked))]


def is_quiet(at, zone, begin, end):
    wall = at.astimezone(zoneinfo.ZoneInfo(zone)).strftime("%H:%M:%S.%f")
    return begin <= wall < end if begin < end else wall >= begin or wall < end


def ends(at, zone, begin, end):
    """The first whole minute after `at` at which the wall shows the window's end, or a later time. Hours that come twice do not interrupt it."""
    there = zoneinfo.ZoneInfo(zone)
    wall = at.astimezone(there).replace(tzinfo=None)
    last = wall.replace(hour=int(end[:2]), minute=int(end[3:]), second=0, microsecond=0)
    if last <= wall:
        last += dt.timedelta(days=1)
    at = at.replace(second=0, microsecond=0) + MINUTE
    while at.astimezone(there).replace(tzinfo=None) < last:
        at += MINUTE
    return at


def utc(text):
    return dt.datetime.fromisoformat(text).replace(tzinfo=UTC)


WINDOWS = [("21:00", "08:00"), ("22:00", "02:30"), ("02:15", "02:45"), ("02:30", "05:00"), ("00:00", "03:00"), ("01:30", "02:00"), ("08:00", "17:00"),
           ("23:30", "00:00"), ("02:00", "03:00"), ("04:00", "01:00")]


def test_every_moment_of_the_nights_in_which_the_clock_changes_is_as_the_wall_shows(t):
    cluster = t.cluster()
    nights = [("Europe/Berlin", "2026-03-28 12:00"), ("Europe/Berlin", "2026-10-24 12:00"), ("America/New_York", "2026-03-07 17:00"),
              ("America/New_York", "2026-10-31 17:00"), ("Australia/Lord_Howe", "2026-04-04 04:00"), ("Australia/Lord_Howe", "2026-10-03 04:00"),
              ("Asia/Kolkata", "2026-03-28 12:00"), ("Antarctica/Troll", "2026-03-28 12:00"), ("Antarctica/Troll", "2026-10-24 12:00")]
    wrong = []
    for zone, begin in nights:
        asked = [(utc(begin) + dt.timedelta(minutes=7 * i, seconds=i % 60), zone, *window) for i in range(0, 24 * 60 // 7) for window in WINDOWS]
        # and to the second around the hours in which clocks change
        edge = utc(begin) + dt.timedelta(hours=12)
        asked += [(edge + dt.timedelta(minutes=m, seconds=s), zone, *window) for m in range(0, 181, 15) for s in (-1, 0, 1) for window in WINDOWS]
        for one, found in zip(asked, ask(cluster, asked)):
            want = ends(*one) if is_quiet(*one) else None
            if (found and found[0]) != want:
                wrong.append(f"{one}: {found}, want {want}")
            elif found and is_quiet(found[0], *one[1:]):
                wrong.append(f"{one}: {found} is quiet")
            elif found and found[1] != want.astimezone(zoneinfo.ZoneInfo(zone)).strftime("%H:%M"):
                wrong.append(f"{one}: wall {found}")
    eq(wrong[:10], [])


def test_what_it_says_of_some_known_moments(t):
    cluster = t.cluster()
    known = [  # moment UTC, zone, window, until UTC (None = not quiet)
        ("2026-06-01 18:59:59", "Europe/Berlin", "21:00", "08:00", None),
        ("2026-06-01 19:00:00", "Europe/Berlin", "21:00", "08:00", "2026-06-02 06:00"),
        ("2026-01-10 20:00:00", "Europe/Berlin", "21:00", "08:00", "2026-01-11 07:00"),
        ("2026-06-02 05:59:59.999999", "Europe/Berlin", "21:00", "08:00", "2026-06-02 06:00"),
        ("2026-06-02 06:00:00", "Europe/Berlin", "21:00", "08:00", None),
        ("2026-03-28 22:00:00", "Europe/Berlin", "21:00", "08:00", "2026-03-29 06:00"),  # an hour less in that night
        ("2026-10-24 20:00:00", "Europe/Berlin", "21:00", "08:00", "2026-10-25 07:00"),  # an hour more
        ("2026-03-08 03:00:00", "America/New_York", "21:00", "08:00", "2026-03-08 12:00"),
        ("2026-11-01 02:00:00", "America/New_York", "21:00", "08:00", "2026-11-01 13:00"),
        ("2026-03-28 23:00:00", "Europe/Berlin", "21:00", "02:30", "2026-03-29 01:00"),  # 02:30 is missing: with the jump
        ("2026-10-24 22:00:00", "Europe/Berlin", "21:00", "02:30", "2026-10-25 00:30"),  # 02:30 is there twice: the first
        ("2026-10-25 01:15:00", "Europe/Berlin", "21:00", "02:30", "2026-10-25 01:30"),  # between them the wall shows 02:15 again
        ("2026-06-01 12:00:00", "Pacific/Kiritimati", "21:00", "08:00", "2026-06-01 18:00"),
        ("2026-06-01 12:00:00", "Pacific/Pago_Pago", "21:00", "08:00", "2026-06-01 19:00"),
        ("2026-06-01 12:00:00", "UTC", "12:00", "12:00", None),
    ]
    found = ask(cluster, [(utc(at), *rest) for at, *rest, _ in known])
    for row, got in zip(known, found):
        eq(got and got[0], utc(row[4]) if row[4] else None, str(row))


def test_a_zone_of_no_name_would_fail_the_statement_so_names_are_asked_for_first(t):
    cluster = t.cluster()
    names = {n for n, in cluster.query("SELECT name FROM pg_timezone_names")}
    check({"Europe/Berlin", "America/New_York", "UTC"} <= names and "Mars/Olympus" not in names, "names of zones")
