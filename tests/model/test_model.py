"""The model of the dispatcher (docs/model.md): what is promised holds, and each wall is seen to be needed."""
import os
import re
import shutil
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import model  # noqa: E402

WORDS = {"C": "claim", "W": "wire", "S": "send", "R": "record", "T": "takeover"}


def need_spin(t):
    if not shutil.which("spin"):
        t.skip("spin is not installed (deploy/packages, section test)")


def differences(found, holds, violated):
    return [f"{p} is violated" for p in holds if found[p].violated] + [f"{p} holds" for p in violated if not found[p].violated]


@timeout(1200)
def test_what_is_promised_holds_and_the_double_send_is_found_where_it_is_not(t):
    need_spin(t)
    found = model.search_all([(flags, holds + violated) for _, flags, holds, violated in model.AS_IT_IS])
    never = None
    for (name, _, holds, violated), searches in zip(model.AS_IT_IS, found):
        eq(differences(searches, holds, violated), [], name)
        check(searches["all_promised"].states > 50000, f"{name}: only {searches['all_promised'].states} states")
        unreached = searches["all_promised"].unreached
        never = unreached if never is None else never & unreached
    # No statement of the model is dead: every crash, lost answer, takeover and early receipt does happen.
    eq({line for line in never if line[1] != "-end-"}, set())


@timeout(1200)
def test_each_wall_taken_away_is_a_violation(t):
    need_spin(t)
    found = model.search_all([(flags, violated) for _, flags, violated in model.WITHOUT])
    for (name, _, violated), searches in zip(model.WITHOUT, found):
        eq(differences(searches, [], violated), [], name)


def test_the_steps_are_those_of_crash_ordering(t):
    del t
    with open(model.MODEL, encoding="utf-8") as f:
        steps = set(re.findall(r"^([CWSRT]\d): /\* ([a-z_.]+)", f.read(), re.M))
    with open(os.path.join(ROOT, "docs", "crash-ordering.md"), encoding="utf-8") as f:
        page = set(re.findall(r"^\| ([CWSRT]\d) \| `([a-z_.]+)`", f.read(), re.M))
    eq(steps, page)
    check(len(steps) == 14, f"{sorted(steps)}")
    eq({(step[0], label.split(".")[0]) for step, label in steps}, set(WORDS.items()))
    with open(os.path.join(ROOT, "common", "fault.def"), encoding="utf-8") as f:
        labels = {l for l in re.findall(r'"([a-z_.]+)"\)', f.read()) if not l.startswith("accept.")}
    eq({label for _, label in steps}, labels)


def test_the_page_shows_what_is_searched(t):
    del t
    with open(os.path.join(ROOT, "docs", "model.md"), encoding="utf-8") as f:
        page = f.read()
    for name, _, holds, violated in model.AS_IT_IS:
        for p, result in [(p, "holds") for p in holds] + [(p, "violated") for p in violated]:
            check(f"| {name} | `{p}` | {result} |" in page, f"{name}: {p} {result}")
    for name, _, violated in model.WITHOUT:
        row = re.search(r"^\| " + re.escape(name) + r" \| (.*) \|$", page, re.M)
        check(row, name)
        eq(re.findall(r"`(\w+)`", row[1]), violated, name)
