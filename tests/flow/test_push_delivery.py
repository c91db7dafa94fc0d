"""Push messages through receiver and dispatcher: a delivery a device, Web Push as a service by others decrypts it."""
import base64
import json
import os
import sys
import time
import urllib.request

from harness import *
from kit.https import Authority, openssl, url64
from kit.npm import installed

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import HttpPeer, Shop  # noqa: E402


class Vapid:
    """A key of ours; .pem, and .public as a browser wants it."""

    def __init__(self):
        path = Authority().key("vapid", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").path
        with open(path, encoding="utf-8") as f:
            self.pem = f.read().rstrip("\n")
        self.public = url64(openssl("pkey", "-in", path, "-pubout", "-outform", "DER")[-65:])


class Service:
    """web-push-testing, running."""

    def __init__(self, t):
        folder = installed(t, "tests/peers/push", "service.cjs")
        self.port = free_ports()
        self.proc = Proc("push-service", ["node", "service.cjs", str(self.port)], cwd=folder)
        t.keep(self)
        eventually(lambda: "running" in self.proc.tail(), 20, "the push service runs")

    def close(self):
        self.proc.sigterm()
        self.proc.wait(10)

    def ask(self, path, **what):
        request = urllib.request.Request(f"http://localhost:{self.port}{path}", json.dumps(what).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read().decode()
        return json.loads(text)["data"] if text[:1] == "{" else text

    def subscribe(self, public):
        return self.ask("/subscribe", userVisibleOnly="true", applicationServerKey=public)

    def got(self, subscription):
        return [json.loads(m) for m in self.ask("/get-notifications", clientHash=subscription["clientHash"])["messages"]]

    def expire(self, subscription):
        self.ask("/expire-subscription/" + subscription["clientHash"])


def device(subscription):
    return {"kind": "webpush", "token": {"endpoint": subscription["endpoint"], "keys": subscription["keys"]}}


def setup(t, vapid, private="true", data=None, **how):
    channel = ("  push: { providers: [{ driver: webpush, subject: 'mailto:ops@example.net', key: credential:vapid.pem,"
               f" private: {private} }}] }}")

    def prepare(w):
        for kind in ("most", "least"):
            w.set_template(kind, "title", "Order {{order.id}}\n", "push")
            if data:
                w.set_template(kind, "data", data, "push")
    return Shop(t, channel, "push", credentials={"vapid.pem": vapid.pem}, prepare=prepare, **how)


class Browser:
    """A subscription whose endpoint is a scripted peer; nobody can decrypt what it gets."""

    def __init__(self, url):
        public = openssl("pkey", "-in", Authority().key("browser", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").path,
                         "-pubout", "-outform", "DER")[-65:]
        self.device = {"kind": "webpush", "token": json.dumps({"endpoint": url, "keys": {"p256dh": url64(public), "auth": url64(b"a" * 16)}})}


def made(c, _):
    c.say(201, b"", "Location: https://push.example.net/m/1")


def scripted(t, script, **how):
    p = t.keep(HttpPeer(script))
    return p, setup(t, Vapid(), **how), Browser(p.url + "/push/1").device


@timeout(300)
def test_each_device_gets_the_message_encrypted_for_it_and_signed_by_us(t):
    vapid, service = Vapid(), Service(t)
    shop = setup(t, vapid, data='{"order": "{{order.id}}"}')
    one, two = service.subscribe(vapid.public), service.subscribe(vapid.public)
    order = shop.order("least", devices=[device(one), device(two), device(one)])
    eventually(lambda: [d[2] for d in shop.deliveries(order)] == ["accepted"] * 2, 15)
    for subscription in (one, two):
        [message] = service.got(subscription)
        eq((message["title"], message["body"], message["data"]), (f"Order {order}", f"Order {order}: least.", {"order": order}))
        eq(len(message["pawl"]), 32)
    targets = [d[1] for d in shop.deliveries(order)]
    check(len(set(targets)) == 2 and all(g.startswith("webpush-") for g in targets), targets)
    shown = shop.w.must("deliveries", "show", f"least/{order}")
    check(all(g in shown for g in targets) and one["keys"]["auth"] not in shown, shown)

    service.expire(one)
    order = shop.order("most", devices=[device(one), device(two)])
    eventually(lambda: sorted(d[2] for d in shop.deliveries(order)) == ["accepted", "refused"], 15)
    eq(sorted((a[0], a[1], a[2]) for a in shop.attempts(order)), [(1, 0, 201), (2, 1, 410)])


def test_who_has_no_device_and_what_kind_nobody_serves_is_told(t):
    shop = setup(t, Vapid())
    none = shop.order("least", id="c1")
    eq(shop.deliveries(none), [(3, "", "withheld", 0, "no address")])
    order = shop.order("least", devices=[{"kind": "fcm", "token": "abc"}, {"kind": "pigeon", "token": "coo"}, {"kind": "webpush", "token": "x"}])
    [(channel, target, state, tries, reason)] = shop.deliveries(order)
    eq((channel, target[:4], state, tries, reason), (3, "fcm-", "withheld", 0, "no provider for this kind of device"))


def test_replies_lead_to_what_they_mean(t):
    answers = [(413, b""), (404, b""), (429, b""), (201, b""), (401, b""), (201, b"")]
    p, shop, _ = scripted(t, lambda c, r: c.say(*answers[r["n"]]))
    for n, (state, attempts) in enumerate([("refused", [(2, 0, 413)]), ("refused", [(2, 1, 404)]), ("accepted", [(3, 1, 429), (1, 0, 201)]),
                                          ("accepted", [(3, 1, 401), (1, 0, 201)])]):
        order = shop.order("least", devices=[Browser(f"{p.url}/push/{n}").device])
        shop.ended(order, state)
        eq([a[:3] for a in shop.attempts(order)], attempts)
    first = p.requests[0]
    eq((first["path"], first["headers"]["content-encoding"]), ("/push/0", ["aes128gcm"]))
    check(first["headers"]["authorization"][0].startswith("vapid t="), first["headers"])


def test_what_one_endpoint_answers_stops_no_other(t):
    """Whoever has a device chooses its endpoint, and may have subscribed with another key."""
    def script(c, r):
        if "/bad" in r["path"]:
            return c.say(403 if r["n"] % 2 else 401, b"", "Retry-After: 3600")
        return made(c, r)
    p, shop, _ = scripted(t, script)
    for n in range(4):
        order = shop.order("most", devices=[Browser(f"{p.url}/bad/{n}").device])
        eventually(lambda order=order: shop.attempts(order), 15, "it was tried")
    order = shop.order("least", devices=[Browser(p.url + "/push/1").device])
    shop.ended(order, "accepted")
    eq(shop.outcomes(order), [1])


def trickle(c, _):
    """An answer that never ends: a byte in a second."""
    c.sock.sendall(b"HTTP/1.1 ")
    for _ in range(100):
        time.sleep(1)
        c.sock.sendall(b"2")


def test_endpoints_that_hang_hold_their_transfers_for_seconds(t):
    """More of them than there are transfers; before, each had its own for two minutes."""
    p, shop, _ = scripted(t, lambda c, r: made(c, r) if "/push" in r["path"] else trickle(c, r) if "/drop" in r["path"] else time.sleep(100),
                          host={"dispatcher": {"transfers": 4}})
    hung = shop.order("most", devices=[Browser(f"{p.url}/{what}/{n}").device for n in range(3) for what in ("hang", "drop")])
    eventually(lambda: len(p.requests) >= 4, 10, "they have all transfers")
    order = shop.order("least", devices=[Browser(p.url + "/push/1").device])
    shop.ended(order, "accepted", 60)
    eventually(lambda: {d[2] for d in shop.deliveries(hung)} == {"unknown"}, 40, "all were let go")


def test_an_endpoint_whose_trailers_never_end_is_cut(t):
    """libcurl keeps them all: four endpoints had 1.3 GB of the dispatcher's memory in 15 s."""
    sent = []

    def script(c, _):
        c.sock.sendall(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            sent.append(c.sock.send((b"X: " + b"a" * 900 + b"\r\n") * 70))
    p, shop, browser = scripted(t, script)
    order = shop.order("most", devices=[browser])
    shop.ended(order, "accepted", 30)
    eventually(lambda: p.broken, 15, "it was cut")
    check(sum(sent) < 20e6, f"{sum(sent)} bytes were read")


def test_doubts_of_some_endpoints_hold_no_other_retry(t):
    """Many that cut are no provider that fails at large, which would leave one retry a second to all browsers."""
    p, shop, _ = scripted(t, lambda c, r: c.cut() if "/cut" in r["path"] else c.say(503, b"") if r["path"] not in again else made(c, r))
    again = set()
    strange = shop.order("least", devices=[Browser(f"{p.url}/cut/{n}").device for n in range(20)])
    eventually(lambda: len(shop.attempts(strange)) >= 60, 40, "they are tried again")
    order = shop.order("least", devices=[Browser(p.url + "/push/1").device])
    eventually(lambda: shop.attempts(order), 10, "it was tried")
    again.add("/push/1")
    shop.ended(order, "accepted")
    eq(shop.w.metric("pawl_retries_held_total"), 0)


def test_a_lost_reply_is_unknown_or_sent_again_with_the_same_bytes(t):
    p, shop, browser = scripted(t, lambda c, r: c.cut() if r["n"] < 2 else made(c, r))
    most = shop.order("most", devices=[browser])
    shop.ended(most, "unknown")
    least = shop.order("least", devices=[browser])
    shop.ended(least, "accepted")
    eq((shop.outcomes(most), shop.outcomes(least)), ([4], [4, 1]))
    eq(len(p.requests), 3)
    copies = [(r["body"], r["headers"]["topic"]) for r in p.requests[1:]]
    eq(copies[0], copies[1], "the repeat takes the first one's place")
    eq(shop.w.metric("pawl_possible_duplicates_total"), 1)


def test_an_endpoint_that_names_a_service_in_here_is_refused(t):
    p = t.keep(HttpPeer(made))
    shop = setup(t, Vapid(), private="false")
    for url in (p.url + "/x", f"https://127.0.0.1:{p.port}/x", f"https://localhost:{p.port}/x", f"https://[::1]:{p.port}/x"):
        order = shop.order("least", devices=[Browser(url).device])
        shop.ended(order, "refused")
        eq([a[:2] for a in shop.attempts(order)], [(2, 1)])
    eq(p.connections, [], "nobody knocked")
