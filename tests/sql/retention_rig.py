"""What the tests of retention share: passes of it, time that goes by, and the receiver's key statements."""
import os
import queue
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

PROBE = os.environ.get("PAWL_RETENTION_PROBE") or os.path.join(build_dir(), "tests", "sql", "retention_probe")
HOUR, DAY = 3600, 86400


def statement(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.sub(r"--[^\n]*", "", f.read())


class Sweeper:
    """A process that passes when told to."""

    def __init__(self, cluster, keys_s=45 * DAY, bodies_s=14 * DAY, park_s=7 * DAY, version=1):
        argv = [PROBE, cluster.dsn(user=None)] + [str(n) for n in (version, keys_s, bodies_s, park_s)]
        self.popen = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        eq(self.popen.stdout.readline(), "ready\n")

    def begin(self):
        self.popen.stdin.write("\n")
        self.popen.stdin.flush()

    def end(self):
        eq(self.popen.stdout.readline(), "done\n")

    def sweep(self):
        self.begin()
        self.end()

    def metrics(self):
        self.popen.stdin.write("metrics\n")
        self.popen.stdin.flush()
        lines = []
        while not lines or lines[-1] != "done\n":
            lines.append(self.popen.stdout.readline())
        return parse_metrics("".join(lines[:-1]))

    def close(self):
        self.popen.stdin.close()
        eq(self.popen.wait(10), 0)
        self.popen.stdout.close()


def kept(t):
    """A migrated cluster with a policy version."""
    cluster = t.migrated_cluster()
    cluster.query("INSERT INTO pawl.policy_versions VALUES (1, 'x')")
    return cluster


def sweeper(t, cluster, **keep):
    return t.keep(Sweeper(cluster, **keep))


class Generations:
    """The generations of keys, seen and aged by the superuser."""

    def __init__(self, cluster):
        self.cluster = cluster

    def now(self):
        """(gen, overlap)"""
        return self.cluster.query("SELECT gen, overlap FROM pawl.key_gen ORDER BY gen DESC LIMIT 1")[0]

    def age(self, seconds):
        self.cluster.query("UPDATE pawl.key_gen SET at = at - %s * interval '1 second'", (seconds,))

    def rows(self, slot):
        return self.cluster.value(f"SELECT count(*) FROM pawl.keys_{slot}")

    def flip(self, sweep, window_s):
        """The next generation, without waiting for the end of its overlap."""
        gen, overlap = self.now()
        check(not overlap, "the generation stands alone")
        self.age(window_s)
        eventually(lambda: sweep.sweep() or self.now() == (gen + 1, True), 10, "the next generation")

    def settle(self, sweep, window_s):
        self.age(window_s)
        eventually(lambda: sweep.sweep() or not self.now()[1], 10, "the end of the overlap")


class Receiver:
    """One connection that takes keys as receiver/accept/txn.c does, its steps on a thread of its own."""

    def __init__(self, cluster):
        self.conn = cluster.connect("pawl_receiver")
        self.cur = self.conn.cursor()
        self.cur.execute(statement("common/pg/setup.sql").replace("$1::text", "'20000'"))
        self.cur.execute("SET plan_cache_mode = force_generic_plan")
        for name in ("seen", "keys", "repeats"):
            self.cur.execute(f"PREPARE {name} AS " + statement(f"receiver/accept/{name}.sql"))
        self.steps, self.busy, self.won, self.failed = queue.Queue(), threading.Event(), None, None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            step, done = self.steps.get()
            try:
                if step:
                    step()
            except Exception as e:  # pylint: disable=broad-except
                self.failed = e
            done.set()
            if not step:
                return

    def ask(self, step):
        """Begins a step; the event is set when it has ended."""
        done = threading.Event()
        self.steps.put((step, done))
        return done

    # --- the steps

    def begin(self):
        self.won = None
        self.cur.execute("BEGIN")
        self.cur.execute("EXECUTE seen")
        _, self.gen, self.overlap = self.cur.fetchone()

    def _insert(self, slot, probe, event, arrival):
        self.cur.execute("EXECUTE keys(%s, %s, '{1}', '{1}', ARRAY[%s], '{\"\"}', ARRAY['\\x01'::bytea], ARRAY[%s]::uuid[], '{NULL}')",
                         (slot, probe, event, arrival))
        return len(self.cur.fetchall()) == 1

    def take(self, event, arrival):
        first = self.gen - 1 if self.overlap else self.gen
        self.won = self._insert(first % 4, (first - 1) % 4, event, arrival)
        if self.won and self.overlap:
            self.won = self._insert(self.gen % 4, -1, event, arrival)

    def judge(self, event, arrival):
        """The outcomes that repeats.sql tells of a copy that lost."""
        slots = [self.gen % 4, (self.gen - 1) % 4, (self.gen - 2) % 4 if self.overlap else -1]
        self.cur.execute("EXECUTE repeats(%s, %s, %s, '{0}', '{1}', '{1}', ARRAY[%s], '{\"\"}', ARRAY['\\x01'::bytea], ARRAY[%s]::uuid[], '{NULL}',"
                         " '{false}', false)", (*slots, event, arrival))  # no second member of one batch, no batch run again
        return [row[1] for row in self.cur.fetchall()]

    def commit(self):
        self.cur.execute("COMMIT")

    def close(self):
        self.ask(None).wait(25)
        self.conn.close()
