"""Push to FCM and APNs through a proxy that spoils replies, and HTTP/2 that goes wrong by itself, dispatchers killed at random: what was promised.

--long: 10,000 deliveries a channel and delivery order."""
import collections
import json
import os
import sys

from harness import *
from kit.https import Authority

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from push_peers import PROTOCOL_ERROR, REFUSED_STREAM, Http2Peer  # noqa: E402
from test_channel_faults import Http, Peer, goes_through  # noqa: E402

CLEAN = 20  # requests of the run without faults


def token(n):
    return f"{n:032x}"


class Fcm(Http):
    channel = '  push: { providers: [{ driver: fcm, project: shop, key: credential:fcm.json, url: "http://127.0.0.1:@PORT@" }] }'
    send, status, body = "push", 200, b'{"name":"projects/shop/messages/1"}'
    orders = 25

    def __init__(self, t):
        super().__init__(t)
        with open(Authority().key("fcm").path, encoding="ascii") as f:
            account = {"client_email": "pawl@shop.example", "private_key": f.read(), "token_uri": f"http://127.0.0.1:{self.port}/token"}
        self.credentials = {"fcm.json": json.dumps(account)}

    def answer(self, connection, request):
        if request["path"] == "/token":
            connection.say(200, b'{"access_token":"ya29.a","expires_in":3599,"token_type":"Bearer"}')
        else:
            super().answer(connection, request)

    def taken(self):
        found = collections.defaultdict(collections.Counter)
        for request in [r for r in list(self.peer.requests) if r["path"] != "/token"]:
            found[request["json"]["message"]["token"]][""] += 1
        return found

    def customer(self, proxy, n):
        return {"devices": [{"kind": "fcm", "token": token(n)}]}


class Apns(Peer):
    """Some streams are reset or refused and some connections go away; what was refused or is above the last stream was not taken."""

    send, every, orders = "push", 12, 25

    def __init__(self, t):
        authority = Authority()
        key = authority.key("h2")
        chain = key.path + ".pem"
        with open(chain, "w", encoding="ascii") as f:
            f.write(authority.certificate(key, ["localhost"]))
        self.addresses = []
        self.peer = t.keep(Http2Peer(chain, key.path, self.script))
        self.port = int(self.peer.url.rsplit(":", 1)[1])
        Apns.channel = ("  push: { providers: [{ driver: apns, team: T, key_id: K, key: credential:p8, topic: x.y, concurrency: 8, "
                        f'url: "https://localhost:@PORT@", ca: "{authority.file}" }}] }}')
        with open(Authority().key("p8", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").path, encoding="ascii") as f:
            self.credentials = {"p8": f.read()}

    def script(self, c, stream, n):
        body = json.loads(self.peer.bodies[n])
        fault = n % 23 if n >= CLEAN else 0
        if fault == 7:
            c.reset(stream, REFUSED_STREAM)
            return
        if fault == 11 and c.last is None and c.highest < stream:
            c.last = c.highest
            c.goaway(c.last)
        if c.last is not None and stream > c.last:  # what is above it is not done
            c.open_streams.pop(stream)
            return
        c.highest = max(c.highest, stream)
        self.addresses.append(token(int(body["aps"]["alert"]["body"].strip().split("-")[1])))
        if fault == 3:
            c.reset(stream, PROTOCOL_ERROR)
        elif fault == 17:
            c.cut()
        else:
            c.say(stream)

    def taken(self):
        return {address: {"": n} for address, n in collections.Counter(self.addresses).items()}

    @staticmethod
    def prepare(w):
        for kind in ("most", "least"):
            w.set_template(kind, "text", "{{order.id}}", "push")

    def customer(self, proxy, n):
        return {"devices": [{"kind": "apns", "token": token(n)}]}


@timeout(1800)
def test_fcm_keeps_its_promise(t):
    goes_through(t, Fcm)


@timeout(1800)
def test_apns_keeps_its_promise(t):
    goes_through(t, Apns)
