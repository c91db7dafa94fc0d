"""Bugs of other receivers, each with its place and the right behaviour, against the whole receiver.

| row of the collection | test, here where no file is named |
|---|---|
| 1, 5, 9 parsed and written again | a_body_that_was_parsed_and_written_again_is_refused |
| 3 characters of several bytes | a_character_of_four_bytes_may_arrive_in_two_reads |
| 7 broken JSON under a right signature | malformed_json_with_a_right_signature_.. |
| 11, 13 port and scheme of the signed URL | test_schemes.py a_form_of_twilio_is_verified_by_its_public_url_.., a_source_that_needs_a_public_url_.. |
| 15 answered 200 | a_signature_that_does_not_match_is_401_.. |
| 17 one secret | two_endpoints_of_a_provider_may_post_to_one_source; test_policy_versions.py two_secrets_live_at_once_.. |
| 19 v1a and unknown versions | test_schemes.py standard_webhooks_by_either_family_of_names; unit forged_rows_test refuses_every_forgery_of_a_signature_by_a_pair_of_keys |
| 21 two copies at once | two_copies_within_a_millisecond_.. |
| 23 one id of two sources | one_id_at_two_sources_.., events_without_an_id_never_share_one; test_once_keys.py |
| 25 up to 46 copies | forty_six_copies_of_an_event_cost_one_move |
| 27 an old snapshot in the body | test_orders.py orders_of_the_example_never_go_back_..: what an order is, only its flow says; no body is asked for again |
| 29 NUL and halves of pairs | texts_that_postgresql_has_no_way_to_keep_.. |
| 31 a redrive that was taken for a repeat | test_operate.py what_was_not_sent_is_settled_and_sent_anew_in_one_go (a key of its own), two_people_redrive_one_delivery_.. |
| 33 no secret | a_source_without_a_secret_takes_nothing_in |
"""
import hashlib
import hmac
import json
import os
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import bodies, keys, repeats, states, statuses  # noqa: E402


def world(t, **options):
    return t.world(receivers=options.pop("receivers", 1), dispatchers=0, **options)


def signed(body, name="stripe"):
    return Request(f"/hooks/{name}", stripe_sign(secret(name), body), body)


def event(event_id, order, more=b""):
    """A body by hand: every byte is chosen."""
    return (b'{ "id":"%s",\n"livemode":true,"type":"step.s1","data":{"object":{"metadata":{"order_id":"%s"}}}%s}\r\n'
            % (event_id.encode(), order.encode(), more))


def test_a_body_that_was_parsed_and_written_again_is_refused(t):
    """stripe-node#356, stripe-php#884, octokit/webhooks.js#61, greenhouse-api-docs#276, WorkOS computeSignature."""
    w = world(t)
    body = event("evt-1", "1", rb',"a":"\/\u003c\u00e9","n":1.0,"u":"' + "é🙂".encode() + b'"')
    eq(w.post(signed(body)).status, 200)
    eq(bodies(w.cluster, "evt-1"), [(1, body)], "the bytes as they came")
    again = signed(body)
    for respelt in (json.dumps(json.loads(body)), json.dumps(json.loads(body), ensure_ascii=False), json.dumps(json.loads(body), indent=2)):
        again.body = respelt.encode()
        eq(w.post(again).status, 401)
    again.body = body.rstrip()
    eq(w.post(again).status, 401, "without the line end")


def test_a_character_of_four_bytes_may_arrive_in_two_reads(t):
    """octokit/webhooks.js#1155, github/docs#3567."""
    w = world(t)
    for at in range(1, 4):
        body = event(f"evt-{at}", "1", b',"u":"\xf0\x9f\x99\x82"')
        head = signed(body)
        lines = b"".join(b"%s: %s\r\n" % (k.encode(), v.encode()) for k, v in head.headers.items())
        raw = b"POST /hooks/stripe HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % len(body) + lines + b"\r\n" + body
        cut = raw.index(b"\xf0\x9f\x99\x82") + at
        sock = RawSocket(w.ports()[0])
        sock.send(raw[:cut])
        time.sleep(0.05)
        sock.send(raw[cut:])
        check(sock.read(timeout=3).startswith(b"HTTP/1.1 200 "), f"cut at byte {at}")
        sock.close()
        eq(bodies(w.cluster, f"evt-{at}")[0][1], body)


def test_malformed_json_with_a_right_signature_is_kept_and_acknowledged(t):
    """checkout-sdk-node#408: the provider sends broken JSON with U+FFFD, and would send it again for days."""
    w = world(t)
    body = '{"id":"evt-1","type":"step.s1","data":{"reason":"\ufffd"broken"}}'.encode()
    eq([a.status for a in w.post(signed(body), signed(body), connections=1)], [200, 200])
    eq(w.cluster.query("SELECT reason, body FROM pawl.bodies")[0][0], "unreadable")
    eq({bytes(b) for (b,) in w.cluster.query("SELECT body FROM pawl.bodies")}, {body})


def test_a_signature_that_does_not_match_is_401_and_leaves_nothing(t):
    """adnanh/webhook#754: it was answered 200."""
    w = world(t)
    body = event("evt-1", "1")
    wrong = Request("/hooks/stripe", stripe_sign("whsec_other", body), body)
    unsigned = Request("/hooks/stripe", {"Content-Type": "application/json"}, body)
    eq(statuses(w.post(wrong, unsigned)), {401: 2})
    eq(w.cluster.value("SELECT (SELECT count(*) FROM pawl.bodies) + (SELECT count(*) FROM pawl.keys)"), 0)


def test_two_endpoints_of_a_provider_may_post_to_one_source(t):
    """octokit/webhooks.js#770, stripe_event#99, stripe-rails#161, shopify_app#694: one secret was all there could be."""
    w = world(t, edit=lambda text: text.replace("[credential:stripe]", "[credential:stripe, credential:stripe-connect]"))
    one, two = event("evt-1", "1"), event("evt-2", "2")
    connect = Request("/hooks/stripe", stripe_sign(secret("stripe-connect"), two), two)
    eq(statuses(w.post(signed(one), connect)), {200: 2})
    eq(w.cluster.query("SELECT event_id, secret FROM pawl.bodies ORDER BY 1"), [("evt-1", "stripe"), ("evt-2", "stripe-connect")])


def test_two_copies_within_a_millisecond_are_one_and_both_are_acknowledged(t):
    """convoy#2747, ai-shifu#2654, Eventra#19032: both passed the check, or the second got a 500."""
    w = world(t, receivers=2)
    one = signed(event("evt-1", "1"))
    eq(statuses(w.post(*[one] * 40, connections=40)), {200: 40})
    eq((keys(w.cluster, "evt-1"), repeats(w.cluster, "evt-1"), len(bodies(w.cluster, "evt-1"))), (1, 39, 1))


def test_one_id_at_two_sources_and_two_accounts_is_three_events(t):
    """NousResearch/hermes-agent#7448, #24633, #33321: the second route or tenant was swallowed."""
    w = world(t)
    account = event("same", "2", b',"account":"acct_2"')
    eq(statuses(w.post(signed(event("same", "1")), signed(account), app_request(secret("shop"), "same", "step.s1", "3"))), {200: 3})
    eq((keys(w.cluster, "same"), repeats(w.cluster, "same")), (3, 0))
    eq(states(w.cluster), {"1": "s1", "2": "s1", "3": "s1"})


def test_events_without_an_id_never_share_one(t):
    """The same: ids made of a millisecond dropped real events."""
    w = world(t)
    nameless = [b'{"type":"step.s1","livemode":true,"n":%d}' % n for n in range(20)]
    eq(statuses(w.post(*[signed(b) for b in nameless], connections=10)), {200: 20})
    eq(w.cluster.value("SELECT count(DISTINCT event_id) FROM pawl.bodies WHERE reason = 'no-id'"), 20)
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats"), 0)


def test_forty_six_copies_of_an_event_cost_one_move(t):
    """sendgrid/docs#2933: three copies are the mean, 46 were seen."""
    w = world(t)
    one = signed(event("evt-1", "1"))
    eq(statuses(w.post(*[one] * 46, connections=3)), {200: 46})
    eq(w.cluster.value("SELECT count(*) FROM pawl.moves"), 1)
    eq(repeats(w.cluster, "evt-1"), 45)


def test_texts_that_postgresql_has_no_way_to_keep_are_kept_as_bytes(t):
    """hasura#6782, posthog#23896, kodus-ai#1683: a NUL or half a surrogate pair ended in 500 until the provider gave up."""
    w = world(t)
    odd = {"evt-nul": rb',"x":"a\u0000b"', "evt-half": rb',"x":"\ud800"', "evt-pair": rb',"x":"\udc00\ud800"'}
    for name, more in odd.items():
        eq(w.post(signed(event(name, "1", more))).status, 200)
        eq(bodies(w.cluster, name), [(1, event(name, "1", more))], "where no pointer looks it harms nothing")
    for n, order in enumerate((r"a\u0000b", r"\ud800")):
        eq(w.post(signed(event(f"evt-{n}", order))).status, 200)
        eq(w.cluster.value("SELECT reason FROM pawl.bodies WHERE event_id = %s", (f"evt-{n}",)), "bad-order")
    eq(w.post(signed(event(r"a\u0000b", "1"))).status, 200)
    eq(w.cluster.value("SELECT count(*) FROM pawl.bodies WHERE reason = 'bad-id'"), 1)


def test_a_source_without_a_secret_takes_nothing_in(t):
    """n8n CVE-2026-54308: without a secret, unsigned requests were accepted."""
    w = world(t)
    os.unlink(os.path.join(w.dir, "credentials", "stripe"))
    w.restart(w.receivers[0])
    body = event("evt-1", "1")
    empty = hmac.new(b"", b"1." + body, hashlib.sha256).hexdigest()
    requests = [Request("/hooks/stripe", {}, body), Request("/hooks/stripe", {"Stripe-Signature": f"t=1,v1={empty}"}, body), signed(body)]
    answers = w.post(*requests)
    eq(statuses(answers), {503: 3})
    check(all(a.headers.get("retry-after") for a in answers), "Retry-After")
    eq(w.cluster.value("SELECT count(*) FROM pawl.bodies"), 0)
    eq(w.post(app_request(secret("shop"), "k", "step.s1", "9")).status, 200, "the others work on")
