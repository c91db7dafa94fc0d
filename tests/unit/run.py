"""Runs every cmocka program of a build folder and shows its closing lines: run.py BUILD (under PAWL_WRAP, if set)

At the end `N passed, N failed`, where N counts tests, not programs."""
import glob
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

PROGRAM_SECONDS_MAX = 60 * float(os.environ.get("PAWL_SLOW", "1"))
WRAP = os.environ.get("PAWL_WRAP", "").split()


def programs(build):
    """[(name, argv)] of the build's unit tests, as meson knows them (the file is what `meson introspect` shows, 0.3 s later)."""
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as f:
        return [(t["name"], t["cmd"]) for t in json.load(f) if any(s.endswith("unit") for s in t["suite"])]


def left_out(names):
    """The tests in the tree that no meson.build names: they would never run."""
    here = os.path.dirname(os.path.realpath(__file__))
    found = {os.path.relpath(path, here)[:-len(".c")] for path in glob.glob(os.path.join(here, "**", "*_test.c"), recursive=True)}
    return sorted(found - set(names))


def timed(program):
    """(name, exit status, output, seconds)"""
    name, argv = program
    start = time.monotonic()
    return (name, *run(argv), time.monotonic() - start)


def run(argv):
    """(exit status, output); a program that hangs has status 124, one that was not built 127."""
    try:
        done = subprocess.run(WRAP + argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              timeout=PROGRAM_SECONDS_MAX, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")
    except OSError as e:
        return 127, f"{e}\n"
    except subprocess.TimeoutExpired as e:
        return 124, (e.stdout or b"").decode("utf-8", "replace") + f"\nlonger than {PROGRAM_SECONDS_MAX} s\n"


def counts(output):
    """(passed, failed) by cmocka's closing lines."""
    number = {k: int(n) for k, n in re.findall(r"^\[  (PASSED|FAILED)  \] (\d+) test\(s\)", output, re.M)}
    return number.get("PASSED", 0), number.get("FAILED", 0)


def main(build):
    all_programs, passed = programs(build), 0
    missing = left_out(name for name, _ in all_programs)
    failed = len(missing)
    for name in missing:
        print(f"FAIL   0.00s  {name}\n      is in no meson.build")
    # Twice as many as processors, since the longest ones wait for a clock or a peer.
    with ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        # The longest ones stand last: begun last, one of them would run alone at the end.
        for name, status, output, seconds in pool.map(timed, reversed(all_programs)):
            good, bad = counts(output)
            # A crash or a sanitizer's report fails even when every test so far was well.
            bad = bad or (1 if status != 0 else 0)
            passed, failed = passed + good, failed + bad
            print(f"{'ok  ' if not bad else 'FAIL'} {seconds:6.2f}s  {name}")
            closing = [line for line in output.splitlines() if re.match(r"\[(==========|  PASSED  |  FAILED  )\] .*test\(s\)", line)]
            print("\n".join("      " + line for line in (output.splitlines() if bad else closing)), flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
