"""Requests with many events, provider by provider, signed as each of them signs."""
import hashlib
import hmac
import os
import random
import subprocess
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from batch_rig import HUBSPOT_URL, b64, count, good, signed_b64, world  # noqa: E402
from ledger import UNMAPPED, states  # noqa: E402


def events_of(cluster):
    """[(event id, outcome)] of what was taken in, in the order of ids."""
    return cluster.query("SELECT event_id, outcome FROM pawl.bodies ORDER BY 1")


def sendgrid_keys(folder):
    """A key pair, as SendGrid shows its public half: base64 of the SPKI."""
    private = os.path.join(folder, "sendgrid.pem")
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", private], check=True)
    spki = subprocess.run(["openssl", "ec", "-in", private, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
    return private, b64(spki)


def sendgrid(private, *members):
    body = b"[" + b",\r\n".join(as_body(m) for m in members) + b"]\r\n"
    now = str(int(time.time()))
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", private], input=now.encode() + body, check=True, capture_output=True)
    return Request("/hooks/sendgrid", {"X-Twilio-Email-Event-Webhook-Signature": b64(signature.stdout),
                                       "X-Twilio-Email-Event-Webhook-Timestamp": now}, body)


def test_sendgrid_s_events_come_again_in_other_batches(t):
    """sendgrid/docs#2933: each event about three times, in whatever company."""
    private, public = sendgrid_keys(scratch("pawl-sendgrid-"))
    w = world(t, keys={"sendgrid": public})
    mails = [{"email": f"{n}@example.com", "event": "processed", "sg_event_id": f"sg-{n}", "order": str(n)} for n in range(30)]
    rand = random.Random(7)
    for _ in range(3):
        rand.shuffle(mails)
        for at in range(0, 30, 6):
            good(w.post(sendgrid(private, *mails[at:at + 6])))
    eq((count(w.cluster, "keys"), count(w.cluster, "moves"), count(w.cluster, "repeats")), (30, 30, 60))
    forged = sendgrid(private, *mails[:2])
    forged.body = forged.body.replace(b"processed", b"delivered")
    eq(w.post(forged).status, 401)


def hubspot(*members, attempt=0):
    body = as_body([{**m, "attemptNumber": attempt} for m in members])
    now = str(int(time.time() * 1000))
    mac = hmac.new(secret("hubspot").encode(), b"POST" + HUBSPOT_URL.encode() + body + now.encode(), hashlib.sha256).digest()
    return Request("/hooks/hubspot", {"X-HubSpot-Signature-v3": b64(mac), "X-HubSpot-Request-Timestamp": now}, body)


def test_hubspot_s_number_of_the_attempt_makes_no_other_event(t):
    w = world(t)
    deals = [{"eventId": n, "subscriptionId": 25, "portalId": 33, "occurredAt": int(time.time() * 1000), "objectId": 100 + n,
              "subscriptionType": "deal.creation"} for n in range(100)]
    for attempt in range(3):
        good(w.post(hubspot(*deals, attempt=attempt)))
    eq((count(w.cluster, "keys"), count(w.cluster, "moves"), count(w.cluster, "repeats", "outcome = 2")), (100, 100, 200))


ADYEN_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"


def adyen_item(psp, order, success="true", **more):
    item = {"amount": {"currency": "EUR", "value": 1130}, "eventCode": "AUTHORISATION", "merchantAccountCode": "Shop",
            "merchantReference": order, "originalReference": "", "pspReference": psp, "success": success, **more}
    signed = ":".join([item["pspReference"], item["originalReference"], item["merchantAccountCode"], item["merchantReference"],
                       str(item["amount"]["value"]), item["amount"]["currency"], item["eventCode"], item["success"]])
    mac = hmac.new(bytes.fromhex(ADYEN_KEY), signed.encode(), hashlib.sha256).digest()
    return {"NotificationRequestItem": {**item, "additionalData": {"hmacSignature": b64(mac)}}}


def adyen(*items):
    return Request("/hooks/adyen", {"Content-Type": "application/json"}, as_body({"live": "false", "notificationItems": list(items)}))


def test_adyen_s_items_are_signed_one_by_one_and_all_must_be(t):
    w = world(t, keys={"adyen": ADYEN_KEY})
    one, two = adyen_item("psp-1", "o-1"), adyen_item("psp-2", "o-2", "false")
    for _ in range(2):
        answer = w.post(adyen(one, two))
        eq((answer.status, answer.body), (200, b"[accepted]"))
    eq(events_of(w.cluster), [("psp-1:AUTHORISATION:true", 1), ("psp-2:AUTHORISATION:false", 1)])
    eq(count(w.cluster, "repeats"), 2)
    forged = adyen_item("psp-3", "o-3")
    forged["NotificationRequestItem"]["amount"]["value"] = 1
    eq(w.post(adyen(adyen_item("psp-4", "o-4"), forged)).status, 401)
    eq(count(w.cluster, "keys"), 2, "nothing of a request that is not authentic as a whole")


def test_an_item_of_adyen_counts_once_whatever_the_request_says_around_it(t):
    w = world(t, keys={"adyen": ADYEN_KEY})
    one = adyen_item("psp-1", "o-1")
    for live in ("true", "false", "x1"):
        eq(w.post(Request("/hooks/adyen", {}, as_body({"live": live, "notificationItems": [one]}))).status, 200)
    eq((count(w.cluster, "keys"), count(w.cluster, "repeats")), (1, 2))


def test_what_adyen_signed_can_t_be_cut_into_other_values(t):
    w = world(t, keys={"adyen": ADYEN_KEY})
    one = adyen_item("psp-1", "a:b")
    eq(w.post(adyen(one)).status, 200, "a shop's reference may have a colon")
    item = one["NotificationRequestItem"]
    cut = {**item, "pspReference": "psp-1:", "originalReference": "Shop", "merchantAccountCode": "a", "merchantReference": "b"}
    right = {**item, "merchantReference": "a", "amount": {"currency": "1130:EUR", "value": "b"}}
    for forged in (cut, right):
        eq(w.post(adyen({"NotificationRequestItem": forged})).status, 401)
    eq((count(w.cluster, "keys"), w.cluster.query("SELECT order_id FROM pawl.orders")), (1, [("a:b",)]))


def meta(*changes):
    body = as_body({"object": "whatsapp_business_account",
                    "entry": [{"id": "1", "changes": [{"field": f, "value": v} for f, v in some]} for some in changes]})
    mac = hmac.new(secret("meta").encode(), body, hashlib.sha256).hexdigest()
    return Request("/hooks/meta", {"X-Hub-Signature-256": "sha256=" + mac}, body)


def test_meta_s_messages_and_statuses_stand_deep_in_its_body(t):
    w = world(t)
    now = str(int(time.time()))
    mail = [{"from": "49", "id": f"wamid.{n}", "timestamp": now, "type": "text", "text": {"body": "\u00e9"}} for n in range(3)]
    told = [{"id": f"wamid.{n}", "status": "sent", "timestamp": now} for n in range(2)]
    batch = meta([("messages", {"messages": mail[:2]}), ("messages", {"statuses": told})], [("messages", {"messages": mail[2:]})])
    for _ in range(2):
        good(w.post(batch))
    eq((count(w.cluster, "keys"), count(w.cluster, "repeats", "outcome = 2")), (5, 5))
    eq({o: s for o, s in states(w.cluster).items()}, {"wamid.0": "s2", "wamid.1": "s2", "wamid.2": "s1"})
    good(w.post(meta([("account_update", {"event": "VERIFIED_ACCOUNT"})])))
    eq(w.cluster.query("SELECT outcome, reason FROM pawl.bodies WHERE event_id LIKE 'arrival:%%'"), [(UNMAPPED, "no-members")])


def test_line_s_redelivery_is_the_same_event(t):
    w = world(t)
    now = int(time.time() * 1000)

    def line(again):
        events = [{"type": "message", "webhookEventId": f"01F{n}", "deliveryContext": {"isRedelivery": again}, "timestamp": now,
                   "message": {"id": str(n)}} for n in range(5)]
        return signed_b64("line", "x-line-signature", as_body({"destination": "U1", "events": events}))

    good(w.post(line(False)))
    good(w.post(line(True)))
    eq((count(w.cluster, "keys", "scope = 'U1'"), count(w.cluster, "repeats", "outcome = 2"), len(states(w.cluster))), (5, 5, 5))


def test_xero_s_events_are_known_by_five_values(t):
    w = world(t)

    def xero(*events):
        body = as_body({"events": list(events), "firstEventSequence": 1, "lastEventSequence": len(events), "entropy": "S0m"})
        return signed_b64("xero", "x-xero-signature", body)

    one = {"resourceUrl": "https://api.xero.com/1", "resourceId": "r-1", "eventDateUtc": "2017-06-21T01:15:39.902", "eventType": "CREATE",
           "eventCategory": "INVOICE", "tenantId": "t-1", "tenantType": "ORGANISATION"}
    answer = w.post(xero(one, {**one, "eventDateUtc": "2017-06-21T01:15:40"}, {**one, "tenantId": "t-2"}))
    eq((answer.status, answer.body), (200, b""))
    good(w.post(xero(one)))
    eq([e for e, _ in events_of(w.cluster)], ["t-1:r-1:INVOICE:CREATE:2017-06-21T01%3A15%3A39.902", "t-1:r-1:INVOICE:CREATE:2017-06-21T01%3A15%3A40",
                                              "t-2:r-1:INVOICE:CREATE:2017-06-21T01%3A15%3A39.902"])
    eq(count(w.cluster, "repeats"), 1)


def test_microsoft_graph_s_notifications_are_news_even_in_the_same_bytes(t):
    w = world(t)

    def graph(*values):
        return Request("/hooks/ms-graph", {"Content-Type": "application/json"}, as_body({"value": list(values)}))

    one = {"subscriptionId": "sub-1", "changeType": "created", "resource": "me/messages/1", "clientState": secret("ms-graph"),
           "resourceData": {"id": "1"}}
    two = {**one, "resource": "me/messages/2"}
    for _ in range(2):
        good(w.post(graph(one, two)))
    good(w.post(graph({**one, "resourceData": {"id": "1", "etag": "2"}})))
    eq((count(w.cluster, "keys"), count(w.cluster, "repeats")), (5, 0))
    good(w.post(graph(one, one)))
    eq((count(w.cluster, "keys"), count(w.cluster, "repeats", "outcome = 2")), (6, 1))
    long = {**one, "resource": "Users/" + "u" * 73 + "/Messages/" + "m" * 152}
    good(w.post(graph(long)))
    eq(count(w.cluster, "keys"), 7)
    eq(w.post(graph(one, {**two, "clientState": "guessed"})).status, 401)
