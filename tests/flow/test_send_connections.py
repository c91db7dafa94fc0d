"""dispatcher/send and its connections: kept ones, TLS, sign-in, names, and that nobody waits for another."""
import os
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from send_rig import RUN, drive, mail, one, peer, verdict  # noqa: E402
from smtp_script import OFFERS  # noqa: E402


def test_a_slow_reply_to_the_final_dot_holds_up_nobody(t):
    def script(c):
        c.greet()
        c.take(reply=None)
        if "slow@" in "".join(c.lines):
            time.sleep(1.5)
        c.say(b"250 ok")
        c.hear()
    p = peer(t, script)
    slow, quick = mail(p.url, "slow@example.org"), [mail(p.url) for _ in range(6)]
    results, other = drive([slow, *quick, RUN, {"op": "extra"}], transfers=8)
    eq({r["outcome"] for r in results.values()}, {"accepted"})
    check(max(results[m["id"]]["wire_ms"] for m in quick) < 1000, f"others waited: {results}")
    check(other[0]["longest_poll_ms"] < 500, f"one poll of 50 ms took {other[0]['longest_poll_ms']} ms")
    eq(other[1], {"extra_readable": True})


def test_a_kept_connection_carries_many_mails_one_recipient_each(t):
    def script(c):
        c.greet()
        while True:
            c.take()
    p = peer(t, script)
    results, _ = drive([mail(p.url, f"u{i}@example.org") for i in range(20)] + [RUN], transfers=1)
    eq({r["outcome"] for r in results.values()}, {"accepted"})
    eq({r["provider_id"] for r in results.values()}, {"Q1"})
    eq(len(p.connections), 1)
    eq(len(p.bodies()), 20)
    eq(len([line for line in p.lines()[0] if line.startswith("RCPT")]), 20)
    eq(p.lines()[0][-1], "QUIT")


def test_a_refused_recipient_leaves_the_connection_usable(t):
    sink = t.sink()
    lines = [mail(sink.url, rcpt) for rcpt in ("rcpt550@example.org", "a@example.org", "dot554@example.org", "b@example.org")]
    results, _ = drive([lines[0], RUN, lines[1], RUN, lines[2], RUN, lines[3], RUN], transfers=1)
    eq([results[m["id"]]["outcome"] for m in lines], ["refused", "accepted", "refused", "accepted"])
    eq(len({m["peer"] for m in sink.mails()}), 1, "connections used")


def test_a_kept_connection_that_was_closed_meanwhile_is_replaced(t):
    def script(c):
        c.greet()
        c.take()
        if c.number == 1:
            c.hear()
    p = peer(t, script)
    first, second = mail(p.url), mail(p.url)
    results, _ = drive([first, RUN, {"op": "run", "ms": 200}, second, RUN], transfers=1)
    eq([results[m["id"]]["outcome"] for m in (first, second)], ["accepted", "accepted"])
    eq(len(p.bodies()), 2)


def test_a_kept_connection_that_dies_at_mail_from_is_replaced_once(t):
    def script(c):
        c.greet()
        c.take()
        c.hear()
        if c.number == 1:
            c.say(b"421 4.7.0 enough for this connection")
    p = peer(t, script)
    mails = [mail(p.url) for _ in range(3)]
    results, _ = drive([line for m in mails for line in (m, RUN)], transfers=1)
    eq([results[m["id"]]["outcome"] for m in mails], ["accepted"] * 3)
    eq(len(p.connections), 3)
    eq(len(p.bodies()), 3)


def test_a_message_is_never_said_twice_in_one_try(t):
    """The case in which libcurl, left to itself, sends a POST again: the kept connection takes all and closes."""
    def script(c):
        c.greet()
        c.take()
        c.take(reply=None)
    p = peer(t, script)
    first, second = mail(p.url), mail(p.url)
    results, _ = drive([first, RUN, second, RUN], transfers=1)
    eq([results[m["id"]]["outcome"] for m in (first, second)], ["accepted", "unknown"])
    eq(len(p.bodies()), 2)
    eq(len(p.connections), 1)


def test_what_breaks_after_the_250_takes_nothing_back(t):
    def script(c):
        c.greet()
        c.take(b"250 ok\r\n")
    p = peer(t, script)
    eq(one(p.url)["outcome"], "accepted")


def test_plain_text_goes_to_loopback_alone(t):
    for url in ("smtp://192.0.2.1:25", "smtp://mail.example.net", "smtp://127.0.0.1.example.net:25", "smtp://[2001:db8::1]:25"):
        result = one(url)
        eq((result["started"], *verdict(result)), (False, "retry", "provider", 0), f"{url}: {result['detail']}")


def test_starttls_that_is_not_offered_ends_the_try_before_any_mail(t):
    def script(c):
        c.greet()
        c.take()
    p = peer(t, script)
    for more in ({"plain": False, "starttls": True}, {"plain": False}):
        result = one(p.url, **more)
        eq(verdict(result)[:2], ("retry", "provider"), result["detail"])
    check(all("MAIL" not in line for lines in p.lines() for line in lines), f"mail went out in plain: {p.lines()}")


def test_mail_goes_over_starttls_and_implicit_tls_with_sign_in(t):
    for tls in ("starttls", "implicit"):
        sink = t.sink(tls=tls, auth="shop:s3cret")
        more = {"plain": False, "starttls": tls == "starttls", "user": "shop"}
        good = one(sink.url, ca=sink.cert, password="s3cret", **more)
        eq(verdict(good), ("accepted", "message", 250), good["detail"])
        eq([(m["tls"], m["auth"]) for m in sink.mails()], [(True, "shop")])
        bad = one(sink.url, ca=sink.cert, password="wrong", **more)
        eq(verdict(bad), ("retry", "provider", 535), bad["detail"])
        untrusted = one(sink.url, password="s3cret", **more)
        eq(verdict(untrusted)[:2], ("retry", "provider"), untrusted["detail"])
        check("TLS" in untrusted["detail"], untrusted["detail"])
        eq(sink.count(), 1)


def test_a_certificate_for_another_name_is_not_trusted(t):
    sink = t.sink(tls="implicit")
    for host, outcome in (("localhost", "accepted"), ("other.localhost", "retry")):
        result = one(f"smtps://{host}:{sink.port}", plain=False, ca=sink.cert)
        eq(result["outcome"], outcome, result["detail"])
    check("TLS" in result["detail"], result["detail"])
    eq(result["level"], "provider")
    eq(sink.count(), 1)


def test_many_transfers_over_tls_get_through(t):
    sink = t.sink(tls="starttls")
    lines = [mail(sink.url, f"u{i}@example.org", plain=False, starttls=True, ca=sink.cert, text="line of text\n" * 3000) for i in range(60)]
    results, _ = drive(lines + [RUN], transfers=8)
    eq({r["outcome"] for r in results.values()}, {"accepted"})
    eq(set(sink.by_rcpt().values()), {1})


def test_names_outside_ascii_use_idna_and_smtputf8(t):
    def script(c):
        c.greet(OFFERS if c.number < 2 else b"250 script.test\r\n")
        c.take()
    p = peer(t, script)
    eq(one(p.url, "ann@bücher.example")["outcome"], "accepted")
    eq(p.lines()[0][1:3], [f"MAIL FROM:<shop@example.net> SIZE={len(p.bodies()[0])}", "RCPT TO:<ann@xn--bcher-kva.example>"])
    eq(one(p.url, "jürgen@bücher.example")["outcome"], "accepted")
    check(p.lines()[1][1].endswith(" SMTPUTF8"), p.lines()[1])
    refused = one(p.url, "jürgen@bücher.example")
    eq(verdict(refused)[:2], ("refused", "address"), refused["detail"])
    eq(len(p.bodies()), 2)


def test_domains_go_out_in_their_idna_form(t):
    def script(c):
        c.greet(b"250 script.test\r\n")
        c.take()
    p = peer(t, script)
    rows = {"ann@BÜCHER.Example": "ann@xn--bcher-kva.example", "ann@straße.example": "ann@xn--strae-oqa.example",
            "ann@例え.テスト": "ann@xn--r8jz45g.xn--zckzah", "ann@xn--bcher-kva.example": "ann@xn--bcher-kva.example",
            "ann@bu\u0308cher.example": "ann@xn--bcher-kva.example"}
    for to, want in rows.items():
        eq(one(p.url, to)["outcome"], "accepted", to)
        eq(p.lines()[-1][2], f"RCPT TO:<{want}>", to)
    for to in ("ann@bü cher.example", "ann@ü..example", "ann@" + "ü" * 64 + ".example", "ann@ü%0d.example",
               "ann@\u202eü.example"):
        eq(verdict(one(p.url, to))[:2], ("refused", "address"), to)
    eq(len(p.bodies()), len(rows))


def test_a_sender_that_the_server_cannot_take_is_not_the_recipients_fault(t):
    def script(c):
        c.greet(b"250 script.test\r\n")
        c.take()
    p = peer(t, script)
    result = one(p.url, **{"from": "läden@example.net"})
    eq(verdict(result)[:2], ("retry", "provider"), result["detail"])
    check("non-ASCII sender" in result["detail"], result["detail"])
    eq(one(p.url, **{"from": "Läden <shop@bücher.example>"})["outcome"], "accepted")


def test_the_name_in_ehlo_is_the_senders_domain(t):
    def script(c):
        c.greet()
        c.take()
    p = peer(t, script)
    one(p.url)
    eq(p.lines()[0][0], "EHLO example.net")
