"""The whole way of a webhook: request, signature, key, order moved, notification, delivery and due row, COMMIT, answer."""
import base64
import concurrent.futures
import copy
import json
import os
import random
import shutil
import tempfile
import time

import frame
from frame import BIN, HERE, node_version, npm, procs, say, tool, tree_cpu, usage
from kit.pawl import Pawl

TITLE = "Receive: from the request to the answer"
SECRET = "whsec_" + base64.b64encode(b"an example's secret, 32 bytes lg").decode()
FOLDER = os.path.dirname(os.path.realpath(__file__))
FULL_KEYS, FULL_KEYS_QUICK = 4_000_000, 100_000
EVENTS_A_SECOND = 12_000  # prepared for a side of which nothing is known yet
PLAIN = """CREATE TABLE plain (event_id text COLLATE "C" PRIMARY KEY, source int NOT NULL, body bytea NOT NULL,
                               received_at timestamptz NOT NULL)"""
PLAIN_INSERT = r"""\set n random(1, 1000000000000000)
INSERT INTO plain (event_id, source, body, received_at)
VALUES ('msg_' || :n, 1, decode(repeat('7b22747970652227', 70), 'hex'), now()) ON CONFLICT DO NOTHING;
"""
# Keys of events that came before, one half in each of the two live slots, their ids random, each in its right bucket:
# common/keys.c computes sha256 over the parts, each after its length as eight bytes, and takes the first four bytes.
FILL = """
INSERT INTO pawl.keys (bucket, source, slot, event_id, scope, fp, arrival, order_id, first_at)
SELECT ((get_byte(h, 0)::bigint << 24 | get_byte(h, 1) << 16 | get_byte(h, 2) << 8 | get_byte(h, 3)) %% 1024)::int,
       1, %(slot)s, e, '', sha256(e::bytea), md5('a' || e)::uuid, '7c0ffee0-' || i / 4, now() - i * interval '1 s'
FROM (SELECT i, e, sha256(int8send(5) || 'event' || int8send(4) || 'shop' || int8send(0) || int8send(length(e)) || e::bytea) h
      FROM (SELECT i, 'msg_' || substr(md5(i || %(salt)s), 1, 24) e FROM generate_series(1, %(n)s) i) x) y"""


class Sides:
    """The contestants on one cluster; each method makes one, a function of seconds."""

    def __init__(self, bench):
        self.bench, self.pg = bench, bench.cluster()
        self.run_number = random.randrange(1 << 40)
        self.rates, self.batches = {}, {}
        self.threads = os.environ.get("PAWL_BENCH_THREADS", "auto")
        self.lanes = os.cpu_count() if self.threads == "auto" else int(self.threads)
        self.pawl = self._installation("pawl")
        self.pawl.must("migrate", "up")
        self.pawl.must("policy", "apply")
        for name in ("bare", "full"):
            self.pg.create_database(name, template="pawl")
        self.full_keys = self._fill()
        self.pg.create_database("bare_full", template="full")
        self.receiver = self.pawl.receiver()
        self.receiver_full = self._installation("full").receiver()
        self.node = self._node()
        self._plain()
        self.pg.query("CHECKPOINT")

    def _installation(self, database):
        with open(os.path.join(FOLDER, "policy.yaml"), encoding="utf-8") as f:
            policy = f.read()
        cluster = copy.copy(self.pg)
        cluster.database = database
        pawl = Pawl(cluster, policy=policy, setup=False, host={"receiver": {"threads": self.threads}, "log": {"level": "warning"}})
        pawl.set_credential("shop", SECRET)
        return pawl

    def _fill(self):
        n = FULL_KEYS_QUICK if self.bench.quick else FULL_KEYS
        start = time.time()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda slot: self._fill_slot(slot, n // 2), (0, 1)))
        self.pg.query("VACUUM ANALYZE pawl.keys", db="full")
        say(f"  made {n:,} keys in {time.time() - start:.0f} s")
        return n

    def _fill_slot(self, slot, n):
        conn = self.pg.connect(db="full")
        conn.cursor().execute(FILL, {"slot": slot, "salt": str(slot), "n": n})
        conn.close()

    def _node(self):
        folder = npm(os.path.join(HERE, "peers", "node-receiver"))
        self.pg.create_database("node")
        with open(os.path.join(folder, "schema.sql"), encoding="utf-8") as f:
            self.pg.query(f.read(), db="node")
        self.node_port = procs.free_ports()
        env = {**os.environ, "NODE_ENV": "production", "PORT": str(self.node_port), "PGHOST": self.pg.dir, "PGDATABASE": "node",
               "PGUSER": "pawl", "SECRET": SECRET}
        node = procs.Proc("node", [shutil.which("node"), os.path.join(folder, "receiver.mjs")], env=env, cwd=folder)
        procs.eventually(lambda: "ready" in node.output(), 20, "the Node receiver is ready")
        return node

    def _plain(self):
        self.pg.create_database("plain")
        self.pg.query(PLAIN, db="plain")
        self.plain_script = os.path.join(procs.scratch("pawl-plain-"), "insert.sql")
        with open(self.plain_script, "w", encoding="utf-8") as f:
            f.write(PLAIN_INSERT)

    def _events(self, key, seconds):
        """So many are made beforehand; a side that uses them up is stopped there and measured until then."""
        return int(self.rates.get(key, EVENTS_A_SECOND) * 1.6 * seconds) + 2000

    def _tell(self, argv):
        self.run_number += 1
        return json.loads(frame.run([str(a) for a in argv]))

    def _over_http(self, key, port, pid, load):
        """Lets the load generator run against a port; load: (connections, percent of repeats, seconds)."""
        connections, repeats, seconds = load
        before, database = usage(pid), tree_cpu(self.pg.proc)
        told = self._tell([tool("tests/bench/receive/load"), port, "/hooks/shop", SECRET, self.run_number,
                           self._events(key, seconds), connections, seconds, repeats])
        n = told["answered"]
        if told["other"] or told["broken"] or told["lost"] or not n:
            raise RuntimeError(f"{key}: not every request was answered 200: {told}")
        self.rates[key] = n / told["seconds"]
        after = usage(pid)
        return {"events/s": self.rates[key], "p50 ms": told["p50_ms"], "p99 ms": told["p99_ms"],
                "CPU us/event": (after["cpu"] - before["cpu"]) / n * 1e6,
                "database CPU us/event": (tree_cpu(self.pg.proc) - database) / n * 1e6, "peak MB": after["hwm"]}

    def over_pawl(self, connections, repeats=0, full=False):
        receiver = self.receiver_full if full else self.receiver
        key = (connections, repeats, full)

        def play(seconds):
            before = self._batches(receiver)
            figures = self._over_http(("pawl",) + key, receiver.port, receiver.pid, (connections, repeats, seconds))
            events, n = (b - a for a, b in zip(before, self._batches(receiver)))
            self.batches[key] = figures["events a commit"] = events / n
            return figures
        return play

    @staticmethod
    def _batches(receiver):
        metrics = receiver.metrics()
        return [metrics.get((f"pawl_accept_batch_events_{what}", ()), 0) for what in ("sum", "count")]

    def over_node(self, connections, repeats=0):
        return lambda seconds: self._over_http(("node", connections, repeats), self.node_port, self.node.pid,
                                               (connections, repeats, seconds))

    def bare(self, connections, repeats=0, full=False):
        """The same statements in batches as large as Pawl's last round had, on as many connections."""
        def play(seconds):
            key = ("bare", connections, repeats, full)
            database = tree_cpu(self.pg.proc)
            dsn = f"host={self.pg.dir} port=5432 dbname={'bare_full' if full else 'bare'} user=pawl_receiver"
            told = self._tell([tool("tests/bench/receive/bare"), dsn, self.run_number, self._events(key, seconds),
                               max(1, round(self.batches[connections, repeats, full])), self.lanes, seconds, repeats])
            if told["wrong"]:
                raise RuntimeError(f"bare: {told['wrong']} orders were not as they should be")
            self.rates[key] = told["events"] / told["seconds"]
            return {"events/s": self.rates[key], "p50 ms": told["p50_ms"], "p99 ms": told["p99_ms"],
                    "database CPU us/event": (tree_cpu(self.pg.proc) - database) / told["events"] * 1e6}
        return play

    def single_rows(self, clients=8):
        def play(seconds):
            with tempfile.TemporaryDirectory() as folder:
                database = tree_cpu(self.pg.proc)
                start = time.time()
                frame.run([f"{BIN}/pgbench", "-h", self.pg.dir, "-U", "pawl", "-n", "-M", "prepared", "-c", str(clients), "-j", "2",
                     "-T", str(max(1, round(seconds))), "-f", self.plain_script, "-l", "--log-prefix", f"{folder}/log", "plain"])
                took = time.time() - start
                times = []
                for name in os.listdir(folder):
                    with open(os.path.join(folder, name), encoding="utf-8") as f:
                        times += [int(line.split()[2]) / 1000 for line in f]
            times.sort()
            seconds = min(took, max(1, round(seconds)))
            return {"events/s": len(times) / seconds, "p50 ms": times[len(times) // 2], "p99 ms": times[len(times) * 99 // 100],
                    "database CPU us/event": (tree_cpu(self.pg.proc) - database) / len(times) * 1e6}
        return play

    def check(self):
        """Nothing was measured that did not do the job: each event answered 200 moved its order once."""
        for database in ("pawl", "full", "bare", "bare_full"):
            odd = self.pg.value("SELECT count(*) FROM pawl.moves WHERE outcome <> 1", db=database)
            waiting = self.pg.value("SELECT count(*) FROM pawl.waiting", db=database)
            moves, notes, due = self.pg.query("""SELECT (SELECT count(*) FROM pawl.moves), (SELECT count(*) FROM pawl.notifications),
                                                        (SELECT count(*) FROM pawl.due)""", db=database)[0]
            if odd or waiting or not moves == notes == due > 0:
                raise RuntimeError(f"{database}: {moves} moves, {notes} notifications, {due} due, {odd} not applied, {waiting} waiting")
        odd, notes, moves = self.pg.query("""SELECT (SELECT count(*) FROM moves WHERE outcome <> 'applied'),
                                                    (SELECT count(*) FROM outbox), (SELECT count(*) FROM moves)""", db="node")[0]
        if odd or notes != moves:
            raise RuntimeError(f"node: {moves} moves, {notes} in the outbox, {odd} not applied")


def run_groups(bench, sides):
    bench.interleave("64", "64 connections, every event new", {
        "pawl": sides.over_pawl(64), "bare": sides.bare(64), "node": sides.over_node(64), "single": sides.single_rows()})
    bench.interleave("256", "256 connections, every event new", {
        "pawl": sides.over_pawl(256), "bare": sides.bare(256), "node": sides.over_node(256)})
    memory = usage(sides.receiver.pid)["hwm"]
    bench.interleave("repeats", "64 connections, half of the events repeats", {
        "pawl": sides.over_pawl(64, 50), "bare": sides.bare(64, 50), "node": sides.over_node(64, 50)})
    bench.interleave("full", f"64 connections, {sides.full_keys:,} keys there before", {
        "pawl": sides.over_pawl(64), "pawl-full": sides.over_pawl(64, full=True), "bare-full": sides.bare(64, full=True)})
    return memory


def run_targets(bench, memory):
    bench.ratio("Pawl against PostgreSQL alone, 64 connections", ("64", "pawl"), ("64", "bare"), "events/s", at_least=0.5)
    bench.ratio("Pawl against the Node receiver, 64 connections", ("64", "pawl"), ("64", "node"), "events/s", at_least=2)
    bench.ratio("p99 of Pawl's answers against p99 of the bare commits, 64 connections", ("64", "pawl"), ("64", "bare"), "p99 ms",
                at_most=3)
    bench.value("Receiver's memory at most, 256 connections", memory, "MB", below=24)
    bench.ratio("Pawl against single-row inserts of pgbench, 64 connections", ("64", "pawl"), ("64", "single"), "events/s")
    bench.ratio("Pawl against PostgreSQL alone, 256 connections", ("256", "pawl"), ("256", "bare"), "events/s")
    bench.ratio("Pawl against the Node receiver, 256 connections", ("256", "pawl"), ("256", "node"), "events/s")
    bench.ratio("Processor time an event: the Node receiver against Pawl's", ("64", "node"), ("64", "pawl"), "CPU us/event")
    bench.ratio("Half of the events repeats: Pawl against PostgreSQL alone", ("repeats", "pawl"), ("repeats", "bare"), "events/s")
    bench.ratio("Half of the events repeats: Pawl against the Node receiver", ("repeats", "pawl"), ("repeats", "node"), "events/s")
    bench.ratio("Keys there before: Pawl against itself without them", ("full", "pawl-full"), ("full", "pawl"), "events/s")
    bench.ratio("Keys there before: Pawl against PostgreSQL alone", ("full", "pawl-full"), ("full", "bare-full"), "events/s")


def run(bench):
    sides = Sides(bench)
    bench.about("pawl", f"Pawl, the whole job; receiver.threads: {sides.threads} ({sides.lanes})")
    bench.about("bare", "PostgreSQL alone: the receiver's statements from bare libpq loops, batches and connections as Pawl's, "
                        "values made beforehand; p50 and p99 of its commits")
    bench.about("single", "pgbench: one row a transaction, INSERT .. ON CONFLICT DO NOTHING, one table, 8 clients; p50 and p99 of "
                          "its commits")
    bench.about("node", f"Node {node_version()}, fastify, pg, standardwebhooks: the same job and the same gathering, one process")
    bench.about("pawl-full", f"Pawl with {sides.full_keys:,} keys there before")
    bench.about("bare-full", f"PostgreSQL alone with {sides.full_keys:,} keys there before")
    bench.note("Every event is new to its order (four steps, each applied, each owing one mail), its body has about 530 bytes and is "
               "signed as Standard Webhooks demands. All requests are made and signed before the clock starts and are sent over "
               "connections that stay, each sending its next when the answer is there.")
    bench.note("Pawl writes for each event its key, body, order, move, notification, delivery and due row; the Node receiver keeps "
               "key and body in one row, and notification, delivery and due in another.")
    bench.note(f"The {sides.full_keys:,} keys were made by SQL, ids random, each in its right bucket, half in each of the two live "
               "slots.")
    bench.note("Load generator, receiver and PostgreSQL share the machine's cores; processor time is user and system time of the "
               "receiver's process, and of all processes of PostgreSQL.")
    memory = run_groups(bench, sides)
    sides.check()
    run_targets(bench, memory)
