"""Installations whose mail goes by several providers over HTTP, each a scripted peer."""
import os
import re
import sys

from kit.deliveries import POLICY, Rows

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402

DENIED = b'{"statusCode":401,"name":"missing_api_key","message":"no key"}'
BUSY = b'{"statusCode":429,"name":"rate_limit_exceeded","message":"Too many requests"}'
BAD = b'{"statusCode":422,"name":"validation_error","message":"Invalid `to` field"}'


def fine(c, _):
    c.say()


def denied(c, _):
    c.say(401, DENIED)


def drop(c, _):
    c.cut()


class Switch:
    """A script that can be changed while the peer runs."""

    def __init__(self, script):
        self.script = script

    def __call__(self, connection, request):
        self.script(connection, request)


def install(t, providers, dispatchers=1, channel="", wait="[100ms, 200ms]", host=None, message=""):
    """(installation, peers, rows). providers: [(driver, script, more keys)]; channel, message: further lines of it, of each."""
    peers, lines = [], []
    for driver, script, more in providers:
        peer = t.keep(HttpPeer(script))
        peers.append(peer)
        lines.append(f'{{ driver: {driver}, token: credential:api, url: "{peer.url}"{", " + more if more else ""} }}')
    text = POLICY.replace("@SMTP_PROVIDER@", "\n      - ".join(lines))
    text = re.sub(r"wait: \[[^]]*\]", f"wait: {wait}", text)
    if message:
        text = text.replace("    send: [email]\n", f"    send: [email]\n    {message}\n")
    if channel:
        text = text.replace("    providers:\n", f"    {channel}\n    providers:\n")
    w = t.pawl(t.migrated_cluster(), policy=text, **({"host": host} if host else {}))
    for _ in range(dispatchers):
        w.dispatcher()
    return w, peers, Rows(w)


def to(request):
    """The recipient of a request, in Resend's and in SendGrid's form."""
    said = request["json"]
    return said["to"][0] if "to" in said else said["personalizations"][0]["to"][0]["email"]


def tries(rows, nid):
    """[(provider, outcome)] of its attempts, in the order of steps."""
    return rows.cluster.query("SELECT provider, outcome FROM pawl.attempts WHERE notification_id = %s ORDER BY step", (nid,))
