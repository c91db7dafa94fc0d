"""The receiver's answers to what HTTP clients may send, the broken and the hostile ones too (design.md section 7)."""
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from harness import *
from kit.procs import Proc

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from ledger import Barrier, retire  # noqa: E402 pylint: disable=wrong-import-position

HOST = b"Host: a\r\n"


def signed(body, **more):
    return Request("/hooks/stripe", {**stripe_sign(secret("stripe"), body), **more}, body)


def app(key, body):
    return Request("/hooks/shop", app_auth(secret("shop"), key), body)


def good(n):
    return stripe_request(secret("stripe"), f"evt-{n}", "step.s1", f"o-{n}")


def world(t, **options):
    """One receiver; what leaves is not looked at here."""
    return t.world(receivers=1, dispatchers=0, **options)


def raw(w, data, **how):
    """The status of the answer to these bytes and whether the connection was closed."""
    sock = RawSocket(w.ports()[0])
    sock.send(data)
    got = sock.read(until_close=True, timeout=how.get("timeout", 3))
    sock.close()
    return int(got.split(b" ")[1]) if got.startswith(b"HTTP/1.1 ") else 0, got


def still_works(w, n):
    eq(w.post(good(n)).status, 200)


def test_malformed_http_gets_400_and_the_connection_is_closed(t):
    w = world(t)
    post = b"POST /hooks/stripe HTTP/1.1\r\n"
    cases = {
        "length and coding": post + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "coding and length": post + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "two lengths": post + HOST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "the same length twice": post + HOST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "two hosts": post + HOST + HOST + b"Content-Length: 2\r\n\r\n{}",
        "no host": post + b"Content-Length: 2\r\n\r\n{}",
        "folded line": post + HOST + b"X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}",
        "bare line ends": post.replace(b"\r", b"") + b"Host: a\nContent-Length: 2\n\n{}",
        "blank before the colon": post + HOST + b"Content-Length : 2\r\n\r\n{}",
        "coding twice": post + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "unknown coding": post + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "length with a sign": post + HOST + b"Content-Length: +2\r\n\r\n{}",
        "NUL in the head": post + HOST + b"X-A: a\0b\r\nContent-Length: 2\r\n\r\n{}",
        "101 headers": post + HOST + b"".join(b"X-%d: a\r\n" % i for i in range(101)) + b"\r\n",
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    }
    for name, data in cases.items():
        status, got = raw(w, data)
        check(status == 400, f"{name}: {got!r}")
        check(b"onnection: close" in got, f"{name}: {got!r}")
    still_works(w, 1)
    eq(w.cluster.value("SELECT count(*) FROM pawl.bodies"), 1)


def test_a_smuggled_second_request_is_never_read(t):
    w = world(t)
    inner = stripe_request(secret("stripe"), "evt-hidden", "step.s1", "o-hidden")
    lines = b"".join(b"%s: %s\r\n" % (k.encode(), v.encode()) for k, v in inner.headers.items())
    hidden = b"POST /hooks/stripe HTTP/1.1\r\n" + HOST + lines + b"Content-Length: %d\r\n\r\n" % len(inner.body) + inner.body
    outer = (b"POST /hooks/stripe HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n" % (
        len(hidden) + 5) + hidden)
    status, got = raw(w, outer)
    eq((status, got.count(b"HTTP/1.1 ")), (400, 1))
    eq(w.cluster.value("SELECT count(*) FROM pawl.bodies"), 0)


def test_route_method_and_size(t):
    def edit(text):
        return text.replace("    secrets: [credential:erp]", "    secrets: [credential:erp]\n    body_max: 1KiB")
    w = world(t, edit=edit, host={"receiver": {"body_max": "64KiB"}})
    big = erp_request(secret("erp"), "e-1", "step.s1", "o-1", note="x" * 2000)
    cases = [
        (Request("/hooks/nobody", {}, b"{}"), 404, "unknown_source"),
        (Request("/hooks/stripe/", {}, b"{}"), 404, "unknown_source"),
        (Request("/x/../hooks/stripe", {}, b"{}"), 404, "unknown_source"),
        (Request("/", {}, b"", "GET"), 404, "unknown_source"),
        (Request("/metrics", {}, b"", "GET"), 404, "unknown_source"),
        (Request("/hooks/stripe", {}, b"", "GET"), 405, "method_not_allowed"),
        (Request("/hooks/stripe", {}, b"{}", "PUT"), 405, "method_not_allowed"),
        (big, 413, "too_large"),
        (signed(b"x" * 65537), 413, "too_large"),
        (Request("/hooks/stripe", {"Content-Type": "text/xml"}, b"<a/>"), 401, "unauthorized"),
        (Request("/hooks/shop", {"Authorization": "Bearer " + secret("shop")}, b"{}"), 400, "idempotency_key_missing"),
    ]
    for request, status, code in cases:
        answer = w.post(request)
        eq((answer.status, json.loads(answer.body)["code"]), (status, code), request.path)
        eq(answer.headers["content-type"], "application/problem+json", request.path)
    eq(w.post(cases[5][0]).headers["allow"], "POST")
    still_works(w, 1)


def test_a_body_may_have_as_many_bytes_as_is_said_in_chunks_too(t):
    w = world(t, host={"receiver": {"body_max": "64KiB"}})
    for n, status in ((65536, 200), (65537, 413)):
        body = good(n).body.ljust(n)
        head = "".join(f"{k}: {v}\r\n" for k, v in signed(body).headers.items()).encode()
        whole = b"POST /hooks/stripe HTTP/1.1\r\nConnection: close\r\n" + HOST + head
        eq(w.post(signed(body)).status, status)
        eq(raw(w, whole + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (n, body))[0], status)


def test_the_largest_body_that_can_be_allowed_is_stored(t):
    w = world(t, host={"receiver": {"body_max": "64MiB", "deadline": "60s", "threads": 1}})
    eq(w.post(signed(good(1).body.ljust(64 << 20))).status, 200)
    eq(w.cluster.value("SELECT max(length(body)) FROM pawl.bodies"), 64 << 20)


def test_a_flood_of_refused_requests_is_one_line_of_each_kind(t):
    w = world(t)
    for _ in range(3):
        w.post(*[Request("/hooks/stripe", {}, b"{}")] * 40, connections=4)
        w.post(Request("/hooks/none", {}, b"{}"))
        time.sleep(0.4)
    eq(w.receivers[0].metric("pawl_webhook_requests_total", source="stripe", outcome="rejected"), 120)
    eq(w.receivers[0].log().count("webhook.rejected"), 2)


def test_every_reason_of_a_refused_signature_looks_the_same(t):
    w = world(t)
    body = stripe_event("evt-1", "step.s1", "o-1")
    old = stripe_sign(secret("stripe"), body, int(time.time()) - 3600)
    bodies = {w.post(Request("/hooks/stripe", h, body)).body for h in (
        {}, {"Stripe-Signature": "nonsense"}, old, stripe_sign("whsec_other", body), stripe_sign(secret("stripe"), body + b" "))}
    eq(len(bodies), 1)
    eq(w.receivers[0].metric("pawl_webhook_requests_total", source="stripe", outcome="rejected"), 5)
    check(w.receivers[0].metric("pawl_webhook_rejected_total", source="stripe", reason="timestamp_too_old") == 1, "counted by reason")


def test_bodies_nobody_wants_are_answered_and_never_moved(t):
    w = world(t)
    event = json.loads(stripe_event("evt", "step.s1", "o-bad"))
    bodies = {
        "empty": b"",
        "not JSON": b"hello",
        "gzip": gzip.compress(stripe_event("evt-gz", "step.s1", "o-bad")),
        "deep": b"[" * 100000 + b"]" * 100000,
        "deep within": as_body({**event, "id": "evt-deep"})[:-1] + b',"x":' + b"[" * 500 + b"]" * 500 + b"}",
        "invalid UTF-8": as_body({**event, "id": "evt-utf"}).replace(b"o-bad", b"o-\xff\xfe"),
        "NUL escape in the id": as_body({**event, "id": "evt-nul"}).replace(b"evt-nul", b"evt\\u0000"),
        "NUL byte": as_body({**event, "id": "evt-nul2"}).replace(b"o-bad", b"o-\0bad"),
        "10 kB id": as_body({**event, "id": "e" * 10240}),
        "10 kB order": as_body({**event, "id": "evt-long"}).replace(b"o-bad", b"o" * 10240),
        "duplicate id": as_body({**event, "id": "evt-a"})[:-1] + b',"id":"evt-b"}',
        "lone surrogate": as_body({**event, "id": "evt-sur"}).replace(b"evt-sur", b"\\ud800"),
        "trailing comma": as_body({**event, "id": "evt-comma"})[:-1] + b",}",
    }
    for name, body in bodies.items():
        answer = w.post(signed(body))
        eq((answer.status, answer.body), (200, b'{"received":true}\n'), name)
    for name in ("empty", "not JSON", "gzip", "deep", "invalid UTF-8", "NUL byte", "trailing comma"):
        eq(w.post(app("key-" + name, bodies[name])).status, 422, "app: " + name)
    eq(w.cluster.value("SELECT count(*) FROM pawl.moves"), 0)
    still_works(w, 1)


def test_a_hundred_thousand_members_harm_nobody(t):
    w = world(t)
    wide = b"{" + b",".join(b'"k%d":%d' % (i, i) for i in range(100000)) + b',"id":"evt-wide","type":"step.s1"}'
    load = w.load([good(i) for i in range(300)], connections=4)
    for _ in range(10):
        eq(w.post(signed(wide)).status, 200)
    eq({a.status for a in load.result()}, {200})
    check(max(a.ms for a in load.answers) < 2000, "others wait less than 2 s")


def test_an_idempotency_key_of_10_kb_is_refused(t):
    w = world(t)
    eq(w.post(app("k" * 10240, b"{}")).status, 400)
    still_works(w, 1)


def test_slow_heads_and_bodies_are_cut_and_delay_nobody(t):
    w = world(t)
    start = time.monotonic()
    head = b"POST /hooks/stripe HTTP/1.1\r\n" + HOST
    slow = [RawSocket(w.ports()[0], 20).send(head) for _ in range(50)]
    slow += [RawSocket(w.ports()[0], 20).send(head + b"Content-Length: 1000\r\n\r\n{") for _ in range(50)]
    silent = [RawSocket(w.ports()[0], 20) for _ in range(50)]
    stop = threading.Event()

    def drip():
        while not stop.wait(0.5):
            for sock in slow:
                try:
                    sock.send(b"x")
                except OSError:
                    pass
    dripping = threading.Thread(target=drip)
    dripping.start()
    answers = w.post(*[good(i) for i in range(200)], connections=8)
    eq({a.status for a in answers}, {200})
    check(sorted(a.ms for a in answers)[-3] < 1000, "others are answered within a second")
    check(all(s.closed_by_peer(15) for s in slow + silent), "all slow connections are closed")
    took = time.monotonic() - start
    stop.set()
    dripping.join()
    check(8 < took < 14, f"cut after 10 s, not {took:.1f}")
    still_works(w, 1000)


def test_a_database_that_hangs_is_answered_503_in_time_and_forgotten_after(t):
    w = world(t, host={"receiver": {"deadline": "1s"}})
    still_works(w, 1)
    w.cluster.freeze()
    answers = w.post(*[good(i) for i in range(2, 12)], connections=10)
    eq({a.status for a in answers}, {503})
    check(all(a.headers["retry-after"] == "5" for a in answers), "with Retry-After")
    check(max(a.ms for a in answers) < 1500, "within the deadline")
    eq(w.receivers[0].admin("/livez").status, 200)
    w.cluster.thaw()
    eventually(lambda: w.post(good(20)).status == 200, 10)


def test_a_database_that_is_gone_is_answered_503_until_it_is_back(t):
    w = world(t)
    still_works(w, 1)
    w.cluster.stop()
    eventually(lambda: w.post(good(2)).status == 503, 5)
    eventually(lambda: w.receivers[0].admin("/readyz").status == 503, 5)
    answer = w.post(good(3))
    eq((answer.status, answer.headers["retry-after"]), (503, "5"))
    w.cluster.start()
    eventually(lambda: w.post(good(4)).status == 200, 10)
    eventually(w.receivers[0].ready, 5)


def test_a_drain_answers_what_it_took_and_loses_nothing(t):
    w = world(t)
    load = w.load([good(i) for i in range(3000)], connections=16)
    eventually(lambda: load.done() > 100)
    idle = RawSocket(w.ports()[0], 10)
    program = w.receivers[0]
    start = time.monotonic()
    eq(program.stop(), 0)
    check(time.monotonic() - start < 3, "a drain takes no longer than its requests")
    check(idle.closed_by_peer(1), "idle connections are closed")
    load.stop()
    acknowledged = {r.tag for r in load.acknowledged()}
    check(len(acknowledged) > 100, "some were acknowledged")
    stored = {row[0] for row in w.cluster.query("SELECT event_id FROM pawl.keys")}
    eq(acknowledged - stored, set())


def test_a_drain_ends_though_the_database_hangs(t):
    w = world(t, host={"receiver": {"deadline": "1s", "grace": "3s"}})
    still_works(w, 1)
    w.cluster.freeze()
    load = w.load([good(i) for i in range(2, 10)], connections=8)
    time.sleep(0.2)
    start = time.monotonic()
    eq(w.receivers[0].stop(), 0)
    check(time.monotonic() - start < 6, "it ends")
    eq({a.status for a in load.result()}, {503})


def test_what_is_half_there_when_a_drain_ends_is_cut(t):
    w = world(t, host={"receiver": {"grace": "300ms", "deadline": "5s"}})
    halves = [RawSocket(w.ports()[0]).send(b"POST /hooks/stripe HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n{") for _ in range(2)]
    barrier = t.keep(Barrier(w.cluster))
    w.load([good(1)])
    barrier.reached()
    program = w.receivers[0]
    program.proc.sigterm()
    eventually(lambda: halves[0].closed_by_peer(0.1), 5, "it is cut while a batch is still under way")
    halves[1].sock.close()
    barrier.open()
    eq(program.proc.wait(20), 0)
    retire(w, program)


def run_receiver(w, *more, config=None):
    """(exit status, stderr) of a receiver that is expected to end by itself."""
    done = subprocess.run([binary(), "receiver", "--config", config or w.receivers[0].config, *more], env=w.env,
                          capture_output=True, text=True, timeout=20, check=False)
    return done.returncode, done.stderr


def test_exit_codes_tell_what_a_restart_can_mend(t):
    w = world(t)
    status, said = run_receiver(w)
    check(status == 69 and "Address already in use" in said, f"port taken: {status} {said}")
    eq(run_receiver(w, config="/nonexistent")[0], 78)
    eq(w.receivers[0].stop(), 0)
    for setting, value in (("fsync", "off"), ("full_page_writes", "off"), ("synchronous_commit", "off")):
        w.cluster.set(**{setting: value})
        status, said = run_receiver(w)
        check(status == 78 and setting in said, f"{setting}: {status} {said}")
        w.cluster.set(**{setting: "on"})


def limited(soft, hard, *args):
    return ["prlimit", f"--nofile={soft}:{hard}", binary(), *args]


def files_of(pid):
    with open(f"/proc/{pid}/limits", encoding="ascii") as f:
        return [int(n) for line in f if line.startswith("Max open files") for n in line.split()[3:5]]


def test_both_programs_raise_their_limit_of_open_files(t):
    w = t.world(receivers=1, dispatchers=1, host={"receiver": {"connections": 700}, "dispatcher": {"transfers": 400}})
    for program, least in ((w.receivers[0], 700), (w.dispatchers[0], 1600)):
        eq(program.stop(), 0)
        again = Proc(program.name, limited(256, 2048, program.name.split("-")[0], "--config", program.config), env=w.env)
        eventually(lambda program=program: program.admin("/livez").status == 200, 10)
        soft, hard = files_of(again.pid)
        check(soft >= least and hard == 2048, f"{program.name}: {soft} of {hard}")
        again.sigterm()
        eq(again.wait(), 0)


def test_a_dispatcher_that_may_open_too_few_files_says_so_and_does_not_start(t):
    w = t.world(receivers=0, dispatchers=1, host={"dispatcher": {"transfers": 400}})
    done = subprocess.run(limited(256, 512, "dispatcher", "--config", w.dispatchers[0].config), env=w.env, capture_output=True, text=True,
                          timeout=20, check=False)
    eq(done.returncode, 78)
    check("dispatcher.files" in done.stderr and "LimitNOFILE" in done.stderr and "needed=928" in done.stderr, done.stderr)


def test_an_inherited_socket_is_served(t):
    w = world(t)
    program = w.receivers[0]
    program.stop()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        start = 'exec 3<&"$0"; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$1" receiver --config "$2"'
        os.set_inheritable(listener.fileno(), True)
        heir = subprocess.Popen(["bash", "-c", start, str(listener.fileno()), binary(), program.config], env=w.env,
                                pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
    request = good(1)
    try:
        answer = post_all([request], [port], again=True)[0]
        eq(answer.status, 200)
    finally:
        heir.send_signal(signal.SIGTERM)
        eq(heir.wait(10), 0)


def test_a_reload_takes_new_secrets_and_a_source_without_one_is_degraded(t):
    w = world(t)
    program = w.receivers[0]
    w.set_credential("stripe", "whsec_changed")
    program.proc.signal(signal.SIGHUP)
    new = stripe_request("whsec_changed", "evt-new", "step.s1", "o-new")
    eventually(lambda: w.post(new).status == 200, 5)
    eq(w.post(good(1)).status, 401)
    w.set_credential("stripe", "")
    program.proc.signal(signal.SIGHUP)
    eventually(lambda: w.post(new).status == 503, 5)
    eq(w.post(app("k-1", as_body({"type": "step.s1", "order": {"id": "o-2"}}))).status, 200)
    ready = program.admin("/readyz")
    eq((ready.status, json.loads(ready.body)["status"]), (200, "degraded"))
    check({"name": "source stripe", "ok": False, "detail": "no live secret"} in json.loads(ready.body)["checks"], ready.body)


def test_a_copy_of_an_app_request_gets_the_stored_outcome(t):
    w = world(t)
    body = as_body({"type": "step.s1", "order": {"id": "o-1"}})
    answers = w.post(*[app("key-1", body)] * 8, connections=8)
    eq({a.body for a in answers}, {b'{"outcome":"applied","order":"o-1","event":"key-1"}\n'})
    eq(sum("idempotency-replayed" in a.headers for a in answers), 7)
    other = w.post(app("key-1", as_body({"type": "step.s1", "order": {"id": "o-2"}})))
    eq((other.status, json.loads(other.body)["code"]), (422, "idempotency_mismatch"))


def test_its_metrics_are_accepted_by_promtool(t):
    w = world(t)
    w.post(good(1), good(1), Request("/hooks/nobody", {}, b""))
    promtool = t.need_tool("usr/bin/promtool")
    done = subprocess.run([promtool, "check", "metrics"], input=w.receivers[0].admin("/metrics").body, capture_output=True, check=False)
    eq((done.returncode, done.stdout + done.stderr), (0, b""))
