"""Requests signed or confirmed by the providers' own npm packages (tests/sdk), now, against the real clock: Pawl agrees with each."""
import base64
import json
import os
import subprocess
import sys
import time

from harness import *
from kit.npm import installed

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from test_signatures import with_sources  # noqa: E402

EACH = 5         # requests of each provider, each with two forgeries beside it
TAKEN = {200, 204}
# Where Pawl is meant to differ from a library. These take what Pawl refuses: Node's base64 passes over what is none of it,
LENIENT_BASE64 = {"longer", "shorter", "twice", "quoted", "space-inside"}
# Discord's reads half a byte of hex as a whole one, which is the same one where it ends in 00,
# parseInt() reads "0123", "+123" and "123abc", and what stands behind the last comma counts for nothing,
LENIENT_LIST = {"zero-before-time", "plus-before-time", "letters-behind-time", "sep-last", "twice"}
LOOSE = {"discord": {"shorter"}, "line": LENIENT_BASE64, "sendgrid": LENIENT_BASE64, "telnyx": LENIENT_BASE64, "stripe": LENIENT_LIST, "mux": LENIENT_LIST,
         "paddle": LENIENT_LIST - {"twice"}, "workos": {"sep-last", "twice"}, "gocardless": {"longer", "twice"},
         "svix": {"twice"}, "standardwebhooks": {"twice"}}
# and many have no bound into the future.
UNBOUNDED = ("discord", "mux", "paddle", "sendgrid", "slack", "stripe", "telnyx", "workos")
# Pawl takes what these refuse: of two signatures either may be ours, and the order of items says nothing.
POORER = {"paddle": {"wrong-last"}, "workos": {"reversed", "unknown-between", "wrong-first"}}
NEEDED = 12      # packages, at least


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

    def variants(self, provider):
        self.proc.stdin.write(json.dumps({"provider": provider, "n": 0}) + "\n")
        self.proc.stdin.flush()
        return list(iter(self._line, {}))

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


def served(t):
    """(libraries, receiver's installation, seed): a source of each provider."""
    folder = installed(t, "tests/sdk", "sdk.mjs")
    seed = int(os.environ.get("PAWL_SEED", time.time_ns() % 2**32))
    libraries = t.keep(Libraries(folder, seed))
    check(len(libraries.needs) >= NEEDED, f"only {len(libraries.needs)} providers")
    lines, secrets = sources_of(libraries.needs)
    pawl = t.pawl(t.cluster(), edit=with_sources(lines))
    for name, value in secrets.items():
        pawl.set_credential(name, value)
    pawl.receiver()
    return libraries, pawl, seed


@timeout(300)
def test_the_providers_own_libraries_and_pawl_agree_on_fresh_requests_and_on_changed_ones(t):
    libraries, pawl, seed = served(t)
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


@timeout(300)
def test_pawl_and_the_libraries_differ_only_where_it_is_meant(t):
    libraries, pawl, seed = served(t)
    differ, asked = set(), 0
    for provider in libraries.needs:
        batch = libraries.variants(provider)
        asked += len(batch)
        for made, answer in zip(batch, post_all([request_of(made) for made in batch], pawl.ports(), connections=1)):
            kind, taken = made["kind"], answer.status in TAKEN
            if made["confirmed"] and not taken:
                ahead = kind.startswith("clock+") and provider in UNBOUNDED
                differ |= set() if ahead or kind in LOOSE.get(provider, ()) else {(provider, kind, "only the library takes it")}
            if taken and not made["confirmed"] and kind not in POORER.get(provider, ()):
                differ.add((provider, kind, "only Pawl takes it"))
    eq(sorted(differ), [], f"seed {seed}")
    check(asked >= 290, f"only {asked} variants")
