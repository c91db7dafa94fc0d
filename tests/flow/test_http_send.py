"""dispatcher/send over HTTP against a peer that misbehaves: docs/mail-api.md row by row. The peer's log is the oracle."""
import json
import os
import socket
import sys
import threading
import time

from harness import *
from kit.https import Authority, openssl, url64

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import OK, HttpPeer  # noqa: E402
from send_rig import RUN, drive, mail, verdict  # noqa: E402

RATE = b'{"statusCode":429,"name":"rate_limit_exceeded","message":"Too many requests"}'
UNKNOWN, ACCEPTED = ("unknown", "message", 0), ("accepted", "message", 200)
NOT_SENT = ("retry", "provider", 0)


def api(url, driver="resend", **more):
    return mail(url, driver=driver, password="s3cret", plain=False, **more)


def one(url, options=None, **more):
    results, _ = drive([api(url, **more), RUN], **(options or {}))
    eq(len(results), 1)
    return next(iter(results.values()))


def peer(t, script, tls=None):
    return t.keep(HttpPeer(script, tls))


def most(p):
    """How often the body that came most often came."""
    return max(p.bodies().values(), default=0)


def close_after(answer):
    """A peer that answers `answer` and closes."""
    def script(c, request):
        answer(c, request)
        c.cut()
    return script


def drop(c, _):
    c.cut()


def half_close(c, _):
    c.sock.shutdown(socket.SHUT_WR)
    time.sleep(0.3)
    c.cut()


def half_a_status(c, _):
    c.sock.sendall(b"HTTP/1.")
    c.cut()


def interim_only(c, _):
    c.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    c.cut()


def nonsense(c, _):
    c.sock.sendall(b"250 ok, this is no web server\r\n")
    c.cut()


def status_then_reset(c, _):
    c.say(200, b'{"id":"re', length=500)
    time.sleep(0.2)
    c.reset()


def late(c, _):
    time.sleep(2.5)
    c.say()


FAULTS = [  # what the peer does once it has the whole body; what the try is
    ("drop after the last byte", drop, UNKNOWN),
    ("half close", half_close, UNKNOWN),
    ("half a status line", half_a_status, UNKNOWN),
    ("only a 100", interim_only, UNKNOWN),
    ("no HTTP", nonsense, UNKNOWN),
    ("reset", lambda c, _: c.reset(), UNKNOWN),
    ("late reply", late, UNKNOWN),
    ("status, then reset", status_then_reset, ACCEPTED),
    ("fine", lambda c, _: c.say(), ACCEPTED),
    ("500 without the documented body", lambda c, _: c.say(500, b""), ("unknown", "message", 500)),
    ("502 of a proxy", lambda c, _: c.say(502, b"<html>"), ("unknown", "message", 502)),
    ("429", lambda c, _: c.say(429, RATE, "Retry-After: 7"), ("retry", "provider", 429)),
    ("redirect", lambda c, _: c.say(307, b"", f"Location: {c.peer.url}/elsewhere"), ("retry", "provider", 307)),
    ("redirect of a GET", lambda c, _: c.say(303, b"", f"Location: {c.peer.url}/elsewhere"), ("retry", "provider", 303)),
    ("asks who we are", lambda c, _: c.say(401, b"", "WWW-Authenticate: Basic realm=x"), ("retry", "provider", 401)),
    ("417", lambda c, _: c.say(417, b""), ("retry", "provider", 417)),
]


def test_every_fault_on_a_fresh_connection_ends_as_it_should(t):
    for name, script, want in FAULTS:
        p = peer(t, script)
        result = one(p.url, options={"reply_ms": 500, "connect_ms": 500})
        eq(verdict(result), want, f"{name}: {result['detail']}")
        eq(len(p.requests), 1, f"{name}: requests at the peer")


def test_every_fault_on_a_kept_connection_ends_the_same(t):
    """Here libcurl by itself would send the body again, on a fresh connection and in silence."""
    for name, script, want in FAULTS:
        def play(c, request, script=script):
            (script if request["n"] == 1 else lambda c, _: c.say())(c, request)
        p = peer(t, play)
        results, _ = drive([api(p.url), RUN, api(p.url), RUN, api(p.url), RUN], transfers=1, reply_ms=500, connect_ms=500)
        first, second, third = results.values()
        eq(verdict(first), ACCEPTED, name)
        eq(verdict(second), want, f"{name}: {second['detail']}")
        eq(verdict(third), ACCEPTED, f"{name}: the next one: {third['detail']}")
        eq([r["connection"] for r in p.requests[:2]], [0, 0], f"{name}: the connection was kept")
        eq((len(p.requests), most(p)), (3, 1), f"{name}: requests and copies at the peer")


def test_a_reply_that_came_twice_is_not_taken_for_the_next_ones_answer(t):
    def script(c, request):
        c.say(200, OK)
        if request["n"] == 0:
            time.sleep(0.2)
            c.say(200, b'{"id":"of nobody"}')
    p = peer(t, script)
    results, _ = drive([api(p.url), RUN, {"op": "run", "ms": 500}, api(p.url), RUN], transfers=1)
    eq([(r["outcome"], r["provider_id"]) for r in results.values()], [("accepted", "re_1")] * 2)
    eq([r["connection"] for r in p.requests], [0, 1], "the connection with the second reply is not used again")


def test_retry_after_is_told(t):
    p = peer(t, lambda c, _: c.say(429, RATE, "Retry-After: 7"))
    eq(one(p.url)["retry_after_ms"], 7000)


def test_a_kept_connection_that_the_peer_closed_is_replaced(t):
    p = peer(t, close_after(lambda c, _: c.say()))
    results, _ = drive([api(p.url), RUN, {"op": "run", "ms": 300}, api(p.url), RUN], transfers=1)
    eq([verdict(r) for r in results.values()], [ACCEPTED] * 2)
    eq(most(p), 1)


def test_connections_are_kept(t):
    p = peer(t, lambda c, _: c.say())
    drive([api(p.url) for _ in range(40)] + [RUN], transfers=2)
    eq(len(p.requests), 40)
    check(len(p.connections) <= 2, f"{len(p.connections)} connections")


def test_nobody_there_is_not_sent(t):
    del t
    eq(verdict(one(f"http://127.0.0.1:{free_ports()}")), NOT_SENT)


def test_a_drop_before_the_body_is_not_sent_and_one_inside_it_is_unknown(t):
    del t
    for name, took, want in (("greeting", 0, None), ("half of the body", 30000, UNKNOWN)):
        listener = socket.create_server(("127.0.0.1", 0))

        def serve(took=took, listener=listener):
            sock, _ = listener.accept()
            sock.recv(took) if took else None  # pylint: disable=expression-not-assigned
            sock.close()
        threading.Thread(target=serve, daemon=True).start()
        result = one(f"http://127.0.0.1:{listener.getsockname()[1]}", text="x" * 3_000_000)
        check(want is None or verdict(result) == want, f"{name}: {result}")
        check(result["outcome"] in ("retry", "unknown"), f"{name}: {result}")
        listener.close()


def test_shutdown_cuts_off_and_says_what_is_not_known(t):
    p = peer(t, lambda c, _: time.sleep(3))
    results, _ = drive([api(p.url), {"op": "run", "ms": 400}, {"op": "abort"}, RUN])
    eq([verdict(r) for r in results.values()], [UNKNOWN])
    eq(len(p.requests), 1)


def test_a_huge_reply_is_cut_and_its_status_counts(t):
    def script(c, _):
        try:
            c.say(200, b"x" * 5_000_000)
        except OSError:
            pass
    eq(verdict(one(peer(t, script).url)), ACCEPTED)


def test_tls_is_verified_by_ca_and_name(t):
    ca, other = Authority(), Authority("another CA")
    key = ca.key("peer")
    for names, file, want in ((["localhost"], ca.file, ACCEPTED), (["localhost"], other.file, NOT_SENT),
                              (["localhost"], None, NOT_SENT), (["elsewhere.example"], ca.file, NOT_SENT)):
        chain = os.path.join(ca.dir, "chain.pem")
        with open(chain, "w", encoding="ascii") as f:
            f.write(ca.certificate(key, names))
        p = peer(t, lambda c, _: c.say(), tls=(chain, key.path))
        result = one(p.url.replace("127.0.0.1", "localhost"), **({"ca": file} if file else {}))
        eq(verdict(result), want, f"{names} {file}: {result['detail']}")
        eq(len(p.requests), 1 if want == ACCEPTED else 0)


def test_private_addresses_are_refused_unless_allowed(t):
    del t
    for host in ("10.255.255.1", "169.254.169.254", "192.168.77.77", "[fe80::1]", "[fd00::1]", "0.0.0.0"):
        result = one(f"https://{host}:9", options={"connect_ms": 300})
        eq(verdict(result), NOT_SENT, host)
        check("not a public one" in result["detail"], f"{host}: {result['detail']}")
    result = one("https://10.255.255.1:9", private=True, options={"connect_ms": 300})
    eq(verdict(result), NOT_SENT)
    check("not a public one" not in result["detail"], result["detail"])


def test_a_kept_connection_takes_nobody_else_to_a_private_address(t):
    """A gateway inside is allowed to one provider; a browser's endpoint that names it must not go over that connection."""
    ca = Authority()
    key, vapid = ca.key("peer"), ca.key("vapid", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    chain = os.path.join(ca.dir, "chain.pem")
    with open(chain, "w", encoding="ascii") as f:
        f.write(ca.certificate(key, ["localhost"]))
    p = peer(t, lambda c, _: c.say(), tls=(chain, key.path))
    url = p.url.replace("127.0.0.1", "localhost")
    public = url64(openssl("pkey", "-in", vapid.path, "-pubout", "-outform", "DER")[-65:])
    with open(vapid.path, encoding="ascii") as f:
        pem = f.read()
    browser = json.dumps({"endpoint": url + "/admin", "keys": {"p256dh": public, "auth": url64(b"a" * 16)}})
    first = api(url, private=True, ca=ca.file)
    push = mail("", browser, driver="webpush", channel="push", password=pem, contact="mailto:ops@example.net", ca=ca.file)
    results, _ = drive([first, RUN, push, RUN])
    eq(verdict(results[first["id"]]), ACCEPTED)
    eq([r["path"] for r in p.requests], ["/emails"])
    eq(results[push["id"]]["outcome"], "refused")
    check("not a public one" in results[push["id"]]["detail"], results[push["id"]]["detail"])


def test_neither_proxy_nor_netrc_is_asked(t):
    home = scratch("pawl-home-")
    with open(os.path.join(home, ".netrc"), "w", encoding="ascii") as f:
        f.write("default login evil password evil\n")
    p = peer(t, lambda c, _: c.say())
    before = dict(os.environ)
    os.environ.update(HOME=home, http_proxy="http://127.0.0.1:1", HTTPS_PROXY="http://127.0.0.1:1", ALL_PROXY="http://127.0.0.1:1")
    try:
        eq(verdict(one(p.url)), ACCEPTED)
    finally:
        os.environ.clear()
        os.environ.update(before)
    eq(p.requests[0]["headers"]["authorization"], ["Bearer s3cret"])


def test_a_request_says_what_it_must_and_no_more(t):
    p = peer(t, lambda c, _: c.say(200, OK, "Set-Cookie: a=b"))
    drive([api(p.url, to="Zoë <zoë@exämple.org>"), api(p.url), RUN], transfers=1)
    drive([api(p.url, to="zoe@exämple.org"), RUN])
    for request in p.requests:
        eq((request["method"], request["path"]), ("POST", "/emails"))
        eq(sorted(request["headers"]), ["accept", "authorization", "content-length", "content-type", "host", "idempotency-key", "user-agent"])
        eq(len(request["key"]), 32)
    eq(p.requests[-1]["json"]["to"], ["zoe@xn--exmple-cua.org"])


def test_each_mail_driver_is_taken_by_its_own_reply(t):
    replies = {"resend": (200, b'{"id":"re_1"}'), "postmark": (200, b'{"ErrorCode":0,"Message":"OK","MessageID":"pm-1"}'), "sendgrid": (202, b"")}
    for driver, (status, body) in replies.items():
        p = peer(t, lambda c, _, status=status, body=body: c.say(status, body, "X-Message-Id: sg-1"))
        result = one(p.url, driver=driver)
        eq(verdict(result), ("accepted", "message", status), driver)
        eq(result["provider_id"], {"resend": "re_1", "postmark": "pm-1", "sendgrid": "sg-1"}[driver])


def test_each_sms_driver_is_taken_by_its_own_reply_and_a_drop_is_unknown(t):
    rows = {"twilio": (201, b'{"sid":"SM1","status":"queued"}', "SM1"), "sinch": (201, b'{"id":"si-1"}', "si-1"),
            "telnyx": (200, b'{"data":{"id":"te-1"}}', "te-1")}
    for driver, (status, body, wanted) in rows.items():
        p = peer(t, lambda c, r, status=status, body=body: c.say(status, body) if r["n"] == 0 else c.cut())
        sms = {"driver": driver, "channel": "sms", "account": "A1", "from": "+15005550006", "to": "+4915112345678"}
        results, _ = drive([api(p.url, **sms), RUN, api(p.url, **sms), RUN, api(p.url, **{**sms, "to": "0151"}), RUN], transfers=1)
        taken, cut, bad = results.values()
        eq((taken["outcome"], taken["provider_id"]), ("accepted", wanted), f"{driver}: {taken}")
        eq(verdict(cut), UNKNOWN, driver)
        eq((bad["outcome"], bad["level"], bad["started"]), ("refused", "address", False), driver)
        eq(len(p.requests), 2, driver)


def test_a_probe_sends_nothing(t):
    p = peer(t, lambda c, _: c.say(404, b""))
    eq(one(p.url, probe=True)["outcome"], "accepted")
    eq([(r["method"], r["body"]) for r in p.requests], [("GET", b"")])
    p = peer(t, lambda c, _: c.say(401, b""))
    eq(one(p.url, probe=True)["outcome"], "retry")


def test_mail_by_both_ways_shares_the_slots(t):
    p = peer(t, lambda c, _: c.say())
    sink = t.sink()
    lines = [mail(sink.url) if i % 2 else api(p.url) for i in range(60)]
    results, _ = drive(lines + [RUN], transfers=4)
    eq({r["outcome"] for r in results.values()}, {"accepted"})
    eq((len(results), len(p.requests), most(p)), (60, 30, 1))
    check(len(p.connections) <= 4, f"{len(p.connections)} connections")


def test_a_thousand_with_a_fault_in_one_of_five(t):
    """No body comes twice that the outcome does not tell, and what is told as accepted is there."""
    faults = [f for f in FAULTS if f[0] not in ("late reply", "half close")]

    def script(c, request):
        n = request["n"]
        (faults[n // 5 % len(faults)][1] if n % 5 == 4 else lambda c, _: c.say())(c, request)
    p = peer(t, script)
    results, _ = drive([api(p.url) for _ in range(1000)] + [RUN], transfers=16)
    eq(len(results), 1000)
    eq(most(p), 1, "a try put its body on the wire twice")
    eq(len(p.requests), 1000)
    accepted = sum(r["outcome"] == "accepted" for r in results.values())
    check(accepted >= 800, f"{accepted} accepted")

