"""Each channel through a proxy that spoils one reply in five, dispatchers killed at random: what was promised, by the peer's own log.

--long: 10,000 deliveries a channel and delivery order."""
import collections
import json
import os
import random
import re
import sys
import time
import urllib.parse

from harness import *
from kit.fault_proxy import FAULTS, FaultProxy
from kit.https import Authority
from kit.procs import SLOW

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import HttpPeer, Shop  # noqa: E402

ORDERS, ORDERS_LONG = 60, 5000  # of each delivery order
SEED = int(os.environ.get("PAWL_TEST_SEED", 0)) or random.randrange(1 << 30)
ACCEPTED, UNKNOWN = 2, 9
# A receiver's public point and secret (RFC 8291, appendix A); the endpoint's path says whose subscription it is.
KEYS = {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}


class Peer:
    """One channel's provider: its row of the policy, what it took, and whose that was. absorbs: the key of a repeat is known to it."""

    absorbs, credentials, prepare = False, None, None

    def spoils(self, reply, before):
        return True

    def of(self, address):
        return address


class Smtp(Peer):
    channel, send, every = '  email: { from: "Shop <shop@example.net>", providers: [{ driver: smtp, url: "smtp://127.0.0.1:@PORT@", tls: none }] }', "email", 9

    def __init__(self, t):
        self.sink = t.sink()
        self.port = self.sink.port

    def spoils(self, reply, before):
        """Any but the greeting, so that a mail's several replies are spoilt, the one to its last dot among them."""
        return bool(before)

    def customer(self, proxy, n):
        return {"email": f"c{n}@example.net"}

    def taken(self):
        """{address: {key: copies}}; the key is the Message-ID."""
        found = collections.defaultdict(collections.Counter)
        for mail in self.sink.mails():
            found[mail["rcpt"][0]][mail["message_id"]] += 1
        return found


class Http(Peer):
    every = 5

    def __init__(self, t):
        self.peer = t.keep(HttpPeer(self.answer))
        self.port = self.peer.port

    def answer(self, connection, request):
        connection.say(self.status, self.body)

    def taken(self):
        found = collections.defaultdict(collections.Counter)
        for request in list(self.peer.requests):
            found[self.address(request)][self.key(request)] += 1
        return found


class Resend(Http):
    channel, send = '  email: { from: "Shop <shop@example.net>", providers: [{ driver: resend, token: credential:api, url: "http://127.0.0.1:@PORT@" }] }', "email"
    status, body, absorbs = 200, b'{"id":"re_1"}', True

    def customer(self, proxy, n):
        return {"email": f"c{n}@example.net"}

    def address(self, request):
        return request["json"]["to"][0]

    def key(self, request):
        return request["key"]


class Twilio(Http):
    channel = ('  sms: { from: "+4915100000000", providers: [{ driver: twilio, account: AC1, token: credential:sms, '
               'url: "http://127.0.0.1:@PORT@" }] }')
    send, status, body = "sms", 201, b'{"sid":"SM7","status":"queued"}'

    def customer(self, proxy, n):
        return {"phone": f"+4915{n:09}"}

    def address(self, request):
        return "+" + re.search(rb"To=%2B(\d+)", request["body"])[1].decode()

    def key(self, request):
        return ""


class WebPush(Http):
    channel = "  push: { providers: [{ driver: webpush, subject: 'mailto:ops@example.net', key: credential:vapid.pem, private: true }] }"
    send, status, body = "push", 201, b""

    def __init__(self, t):
        super().__init__(t)
        with open(Authority().key("vapid", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256").path, encoding="utf-8") as f:
            self.credentials = {"vapid.pem": f.read().rstrip("\n")}

    @staticmethod
    def prepare(w):
        for kind in ("most", "least"):
            w.set_template(kind, "title", "Order {{order.id}}\n", "push")

    def customer(self, proxy, n):
        return {"devices": [{"kind": "webpush", "token": {"endpoint": f"http://127.0.0.1:{proxy.port}/push/{n}", "keys": KEYS}}]}

    def of(self, address):
        return urllib.parse.urlsplit(json.loads(address)["endpoint"]).path

    def address(self, request):
        return request["path"]

    def key(self, request):
        return ""


def post_all(shop, first, count, customer):
    """An order of each kind for each number, posted in the background: the two kinds mixed."""
    requests = [app_request(secret("shop"), f"{kind}-{n}", kind, f"{kind}-{n}", customer=customer(n))
                for i in range(first, first + count) for kind, n in (("most", i), ("least", i + count))]
    return shop.w.load(requests, connections=8)


def rest(cluster):
    return cluster.value("SELECT (SELECT count(*) FROM pawl.due) + (SELECT count(*) FROM pawl.claims)")


def kill_until_done(shop, load, seconds):
    """Kills one dispatcher after another at random until all is posted and nothing is due or claimed; how many were killed."""
    dice, end, kills = random.Random(SEED), time.monotonic() + seconds * SLOW, 0
    while load.done() < len(load.requests) or rest(shop.cluster):
        check(time.monotonic() < end, f"after {seconds} s {rest(shop.cluster)} rows are due or claimed")
        time.sleep(dice.uniform(0.2, 1.0))
        if kills < 4 or dice.random() < 0.2:
            victim = dice.choice(shop.w.dispatchers)
            victim.kill9()
            shop.w.restart(victim)
            kills += 1
    return kills


def judge(shop, peer, exactly=False):
    """Each delivery beside what the peer took for it. (deliveries, unknown at most once, second copies at the peer, counted, absorbed by a key)"""
    told = collections.Counter()
    taken = {address: dict(keys) for address, keys in peer.taken().items()}
    rows = shop.cluster.query("SELECT address, delivery_order, state, possible_duplicates, (SELECT string_agg(format('%s: %s %s %s', a.step, a.outcome, a.code, a.detail),"
                              " '; ' ORDER BY a.step) FROM pawl.attempts a WHERE a.notification_id = d.notification_id) FROM pawl.deliveries d")
    for address, order, state, counted, tries in rows:
        copies = taken.get(peer.of(address), {})
        n, what = sum(copies.values()), f"{address}: state {state}, {counted} possible duplicates, taken {copies}, tries {tries}"
        if order == 1:
            check(n <= 1, "at most once, but " + what)
            check((state, n) == (ACCEPTED, 1) or state == UNKNOWN, what)
        else:
            check(n >= 1 and state == ACCEPTED, "at least once, but " + what)
            check(n - 1 <= counted or (peer.absorbs and len(copies) == 1), "a second copy nobody counted: " + what)
        if exactly:
            eq((n, state, counted), (1, ACCEPTED, 0), address)
        told.update(unknown=state == UNKNOWN, copies=max(n - 1, 0), counted=counted, absorbed=max(n - len(copies), 0) if peer.absorbs else 0)
    return len(rows), told["unknown"], told["copies"], told["counted"], told["absorbed"]


def goes_through(t, kind):
    per = ORDERS_LONG if t.long else getattr(kind, "orders", ORDERS)
    peer = kind(t)
    for every in (0, peer.every):
        proxy = t.keep(FaultProxy(peer.port, every, peer.spoils, SEED))
        shop = Shop(t, kind.channel.replace("@PORT@", str(proxy.port)), kind.send, dispatchers=2, credentials=peer.credentials,
                    prepare=peer.prepare, edit=lambda text: text.replace("for: 10m", "for: 6h"),  # a busy machine makes no end
                    host={"dispatcher": {"transfers": 20, "poll": "20ms", "lease": "2s"}})
        first = 0 if every else 1_000_000
        count = per if every else 10
        load = post_all(shop, first, count, lambda n, p=proxy: peer.customer(p, n))
        kills = kill_until_done(shop, load, 60 + count / 4) if every else 0
        eq({a.status for a in load.result()}, {200}, "every event is acknowledged")
        eventually(lambda s=shop: rest(s.cluster) == 0, 30)
        deliveries, unknown, copies, counted, absorbed = judge(shop, peer, exactly=not every)
        eq(deliveries, 2 * count)
        if every:
            check(set(proxy.done) == {f.__name__ for f in FAULTS} or not t.long, f"seed {SEED}: not every fault came up")
            print(f"              {kind.__name__}: {deliveries} deliveries, {sum(proxy.done.values())} replies spoilt, {kills} kills: {unknown} unknown, "
                  f"{copies} second copies at the peer, {absorbed} of them known to its key, {counted} possible duplicates counted; seed {SEED}", flush=True)


@timeout(1800)
def test_mail_by_smtp_keeps_its_promise(t):
    goes_through(t, Smtp)


@timeout(1800)
def test_mail_by_an_api_that_knows_repeats_keeps_its_promise(t):
    goes_through(t, Resend)


@timeout(1800)
def test_text_messages_keep_their_promise(t):
    goes_through(t, Twilio)


@timeout(1800)
def test_web_push_keeps_its_promise(t):
    goes_through(t, WebPush)
