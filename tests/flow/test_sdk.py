"""Requests signed or confirmed by the providers' own npm packages (tests/sdk), now, against the real clock: Pawl agrees with each."""
import base64
import json
import os
import shutil
import subprocess
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from test_signatures import with_sources  # noqa: E402

HERE = os.path.join(ROOT, "tests", "sdk")
INSTALL_S = 180  # npm, at most
EACH = 5         # requests of each provider, each with two forgeries beside it
TAKEN = {200, 204}
NEEDED = 12      # packages, at least


def installed(t):
    """The folder whose node_modules are what the lock says, below build-test/; made by npm when it is not there."""
    if not shutil.which("node") or not shutil.which("npm"):
        t.skip("node or npm is not here (deploy/packages, section node): the providers' own libraries were not asked")
    there = os.path.join(ROOT, "build-test", "sdk")
    os.makedirs(there, exist_ok=True)
    for name in ("package.json", "package-lock.json", "sdk.mjs"):
        shutil.copy(os.path.join(HERE, name), there)
    with open(os.path.join(HERE, "package-lock.json"), encoding="utf-8") as f:
        lock = f.read()
    mark = os.path.join(there, "installed-lock.json")
    if not os.path.exists(mark) or read(mark) != lock:
        argv = ["npm", "ci", "--omit=optional", "--omit=peer", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
                "--fetch-retries=1", "--fetch-timeout=20000"]
        try:
            done = subprocess.run(argv, cwd=there, capture_output=True, text=True, timeout=INSTALL_S, check=False)
            failed = done.stderr if done.returncode else ""
        except subprocess.TimeoutExpired:
            failed = f"it took longer than {INSTALL_S} s"
        if failed:
            packages = ", ".join(json.loads(read(os.path.join(HERE, "package.json")))["dependencies"])
            t.skip(f"npm could not fetch what is confirmed here ({packages}): {failed.strip()[-300:]}")
        with open(mark, "w", encoding="utf-8") as f:
            f.write(lock)
    return there


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Libraries:
    """The packages in one process of Node: .needs is {provider: {secrets, by, url}}, make() their requests."""

    def __init__(self, folder, seed):
        self.proc = subprocess.Popen(["node", "sdk.mjs", str(seed)], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                     stderr=subprocess.PIPE, text=True)
        self.needs = self._line()

    def _line(self):
        line = self.proc.stdout.readline()
        if not line.startswith("{"):
            raise AssertionError(f"sdk.mjs said {line!r}: {self.proc.stderr.read()[-2000:]}")
        return json.loads(line)

    def make(self, provider, n):
        self.proc.stdin.write(json.dumps({"provider": provider, "n": n}) + "\n")
        self.proc.stdin.flush()
        return [self._line() for _ in range(3 * n)]

    def close(self):
        self.proc.kill()
        self.proc.communicate()


def sources_of(needs):
    lines, secrets = [], {}
    for provider, need in needs.items():
        names = [f"{provider}-{n}" for n in range(len(need["secrets"]))]
        secrets.update(zip(names, need["secrets"]))
        lines += [f"  {provider}:", f"    scheme: {provider}", f"    secrets: [{', '.join('credential:' + n for n in names)}]"]
        lines += [f"    public_url: {need['url']}"] * bool(need["url"]) + ["    events: { never.sent: { order: /order, to: s1 } }"]
    return lines, secrets


def request_of(made):
    headers = {name: value.encode().decode("latin-1") for name, value in made["headers"].items()}
    return Request(f"/hooks/{made['provider']}{made['query']}", headers, base64.b64decode(made["body"]))


@timeout(300)
def test_the_providers_own_libraries_and_pawl_agree_on_fresh_requests_and_on_changed_ones(t):
    folder = installed(t)
    seed = int(os.environ.get("PAWL_SEED", time.time_ns() % 2**32))
    libraries = t.keep(Libraries(folder, seed))
    check(len(libraries.needs) >= NEEDED, f"only {len(libraries.needs)} providers")
    lines, secrets = sources_of(libraries.needs)
    pawl = t.pawl(t.cluster(), edit=with_sources(lines))
    for name, value in secrets.items():
        pawl.set_credential(name, value)
    pawl.receiver()
    strange, forged = [], 0
    for provider in libraries.needs:
        batch = libraries.make(provider, EACH)
        for made, answer in zip(batch, post_all([request_of(made) for made in batch], pawl.ports(), connections=1)):
            genuine = made["kind"] == "signed"
            forged += not genuine
            if made["confirmed"] != genuine or (answer.status in TAKEN if not genuine else answer.status not in TAKEN):
                strange.append((provider, made["kind"], made["confirmed"], answer.status, answer.error or answer.body, made["headers"], made["body"]))
    eq(strange, [], f"seed {seed}: (provider, kind, its library confirmed it, Pawl's answer, headers, body)")
    stored = dict(pawl.cluster.query("SELECT n.name, count(*) FROM (SELECT DISTINCT source, arrival FROM pawl.bodies) b"
                                     " JOIN pawl.names n ON n.kind = 1 AND n.id = b.source GROUP BY 1"))
    eq(stored, {provider: EACH for provider in libraries.needs}, f"seed {seed}: requests that the database holds")
    eq(forged, 2 * EACH * len(libraries.needs))
    signers = [p for p, need in libraries.needs.items() if need["by"] == "library"]
    print(f"      {len(libraries.needs)} packages, {len(signers)} of them signed themselves ({', '.join(signers)});"
          f" {EACH * len(libraries.needs)} requests taken, {forged} changed ones refused by both", flush=True)
