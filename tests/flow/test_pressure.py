"""The bound on connections: who has nothing to do makes room, on both listeners."""
import os
import re
import time

from harness import *

HOLD = b"GET /hooks/nobody HTTP/1.1\r\nHost: a\r\n\r\n"
PROBE = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
ADMIN_MAX = 64


def good(n):
    return stripe_request(secret("stripe"), f"evt-{n}", "step.s1", f"o-{n}")


# A sanitizer keeps what was freed for a while, to find its uses.
FORGETFUL = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=1:exitcode=99") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}


def world(t, connections, **more):
    return t.world(receivers=1, dispatchers=0, host={"receiver": {"connections": connections, "threads": 1}}, **more)


def idlers(port, n, request):
    """Keep-alive connections that had an answer and say nothing more."""
    socks = [RawSocket(port, 10) for _ in range(n)]
    for sock in socks:
        check(sock.send(request).status() > 0, "each had its answer")
    return socks


def test_idle_connections_make_room_for_a_new_one_the_oldest_first(t):
    w = world(t, 20)
    socks = idlers(w.ports()[0], 20, HOLD)
    for n in range(3):
        start = time.monotonic()
        answer = w.post(good(n))
        took = time.monotonic() - start
        eq(answer.status, 200)
        check(took < 1, f"answered after {took:.1f} s")
    open_still = [not sock.closed_by_peer(0.05) for sock in socks]
    check(not open_still[0] and all(open_still[8:]), f"only the oldest were closed: {open_still}")


def test_half_a_head_makes_room_too(t):
    w = world(t, 10)
    socks = [RawSocket(w.ports()[0], 10).send(HOLD[:20]) for _ in range(30)]
    start = time.monotonic()
    eq(w.post(good(1)).status, 200)
    check(time.monotonic() - start < 2, "though 20 more wait before it")
    del socks


def test_half_a_body_makes_room_too(t):
    w = world(t, 10)
    head = b"POST /hooks/stripe HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"
    socks = [RawSocket(w.ports()[0], 10).send(head) for _ in range(10)]
    for n in range(3):
        start = time.monotonic()
        eq(w.post(good(n)).status, 200)
        took = time.monotonic() - start
        check(took < 5, f"answered after {took:.1f} s")
    del socks


def test_connections_in_use_share_a_bound_and_lose_no_request(t):
    w = world(t, 4)
    answers = w.post(*[good(n) for n in range(400)], connections=16)
    eq({a.status for a in answers}, {200})
    check(max(a.ms for a in answers) < 5000, "nobody waits for the idle timeout")


def test_no_connection_is_closed_while_nobody_waits(t):
    w = world(t, 10)
    socks = idlers(w.ports()[0], 10, HOLD)
    time.sleep(1)
    check(not any(sock.closed_by_peer(0.02) for sock in socks), "all ten are open still")


def resident_kb(program):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{program.pid}/status", encoding="ascii").read())[1])


def admin_port(program):
    eq(program.admin("/livez").status, 200)
    return program._admin  # pylint: disable=protected-access


def alive(program, within=1.5):
    start = time.monotonic()
    eq(program.admin("/livez").status, 200)
    took = time.monotonic() - start
    check(took < within, f"/livez took {took:.1f} s")


def test_the_admin_port_of_both_programs_answers_though_others_sit_on_it(t):
    w = t.world(receivers=1, dispatchers=1)
    for program in (w.receivers[0], w.dispatchers[0]):
        port = admin_port(program)
        socks = idlers(port, ADMIN_MAX - 4, PROBE)
        socks += [RawSocket(port, 10).send(PROBE[:9]) for _ in range(60)]
        socks += [RawSocket(port, 10) for _ in range(60)]
        alive(program, 3)  # some 200 more connections were before it
        for _ in range(3):
            alive(program)
        eq(program.admin("/metrics").status, 200)
        del socks


def test_what_is_no_probe_costs_the_admin_port_no_memory(t):
    w = world(t, 20, env=FORGETFUL)
    program = w.receivers[0]
    port = admin_port(program)
    line = b"GET /" + b"x" * 65536 + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    body = b"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"

    def once():
        for bad, status in ((line, 404), (body, 413), (b"\0" * 4096 + b"\r\n\r\n", 400)):
            sock = RawSocket(port, 10).send(bad)
            eq(sock.status(), status)
            sock.close()
        half = RawSocket(port, 10).send(line[:60000])
        half.close()

    for _ in range(50):
        once()
    before = resident_kb(program)
    for _ in range(300):
        once()
    grown = resident_kb(program) - before
    check(grown < 4096, f"grown by {grown} kB")
    alive(program)


def test_a_client_that_reads_nothing_holds_up_no_probe(t):
    w = world(t, 20, env=FORGETFUL)
    program = w.receivers[0]
    port = admin_port(program)
    asks = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 1000
    deaf = []
    for _ in range(4):
        sock = RawSocket(port, 10)
        sock.sock.setblocking(False)
        try:
            sock.sock.send(asks)
        except BlockingIOError:
            pass
        deaf.append(sock)
    for _ in range(5):
        alive(program, 5)  # what fits their sockets is written first
    before = resident_kb(program)
    time.sleep(1)
    check(resident_kb(program) - before < 4096, "what is not read is not heaped up")
