"""Dispatch: what is due is claimed, rendered, stored, marked, sent and recorded; against queues whose jobs do nothing."""
import os
import statistics
import sys
import time

from frame import procs, tool, usage
from sides import HERE, STATEMENTS, BossSide, GraphileSide, PawlSide, node

TITLE = "Dispatch: from what is due to its record"
FEW, BURST = 1000, 600  # claims are timed in processes that send so many, so that more is due at each, as of a million
BURSTS = 4     # of them in each round
BATCH = 500     # transfers of the free sender, and so a claim's rows
IN_FLIGHT = 200
SLOW_S = 3.0   # how long the slow server takes for each mail


class Sink:
    """A mail server that a policy can name."""

    def __init__(self, name, argv):
        self.port = procs.free_ports()
        self.dir = procs.scratch("pawl-sink-")
        self.proc = procs.Proc(name, [a.format(port=self.port, dir=self.dir) for a in argv])
        time.sleep(0.5)

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def close(self):
        self.proc.kill9()


def claims(side, n):
    """A round: some processes that each send BURST from a backlog of n made anew (0: from the one that is there); the median and
    the 95 % of their claims."""
    def play(_seconds):
        found = []
        for _ in range(BURSTS):
            if n:
                side.forget_due()
            side.fill(n)
            found += sum((f["claim_ms"] for f in side.drain(limit=BURST, seconds=30)), [])
        found.sort()
        return {"claim ms": statistics.median(found), "claim 95 % ms": found[len(found) * 95 // 100]}
    return play


def filled(side, n, play):
    """A round before which the side is filled to n."""
    def filled_play(seconds):
        side.fill(n)
        return play(seconds)
    return filled_play


def vacuumed(side, n, play):
    """The same, and what the rounds before left is cleared away."""
    def vacuumed_play(seconds):
        side.fill(n)
        side.db.query("VACUUM")
        return play(seconds)
    return vacuumed_play


def whole_program(side, n):
    """A round of the real program, SMTP and all."""
    def play(seconds):
        side.fill(n)
        program = side.pawl.dispatcher()
        start, before = time.monotonic(), program.metric("pawl_attempts_total", outcome="accepted")
        cpu = usage(program.pid)["cpu"]
        time.sleep(seconds)
        took, sent = time.monotonic() - start, program.metric("pawl_attempts_total", outcome="accepted") - before
        cpu = usage(program.pid)["cpu"] - cpu
        program.stop()
        side.pawl.dispatchers.remove(program)
        return {"jobs/s": sent / took, "CPU us a mail": cpu * 1e6 / max(sent, 1)}
    return play


def memory(side, seconds, flying=IN_FLIGHT):
    """MB at most, and how many were on the wire, once nearly so many are."""
    program = side.pawl.dispatcher()
    procs.eventually(lambda: program.metric("pawl_inflight", component="dispatcher") >= flying * 0.95, 60, "enough are in flight")
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.5)
        found.append(program.metric("pawl_inflight", component="dispatcher"))
    top = usage(program.pid)["hwm"]
    program.kill9()
    return top, statistics.median(found)


def claim_times(bench, thousand, million, later):
    bench.about("thousand", "Pawl, 1,000 due")
    bench.about("million", "Pawl, 1,000,000 due")
    bench.about("later", "Pawl, 1,000 due and 1,000,000 for later")
    bench.interleave("claims", "One claim of 200: taken, rendered, stored, marked, committed", {
        "thousand": claims(thousand, FEW), "million": claims(million, 0), "later": claims(later, FEW)}, warm=not bench.quick)
    bench.ratio("A claim with 1,000,000 due against one with 1,000", ("claims", "million"), ("claims", "thousand"), "claim ms",
                at_most=1.2)
    bench.ratio("A claim with 1,000,000 for later against none", ("claims", "later"), ("claims", "thousand"), "claim ms", at_most=1.2)


def against(bench, group, title, sides, n, seconds):
    bench.interleave(group, title, {key: filled(side, n, side.round) for key, side in sides.items()}, seconds=seconds)
    for peer, name in NAMES.items():
        for many, words in (("", "one process each"), ("2", "two processes each")):
            if peer + many in sides:
                bench.ratio(f"{title}: Pawl against {name}, {words}", (group, "pawl" + many), (group, peer + many), "jobs/s", at_least=1)


NAMES = {"graphile": "graphile-worker", "boss": "pg-boss"}


def snapshots(bench, sides, n, seconds):
    plays = {}
    for key, side in sides.items():
        plays[key] = vacuumed(side, n, side.round)
        plays[key + "-old"] = vacuumed(side, n, side.round_with_old_snapshot)
    bench.interleave("snapshot", "An old snapshot is held open", plays, seconds=seconds, warm=False)
    for key in sides:
        bench.ratio(f"{NAMES.get(key, 'Pawl')} with the old snapshot against without", ("snapshot", key + "-old"), ("snapshot", key),
                    "jobs/s", at_least=0.7 if key == "pawl" else None)


def costs(bench, n):
    """Statement by statement, from pg_stat_statements, in a cluster of its own."""
    side = PawlSide(bench.cluster(shared_preload_libraries="pg_stat_statements"), "costs", transfers=BATCH)
    measured = {}

    def play(name):
        def one(_seconds):
            if name == STATEMENTS[0]:
                measured.update(side.statements(n))
            return measured[name]
        return one
    for name in STATEMENTS:
        bench.about(name, WHAT[name])
    bench.interleave("costs", "What a mail costs the server, by statement", {name: play(name) for name in STATEMENTS}, warm=False)


WHAT = {"claim/take.sql": "the due row deleted, delivery and notification read", "claim/content_put.sql": "its content inserted",
        "claim/wire.sql": "the delivery marked: on the wire", "record/record.sql": "the delivery's end, and its attempt inserted"}


def whole(bench, cluster, n, seconds):
    sink = Sink("sink", [tool("tests/bench/dispatch/sink"), "127.0.0.1:{port}", "{dir}"])
    side = PawlSide(cluster, "some", sink=sink, transfers=60)
    bench.interleave("smtp", "The program as it ships, with `pawl sink` as the mail server", {"smtp": whole_program(side, n)},
                     seconds=seconds, warm=False)
    sink.close()


def in_memory(bench, cluster, n, seconds):
    sink = Sink("slow", [sys.executable, os.path.join(HERE, "slow_sink.py"), "{port}", str(SLOW_S)])
    top, flying = memory(PawlSide(cluster, "million", sink=sink, transfers=IN_FLIGHT), seconds)
    bench.value(f"The dispatcher's memory at most, with {flying:.0f} mails in flight and {n:,} due", top, "MB", below=48)
    sink.close()


def told(bench):
    for key, text in (("pawl", f"Pawl: a dispatcher that renders, stores, fences; its sends cost nothing, {BATCH} at once"),
                      ("boss", f"pg-boss: {BossSide.about}"), ("graphile", f"graphile-worker: {GraphileSide.about}")):
        bench.about(key, text)
        bench.about(key + "2", text.split(":")[0] + ", two processes")
        bench.about(key + "-old", text.split(":")[0] + ", with an old snapshot")
    bench.about("smtp", "Pawl: the dispatcher as it ships, mail by SMTP")


def run(bench):
    many, some = (20000, 20000) if bench.quick else (1000000, 150000)
    short, long = max(bench.seconds * 3 / 8, 0.8), max(bench.seconds * 5 / 8, 0.8)
    cluster = bench.cluster()
    here = node()
    million = PawlSide(cluster, "million")
    million.fill(many)
    thousand, later = million.copy("thousand"), million.copy("later")
    later.put_off(many)
    claim_times(bench, thousand, million, later)

    # As the other queues it starts with nothing but its backlog.
    sides = {"pawl": PawlSide(cluster, "some", transfers=BATCH), "boss": BossSide(cluster, "boss", here),
             "graphile": GraphileSide(cluster, "graphile", here)}
    twice = {"pawl2": PawlSide(cluster, "some", 2, transfers=BATCH), "boss2": BossSide(cluster, "boss", here, 2),
             "graphile2": GraphileSide(cluster, "graphile", here, 2)}
    told(bench)
    against(bench, "some", f"{some:,} due", {**sides, **twice}, some, short)
    snapshots(bench, sides, some * 2, long)
    sides["pawl"] = PawlSide(cluster, "million", transfers=BATCH)
    against(bench, "many", f"{many:,} due", sides, many, short)
    for name in ("thousand", "million", "later", "some"):
        PawlSide.verify(name)
    costs(bench, some // 5)
    whole(bench, cluster, some, short)
    in_memory(bench, cluster, many, 2 * SLOW_S)
    bench.note("No claim above was timed while the backlog is counted for the metrics. A million takes the server 0.2 s, in which claims on"
               " two cores take a third longer; the next count comes a hundred times as long later, and the first a second after the start.")
    bench.note("What is due was put in by SQL in bulk before each round, and what a round of a million took was put in again.")
    bench.note("Pawl's jobs are mails of a text and an HTML part that are rendered and stored; the queues' jobs do nothing.")
    bench.note("Two cores are the limit here, so that what a job costs them decides. A mail of Pawl is marked on the wire before it"
               " leaves and recorded after, and keeps its content and its attempt: four probes of large indexes, two updates and two"
               " indexed inserts, where graphile-worker's job is an update and a delete, and pg-boss's two updates.")
    bench.note("Of a mail's processor time about a quarter is Pawl's own: its values read into a flat array, three parts expanded, the"
               " content written as JSON. What the server's part is made of is told above, by statement.")
