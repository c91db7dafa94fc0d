"""Tests side by side: forked workers that live as long as the run, each with fixtures, ports and shared memory of its own."""
import collections
import ctypes
import os
import signal
import sys
import tempfile
import time
from multiprocessing import connection

from . import procs

PR_SET_PDEATHSIG = 1
ENDS_WITHIN_S = 15  # a worker that was told to end, with everything its test has started


def own_ipc():
    """PostgreSQL that was killed leaves a shared memory segment, and a machine has 4096: those of a run go with it."""
    clone_newipc = 0x08000000
    if os.getuid() == 0:
        ctypes.CDLL(None).unshare(clone_newipc)  # where that is forbidden they stay, as they do for other users


def end_on_sigterm():
    """SIGTERM ends this process as sys.exit() does; a second one does not disturb that."""
    def end(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(143)
    signal.signal(signal.SIGTERM, end)


def _caught(out, work, case):
    """What work(case) returns, and what it printed meanwhile (its own output and that of children that inherit it)."""
    os.ftruncate(out.fileno(), 0)
    os.lseek(out.fileno(), 0, os.SEEK_SET)
    result = work(case)
    sys.stdout.flush()
    sys.stderr.flush()
    out.seek(0)
    return result, out.read().decode("utf-8", "replace")


def _serve(pipe, cases, work):
    with tempfile.TemporaryFile(buffering=0) as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        while True:
            number = pipe.recv()
            pipe.send(_caught(out, work, cases[number]))


def _worker(number, count, pipe, cases, work):
    """The life of a worker; never returns."""
    parent, status = os.getppid(), 0
    try:
        end_on_sigterm()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            procs.adopt(number, count)
            own_ipc()
            _serve(pipe, cases, work)
    except (EOFError, KeyboardInterrupt):
        pass
    except SystemExit as e:
        status = e.code
    finally:
        procs.end_all()
        os._exit(status)  # not exit(): what the parent registered for its own end is the parent's


class Pool:
    """run() hands out cases; `ended(case, result, output)` is called for each and says whether to go on."""

    def __init__(self, jobs, cases, work, ended):
        self.jobs, self.cases, self.work, self.ended = jobs, cases, work, ended
        self.pids, self.busy = {}, {}  # by pipe
        self.slots = {}

    def _start(self, slot):
        ours, theirs = connection.Pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _worker(slot, self.jobs, theirs, self.cases, self.work)
        theirs.close()
        self.pids[ours], self.slots[ours] = pid, slot

    def _give(self, queue, alone):
        """Hands out what may start now: together, or one when nothing else runs."""
        for pipe in self.pids:
            if queue and pipe not in self.busy and not (alone and self.busy):
                self.busy[pipe] = queue.popleft()
                pipe.send(self.busy[pipe])

    def _take(self, pipe):
        """The result of a worker; the number of one that died with its test is (None, why)."""
        number = self.busy.pop(pipe)
        try:
            result, output = pipe.recv()
        except (EOFError, OSError):
            _, status = os.waitpid(self.pids.pop(pipe), 0)
            result, output = None, f"the worker ended with {os.waitstatus_to_exitcode(status)}"
            self._start(self.slots.pop(pipe))
        return self.ended(self.cases[number], result, output)

    def _all(self, numbers, alone):
        queue = collections.deque(numbers)
        while queue or self.busy:
            self._give(queue, alone)
            for pipe in connection.wait(list(self.busy)):
                if not self._take(pipe):
                    queue.clear()
                    return False
        return True

    def run(self):
        try:
            for slot in range(self.jobs):
                self._start(slot)
            apart = [n for n, case in enumerate(self.cases) if case.alone]
            return self._all([n for n, case in enumerate(self.cases) if not case.alone], False) and self._all(apart, True)
        finally:
            self._end()

    def _end(self):
        for pid in self.pids.values():
            os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + ENDS_WITHIN_S
        for pid in self.pids.values():
            while os.waitpid(pid, os.WNOHANG)[0] == 0:
                if time.monotonic() > end:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.01)
