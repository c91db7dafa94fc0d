"""dispatcher/send against real peers: the outcome table of docs/smtp.md row by row, and what arrives."""
import email
import email.policy
import os
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from send_rig import RUN, drive, mail, one, peer, verdict  # noqa: E402


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


def test_postfix_counts_a_mail_whose_reply_was_lost_as_taken(t):
    sink = t.postfix_sink("-q", ".")
    result = one(sink.url)
    eq(verdict(result), ("unknown", "message", 354), result["detail"])
    eq(sink.count(), 1)
