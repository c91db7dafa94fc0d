"""What providers say later of a message, signed as they sign it, and what it does to the delivery: by the database."""
import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import EMAIL, HttpPeer, Shop  # noqa: E402

PHONE = "+4915112345678"
URL = "https://hooks.example.com/hooks/status"
SOURCE = f"""  status:
    scheme: twilio
    public_url: {URL}
    secrets: [credential:sms]
    receipts: sms
  mails:
    scheme: postmark
    secrets: [credential:mails]
    receipts: email
"""
CHANNELS = ('  sms: { from: "+4915100000000", providers: [{ driver: twilio, account: AC1, token: credential:sms, url: "%s", callback: "'
            + URL + '" }] }')
DUE, WIRE, ACCEPTED, REFUSED, UNKNOWN, DELIVERED, BOUNCED, COMPLAINED = 0, 1, 2, 3, 9, 10, 11, 12


class Rig:
    def __init__(self, t, script=None, also=lambda text: text, **how):
        self.n = 0
        self.peer = t.keep(HttpPeer(script or self.take))
        self.shop = Shop(t, CHANNELS % self.peer.url, "sms", edit=lambda text: also(text.replace("orders:", SOURCE + "orders:", 1)), **how)
        self.w, self.cluster = self.shop.w, self.shop.cluster

    def take(self, c, r):
        c.say(201, json.dumps({"sid": f"SM{r['n'] + 1}", "status": "queued"}).encode())

    def order(self, kind, state=None):
        order = self.shop.order(kind, phone=PHONE)
        eventually(lambda: self.row(order)["tries"] > 0, 10, "it was sent")
        if state is not None:
            self.comes_to(order, state)
        return order

    def row(self, order):
        names = ("state", "tries", "reason", "provider_id", "possible_duplicates", "nid")
        return dict(zip(names, self.cluster.query(
            "SELECT d.state, d.tries, d.reason, d.provider_id, d.possible_duplicates, d.notification_id::text FROM pawl.deliveries d"
            " JOIN pawl.notifications n USING (bucket, notification_id) WHERE n.order_id = %s", (order,))[0]))

    def state(self, order):
        return self.row(order)["state"]

    def comes_to(self, order, state):
        eventually(lambda: self.state(order) == state, 10, f"state {state}: {self.row(order)}")

    def callback(self, n=-1):
        """The URL that the provider was told to call for its n-th message."""
        return urllib.parse.parse_qs(self.peer.requests[n]["body"].decode())["StatusCallback"][0]

    def receipt(self, status, sid="SM1", n=-1, code=None, url=None):
        """As Twilio signs it: the URL with its query, then names and values in order."""
        url = url or self.callback(n)
        pairs = {"AccountSid": "AC1", "MessageSid": sid, "MessageStatus": status, **({"ErrorCode": code} if code else {})}
        signed = url + "".join(k + v for k, v in sorted(pairs.items()))
        mac = base64.b64encode(hmac.new(secret("sms").encode(), signed.encode(), hashlib.sha1).digest()).decode()
        return Request(url[len("https://hooks.example.com"):], {"X-Twilio-Signature": mac, "Content-Type": "application/x-www-form-urlencoded"},
                            urllib.parse.urlencode(pairs).encode())

    @staticmethod
    def sid(n):
        return f"SM{n + 1}"

    def tell(self, *args, **how):
        answer = self.w.post(self.receipt(*args, **how))
        eq((answer.status, answer.body), (200, answer.body))

    def facts(self, order):
        """[(kind, outcome, from, to)] of its receipts."""
        return self.cluster.query("SELECT r.kind, r.outcome, r.from_state, r.to_state FROM pawl.receipts r JOIN pawl.notifications n"
                                  " USING (bucket, notification_id) WHERE n.order_id = %s ORDER BY r.at, r.step", (order,))

    def count(self, table):
        return self.cluster.value(f"SELECT count(*) FROM pawl.{table}")

    def metric(self, **labels):
        return self.w.receivers[0].metric("pawl_receipts_total", **labels)


def test_receipts_move_a_delivery_forward_and_never_back(t):
    rig = Rig(t)
    order = rig.order("least", ACCEPTED)
    rig.tell("sent")
    eq(rig.state(order), ACCEPTED)
    rig.tell("delivered")
    eq(rig.state(order), DELIVERED)
    for late in ("queued", "sending", "undelivered", "failed"):
        rig.tell(late, code="30003" if late == "undelivered" else None)
    row = rig.row(order)
    eq((row["state"], row["tries"], row["provider_id"], row["reason"]), (DELIVERED, 1, "SM1", None))
    eq([f[:2] for f in rig.facts(order)], [(1, 2), (2, 1), (1, 2), (1, 2), (3, 3), (4, 3)])
    eq((rig.metric(source="status", kind="delivered", outcome="moved"), rig.metric(outcome="stale")), (1, 2))
    eq(rig.count("due"), 0)


def test_a_copy_of_a_receipt_is_caught_and_counted(t):
    rig = Rig(t)
    order = rig.order("least", ACCEPTED)
    answers = rig.w.post(*[rig.receipt("delivered")] * 40, connections=8)
    eq({a.status for a in answers}, {200})
    eq((rig.state(order), len(rig.facts(order))), (DELIVERED, 1))
    eq(rig.cluster.value("SELECT count(*) FROM pawl.repeats"), 39)
    eq((rig.w.metric("pawl_duplicates_caught_total", hop="receipt"), rig.w.metric("pawl_duplicates_caught_total", hop="inbox")), (39, 0))
    rig.tell("read")  # another event that says nothing new
    eq(rig.w.metric("pawl_duplicates_caught_total", hop="receipt"), 40)


def test_a_receipt_before_our_own_record_stands(t):
    hold = threading.Event()

    def late(c, r):
        hold.wait(20)
        rig.take(c, r)
    rig = Rig(t, late)
    order = rig.order("most")
    eventually(lambda: rig.peer.requests, 10, "it is on the wire")
    eq(rig.state(order), WIRE)
    rig.tell("delivered")
    eq(rig.state(order), DELIVERED)
    hold.set()
    eventually(lambda: rig.count("claims") == 0, 10, "the record came")
    row = rig.row(order)
    eq((row["state"], row["tries"], row["provider_id"]), (DELIVERED, 1, "SM1"))
    eq(rig.shop.outcomes(order), [1])
    eq(rig.w.metric("pawl_stale_records_total"), 0)


def test_a_receipt_settles_what_nobody_knew(t):
    rig = Rig(t, lambda c, r: c.cut())
    order, other = rig.order("most", UNKNOWN), rig.order("most", UNKNOWN)
    eq(rig.count("unknown_outcomes"), 2)
    rig.tell("delivered", n=0)
    rig.tell("undelivered", sid="SM2", n=1, code="30003")
    eq((rig.state(order), rig.state(other)), (DELIVERED, BOUNCED))
    eq((rig.count("unknown_outcomes"), rig.count("due"), len(rig.peer.requests)), (0, 0, 2))
    check("30003" in rig.row(other)["reason"], rig.row(other)["reason"])


def test_a_temporary_failure_is_a_new_try_of_an_at_least_once_delivery(t):
    rig = Rig(t)
    most = rig.order("most", ACCEPTED)
    least = rig.order("least", ACCEPTED)
    rig.tell("undelivered", sid="SM1", n=0, code="30001")
    rig.tell("undelivered", sid="SM2", n=1, code="30001")
    eq((rig.state(most), rig.state(least), rig.row(least)["tries"]), (BOUNCED, DUE, 1))
    wait = rig.cluster.value("SELECT extract(epoch FROM due_at - now()) FROM pawl.due")
    check(wait is not None and 50 < wait <= 60, f"due in {wait} s")
    rig.cluster.query("UPDATE pawl.due SET due_at = now(); UPDATE pawl.deliveries SET not_before = NULL")
    rig.comes_to(least, ACCEPTED)
    eq((rig.row(least)["tries"], rig.row(least)["provider_id"], rig.row(least)["possible_duplicates"]), (2, "SM3", 0))
    eq(len(rig.peer.requests), 3)
    rig.tell("sent", sid="SM2", n=1)  # the first message's, late
    rig.tell("failed", sid="SM2", n=1)
    eq(rig.state(least), ACCEPTED)
    rig.tell("delivered", sid="SM3", n=2)
    eq((rig.state(least), rig.shop.outcomes(least)), (DELIVERED, [1, 1]))


def test_what_an_earlier_message_came_to_says_nothing_of_the_last(t):
    rig = Rig(t)
    order = rig.order("least", ACCEPTED)
    for sid in ("SM1", "SM2"):
        eventually(lambda: rig.row(order)["provider_id"] == sid, 10, sid)  # pylint: disable=cell-var-from-loop
        rig.tell("undelivered", sid=sid, code="30001")
        eq(rig.state(order), DUE)
        if sid == "SM1":
            rig.cluster.query("UPDATE pawl.due SET due_at = now(); UPDATE pawl.deliveries SET not_before = NULL")
            rig.comes_to(order, ACCEPTED)
    rig.tell("sent", sid="SM1")  # of the first, late
    eq((rig.state(order), rig.count("due")), (DUE, 1), "the message is still to be sent")
    rig.cluster.query("UPDATE pawl.deliveries SET state = 1, provider_id = 'SM2'")
    rig.w.breaks["all"] = "as if it were on the wire"
    rig.tell("failed", sid="SM1")
    eq(rig.state(order), WIRE)
    rig.tell("delivered", sid="SM1")
    eq(rig.state(order), DELIVERED, "good news counts whichever it is of")


def test_a_receipt_that_says_something_of_an_order_too_stays_parked_or_accepted(t):
    rules = """    events:
      delivered: { order: /NoSuchMember, to: most }
      sent: { order: /MessageSid, to: most }
"""
    rig = Rig(t, also=lambda text: text.replace("    receipts: sms\n", "    receipts: sms\n" + rules, 1))
    order = rig.order("least", ACCEPTED)
    rig.tell("delivered")
    eq((rig.state(order), rig.cluster.query("SELECT outcome, reason FROM pawl.bodies WHERE type = 'delivered'")), (ACCEPTED, [(6, "no-order")]),
       "what is parked means nothing until a person looks at it")
    key, place = keys_of({"id": "0" * 32, "bucket": 1}, 2)
    rig.tell("sent", sid="SM7", url=f"{URL}?delivery={key}&place={place}")
    eq(rig.cluster.query("SELECT outcome, reason FROM pawl.bodies WHERE type = 'sent'"), [(1, "unknown-delivery")], "it moved its order")
    eq(rig.cluster.value("SELECT count(*) FROM pawl.moves WHERE order_id = 'SM7' AND outcome = 1"), 1)


def test_a_dead_number_is_suppressed_and_a_filtered_one_is_not(t):
    rig = Rig(t)
    dead, filtered = rig.order("least", ACCEPTED), rig.order("least", ACCEPTED)
    rig.tell("undelivered", sid="SM2", n=1, code="30007")
    eq((rig.state(filtered), rig.count("suppressions")), (REFUSED, 0))
    rig.tell("undelivered", sid="SM1", n=0, code="30005")
    rig.tell("failed", sid="SM9", n=0, code="21610")
    eq(rig.state(dead), BOUNCED)
    eq(rig.cluster.query("SELECT channel, type, reason, address, source FROM pawl.suppressions"), [(2, 0, 1, PHONE, "status")])
    order = rig.shop.order("least", phone=PHONE)
    rig.comes_to(order, 5)
    eq(len(rig.peer.requests), 2)


def test_a_receipt_of_no_delivery_is_kept_and_moves_nothing(t):
    rig = Rig(t)
    order = rig.order("least", ACCEPTED)
    url, nid = rig.callback(), rig.row(order)["nid"].replace("-", "")
    wrong = [url.replace(nid, "0" * 32), url.split("&place")[0], url + "&delivery=" + "0" * 32, URL]
    for i, one in enumerate(wrong):
        rig.tell("failed", sid=f"SX{i}", url=one)
    eq((rig.state(order), rig.count("receipts")), (ACCEPTED, 0))
    eq(rig.cluster.query("SELECT outcome, reason FROM pawl.bodies WHERE type = 'failed' ORDER BY event_id"), [(7, "no-delivery")] * 4)
    eq(rig.metric(outcome="unknown_delivery"), 4)
    request = rig.receipt("failed", url=url)
    request.path = request.path.replace(nid, "1" * 32)
    eq(rig.w.post(request).status, 401, "the URL is signed")
    eq(rig.state(order), ACCEPTED)


def test_the_command_shows_what_came_for_a_delivery(t):
    rig = Rig(t)
    order = rig.order("least", ACCEPTED)
    once = f"least/{order}"
    eq((rig.w.json("deliveries", "show", once)["receipts"], "RECEIPT" in rig.w.must("deliveries", "show", once)), ([], False))
    rig.tell("sent")
    rig.tell("undelivered", code="30005")
    rig.tell("sending")
    shown = rig.w.json("deliveries", "show", once)
    names = ("channel", "redrive", "attempt", "source", "receipt", "outcome", "from", "to", "event", "said")
    eq([tuple(r[n] for n in names) for r in shown["receipts"]], [
        ("sms", 0, 1, "status", "accepted", "same", "accepted", "accepted", "SM1:sent", "twilio sent"),
        ("sms", 0, 1, "status", "bounced", "moved", "accepted", "bounced", "SM1:undelivered", "twilio undelivered 30005"),
        ("sms", 0, 1, "status", "accepted", "same", "bounced", "bounced", "SM1:sending", "twilio sending")])
    check(all(r["at"].endswith("Z") for r in shown["receipts"]) and len(shown["attempts"]) == 1, f"{shown}")
    check("SM1:undelivered" in rig.w.must("deliveries", "show", once), "as text too")
    lines = [(x["hop"], x["what"], x["outcome"]) for x in rig.w.json("story", order)["timeline"] if x["hop"] in ("receipt", "delivery")]
    eq(lines, [("receipt", "status SM1:sent, accepted", "same"), ("receipt", "status SM1:undelivered, bounced", "accepted -> bounced"),
               ("delivery", f"sms to {shown['items'][0]['to']}", "bounced"), ("receipt", "status SM1:sending, accepted", "same")])


def test_receipts_of_many_at_once_each_find_their_own(t):
    rig = Rig(t)
    orders = [rig.shop.order("least", phone=PHONE) for _ in range(12)]
    eventually(lambda: all(rig.state(o) == ACCEPTED for o in orders), 20, "all are sent")
    requests = [rig.receipt(status, sid=rig.sid(n), n=n) for n in range(12) for status in ("delivered", "sent", "queued")]
    eq({a.status for a in rig.w.post(*reversed(requests), connections=6)}, {200})
    eq({rig.state(o) for o in orders}, {DELIVERED})
    eq((rig.count("receipts"), rig.cluster.deadlocks()), (36, 0))


# --- Each provider's own signature, in one installation: what went out by one comes back by all of them.

OTHERS = """  telnyx: { scheme: telnyx, secrets: [credential:telnyx], receipts: sms }
  sendgrid: { scheme: sendgrid, secrets: [credential:sendgrid], receipts: email }
  postmark: { scheme: postmark, secrets: [credential:postmark], receipts: email }
  resend: { scheme: resend, secrets: [credential:resend], receipts: email }
  vonage: { scheme: vonage, secrets: [credential:vonage], receipts: sms }
  sinch: { scheme: sinch, secrets: [credential:sinch], receipts: sms }
"""


def b64(data):
    return base64.b64encode(data).decode()


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def keys_of(nid, channel):
    """(key, place) as they went out: common/keys.h, common/place.h."""
    raw, bucket = bytes.fromhex(nid["id"].replace("-", "")), nid["bucket"]
    parts = [b"delivery", raw, f"{channel}/0".encode(), b""]
    key = hashlib.sha256(b"".join(len(p).to_bytes(8, "big") + p for p in parts)).hexdigest()[:32]
    return key, f"{bucket:x}-{raw.hex()}-0"


def openssl(*argv, data=None):
    return subprocess.run(["openssl", *argv], input=data, capture_output=True, check=True).stdout


class Signers:
    """Requests as each provider signs them."""

    def __init__(self):
        folder = scratch("pawl-signers-")
        self.ec, self.ed, self.body = (os.path.join(folder, n) for n in ("ec.pem", "ed.pem", "body"))
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.ec)
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.ed)
        self.credentials = {
            "sendgrid": b64(openssl("ec", "-in", self.ec, "-pubout", "-outform", "DER")),
            "telnyx": b64(openssl("pkey", "-in", self.ed, "-pubout", "-outform", "DER")[-32:]),
            "resend": "whsec_" + b64(b"r" * 32), "postmark": "hook:word", "vonage": "v" * 32, "sinch": "s" * 32, "mails": "a:b"}

    def sendgrid(self, *members):
        body, now = json.dumps(members).encode(), str(int(time.time()))
        signature = openssl("dgst", "-sha256", "-sign", self.ec, data=now.encode() + body)
        return Request("/hooks/sendgrid", {"X-Twilio-Email-Event-Webhook-Signature": b64(signature),
                                           "X-Twilio-Email-Event-Webhook-Timestamp": now}, body)

    def telnyx(self, value):
        body, now = json.dumps(value).encode(), str(int(time.time()))
        with open(self.body, "wb") as f:
            f.write(now.encode() + b"|" + body)
        signature = openssl("pkeyutl", "-sign", "-inkey", self.ed, "-rawin", "-in", self.body)
        return Request("/hooks/telnyx", {"telnyx-signature-ed25519": b64(signature), "telnyx-timestamp": now}, body)

    def postmark(self, value):
        return Request("/hooks/postmark", {"Authorization": "Basic " + b64(self.credentials["postmark"].encode())}, json.dumps(value).encode())

    @staticmethod
    def resend(value):
        body, now, number = json.dumps(value).encode(), str(int(time.time())), "msg_" + os.urandom(8).hex()
        mac = hmac.new(b"r" * 32, f"{number}.{now}.".encode() + body, hashlib.sha256).digest()
        return Request("/hooks/resend", {"svix-id": number, "svix-timestamp": now, "svix-signature": "v1," + b64(mac)}, body)

    def vonage(self, value, query):
        body = json.dumps(value).encode()
        claims = {"iat": int(time.time()), "jti": "1", "payload_hash": hashlib.sha256(body).hexdigest()}
        token = b64url(b'{"alg":"HS256","typ":"JWT"}') + "." + b64url(json.dumps(claims).encode())
        mac = hmac.new(self.credentials["vonage"].encode(), token.encode(), hashlib.sha256).digest()
        return Request("/hooks/vonage" + query, {"Authorization": "Bearer " + token + "." + b64url(mac)}, body)

    def sinch(self, value, query):
        body, now = json.dumps(value).encode(), str(int(time.time()))
        mac = hmac.new(self.credentials["sinch"].encode(), body + b".n1." + now.encode(), hashlib.sha256).digest()
        return Request("/hooks/sinch" + query, {"x-sinch-webhook-signature": b64(mac), "x-sinch-webhook-signature-nonce": "n1",
                                                "x-sinch-webhook-signature-timestamp": now}, body)


def test_each_providers_receipts_come_in_as_it_signs_them(t):
    signers, peer, sink = Signers(), None, t.sink()
    peer = t.keep(HttpPeer(lambda c, r: c.say(201, b'{"sid":"SM1","status":"queued"}')))
    shop = Shop(t, CHANNELS % peer.url + "\n" + EMAIL, "email, sms", sink=sink, credentials=signers.credentials,
                edit=lambda text: text.replace("orders:", OTHERS + "orders:", 1))
    c = shop.cluster
    orders = [shop.order("least", email=f"c{i}@example.net", phone=f"+49151000000{i}") for i in range(4)]
    eventually(lambda: c.value("SELECT count(*) FROM pawl.deliveries WHERE state = 2") == 8, 20, "all are sent")
    nids = [dict(zip(("id", "bucket"), c.query("SELECT notification_id::text, bucket FROM pawl.notifications WHERE order_id = %s", (o,))[0]))
            for o in orders]
    mail, text = [keys_of(n, 1) for n in nids], [keys_of(n, 2) for n in nids]
    args = lambda i: {"pawl_delivery": mail[i][0], "pawl_place": mail[i][1]}
    batch = [{"event": e, "sg_event_id": f"{e}{i}", "sg_message_id": f"m{i}.x", "timestamp": int(time.time()), **args(i)} for i, e in
             ((0, "delivered"), (0, "processed"), (1, "bounce"), (0, "open"))]
    query = lambda i: f"?delivery={text[i][0]}&place={text[i][1]}"
    c.query("UPDATE pawl.deliveries SET provider_id = NULL, provider = NULL")  # as if they went out by those that tell of them
    told = [
        signers.sendgrid(*batch), signers.sendgrid(batch[1], batch[0], {**batch[0], "event": "spamreport", "sg_event_id": "s0"}),
        signers.postmark({"RecordType": "Bounce", "ID": 7, "Type": "HardBounce", "MessageID": "pm2", "ServerID": 1,
                          "Metadata": {"pawl-delivery": mail[2][0], "pawl-place": mail[2][1]}, "Description": "No such user"}),
        signers.resend({"type": "email.delivered", "created_at": "2026-11-22T23:41:12.126Z", "data": {"email_id": "re3", "tags": args(3)}}),
        signers.telnyx({"data": {"id": "ev1", "event_type": "message.finalized", "payload": {
            "id": "tx0", "to": [{"status": "delivered"}], "errors": [], "tags": list(text[0])}}}),
        signers.vonage({"message_uuid": "u1", "status": "submitted", "client_ref": text[1][0]}, query(1)),
        signers.vonage({"message_uuid": "u1", "status": "rejected", "error": {"title": 1120, "detail": "Illegal sender"}, "client_ref": text[1][0]}, query(1)),
        signers.sinch({"batch_id": "b2", "recipient": "49", "code": 0, "status": "Delivered", "client_reference": text[2][0]}, query(2)),
        signers.sinch({"batch_id": "b3", "recipient": "49", "code": 408, "status": "Rejected", "client_reference": text[3][0]}, query(3)),
    ]
    for request in told:
        eq(shop.w.post(request).status, 200, request.path)
    states = c.query("SELECT d.channel, d.state, n.order_id FROM pawl.deliveries d JOIN pawl.notifications n USING (bucket, notification_id)")
    found = {(channel, orders.index(order)): state for channel, state, order in states}
    eq(found, {(1, 0): COMPLAINED, (1, 1): BOUNCED, (1, 2): BOUNCED, (1, 3): DELIVERED,
               (2, 0): DELIVERED, (2, 1): REFUSED, (2, 2): DELIVERED, (2, 3): BOUNCED})
    eq(c.query("SELECT address, reason FROM pawl.suppressions ORDER BY 1"), [("c0@example.net", 4), ("c1@example.net", 1), ("c2@example.net", 1)])
    eq(c.value("SELECT reason FROM pawl.deliveries WHERE state = 3"), "vonage rejected 1120: Illegal sender")
    eq(shop.w.metric("pawl_duplicates_caught_total", hop="receipt"), 4, "two copies in another batch, two that say nothing new")
    # A signature over the body alone: the URL can be changed, and then key and place do not agree.
    moved = signers.sinch({"batch_id": "b9", "recipient": "49", "code": 408, "status": "Rejected", "client_reference": text[0][0]}, query(2))
    eq((shop.w.post(moved).status, c.value("SELECT count(*) FROM pawl.bodies WHERE reason = 'no-delivery'")), (200, 1))
    # Bad news of another provider than the last try's is of a try before.
    c.query("UPDATE pawl.deliveries SET state = 2, provider = 'twilio' WHERE state = 10 AND channel = 2")
    late = signers.vonage({"message_uuid": "u9", "status": "rejected", "error": {"title": 1120}, "client_ref": text[2][0]}, query(2))
    eq((shop.w.post(late).status, c.query("SELECT outcome, to_state FROM pawl.receipts WHERE provider_id = 'u9'")), (200, [(3, 2)]))
