"""dispatcher/send against real peers: the outcome table of docs/smtp.md row by row, TLS, sign-in, kept connections."""
import email
import email.policy
import json
import os
import subprocess
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from smtp_script import OFFERS, ScriptedPeer  # noqa: E402 pylint: disable=wrong-import-position

DRIVER = os.path.join(build_dir(), "tests", "flow", "send_driver")
RUN = {"op": "run", "ms": 0}


def mail(url, to="ann@example.org", **more):
    """A script line that sends one mail."""
    number = mail.number = getattr(mail, "number", 0) + 1
    return {"op": "send", "id": f"d{number}", "url": url, "plain": True, "from": "Shop <shop@example.net>", "to": to,
            "subject": "Your order", "text": "Hello\n", "message_id": f"{number:032x}@example.net",
            "date": "Sun, 29 Nov 2026 12:00:00 +0000", **more}


def drive(lines, transfers=8, connect_ms=2000, reply_ms=2000, final_ms=2000):
    """Runs the script; (results by id, the other lines)."""
    done = subprocess.run([DRIVER, *map(str, (transfers, connect_ms, reply_ms, final_ms))],
                          input="".join(json.dumps(line) + "\n" for line in lines), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=100, check=False)
    check(done.returncode == 0, f"send_driver ended with {done.returncode}:\n{done.stderr}")
    out = [json.loads(line) for line in done.stdout.splitlines()]
    return {r["id"]: r for r in out if "id" in r}, [r for r in out if "id" not in r]


def one(url, to="ann@example.org", options=None, **more):
    """The result of one mail."""
    results, _ = drive([mail(url, to, **more), RUN], **(options or {}))
    eq(len(results), 1)
    return next(iter(results.values()))


def verdict(result):
    return result["outcome"], result["level"], result["code"]


def peer(t, script):
    return t.keep(ScriptedPeer(script))


ROWS = [  # recipient, outcome, level, code, mails that the server took
    ("fine@example.org", "accepted", "message", 250, 1),
    ("rcpt550@example.org", "refused", "address", 550, 0),
    ("rcpt451@example.org", "retry", "address", 451, 0),
    ("rcpt421@example.org", "retry", "provider", 421, 0),
    ("data421@example.org", "retry", "provider", 421, 0),
    ("data554@example.org", "refused", "message", 554, 0),
    ("dropbeforedata@example.org", "retry", "provider", 250, 0),
    ("dropafterdot@example.org", "unknown", "message", 354, 1),
    ("dot452@example.org", "retry", "provider", 452, 0),
    ("dot421@example.org", "retry", "provider", 421, 0),
    ("dot451@example.org", "retry", "message", 451, 0),
    ("dot554@example.org", "refused", "message", 554, 0),
    ("silentafterdot@example.org", "unknown", "message", 354, 1),
]


def test_every_row_of_the_outcome_table_holds_against_a_real_server(t):
    sink = t.sink()
    for rcpt, outcome, level, code, taken in ROWS:
        result = one(sink.url, rcpt, options={"final_ms": 700})
        eq(verdict(result), (outcome, level, code), f"{rcpt}: {result['detail']}")
        eq(sink.count(rcpt), taken, f"mails to {rcpt}")


def test_all_rows_at_once_over_one_transport_end_the_same(t):
    sink = t.sink()
    lines = [mail(sink.url, rcpt) for _ in range(5) for rcpt, *_ in ROWS]
    results, _ = drive(lines + [RUN], transfers=4, final_ms=700)
    for line in lines:
        want = next(row for row in ROWS if row[0] == line["to"])
        eq(verdict(results[line["id"]]), want[1:4], line["to"])
    for rcpt, _, _, _, taken in ROWS:
        eq(sink.count(rcpt), 5 * taken, f"mails to {rcpt}")


def test_a_connection_lost_in_the_body_is_surely_not_sent(t):
    def script(c):
        c.greet()
        c.envelope()
        c.file.read(20000)
    p = peer(t, script)
    result = one(p.url, text="line of text\n" * 900_000)
    eq(verdict(result)[:2], ("retry", "provider"), result["detail"])
    eq(p.bodies(), [])


def test_a_connection_lost_when_all_was_handed_over_is_unknown(t):
    def script(c):
        c.greet()
        c.envelope()
        c.file.read(10)
    result = one(peer(t, script).url)
    eq(verdict(result), ("unknown", "message", 354), result["detail"])
    check("may have been taken" in result["detail"], result["detail"])


def test_a_refusal_in_the_middle_of_the_body_decides(t):
    def script(c):
        c.greet()
        c.envelope()
        c.file.read(1000)
        c.say(b"552 5.3.4 too big for us")
        c.hear()
    p = peer(t, script)
    result = one(p.url, text="line of text\n" * 900_000)
    eq(verdict(result), ("refused", "message", 552), result["detail"])
    eq(result["enhanced"], "5.3.4")


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


def test_replies_out_of_turn_are_not_taken_for_answers(t):
    def script(c):
        c.greet()
        c.hear()
        c.say(b"250 ok\r\n250 ok\r\n354 go on\r\n250 2.0.0 queued\r\n")
        c.hear()
    p = peer(t, script)
    result = one(p.url)
    eq(verdict(result)[:2], ("retry", "provider"), result["detail"])
    eq(p.bodies(), [])


def test_no_reply_in_time_is_retried_before_the_dot(t):
    def script(c):
        c.greet()
        c.hear()
        time.sleep(5)
    started = time.monotonic()
    result = one(peer(t, script).url, options={"reply_ms": 400})
    eq(verdict(result)[:2], ("retry", "provider"), result["detail"])
    check(time.monotonic() - started < 3, "took too long")


def test_a_peer_that_answers_just_in_time_for_ever_is_cut_off(t):
    def script(c):
        c.greet()
        c.hear()
        while True:
            c.say(b"250-more")
            time.sleep(0.3)
    started = time.monotonic()
    result = one(peer(t, script).url, options={"connect_ms": 500, "reply_ms": 400})
    eq(result["outcome"], "retry")
    check(time.monotonic() - started < 3, "took too long")


def test_a_cut_off_try_is_unknown_only_when_the_dot_was_sent(t):
    def script(c):
        c.greet()
        c.hear()
        if c.number == 0:
            time.sleep(5)
        c.say(b"250 ok")
        c.hear()
        c.say(b"250 ok")
        c.hear()
        c.say(b"354 go on")
        c.body()
        time.sleep(5)
    p = peer(t, script)
    early, late = mail(p.url), mail(p.url)
    results, _ = drive([early, {"op": "run", "ms": 300}, late, {"op": "run", "ms": 300}, {"op": "abort"}, RUN], final_ms=9000)
    eq([results[m["id"]]["outcome"] for m in (early, late)], ["retry", "unknown"])
    eq(results[early["id"]]["level"], "provider")


def test_nothing_listens_or_no_such_host_is_the_providers_fault(t):
    for url in (f"smtp://127.0.0.1:{free_ports()}", "smtps://no-such-host.invalid:25"):
        result = one(url, plain=url.startswith("smtp:"))
        eq(verdict(result), ("retry", "provider", 0), f"{url}: {result['detail']}")


def test_a_greeting_of_refusal_is_the_providers_fault(t):
    for greeting in (b"554 5.3.2 no service here", b"421 too busy"):
        result = one(peer(t, lambda c, g=greeting: (c.say(g), c.hear())).url)
        eq(verdict(result), ("retry", "provider", int(greeting[:3])), result["detail"])


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


def test_line_ends_in_addresses_and_headers_never_reach_the_peer(t):
    sink = t.sink()
    cases = [("to", "ok@example.org>\r\nRCPT TO:<evil@example.org", "address"), ("to", "ok@example.org\r\nBcc: evil@example.org", "address"),
             ("to", "Ann\r\nBcc: evil@example.org <ok@example.org>", "address"), ("from", "shop@example.net\nX: y", "message"),
             ("subject", "hi\r\nBcc: evil@example.org", "message"), ("message_id", "a@b>\r\nBcc: evil@example.org", "message"),
             ("date", "now\r\nBcc: evil@example.org", "message")]
    lines = [mail(sink.url, **{name: value}) for name, value, _ in cases]
    results, _ = drive(lines + [RUN])
    for line, (name, value, level) in zip(lines, cases):
        result = results[line["id"]]
        eq((result["started"], result["outcome"], result["level"]), (False, "refused", level), f"{name} {value!r}: {result['detail']}")
    eq(sink.records(), [])


def test_a_message_arrives_as_it_was_meant(t):
    sink = t.sink()
    text = ".dot\n..two\nGrüße 😀\n" + "long " * 500 + "\r\nmixed\rends \nlast"
    subject = "😀" * 40
    one(sink.url, "Änn Öther <ann@example.org>", subject=subject, text=text, html="<p>Größe &amp; 😀</p>")
    raw = sink.mails()[0]["raw"].encode("latin-1")
    message = email.message_from_bytes(raw, policy=email.policy.default)
    eq(message["Subject"], subject)
    eq(message["To"].addresses[0].display_name, "Änn Öther")
    eq(message["From"].addresses[0].addr_spec, "shop@example.net")
    parts = list(message.iter_parts())
    eq([p.get_content_type() for p in parts], ["text/plain", "text/html"])
    eq(parts[0].get_content().rstrip("\n").replace("\r\n", "\n"), text.replace("\r\n", "\n").replace("\r", "\n"))
    eq(parts[1].get_content().rstrip("\n"), "<p>Größe &amp; 😀</p>")
    check(all(b < 0x80 for b in raw), "a byte above 0x7f went out")
    check(all(len(line) <= 998 and b"\r" not in line and b"\n" not in line for line in raw.split(b"\r\n")), "line ends or lengths")
    check(all(len(line) <= 76 for line in raw.split(b"\r\n")), "a line over 76")


def test_the_same_content_gives_the_same_bytes(t):
    def script(c):
        c.greet()
        c.take(b"451 once more")
    p = peer(t, script)
    line = mail(p.url, html="<p>hi</p>")
    drive([line, RUN, line, RUN])
    eq(len(p.bodies()), 2)
    eq(p.bodies()[0], p.bodies()[1])


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


def test_the_name_in_ehlo_is_the_senders_domain(t):
    def script(c):
        c.greet()
        c.take()
    p = peer(t, script)
    one(p.url)
    eq(p.lines()[0][0], "EHLO example.net")


def test_postfix_counts_a_mail_whose_reply_was_lost_as_taken(t):
    sink = t.postfix_sink("-q", ".")
    result = one(sink.url)
    eq(verdict(result), ("unknown", "message", 354), result["detail"])
    eq(sink.count(), 1)
