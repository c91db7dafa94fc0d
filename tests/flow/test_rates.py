"""Rates hold over all dispatchers, by the peer's own log; so does the number of requests at once."""
import os
import sys
import threading
import time

from harness import *
from kit.deliveries import ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from route_rig import fine, install  # noqa: E402

SPREAD = 4  # that a busy machine brings together on their way


def most_in_a_second(requests):
    times = sorted(r["at"] for r in requests)
    return max(sum(start <= at < start + 1 for at in times[i:]) for i, start in enumerate(times))


def test_two_dispatchers_together_keep_a_channels_rate(t):
    w, (peer,), rows = install(t, [("resend", fine, "")], dispatchers=0, channel="rate: 20/s")
    nids = [rows.add(("most", "least")[n % 2], f"n{n}@example.net") for n in range(100)]
    for _ in range(2):
        w.dispatcher()
    for nid in nids:
        ended(rows, nid, 2, 30)
    times = sorted(r["at"] for r in peer.requests)
    eq(len(times), 100)
    burst = 2 + 2 * 2  # a tenth of a second's: saved up, and held by each dispatcher
    check(most_in_a_second(peer.requests) <= 20 + burst + SPREAD, f"{most_in_a_second(peer.requests)} in a second")
    took = times[-1] - times[0]
    check(4.2 <= took <= 7.5, f"100 took {took:.1f} s")
    check(len({claim for claim, in rows.cluster.query("SELECT worker FROM pawl.attempts")}) == 2, "both sent")
    # What nobody used in a quiet time is not made up for.
    time.sleep(2)
    late = [rows.add("most", f"late{n}@example.net") for n in range(30)]
    for nid in late:
        ended(rows, nid, 2, 15)
    check(most_in_a_second(peer.requests[100:]) <= 20 + burst + SPREAD, f"{most_in_a_second(peer.requests[100:])} in a second after a quiet time")


def test_a_slow_rate_lets_the_first_go_at_once(t):
    _, (peer,), rows = install(t, [("resend", fine, "")], channel="rate: 30/m")
    start = time.monotonic()
    nids = [rows.add("most", f"n{n}@example.net") for n in range(3)]
    for nid in nids:
        ended(rows, nid, 2, 15)
    times = [r["at"] - start for r in peer.requests]
    check(times[0] < 2 and 3 < times[2] < 6.5, f"{times}")


def test_a_providers_own_rate_holds_besides(t):
    _, (one, two), rows = install(t, [("resend", fine, "rate: 10/s, name: slow"), ("sendgrid", fine, "")], channel="rate: 500/s")
    nids = [rows.add("most", f"n{n}@example.net") for n in range(30)]
    for nid in nids:
        ended(rows, nid, 2, 15)
    eq((len(one.requests), len(two.requests)), (30, 0), "a full one leads to no other")
    check(most_in_a_second(one.requests) <= 10 + 2 + SPREAD, f"{most_in_a_second(one.requests)} in a second")
    eq(rows.cluster.query("SELECT scope FROM pawl.rates ORDER BY 1"), [("email",), ("email/slow",)])


def test_no_more_requests_at_once_than_a_provider_is_said_to_take(t):
    lock, at_once, most = threading.Lock(), [0], [0]

    def slow(c, _):
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.1)
        with lock:
            at_once[0] -= 1
        c.say()
    _, (peer,), rows = install(t, [("resend", slow, "concurrency: 3")])
    nids = [rows.add("least", f"n{n}@example.net") for n in range(20)]
    for nid in nids:
        ended(rows, nid, 2, 20)
    eq((len(peer.requests), most[0]), (20, 3))
