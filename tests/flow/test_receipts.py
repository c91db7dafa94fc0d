"""What providers say later of a message, signed as they sign it, and what it does to the delivery: by the database."""
import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import urllib.parse

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import HttpPeer, Shop  # noqa: E402

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
    def __init__(self, t, script=None, **how):
        self.n = 0
        self.peer = t.keep(HttpPeer(script or self.take))
        self.shop = Shop(t, CHANNELS % self.peer.url, "sms", edit=lambda text: text.replace("orders:", SOURCE + "orders:", 1), **how)
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
    rig.cluster.query("UPDATE pawl.due SET due_at = now()")
    rig.comes_to(least, ACCEPTED)
    eq((rig.row(least)["tries"], rig.row(least)["provider_id"], rig.row(least)["possible_duplicates"]), (2, "SM3", 0))
    eq(len(rig.peer.requests), 3)
    rig.tell("sent", sid="SM2", n=1)  # the first message's, late
    rig.tell("failed", sid="SM2", n=1)
    eq(rig.state(least), ACCEPTED)
    rig.tell("delivered", sid="SM3", n=2)
    eq((rig.state(least), rig.shop.outcomes(least)), (DELIVERED, [1, 1]))


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


def test_receipts_of_many_at_once_each_find_their_own(t):
    rig = Rig(t)
    orders = [rig.shop.order("least", phone=PHONE) for _ in range(12)]
    eventually(lambda: all(rig.state(o) == ACCEPTED for o in orders), 20, "all are sent")
    requests = [rig.receipt(status, sid=rig.sid(n), n=n) for n in range(12) for status in ("delivered", "sent", "queued")]
    eq({a.status for a in rig.w.post(*reversed(requests), connections=6)}, {200})
    eq({rig.state(o) for o in orders}, {DELIVERED})
    eq((rig.count("receipts"), rig.cluster.deadlocks()), (36, 0))
