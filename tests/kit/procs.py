"""Processes, scratch folders and ports of the tests; everything started here ends with the test run.

Each process is started through `setpriv --pdeathsig KILL`, so that it dies even when the runner is killed
with -9. The kernel ties that signal to the thread that forked, hence the one starter thread that lives as
long as the runner."""
import atexit
import concurrent.futures
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SHARED = os.path.realpath(os.path.join(ROOT, "..", "shared"))

PR_SET_CHILD_SUBREAPER = 36
PORTS = (15000, 32000)  # below the ephemeral range

_starter = concurrent.futures.ThreadPoolExecutor(max_workers=1, thread_name_prefix="starter")
_live = []
_scratch = []
_lasting = []
_ports = {"range": range(*PORTS), "next": random.randrange(*PORTS)}

SANITIZER_MARKS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "AddressSanitizer:DEADLYSIGNAL",
                   "WARNING: ThreadSanitizer", "definitely lost in loss record", "Invalid read of size", "Invalid write of size",
                   "uninitialised value(s)", "uninitialised byte(s)")
# Under a checker (PAWL_WRAP, see harness.py) everything takes longer.
SLOW = float(os.environ.get("PAWL_SLOW", "1"))


def _memory_is_plenty():
    """Whether /dev/shm can take the clusters of all tests; a container often has 64 MB there."""
    try:
        disk = os.statvfs("/dev/shm")
        with open("/proc/meminfo", encoding="ascii") as f:
            available = next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable:"))
        return os.access("/dev/shm", os.W_OK) and min(disk.f_bavail * disk.f_frsize, available) >= MEMORY_PLENTY
    except (OSError, StopIteration):
        return False


MEMORY_PLENTY = 6 << 30
_memory = {"use": False}


def use_memory():
    """For tests. What measures speed does it on a disk."""
    _memory["use"] = _memory_is_plenty()


def scratch(prefix="pawl-", lasting=False, memory=False):
    """A temporary folder that any user may enter (PostgreSQL runs as another one); removed at the test's end, a
    lasting one when the runner ends; memory: where there is plenty of that, on no disk."""
    folder = os.environ.get("PAWL_TEST_TMP") or ("/dev/shm" if memory and _memory["use"] else "/tmp")
    path = tempfile.mkdtemp(prefix=prefix, dir=folder)
    os.chmod(path, 0o755)
    (_lasting if lasting else _scratch).append(path)
    return path


def tool(path):
    """A program of a package that tests/run has unpacked, else the system's own; None when it is nowhere."""
    folder = os.environ.get("PAWL_UNPACKED", os.path.join(ROOT, "build-test", "unpacked"))
    return next((p for p in (os.path.join(folder, path), "/" + path) if os.path.exists(p)), None)


def adopt(worker=0, workers=1):
    """Grandchildren of a process that is killed become ours to wait for (a container's first process may not do it; a forked
    process has to say so again). Of the ports a worker has its own part."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    share = (PORTS[1] - PORTS[0]) // workers
    first = PORTS[0] + worker * share
    _ports.update({"range": range(first, first + share), "next": random.randrange(first, first + share)})


adopt()


def _free(port):
    try:
        with socket.socket() as s:
            s.bind(("127.0.0.1", port))
        return True
    except OSError:
        return False


def free_ports(n=1):
    """The first of n neighbouring free TCP ports; a port comes again only after all others."""
    mine = _ports["range"]
    for _ in mine:
        base = _ports["next"] if _ports["next"] + n <= mine.stop else mine.start
        _ports["next"] = base + n
        if all(_free(port) for port in range(base, base + n)):
            return base
    raise RuntimeError("no free ports found")


def whole_lines(path):
    """The lines of a file that another process is writing, without one that has no end yet. It is read in one go: a loop over the
    file would go on behind that one, and take what is written meanwhile for a line of its own."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().split("\n")[:-1]


def eventually(check, timeout=10.0, what=None, every=0.02):
    """Calls check() until it is true and returns its value; AssertionError after timeout seconds."""
    end = time.monotonic() + timeout * SLOW
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what or getattr(check, '__doc__', None) or 'condition'}; last value {value!r}")
        time.sleep(every)


class Proc:
    """One child process in a process group of its own; stdout and stderr go to one file."""

    def __init__(self, name, argv, env=None, cwd=None, user=None):
        self.name, self.argv = name, argv
        self.log_path = os.path.join(scratch("pawl-log-"), name + ".log")
        pre = ["setpriv", "--pdeathsig", "KILL"]
        if user and os.getuid() == 0:
            pre += ["--reuid", user, "--regid", user, "--clear-groups"]
        self._log = open(self.log_path, "ab")
        self.popen = _starter.submit(
            subprocess.Popen, pre + ["--"] + argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=self._log,
            stderr=subprocess.STDOUT, start_new_session=True).result()
        _live.append(self)

    @property
    def pid(self):
        return self.popen.pid

    def alive(self):
        return self.popen.poll() is None

    def output(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def tail(self, lines=25):
        return "\n".join(self.output().splitlines()[-lines:])

    def tree(self):
        """The pids of the process and of all its descendants."""
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat") as f:
                        parents.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
                except (OSError, IndexError):
                    continue
        found, unseen = [], [self.pid]
        while unseen:
            pid = unseen.pop()
            found.append(pid)
            unseen += parents.get(pid, [])
        return found

    def signal(self, sig):
        if self.alive():
            os.kill(self.pid, sig)

    def signal_tree(self, sig):
        for pid in self.tree() if self.alive() else []:
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                pass

    def sigterm(self):
        self.signal(signal.SIGTERM)

    def freeze(self):
        """SIGSTOP to the process and its descendants; returns when they have stopped."""
        self.signal_tree(signal.SIGSTOP)
        eventually(self.frozen, 5, f"{self.name} stops")

    def thaw(self):
        self.signal_tree(signal.SIGCONT)

    def frozen(self):
        """True once the process itself is stopped, be it by freeze() or by a fault label that stops it."""
        try:
            with open(f"/proc/{self.pid}/stat") as f:
                return f.read().rsplit(")", 1)[1].split()[0] in ("T", "t")
        except OSError:
            return False

    def kill9(self):
        """SIGKILL to the process and its descendants; returns when all of them are gone."""
        pids = self.tree() if self.alive() else []
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.popen.wait(10)
        for pid in pids[1:]:
            eventually(lambda p=pid: gone(p), 10, f"pid {pid} is gone")
        self._log.close()

    def wait(self, timeout=10):
        """Exit status; AssertionError when the process still runs after timeout seconds."""
        try:
            return self.popen.wait(timeout * SLOW)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end within {timeout} s:\n{self.tail()}") from None

    def sanitizer_report(self):
        """The report of ASan, LSan, UBSan, TSan or valgrind in the output, or None."""
        text = self.output()
        at = [text.find(mark) for mark in SANITIZER_MARKS if mark in text]
        return text[max(0, min(at) - 200):min(at) + 4000] if at else None


def gone(pid):
    """True when a process is gone. An orphan among our descendants is ours to wait for: without this it stays as a zombie."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    return not os.path.exists(f"/proc/{pid}")


def marks():
    """A position in the list of live processes and folders, for end_since()."""
    return len(_live), len(_scratch)


def end_since(mark):
    """Kills every process and removes every folder made since mark (keeps them with PAWL_TEST_KEEP)."""
    for proc in reversed(_live[mark[0]:]):
        if proc.alive():
            proc.signal_tree(signal.SIGCONT)
            proc.kill9()
    del _live[mark[0]:]
    if not os.environ.get("PAWL_TEST_KEEP"):
        for path in _scratch[mark[1]:]:
            shutil.rmtree(path, ignore_errors=True)
    del _scratch[mark[1]:]


def processes():
    return list(_live)


def end_all():
    """What is left when this process ends."""
    end_since((0, 0))
    for path in _lasting:
        shutil.rmtree(path, ignore_errors=True)
    del _lasting[:]


atexit.register(end_all)
