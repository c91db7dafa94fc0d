"""frame.py: what every benchmark uses: a cluster of its own, rounds in turn, medians, ratios, one JSON file.

A benchmark is a file tests/bench/<folder>/bench_<name>.py:

    TITLE = "Receive: from the request to the answer"
    def run(bench):
        pg = bench.cluster()                             # a new PostgreSQL cluster with production-like settings (SETTINGS)
        bench.interleave("64", "64 connections", {       # A B C, A B C, ..: bench.rounds times, each bench.seconds long
            "pawl": lambda seconds: {"events/s": 9000.0, "p99 ms": 7.1},      # one contestant's round: its figures
            "node": lambda seconds: {"events/s": 2000.0, "p99 ms": 31.0}})
        bench.about("pawl", "Pawl, the whole job")       # what a contestant is, once
        bench.ratio("Pawl against Node", ("64", "pawl"), ("64", "node"), "events/s", at_least=2)
        bench.value("receiver's memory", 19.5, "MB", below=24)   # a target that is no ratio
        bench.note("4,000,000 keys were made by ..")     # how something was done; shown in docs/performance.md

`tests/bench/run NAME` runs it and writes results/NAME.json; report.py makes docs/performance.md from those files. A ratio is
formed round by round and its median is told, so that a machine that slows down slows both. bench.quick: a look whether
everything works, figures mean nothing (written below build-bench/, never to results/)."""
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests"))

# pylint: disable=wrong-import-position
from kit import procs  # noqa: E402
from kit.cluster import BIN, Cluster  # noqa: E402

WORK = os.path.join(ROOT, "build-bench")  # what is built and fetched for the benchmarks; git ignores it
SETTINGS = {  # Of every cluster; all else is as PostgreSQL ships it. Said in the report.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "1GB",
    "min_wal_size": "2GB",  # segments are used again, as on a server that has run for a while: new_cluster()
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
    "checkpoint_completion_target": "0.9",
    "autovacuum": "on",
    "deadlock_timeout": "1s",
    "jit": "off",
    "max_connections": "100",
}
TICKS = os.sysconf("SC_CLK_TCK")


def say(text):
    print(text, flush=True)


def run(argv, **how):
    """Runs a command that has to succeed; its stdout."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **how)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def first_line(path, start):
    with open(path, encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith(start)), "")


def fsync_ms(folder, times=200):
    """(median, 99 %) of writing 8 KiB and fdatasync in this folder, in ms."""
    took = []
    fd, path = tempfile.mkstemp(prefix="pawl-fsync-", dir=folder)
    try:
        os.pwrite(fd, b"\1" * 8192 * 64, 0)
        os.fsync(fd)
        for i in range(times):
            start = time.perf_counter()
            os.pwrite(fd, os.urandom(8192), i % 64 * 8192)
            os.fdatasync(fd)
            took.append((time.perf_counter() - start) * 1000)
    finally:
        os.close(fd)
        os.unlink(path)
    took.sort()
    return round(took[times // 2], 3), round(took[times * 99 // 100], 3)


def machine():
    """What the figures were measured on."""
    folder = os.environ.get("PAWL_TEST_TMP", "/tmp")
    median, p99 = fsync_ms(folder)
    return {
        "cpu": first_line("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "huge_pages": int(first_line("/proc/meminfo", "HugePages_Total")),
        "ram_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "system": system_name(),
        "file_system": run(["stat", "-f", "-c", "%T", folder]).strip(),
        "postgresql": re.search(r"\) (\S+)", run([f"{BIN}/postgres", "--version"]))[1],
        "fdatasync_median_ms": median,
        "fdatasync_p99_ms": p99,
    }


def system_name():
    with open("/etc/os-release", encoding="utf-8") as f:
        return next(line.split("=", 1)[1].strip().strip('"') for line in f if line.startswith("PRETTY_NAME"))


def new_cluster(options, like=None):
    """A cluster whose log is as on a server that has run for a while: no segment is new, old ones are used again."""
    cluster = Cluster(options=options, like=like, segment_mb=16)  # as PostgreSQL ships it
    for _ in range(128):  # of min_wal_size
        cluster.query("SELECT pg_logical_emit_message(false, 'pawl', ''), pg_switch_wal()", db="postgres")
    cluster.query("CHECKPOINT", db="postgres")
    return cluster


def usage(pid):
    """{cpu: seconds of user and system time, rss, hwm: MB now and at most} of one process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    status = f"/proc/{pid}/status"
    def mb(key):
        return int(first_line(status, key).split()[0]) / 1024
    return {"cpu": (int(fields[11]) + int(fields[12])) / TICKS, "rss": mb("VmRSS"), "hwm": mb("VmHWM")}


def tree_cpu(proc):
    """Seconds of processor time of a process, its descendants and those of them that have ended: a cluster's, say."""
    total = 0
    for pid in proc.tree():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                total += sum(int(x) for x in f.read().rsplit(")", 1)[1].split()[11:15 if pid == proc.pid else 13])
        except OSError:
            continue
    return total / TICKS


def children_cpu():
    """Seconds of processor time of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def npm(folder):
    """Installs a folder's package.json (with its lock) below build-bench/ through npm; the folder it can be run in."""
    name = os.path.relpath(folder, HERE).replace("/", "-")
    there = os.path.join(WORK, "node", name)
    os.makedirs(there, exist_ok=True)
    same = os.path.exists(os.path.join(there, "node_modules"))
    for entry in os.listdir(folder):
        source, target = os.path.join(folder, entry), os.path.join(there, entry)
        if os.path.isfile(source):
            if entry == "package-lock.json" and same and _text(source) != _text(target):
                same = False
            shutil.copy(source, target)
    if not same:
        say(f"installing the packages of {os.path.relpath(folder, ROOT)}")
        run(["npm", "ci" if os.path.exists(os.path.join(there, "package-lock.json")) else "install",
             "--no-audit", "--no-fund", "--loglevel=error"], cwd=there)
    return there


def _text(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return None


def node_version():
    return run(["node", "--version"]).strip()


class Bench:
    """One benchmark while it runs: .quick, .seconds (of one contestant's round), .rounds."""

    def __init__(self, name, title, seconds, rounds, quick):
        self.name, self.title, self.seconds, self.rounds, self.quick = name, title, seconds, rounds, quick
        self._start = time.time()
        self.doc = {"name": name, "title": title, "quick": quick, "seconds": seconds, "rounds": rounds, "settings": SETTINGS,
                    "at": time.strftime("%Y-%m-%d", time.gmtime()), "commit": self._commit(), "machine": machine(),
                    "load_before": os.getloadavg()[0], "contestants": {}, "groups": {}, "targets": [], "notes": []}

    @staticmethod
    def _commit():
        try:
            return run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"]).strip()
        except (RuntimeError, OSError):
            return "unknown"

    def cluster(self, like=None, **settings):
        """A new cluster (kit/cluster.py) with SETTINGS; what differs from them is recorded."""
        if settings:
            self.doc["settings"] = {**self.doc["settings"], **settings}
        return new_cluster({**SETTINGS, **settings}, like)

    def about(self, key, text):
        """What a contestant is, in a few words."""
        self.doc["contestants"][key] = text

    def note(self, text):
        self.doc["notes"].append(text)

    def interleave(self, group, title, contestants, rounds=None, seconds=None, warm=True):
        """Runs the contestants in turn, after one short round each that does not count; the median figures of each."""
        rounds, seconds = rounds or self.rounds, seconds or self.seconds
        say(f"{self.name} {group}: {title}")
        for play in contestants.values() if warm else ():
            play(min(1.0, seconds))
        found = {key: [] for key in contestants}
        for number in range(rounds):
            for key, play in contestants.items():
                figures = play(seconds)
                found[key].append(figures)
                say(f"  {number + 1}/{rounds} {key:12} " + "  ".join(f"{v:,.4g} {k}" for k, v in figures.items()))
        self.doc["groups"][group] = {
            "title": title, "seconds": seconds,
            "contestants": {key: {"rounds": all_rounds,
                                  "summary": {m: summary([r[m] for r in all_rounds]) for m in all_rounds[0]}}
                            for key, all_rounds in found.items()}}
        return {key: {m: v["median"] for m, v in c["summary"].items()}
                for key, c in self.doc["groups"][group]["contestants"].items()}

    def figures(self, group, key, metric):
        """A contestant's values of one figure, round by round."""
        return [r[metric] for r in self.doc["groups"][group]["contestants"][key]["rounds"]]

    def ratio(self, text, of, to, metric, at_least=None, at_most=None):  # pylint: disable=too-many-arguments
        """Compares (group, contestant) `of` with `to` round by round; metric may be a pair, the second for `to`.
        With a limit it is a target."""
        pair = metric if isinstance(metric, tuple) else (metric, metric)
        values = [a / b for a, b in zip(self.figures(*of, pair[0]), self.figures(*to, pair[1])) if b]
        self._target({"text": text, "metric": " / ".join(dict.fromkeys(pair)), "unit": "x", **summary(values or [0.0])}, at_least, at_most)

    def value(self, text, values, unit, at_least=None, below=None):
        """A target that is no ratio: one value or a list of them."""
        values = values if isinstance(values, list) else [values]
        self._target({"text": text, "metric": unit, "unit": unit, **summary(values)}, at_least, below)

    def _target(self, row, at_least, at_most):
        row.update(at_least=at_least, at_most=at_most)
        if at_least is not None or at_most is not None:
            row["met"] = (at_least is None or row["median"] >= at_least) and (at_most is None or row["median"] <= at_most)
        self.doc["targets"].append(row)
        limit = f" (at least {at_least})" if at_least is not None else f" (at most {at_most})" if at_most is not None else ""
        say(f"  => {row['text']}: {row['median']:.3g} {row['unit']}{limit} [{row['min']:.3g} .. {row['max']:.3g}]"
            + ("" if row.get("met", True) else "  MISSED"))

    def save(self):
        self.doc.update(took_s=round(time.time() - self._start), load_after=os.getloadavg()[0])
        folder = os.path.join(WORK, "results-quick") if self.quick else os.path.join(HERE, "results")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self.name + ".json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.doc, f, indent=1)
            f.write("\n")
        say(f"wrote {os.path.relpath(path, ROOT)} after {self.doc['took_s']} s")


def binary():
    """The build's `pawl` (tests/bench/run makes it)."""
    return os.path.join(os.environ["PAWL_BUILD"], "cli", "pawl")


def tool(path):
    """A program of the build: tool("tests/bench/receive/bare")."""
    return os.path.join(os.environ["PAWL_BUILD"], path)


__all__ = ["BIN", "Bench", "Cluster", "HERE", "ROOT", "SETTINGS", "WORK", "binary", "children_cpu", "fsync_ms", "machine", "node_version", "npm",
           "procs", "run", "say", "summary", "tool", "tree_cpu", "usage"]
