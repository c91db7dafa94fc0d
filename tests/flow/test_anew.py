"""A try after a receipt that the message before failed is a new message, also for providers that know a repeat or can be asked. Their own
lists are the oracle."""
import json
import os
import sys
import threading
import urllib.parse

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import HttpPeer, Shop  # noqa: E402
from test_receipts import OTHERS, Rig, Signers, keys_of  # noqa: E402

ACCEPTED, DUE = 2, 0


class Provider:
    """Takes messages, each key of its own once (where there is one), and lists them: Postmark newest first, Sinch oldest first.
    .lose: of so many next ones the answer is lost; .drop: so many next ones are."""

    def __init__(self, t, answer):
        self.taken, self.keys, self.lock = [], {}, threading.Lock()
        self.lose, self.drop, self.asked, self.answer = 0, 0, 0, answer
        self.url = t.keep(HttpPeer(self.script)).url

    def script(self, c, r):
        if r["method"] == "GET":
            return self.list(c, r)
        with self.lock:
            if self.drop:
                self.drop -= 1
                return c.cut()
            key = (r["headers"].get("idempotency-key") or [None])[0]
            if key is None or key not in self.keys:
                self.taken.append(f"id-{len(self.taken) + 1}")
                self.keys[key] = self.taken[-1]
            found = self.keys[key]
            if self.lose:
                self.lose -= 1
                return c.cut()
        return c.say(200, self.answer % found.encode())

    def list(self, c, r):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(r["path"]).query)
        self.asked += 1
        if "metadata_pawl-delivery" in query:
            key = query["metadata_pawl-delivery"][0]
            rows = [{"MessageID": i, "Metadata": {"pawl-delivery": key}} for i in reversed(self.taken)][:int(query["count"][0])]
            return c.say(200, json.dumps({"TotalCount": len(self.taken), "Messages": rows}).encode())
        key = query["client_reference"][0]
        rows = [{"id": i, "client_reference": key} for i in self.taken][:int(query["page_size"][0])]
        return c.say(200, json.dumps({"count": len(self.taken), "page": 0, "batches": rows}).encode())


class World:
    def __init__(self, t, channel, driver, answer):
        self.signers, self.provider = Signers(), Provider(t, answer)
        sender = '"Shop <shop@example.net>"' if channel == "email" else '"+4915100000000"'
        self.shop = Shop(t, f'  {channel}: {{ from: {sender}, providers: [{{ {driver}, url: "{self.provider.url}" }}] }}', channel,
                         credentials=self.signers.credentials, edit=lambda text: text.replace("orders:", OTHERS + "orders:", 1))
        self.cluster = self.shop.cluster
        self.shop.order("least", **({"email": "ann@example.net"} if channel == "email" else {"phone": "+4915112345678"}))
        nid = dict(zip(("id", "bucket"), self.cluster.query("SELECT notification_id::text, bucket FROM pawl.notifications")[0]))
        self.key, self.place = keys_of(nid, 1 if channel == "email" else 2)

    def row(self):
        return self.cluster.query("SELECT state, provider_id FROM pawl.deliveries")[0]

    def comes_to(self, *row):
        eventually(lambda: self.row() == row, 20, f"{row}, it is {self.row()}")

    def failed(self, receipt, provider_id):
        """A receipt of the last message; the next try is due at once."""
        eq(self.shop.w.post(receipt).status, 200)
        eq(self.row(), (DUE, provider_id))
        self.cluster.query("UPDATE pawl.deliveries SET not_before = NULL; UPDATE pawl.due SET due_at = now()")

    def receipt(self, provider_id):
        return {"resend": lambda: self.signers.resend({"type": "email.bounced", "created_at": "2026-11-22T23:41:12.126Z", "data": {
                    "email_id": provider_id, "bounce": {"type": "Transient"}, "tags": {"pawl_delivery": self.key, "pawl_place": self.place}}}),
                "telnyx": lambda: self.signers.telnyx({"data": {"id": "ev" + provider_id, "event_type": "message.finalized", "payload": {
                    "id": provider_id, "to": [{"status": "delivery_failed"}], "errors": [{"code": "40006"}], "tags": [self.key, self.place]}}}),
                "postmark": lambda: self.signers.postmark({"RecordType": "Bounce", "ID": int(provider_id[3:]), "Type": "SoftBounce", "ServerID": 1,
                    "MessageID": provider_id, "Metadata": {"pawl-delivery": self.key, "pawl-place": self.place}, "Description": "full"}),
                "sinch": lambda: self.signers.sinch({"batch_id": provider_id, "recipient": "49", "code": 404, "status": "Aborted",
                    "client_reference": self.key}, f"?delivery={self.key}&place={self.place}")}


def test_a_provider_that_knows_repeats_takes_it(t):
    for name, channel, driver, answer in (("resend", "email", "driver: resend, token: credential:api", b'{"id":"%s"}'),
                                          ("telnyx", "sms", "driver: telnyx, token: credential:sms", b'{"data":{"id":"%s"}}')):
        w = World(t, channel, driver, answer)
        w.comes_to(ACCEPTED, "id-1")
        w.failed(w.receipt("id-1")[name](), "id-1")
        w.comes_to(ACCEPTED, "id-2")
        w.provider.lose = 1  # of the third message: its repeat is known as one
        w.failed(w.receipt("id-2")[name](), "id-2")
        w.comes_to(ACCEPTED, "id-3")
        eq((w.provider.taken, len(w.provider.keys), w.cluster.value("SELECT tries FROM pawl.deliveries")), (["id-1", "id-2", "id-3"], 3, 4))


def test_what_failed_before_is_not_found_instead_of_it(t):
    for name, channel, driver, answer in (
            ("postmark", "email", "driver: postmark, token: credential:api, settle: 2s", b'{"ErrorCode":0,"MessageID":"%s"}'),
            ("sinch", "sms", "driver: sinch, plan: plan1, token: credential:sms, settle: 2s", b'{"id":"%s"}')):
        w = World(t, channel, driver, answer)
        w.comes_to(ACCEPTED, "id-1")
        w.failed(w.receipt("id-1")[name](), "id-1")
        w.comes_to(ACCEPTED, "id-2")
        w.provider.drop = 1  # never taken, and nobody knows
        w.failed(w.receipt("id-2")[name](), "id-2")
        w.comes_to(ACCEPTED, "id-3")
        w.provider.lose = 1  # taken, and nobody knows
        w.failed(w.receipt("id-3")[name](), "id-3")
        w.comes_to(ACCEPTED, "id-4")
        eq(w.provider.taken, ["id-1", "id-2", "id-3", "id-4"])
        check(w.provider.asked >= 2, "it was asked")


def test_it_waits_as_long_as_the_provider_asks_for_whatever_was_due_before(t):
    def script(c, r):
        if r["n"] == 0:
            return c.cut()
        return rig.take(c, r)
    rig = Rig(t, script, also=lambda text: text.replace("wait: [100ms, 200ms], jitter: 20%, for: 10m", "wait: [1m], jitter: 0%, for: 5h"))
    order = rig.order("least")
    eventually(lambda: rig.row(order)["state"] == DUE, 10, "its outcome is unknown, it is due in a minute")
    rig.tell("sent", sid="SM1", n=0)
    eq(rig.state(order), ACCEPTED)
    rig.cluster.query("UPDATE pawl.due SET due_at = now() + interval '2 seconds'")  # as of a ladder with a shorter rung
    rig.tell("undelivered", sid="SM1", n=0, code="30003")  # ten minutes
    eq((rig.state(order), rig.count("due")), (DUE, 2))
    eventually(lambda: rig.cluster.value("SELECT min(due_at) > now() + interval '9 minutes' FROM pawl.due"), 10, "neither is due before")
    eq((rig.row(order)["tries"], len(rig.peer.requests), rig.count("due")), (1, 1, 2))
    rig.cluster.query("UPDATE pawl.deliveries SET not_before = now()")
    rig.cluster.query("UPDATE pawl.due SET due_at = now()")
    rig.comes_to(order, ACCEPTED)
    eventually(lambda: rig.count("due") == 0, 10, "the other is dropped")
    eq((rig.row(order)["tries"], len(rig.peer.requests)), (2, 2))
