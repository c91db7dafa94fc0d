"""Schemes beyond the first three, over HTTP into a real database: ids outside the signature, forms, URLs, late events, rates."""
import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
import urllib.parse

from harness import *
from kit.pg_proxy import PgProxy

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import applied, bodies, keys, repeats, states, statuses  # noqa: E402

REPLAY, LATE = 4, 5
URL = "https://hooks.example.com/hooks/twilio"
SOURCES = """
  github:
    scheme: github
    secrets: [credential:github]
    events:
      push: { order: /order, to: s1 }
      deployment.created: { order: /order, to: s2 }
      ping: { notify: hello, contact: { email: /mail } }
  shopify:
    scheme: shopify
    secrets: [credential:shopify]
    events: { orders/paid: { order: /id, to: s1 } }
  standard:
    scheme: standardwebhooks
    secrets: [credential:standard]
    events: { order.paid: { order: /order, to: s1 } }
  slack:
    scheme: slack
    secrets: [credential:slack]
    events: { app_mention: { order: /event/order, to: s1 } }
  twilio:
    scheme: twilio
    public_url: %s
    secrets: [credential:twilio]
    events:
      sent: { order: /Order, to: s1 }
      delivered: { order: /Order, to: s2 }
  mailgun:
    scheme: mailgun
    secrets: [credential:github]
    events: { opened: { order: /event-data/order, to: s1 } }
  linear:
    scheme: linear
    secrets: [credential:github]
    fingerprint: { ignore: [/data/note] }
    events: { Issue.create: { order: /data/order, to: s1 } }
  slow:
    scheme: app
    secrets: [credential:shop]
    rate: 2/m
    events: { step.s1: { order: /order/id, to: s1 } }
""" % URL


def with_schemes(text):
    hello = "messages:\n  hello:\n    once: \"hello/{{event.id}}\"\n    delivery: at-least-once\n    send: [email]\n"
    text = text.replace("\nmessages:\n", "\n" + hello, 1)
    return re.sub(r"^orders:", lambda _: SOURCES.lstrip("\n") + "\norders:", text, count=1, flags=re.M)


def world(t, **options):
    w = t.world(receivers=1, dispatchers=0, edit=with_schemes, **options)
    w.set_template("hello", "subject", "Hello")
    return w


def b64(digest):
    return base64.b64encode(digest).decode()


def github(delivery, event, body, **more):
    mac = hmac.new(secret("github").encode(), body, hashlib.sha256).hexdigest()
    return Request("/hooks/github", {"X-Hub-Signature-256": "sha256=" + mac, "X-GitHub-Delivery": delivery, "X-GitHub-Event": event,
                                     "Content-Type": "application/json", **more}, body)


def shopify(webhook, topic, body):
    mac = hmac.new(secret("shopify").encode(), body, hashlib.sha256).digest()
    return Request("/hooks/shopify", {"X-Shopify-Hmac-Sha256": b64(mac), "X-Shopify-Webhook-Id": webhook, "X-Shopify-Topic": topic}, body)


def twilio(pairs, target="/hooks/twilio", url=URL, **more):
    """As twilio-node signs it: the URL with the query, then the sorted names and values."""
    query = target[len("/hooks/twilio"):]
    signed = url + query + "".join(k + v for k, v in sorted(set(pairs)))
    mac = hmac.new(secret("twilio").encode(), signed.encode(), hashlib.sha1).digest()
    return Request(target, {"X-Twilio-Signature": b64(mac), "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8", **more},
                   urllib.parse.urlencode(pairs).encode())


def test_the_same_signed_bytes_under_another_id_are_a_replay_and_move_nothing(t):
    w = world(t)
    body = b'{"order":"1"}'
    first, again, forged = github("d-1", "push", body), github("d-1", "push", body), github("d-2", "push", body)
    rerouted = github("d-3", "deployment.created", body)  # The event's name is not signed either.
    answers = [w.post(r) for r in (first, again, forged, forged, rerouted)]
    eq({(a.status, a.body) for a in answers}, {(200, answers[0].body)}, "all look the same")
    eq(len(applied(w.cluster)), 1)
    eq((repeats(w.cluster, "d-1"), repeats(w.cluster, "d-1", REPLAY)), (1, 0))
    eq((repeats(w.cluster, "d-2"), repeats(w.cluster, "d-2", REPLAY)), (1, 1), "a copy of a replay is a duplicate of it")
    eq(repeats(w.cluster, "d-3", REPLAY), 1)
    eq([o for o, _ in bodies(w.cluster, "d-2")], [REPLAY], "its body is kept")
    eq(w.cluster.value("SELECT count(*) FROM pawl.replay_keys"), 1)
    w.counted(2, "pawl_webhook_requests_total", source="github", outcome="replay")
    w.counted(4, "pawl_duplicates_caught_total", hop="inbox")
    eq(w.cluster.value("SELECT min(age) >= interval '0' AND max(age) < interval '1 minute' FROM pawl.repeats"), True)


def mailgun(token, event, order):
    now = str(int(time.time()))
    mac = hmac.new(secret("github").encode(), (now + token).encode(), hashlib.sha256).hexdigest()
    return Request("/hooks/mailgun", {}, json.dumps({"signature": {"timestamp": now, "token": token, "signature": mac},
                                                     "event-data": {"id": event, "event": "opened", "order": order}}).encode())


def test_a_token_that_came_with_a_repeat_counts_once_too(t):
    w = world(t)
    def forged(request):
        return Request(request.path, request.headers, request.body.replace(b'"e-1"', b'"e-2"').replace(b'"order": "1"', b'"order": "2"'))
    resent = mailgun("t-2", "e-1", "1")
    for request in (mailgun("t-1", "e-1", "1"), resent, forged(resent)):
        eq(w.post(request).status, 200)
    eq(states(w.cluster), {"1": "s1"})
    eq((repeats(w.cluster, "e-1"), repeats(w.cluster, "e-2", REPLAY)), (1, 1))


def linear(delivery, order, sent_ms, note=""):
    body = json.dumps({"type": "Issue", "action": "create", "organizationId": "org", "data": {"order": order, "note": note},
                       "webhookTimestamp": sent_ms}).encode()
    mac = hmac.new(secret("github").encode(), body, hashlib.sha256).hexdigest()
    return Request("/hooks/linear", {"Linear-Signature": mac, "Linear-Delivery": delivery}, body)


def test_no_try_of_an_event_is_another_event_by_its_time_alone(t):
    w = world(t)
    now = int(time.time() * 1000)
    retry = linear("d-1", "1", now + 1)
    for request in (linear("d-1", "1", now), retry, Request(retry.path, {**retry.headers, "Linear-Delivery": "d-2"}, retry.body)):
        eq(w.post(request).status, 200)
    eq((repeats(w.cluster, "d-1"), repeats(w.cluster, "d-2", REPLAY)), (1, 1))
    eq(w.post(linear("d-3", "1", now, "another")).status, 200)
    eq((keys(w.cluster, "d-3"), repeats(w.cluster, "d-3", REPLAY)), (1, 0), "what the policy ignores may still be another event")


def test_a_hundred_ids_for_the_same_bytes_at_once_move_an_order_once(t):
    w = t.world(receivers=2, dispatchers=0, edit=with_schemes)
    body = b'{"order":"1"}'
    answers = w.post(*[github(f"d-{n}", "push", body) for n in range(100)], connections=20)
    eq(statuses(answers), {200: 100})
    eq(len(applied(w.cluster)), 1)
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats WHERE outcome = 4"), 99)
    eq(w.cluster.value("SELECT count(*) FROM pawl.bodies WHERE outcome = 4"), 99)
    eq(w.cluster.value("SELECT count(*) FROM pawl.replay_keys"), 1)
    eq(w.cluster.deadlocks(), 0)


def test_a_replay_that_only_notifies_notifies_nobody(t):
    w = world(t)
    body = b'{"mail":"a@example.net"}'
    eq(statuses(w.post(github("d-1", "ping", body), github("d-2", "ping", body), github("d-3", "ping", body), connections=1)), {200: 3})
    eq(w.cluster.value("SELECT count(*) FROM pawl.notifications"), 1)


def test_an_id_that_a_replay_used_up_is_shown_as_a_mismatch(t):
    w = world(t)
    one, two = b'{"order":"1"}', b'{"order":"2"}'
    w.post(github("d-1", "push", one))
    w.post(github("d-2", "push", one))
    w.post(github("d-2", "push", two))
    eq(repeats(w.cluster, "d-2", 3), 1)
    eq(states(w.cluster), {"1": "s1"})
    eq(w.post(github("d-9", "push", two)).status, 200)  # A mismatch takes no bytes away from the event they belong to.
    eq(states(w.cluster), {"1": "s1", "2": "s1"})


def test_what_has_no_id_takes_its_bytes_away_from_nobody(t):
    w = world(t)
    body = b'{"order":"1"}'
    nameless = github("", "push", body)
    del nameless.headers["X-GitHub-Delivery"]
    eq(w.post(nameless).status, 200)
    eq(w.cluster.value("SELECT reason FROM pawl.bodies"), "no-id")
    eq(w.post(github("d-1", "push", body)).status, 200)
    eq(states(w.cluster), {"1": "s1"})


def test_a_replay_whose_commit_got_no_answer_is_told_again_as_a_replay(t):
    w = world(t, cluster=t.keep(PgProxy(t.migrated_cluster())))
    body = b'{"order":"1"}'
    w.post(github("d-1", "push", body))
    rule = w.cluster.cut("INSERT INTO replay_keys", 1, True)
    eq(w.post(github("d-2", "push", body)).status, 200)
    eq(rule.cut, 1, "transactions that were cut")
    eq((repeats(w.cluster, "d-2", REPLAY), repeats(w.cluster, "d-2")), (1, 0), "recorded once, and not as a repeat of itself")
    w.counted(1, "pawl_webhook_requests_total", source="github", outcome="replay")
    rule = w.cluster.cut("INSERT INTO replay_keys", 1, True)
    eq(w.post(github("d-3", "push", b'{"order":"2"}')).status, 200)
    eq(rule.cut, 1, "transactions that were cut")
    w.counted(2, "pawl_webhook_requests_total", source="github", outcome="accepted")
    eq((repeats(w.cluster, "d-3", REPLAY), states(w.cluster)), (0, {"1": "s1", "2": "s1"}))


def test_shopify_takes_id_and_topic_from_its_headers(t):
    w = world(t)
    body = b'{"id":98765432109876543210}'
    eq(statuses(w.post(shopify("w-1", "orders/paid", body), shopify("w-1", "orders/paid", body), shopify("w-2", "orders/paid", body),
                       connections=1)), {200: 3})
    eq(states(w.cluster), {"98765432109876543210": "s1"})
    eq((repeats(w.cluster, "w-1"), repeats(w.cluster, "w-2", REPLAY)), (1, 1))


def test_a_form_of_twilio_is_verified_by_its_public_url_and_read(t):
    w = world(t)
    sent = [("MessageSid", "SM1"), ("MessageStatus", "sent"), ("Order", "a b/ä"), ("AccountSid", "AC1")]
    delivered = [("MessageSid", "SM1"), ("MessageStatus", "delivered"), ("Order", "a b/ä"), ("AccountSid", "AC1")]
    good = [twilio(sent), twilio(delivered), twilio(sent), twilio(delivered, "/hooks/twilio?a=b%20c&x='"),
            twilio(delivered, url=URL.replace(".com/", ".com:443/"))]
    eq([w.post(r).status for r in good], [200] * 5)
    eq(states(w.cluster), {"a b/ä": "s2"})
    eq((keys(w.cluster, "SM1:sent"), keys(w.cluster, "SM1:delivered")), (1, 1))
    eq((repeats(w.cluster, "SM1:sent"), repeats(w.cluster, "SM1:delivered")), (1, 2))
    wrong = [twilio(sent, url=URL.replace("https", "http")), twilio(sent, url=URL.replace(".com/", ".com:8443/")),
             twilio(sent, url="https://127.0.0.1/hooks/twilio"), twilio(sent, url=URL + "/")]
    moved = twilio(sent, "/hooks/twilio?a=b")
    moved.path = "/hooks/twilio?a=c"
    eq([w.post(r).status for r in wrong + [moved]], [401] * 5)
    doubled = twilio(sent + [("MessageSid", "SM1")])  # The signature counts a pair once: it verifies, and is sure of nothing.
    eq(w.post(doubled).status, 200)
    eq(w.cluster.value("SELECT count(*) FROM pawl.bodies WHERE reason = 'duplicate-member'"), 1)


def test_a_source_that_needs_a_public_url_is_refused_without_one(t):
    w = world(t)
    w.set_policy("strict", lambda text: with_schemes(text).replace(f"    public_url: {URL}\n", ""))
    status, _, err = w.run("policy", "apply")
    check(status != 0 and "[public-url]" in err, err)


def test_standard_webhooks_by_either_family_of_names(t):
    w = world(t)
    w.set_credential("standard", "whsec_" + b64(b"0123456789abcdef0123456789abcdef"))
    w.restart(w.receivers[0])
    now, body = str(int(time.time())), b'{"type":"order.paid","order":"1"}'
    mac = b64(hmac.new(b"0123456789abcdef0123456789abcdef", f"m-1.{now}.".encode() + body, hashlib.sha256).digest())
    for start in ("webhook", "svix"):
        answer = w.post(Request("/hooks/standard", {f"{start}-id": "m-1", f"{start}-timestamp": now, f"{start}-signature": f"v9,x v1,{mac}"}, body))
        eq(answer.status, 200)
    other = Request("/hooks/standard", {"webhook-id": "m-2", "webhook-timestamp": now, "webhook-signature": f"v1,{mac}"}, body)
    eq(w.post(other).status, 401, "the id is signed")
    eq((keys(w.cluster, "m-1"), repeats(w.cluster, "m-1"), states(w.cluster)), (1, 1, {"1": "s1"}))
    eq(w.cluster.value("SELECT count(*) FROM pawl.replay_keys"), 0)


def test_slack_keeps_teams_apart(t):
    w = world(t)
    now = str(int(time.time()))
    def event(team, order):
        body = json.dumps({"event_id": "Ev1", "team_id": team, "event_time": int(now), "event": {"type": "app_mention", "order": order}}).encode()
        mac = hmac.new(secret("slack").encode(), f"v0:{now}:".encode() + body, hashlib.sha256).hexdigest()
        return Request("/hooks/slack", {"X-Slack-Signature": "v0=" + mac, "X-Slack-Request-Timestamp": now}, body)
    eq(statuses(w.post(event("T1", "1"), event("T1", "1"), event("T2", "2"), connections=1)), {200: 3})
    eq(states(w.cluster), {"1": "s1", "2": "s1"})
    eq((keys(w.cluster, "Ev1"), repeats(w.cluster, "Ev1")), (2, 1))


def test_an_event_older_than_the_window_is_kept_and_not_applied(t):
    w = world(t)
    day = 86400
    def erp(event_id, order, age):
        body = as_body({"delivery": {"id": event_id, "kind": "step.s1", "happened_at": int(time.time()) - age}, "order": {"number": order}})
        return Request("/hooks/erp", erp_sign(secret("erp"), body), body)
    eq([w.post(r).status for r in (erp("e-1", "1", 46 * day), erp("e-2", "2", 44 * day), erp("e-1", "1", 46 * day))], [200] * 3)
    eq(states(w.cluster), {"2": "s1"})
    eq([o for o, _ in bodies(w.cluster, "e-1")], [LATE])
    eq(repeats(w.cluster, "e-1"), 1)
    w.counted(1, "pawl_late_events_total", source="erp")
    w.counted(1, "pawl_webhook_requests_total", source="erp", outcome="late")
    old = stripe_request(secret("stripe"), "evt-1", "step.s1", "3", created=int(time.time()) - 50 * day)
    eq(w.post(old).status, 200)
    eq((states(w.cluster), [o for o, _ in bodies(w.cluster, "evt-1")]), ({"2": "s1"}, [LATE]), "by the scheme's own time")


def test_a_source_above_its_rate_gets_429_and_harms_no_other(t):
    w = world(t)
    shop = lambda key, source: app_request(secret("shop"), key, "step.s1", key, source=source)  # noqa: E731
    answers = [w.post(shop(f"k{n}", "slow")) for n in range(5)]
    eq([a.status for a in answers], [200] + [429] * 4)
    refused = answers[1]
    check(int(refused.headers["retry-after"]) > 0, "Retry-After")
    eq((refused.headers["content-type"], json.loads(refused.body)["code"]), ("application/problem+json", "rate"))
    eq(statuses(w.post(*[shop(f"m{n}", "shop") for n in range(50)], connections=4)), {200: 50})
    w.counted(4, "pawl_webhook_requests_total", source="slow", outcome="rate")
    w.counted(4, "pawl_webhook_rejected_total", source="slow", reason="rate")
    eq(w.cluster.value("SELECT count(*) FROM pawl.keys WHERE event_id LIKE 'k%'"), 1)


def test_trigger_signs_as_these_providers_do(t):
    w = world(t)
    w.set_credential("standard", "whsec_" + b64(b"0123456789abcdef0123456789abcdef"))
    w.restart(w.receivers[0])
    to = ["--to", f"http://127.0.0.1:{w.ports()[0]}"]
    for n, wish in enumerate(("github:push", "shopify:orders/paid", "standard:order.paid", "slack:app_mention")):
        w.must("trigger", wish, "--order", str(n), *to)
        eq(states(w.cluster).get(str(n)), "s1", wish)
    w.must("trigger", "github:deployment.created", "--order", "0", *to)
    eq(states(w.cluster)["0"], "s2")
    status, _, err = w.run("trigger", "twilio:sent", "--order", "9", *to)
    check(status != 0 and "signs a form" in err, err)


def test_a_replay_is_caught_while_the_ring_of_keys_turns_and_after(t):
    w = t.world(receivers=2, dispatchers=0, edit=with_schemes)
    body = lambda n: b'{"order":"%d"}' % n  # noqa: E731
    phases = ((1, False), (2, True), (2, False), (3, True))
    for number, (gen, overlap) in enumerate(phases):
        w.cluster.query("INSERT INTO pawl.key_gen (gen, overlap) VALUES (%s, %s)"
                        " ON CONFLICT (gen) DO UPDATE SET overlap = excluded.overlap", (gen, overlap))
        eq(w.post(github(f"first-{number}", "push", body(number))).status, 200)
        for seen in range(number + 1):
            copies = [github(f"again-{number}-{seen}-{n}", "push", body(seen)) for n in range(4)] + [github(f"first-{seen}", "push", body(seen))]
            eq(statuses(w.post(*copies, connections=5)), {200: 5})
            eq(w.cluster.query("SELECT outcome, count(*) FROM pawl.repeats GROUP BY 1 ORDER BY 1"), [(2, 1), (REPLAY, 4)],
               f"first seen in phase {seen}, now generation {gen}, overlap {overlap}")
            w.cluster.query("TRUNCATE pawl.repeats")
    eq(len(applied(w.cluster)), len(phases))
