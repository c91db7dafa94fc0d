"""A database that is gone, hung or full: 503 within the deadline, nothing acknowledged is lost, and no restart is needed."""
import os
import subprocess
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from kit.procs import SLOW  # noqa: E402
from ledger import applied, keys, notifications, statuses, stored_once, unavailable  # noqa: E402

DEADLINE_MS = int(2500 * min(SLOW, 4))  # less than the poster waits
MARGIN_MS = 700  # For a loaded machine and the sanitizers.


def step(event, order=None):
    return stripe_request(secret("stripe"), event, "step.s1", order or event, "a@example.net")


def refuses(w, what, name):
    """Posts requests of which none can be stored."""
    for answer in w.post(*[step(f"{name}-{n}") for n in range(8)], connections=8):
        unavailable(answer, what)
        check(answer.ms <= DEADLINE_MS + MARGIN_MS, f"{what}: answered after {answer.ms:.0f} ms")


def recovers(w, pid, names):
    """The same process takes the same events now."""
    eventually(lambda: w.post(step("hello")).status == 200, 15, "the receiver takes events again", every=0.1)
    eq(statuses(post_all([step(n) for n in names], w.ports(), again=True)), {200: len(names)})
    eq((w.receivers[0].pid, w.receivers[0].proc.alive()), (pid, True))
    eq(stored_once(w.cluster, names), [])


def test_a_database_that_is_stopped_gives_503_at_once_and_is_found_again(t):
    w = t.world(dispatchers=0)
    receiver = w.receivers[0]
    eq(w.post(step("before")).status, 200)
    w.cluster.stop()
    for n in range(3):
        refuses(w, "stopped", f"away{n}")
    eq(receiver.admin("/livez").status, 200)
    eventually(lambda: receiver.admin("/readyz").status == 503, 3, "not ready")
    w.cluster.start()
    recovers(w, receiver.pid, ["before"] + [f"away{n}-{m}" for n in range(3) for m in range(8)])
    eventually(receiver.ready, 5, "ready again")


def test_a_receiver_that_starts_before_its_database_serves_503_until_it_is_there(t):
    w = t.world(receivers=0, dispatchers=0)
    w.cluster.stop()
    receiver = w.receiver(wait=False)
    eventually(lambda: w.post(step("early-0")).status == 503, 10, "it serves 503")
    w.cluster.start()
    recovers(w, receiver.pid, ["early-0"])


def test_what_was_acknowledged_around_a_crash_of_the_database_is_there_once(t):
    w = t.world(receivers=2, dispatchers=0)
    events = [step(f"evt-{n}", f"o{n % 200}") for n in range(600)]
    load = w.load(events, connections=16, again=True)
    for done in (100, 300):
        eventually(lambda d=done: load.done() >= d, 20, f"{done} are acknowledged", every=0.002)
        check(load.done() < 600, "all is done already")
        w.cluster.kill9()
        before = {r.tag for r in load.acknowledged()}
        w.cluster.start()
        eq(stored_once(w.cluster, before), [], f"acknowledged, then lost by the crash after {len(before)}")
    eq(statuses(load.result()), {200: 600})
    eq(stored_once(w.cluster, [e.tag for e in events]), [])
    eq((len(applied(w.cluster)), len(notifications(w.cluster))), (200, 200))


def test_a_database_that_hangs_gives_503_within_the_deadline_and_wakes_up_with_nothing_doubled(t):
    w = t.world(dispatchers=0, host={"receiver": {"deadline": f"{DEADLINE_MS}ms"}})
    receiver = w.receivers[0]
    eq(w.post(step("before")).status, 200)
    w.cluster.freeze()
    for n in range(2):
        refuses(w, "hung", f"hung{n}")
    eq(receiver.admin("/livez").status, 200)
    w.cluster.thaw()
    recovers(w, receiver.pid, ["before"] + [f"hung{n}-{m}" for n in range(2) for m in range(8)])
    names = w.cluster.query("SELECT order_id FROM pawl.moves WHERE outcome = 1 GROUP BY 1 HAVING count(*) > 1")
    eq(names, [], "orders that moved twice")


class SmallDisk:
    """A tablespace of so many MB that holds the bodies; fill() leaves no room on it."""

    def __init__(self, t, cluster, megabytes=24):
        self.dir = cluster.dir + "/small"
        os.mkdir(self.dir)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0777", "tmpfs", self.dir]
        if os.getuid() != 0 or subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            t.skip("a small disk can't be mounted here")
        self.space = self.dir + "/space"
        os.mkdir(self.space)
        os.chmod(self.space, 0o700)
        subprocess.run(["chown", "postgres", self.space], check=True)
        cluster.query(f"CREATE TABLESPACE small LOCATION '{self.space}'")
        for slot in range(16):
            cluster.query(f"ALTER TABLE pawl.bodies_{slot} SET TABLESPACE small")

    def fill(self):
        with open(self.dir + "/filler", "wb", buffering=0) as f:
            try:
                while f.write(b"x" * 65536):
                    pass
            except OSError:
                pass

    def empty(self):
        os.unlink(self.dir + "/filler")

    def close(self):
        subprocess.run(["umount", "-l", self.dir], check=False)


def test_a_database_whose_disk_is_full_gives_503_and_takes_the_same_events_when_there_is_room(t):
    cluster = t.cluster()
    w = t.pawl(cluster, t.sink())
    disk = t.keep(SmallDisk(t, cluster))
    w.breaks["all"] = "the disk is gone before the end"
    receiver = w.receiver()
    eq(w.post(step("before")).status, 200)
    disk.fill()
    # Random, so that it can't be compressed into a page that has room.
    big = [stripe_request(secret("stripe"), f"full-{n}", "step.s1", f"full-{n}", "a@example.net", note=os.urandom(30000).hex())
           for n in range(8)]
    for n in range(3):
        for answer in w.post(*big, connections=8):
            unavailable(answer, "full")
            check(answer.ms <= DEADLINE_MS + MARGIN_MS, f"answered after {answer.ms:.0f} ms")
    check("No space left on device" in cluster.log(), "the disk was not full")
    eq([keys(cluster, b.tag) for b in big], [0] * 8, "keys of events that were refused")
    disk.empty()
    eq(statuses(w.post(*big, again=True)), {200: 8})
    recovers(w, receiver.pid, ["before"])
    eq(stored_once(cluster, [b.tag for b in big]), [])
