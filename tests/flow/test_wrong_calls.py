"""A wrong call of each command: exit 2, before anything else is looked at."""
import os
import subprocess

from harness import *

ENV = {**os.environ, "LC_ALL": "C.UTF-8", "PAWL_CONFIG": "/nonexistent/pawl.yaml"}

# What is wrong with the call itself, whatever else is: each command's own flags and arguments.
WRONG_CALLS = [
    ("verify",), ("verify", "--at", "noon"), ("keys", "list", "--limit", "x"), ("keys", "check", "--since", "x"),
    ("trigger", "shop"), ("trigger", "shop:step.s1", "--set", "x"), ("trigger", "shop:step.s1", "--set", "/x"),
    ("trigger", "shop:step.s1", "--copies", "0"), ("trigger", "shop:step.s1", "--parallel", "65"),
    ("trigger", "shop:step.s1", "--to", "ftp://x"), ("trigger", "shop:step.s1", "--id", "x" * 300),
    ("inbox", "list", "--since", "soon"), ("inbox", "list", "--limit", "1001"), ("inbox", "waiting", "--limit", "0"),
    ("inbox", "show", "x", "--since", "-1d"), ("inbox", "rejected", "list", "--limit", "-1"), ("inbox", "rejected", "show", "x"),
    ("inbox", "reverify"), ("inbox", "reverify", "--source", "shop", "--since", "x"),
    ("deliveries", "list", "--state", "gone"), ("deliveries", "list", "--limit", "1001"), ("deliveries", "show", "x", "--limit", "x"),
    ("deliveries", "resolve", "x", "--reason", "r"), ("deliveries", "resolve", "x", "--as", "lost", "--reason", "r"),
    ("deliveries", "resolve", "x", "--as", "sent", "--redrive", "--reason", "r"),
    ("deliveries", "cancel", "--reason", "r"), ("deliveries", "cancel", "x"), ("deliveries", "cancel", "--channel", "fax", "--reason", "r"),
    ("deliveries", "redrive", "--until", "x", "--reason", "r"), ("deliveries", "redrive", "x", "--type", "t", "--reason", "r"),
    ("deliveries", "redrive", "--max", "20001", "--reason", "r"), ("deliveries", "redrive", "--state", "gone", "--reason", "r"),
    ("pause", "all"), ("pause", "all", "--reason", "r", "--for", "0"), ("pause", "all", "--reason", "r", "--for", "x"),
    ("resume", "all", "--reason", "r" * 401), ("pauses", "--limit", "1001"), ("suppress", "list", "--channel", "fax"),
    ("suppress", "list", "--limit", "1001"), ("suppress", "add", "ann@example.net"), ("suppress", "add", "0171", "--reason", "r"),
    ("suppress", "add", "a@b@,", "--reason", "r"), ("suppress", "remove", "ann", "--reason", "r"),
    ("policy", "show", "x"), ("policy", "list", "--limit", "1001"), ("policy", "check", "--limit", "x"),
    ("migrate", "sql", "--from", "x"), ("migrate", "sql", "--to", "0"), ("migrate", "check", "--since", "x"),
    ("doctor", "--since", "x"), ("reconcile", "--since", "x"), ("story", "1", "--since", "x"), ("schemes", "list", "--limit", "x"),
    ("up", "--dir", "/tmp/a'b"), ("demo", "--dir", "/tmp/a,b"), ("completion", "fish"),
]


def test_a_wrong_call_is_told_as_that_with_a_host_file_and_without(t):
    p = t.pawl(t.migrated_cluster(), policy="strict")
    named = {words for args in WRONG_CALLS for words in (args[:1], args[:2], args[:3])}
    told = {tuple(c["name"].split()) for c in p.json("help")["commands"]}
    eq(told - named - {("receiver",), ("dispatcher",), ("help",), ("version",), ("migrate", "up"), ("migrate", "list"), ("schemes", "show"), ("policy", "apply")}, set())
    no_host = {("verify",), ("trigger",)}  # a request names its source, a host file the receiver: they are read first
    found = []
    for args in WRONG_CALLS:
        for config in [p.config] + [None] * ((args[:1]) not in no_host):
            done = subprocess.run([binary(), *(["--config", config] if config else []), *args], env=p.env if config else ENV,
                                  input="POST /x HTTP/1.1\r\nHost: a\r\n\r\n{}", text=True, capture_output=True, timeout=60, check=False)
            if (done.returncode, done.stdout) != (2, ""):
                found.append((args, config, done.returncode, done.stdout[-200:], done.stderr[-200:]))
    eq(found, [])
    missing = os.path.join(scratch("pawl-none-"), "pawl.yaml")
    with open(p.config, encoding="utf-8") as of, open(missing, "w", encoding="utf-8") as f:
        f.write("".join(line for line in of if not line.startswith("credentials:")))
    for args in (("keys", "check"), ("verify", "--source", "shop")):
        done = subprocess.run([binary(), "--config", missing, *args], env=p.env, input="GET / HTTP/1.1\r\n\r\n", text=True,
                              capture_output=True, timeout=60, check=False)
        check(done.returncode == 78 and "credentials" in done.stderr, f"{args}: {done.returncode} {done.stderr}")
