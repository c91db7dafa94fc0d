"""Where the mail of `pawl up` goes: to its own sink, or to the server that the admin wrote into policy.yaml."""
import os
import signal
import socket
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from test_cli import ENV, up  # noqa: E402


def policy_of(folder):
    with open(f"{folder}/policy.yaml", encoding="utf-8") as f:
        return f.read()


def run_once(folder, name):
    """What `up` told of itself."""
    proc, told = up(folder, name)
    proc.signal(signal.SIGTERM)
    eq(proc.wait(5), 0)
    return told


def taken(port=0):
    return socket.create_server(("127.0.0.1", port))


def test_a_mail_server_of_the_admin_on_this_machine_is_left_alone(_t):
    folder = os.path.join(scratch("pawl-up-"), "d")
    told = run_once(folder, "first")
    check(told["sink_port"] > 0, "mail ends in the sink")
    with taken() as server:
        port = server.getsockname()[1]
        own = policy_of(folder).replace(f"smtp://127.0.0.1:{told['sink_port']}", f"smtp://127.0.0.1:{port}")
        with open(f"{folder}/policy.yaml", "w", encoding="utf-8") as f:
            f.write(own)
        eq((run_once(folder, "runs")["sink_port"], policy_of(folder)), (0, own))
    eq((run_once(folder, "away")["sink_port"], policy_of(folder)), (0, own), "nor does the sink stand in for it while it is away")
    with taken(port):
        pass


def test_a_sink_whose_port_is_taken_gets_another_and_says_so(_t):
    folder = os.path.join(scratch("pawl-up-"), "d")
    first = run_once(folder, "first")["sink_port"]
    with taken(first):
        proc = Proc("again", [binary(), "up", "--dir", folder], env=ENV, cwd="/")
        eventually(lambda: "Running;" in proc.tail(), 60, "it runs")
        proc.signal(signal.SIGTERM)
        eq(proc.wait(5), 0)
    second = run_once(folder, "third")["sink_port"]
    check(second not in (0, first), "it keeps the other one")
    check(f"smtp://127.0.0.1:{second}\"" in policy_of(folder), policy_of(folder))
    check(f"port {first} is taken: the mail sink has {second}" in proc.tail(), proc.tail())
