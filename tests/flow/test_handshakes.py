"""The questions that providers ask before they send, over real HTTP: answered at once, no event made, no database asked."""
import base64
import hashlib
import hmac
import http.client
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
    eq(w.metric("pawl_webhook_requests_total", outcome="handshake"), len(rows) + 1)
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
    eq(w.metric("pawl_webhook_requests_total", outcome="handshake"), len(rows))


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
    eq(w.metric("pawl_webhook_rejected_total", source="meta", reason="handshake_token_unset"), 1)
