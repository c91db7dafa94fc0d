#!/usr/bin/env python3
"""Writes providers.jsonl beside it: for every scheme a request as its provider makes it, and ones that it never made.

Written from the providers' pages and libraries, not from Pawl's rows. Fields of a line: make.py. Each maker is one family of schemes."""
import base64
import hashlib
import json
import unicodedata
from urllib.parse import quote, urlencode

from make_tokens import tokens
from signing import ISO, NOW, SECRET, URL, b64mac, body_of, hexmac, line, openssl, public_of, signed_by, twice, write

# --- The body alone

BODIES = {  # provider: (header, how it is written)
    "github": ("X-Hub-Signature-256", lambda b: "sha256=" + hexmac(SECRET, b)),
    "shopify": ("X-Shopify-Hmac-Sha256", lambda b: b64mac(SECRET, b)),
    "lemonsqueezy": ("X-Signature", lambda b: hexmac(SECRET, b)),
    "razorpay": ("X-Razorpay-Signature", lambda b: hexmac(SECRET, b)),
    "mollie": ("X-Mollie-Signature", lambda b: "sha256=" + hexmac(SECRET, b)),
    "klarna": ("Klarna-Signature", lambda b: hexmac(SECRET, b)),
    "woocommerce": ("X-WC-Webhook-Signature", lambda b: b64mac(SECRET, b)),
    "aftership": ("aftership-hmac-sha256", lambda b: b64mac(SECRET, b)),
    "easypost": ("X-Hmac-Signature", lambda b: "hmac-sha256-hex=" + hexmac(SECRET, b)),
    "intercom": ("X-Hub-Signature", lambda b: "sha1=" + hexmac(SECRET, b, "sha1")),
    "bitbucket": ("X-Hub-Signature", lambda b: "sha256=" + hexmac(SECRET, b)),
    "typeform": ("Typeform-Signature", lambda b: "sha256=" + b64mac(SECRET, b)),
    "docusign": ("X-DocuSign-Signature-1", lambda b: b64mac(SECRET, b)),
    "xero": ("x-xero-signature", lambda b: b64mac(SECRET, b)),
    "dropbox": ("X-Dropbox-Signature", lambda b: hexmac(SECRET, b)),
    "meta": ("X-Hub-Signature-256", lambda b: "sha256=" + hexmac(SECRET, b)),
    "coinbase-commerce": ("X-CC-Webhook-Signature", lambda b: hexmac(SECRET, b)),
    "checkout-com": ("Cko-Signature", lambda b: hexmac(SECRET, b)),
    "gocardless": ("Webhook-Signature", lambda b: hexmac(SECRET, b)),
    "line": ("x-line-signature", lambda b: b64mac(SECRET, b)),
    "vercel": ("x-vercel-signature", lambda b: hexmac(SECRET, b, "sha1")),
    "x": ("X-Twitter-Webhooks-Signature", lambda b: "sha256=" + b64mac(SECRET, b)),
    "asana": ("X-Hook-Signature", lambda b: hexmac(SECRET, b)),
    "sentry": ("Sentry-Hook-Signature", lambda b: hexmac(SECRET, b)),
    "pagerduty": ("X-PagerDuty-Signature", lambda b: "v1=" + hexmac("old", b) + ",v1=" + hexmac(SECRET, b)),
    "cal-com": ("X-Cal-Signature-256", lambda b: hexmac(SECRET, b)),
    "attio": ("Attio-Signature", lambda b: hexmac(SECRET, b)),
    "authorize-net": ("X-ANET-Signature", lambda b: "sha512=" + hexmac(SECRET, b, "sha512").upper()),
}


def bodies():
    body = body_of(id="evt_1", type="done", text="h\u00e9llo \U0001f680 <>")
    for provider, (header, write) in BODIES.items():
        yield from twice(provider, [(header, write(body)), ("X-Other", "1")], body)
        yield line(provider, "cut", [(header, write(body)[:-4])], body, "signature_mismatch")
        yield line(provider, "empty", [(header, "")], body, "signature_missing")
    key = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
    yield from twice("adyen-platform", [("HmacSignature", b64mac(bytes.fromhex(key), body))], body, secrets=[key])
    yield line("adyen-platform", "key-as-text", [("HmacSignature", b64mac(key, body))], body, "signature_mismatch", secrets=[key])
    keys = [("X-DocuSign-Signature-1", b64mac("first", body)), ("X-DocuSign-Signature-2", b64mac(SECRET, body))]
    yield line("docusign", "second-of-two", keys, body)
    yield line("docusign", "second-alone", keys[1:], body, "signature_missing")
    nfc = "s\u00e9cret"
    made = hexmac(unicodedata.normalize("NFKD", nfc), body)
    yield line("easypost", "secret-composed", [("X-Hmac-Signature", "hmac-sha256-hex=" + made)], body, secrets=[nfc])
    yield line("easypost", "secret-decomposed", [("X-Hmac-Signature", "hmac-sha256-hex=" + made)], body,
               secrets=[unicodedata.normalize("NFKD", nfc)])
    yield line("easypost", "secret-as-it-stands", [("X-Hmac-Signature", "hmac-sha256-hex=" + hexmac(nfc, body))], body,
               "signature_mismatch", secrets=[nfc])
    for name, at, reason in (("ok", NOW * 1000, None), ("sixty-seconds", (NOW - 60) * 1000, None),
                             ("old", (NOW - 61) * 1000, "timestamp_too_old"), ("ahead", (NOW + 61) * 1000, "timestamp_in_future"),
                             ("seconds", NOW, "timestamp_too_old"), ("text", str(NOW * 1000), None), ("fraction", NOW * 1000 + 0.5, "timestamp_malformed")):
        stamped = body_of(type="Issue", action="create", webhookTimestamp=at)
        yield line("linear", name, [("Linear-Signature", hexmac(SECRET, stamped)), ("Linear-Delivery", "d-1")], stamped, reason)
    bare = body_of(type="Issue")
    yield line("linear", "no-time", [("Linear-Signature", hexmac(SECRET, bare))], bare, "timestamp_missing")
    double = b'{"webhookTimestamp":1,"webhookTimestamp":%d000}' % NOW
    yield line("linear", "time-twice", [("Linear-Signature", hexmac(SECRET, double))], double, "body_malformed")


# --- A time and the body

def lists():
    body = body_of(id="evt_1", type="done")

    def each(provider, header, between, time_key, key, dot, tolerance, scale=1, past=None):
        def value(at, secret=SECRET):
            return f"{time_key}={at}{between}{key}={hexmac(secret, f'{at}{dot}'.encode() + body)}"
        past = past or tolerance
        yield from twice(provider, [(header, value(NOW * scale))], body)
        yield line(provider, "at-the-limit", [(header, value((NOW - past) * scale))], body)
        yield line(provider, "old", [(header, value((NOW - past - 1) * scale))], body, "timestamp_too_old")
        yield line(provider, "ahead", [(header, value((NOW + tolerance + 1) * scale))], body, "timestamp_in_future")
        yield line(provider, "other-time", [(header, value(NOW * scale).replace(str(NOW), str(NOW + 1)))], body, "signature_mismatch")
        yield line(provider, "other-version", [(header, value(NOW * scale).replace(f"{between}{key}=", f"{between}v9="))], body, "no_supported_version")

    yield from each("stripe", "Stripe-Signature", ",", "t", "v1", ".", 300)
    yield from each("paddle", "Paddle-Signature", ";", "ts", "h1", ":", 5)
    yield from each("calendly", "Calendly-Webhook-Signature", ",", "t", "v1", ".", 180)
    yield from each("mux", "Mux-Signature", ",", "t", "v1", ".", 300)
    yield from each("workos", "WorkOS-Signature", ", ", "t", "v1", ".", 180, 1000)
    yield from each("elevenlabs", "ElevenLabs-Signature", ",", "t", "v0", ".", 300, 1, 1800)

    def recurly(at):
        return f"{at},{hexmac('old', f'{at}.'.encode() + body)},{hexmac(SECRET, f'{at}.'.encode() + body)}"
    yield from twice("recurly", [("recurly-signature", recurly(NOW * 1000))], body)
    yield line("recurly", "old", [("recurly-signature", recurly((NOW - 301) * 1000))], body, "timestamp_too_old")
    yield line("recurly", "time-alone", [("recurly-signature", str(NOW * 1000))], body, "no_supported_version")
    yield line("recurly", "no-time", [("recurly-signature", hexmac(SECRET, body))], body, "no_supported_version")
    yield line("recurly", "empty-time", [("recurly-signature", "," + hexmac(SECRET, b"." + body))], body, "timestamp_malformed")


def stamps():
    body = body_of(id="evt_1", type="done")
    schemes = {  # provider: (signature's header, time's header, signed, how it is written)
        "slack": ("X-Slack-Signature", "X-Slack-Request-Timestamp", lambda t: f"v0:{t}:".encode() + body, lambda m: "v0=" + hexmac(SECRET, m)),
        "zoom": ("x-zm-signature", "x-zm-request-timestamp", lambda t: f"v0:{t}:".encode() + body, lambda m: "v0=" + hexmac(SECRET, m)),
        "customerio": ("X-CIO-Signature", "X-CIO-Timestamp", lambda t: f"v0:{t}:".encode() + body, lambda m: hexmac(SECRET, m)),
        "zendesk": ("X-Zendesk-Webhook-Signature", "X-Zendesk-Webhook-Signature-Timestamp", lambda t: t.encode() + body, lambda m: b64mac(SECRET, m)),
        "box": ("BOX-SIGNATURE-PRIMARY", "BOX-DELIVERY-TIMESTAMP", lambda t: body + t.encode(), lambda m: b64mac(SECRET, m)),
    }
    for provider, (header, clock, signed, write) in schemes.items():
        iso = provider in ("zendesk", "box")
        good, bad = (ISO, "2026-11-29T09:11:12Z") if iso else (str(NOW), str(NOW - 18000))
        yield from twice(provider, [(header, write(signed(good))), (clock, good)], body)
        yield line(provider, "old", [(header, write(signed(bad))), (clock, bad)], body, "timestamp_too_old")
        yield line(provider, "no-time", [(header, write(signed(good)))], body, "timestamp_missing")
        yield line(provider, "other-form", [(header, write(signed("12ab"))), (clock, "12ab")], body, "timestamp_malformed")
    _, clock, signed, write = schemes["box"]
    for name, at, reason in (("zone", "2026-11-29T06:11:12-08:00", None), ("zone-east", "2026-11-29T19:41:12.25+05:30", None),
                             ("no-such-zone", "2026-11-29T06:11:12-24:00", "timestamp_malformed"), ("no-zone", "2026-11-29T14:11:12", "timestamp_malformed"),
                             ("no-such-day", "2026-11-31T14:11:12Z", "timestamp_malformed"), ("number", str(NOW), "timestamp_malformed")):
        yield line("box", name, [("BOX-SIGNATURE-SECONDARY", write(signed(at))), (clock, at)], body, reason)
    yield line("box", "one-of-two-right", [("BOX-SIGNATURE-PRIMARY", b64mac("x", body)), ("BOX-SIGNATURE-SECONDARY", write(signed(ISO))), (clock, ISO)], body)
    key = hashlib.sha256(b"close").hexdigest()
    made = hexmac(bytes.fromhex(key), str(NOW).encode() + body)
    yield from twice("close", [("close-sig-hash", made), ("close-sig-timestamp", str(NOW))], body, secrets=[key])


def messages():
    """Of text messages: Sinch's HMAC over body, nonce and time, Vonage's JWT that holds the body's digest."""
    body = body_of(batch_id="b1", client_reference="k", status="Delivered", code=0, recipient="4915112345678", at="2026-11-29T14:11:11.000Z")

    def sinch(at=NOW, nonce="n-1", sign=None):
        made = b64mac(SECRET, (body + f".{sign or nonce}.{at}".encode()))
        return [("x-sinch-webhook-signature", made), ("x-sinch-webhook-signature-nonce", nonce), ("x-sinch-webhook-signature-timestamp", str(at)),
                ("x-sinch-webhook-signature-algorithm", "HmacSHA256")]
    yield from twice("sinch", sinch(), body)
    yield line("sinch", "a-day-later", sinch(NOW - 86400), body)
    yield line("sinch", "old", sinch(NOW - 86401), body, "timestamp_too_old")
    yield line("sinch", "ahead", sinch(NOW + 301), body, "timestamp_in_future")
    yield line("sinch", "another-nonce", sinch(sign="n-2"), body, "signature_mismatch")
    yield line("sinch", "no-time", sinch()[:2], body, "timestamp_missing")

    url64 = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    status = body_of(message_uuid="u-1", client_ref="k", status="delivered", timestamp="2026-11-29T14:11:11Z", to="4915112345678")

    def vonage(name, reason=None, text=status, alg="HS256", key=SECRET, start="Bearer ", **claims):
        held = {"iat": NOW, "jti": "j-1", "iss": "Vonage", "payload_hash": hashlib.sha256(status).hexdigest(), "api_key": "a1", **claims}
        signed = url64(json.dumps({"alg": alg, "typ": "JWT"}).encode()) + "." + url64(json.dumps(held).encode())
        made = signed + "." + url64(bytes.fromhex(hexmac(key, signed.encode())))
        return line("vonage", name, [("Authorization", start + made)], text, reason)
    yield vonage("ok")
    yield vonage("lower-case", start="bearer ")
    yield vonage("a-day-later", iat=NOW - 86400)
    yield vonage("old", "timestamp_too_old", iat=NOW - 86401)
    yield vonage("ahead", "timestamp_in_future", iat=NOW + 301)
    yield vonage("run-out", "timestamp_too_old", exp=NOW)
    yield vonage("another-body", "body_hash_mismatch", status + b" ")
    yield vonage("no-digest", "body_hash_mismatch", payload_hash="")
    yield vonage("another-algorithm", "algorithm_refused", alg="HS512")
    yield vonage("no-algorithm", "algorithm_refused", alg="none")
    yield vonage("another-secret", "signature_mismatch", key="another")
    yield line("vonage", "unsigned", [], status, "signature_missing")


def standard():
    raw, body = bytes(range(32)), body_of(type="done")
    secret = "whsec_" + base64.b64encode(raw).decode()
    for provider, start in (("svix", "svix"), ("svix", "webhook"), ("standardwebhooks", "webhook"), ("openai", "webhook"), ("gitlab", "webhook"),
                            ("clerk", "svix"), ("clerk", "webhook"), ("resend", "svix"), ("brex", "webhook"), ("replicate", "webhook"), ("render", "webhook")):
        beside = [(start + "-id", "m-1"), (start + "-timestamp", str(NOW))]
        value = "v1," + b64mac(raw, f"m-1.{NOW}.".encode() + body)
        yield from twice(provider, [(start + "-signature", "v1,AAAA " + value), *beside], body, secrets=[secret])
        yield line(provider, "another-id", [(start + "-signature", value), (start + "-id", "m-2"), beside[1]], body, "signature_mismatch", secrets=[secret])


# --- URLs

def urls():
    body = body_of(event_id="1", type="done")
    yield from twice("square", [("x-square-hmacsha256-signature", b64mac(SECRET, URL.encode() + body))], body, url=URL)
    yield line("square", "other-url", [("x-square-hmacsha256-signature", b64mac(SECRET, b"https://evil.example/" + body))], body, "signature_mismatch", url=URL)
    yield line("square", "no-url", [("x-square-hmacsha256-signature", b64mac(SECRET, URL.encode() + body))], body, "public_url_missing")
    yield from twice("trello", [("X-Trello-Webhook", b64mac(SECRET, body + URL.encode(), "sha1"))], body, url=URL)

    def hubspot(url, at=NOW * 1000, method="POST"):
        return [("X-HubSpot-Signature-v3", b64mac(SECRET, f"{method}{url}".encode() + body + str(at).encode())), ("X-HubSpot-Request-Timestamp", str(at))]
    yield from twice("hubspot", hubspot(URL + "?a=1"), body, url=URL + "?a=1")
    yield line("hubspot", "decoded", hubspot(URL + "?a=b:/?@!$'()*,;"), body, url=URL + "?a=b%3A%2f%3F%40%21%24%27%28%29%2A%2C%3B")
    yield line("hubspot", "not-decoded", hubspot(URL + "?a=b%3A"), body, url=URL + "?a=b%3A")
    yield line("hubspot", "others-stay", hubspot(URL + "?a=b%20:"), body, url=URL + "?a=b%20%3A")
    yield line("hubspot", "others-decoded", hubspot(URL + "?a=b :"), body, "signature_mismatch", url=URL + "?a=b%20%3A")
    yield line("hubspot", "other-method", hubspot(URL, method="PUT"), body, "signature_mismatch", url=URL)
    yield line("hubspot", "old", hubspot(URL, (NOW - 301) * 1000), body, "timestamp_too_old", url=URL)

    form = b"To=%2B1&MessageSid=SM1&MessageStatus=sent"
    text = URL + "MessageSidSM1MessageStatussentTo+1"

    def twilio(algorithm, settings, reason=None, name=None):
        headers = [("X-Twilio-Signature", b64mac(SECRET, text.encode(), algorithm))] + ([("X-Twilio-Webhooks-Signature-Settings", settings)] if settings else [])
        return line("twilio", name or f"{algorithm}-{settings}", headers, form, reason, url=URL)
    yield twilio("sha1", None)
    yield twilio("sha256", "key=k,algorithm=HMAC_SHA256")
    yield twilio("sha1", "key=k,algorithm=HMAC_SHA1")
    yield twilio("sha1", "key=k")
    yield twilio("sha256", None, "signature_mismatch")
    yield twilio("sha1", "key=k,algorithm=HMAC_SHA256", "signature_mismatch")
    yield twilio("sha256", "key=k,algorithm=NONE", "no_supported_version")

    # https://github.com/contentful/node-apps-toolkit: the second signature was made by it, path and all.
    def contentful(headers, path="/hooks/p", method="POST", made=None, reason=None, name="ok", url=URL, at=NOW * 1000, listed=None, text=body):
        headers = {**headers, "x-contentful-timestamp": str(at)}
        names = sorted([*headers, "x-contentful-signed-headers"]) if listed is None else listed
        headers["x-contentful-signed-headers"] = ",".join(names)
        canonical = "\n".join([method, path, ";".join(f"{n}:{headers[n].strip()}" for n in names if n in headers), ""]).encode() + text
        return line("contentful", name, [("x-contentful-signature", made or hexmac(SECRET, canonical)), *headers.items()], text, reason, url=url)
    topic = {"x-contentful-topic": "ContentManagement.Entry.publish"}
    yield contentful(topic)
    yield contentful({"x-contentful-webhook-name": "  My Hook "}, name="spaces-around")
    yield contentful(topic, "/hooks/p?" + "a%253Db%2520c%2526x%253D1", url=URL + "?a=b%20c&x=1".replace("%20", " "), name="query")
    yield contentful(topic, "/hooks/q", reason="signature_mismatch", name="other-path")
    yield contentful(topic, method="PUT", reason="signature_mismatch", name="other-method")
    yield contentful(topic, at=(NOW - 31) * 1000, reason="timestamp_too_old", name="old")
    yield contentful(topic, listed=["x-contentful-topic"], reason="signature_malformed", name="time-not-signed")
    toolkit = ('{"sys":{"id":"5KsDBWseXY6QegucYAoacS","type":"Entry"},"fields":{"title":{"en-US":"Hello, World!"}}}').encode()
    yield {**line("contentful", "made-by-the-toolkit", [
        ("x-contentful-signature", "8dec81505760a10b542fbc36d3aa0a772b11f759eca7b2351daaf5bba8c7c6f1"),
        ("Content-Type", "application/vnd.contentful.management.v1+json"), ("X-Contentful-Topic", "ContentManagement.Entry.publish"),
        ("x-contentful-signed-headers", "content-type,x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic"),
        ("x-contentful-timestamp", "1767225600000")], toolkit, secrets=["a" * 32 + "b" * 32],
        url="https://hooks.example.com/trigger/SW5zdGFuY2VGbG93Q29uZmlnOjE="), "now": 1767225600}


# --- Fields of the body

def fields():
    key = hashlib.sha256(b"adyen").hexdigest()

    def item(secret=key, signed=None, **change):
        made = {"pspReference": "79", "merchantAccountCode": "Shop", "merchantReference": "10:01", "eventCode": "CAPTURE", "success": "true",
                "amount": {"value": 1130, "currency": "EUR"}, "originalReference": "78", "reason": "any"}
        text = ":".join(["79", "78", "Shop", "10:01", "1130", "EUR", "CAPTURE", "true"]) if signed is None else signed
        made["additionalData"] = {"hmacSignature": b64mac(bytes.fromhex(secret), text.encode())}
        made.update(change)
        return {"NotificationRequestItem": made}

    def adyen(name, *items, reason=None):
        return line("adyen", name, [], body_of(live="false", notificationItems=list(items)), reason, secrets=[key])
    yield adyen("ok", item())
    yield adyen("three", item(), item(), item())
    yield adyen("unsigned-field-changed", item(reason="x"))
    yield adyen("without-original", item(signed="79::Shop:10:01:1130:EUR:CAPTURE:true", originalReference=None))
    yield adyen("last-forged", item(), item(), item(success="false"), reason="signature_mismatch")
    yield adyen("first-forged", item(amount={"value": 1, "currency": "EUR"}), item(), reason="signature_mismatch")
    yield adyen("one-unsigned", item(), item(additionalData={}), reason="signature_missing")
    yield adyen("none", reason="signature_missing")
    yield adyen("another-key", item(hashlib.sha256(b"x").hexdigest()), reason="signature_mismatch")
    yield line("adyen", "no-items", [], b"{}", "signature_missing", secrets=[key])
    yield line("adyen", "no-json", [], b"{", "body_malformed", secrets=[key])
    double = body_of(notificationItems=[item()])[:-1] + b',"notificationItems":[]}'
    yield line("adyen", "items-twice", [], double, "body_malformed", secrets=[key])

    def mailgun(name, reason=None, at=NOW, token="t" * 50, made=None, **more):
        signature = {"timestamp": str(at), "token": token, "signature": made or hexmac(SECRET, f"{at}{token}".encode())}
        return line("mailgun", name, [], body_of(signature=signature, **{"event-data": {"id": "1", "event": "opened"}}), reason, **more)
    yield mailgun("ok")
    yield mailgun("old", "timestamp_too_old", NOW - 301)
    yield mailgun("ahead", "timestamp_in_future", NOW + 301)
    yield mailgun("another-token", "signature_mismatch", made=hexmac(SECRET, f"{NOW}other".encode()))
    yield mailgun("another-secret", "signature_mismatch", secrets=["x"])
    yield mailgun("digit-wandered", "signature_mismatch", token="1" + "t" * 49, made=hexmac(SECRET, f"{NOW}2{'t' * 49}".encode()))

    def routes(**change):
        pairs = {"timestamp": str(NOW), "token": "tt", "signature": hexmac(SECRET, f"{NOW}tt".encode()), "body-plain": "hi", **change}
        return urlencode(pairs).encode()
    yield line("mailgun-routes", "ok", [], routes())
    yield line("mailgun-routes", "another-token", [], routes(token="tu"), "signature_mismatch")
    yield line("mailgun-routes", "token-twice", [], routes() + b"&token=tt", "body_malformed")

    payload = base64.encodebytes(b"<notification><kind>check</kind></notification>" * 4).decode()
    private = hashlib.sha1(SECRET.encode()).digest()

    def braintree(name, reason=None, text=payload, sign=payload, public="pub"):
        made = f"{public}|{hexmac(private, sign.encode(), 'sha1')}"
        return line("braintree", name, [], urlencode({"bt_signature": made, "bt_payload": text}).encode(), reason)
    yield braintree("ok")
    yield braintree("line-end-lost", text=payload.rstrip("\n"))
    yield braintree("line-end-more", "signature_mismatch", text=payload + "\n")
    yield braintree("another-payload", "signature_mismatch", text="A" + payload[1:])
    yield line("braintree", "key-not-hashed", [], urlencode({"bt_signature": "pub|" + hexmac(SECRET, payload.encode(), "sha1"), "bt_payload": payload}).encode(),
               "signature_mismatch")
    yield line("braintree", "second-of-two", [], urlencode({"bt_signature": "a|00&pub|" + hexmac(private, payload.encode(), "sha1"), "bt_payload": payload}).encode())
    yield line("braintree", "no-signature", [], urlencode({"bt_payload": payload}).encode(), "signature_missing")


# --- Public keys

def publics():
    body = body_of(id="1", type="done") + b"\r\n"
    ed, ed2 = (openssl("genpkey", "-algorithm", "ed25519") for _ in range(2))
    raw = public_of(ed, "DER")[-32:]

    def discord(name, reason=None, key=ed, at=str(NOW), text=body, secret=raw.hex(), write=bytes.hex):
        made = write(signed_by(key, at.encode() + body, True))
        return line("discord", name, [("X-Signature-Ed25519", made), ("X-Signature-Timestamp", at)], text, reason, secrets=[secret])
    yield discord("ok")
    yield discord("another-key", "signature_mismatch", ed2)
    yield discord("another-body", "signature_mismatch", text=body + b" ")
    yield discord("old", "timestamp_too_old", at=str(NOW - 901))
    yield discord("base64", "signature_mismatch", write=lambda b: base64.b64encode(b).decode())
    yield discord("key-in-base64", "signature_mismatch", secret=base64.b64encode(raw).decode())
    yield line("discord", "digest-by-the-key", [("X-Signature-Ed25519", hexmac(raw, str(NOW).encode() + body)), ("X-Signature-Timestamp", str(NOW))], body,
               "signature_mismatch", secrets=[raw.hex()])

    def telnyx(name, reason=None, at=str(NOW), sep="|"):
        made = base64.b64encode(signed_by(ed, f"{at}{sep}".encode() + body, True)).decode()
        return line("telnyx", name, [("telnyx-signature-ed25519", made), ("telnyx-timestamp", at)], body, reason, secrets=[base64.b64encode(raw).decode()])
    yield telnyx("ok")
    yield telnyx("other-separator", "signature_mismatch", sep=".")
    yield telnyx("old", "timestamp_too_old", str(NOW - 301))

    ec, ec2 = (openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256") for _ in range(2))
    p384 = openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
    spki = base64.b64encode(public_of(ec, "DER")).decode()

    def sendgrid(name, reason=None, key=ec, at=str(NOW), text=body, secret=spki):
        made = base64.b64encode(signed_by(key, at.encode() + body)).decode()
        return line("sendgrid", name, [("X-Twilio-Email-Event-Webhook-Signature", made), ("X-Twilio-Email-Event-Webhook-Timestamp", at)], text, reason,
                    secrets=[secret])
    yield sendgrid("ok")
    yield sendgrid("key-as-pem", secret=public_of(ec, "PEM").decode())
    yield sendgrid("a-day-later", at=str(NOW - 86400))
    yield sendgrid("line-end-lost", "signature_mismatch", text=body.rstrip())
    yield sendgrid("another-key", "signature_mismatch", ec2)
    yield sendgrid("another-curve", "signature_mismatch", p384, secret=base64.b64encode(public_of(p384, "DER")).decode())
    yield sendgrid("three-days-old", "timestamp_too_old", at=str(NOW - 3 * 86400))

    rsa, rsa2 = (openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048") for _ in range(2))
    small = openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024")

    def wise(name, reason=None, key=rsa, text=body, public=rsa):
        made = base64.b64encode(signed_by(key, body)).decode()
        return line("wise", name, [("X-Signature-SHA256", made), ("X-Delivery-Id", "d")], text, reason, secrets=[public_of(public, "PEM").decode()])
    yield wise("ok")
    yield wise("another-key", "signature_mismatch", rsa2)
    yield wise("another-body", "signature_mismatch", text=body + b" ")
    yield wise("key-too-short", "signature_mismatch", small, public=small)
    yield wise("key-of-another-kind", "signature_mismatch", ec, public=ec)
    yield line("wise", "public-key-as-secret", [("X-Signature-SHA256", b64mac(public_of(rsa, "PEM"), body))], body, "signature_mismatch",
               secrets=[public_of(rsa, "PEM").decode()])


if __name__ == "__main__":
    write("providers.jsonl", bodies, lists, stamps, messages, standard, urls, fields, publics, tokens)
