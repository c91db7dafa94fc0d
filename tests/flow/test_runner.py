"""The runner itself: tests side by side are counted, shown and ended like tests one after the other."""
import os
import re
import signal
import subprocess
import sys
import time

from harness import *

SUITE = """
import os, sys, time
sys.path.insert(0, {tests!r})
from harness import *
HERE = os.path.dirname(os.path.abspath(__file__))


def meet(one, other):
    # Both have to be under way at the same time.
    open(os.path.join(HERE, one), "w").close()
    eventually(lambda: os.path.exists(os.path.join(HERE, other)), 20, "the other test runs too")


def test_one_meets_the_other(t):
    print("one says hello")
    meet("one", "other")


def test_the_other_meets_one(t):
    meet("other", "one")


def test_a_failure(t):
    eq(1, 2)


def test_a_worker_that_dies(t):
    os._exit(7)


@timeout(1)
def test_too_long(t):
    time.sleep(30)


@alone
def test_alone(t):
    eq(sorted(n for n in os.listdir(HERE) if n.startswith("still")), [])
    t.skip("it was alone")


def test_long_beside_it(t):
    path = os.path.join(HERE, "still")
    open(path, "w").close()
    time.sleep(0.5)
    os.remove(path)
"""
WAITING = """
import os, sys, time
sys.path.insert(0, {tests!r})
from harness import *


def waits(t):
    c = t.cluster()
    pids = [os.getpid(), *c.proc.tree()]
    open(os.path.join({folder!r}, "%d.tmp" % os.getpid()), "w").write(" ".join(map(str, pids)))
    os.rename(os.path.join({folder!r}, "%d.tmp" % os.getpid()), os.path.join({folder!r}, "%d.pids" % os.getpid()))
    time.sleep(60)


def test_one(t):
    waits(t)


def test_two(t):
    waits(t)
"""


def write_suite(text, folder):
    path = os.path.join(folder, "test_made_up.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.format(tests=os.path.join(ROOT, "tests"), folder=folder))
    return path


def runner(path, *args):
    return [sys.executable, os.path.join(ROOT, "tests", "harness.py"), "-j", "2", path, *args]


def test_side_by_side_all_are_counted_and_a_file_is_shown_whole(t):
    del t
    path = write_suite(SUITE, scratch())
    done = subprocess.run(runner(path), capture_output=True, text=True, timeout=100, check=False, env={**os.environ, "PAWL_SLOW": "1"})
    shown = re.findall(r"(?m)^(ok  |FAIL|skip) +[\d.]+s  made_up: ([a-z ]+)", done.stdout)
    eq(shown, [("ok  ", "one meets the other"), ("ok  ", "the other meets one"), ("FAIL", "a failure"), ("FAIL", "a worker that dies"),
               ("FAIL", "too long"), ("skip", "alone "), ("ok  ", "long beside it")], done.stdout + done.stderr)
    check(all(word in done.stdout for word in ("one says hello\nok", "got 1, want 2", "ended with 7", "longer than 1 s", "(it was alone)")),
          done.stdout)
    eq((done.stdout.splitlines()[-1], done.returncode), ("3 passed, 3 failed, 1 skipped", 1))
    done = subprocess.run(runner(path, "-k", "meets"), capture_output=True, text=True, timeout=100, check=False)
    eq((done.stdout.splitlines()[-1], done.returncode), ("2 passed, 0 failed, 0 skipped", 0))
    done = subprocess.run(runner(path, "-x", "-k", "failure"), capture_output=True, text=True, timeout=100, check=False)
    eq(done.returncode, 1)


def test_a_runner_that_is_ended_or_killed_leaves_no_process(t):
    del t
    for sig, status, cleans in ((signal.SIGTERM, 143, True), (signal.SIGKILL, -9, False)):
        folder, below = scratch(), scratch()
        run = Proc("runner", runner(write_suite(WAITING, folder)), env={**os.environ, "PAWL_TEST_TMP": below})

        def told(f=folder):
            return [n for n in os.listdir(f) if n.endswith(".pids")]
        eventually(lambda: len(told()) == 2, 60, "two tests are under way")
        pids = [int(w) for n in told() for w in open(os.path.join(folder, n), encoding="utf-8").read().split()]
        check(len(pids) > 8, f"the workers and their clusters: {pids}")
        begin = time.monotonic()
        run.signal(sig)
        eq(run.wait(20), status)
        for pid in pids:
            eventually(lambda p=pid: gone(p), 10, f"{pid} is gone")
        check(time.monotonic() - begin < 15, "it ended soon")
        eq(os.listdir(below) if cleans else [], [])
