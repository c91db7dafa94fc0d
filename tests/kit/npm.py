"""npm packages of others that tests talk to: installed once below build-test/, as their lock file says."""
import contextlib
import fcntl
import json
import os
import shutil
import subprocess

from . import procs

INSTALL_S = 180  # npm, at most


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


@contextlib.contextmanager
def locked(folder):
    """Tests side by side install one after the other; the lock ends with the process that has it."""
    with open(os.path.join(folder, ".lock"), "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def installed(t, source, *files):
    """The folder below build-test/ with node_modules, and a copy of these files; source: "tests/sdk". Skips the test where
    npm is not here or fetches nothing."""
    if not shutil.which("node") or not shutil.which("npm"):
        t.skip("node or npm is not here (deploy/packages, section node): these peers were not asked")
    here = os.path.join(procs.ROOT, source)
    there = os.path.join(procs.ROOT, "build-test", source.removeprefix("tests/"))
    os.makedirs(there, exist_ok=True)
    with locked(there):
        install(t, here, there, files)
    return there


def install(t, here, there, files):
    for name in ("package.json", "package-lock.json", *files):
        shutil.copy(os.path.join(here, name), there)
    lock, mark = read(os.path.join(here, "package-lock.json")), os.path.join(there, "installed-lock.json")
    if not os.path.exists(mark) or read(mark) != lock:
        failed = fetch(there)
        if failed:
            packages = ", ".join(json.loads(read(os.path.join(here, "package.json")))["dependencies"])
            t.skip(f"npm could not fetch what is asked here ({packages}): {failed.strip()[-300:]}")
        with open(mark, "w", encoding="utf-8") as f:
            f.write(lock)


def prism(t, document):
    """(process, URL) of Prism, which answers by that document of ../shared and refuses what it does not allow."""
    path = t.need_shared(document)
    folder, port = installed(t, "tests/peers/prism"), procs.free_ports()
    proc = procs.Proc("prism", ["node", os.path.join(folder, "node_modules", ".bin", "prism"), "mock", "-p", str(port), "-h", "127.0.0.1", path])
    procs.eventually(lambda: "listening" in proc.output(), 60, "Prism answers")
    return proc, f"http://127.0.0.1:{port}"


def fetch(folder):
    """What went wrong, "" when nothing."""
    argv = ["npm", "ci", "--omit=optional", "--omit=peer", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
            "--fetch-retries=1", "--fetch-timeout=20000"]
    try:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it took longer than {INSTALL_S} s"
    return done.stderr if done.returncode else ""
