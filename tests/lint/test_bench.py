"""The benchmarks' frame and report, with made-up contestants: no speed is tested."""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
import frame  # noqa: E402 pylint: disable=wrong-import-position


def made_up():
    bench = frame.Bench("made-up", "Made up", 0.1, 3, True)
    times = iter([1.0] + [10.0, 20.0, 40.0])  # The first is the round that does not count.
    bench.interleave("one", "one & only", {"pawl": lambda seconds: {"events/s": next(times), "p99 ms": 2.0},
                                           "other": lambda seconds: {"events/s": 5.0, "p99 ms": 1.0}})
    bench.about("pawl", "this one")
    bench.ratio("against the other", ("one", "pawl"), ("one", "other"), "events/s", at_least=5)
    bench.ratio("too slow", ("one", "pawl"), ("one", "other"), "p99 ms", at_most=1)
    return bench


def test_rounds_give_medians_and_ratios_of_rounds(t):
    doc = made_up().doc
    eq(doc["groups"]["one"]["contestants"]["pawl"]["summary"]["events/s"], {"median": 20.0, "min": 10.0, "max": 40.0})
    eq([(row["median"], row["min"], row["max"], row["met"]) for row in doc["targets"]], [(4.0, 2.0, 8.0, False), (2.0, 2.0, 2.0, False)])


def test_a_report_is_made_of_results_alone(t):
    folder = scratch()
    with open(os.path.join(folder, "made-up.json"), "w", encoding="utf-8") as f:
        json.dump(made_up().doc, f)
    subprocess.run([os.path.join(ROOT, "tests", "bench", "report.py"), folder, folder], check=True, capture_output=True)
    with open(os.path.join(folder, "performance.md"), encoding="utf-8") as f:
        page = f.read()
    check("| against the other | ×4.00 | 2.00 .. 8.00 | at least 5 | **no** |" in page, page)
    xml.etree.ElementTree.parse(os.path.join(folder, "performance.svg"))
    empty = scratch()
    eq(subprocess.run([os.path.join(ROOT, "tests", "bench", "report.py"), empty, empty], check=False, capture_output=True).returncode, 1)


def test_what_postgresql_alone_is_given_fits_the_statements(_t):
    """A statement that got a parameter since would be refused only once somebody measures."""
    with open(os.path.join(ROOT, "tests", "bench", "receive", "parcel_calls.c"), encoding="utf-8") as f:
        source = f.read()
    put = r"^ *(?:INTS|BIGS|NULLS|TEXTS|UUIDS|FPS|COLUMN|one_int|param\(out)"
    calls = re.findall(r"parcel_call\(out, ([^;]*)\);(.*?)(?=parcel_call|\n}\n)", source, re.S)
    given = {name: len(re.findall(put, body, re.M)) for names, body in calls for name in re.findall(r"ACCEPT_(\w+)", names)}
    wanted = {}
    for name in given:
        with open(os.path.join(ROOT, "receiver", "accept", name.lower() + ".sql"), encoding="utf-8") as f:
            wanted[name] = max(int(n) for n in re.findall(r"\$(\d+)", f.read()))
    check(len(given) >= 9, f"only {sorted(given)} were found")
    eq(given, wanted)
