#!/usr/bin/python3
"""model.py: builds dispatcher.pml in its variants with spin and gcc and asks pan for its properties.

Run: tests/model/model.py prints the tables of docs/model.md. The suite is test_model.py."""
import concurrent.futures
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
MODEL = os.path.join(HERE, "dispatcher.pml")
DEPTH = "5000"
RUN_SECONDS = 100

# As it is: (name, flags, what holds, what is violated).
AS_IT_IS = [
    ("at-most-once", ["MOST"], ["all_promised", "no_deadlock"],
     ["not_accepted", "not_delivered", "not_unknown", "no_third_try", "known_unless_given_up"]),
    ("at-least-once", [], ["all_promised", "no_deadlock", "known_unless_given_up"],
     ["one_effect", "not_accepted", "not_delivered", "not_unknown", "no_third_try"]),
]
# One wall taken away: (name, flags, what is violated).
WITHOUT = [
    ("at-most-once without the fence", ["MOST", "NO_FENCE", "STEPS=2"], ["one_effect", "no_stale_write", "doubles_counted"]),
    ("at-least-once without the fence", ["NO_FENCE", "STEPS=2"], ["no_stale_write", "doubles_counted"]),
    ("at-most-once, tries not matched", ["MOST", "NO_MATCH"], ["one_effect", "no_stale_write"]),
    ("at-least-once, tries not matched", ["NO_MATCH"], ["no_stale_write", "doubles_counted"]),
    ("at-most-once, the record does not ask for the state", ["MOST", "NO_STATE", "STEPS=2"],
     ["no_stale_write", "never_backward", "never_lost"]),
    ("at-least-once, the record does not ask for the state", ["NO_STATE", "STEPS=2"],
     ["no_stale_write", "never_backward", "never_lost", "never_resent"]),
    ("at-most-once, the mark is committed after the send", ["MOST", "LATE_MARK", "STEPS=2"], ["one_effect", "doubles_counted"]),
    ("at-least-once, what was not confirmed is sent too", ["UNCHECKED", "STEPS=2"], ["doubles_counted"]),
]


class Found:
    """The end of one search. states: the whole space, or what was seen up to the first violation."""

    def __init__(self, text):
        if "max search depth too small" in text or "out of memory" in text:
            raise AssertionError("the search was cut short\n" + text)
        self.violated = int(re.search(r"errors: (\d+)", text)[1]) > 0
        self.states = int(re.search(r"^\s*(\d+) states, stored", text, re.M)[1])
        self.unreached = {(int(line), what) for line, what in re.findall(r"dispatcher\.pml:(\d+), state \d+, \"(.*)\"", text)}


def run(argv, folder):
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=RUN_SECONDS, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def built(folder, flags, claims):
    """The folder of a pan for these flags; without claims it looks for deadlocks."""
    where = os.path.join(folder, "-".join(flags + (["claims"] if claims else ["plain"])))
    os.mkdir(where)
    run(["spin", "-a"] + ["-D" + flag for flag in flags] + [MODEL], where)
    run(["gcc", "-O1", "-w", "-DSAFETY", "-DNOFAIR"] + ([] if claims else ["-DNOCLAIM"]) + ["-o", "pan", "pan.c"], where)
    return where


def search(folder, flags, properties):
    """{property: Found}"""
    found = {}
    named = [p for p in properties if p != "no_deadlock"]
    with_claims = built(folder, flags, True)
    for name in named:
        found[name] = Found(run(["./pan", "-m" + DEPTH, "-w20", "-N", name], with_claims))
    if "no_deadlock" in properties:
        found["no_deadlock"] = Found(run(["./pan", "-m" + DEPTH, "-w20"], built(folder, flags, False)))
    return found


def search_all(rows):
    """[{property: Found}] of rows (flags, properties), two at a time."""
    with tempfile.TemporaryDirectory(prefix="pawl-model-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [f.result() for f in [pool.submit(search, folder, flags, properties) for flags, properties in rows]]


def tables():
    lines = ["| as it is | property | result | states |", "|---|---|---|---|"]
    for (name, _, holds, _), found in zip(AS_IT_IS, search_all([(f, h + v) for _, f, h, v in AS_IT_IS])):
        lines += [f"| {name} | `{p}` | {'violated' if f.violated else 'holds'} | {f.states:,} |" for p, f in found.items()]
    lines += ["", "| taken away | violated, and after how many states |", "|---|---|"]
    for (name, _, _), found in zip(WITHOUT, search_all([(f, v) for _, f, v in WITHOUT])):
        said = ", ".join(f"`{p}` ({f.states:,})" if f.violated else f"`{p}` HOLDS" for p, f in found.items())
        lines.append(f"| {name} | {said} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
