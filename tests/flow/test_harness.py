"""The harness itself, without pawl: a peer that lies would make every other test worthless."""
import os
import smtplib
import socketserver
import sys
import threading
import time

from harness import *


def send(sink, rcpt, **how):
    """The reply code of one mail to rcpt: 0 = the connection was lost."""
    with smtplib.SMTP("127.0.0.1", sink.port, timeout=5, local_hostname="test") as client:
        return deliver(client, rcpt, **how)


def deliver(client, rcpt, sender="shop@example.net"):
    try:
        client.sendmail(sender, [rcpt], f"Message-ID: <1@test>\r\nSubject: hello\r\n\r\nto {rcpt}\r\n" + ("x" * 70 + "\r\n") * 3000)
        return 250
    except smtplib.SMTPRecipientsRefused as e:
        return e.recipients[rcpt][0]
    except smtplib.SMTPResponseException as e:
        return 0 if e.smtp_code == -1 else e.smtp_code
    except (smtplib.SMTPServerDisconnected, OSError):
        return 0


def test_the_cluster_keeps_what_was_committed_through_kill_9(t):
    c = t.cluster()
    c.query("CREATE TABLE kept(n int)")
    c.query("INSERT INTO kept SELECT * FROM generate_series(1, 100)")
    c.kill9()
    c.start()
    eq(c.value("SELECT count(*) FROM kept"), 100)
    eq(c.value("SHOW fsync"), "on")


def test_the_cluster_tells_of_a_deadlock(t):
    c = t.cluster()
    c.query("CREATE TABLE two(id int PRIMARY KEY, n int); INSERT INTO two VALUES (1, 0), (2, 0)")
    a, b = c.connect(autocommit=False), c.connect(autocommit=False)
    a.cursor().execute("UPDATE two SET n = 1 WHERE id = 1")
    b.cursor().execute("UPDATE two SET n = 1 WHERE id = 2")

    def cross(conn, row):
        try:
            conn.cursor().execute("UPDATE two SET n = 2 WHERE id = %s", (row,))
        except Exception:
            conn.rollback()
    other = threading.Thread(target=cross, args=(a, 2))
    other.start()
    cross(b, 1)
    other.join(10)
    eventually(lambda: c.deadlocks() == 1, 3, "the log tells of one deadlock")


def test_a_frozen_cluster_answers_again_when_thawed(t):
    c = t.cluster()
    c.freeze()
    answers = []
    asking = threading.Thread(target=lambda: answers.append(c.value("SELECT 1")))
    asking.start()
    time.sleep(0.3)
    eq(answers, [])
    c.thaw()
    asking.join(5)
    eq(answers, [1])


def test_settings_change_without_a_restart(t):
    c = t.cluster(options={"deadlock_timeout": "1s"})
    c.set(deadlock_timeout="3s")
    eventually(lambda: c.connect().cursor().connection.info.status == 0 and c.value("SHOW deadlock_timeout") == "3s", 3)


def test_the_sink_behaves_as_the_recipient_says(t):
    sink = t.sink()
    cases = [  # recipient, reply, taken?
        ("ann@example.net", 250, True), ("rcpt550@example.net", 550, False), ("rcpt451@example.net", 451, False),
        ("data421@example.net", 421, False), ("data554@example.net", 554, False), ("dot452@example.net", 452, False),
        ("dot554@example.net", 554, False), ("dropafterdot@example.net", 0, True), ("dropinbody@example.net", 0, False),
        ("dropbeforedata@example.net", 0, False)]
    for rcpt, reply, taken in cases:
        eq(send(sink, rcpt), reply, rcpt)
        eq(sink.count(rcpt), int(taken), rcpt)
    mail = sink.mails("ann@example.net")[0]
    eq((mail["message_id"], mail["subject"], mail["end"]), ("<1@test>", "hello", "accepted"))


def test_a_once_only_behaviour_ends(t):
    sink = t.sink()
    eq([send(sink, "dropafterdot-1+a@x.net") for _ in range(3)], [0, 250, 250])
    eq([send(sink, "rcpt451-2+a@x.net") for _ in range(3)], [451, 451, 250])
    eq([send(sink, "dot452-1@x.net") for _ in range(2)], [452, 250])
    eq(sink.by_rcpt(), {"dropafterdot-1+a@x.net": 3, "rcpt451-2+a@x.net": 1, "dot452-1@x.net": 1})


def test_the_sink_speaks_tls_and_asks_for_a_password(t):
    sink = t.sink(tls="starttls", auth="user:word")
    with smtplib.SMTP("127.0.0.1", sink.port, timeout=5) as client:
        eq(deliver(client, "a@x.net") in (530, 0), True, "without TLS")
    with smtplib.SMTP("127.0.0.1", sink.port, timeout=5) as client:
        client.starttls()
        client.login("user", "word")
        eq(deliver(client, "a@x.net"), 250)
    implicit = t.sink(tls="implicit")
    with smtplib.SMTP_SSL("127.0.0.1", implicit.port, timeout=5) as client:
        eq(deliver(client, "b@x.net"), 250)
    eq([m["tls"] for m in sink.mails() + implicit.mails()], [True, True])


def test_the_foreign_sink_counts_mails(t):
    sink = t.postfix_sink()
    eq([send(sink, "a@x.net"), send(sink, "b@x.net"), send(sink, "a@x.net")], [250, 250, 250])
    eventually(lambda: sink.by_rcpt() == {"a@x.net": 2, "b@x.net": 1}, 3)


class Echo(socketserver.StreamRequestHandler):
    """Answers every second request with 503, on a connection that stays open."""
    seen = 0

    def handle(self):
        while True:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = self.rfile.readline()
                if not line:
                    return
                head += line
            size = int(next(l.split(b":")[1] for l in head.split(b"\r\n") if l.lower().startswith(b"content-length")))
            body = self.rfile.read(size)
            Echo.seen += 1
            status = b"503 No" if Echo.seen % 2 else b"200 OK"
            self.wfile.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def test_the_poster_repeats_until_acknowledged(t):
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = allow_reuse_address = True
        request_queue_size = 128
    with Server(("127.0.0.1", 0), Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        requests = [app_request("s", f"k{i}", "step.s1", str(i)) for i in range(300)]
        once = post_all(requests, [port], connections=20)
        eq({a.status for a in once}, {200, 503})
        again = post_all(requests, [port], connections=20, again=True)
        eq({a.status for a in again}, {200})
        eq([a.request.tag for a in again], [r.tag for r in requests])
        eq(again[5].body, requests[5].body)
        raw = RawSocket(port)
        eq(raw.send(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi").status() in (200, 503), True)
        raw.close()
        server.shutdown()


def test_signatures_are_those_of_the_providers(t):
    # A vector made with Stripe's own library: see ../shared/cases/signatures.jsonl.
    import base64
    import json
    with open(t.need_shared("cases/signatures.jsonl"), encoding="utf-8") as f:
        case = json.loads(f.readline())
    want = dict(case["headers"])["Stripe-Signature"]
    at = int(want.split(",")[0][2:])
    secrets = [case[k] for k in case if "secret" in k]
    names = secrets[0] if isinstance(secrets[0], list) else secrets
    got = [stripe_sign(s if isinstance(s, str) else s["secret"], base64.b64decode(case["body"]), at)["Stripe-Signature"] for s in names]
    check(want in got, f"want {want}, got {got}")


IN_HALVES = """import sys
with open(sys.argv[1], "ab", buffering=0) as f:
    for _ in range(300_000):
        f.write(b"x" * 10)
        f.write(b"x" * 10 + b"\\n")
"""


def test_a_record_that_is_being_written_is_not_taken_for_two(_t):
    path = os.path.join(scratch("pawl-lines-"), "records")
    writer, seen = Proc("halves", [sys.executable, "-c", IN_HALVES, path]), 0
    while writer.alive():
        lines = whole_lines(path) if os.path.exists(path) else []
        eq(set(map(len, lines)) - {20}, set())
        seen += 0 < len(lines) < 300_000
    check(seen > 0, "it was read while it was written")


def test_metrics_are_read(t):
    series = parse_metrics('# HELP a b\na_total{x="1",y="a\\"b"} 3\na_total{x="2"} 4.5\nb 1e3 1700000000\n')
    eq(series["a_total", (("x", "1"), ("y", 'a\\"b'))], 3.0)
    eq(series["b", ()], 1000.0)


def test_everything_ends_with_the_test(t):
    from kit import procs
    mark = procs.marks()
    inner = Cluster()
    pids = inner.proc.tree()
    check(len(pids) > 3, "PostgreSQL has children")
    procs.end_since(mark)
    eventually(lambda: not any(os.path.exists(f"/proc/{p}/exe") for p in pids), 5, "all of its processes are gone")
    check(not os.path.exists(inner.dir), "its folder is gone")
