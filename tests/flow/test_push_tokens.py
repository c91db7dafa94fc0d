"""Shared tokens of APNs and FCM through whole dispatchers: who makes them, how often, and what waits for them. The peers' logs are the oracle."""
import base64
import json
import os
import sys
import threading
import time
import urllib.parse

from harness import *
from kit.https import Authority, openssl

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import EMAIL, HttpPeer, Shop  # noqa: E402
from push_peers import Nginx  # noqa: E402

APNS = {"kind": "apns", "token": "ab" * 16}
FCM = {"kind": "fcm", "token": "reg-token-1"}
EXPIRED = b'{"error":{"code":401,"message":"old","status":"UNAUTHENTICATED"}}'


def unpack(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def claims_of(jwt):
    head, claims, _ = jwt.split(".")
    return json.loads(unpack(head)), json.loads(unpack(claims))


def signed_by(key, jwt, halves):
    """openssl says whether the signature is right; ES256's two halves are put into DER first."""
    said, made = jwt.rsplit(".", 1)
    made = unpack(made)
    if halves:
        eq(len(made), 64)
        number = lambda b: (lambda n: b"\x02" + bytes([len(n)]) + n)((b"\0" if b.lstrip(b"\0")[:1] >= b"\x80" else b"") + b.lstrip(b"\0"))  # noqa: E731
        body = number(made[:32]) + number(made[32:])
        made = b"\x30" + bytes([len(body)]) + body
    openssl("pkey", "-in", key.path, "-pubout", "-out", key.path + ".pub")
    with open(key.path + ".sig", "wb") as f:
        f.write(made)
    return b"Verified OK" in openssl("dgst", "-sha256", "-verify", key.path + ".pub", "-signature", key.path + ".sig", given=said.encode())


def apns_shop(t, n, dispatchers):
    key = Authority().key("p8", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    with open(key.path, encoding="ascii") as f:
        p8 = f.read()
    row = f'  push: {{ providers: [{{ driver: apns, team: TEAM1, key_id: KEY1, key: credential:p8, topic: net.example.shop, url: "{n.apns}", ca: "{n.ca}" }}] }}'
    return Shop(t, row, "push", dispatchers=dispatchers, credentials={"p8": p8}), key


def test_all_workers_send_to_apns_with_one_token(t):
    n = t.keep(Nginx(t))
    shop, key = apns_shop(t, n, dispatchers=3)
    orders = [shop.order("most", devices=[{"kind": "apns", "token": f"{i:032x}"}]) for i in range(30)]
    for order in orders:
        shop.ended(order, "accepted")
    tokens = {row["auth"] for row in n.hits()}
    eq((len(n.hits()), len(tokens)), (30, 1))
    token = tokens.pop().removeprefix("Bearer ")
    head, claims = claims_of(token)
    eq((head, claims["iss"]), ({"alg": "ES256", "kid": "KEY1"}, "TEAM1"))
    check(abs(time.time() - claims["iat"]) < 30, f"{claims}")
    check(signed_by(key, token, halves=True), "the signature")
    generation, sealed, refresh, use = shop.cluster.query(
        "SELECT generation, token, extract(epoch FROM refresh_after - made_at)::int, extract(epoch FROM expires_at - made_at)::int FROM pawl.provider_tokens")[0]
    eq((generation, use), (1, 3300))
    check(2400 <= refresh <= 3000, f"a new one after {refresh} s")
    check(token.encode() not in bytes(sealed), "it lies sealed")
    check(all(token not in d.log() for d in shop.w.dispatchers), "no token in a log")
    shop.w.dispatcher()
    order = shop.order("most", devices=[APNS])
    shop.ended(order, "accepted")
    eq({row["auth"] for row in n.hits()}, {"Bearer " + token}, "a new worker uses it, too")


def test_a_token_is_renewed_while_the_old_one_is_used_on(t):
    n = t.keep(Nginx(t))
    shop, _ = apns_shop(t, n, dispatchers=2)
    shop.ended(shop.order("most", devices=[APNS]), "accepted")
    shop.cluster.query("UPDATE pawl.provider_tokens SET refresh_after = now()")
    shop.w.dispatcher()  # reads the row, and it is time
    eventually(lambda: shop.cluster.value("SELECT generation FROM pawl.provider_tokens") == 2, 10, "a new one is made")
    shop.ended(shop.order("most", devices=[APNS]), "accepted")
    check(len({row["auth"] for row in n.hits()}) <= 2, "two tokens at most")


class Google:
    """FCM and its token endpoint. .tokens are those that were handed out, .asked the assertions; .token_answer and .answer may be replaced."""

    def __init__(self, t):
        self.tokens, self.asked, self.sent, self.life = [], [], [], 3599
        self.hold, self.token_answer, self.answer = None, None, None
        self.peer = t.keep(HttpPeer(self.script))
        self.key = Authority().key("fcm")

    def script(self, c, r):
        if r["path"] == "/token":
            self.asked.append(urllib.parse.parse_qs(r["body"].decode()))
            if self.hold:
                self.hold.wait(20)
            if self.token_answer:
                c.say(*self.token_answer)
                return
            self.tokens.append(f"ya29.{len(self.tokens) + 1}")
            c.say(200, json.dumps({"access_token": self.tokens[-1], "expires_in": self.life, "token_type": "Bearer"}).encode())
            return
        token = r["headers"]["authorization"][0].removeprefix("Bearer ")
        self.sent.append(token)
        c.say(*(self.answer(token) if self.answer else (200, b'{"name":"projects/shop/messages/1"}')))

    def shop(self, t, dispatchers=1, email="", send="push", **how):
        with open(self.key.path, encoding="ascii") as f:
            pem = f.read()
        account = json.dumps({"type": "service_account", "client_email": "pawl@shop.example", "private_key": pem, "token_uri": self.peer.url + "/token"})
        row = f'{email}\n  push: {{ providers: [{{ driver: fcm, project: shop, key: credential:fcm.json, url: "{self.peer.url}" }}] }}'
        return Shop(t, row, send, dispatchers=dispatchers, credentials={"fcm.json": account}, **how)


def test_google_is_asked_once_for_all_workers(t):
    google = Google(t)
    google.hold = threading.Event()
    shop = google.shop(t, dispatchers=3)
    orders = [shop.order("most", devices=[FCM]) for _ in range(10)]
    for dispatcher in shop.w.dispatchers:
        eventually(lambda d=dispatcher: "policy.loaded" in d.log(), 10, "it wants a token")
    eventually(lambda: google.asked, 10, "one asks")
    time.sleep(1)  # the others look at the row four times a second
    google.hold.set()
    for order in orders:
        shop.ended(order, "accepted")
    eq((len(google.asked), google.sent), (1, ["ya29.1"] * 10))
    asked = google.asked[0]
    eq(asked["grant_type"], ["urn:ietf:params:oauth:grant-type:jwt-bearer"])
    jwt = asked["assertion"][0]
    head, claims = claims_of(jwt)
    eq((head["alg"], claims["iss"], claims["aud"], claims["exp"] - claims["iat"]), ("RS256", "pawl@shop.example", google.peer.url + "/token", 3600))
    check(signed_by(google.key, jwt, halves=False), "the signature")
    eq(sum(w.metric("pawl_provider_tokens_total", event="made") for w in shop.w.dispatchers), 1)


def test_what_waits_for_a_token_spends_no_try_and_holds_up_nothing(t):
    google = Google(t)
    google.hold = threading.Event()
    shop = google.shop(t, email=EMAIL, send="push, email", sink=t.sink())
    order = shop.order("most", devices=[FCM], email="ann@example.net")
    eventually(lambda: shop.w.sink.count("ann@example.net") == 1, 10, "mail goes while the token endpoint says nothing")
    eq(google.sent, [])
    google.hold.set()
    eventually(lambda: {d[2] for d in shop.deliveries(order)} == {"accepted"}, 10, "the push follows")
    eq([(d[0], d[3]) for d in shop.deliveries(order)], [(1, 1), (3, 1)], "one step each")


def test_without_a_token_deliveries_go_back_and_are_sent_once_when_there_is_one(t):
    google = Google(t)
    google.token_answer = (500, b"down")
    shop = google.shop(t, dispatchers=2)
    order = shop.order("most", devices=[FCM])
    eventually(lambda: shop.attempts(order), 15, "it was given back")
    eq({a[0] for a in shop.attempts(order)}, {5})
    check(len(google.asked) <= 3, f"{len(google.asked)} questions within the pauses")
    check(all("token.failed" in d.log() for d in shop.w.dispatchers) or len(google.asked) < 3, "the failure is told")
    google.token_answer = None
    shop.cluster.query("UPDATE pawl.provider_tokens SET held_until = now()")
    shop.ended(order, "accepted", timeout=30)
    eq(google.sent, ["ya29.1"])


def refuse_first(token):
    return (401, EXPIRED) if token == "ya29.1" else (200, b'{"name":"m"}')


def test_a_refused_token_is_made_anew_once_for_all_workers(t):
    google = Google(t)
    shop = google.shop(t, dispatchers=2)
    shop.ended(shop.order("most", devices=[FCM]), "accepted")
    shop.cluster.query("UPDATE pawl.provider_tokens SET made_at = now() - interval '2 minutes'")
    google.answer = refuse_first
    orders = [shop.order("most", devices=[FCM]) for _ in range(5)]
    for order in orders:
        shop.ended(order, "accepted", timeout=30)
    eq((len(google.asked), set(google.sent)), (2, {"ya29.1", "ya29.2"}))


def test_a_young_token_that_is_refused_is_not_made_anew(t):
    google = Google(t)
    google.answer = refuse_first
    shop = google.shop(t)
    order = shop.order("most", devices=[FCM])
    eventually(lambda: len(google.sent) >= 3, 20, "it is tried again")
    eq((len(google.asked), shop.deliveries(order)[0][2]), (1, "due"))
    eventually(lambda: "token.refused" in shop.w.dispatchers[0].log(), 10, "it is told")


def test_a_worker_killed_while_it_makes_a_token_is_followed_by_another(t):
    google = Google(t)
    google.hold = threading.Event()
    shop = google.shop(t)
    eventually(lambda: google.asked, 10, "the first worker asks")
    shop.w.dispatcher()
    shop.w.dispatchers[0].kill9()
    google.hold.set()
    order = shop.order("most", devices=[FCM])
    shop.cluster.query("UPDATE pawl.provider_tokens SET held_until = now()")
    shop.ended(order, "accepted", timeout=20)
    eq(len(google.asked), 2)


def test_the_doctor_says_that_a_key_makes_no_tokens(t):
    row = ("  push: { providers: [{ driver: apns, team: T, key_id: K, key: credential:p8, topic: x.y }, "
           "{ driver: fcm, project: shop, key: credential:fcm.json }] }")
    shop = Shop(t, row, "push", dispatchers=0, credentials={"p8": "no key at all", "fcm.json": '{"client_email":"a@b"}'})
    _, said, _ = shop.w.run("doctor")
    check("push: apns: the provider's key is no P-256 private key in PEM" in said, said)
    check("push: fcm: the provider's service account has no private_key" in said, said)


def test_a_pause_of_one_service_holds_its_devices_and_reads_them_no_more(t):
    row = ("  push: { providers: [{ driver: apns, team: T, key_id: K, key: credential:p8, topic: x.y }, "
           "{ driver: fcm, project: shop, key: credential:fcm.json }] }")
    shop = Shop(t, row, "push", credentials={"p8": "no key at all", "fcm.json": '{"client_email":"a@b"}'})
    number = shop.w.cluster.value("INSERT INTO pawl.pauses (kind, name, reason, author) VALUES (4, 'apns', 'a test', 'anna') RETURNING id")
    shop.order("most", devices=[APNS, FCM])
    lanes = "SELECT lane < 0 FROM pawl.due WHERE target LIKE %s"
    eventually(lambda: shop.w.cluster.query(lanes, ("apns-%",)) == [(True,)], 5, "the device of the paused service is held")
    eq(shop.w.cluster.query("SELECT lane FROM pawl.due WHERE lane < 0"), [(-number * 100 - 31,)], "it alone")
