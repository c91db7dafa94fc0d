"""dispatcher/send to Apple's and Google's push services: nginx in their place, and HTTP/2 frames that go wrong. The peer's log is the oracle."""
import os
import sys
import threading

from harness import *
from kit.https import Authority

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from push_peers import PROTOCOL_ERROR, REFUSED_STREAM, Http2Peer, Nginx  # noqa: E402
from send_rig import RUN, drive, verdict  # noqa: E402

UNKNOWN, ACCEPTED, NOT_SENT = ("unknown", "message", 0), ("accepted", "message", 200), ("retry", "provider", 0)


def push(url, ca, token="ab" * 16, driver="apns", **more):
    number = push.number = getattr(push, "number", 0) + 1
    return {"op": "send", "channel": "push", "id": f"p{number}", "driver": driver, "url": url, "ca": ca, "to": token, "subject": "Shipped",
            "text": "It is on its way", "bearer": "a.b.c", "topic": "net.example.shop", "project": "shop", **more}


def one(url, ca, options=None, **more):
    results, _ = drive([push(url, ca, **more), RUN], **(options or {}))
    return next(iter(results.values()))


def test_apns_answers_by_reason(t):
    n = t.keep(Nginx(t))
    eq(verdict(one(n.apns, n.ca)), ACCEPTED)
    for token, want in {"dead" * 8: ("refused", "address", 410), "bad0" * 8: ("refused", "address", 400), "b054" * 8: ("retry", "address", 429),
                        "d000" * 8: ("retry", "provider", 503), "a000" * 8: ("retry", "provider", 403)}.items():
        eq(verdict(one(n.apns, n.ca, token=token)), want, token)
    eq(one(n.apns, n.ca, token="d000" * 8)["retry_after_ms"], 7000)
    row = n.hits(uri="/3/device/" + "ab" * 16)[0]
    eq((row["proto"], row["auth"], row["topic"], len(row["id"])), ("HTTP/2.0", "Bearer a.b.c", "net.example.shop", 36))


def test_where_apns_drops_the_stream_nothing_is_said_twice(t):
    """nginx may do so before it has the body, which is definite, or after it."""
    n = t.keep(Nginx(t))
    results, _ = drive([push(n.apns, n.ca, token="c000" * 8) for _ in range(20)] + [RUN])
    check({verdict(r) for r in results.values()} <= {UNKNOWN, NOT_SENT}, f"{results}")
    eq(len(n.hits()), 20)


def test_many_go_over_few_connections_and_survive_goaway(t):
    n = t.keep(Nginx(t, requests=20, streams=8))
    results, _ = drive([push(n.apns, n.ca, token=f"{i:032x}") for i in range(100)] + [RUN], transfers=16)
    eq({verdict(r) for r in results.values()}, {ACCEPTED})
    eq(len(n.hits()), 100)
    eq(len({row["uri"] for row in n.hits()}), 100, "each came once")
    connections = len({row["conn"] for row in n.hits()})
    check(5 <= connections <= 12, f"{connections} connections for 100 requests of 20 a connection")


def test_fcm_answers_by_error_code(t):
    n = t.keep(Nginx(t))
    fcm = dict(driver="fcm", token="reg:token-1")
    eq(verdict(one(n.fcm, n.ca, **fcm)), ACCEPTED)
    for project, want in {"dead": ("refused", "address", 404), "old": ("retry", "provider", 401), "busy": ("retry", "provider", 429),
                          "down": ("retry", "provider", 503), "cut": UNKNOWN}.items():
        eq(verdict(one(n.fcm, n.ca, **{**fcm, "project": project})), want, project)
    eq(one(n.fcm, n.ca, **{**fcm, "project": "busy"})["retry_after_ms"], 90000)
    eq({row["auth"] for row in n.hits()}, {"Bearer a.b.c"})


def frames(t, script, streams=100):
    authority = t.authority = Authority()
    key = authority.key("h2")
    chain = key.path + ".pem"
    with open(chain, "w", encoding="ascii") as f:
        f.write(authority.certificate(key, ["localhost"]))
    return t.keep(Http2Peer(chain, key.path, script, streams)), authority.file


def refusing(times):
    left = [times]

    def script(c, stream, _):
        left[0] -= 1
        if left[0] >= 0:
            c.reset(stream, REFUSED_STREAM)
        else:
            c.say(stream)
    return script


def test_a_refused_stream_was_not_taken_and_goes_again(t):
    """RFC 9113 8.7: nothing of it was done, whatever libcurl makes of a body that it can't rewind."""
    p, ca = frames(t, refusing(1))
    eq(verdict(one(p.url, ca)), ACCEPTED)
    eq(len(p.bodies), 2)


def test_a_refusal_on_a_kept_connection_makes_no_later_request_look_refused(t):
    """libcurl remembers such a refusal without a word, and says it when a later request of the same handle dies."""
    def script(c, stream, n):
        if n == 1:
            c.reset(stream, REFUSED_STREAM)
        elif n == 2:
            c.break_off()  # it was taken
        else:
            c.say(stream)
    p, ca = frames(t, script)
    results, _ = drive([push(p.url, ca), RUN, push(p.url, ca), RUN, push(p.url, ca), RUN, push(p.url, ca), RUN], transfers=1)
    eq([verdict(r) for r in results.values()], [ACCEPTED, UNKNOWN, UNKNOWN, ACCEPTED])
    eq(list(p.keys().values()), [1] * 4, "each came once")


def test_a_stream_that_is_refused_each_time_is_known_to_be_not_sent(t):
    p, ca = frames(t, refusing(1000))
    eq(verdict(one(p.url, ca)), NOT_SENT)
    eq(len(p.bodies), 6, "the first and five more")


def test_a_reset_stream_is_unknown_and_nothing_is_said_twice(t):
    p, ca = frames(t, lambda c, stream, n: c.reset(stream, PROTOCOL_ERROR))
    eq(verdict(one(p.url, ca)), UNKNOWN)
    eq(list(p.keys().values()), [1])


def test_a_connection_cut_with_many_streams_open_leaves_each_unknown_once(t):
    def script(c, stream, n):
        if n == 0:
            c.say(stream)
        elif n == 6:
            c.cut()
    p, ca = frames(t, script)
    results, _ = drive([push(p.url, ca) for _ in range(7)] + [RUN])
    eq(sorted(verdict(r) for r in results.values()), [ACCEPTED] + [UNKNOWN] * 6)
    eq(set(p.keys().values()), {1})


def test_streams_above_a_goaways_last_were_not_taken_and_go_again(t):
    """RFC 9113 6.8: what is above the last stream id was not processed; what is not may have been."""
    def script(c, stream, n):
        if n == 4:
            c.goaway(5)
            c.say(3)
            c.finish()
        elif n == 0 or n > 4:
            c.say(stream)
    p, ca = frames(t, script)
    results, _ = drive([push(p.url, ca) for _ in range(5)] + [RUN])
    eq(sorted(verdict(r) for r in results.values()), [ACCEPTED] * 4 + [UNKNOWN])
    eq(sorted(p.keys().values()), [1, 1, 1, 2, 2])


def test_no_more_streams_are_open_than_the_peer_allows(t):
    def script(c, stream, _):
        threading.Timer(0.05, c.say, (stream,)).start()
    p, ca = frames(t, script, streams=2)
    results, _ = drive([push(p.url, ca) for _ in range(8)] + [RUN])
    eq({verdict(r) for r in results.values()}, {ACCEPTED})
    eq(p.most_open, 2, "streams of a connection")
    eq(set(p.keys().values()), {1})
