"""Keys that providers publish, fetched from a server of the tests' own over real TLS: SNS certificates and JWKS."""
import base64
import hashlib
import itertools
import json
import os
import re
import sys
import time
import urllib.parse
import zlib

from harness import *
from kit.https import Authority, HttpsServer
from kit.procs import SLOW

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import ACCEPTED, PARKED, UNMAPPED, bodies, keys, repeats, states  # noqa: E402

SNS, PAYPAL, ISSUER = "sns.us-east-1.amazonaws.com", "api.paypal.com", "keys.example.com"
TOPIC = "arn:aws:sns:us-east-1:123456789012:orders"
PEM, CERTS = "/SimpleNotificationService-test.pem", "/v1/notifications/certs/CERT-1"
SOURCES = f"""
  sns:
    scheme: aws-sns
    topics: ["{TOPIC}"]
    events: {{ Notification: {{ order: /Subject, to: s1 }} }}
  ses:
    scheme: aws-sns
    topics: ["{TOPIC}"]
    type: /Message/eventType
    events: {{ Delivery: {{ order: /Message/mail/tags/order/0, to: s1 }} }}
  paypal:
    scheme: paypal
    secrets: [credential:webhook-id]
    events: {{ PAYMENT.CAPTURE.COMPLETED: {{ order: /resource/id, to: s1 }} }}
  plaid:
    scheme: plaid
    jwks: https://{ISSUER}/jwks.json
    events: {{ TRANSACTIONS.SYNC: {{ order: /item_id, to: s1 }} }}
"""


class Rig:
    """One receiver that trusts one authority, whose server stands in for all hosts of `named`."""

    def __init__(self, t, named=(SNS, PAYPAL, ISSUER), sources=SOURCES, now=None):
        self.ca = Authority()
        web = self.ca.key("web")
        self.server = HttpsServer(self.ca.certificate(web, [SNS, PAYPAL, ISSUER, "sns.eu-west-1.amazonaws.com"]), web)
        self.signer, self.issuer = self.ca.key("signer"), self.ca.key("issuer", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        self.publish(PEM, self.ca.certificate(self.signer, [SNS]))
        self.publish(CERTS, self.ca.certificate(self.signer, ["messageverificationcerts.paypal.com"]))
        self.publish("/jwks.json", json.dumps({"keys": [self.issuer.jwk("k1")]}))
        connect = ", ".join(f'"{host}=127.0.0.1:{self.server.port}"' for host in named)
        self.cluster = t.cluster()
        edit = lambda text: re.sub(r"^sources:\n.*?(?=^orders:)", lambda _: "sources:" + sources + "\n", text, flags=re.M | re.S)  # noqa: E731
        self.pawl = t.pawl(self.cluster, edit=edit, host={"receiver": {"fetch": f"{{ ca: {self.ca.file}, connect: [{connect}] }}"}})
        self.receiver = self.pawl.receiver(now=now)

    def publish(self, path, text):
        self.server.pages[path] = text.encode()

    def sns(self, message_id, order="1", url=f"https://{SNS}{PEM}", topic=TOPIC, kind="Notification", key=None, **more):
        """A message as SNS signs it (version 2)."""
        body = {"Type": kind, "MessageId": message_id, "TopicArn": topic, "Subject": order, "Message": "Hello\nworld é",
                "Timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()), "SignatureVersion": "2", "SigningCertURL": url, **more}
        names = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
        names = [n for n in names if n in body and (n != "Subject" or kind == "Notification")]
        text = "".join(f"{n}\n{body[n]}\n" for n in names)
        body["Signature"] = base64.b64encode((key or self.signer).sign(text.encode())).decode()
        return Request("/hooks/sns", {"Content-Type": "text/plain; charset=UTF-8"}, json.dumps(body).encode())

    def plaid(self, item, kid="k1", key=None, **claims):
        body = json.dumps({"webhook_type": "TRANSACTIONS", "webhook_code": "SYNC", "item_id": item, "environment": "production"}, indent=2).encode()
        claims = {"iat": int(time.time()), "request_body_sha256": hashlib.sha256(body).hexdigest(), **claims}
        return Request("/hooks/plaid", {"Plaid-Verification": (key or self.issuer).jwt(kid, claims)}, body)

    def settle(self, request, status=200, seconds=8):
        """Tries as a provider does until the answer is no longer 503; all answers."""
        answers, end = [], time.time() + seconds * SLOW
        while time.time() < end:
            answers.append(self.pawl.post(request))
            if answers[-1].status != 503:
                break
            time.sleep(0.1)
        eq(answers[-1].status, status, f"the last answer of {[a.status for a in answers]}: {answers[-1].body}\n{self.receiver.log()[-1500:]}")
        return answers

    def fetches(self, **labels):
        return self.receiver.metric("pawl_fetches_total", **labels)


def test_a_first_request_is_asked_to_come_again_and_its_second_try_is_taken(t):
    rig = Rig(t)
    answers = rig.settle(rig.sns("m-1", order="41"))
    eq(answers[0].status, 503)
    eq((answers[0].headers.get("retry-after"), json.loads(answers[0].body)["code"]), ("1", "key_fetching"))
    eq(states(rig.cluster), {"41": "s1"})
    eq(rig.pawl.post(rig.sns("m-2", order="42")).status, 200, "the next one needs no fetch")
    eq(rig.server.count(PEM), 1)
    eq(rig.fetches(kind="certificate", outcome="ok"), 1)
    eq(rig.receiver.metric("pawl_webhook_rejected_total", source="sns", reason="key_fetching"), len(answers) - 1)


def test_pointers_lead_into_the_message_of_a_topic(t):
    rig = Rig(t)
    def made(message_id, message):
        request = rig.sns(message_id, order="outside", Message=message)
        return Request("/hooks/ses", request.headers, request.body)
    mail = {"eventType": "Delivery", "mail": {"messageId": "ses-1", "tags": {"order": ["41"]}}}
    first = made("m-1", json.dumps(mail))
    rig.settle(first)
    rig.settle(made("m-2", json.dumps({**mail, "eventType": "Bounce"})))
    rig.settle(made("m-3", "You have chosen to subscribe"))
    rig.settle(first)  # the same bytes: one made anew may have another time
    eq(states(rig.cluster), {"41": "s1"})
    eq([[outcome for outcome, _ in bodies(rig.cluster, m)] for m in ("m-1", "m-2", "m-3")], [[ACCEPTED], [UNMAPPED], [PARKED]])
    eq(repeats(rig.cluster, "m-1"), 1)


def test_a_hundred_requests_at_once_have_one_key_fetched_once(t):
    rig = Rig(t)
    rig.server.delay = 0.5
    first = rig.pawl.post(*[rig.sns(f"m-{n}", order=str(n)) for n in range(100)], connections=20)
    eq({a.status for a in first}, {503})
    rig.settle(rig.sns("m-0", order="0"))
    rig.pawl.post(*[rig.sns(f"m-{n}", order=str(n)) for n in range(100)], connections=20)
    eq(len(states(rig.cluster)), 100)
    eq(rig.server.count(PEM), 1)


def test_urls_outside_the_rule_are_refused_and_never_asked_for(t):
    rig = Rig(t)
    rig.settle(rig.sns("good"))
    before = rig.server.count()
    for n, url in enumerate(["http://" + SNS + PEM, f"https://{SNS}.evil.example{PEM}", f"https://user@{SNS}{PEM}", f"https://{SNS}:8443{PEM}",
                             f"https://{SNS}@127.0.0.1{PEM}", f"https://{SNS}{PEM}?x", f"https://{SNS}/../x{PEM}", f"https://{SNS}/x",
                             "https://sns.us-east-1.amazonaws.com.cn.evil.example/x.pem", f"https://evil.{SNS}{PEM}", "file:///etc/passwd.pem"]):
        eq(rig.pawl.post(rig.sns(f"bad-{n}", url=url)).status, 401, url)
    eq(rig.server.count(), before)
    eq(rig.receiver.metric("pawl_webhook_rejected_total", reason="cert_url_refused"), 11)


def test_a_redirect_a_huge_answer_and_an_error_are_no_key(t):
    rig = Rig(t)
    rig.server.pages["/redirect.pem"] = (302, {"Location": f"https://{SNS}{PEM}"}, b"")
    rig.server.pages["/huge.pem"] = rig.server.pages[PEM] + b" " * 70000
    rig.server.pages["/text.pem"] = b"this is no certificate"
    for path, outcome in (("/redirect.pem", "redirect"), ("/huge.pem", "too_large"), ("/none.pem", "status"), ("/text.pem", "unreadable")):
        request = rig.sns("m" + path, url=f"https://{SNS}{path}")
        eq(rig.pawl.post(request).status, 503, path)
        eventually(lambda o=outcome: rig.fetches(kind="certificate", outcome=o) == 1, 8, path)
        answer = rig.pawl.post(request)
        eq((answer.status, json.loads(answer.body)["code"]), (503, "key_fetching"), path)
    eq(rig.server.count(PEM), 0, "a redirect is not followed")
    eq(rig.cluster.value("SELECT count(*) FROM pawl.keys"), 0)


def test_a_certificate_that_is_not_to_be_trusted_refuses_what_it_signed(t):
    rig = Rig(t)
    other = Authority("somebody else")
    stranger = rig.ca.key("stranger")
    rig.publish("/other-ca.pem", other.certificate(rig.signer, [SNS]))
    rig.publish("/other-name.pem", rig.ca.certificate(rig.signer, ["sns.example.com"]))
    rig.publish("/old.pem", rig.ca.certificate(rig.signer, [SNS], days=-1))
    rig.publish("/wrong-key.pem", rig.ca.certificate(stranger, [SNS]))
    for path in ("/other-ca.pem", "/other-name.pem", "/old.pem", "/wrong-key.pem"):
        rig.settle(rig.sns("m" + path, url=f"https://{SNS}{path}"), status=401)
    eq(rig.fetches(kind="certificate", outcome="untrusted"), 3)
    eq(rig.receiver.metric("pawl_webhook_rejected_total", reason="signature_mismatch"), 1)
    eq(rig.cluster.value("SELECT count(*) FROM pawl.keys"), 0)


def test_a_server_that_is_gone_means_try_again_and_never_a_refusal(t):
    rig = Rig(t)
    rig.server.stop()
    request = rig.sns("m-1", order="7")
    eq(rig.pawl.post(request).status, 503)
    eventually(lambda: rig.fetches(kind="certificate", outcome="unreachable") == 1, 8)
    for _ in range(20):
        eq(rig.pawl.post(request).status, 503)
    eq(rig.fetches(kind="certificate"), 1, "what could not be had is not asked for again at once")
    rig.server.start()
    rig.settle(request, seconds=20)
    eq(states(rig.cluster), {"7": "s1"})


def test_private_addresses_are_never_connected_to(t):
    """localhost is a name of 127.0.0.1; no rule of a scheme allows it, the policy's own URL may name it."""
    rig = Rig(t, sources=SOURCES.replace(f"https://{ISSUER}/jwks.json", "https://localhost:@PORT@/jwks.json").replace("@PORT@", "8443"))
    eventually(lambda: rig.fetches(kind="jwks", outcome="address") >= 1, 10, rig.receiver.log())
    eq(rig.pawl.post(rig.plaid("i")).status, 503)
    eq(rig.server.count(), 0)


def test_key_sets_of_the_policy_are_there_before_the_first_request(t):
    rig = Rig(t)
    eventually(lambda: rig.fetches(kind="jwks", outcome="ok") == 1, 8)
    eq(rig.pawl.post(rig.plaid("item-1")).status, 200)
    eq(states(rig.cluster), {"item-1": "s1"})
    again = rig.plaid("item-1", iat=int(time.time()) - 9)
    eq([a.status for a in rig.pawl.post(again, again)], [200, 200])
    eq((rig.cluster.value("SELECT count(*) FROM pawl.keys"), rig.cluster.value("SELECT count(*) FROM pawl.repeats WHERE outcome = 4")), (3, 1), "a new token is news in the same bytes, and counts once")
    stranger = rig.ca.key("stranger", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    for request in (rig.plaid("x", key=stranger), rig.plaid("x", iat=int(time.time()) - 400), rig.plaid("x", request_body_sha256="00" * 32)):
        eq(rig.pawl.post(request).status, 401)


def test_unknown_kids_have_the_set_fetched_again_once_a_minute(t):
    rig = Rig(t)
    eventually(lambda: rig.fetches(kind="jwks", outcome="ok") == 1, 8)
    answers = rig.pawl.post(*[rig.plaid("x", kid=f"made-up-{n}") for n in range(30)])
    eq({a.status for a in answers}, {401}, "the set is too young to be asked for again")
    eq(rig.server.count("/jwks.json"), 1)


def test_a_subscription_is_confirmed_by_a_url_of_our_own(t):
    rig = Rig(t)
    trap = f"https://{SNS}/trap?Action=ConfirmSubscription"
    ask = lambda topic, token: rig.sns("c-" + token, kind="SubscriptionConfirmation", topic=topic, Token=token, SubscribeURL=trap)  # noqa: E731
    want = f"/?Action=ConfirmSubscription&TopicArn={urllib.parse.quote(TOPIC, safe='')}&Token=t%2F0k"
    rig.server.pages[want] = b"<ConfirmSubscriptionResponse/>"
    rig.settle(ask(TOPIC, "t/0k"))
    eventually(lambda: rig.server.asked.get(want) == 1, 8, str(rig.server.asked))
    eq(rig.pawl.post(ask(TOPIC, "t/0k")).status, 200, "a second copy is answered and changes nothing")
    eq(rig.pawl.post(ask("arn:aws:sns:us-east-1:999999999999:orders", "other")).status, 401)
    eq(rig.pawl.post(rig.sns("u-1", kind="UnsubscribeConfirmation", Token="t", SubscribeURL=trap)).status, 200)
    time.sleep(0.5)
    eq((rig.server.asked.get(want), rig.server.count("/trap")), (1, 0))
    eq(rig.cluster.value("SELECT count(*) FROM pawl.keys"), 0, "a confirmation is no event")
    check("t%2F0k" not in rig.receiver.log(), "the token is not logged")


def test_a_stop_does_not_wait_for_a_fetch(t):
    rig = Rig(t)
    eventually(lambda: rig.fetches(kind="jwks", outcome="ok") == 1, 8)
    rig.server.delay = 30
    eq(rig.pawl.post(rig.sns("m-1")).status, 503)
    eventually(lambda: rig.server.count(PEM) == 1, 8)
    began = time.time()
    eq(rig.receiver.stop(), 0)
    check(time.time() - began < 3, f"{time.time() - began:.1f} s")


def paypal(rig, name, body):
    """The headers of that transmission."""
    sent = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = f"{name}|{sent}|{secret('webhook-id')}|{zlib.crc32(body)}"
    return {"PAYPAL-TRANSMISSION-ID": name, "PAYPAL-TRANSMISSION-TIME": sent, "PAYPAL-AUTH-ALGO": "SHA256withRSA",
            "PAYPAL-CERT-URL": f"https://{PAYPAL}{CERTS}", "PAYPAL-TRANSMISSION-SIG": base64.b64encode(rig.signer.sign(text.encode())).decode()}


CAPTURED = json.dumps({"id": "WH-1", "event_type": "PAYMENT.CAPTURE.COMPLETED", "resource": {"id": "51"}}).encode()


def forged_capture():
    """Another event whose body has the same CRC32, which is all that PayPal signs of one."""
    return collide(b'{"id":"WH-FORGED","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"id":"52"},"pad":"', b'"}', zlib.crc32(CAPTURED))


def test_a_paypal_transmission_counts_once_whatever_body_comes_under_it(t):
    rig = Rig(t)
    headers, body = paypal(rig, "t-1", CAPTURED), CAPTURED
    rig.settle(Request("/hooks/paypal", headers, body))
    eq(rig.pawl.post(Request("/hooks/paypal", headers, body)).status, 200)
    forged = forged_capture()
    eq(zlib.crc32(forged), zlib.crc32(body))
    eq(rig.pawl.post(Request("/hooks/paypal", headers, forged)).status, 200, "whoever sends it learns nothing")
    eq(states(rig.cluster), {"51": "s1"})
    eq((repeats(rig.cluster, "WH-1"), repeats(rig.cluster, "WH-FORGED", 4)), (1, 1))
    eq(keys(rig.cluster, "WH-1"), 1)


def test_a_paypal_transmission_of_a_repeat_counts_once_too(t):
    rig = Rig(t)
    rig.settle(Request("/hooks/paypal", paypal(rig, "t-1", CAPTURED), CAPTURED))
    resent = paypal(rig, "t-2", CAPTURED)
    eq(rig.pawl.post(Request("/hooks/paypal", resent, CAPTURED)).status, 200)
    eq(rig.pawl.post(Request("/hooks/paypal", resent, forged_capture())).status, 200)
    eq(states(rig.cluster), {"51": "s1"})
    eq((repeats(rig.cluster, "WH-1"), repeats(rig.cluster, "WH-FORGED", 4)), (1, 1))


PINNED = f"""
  aws-sns: {{ scheme: aws-sns, topics: ["arn:aws:sns:us-east-1:1:*"], secrets: [credential:sns-cert] }}
  paypal: {{ scheme: paypal, secrets: [credential:webhook, credential:paypal-cert] }}
  plaid: {{ scheme: plaid, secrets: [credential:jwk] }}
"""


def test_keys_in_secrets_give_other_libraries_their_verdicts_and_nothing_is_fetched(t):
    t.need_faults()
    with open(t.need_shared("cases/signatures.jsonl"), encoding="utf-8") as f:
        cases = [c for c in map(json.loads, f) if c["provider"] in ("aws-sns", "paypal", "plaid")]
    check(len(cases) >= 16, f"only {len(cases)} cases")
    key = lambda provider: next(c["public_key"] for c in cases if c["provider"] == provider)  # noqa: E731
    edit = lambda text: re.sub(r"^sources:\n.*?(?=^orders:)", lambda _: "sources:" + PINNED + "\n", text, flags=re.M | re.S)  # noqa: E731
    pawl = t.pawl(t.cluster(), edit=edit)
    for name, value in (("sns-cert", key("aws-sns")), ("webhook", "8PT597110X687430LKGECATA"), ("paypal-cert", key("paypal")), ("jwk", key("plaid"))):
        pawl.set_credential(name, value)
    receiver = pawl.receiver(now=cases[0]["now"])
    wrong = []
    for case in cases:
        headers = {name: value for name, value in case["headers"]}
        answer = pawl.post(Request("/hooks/" + case["provider"], headers, base64.b64decode(case["body"])))
        told = receiver.metric("pawl_webhook_rejected_total", reason=case["reason"]) if case["reason"] else 1
        # A confirmation is authentic, and there is no network to confirm it by.
        if answer.status != (200 if case["expect"] == "accept" else 401) or told < 1:
            wrong.append((case["id"], answer.status, answer.body))
    eq(wrong, [])
    eq(receiver.metric("pawl_fetches_total", kind="certificate") + receiver.metric("pawl_fetches_total", kind="jwks"), 0)
    ids = {i for (i,) in pawl.cluster.query("SELECT event_id FROM pawl.keys")}
    check("WH-FORGED" not in {i for (i,) in pawl.cluster.query("SELECT event_id FROM pawl.moves")} and len(ids) >= 2, str(ids))


def collide(head, tail, want):
    """head + 6 characters + tail with this CRC32: met in the middle, from the head on and from the end back."""
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    start, seen = zlib.crc32(head), {}
    for first in itertools.product(alphabet, repeat=3):
        seen[zlib.crc32(bytes(first), start)] = bytes(first)
    for c in alphabet:
        one = unroll(unroll(want, tail), bytes([c]))
        for b in alphabet:
            two = unroll(one, bytes([b]))
            for a in alphabet:
                middle = unroll(two, bytes([a]))
                if middle in seen:
                    return head + seen[middle] + bytes([a, b, c]) + tail
    raise AssertionError("no collision: change the head")


TABLE = [zlib.crc32(bytes([n]), 0xFFFFFFFF) ^ 0xFFFFFFFF for n in range(256)]
INDEX = {v >> 24: n for n, v in enumerate(TABLE)}


def unroll(crc, data):
    """The CRC32 before data was added."""
    c = crc ^ 0xFFFFFFFF
    for byte in reversed(data):
        n = INDEX[c >> 24]
        c = ((c ^ TABLE[n]) << 8 & 0xFFFFFFFF) | (n ^ byte)
    return c ^ 0xFFFFFFFF
