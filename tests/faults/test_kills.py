"""kill -9 at every label of common/fault.def and at random times, under load: nothing acknowledged is lost, nothing is done twice."""
import os
import random
import re
import signal
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from rig import POLICY, Acknowledged, all_done, events, everything_holds, recovered  # noqa: E402

ORDERS = 60  # of a round: twice as many events
ACKNOWLEDGED_MIN = 100
LONG_ROUNDS, CI_ROUNDS = 50, 5
CI_DATABASE_LABELS = 2  # of all labels, chosen anew each time

# At which pass the process is killed: late enough that the load is on.
RECEIVER = {"accept.before_begin": 3, "accept.after_keys": 3, "accept.after_lock": 3, "accept.before_commit": 3,
            "accept.after_commit": 3, "accept.before_answer": 3}
DISPATCHER = {"claim.before_begin": 30, "claim.after_take": 2, "claim.before_commit": 2, "claim.after_commit": 2,
              "wire.before_start": 20, "wire.after_start": 20, "wire.after_body": 20, "send.after_reply": 20,
              "record.before_lock": 2, "record.after_lock": 2, "record.before_commit": 2, "record.after_commit": 2}
TAKEOVER = {"takeover.after_lock": 1, "takeover.after_commit": 1}


def labels():
    """The labels of common/fault.def."""
    with open(os.path.join(ROOT, "common", "fault.def"), encoding="utf-8") as f:
        return re.findall(r'^FAULT\(\w+, "([a-z_.]+)"\)', f.read(), re.M)


def dies_at(w, program, label, nth):
    """Starts the program again so that it kills itself there."""
    w.env["PAWL_FAULT_LOG"] = os.path.join(w.dir, "passed-" + label)
    victim = w.restart(program, wait=False, fault=f"crash@{label}:{nth}")
    del w.env["PAWL_FAULT_LOG"]
    return victim


def died_at(w, victim, label, nth):
    """Waits for it, and proves that it was there."""
    eventually(lambda: not victim.proc.alive(), 20, f"{victim.name} dies at {label}")
    eq(victim.proc.popen.returncode, -signal.SIGKILL, f"{label}:\n{victim.proc.tail()}")
    with open(os.path.join(w.dir, "passed-" + label), encoding="utf-8") as f:
        passed = f.read().split()
    eq((passed[-1], passed.count(label)), (label, nth), "the last label it passed, and how often")


def recovers(w, load, started, acknowledged, what):
    """All is acknowledged and sent without a standstill; then everything must hold."""
    count = acknowledged.add(load.result(30))
    check(count >= ACKNOWLEDGED_MIN, f"{what}: only {count} events were acknowledged")
    recovered(w.cluster, what)
    print(f"{what}: {count} acknowledged, recovered within {time.monotonic() - started:.1f} s", flush=True)
    everything_holds(w, acknowledged)


def crash_round(w, program, label, nth, acknowledged):
    victim = dies_at(w, program, label, nth)
    load = w.load(events(label, ORDERS), connections=8, again=True)
    died_at(w, victim, label, nth)
    started = time.monotonic()
    w.restart(victim)
    recovers(w, load, started, acknowledged, label)


def test_every_label_has_its_round(t):
    eq(sorted([*RECEIVER, *DISPATCHER, *TAKEOVER]), sorted(labels()))


@timeout(150)
def test_a_receiver_killed_at_any_label_loses_nothing_it_acknowledged_and_moves_nothing_twice(t):
    t.need_faults()
    w, acknowledged = t.world(policy=POLICY), Acknowledged()
    for label, nth in RECEIVER.items():
        crash_round(w, w.receivers[0], label, nth, acknowledged)


@timeout(240)
def test_a_dispatcher_killed_at_any_label_keeps_both_delivery_orders(t):
    t.need_faults()
    w, acknowledged = t.world(policy=POLICY), Acknowledged()
    for label, nth in DISPATCHER.items():
        crash_round(w, w.dispatchers[0], label, nth, acknowledged)


def test_a_dispatcher_killed_while_it_takes_over_leaves_it_to_the_next(t):
    t.need_faults()
    w, acknowledged = t.world(policy=POLICY), Acknowledged()
    for label, nth in TAKEOVER.items():
        first = dies_at(w, w.dispatchers[0], "wire.after_body", 5)
        load = w.load(events(label, ORDERS), connections=8, again=True)
        died_at(w, first, "wire.after_body", 5)
        os.remove(os.path.join(w.dir, "passed-wire.after_body"))
        second = dies_at(w, first, label, nth)
        died_at(w, second, label, nth)
        started = time.monotonic()
        w.restart(second)
        recovers(w, load, started, acknowledged, label)


def kill_and_start_again(w, kind, chance):
    """kill -9 of one of that kind; when it was started again (PostgreSQL: had done its own recovery)."""
    if kind == "PostgreSQL":
        w.cluster.kill9()
        w.cluster.start()
        return time.monotonic()
    program = chance.choice(w.receivers if kind == "receiver" else w.dispatchers)
    program.kill9()
    started = time.monotonic()
    w.restart(program)
    return started


def seeded():
    """A source of chance; the printed seed gives it again."""
    seed = int(os.environ.get("PAWL_TEST_SEED", random.randrange(1 << 30)))
    print(f"PAWL_TEST_SEED={seed}", flush=True)
    return random.Random(seed)


@timeout(150)
def test_postgresql_killed_while_a_process_stands_at_a_label_loses_nothing_that_was_acknowledged(t):
    t.need_faults()
    chance, passes = seeded(), {**RECEIVER, **DISPATCHER}
    w, acknowledged = t.world(policy=POLICY), Acknowledged()
    for label in list(passes) if t.long else chance.sample(list(passes), CI_DATABASE_LABELS):
        program = (w.receivers if label in RECEIVER else w.dispatchers)[0]
        program = w.restart(program, fault=f"stop@{label}:{passes[label]}", wait=label != "claim.before_begin")
        load = w.load(events("pg-" + label, ORDERS), connections=8, again=True)
        eventually(program.proc.frozen, 20, f"it stops at {label}")
        w.cluster.kill9()
        w.cluster.start()
        program.thaw()
        recovers(w, load, time.monotonic(), acknowledged, f"PostgreSQL killed at {label}")


@timeout(150)
def test_killed_at_random_times_under_load_everything_still_holds(t):
    chance = seeded()
    w, acknowledged = t.world(policy=POLICY, receivers=2, dispatchers=2), Acknowledged()
    rounds = LONG_ROUNDS if t.long else CI_ROUNDS
    kinds = ["receiver", "dispatcher", "PostgreSQL"] * (rounds // 3 + 1)
    for n in range(rounds):
        load = w.load(events(f"r{n}", 2 * ORDERS), connections=8, again=True)
        when = chance.randrange(3 * ORDERS)
        eventually(lambda l=load, k=when: l.done() >= k, 30, f"{when} events are acknowledged", every=0.001)
        eventually(lambda end=time.monotonic() + chance.uniform(0, 0.05): time.monotonic() > end, every=0.001)
        started = kill_and_start_again(w, kinds[n], chance)
        recovers(w, load, started, acknowledged, f"round {n}, {kinds[n]} killed after {when}")


def test_when_nothing_is_killed_every_message_is_taken_exactly_once(t):
    w, acknowledged = t.world(policy=POLICY, receivers=2, dispatchers=2), Acknowledged()
    acknowledged.add(w.load(events("c", 100), connections=8, again=True).result())
    all_done(w.cluster, 20, "control round")
    everything_holds(w, acknowledged, exactly=True)


def test_when_nothing_is_killed_a_sink_nobody_here_wrote_counts_every_message_once(t):
    w, acknowledged = t.world(policy=POLICY, sink=t.postfix_sink(), receivers=2, dispatchers=2), Acknowledged()
    acknowledged.add(w.load(events("c", 100), connections=8, again=True).result())
    all_done(w.cluster, 20, "control round")
    eq(w.sink.count(), 200)
    everything_holds(w, acknowledged, exactly=True)
