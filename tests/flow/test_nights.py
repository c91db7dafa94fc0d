"""The nights in which clocks change, lived through: PostgreSQL's clock is put just before each hour that is missing or comes twice.

The server's clock is put by put_clock.c; dispatchers and the mail server keep the time of today. What is quiet until 02:30 goes at the first moment
at which the wall shows that or more, what is quiet from then on stays, and nothing goes twice."""
import datetime as dt
import os
import struct
import sys
import time

from harness import *
from kit.deliveries import POLICY, Rows, ended
from kit.procs import SLOW

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from mail_server import Mailbox  # noqa: E402

BEFORE_S = 3 + 2 * SLOW  # the clock is put so long before the moment
LATE_S = 4 * SLOW
NEW_YORK, BERLIN = "America/New_York", "Europe/Berlin"
MOMENTS = [  # zone, UTC of the moment, the end of `calm` and the begin of `early`; in a run that is not long only some
    ("the missing hour of New York", NEW_YORK, "2026-03-08 07:00:00", "02:30"),  # 01:59:59 EST, then 03:00:00 EDT
    ("the first 02:30 of Berlin", BERLIN, "2026-10-25 00:30:00", "02:30"),  # CEST
    ("the second 02:30 of Berlin", BERLIN, "2026-10-25 01:30:00", "02:30"),  # CET: a new message waits for it as for the first
    ("the first 01:30 of New York", NEW_YORK, "2026-11-01 05:30:00", "01:30"),  # EDT
    ("the second 01:30 of New York", NEW_YORK, "2026-11-01 06:30:00", "01:30"),  # EST
    ("the missing hour of Berlin", BERLIN, "2027-03-28 01:00:00", "02:30"),  # 01:59:59 CET, then 03:00:00 CEST
]


def kinds():
    """calm-HHMM is quiet from the evening before until then, early-HHMM from then until the morning."""
    text = ""
    for at in sorted({m[3] for m in MOMENTS}):
        for name, window in ((f"calm-{at.replace(':', '')}", f'from: "21:45", to: "{at}"'), (f"early-{at.replace(':', '')}", f'from: "{at}", to: "07:15"')):
            text += (f'  {name}:\n    when: s1\n    once: "{name}/{{{{order.id}}}}"\n    delivery: at-least-once\n    send: [email]\n'
                     f"    quiet: {{ {window} }}\n    retry: {{ wait: [100ms], for: 2h }}\n")
    return text


class PutClock:
    """.cluster is a cluster whose clock can be put."""

    def __init__(self, t):
        self.file = os.path.join(scratch("pawl-time-"), "ahead")
        self.put("2026-03-01 00:00:00")
        os.chmod(os.path.dirname(self.file), 0o755)
        self.cluster = t.cluster(env={"LD_PRELOAD": os.path.join(build_dir(), "tests", "flow", "put_clock.so"), "PUT_CLOCK": self.file})

    def put(self, utc, before_s=0.0):
        """The clock shows a moment so long before that one; returns the real time at which it will show it."""
        moment = dt.datetime.fromisoformat(utc).replace(tzinfo=dt.timezone.utc).timestamp()
        ahead_s = int(moment - before_s - time.time())
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as f:
            f.write(struct.pack("q", ahead_s))
        return moment - ahead_s


def add(rows, kind, address, zone, wait_s=0.0):
    """Due so many seconds from now, in that zone."""
    nid = rows.add(kind, address, due=False, retry="2 hours")
    rows.cluster.query("UPDATE pawl.deliveries SET zone = %s WHERE notification_id = %s", (zone, nid))
    rows.cluster.query("INSERT INTO pawl.due VALUES (1, 11, now() + %s * interval '1 second', %s, 1, 0, 0, '')", (wait_s, nid))
    return nid


def left(at):
    return at - time.time()


@timeout(240)
def test_in_each_hour_that_is_missing_or_comes_twice_all_go_once_and_in_time(t):
    clock = PutClock(t)
    came = {}
    server = Mailbox(t, lambda what, address, _: what != "." or not came.setdefault(address, []).append(time.time()))
    w = t.pawl(clock.cluster, server, policy=POLICY + kinds())
    rows = Rows(w)
    for _ in range(2):
        w.dispatcher()
    moments = MOMENTS if t.long else MOMENTS[::2] + MOMENTS[5:]
    for n, (name, zone, moment, at) in enumerate(moments):
        then = clock.put(moment, BEFORE_S)
        check(clock.cluster.value("SELECT abs(extract(epoch FROM now() - (%s::timestamptz - %s * interval '1 second'))) < 3", (moment + "Z", left(then))),
              "PostgreSQL's clock was put")
        to = lambda what, n=n: f"{what}{n}@example.net"  # noqa: E731
        hour = at.replace(":", "")
        waits = [add(rows, "calm-" + hour, to(f"calm{i}"), zone) for i in range(5)]
        goes = add(rows, "early-" + hour, to("evening"), zone)
        elsewhere = add(rows, "calm-" + hour, to("elsewhere"), "Asia/Tokyo")
        stays = add(rows, "early-" + hour, to("morning"), zone, wait_s=left(then) + 1)
        plain = add(rows, "least", to("plain"), zone, wait_s=left(then))
        check(left(then) > 2, f"{name}: too slow, {left(then):.1f} s are left")
        for nid in (goes, elsewhere):
            ended(rows, nid, 2, left(then))
        for nid in waits:
            eq(rows.delivery(nid)[:2], (0, 0), f"{name}: it waits")
        for nid in waits + [plain]:
            ended(rows, nid, 2, left(then) + LATE_S + 5)
        for what in ["plain"] + [f"calm{i}" for i in range(5)]:
            [seen] = came[to(what)]
            check(-0.01 <= seen - then <= LATE_S, f"{name}: {what} came {seen - then:.2f} s after the moment")
        eventually(lambda: (rows.delivery(stays)[4] or "").startswith("quiet hours until 07:15"), 5, f"{name}: what is quiet from then on waits")  # pylint: disable=cell-var-from-loop
    eq({n for n in map(len, came.values())}, {1}, "each once")
    eq(len(came), 8 * len(moments))
    eq(sum(a.startswith("morning") for a in came), 0)
