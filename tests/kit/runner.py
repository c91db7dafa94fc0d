"""Runs test_*.py files: one line a test with its sentence and time, at the end `N passed, N failed`."""
import argparse
import collections
import contextlib
import importlib.util
import itertools
import os
import signal
import sys
import time
import traceback

from . import cluster as clusters
from . import pawl as pawls
from . import pool, procs, sign, smtp

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


def alone(f):
    """Decorator: the test measures the machine and runs when the others have ended."""
    f.alone = True
    return f


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
    sign.begin_test()
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


class Case:
    """A test function with its place in the run."""

    def __init__(self, number, suite, path, name, function):
        self.number, self.suite, self.path, self.name, self.function = number, suite, path, name, function
        self.alone = getattr(function, "alone", False)
        self.timeout_s = getattr(function, "timeout_s", DEFAULT_TIMEOUT_S)


def _cases(paths, word, book):
    """The tests of all files; a file that does not load is a failure."""
    number = itertools.count()
    for given in paths:
        suite = os.path.basename(os.path.realpath(given if os.path.isdir(given) else os.path.dirname(given)))
        for path in _files([given]):
            try:
                functions = _functions(path)
            except Exception:  # pylint: disable=broad-except
                book.file_fails(suite, path, traceback.format_exc())
                functions = []
            yield from (Case(next(number), suite, path, name, f) for name, f in functions if not word or word in name)


class Book:
    """Counts how tests ended and prints them: at once, or a file's tests together when the last of them has ended."""

    def __init__(self, whole_files, stop_at_failure):
        self.whole_files, self.stop_at_failure = whole_files, stop_at_failure
        self.counts = {}  # by suite
        self.left, self.lines = collections.Counter(), {}  # by file

    def expect(self, cases):
        self.left.update(case.path for case in cases)
        for case in cases:
            self.counts.setdefault(case.suite, collections.Counter())

    def file_fails(self, suite, path, detail):
        self.counts.setdefault(suite, collections.Counter())["failed"] += 1
        print(_told("failed", f"{path} loads", 0, detail), flush=True)

    def ended(self, case, result, output=""):
        """Takes a result, None if the test's process died (output says why); returns whether to go on."""
        how, detail, seconds = result or ("failed", output, 0)
        self.counts[case.suite][how] += 1
        self.left[case.path] -= 1
        told = output * bool(result) + _told(how, _sentence(case.path, case.name), seconds, detail)
        self.lines.setdefault(case.path, {})[case.number] = told
        stop = how == "failed" and self.stop_at_failure
        if not self.whole_files or stop or not self.left[case.path]:
            print("\n".join(told for _, told in sorted(self.lines.pop(case.path).items())), flush=True)
        return not stop

    def close(self):
        """Prints the sums, of each suite where there are several; returns the exit status."""
        total = sum(self.counts.values(), collections.Counter())
        if len(self.counts) > 1:
            print("\n".join(f"{suite}: {_sum(counts)}" for suite, counts in self.counts.items()))
        print(_sum(total), flush=True)
        return 1 if total["failed"] or not total["passed"] + total["skipped"] else 0


def _sum(counts):
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def _told(how, sentence, seconds, detail):
    reason = f" ({detail})" if how == "skipped" else ""
    text = f"{ {'passed': 'ok  ', 'failed': 'FAIL', 'skipped': 'skip'}[how] } {seconds:6.2f}s  {sentence}{reason}"
    return text + "".join("\n    " + line for line in detail.rstrip().splitlines()) if how == "failed" else text


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("paths", nargs="+", help="folders or test_*.py files")
    p.add_argument("--long", action="store_true", help="long soaks too")
    p.add_argument("-j", metavar="N", type=int, default=1, help="so many tests at a time")
    p.add_argument("-k", metavar="WORD", help="only tests whose name contains WORD")
    p.add_argument("-x", action="store_true", help="stop at the first failure")
    args = p.parse_args(argv)
    pool.end_on_sigterm()
    if not args.long:  # hours of log are not for memory
        procs.use_memory()
    book = Book(args.j > 1, args.x)
    cases = list(_cases(args.paths, args.k, book))
    book.expect(cases)

    def work(case):
        start = time.monotonic()
        return (*_run_one(case.function, args.long), time.monotonic() - start)
    if args.j > 1:
        # Those that may take longest begin first, lest one of them runs on alone at the end.
        pool.Pool(args.j, sorted(cases, key=lambda case: -case.timeout_s), work, book.ended).run()
    else:
        pool.own_ipc()
        all(book.ended(case, work(case)) for case in cases)
    return book.close()
