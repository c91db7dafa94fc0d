"""Policy versions in the database: stored whole, numbered names, one winner when two apply at once."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

PROBE = os.environ.get("PAWL_STORE_PROBE") or os.path.join(build_dir(), "tests", "sql", "store_probe")


def policy(states, source="shop", messages=True):
    path = ", ".join(states)
    text = f"""pawl: 1
sources:
  {source}:
    scheme: app
    secrets: [credential:shop]
    events:
      step: {{ order: /order/id, to: {states[0]}, contact: {{ email: /email }} }}
orders:
  path: [{path}]
  create: [{states[0]}]
  park: 7d
channels:
  email:
    from: "Shop <shop@example.net>"
    providers:
      - {{ driver: smtp, url: "smtp://127.0.0.1:9", tls: none }}
messages:
"""
    return text + "".join(f"""  at-{s}:
    about: Order reached {s}
    when: {s}
    once: "at-{s}/{{{{order.id}}}}"
    delivery: at-least-once
    send: [email]
    retry: {{ wait: [1s], jitter: 20%, for: 10m }}
""" for s in states if messages)


class Store:
    def __init__(self, t):
        self.cluster, self.dir = t.cluster(), scratch("pawl-policy-")
        self.run("up")

    def run(self, *args, status=0):
        done = subprocess.run([PROBE, self.cluster.dsn(user=None), *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False, env={**os.environ, "PGUSER": "pawl"})
        eq(done.returncode, status, f"{args}: {done.stdout}")
        return done.stdout.splitlines()

    def files(self, text, states, name="policy"):
        path = os.path.join(self.dir, name + ".yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        templates = os.path.join(self.dir, name + "-templates")
        for state in states:
            os.makedirs(os.path.join(templates, f"at-{state}"), exist_ok=True)
            for part in ("subject", "text"):
                with open(os.path.join(templates, f"at-{state}", f"email.en.{part}.mustache"), "w", encoding="utf-8") as f:
                    f.write(f"{state} {part} {{{{order.id}}}} \u00e9\n")
        return path, templates

    def apply(self, states, note="", source="shop"):
        return self.run("apply", note, *self.files(policy(states, source), states))

    def names(self):
        return dict(((kind, name), n) for kind, n, name in self.cluster.query("SELECT kind, id, name FROM pawl.names"))


def test_a_policy_comes_back_as_it_was_applied(t):
    store = Store(t)
    check("no policy is in the database yet" in store.run("load", "0", "pawl_receiver", status=2)[0], "nothing is active before")
    eq(store.apply(["s1", "s2"], "first"), ["version 1 new"])
    for role in ("pawl_receiver", "pawl_dispatcher", "pawl_operator"):
        said = store.run("load", "0", role)
        eq(said[0], "version 1 " + store.cluster.value("SELECT sha256 FROM pawl.policy_versions"), "same texts, same fingerprint")
        eq(said[1:], ["source 1 shop", "state 1 s1", "state 2 s2", "message 1 at-s1", "message 2 at-s2"])
    with open(os.path.join(store.dir, "policy.yaml"), "rb") as f:
        eq(bytes(store.cluster.value("SELECT body FROM pawl.policy_texts WHERE kind = 1")), f.read())
    eq(store.cluster.value("SELECT count(*) FROM pawl.policy_texts WHERE kind = 2"), 4)
    eq(store.cluster.query("SELECT actor, action, object, reason FROM pawl.audit"), [("tester", "policy.apply", "policy/1", "first")])


def test_the_same_texts_make_no_new_version(t):
    store = Store(t)
    store.apply(["s1"])
    eq(store.apply(["s1"], "again"), ["version 1 same"])
    eq(store.cluster.value("SELECT count(*) FROM pawl.policy_versions"), 1)
    eq(store.apply(["s1", "s2"]), ["version 2 new"])
    eq(store.apply(["s1"]), ["version 3 new"], "going back is a version of its own")
    eq([line.split()[1] for line in store.run("versions")], ["3", "2", "1"])


def test_a_name_keeps_its_number_for_ever(t):
    store = Store(t)
    store.apply(["s1", "s2"])
    before = store.names()
    store.apply(["s2", "s3"], source="other")
    after = store.names()
    eq({k: v for k, v in after.items() if k in before}, before)
    eq(after[(2, "s3")], 3)
    eq(after[(1, "other")], 2)
    store.apply(["s1", "s4"])
    eq(store.names()[(2, "s4")], 4)
    eq(store.run("load", "0", "pawl_receiver")[1:4], ["source 1 shop", "state 1 s1", "state 4 s4"])
    eq(store.run("load", "1", "pawl_receiver")[2:4], ["state 1 s1", "state 2 s2"], "an old version can still be read")
    check("policy version 9 is not in the database" in store.run("load", "9", "pawl_receiver", status=2)[0], "a version that is not there")


def test_two_who_apply_at_once_get_versions_of_their_own(t):
    store = Store(t)
    for turn in range(4):
        args = []
        for who in range(4):
            states = [f"t{turn}", f"w{who}"]
            args.append(store.files(policy(states), states, f"p{turn}{who}"))
        runs = [subprocess.Popen([PROBE, store.cluster.dsn(user=None), "apply", "", *a], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True) for a in args]
        said = [r.communicate(timeout=60)[0] for r in runs]
        eq([r.returncode for r in runs], [0] * 4, "".join(said))
        eq(sorted(int(s.split()[1]) for s in said), list(range(turn * 4 + 1, turn * 4 + 5)))
    eq(store.cluster.value("SELECT max(version) FROM pawl.policy_versions"), 16)
    eq(store.cluster.value("SELECT count(DISTINCT sha256) FROM pawl.policy_versions"), 16)


def test_a_version_this_binary_cannot_use_says_where(t):
    store = Store(t)
    store.apply(["s1"])
    store.cluster.query("UPDATE pawl.policy_texts SET body = replace(convert_from(body, 'UTF8'), 'park:', 'spark:')::bytea WHERE kind = 1")
    said = store.run("load", "0", "pawl_receiver", status=2)[0]
    check("policy version 1 can't be used by this binary: " in said and ":11:3: " in said, said)


def test_a_name_without_a_number_is_refused(t):
    store = Store(t)
    store.apply(["s1"])
    store.cluster.query("DELETE FROM pawl.names WHERE name = 'at-s1'")
    check("at-s1" in store.run("load", "0", "pawl_receiver", status=2)[0], "names it")
