"""Runs test_*.py files: one line a test with its sentence and time, at the end `N passed, N failed`."""
import argparse
import contextlib
import ctypes
import importlib.util
import os
import signal
import sys
import time
import traceback

from . import cluster as clusters
from . import pawl as pawls
from . import procs, smtp

DEFAULT_TIMEOUT_S = 120


class Skip(Exception):
    """Raised by t.skip(): the test does not apply here; the reason is printed."""


class TimedOut(BaseException):
    """The test took too long. Not an Exception, so that no test swallows it."""


class Test:
    """What a test function gets: makes fixtures that end with it. t.long: long runs were asked for."""

    def __init__(self, long):
        self.long = long
        self._stack = contextlib.ExitStack()

    def keep(self, fixture):
        """Closes the fixture (its .close()) when the test ends, the last one first."""
        self._stack.callback(fixture.close)
        return fixture

    def cluster(self, **options):
        return self.keep(clusters.Cluster(**options))

    def sink(self, **options):
        return self.keep(smtp.SmtpSink(**options))

    def postfix_sink(self, *options):
        self.need_tool("usr/sbin/smtp-sink")
        return self.keep(smtp.PostfixSink(options))

    def pawl(self, cluster, sink=None, **options):
        self.need_pawl()
        return self.keep(pawls.Pawl(cluster, sink, **options))

    def world(self, receivers=1, dispatchers=1, cluster=None, sink=None, **options):
        """The whole path, running: a Pawl whose .cluster and .sink are new unless given."""
        self.need_pawl()
        cluster = cluster or self.migrated_cluster()
        return self.pawl(cluster, sink or self.sink(), **options).start(receivers, dispatchers)

    def migrated_cluster(self, **options):
        """A cluster whose database has the schema already; migrated once a run."""
        if not clusters.saved("migrated"):
            first = clusters.Cluster()
            pawls.Pawl(first, setup=False).must("migrate", "up")
            first.save("migrated")
        return self.cluster(like="migrated", **options)

    def need_pawl(self):
        if not os.path.exists(pawls.binary()):
            raise AssertionError(f"{pawls.binary()} is not built")

    def need_faults(self):
        if not pawls.has_faults():
            self.skip("the build has no fault labels (-Dfaults=true)")

    def need_shared(self, path):
        """The path of a file in ../shared; the test is skipped where that is absent."""
        found = os.path.join(procs.SHARED, path)
        if not os.path.exists(found):
            self.skip(f"../shared/{path} is not here")
        return found

    def need_tool(self, path):
        """The path of a program that tests/run unpacks; the test is skipped where it is absent."""
        found = procs.tool(path)
        if not found:
            self.skip(f"{path} is not here (deploy/packages, section test-unpack)")
        return found

    def skip(self, reason):
        raise Skip(reason)


def timeout(seconds):
    """Decorator: the test may take so long (default 120 s)."""
    def mark(f):
        f.timeout_s = seconds
        return f
    return mark


def eq(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what + ': ' if what else ''}got {got!r}, want {want!r}")


def check(truth, what):
    if not truth:
        raise AssertionError(what)


def _alarm(_signo, _frame):
    raise TimedOut()


def _run_one(function, long):
    """(ended, detail): passed, failed or skipped."""
    mark, t = procs.marks(), Test(long)
    seconds = int(getattr(function, "timeout_s", DEFAULT_TIMEOUT_S) * (10 if long else 1) * procs.SLOW)
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(seconds)
    try:
        with t._stack:
            function(t)
        return "passed", ""
    except Skip as e:
        return "skipped", str(e)
    except TimedOut:
        return "failed", f"took longer than {seconds} s\n" + traceback.format_exc() + _last_words(mark)
    except Exception:  # pylint: disable=broad-except
        return "failed", traceback.format_exc() + _last_words(mark)
    finally:
        signal.alarm(0)
        procs.end_since(mark)


def _last_words(mark):
    """The end of the output of each process that the test started."""
    said = [(p.name, p.tail(15)) for p in procs.processes()[mark[0]:]]
    return "".join(f"--- {name} said:\n{text}\n" for name, text in said if text)


def _functions(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(n, f) for n, f in vars(module).items() if n.startswith("test_") and callable(f) and f.__module__ == module.__name__]


def _files(paths):
    for path in paths:
        if os.path.isdir(path):
            yield from sorted(os.path.join(path, n) for n in os.listdir(path) if n.startswith("test_") and n.endswith(".py"))
        else:
            yield path


def _sentence(path, name):
    return os.path.basename(path)[5:-3] + ": " + name[5:].replace("_", " ")


def _report(ended, sentence, seconds, detail):
    reason = f" ({detail})" if ended == "skipped" else ""
    print(f"{ {'passed': 'ok  ', 'failed': 'FAIL', 'skipped': 'skip'}[ended] } {seconds:6.2f}s  {sentence}{reason}", flush=True)
    if ended == "failed":
        print("".join("    " + line + "\n" for line in detail.rstrip().splitlines()), flush=True)


def _own_ipc():
    """PostgreSQL that was killed leaves a shared memory segment, and a machine has 4096: those of a run go with it."""
    clone_newipc = 0x08000000
    if os.getuid() == 0:
        ctypes.CDLL(None).unshare(clone_newipc)  # where that is forbidden they stay, as they do for other users


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("paths", nargs="+", help="folders or test_*.py files")
    p.add_argument("--long", action="store_true", help="long soaks too")
    p.add_argument("-k", metavar="WORD", help="only tests whose name contains WORD")
    p.add_argument("-x", action="store_true", help="stop at the first failure")
    args = p.parse_args(argv)
    _own_ipc()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for path in _files(args.paths):
        try:
            functions = _functions(path)
        except Exception:  # pylint: disable=broad-except
            functions = []
            counts["failed"] += 1
            _report("failed", f"{path} loads", 0, traceback.format_exc())
        for name, function in functions:
            if args.k and args.k not in name:
                continue
            start = time.monotonic()
            ended, detail = _run_one(function, args.long)
            counts[ended] += 1
            _report(ended, _sentence(path, name), time.monotonic() - start, detail)
            if ended == "failed" and args.x:
                break
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", flush=True)
    return 1 if counts["failed"] or not counts["passed"] + counts["skipped"] else 0
