#!/usr/bin/python3
"""Runs the unit tests of a build folder and shows each file's closing lines: run.py BUILD (under PAWL_WRAP, if set)

At the end `N passed, N failed`, where N counts tests, not files. Some processes of the one program that has all tests (every.c) are
given a file at a time; where one crashes or hangs, that file has failed and another process goes on."""
import glob
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time

FILE_SECONDS_MAX = 60 * float(os.environ.get("PAWL_SLOW", "1"))
WRAP = os.environ.get("PAWL_WRAP", "").split()
# What was freed is kept for 2 MB: by default a process has 256 MB more of it to fill, and to search for leaks at its end.
ASAN = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=2:thread_local_quarantine_size_kb=256:malloc_context_size=8"
# Twice as many as processors, since the longest tests wait for a clock or a peer.
WORKERS = 2 * os.cpu_count()


def program(build):
    """(argv of the program, names of its files), as meson knows them (what `meson introspect` shows, 0.3 s later)."""
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as f:
        cmd = next(t["cmd"] for t in json.load(f) if t["name"] == "unit")
    return cmd[:1], cmd[1:]


def left_out(names):
    """The tests in the tree that no meson.build names: they would never run."""
    here = os.path.dirname(os.path.realpath(__file__))
    found = {os.path.relpath(path, here)[:-len(".c")] for path in glob.glob(os.path.join(here, "**", "*_test.c"), recursive=True)}
    return sorted(found - set(names))


class Worker:
    """A process of the program, and the files that it has run."""

    def __init__(self, argv):
        self.failed = False
        self.process = subprocess.Popen(WRAP + argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        encoding="utf-8", errors="replace", env={**os.environ, "ASAN_OPTIONS": ASAN})

    def run(self, name):
        """(status, output) of a file's tests; the status is None where the process did not get to their end."""
        said, status = [], None
        hung = threading.Timer(FILE_SECONDS_MAX, self.process.kill)
        hung.start()
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended before; what it said of that is still to be read
        for line in self.process.stdout:
            ended = re.fullmatch(r"\[ ENDED \] (-?\d+)\n", line)
            if ended:
                status = int(ended[1])
                break
            said.append(line)
        hung.cancel()
        self.failed = self.failed or status != 0
        return status, "".join(said)

    def end(self):
        """(exit status, last words): what sanitizers say at the end, of leaks above all."""
        try:
            said, _ = self.process.communicate(timeout=FILE_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            said, _ = self.process.communicate()
        return self.process.returncode, said


def counts(output):
    """(passed, failed) by cmocka's closing lines."""
    number = {k: int(n) for k, n in re.findall(r"^\[  (PASSED|FAILED)  \] (\d+) test\(s\)", output, re.M)}
    return number.get("PASSED", 0), number.get("FAILED", 0)


class Run:
    """What was run, told as it ends."""

    def __init__(self):
        self.lock, self.passed, self.failed = threading.Lock(), 0, 0

    def tell(self, name, status, output, seconds):
        good, bad = counts(output)
        # A crash or a sanitizer's report fails even when every test so far was well.
        bad = bad or (1 if status != 0 else 0)
        closing = [line for line in output.splitlines() if re.match(r"\[(==========|  PASSED  |  FAILED  )\] .*test\(s\)", line)]
        with self.lock:
            self.passed, self.failed = self.passed + good, self.failed + bad
            print(f"{'ok  ' if not bad else 'FAIL'} {seconds:6.2f}s  {name}")
            print("\n".join("      " + line for line in (output.splitlines() if bad else closing)), flush=True)

    def work(self, argv, names):
        """One process after the other until no file is left."""
        worker = None
        while True:
            try:
                name = names.get_nowait()
            except queue.Empty:
                break
            start = time.monotonic()
            worker = worker or Worker(argv)
            status, output = worker.run(name)
            if status is None:
                code, rest = worker.end()
                worker, status, output = None, code or 1, f"{output}{rest}\nended with status {code}\n"
            self.tell(name, status, output, time.monotonic() - start)
        code, rest = worker.end() if worker else (0, "")
        # A test that failed lets go of nothing that it held.
        if code != 0 and not worker.failed:
            self.tell("at the end of several files", code, rest, 0)


def main(build):
    argv, all_names = program(build)
    run, names = Run(), queue.SimpleQueue()
    for name in left_out(all_names):
        run.tell(name, 1, "is in no meson.build", 0)
    # The longest ones stand last: begun last, one of them would run alone at the end.
    for name in reversed(all_names):
        names.put(name)
    threads = [threading.Thread(target=run.work, args=(argv, names)) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or not run.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
