"""One request, many events: each remembered by itself, all committed together or none; and bodies that come compressed."""
import base64
import gzip
import hashlib
import hmac
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import zlib

from harness import *
from kit.pg_proxy import PgProxy

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import Barrier, DUPLICATE, MISMATCH, PARKED, UNMAPPED, applied, bodies, keys, repeats, states, statuses  # noqa: E402

HUBSPOT_URL = "https://hooks.example.com/hooks/hubspot"
STEPS = "{ %s }" % ", ".join("%s: { order: /links/order, to: %s }" % step for step in
                             (("payments.created", "s1"), ("payments.submitted", "s2"), ("payments.confirmed", "s3")))
SOURCES = f"""
  gocardless:
    scheme: gocardless
    secrets: [credential:gocardless]
    events: {STEPS}
  gocardless-zip:
    scheme: gocardless
    secrets: [credential:gocardless]
    compressed: true
    body_max: 64KiB
    events: {STEPS}
  line:
    scheme: line
    secrets: [credential:line]
    events: {{ message: {{ order: /message/id, to: s1 }} }}
  xero:
    scheme: xero
    secrets: [credential:xero]
    events: {{ INVOICE.CREATE: {{ order: /resourceId, to: s1 }} }}
  meta:
    scheme: meta
    secrets: [credential:meta]
    events: {{ messages: {{ order: /id, to: s1 }}, statuses.sent: {{ order: /id, to: s2 }}, statuses: {{ order: /id, to: s2 }} }}
  adyen:
    scheme: adyen
    secrets: [credential:adyen]
    events: {{ AUTHORISATION: {{ order: /NotificationRequestItem/merchantReference, to: s1 }} }}
  sendgrid:
    scheme: sendgrid
    secrets: [credential:sendgrid]
    events: {{ processed: {{ order: /order, to: s1 }}, delivered: {{ order: /order, to: s2 }} }}
  hubspot:
    scheme: hubspot
    secrets: [credential:hubspot]
    public_url: {HUBSPOT_URL}
    events: {{ deal.creation: {{ order: /objectId, to: s1 }} }}
  ms-graph:
    scheme: ms-graph
    secrets: [credential:ms-graph]
    events: {{ created: {{ order: /resource, to: s1 }} }}
  erp-zip:
    scheme: custom
    verify:
      signature: {{ header: X-Erp-Signature, prefix: "v1=", encoding: hex }}
      timestamp: {{ header: X-Erp-Time }}
      signed: "{{timestamp}}.{{body}}"
      algorithm: hmac-sha256
      inflated: true
    compressed: true
    id: /delivery/id
    type: /delivery/kind
    secrets: [credential:erp]
    events: {{ step.s1: {{ order: /order/number, to: s1 }} }}
"""


def with_batches(text, more=""):
    return re.sub(r"^orders:", lambda _: SOURCES.lstrip("\n") + more + "\norders:", text, count=1, flags=re.M)


def world(t, receivers=1, keys=None, **options):
    w = t.world(receivers=0, dispatchers=0, edit=with_batches, **options)
    for name, value in (keys or {}).items():
        w.set_credential(name, value)
    return w.start(receivers, 0)


def member(event_id, order, action="created", **more):
    return {"id": event_id, "resource_type": "payments", "action": action, "links": {"order": order}, **more}


def gocardless(*members, source="gocardless", **envelope):
    body = as_body({"events": list(members), **envelope})
    mac = hmac.new(secret("gocardless").encode(), body, hashlib.sha256).hexdigest()
    return Request(f"/hooks/{source}", {"Webhook-Signature": mac, "Content-Type": "application/json"}, body)


def b64(digest):
    return base64.b64encode(digest).decode()


def signed_b64(source, header, body):
    return Request(f"/hooks/{source}", {header: b64(hmac.new(secret(source).encode(), body, hashlib.sha256).digest())}, body)


def count(cluster, table, where="true"):
    return cluster.value(f"SELECT count(*) FROM pawl.{table} WHERE {where}")


def good(answer):
    check(answer.status in (200, 202, 204), f"{answer.status} {answer.body} {answer.error}")


def test_250_events_of_one_request_are_250_events_of_one_commit(t):
    w = world(t)
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(250)), meta={"webhook_id": "WB1"})
    good(w.post(batch))
    eq(w.cluster.query("SELECT count(*), count(DISTINCT first_at), count(DISTINCT arrival) FROM pawl.keys"), [(250, 1, 1)])
    eq(states(w.cluster), {f"o-{n}": "s1" for n in range(250)})
    eq([b for _, b in w.cluster.query("SELECT event_id, body FROM pawl.bodies WHERE body <> ''")
        for b in [bytes(b)]], [batch.body], "the body is kept once")
    eq(count(w.cluster, "bodies"), 250)
    eq(w.must("inbox", "show", "EV249", "--raw").encode(), batch.body, "and shown with each of its events")


def test_a_batch_that_comes_again_is_250_duplicates(t):
    w = world(t)
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(250)))
    for _ in range(3):
        good(w.post(batch))
    eq((count(w.cluster, "keys"), count(w.cluster, "moves"), count(w.cluster, "bodies")), (250, 250, 250))
    eq(w.cluster.query("SELECT outcome, count(*) FROM pawl.repeats GROUP BY 1"), [(DUPLICATE, 500)])


def test_a_batch_that_comes_again_with_one_new_member_applies_just_that_one(t):
    w = world(t)
    old = [member(f"EV{n}", f"o-{n}") for n in range(20)]
    good(w.post(gocardless(*old)))
    longer = gocardless(*old[:10], member("EV-new", "o-new"), *old[10:])
    good(w.post(longer))
    eq(w.cluster.query("SELECT event_id FROM pawl.moves WHERE order_id = 'o-new'"), [("EV-new",)])
    eq((count(w.cluster, "keys"), count(w.cluster, "moves")), (21, 21))
    eq(w.cluster.query("SELECT outcome, count(*) FROM pawl.repeats GROUP BY 1"), [(DUPLICATE, 20)])
    eq(bodies(w.cluster, "EV-new"), [(1, longer.body)], "the request that brought it")


def test_one_event_in_two_different_batches_is_the_same_event(t):
    w = world(t)
    for n in range(5):
        good(w.post(gocardless(member(f"EV-{n}", f"o-{n}"), member("EV-same", "o-same"), meta={"webhook_id": f"WB{n}"})))
    eq((keys(w.cluster, "EV-same"), repeats(w.cluster, "EV-same"), repeats(w.cluster, "EV-same", MISMATCH)), (1, 4, 0))


def test_two_members_with_one_id_are_one_event_and_a_repeat(t):
    w = world(t)
    one = member("EV1", "o-1")
    good(w.post(gocardless(one, one, member("EV2", "o-2"), one)))
    eq((keys(w.cluster, "EV1"), repeats(w.cluster, "EV1"), count(w.cluster, "moves")), (1, 2, 2))
    batch = gocardless(member("EV3", "o-3"), member("EV3", "o-4"))
    good(w.post(batch))
    eq((keys(w.cluster, "EV3"), repeats(w.cluster, "EV3", MISMATCH)), (1, 1))
    eq(w.cluster.query("SELECT outcome FROM pawl.bodies WHERE event_id = 'EV3' ORDER BY 1"), [(1,), (MISMATCH,)])
    eq("o-4" in states(w.cluster), False, "what differs is never applied")


def test_members_that_can_not_be_read_are_parked_beside_those_that_can(t):
    w = world(t)
    nameless = {"action": "created", "links": {"order": "o-x"}}
    good(w.post(gocardless(member("EV1", "o-1"), nameless, 7, None, nameless, member("EV2", {}), {"id": "EV3"}, member("EV4", "o-4"))))
    eq(states(w.cluster), {"o-1": "s1", "o-4": "s1"})
    eq(w.cluster.query("SELECT reason, count(*) FROM pawl.bodies WHERE outcome = %s GROUP BY 1 ORDER BY 1", (PARKED,)),
       [("bad-order", 1), ("no-id", 4), ("no-type", 1)])
    eq(count(w.cluster, "keys", "event_id LIKE 'arrival:%'"), 4, "none of them shares a key")


def test_the_members_of_an_order_move_it_in_their_order(t):
    w = world(t)
    good(w.post(gocardless(member("EV1", "o-1"), member("EV2", "o-1", "submitted"), member("EV3", "o-1", "confirmed"),
                           member("EV4", "o-2", "submitted"), member("EV5", "o-2"))))
    eq([(o, to) for o, _, _, to in applied(w.cluster)], [("o-1", "s1"), ("o-1", "s2"), ("o-1", "s3"), ("o-2", "s1"), ("o-2", "s2")])


def test_forty_copies_of_a_batch_at_once_are_one(t):
    w = world(t, receivers=2)
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(50)))
    for answer in w.post(*[batch] * 40, connections=40):
        good(answer)
    eq((count(w.cluster, "keys"), count(w.cluster, "moves"), count(w.cluster, "repeats")), (50, 50, 39 * 50))


def test_batches_that_overlap_do_not_get_in_each_others_way(t):
    w = world(t, receivers=2)
    rand = random.Random(4)
    everything = [member(f"EV{n}", f"o-{n % 40}") for n in range(200)]
    batches = [gocardless(*rand.sample(everything, 60)) for _ in range(60)] + [gocardless(*everything)]
    for answer in w.post(*batches, connections=20):
        good(answer)
    eq(count(w.cluster, "keys"), 200)
    eq(count(w.cluster, "moves", "outcome = 1"), 40)
    eq(w.cluster.deadlocks(), 0)


@timeout(200)
def test_a_receiver_killed_within_a_batch_stored_all_of_it_or_nothing(t):
    t.need_faults()
    w = world(t)
    for n, label in enumerate(("before_begin", "after_keys", "after_lock", "before_commit", "after_commit", "before_answer")):
        batch = gocardless(*(member(f"EV{n}-{k}", f"o-{n}-{k}") for k in range(250)))
        victim = w.restart(w.receivers[0], fault=f"crash@accept.{label}:1")
        eq(w.post(batch).status, 0, f"{label}: no answer")
        eq(victim.proc.wait(10), -signal.SIGKILL, label)
        found = [count(w.cluster, table, f"event_id LIKE 'EV{n}-%'") for table in ("keys", "moves", "bodies")]
        eq(found, [250 if label in ("after_commit", "before_answer") else 0] * 3, label)
        w.restart(victim)
        good(w.post(batch))
        eq([count(w.cluster, table, f"event_id LIKE 'EV{n}-%'") for table in ("keys", "moves", "bodies")], [250] * 3, label)
    eq(count(w.cluster, "moves", "outcome = 1"), 6 * 250)


def test_a_batch_whose_commit_got_no_answer_is_told_again_as_it_was(t):
    w = world(t, cluster=t.keep(PgProxy(t.migrated_cluster())))
    one = member("EV1", "o-1")
    good(w.post(gocardless(member("EV0", "o-0"))))
    rule = w.cluster.cut("INSERT INTO keys", 1, True)
    good(w.post(gocardless(one, one, member("EV0", "o-0"), {"action": "created"}, member("EV2", "o-2"))))
    eq(rule.cut, 1, "transactions that were cut")
    eq((repeats(w.cluster, "EV1"), repeats(w.cluster, "EV0"), repeats(w.cluster, "EV2")), (1, 1, 0))
    eq((count(w.cluster, "keys"), count(w.cluster, "bodies"), count(w.cluster, "moves")), (4, 4, 3))


def test_a_batch_of_none_is_acknowledged_and_leaves_nothing(t):
    """LINE's `verify` button and Xero's intent to receive."""
    w = world(t)
    good(w.post(signed_b64("line", "x-line-signature", b'{"destination":"U1","events":[]}')))
    intent = signed_b64("xero", "x-xero-signature", b'{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"S0m"}')
    good(w.post(intent))
    intent.headers["x-xero-signature"] = b64(b"\0" * 32)
    eq(w.post(intent).status, 401)
    eq((count(w.cluster, "keys"), count(w.cluster, "bodies")), (0, 0))
    eq(w.metric("pawl_webhook_requests_total", outcome="empty"), 2)


def test_a_batch_that_is_none_is_parked_as_a_whole(t):
    w = world(t)
    for body in (b'{"event":{}}', b'{"events":{}}', b'{"events":[', as_body({"events": [member(f"EV{n}", "o") for n in range(1001)]})):
        mac = hmac.new(secret("gocardless").encode(), body, hashlib.sha256).hexdigest()
        good(w.post(Request("/hooks/gocardless", {"Webhook-Signature": mac}, body)))
        eq(w.cluster.query("SELECT body FROM pawl.bodies ORDER BY received_at DESC LIMIT 1")[0][0].tobytes(), body)
    eq(w.cluster.query("SELECT reason FROM pawl.bodies WHERE outcome = %s ORDER BY received_at", (PARKED,)),
       [("no-batch",), ("bad-batch",), ("unreadable",), ("batch-too-long",)])
    eq(states(w.cluster), {})


def test_more_events_than_one_transaction_takes_are_taken_in_several(t):
    w = world(t, host={"receiver": {"deadline": "20s"}})
    batches = [gocardless(*(member(f"EV{n}-{k}", f"o-{n}") for k in range(900))) for n in range(6)]
    barrier = Barrier(w.cluster)
    first = w.load([batches[0]], connections=1)
    barrier.reached()
    rest = w.load(batches[1:], connections=5)
    eventually(lambda: w.metric("pawl_inflight", component="receiver") >= 6, 10, "five more wait together")
    barrier.open()
    for answer in first.result(30) + rest.result(30):
        good(answer)
    eq(count(w.cluster, "keys"), 5400)
    eq(w.cluster.value("SELECT count(DISTINCT first_at) FROM pawl.keys"), 4, "at most 2,000 events each: 1, 2, 2 and 1 requests")


# --- Compressed bodies


def coded(request, how="gzip", pack=gzip.compress):
    """The same, compressed after it was signed; or, with sign, before."""
    request.body, request.headers["Content-Encoding"] = pack(request.body), how
    return request


def sent_gzip(body, source="gocardless-zip", how="gzip"):
    mac = hmac.new(secret("gocardless").encode(), body, hashlib.sha256).hexdigest()
    return Request(f"/hooks/{source}", {"Webhook-Signature": mac, "Content-Encoding": how}, body)


def test_a_compressed_body_is_taken_where_its_source_says_so(t):
    w = world(t)
    plain = gocardless(member("EV1", "o-1"), member("EV2", "o-2")).body
    good(w.post(sent_gzip(gzip.compress(plain))))
    eq(bodies(w.cluster, "EV1"), [(1, plain)], "kept as what it stands for")
    good(w.post(sent_gzip(zlib.compress(plain), how="deflate")))
    good(w.post(gocardless(member("EV1", "o-1"), source="gocardless-zip")))
    eq((repeats(w.cluster, "EV1"), repeats(w.cluster, "EV1", MISMATCH)), (2, 0), "however it was compressed, it is the same event")
    eq(w.post(coded(gocardless(member("EV3", "o-3"), source="gocardless-zip"))).status in (401, 498), True, "the bytes as sent are signed")
    eq(states(w.cluster), {"o-1": "s1", "o-2": "s1"})


def test_what_is_signed_may_be_what_a_compressed_body_stands_for(t):
    w = world(t)
    one = erp_request(secret("erp"), "e-1", "step.s1", "o-1", source="erp-zip")
    plain = one.body
    eq(w.post(coded(one)).status, 200)
    eq(bodies(w.cluster, "e-1"), [(1, plain)])
    two = erp_request(secret("erp"), "e-2", "step.s1", "o-2", source="erp-zip")
    packed = gzip.compress(two.body)
    eq(w.post(Request("/hooks/erp-zip", {**erp_sign(secret("erp"), packed), "Content-Encoding": "gzip"}, packed)).status, 401)


def test_a_coding_that_a_source_does_not_take_is_400_and_says_so(t):
    w = world(t)
    packed = gzip.compress(gocardless(member("EV1", "o-1")).body)
    bad = [sent_gzip(packed, source="gocardless"), sent_gzip(packed, how="br"), sent_gzip(packed, how="gzip, gzip"),
           sent_gzip(packed, how="deflate"), sent_gzip(packed[:-1]), sent_gzip(packed + b"x"), sent_gzip(packed[:-8] + b"\0" * 8)]
    for request in bad:
        answer = w.post(request)
        eq((answer.status, answer.headers["content-type"]), (400, "application/problem+json"), request.headers["Content-Encoding"])
        eq(json.loads(answer.body)["code"], "content_encoding")
    eq(w.metric("pawl_webhook_rejected_total", source="gocardless-zip", reason="content_encoding_broken"), 4)
    eq(w.metric("pawl_webhook_rejected_total", reason="content_encoding"), 3)
    good(w.post(sent_gzip(gocardless(member("EV1", "o-1")).body, source="gocardless", how="identity")))
    eq(count(w.cluster, "keys"), 1)


def resident_kib(program):
    with open(f"/proc/{program.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])


def test_a_bomb_is_refused_before_it_goes_off(t):
    w = world(t)
    good(w.post(*[sent_gzip(gzip.compress(gocardless(member("EV1", "o-1")).body))]))
    before = resident_kib(w.receivers[0])
    bomb = gzip.compress(b'{"events":[' + b" " * (64 << 20) + b"]}", 9)
    check(len(bomb) < 64 << 10, "it passes the limit of what is sent")
    nested = gzip.compress(bomb)
    for answer in w.post(*[sent_gzip(bomb)] * 20, connections=10):
        eq((answer.status, json.loads(answer.body)["code"]), (413, "too_large"))
    eq(w.post(sent_gzip(nested, how="gzip, gzip")).status, 400)
    grown = resident_kib(w.receivers[0]) - before
    check(grown < 16 << 10, f"{grown} KiB more were resident; the bombs are 64 MiB each")
    eq(w.metric("pawl_webhook_rejected_total", source="gocardless-zip", reason="inflated_too_large"), 20)


def test_trigger_sends_a_batch_of_one_and_finds_it_by_the_id_it_gets(t):
    w = world(t)
    ids = {"gocardless:payments.created": r"^evt_\w+$", "meta:messages": r"^evt_\w+:1$", "line:message": r"^evt_\w+$",
           "xero:INVOICE.CREATE": r"^evt_\w+:1001:INVOICE:CREATE:"}
    for what, known in ids.items():
        told = w.json("trigger", what, "--order", "1001", "--copies", "3", "--to", f"http://127.0.0.1:{w.ports()[0]}")
        eq((told["accepted"], told["caught"], told["failed"]), (1, 2, 0), what)
        check(re.search(known, told["items"][0]["event"]), f"{what}: {told['items'][0]}")


# --- Provider by provider


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


def test_microsoft_graph_s_notifications_have_no_id_and_are_known_by_their_bytes(t):
    w = world(t)

    def graph(*values):
        return Request("/hooks/ms-graph", {"Content-Type": "application/json"}, as_body({"value": list(values)}))

    one = {"subscriptionId": "sub-1", "changeType": "created", "resource": "me/messages/1", "clientState": secret("ms-graph"),
           "resourceData": {"id": "1"}}
    two = {**one, "resource": "me/messages/2"}
    for _ in range(2):
        good(w.post(graph(one, two)))
    good(w.post(graph({**one, "resourceData": {"id": "1", "etag": "2"}})))
    eq((count(w.cluster, "keys"), count(w.cluster, "repeats", "outcome = 2")), (3, 2))
    eq(w.post(graph(one, {**two, "clientState": "guessed"})).status, 401)
