"""The programs behind the walls of their systemd units (tests/kit/confine.py): they do all they must, and the walls hold."""
import os
import platform
import shutil
import subprocess
import sys

from harness import *

CONFINE = os.path.join(ROOT, "tests", "kit", "confine.py")
# A leak check traces the process; what is made at run time by a sanitizer is not the program's own.
ENV = {"ASAN_OPTIONS": "detect_leaks=0:exitcode=99"}
FORBIDDEN = """
import mmap, os, socket
def tried(act):
    try:
        act()
        return "done"
    except OSError as e:
        return type(e).__name__ + str(e.errno)
print(tried(lambda: open("/tmp/pawl-confined", "w")), tried(lambda: os.nice(1)), tried(lambda: os.chroot("/")),
      tried(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)), tried(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)),
      tried(lambda: socket.socket()))
"""


def unit(name):
    return os.path.join(ROOT, "deploy", "systemd", f"pawl-{name}.service")


def need_walls(t):
    if os.getuid() != 0 or platform.machine() != "x86_64" or not shutil.which("systemd-analyze"):
        t.skip("needs root, x86_64 and systemd-analyze")


def behind(t, name, start):
    """start() of a program under its unit's walls."""
    before = os.environ.get("PAWL_WRAP")
    os.environ["PAWL_WRAP"] = f"{sys.executable} {CONFINE} {unit(name)}"
    try:
        return start()
    finally:
        if before is None:
            del os.environ["PAWL_WRAP"]
        else:
            os.environ["PAWL_WRAP"] = before


def status_of(program, key):
    with open(f"/proc/{program.pid}/status", encoding="ascii") as f:
        return next(line.split()[1] for line in f if line.startswith(key + ":"))


def test_the_walls_of_both_units_hold(t):
    need_walls(t)
    for name in ("receiver", "dispatcher"):
        done = subprocess.run([sys.executable, CONFINE, unit(name), "/usr/bin/python3", "-c", FORBIDDEN], capture_output=True, text=True, check=False)
        eq(done.stdout.strip(), "OSError30 PermissionError1 PermissionError1 OSError97 PermissionError1 done", done.stderr)


def test_both_programs_do_all_they_must_behind_the_walls_of_their_units(t):
    need_walls(t)
    w = t.world(receivers=0, dispatchers=0, env=ENV)
    receiver, dispatcher = behind(t, "receiver", w.receiver), behind(t, "dispatcher", w.dispatcher)
    for program in (receiver, dispatcher):
        eq((status_of(program, "Seccomp"), status_of(program, "CapEff"), status_of(program, "NoNewPrivs")), ("2", "0" * 16, "1"))
        eq(program.admin("/readyz").status, 200)
    answers = w.post(*[app_request(secret("shop"), f"evt-{n}", "step.s1", order=f"o-{n}", email=f"a{n}@example.net") for n in range(20)])
    eq({a.status for a in answers}, {200})
    eventually(lambda: w.sink.by_rcpt() == {f"a{n}@example.net": 1 for n in range(20)}, 30, "each mail arrives once")
    eq(w.post(stripe_request("wrong", "evt-x", "step.s1", "o-x")).status, 401)
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.rejected") == 1, 15, "what is refused is kept")
    for program in (receiver, dispatcher):
        program.proc.signal(1)
    eventually(lambda: all(p.admin("/livez").status == 200 for p in (receiver, dispatcher)), 5)
    w.cluster.restart()
    more = app_request(secret("shop"), "evt-more", "step.s1", order="o-more", email="more@example.net")
    eventually(lambda: w.post(more).status == 200, 15, "a new connection to the database")
    eventually(lambda: w.sink.count("more@example.net") == 1, 30)
    eq([p.stop() for p in (receiver, dispatcher)], [0, 0])
