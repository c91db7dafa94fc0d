"""The questions that providers ask before they send, over real HTTP: answered at once, no event made, no database asked."""
import base64
import hashlib
import hmac
import http.client
import json
import time

from harness import *

HANDSHAKES = ["slack", "zoom", "x", "dropbox", "ms-graph", "discord", "asana", "okta", "trello"]
TOKENS = ["meta", "braintree", "adobe"]
SOURCES = "\n" + "".join(f"""
  {name}:
    scheme: slack
    handshake: {{ answer: {name}{", token: credential:hello" if name in TOKENS else ""} }}
    secrets: [credential:slack]
    events: {{ step.s1: {{ order: /o, to: s1 }} }}
""" for name in HANDSHAKES + TOKENS) + """
  plain:
    scheme: stripe
    secrets: [credential:stripe]
    events: { step.s1: { order: /o, to: s1 } }

orders:"""
CHALLENGE = "20f9f8ed05f77439fe955c977e4c8a53"


def world(t):
    return t.world(receivers=1, dispatchers=0, edit=lambda text: text.replace("\norders:", SOURCES, 1))


def ask(w, method, target, body=None, **headers):
    """(status, headers, body) of one request; the connection must stay usable."""
    connection = http.client.HTTPConnection("127.0.0.1", w.receivers[0].port, timeout=10)
    try:
        connection.request(method, target, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        told = (answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        connection.request("GET", "/hooks/nobody")
        eq(connection.getresponse().status, 404, "the connection is kept")
        return told
    finally:
        connection.close()


def slack(body, key=None, t=None):
    """The headers that Slack signs a body with."""
    t = int(time.time()) if t is None else t
    mac = hmac.new((key or secret("slack")).encode(), b"v0:%d:" % t + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(t), "X-Slack-Signature": "v0=" + mac}


def nothing_was_stored(w):
    eq([w.cluster.value(f"SELECT count(*) FROM pawl.{table}") for table in ("keys", "bodies", "orders")], [0, 0, 0])


def test_each_question_gets_its_answer_and_makes_no_event(t):
    w = world(t)
    key = secret("slack").encode()
    crc = base64.b64encode(hmac.new(key, b"MWNj", hashlib.sha256).digest()).decode()
    braintree = hmac.new(hashlib.sha1(key).digest(), CHALLENGE.encode(), hashlib.sha1).hexdigest()
    hello = secret("hello")
    rows = [
        ("GET", f"/hooks/meta?hub.mode=subscribe&hub.challenge=1158&hub.verify_token={hello}", {}, 200, b"1158"),
        ("GET", "/hooks/x?crc_token=MWNj", {}, 200, b'{"response_token":"sha256=%s"}\n' % crc.encode()),
        ("GET", "/hooks/dropbox?challenge=%3Cb%3E", {}, 200, b"<b>"),
        ("POST", "/hooks/ms-graph?validationToken=Validation%3a+ok", {}, 200, b"Validation: ok"),
        ("GET", f"/hooks/braintree?bt_challenge={CHALLENGE}", {}, 200, f"{hello}|{braintree}".encode()),
        ("POST", "/hooks/asana", {"X_Hook_Secret": "b5372"}, 200, b""),
        ("GET", "/hooks/okta", {"X_Okta_Verification_Challenge": "abc"}, 200, b'{"verification":"abc"}\n'),
        ("HEAD", "/hooks/trello", {}, 200, b""),
        ("GET", "/hooks/adobe", {"X_AdobeSign_ClientId": hello}, 200, b""),
    ]
    for method, target, headers, status, body in rows:
        got = ask(w, method, target, **headers)
        eq((got[0], got[2]), (status, body), target)
        eq(got[1]["x-content-type-options"], "nosniff", target)
        check("html" not in got[1].get("content-type", ""), target)
    eq(ask(w, "POST", "/hooks/asana", X_Hook_Secret="b5372")[1]["x-hook-secret"], "b5372")
    nothing_was_stored(w)
    w.counted(len(rows) + 1, "pawl_webhook_requests_total", outcome="handshake")
    check("b5372" not in w.receivers[0].log(), "what Asana offers is not logged")


def test_signed_questions_are_answered_only_when_they_are_signed(t):
    w = world(t)
    body = b'{"type":"url_verification","challenge":"3eZbrw1aB"}'
    plain = b'{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8"}}'
    crypted = hmac.new(secret("slack").encode(), b"qgg8", hashlib.sha256).hexdigest().encode()
    rows = [("slack", body, 200, b"3eZbrw1aB"), ("zoom", plain, 200, b'{"plainToken":"qgg8","encryptedToken":"%s"}\n' % crypted),
            ("discord", b'{"type":0}', 204, b""), ("discord", b'{"type":1}', 200, b'{"type":1}\n')]
    for source, asked, status, said in rows:
        got = ask(w, "POST", f"/hooks/{source}", asked, **slack(asked))
        eq((got[0], got[2]), (status, said), source)
        eq("content-length" in got[1], status != 204, source)
        for wrong in ({}, slack(asked, "another"), slack(asked, t=int(time.time()) - 400), slack(asked + b" ")):
            eq(ask(w, "POST", f"/hooks/{source}", asked, **wrong)[0], 401, source)
    nothing_was_stored(w)
    w.counted(len(rows), "pawl_webhook_requests_total", outcome="handshake")


def test_a_question_is_refused_when_it_is_not_the_provider_who_asks(t):
    w = world(t)
    meta = "/hooks/meta?hub.mode=subscribe&hub.challenge=1&hub.verify_token="
    rows = [
        ("another token", "GET", meta + "x", {}, 401, "handshake_token_mismatch"),
        ("two challenges", "GET", meta + secret("hello") + "&hub.challenge=2", {}, 400, "handshake_malformed"),
        ("a line end", "GET", "/hooks/dropbox?challenge=a%0d%0ab", {}, 400, "handshake_malformed"),
        ("too long", "GET", "/hooks/dropbox?challenge=" + "a" * 1025, {}, 400, "handshake_malformed"),
        ("another client", "GET", "/hooks/adobe", {"X_AdobeSign_ClientId": "x"}, 401, "handshake_token_mismatch"),
        ("no question", "GET", "/hooks/dropbox", {}, 405, "method"),
        ("no such handshake", "GET", "/hooks/plain?challenge=1", {}, 405, "method"),
        ("HEAD elsewhere", "HEAD", "/hooks/plain", {}, 405, "method"),
        ("PUT", "PUT", "/hooks/dropbox?challenge=1", {}, 405, "method"),
    ]
    for name, method, target, headers, status, reason in rows:
        before = w.metric("pawl_webhook_rejected_total", reason=reason)
        eq(ask(w, method, target, **headers)[0], status, name)
        eq(w.metric("pawl_webhook_rejected_total", reason=reason), before + 1, name)
    eq(w.metric("pawl_webhook_requests_total", outcome="handshake"), 0)
    nothing_was_stored(w)


def test_a_question_is_answered_while_the_database_is_away(t):
    w = world(t)
    eq(ask(w, "GET", "/hooks/dropbox?challenge=a")[0], 200)
    w.cluster.kill9()
    eq(ask(w, "GET", "/hooks/dropbox?challenge=b")[2], b"b")
    body = b'{"type":"url_verification","challenge":"c"}'
    eq(ask(w, "POST", "/hooks/slack", body, **slack(body))[2], b"c")
    w.breaks["all"] = "the database is gone"


def test_a_missing_token_is_said_when_the_policy_is_checked_and_when_it_is_asked_for(t):
    w = t.world(receivers=1, dispatchers=0, edit=lambda text: text.replace("\norders:", SOURCES.replace(", token: credential:hello", ""), 1))
    eq(ask(w, "GET", "/hooks/meta?hub.mode=subscribe&hub.challenge=1&hub.verify_token=")[0], 503)
    w.counted(1, "pawl_webhook_rejected_total", source="meta", reason="handshake_token_unset")


PROFILES = "\n" + "".join(f"""
  {name}:
    scheme: {name}
    {more}
    secrets: [credential:{name}]
    events: {{ step.s1: {{ order: /o, to: s1 }} }}
""" for name, more in [("xero", ""), ("adyen", ""), ("gocardless", ""), ("github", ""), ("adobe-sign", ""), ("slack", ""), ("zoom", ""),
                       ("meta", "handshake: { token: credential:hello }"), ("x", ""), ("dropbox", ""), ("ms-graph", ""), ("asana", ""),
                       ("braintree", "handshake: { token: credential:hello }"), ("okta", ""),
                       ("trello", "public_url: https://hooks.example.com/hooks/trello")]) + "\norders:"
HEX_KEY = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
ITEM = {"additionalData": {}, "amount": {"currency": "EUR", "value": 1130}, "pspReference": "7914073381342284", "originalReference": "",
        "eventCode": "AUTHORISATION", "merchantAccountCode": "TestMerchant", "merchantReference": "1", "success": "true"}


def adyen_body():
    signed = "7914073381342284::TestMerchant:1:1130:EUR:AUTHORISATION:true".encode()
    mac = base64.b64encode(hmac.new(bytes.fromhex(HEX_KEY), signed, hashlib.sha256).digest()).decode()
    item = {**ITEM, "additionalData": {"hmacSignature": mac}}
    return json.dumps({"live": "false", "notificationItems": [{"NotificationRequestItem": item}]}).encode()


def digest(name, body):
    return hmac.new(secret(name).encode(), body, hashlib.sha256)


def test_answers_are_what_the_provider_asks_for_and_the_same_for_a_repeat(t):
    w = t.pawl(t.cluster(), edit=lambda text: text.replace("\norders:", PROFILES, 1), setup=False)
    w.set_credential("adyen", HEX_KEY)
    w.must("migrate", "up")
    w.must("policy", "apply")
    w.start(receivers=1, dispatchers=0)
    xero = b'{"events":[{"resourceId":"r","eventDateUtc":"2026-11-29T14:11:12.000","eventType":"UPDATE","eventCategory":"INVOICE","tenantId":"t"}]}'
    gocardless = b'{"events":[{"id":"EV1","created_at":"2026-11-29T14:11:12.000Z","resource_type":"payments","action":"confirmed"}]}'
    client = secret("adobe-sign")
    rows = [
        ("xero", xero, {"x-xero-signature": base64.b64encode(digest("xero", xero).digest()).decode()}, 200, b"", 401),
        ("adyen", adyen_body(), {}, 200, b"[accepted]", 401),
        ("gocardless", gocardless, {"Webhook-Signature": digest("gocardless", gocardless).hexdigest()}, 200, b'{"received":true}\n', 498),
        ("github", b"{}", {"X-Hub-Signature-256": "sha256=" + digest("github", b"{}").hexdigest(), "X-GitHub-Delivery": "d"}, 200, b'{"received":true}\n', 401),
        ("adobe-sign", b'{"webhookNotificationId":"n1","event":"E"}', {"X-AdobeSign-ClientId": client}, 200, b'{"received":true}\n', 401),
    ]
    for source, body, headers, status, said, refusal in rows:
        answers = [ask(w, "POST", f"/hooks/{source}", body, **headers) for _ in range(2)]
        eq([(a[0], a[2]) for a in answers], [(status, said)] * 2, source)
        eq("content-type" in answers[0][1], said != b"", source)
        eq("set-cookie" in answers[0][1], False, source)
        eq(ask(w, "POST", f"/hooks/{source}", body.replace(b"E", b"F") + b" ", **{k: "x" for k in headers})[0] if source != "adyen"
           else ask(w, "POST", f"/hooks/{source}", body.replace(b"1130", b"1131"))[0], refusal, source)
        eq(answers[0][1].get("x-adobesign-clientid"), client if source == "adobe-sign" else None)
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats"), len(rows))


def test_each_scheme_has_the_handshake_of_its_provider(t):
    w = t.world(receivers=1, dispatchers=0, edit=lambda text: text.replace("\norders:", PROFILES, 1))
    hello = secret("hello")
    for method, target, headers, status in [
            ("GET", f"/hooks/meta?hub.mode=subscribe&hub.challenge=1158&hub.verify_token={hello}", {}, 200),
            ("GET", "/hooks/x?crc_token=MWNj", {}, 200), ("GET", "/hooks/dropbox?challenge=a", {}, 200),
            ("POST", "/hooks/ms-graph?validationToken=a", {}, 200), ("GET", f"/hooks/braintree?bt_challenge={CHALLENGE}", {}, 200),
            ("POST", "/hooks/asana", {"X_Hook_Secret": "b5372"}, 200), ("GET", "/hooks/okta", {"X_Okta_Verification_Challenge": "abc"}, 200),
            ("HEAD", "/hooks/trello", {}, 200), ("GET", "/hooks/adobe-sign", {"X_AdobeSign_ClientId": secret("adobe-sign")}, 200),
            ("GET", "/hooks/adobe-sign", {"X_AdobeSign_ClientId": "another"}, 503), ("GET", "/hooks/github?challenge=a", {}, 405)]:
        eq(ask(w, method, target, **headers)[0], status, target)
    for source, body in [("slack", b'{"type":"url_verification","challenge":"3eZ"}'),
                         ("zoom", b'{"event":"endpoint.url_validation","payload":{"plainToken":"q"}}')]:
        t_ = int(time.time())
        mac = hmac.new(secret(source).encode(), b"v0:%d:" % t_ + body, hashlib.sha256).hexdigest()
        name = "X-Slack-Signature X-Slack-Request-Timestamp" if source == "slack" else "x-zm-signature x-zm-request-timestamp"
        got = ask(w, "POST", f"/hooks/{source}", body, **dict(zip(name.split(), ["v0=" + mac, str(t_)])))
        eq((got[0], b"received" in got[2]), (200, False), source)
    nothing_was_stored(w)
