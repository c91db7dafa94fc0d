#!/usr/bin/env python3
"""Writes SCHEME.jsonl beside it for each scheme that runs: signed requests and the verdict each must get.

The digests are made by Python's hmac and openssl's command, not by Pawl. Fields: id, provider (= the scheme), headers
[[name, value]], body (base64), secrets, now, expect (accept or reject), reason, note; custom lines have "verify", the
admin's grammar; where a URL is signed, url is what the provider was given, with the request's query."""
import base64
import hashlib
import hmac
import json
import os
import subprocess
import tempfile

NOW = 1795961472
SECRET = "whsec_own_vectors_0123456789"
BODY = b'{"id":"evt_1","type":"payment_intent.succeeded","livemode":true}'
HERE = os.path.dirname(os.path.abspath(__file__))


def digest(secret, message, algorithm="sha256"):
    return hmac.new(secret.encode(), message, algorithm)


def line(provider, name, headers, reason=None, body=BODY, secrets=(SECRET,), now=NOW, note="", **more):
    return {"id": f"{provider}/{name}", "provider": provider, "headers": headers,
            "body": base64.b64encode(body).decode(), "secrets": list(secrets), "now": now,
            "expect": "reject" if reason else "accept", "reason": reason, "note": note, **more}


def stripe():
    def v1(t=NOW, body=BODY, secret=SECRET):
        return digest(secret, f"{t}.".encode() + body).hexdigest()

    def case(name, value, reason=None, **more):
        return line("stripe", name, [["Stripe-Signature", value]], reason, **more)

    good, other = v1(), v1(secret="other")
    yield case("plain", f"t={NOW},v1={good}")
    yield case("signature-first", f"v1={good},t={NOW}")
    yield case("empty-body", f"t={NOW},v1={v1(body=b'')}", body=b"")
    yield case("binary-body", f"t={NOW},v1={v1(body=bytes(range(256)))}", body=bytes(range(256)))
    yield case("four-byte-utf8", f"t={NOW},v1={v1(body='🙂'.encode())}", body="🙂".encode())
    yield case("second-of-two", f"t={NOW},v1={other},v1={good}")
    yield case("eighth-of-eight", f"t={NOW}," + f"v1={other}," * 7 + f"v1={good}")
    yield case("ninth-of-nine", f"t={NOW}," + f"v1={other}," * 8 + f"v1={good}", "signature_malformed")
    yield case("v0-beside", f"t={NOW},v0={other},v1={good}")
    yield case("unknown-item-beside", f"t={NOW},v9={other},v1={good}")
    yield case("v0-only", f"t={NOW},v0={good}", "no_supported_version")
    yield case("time-only", f"t={NOW}", "no_supported_version")
    yield case("second-secret", f"t={NOW},v1={good}", secrets=("new", SECRET))
    yield case("prefix-taken-off-the-secret", f"t={NOW},v1={v1(secret=SECRET[6:])}", "signature_mismatch")
    yield case("secret-with-line-end", f"t={NOW},v1={v1(secret=SECRET + chr(10))}", "signature_mismatch")
    yield case("upper-case-digits", f"t={NOW},v1={good.upper()}", "signature_mismatch")
    yield case("no-time", f"v1={good}", "timestamp_missing")
    yield case("empty-time", f"t=,v1={good}", "timestamp_malformed")
    yield case("two-times", f"t={NOW},t={NOW},v1={good}", "signature_malformed")
    yield case("signed-hex-time", f"t=0x6b0c5,v1={v1('0x6b0c5')}", "timestamp_malformed")
    yield case("signed-plus-time", f"t=+{NOW},v1={v1(f'+{NOW}')}", "timestamp_malformed")
    yield case("signed-negative-time", f"t=-{NOW},v1={v1(-NOW)}", "timestamp_malformed")
    yield case("signed-fraction", f"t={NOW}.0,v1={v1(f'{NOW}.0')}", "timestamp_malformed")
    yield case("signed-exponent", f"t=1e9,v1={v1('1e9')}", "timestamp_malformed")
    yield case("signed-leading-zero", f"t=0{NOW},v1={v1(f'0{NOW}')}", "timestamp_malformed")
    yield case("signed-spaced-time", f"t= {NOW},v1={v1(f' {NOW}')}", "timestamp_malformed")
    yield case("signed-arabic-digits", f"t=١٢٣,v1={v1('١٢٣')}", "timestamp_malformed")
    yield case("time-beyond-64-bits", f"t={2**64 + NOW},v1={v1(2**64 + NOW)}", "timestamp_malformed")
    yield case("three-hundred-seconds-old", f"t={NOW - 300},v1={v1(NOW - 300)}")
    yield case("older", f"t={NOW - 301},v1={v1(NOW - 301)}", "timestamp_too_old")
    yield case("three-hundred-seconds-ahead", f"t={NOW + 300},v1={v1(NOW + 300)}")
    yield case("further-ahead", f"t={NOW + 301},v1={v1(NOW + 301)}", "timestamp_in_future")
    yield case("milliseconds", f"t={NOW}000,v1={v1(f'{NOW}000')}", "timestamp_in_future")
    yield case("empty-item", f"t={NOW},,v1={good}", "signature_malformed")
    yield case("trailing-comma", f"t={NOW},v1={good},", "signature_malformed")
    yield case("item-without-name", f"t={NOW},{good}", "signature_malformed")
    yield case("empty-signature", f"t={NOW},v1=", "signature_mismatch")
    yield case("empty-header", "", "signature_missing")
    yield case("another-secret", f"t={NOW},v1={other}", "signature_mismatch")
    yield case("empty-secret", f"t={NOW},v1={v1(secret='')}", "no_live_secret", secrets=("",))
    yield case("empty-secret-beside", f"t={NOW},v1={v1(secret='')}", "signature_mismatch", secrets=("", SECRET))
    yield line("stripe", "no-secret", [["Stripe-Signature", f"t={NOW},v1={good}"]], "no_live_secret", secrets=())
    yield line("stripe", "header-in-another-case", [["sTRIPE-sIGNATURE", f"t={NOW},v1={good}"]])
    yield line("stripe", "no-header", [["X-Stripe-Signature", f"t={NOW},v1={good}"]], "signature_missing")
    yield line("stripe", "header-twice", [["Stripe-Signature", f"t={NOW},v1={good}"]] * 2, "signature_repeated")
    yield line("stripe", "header-twice-one-empty", [["Stripe-Signature", f"t={NOW},v1={good}"], ["stripe-signature", ""]],
               "signature_repeated")


ERP = {"header": "X-Erp-Signature", "prefix": "v1=", "encoding": "hex", "timestamp": "X-Erp-Time", "unit": "seconds",
       "tolerance": 300, "signed": "{timestamp}.{body}", "algorithm": "hmac-sha256", "id": "/id"}


def custom():
    def case(name, value, reason=None, stamp=str(NOW), without=(), extra=(), **grammar):
        more = {k: grammar.pop(k) for k in ("body", "secrets", "note") if k in grammar}
        verify = {k: v for k, v in {**ERP, **grammar}.items() if k not in without}
        headers = [[ERP["header"], value]] + ([["X-Erp-Time", stamp]] if stamp is not None else []) + list(extra)
        return line("custom", name, headers, reason, verify=verify, **more)

    def mac(message, algorithm="sha256"):
        return digest(SECRET, message, algorithm)

    def b64(message, algorithm="sha256"):
        return base64.b64encode(mac(message, algorithm).digest()).decode()

    stamped = f"{NOW}.".encode() + BODY
    good, bare = mac(stamped).hexdigest(), mac(BODY).hexdigest()
    plain = {"stamp": None, "without": ("timestamp", "unit", "tolerance"), "signed": "{body}"}
    yield case("erp", f"v1={good}")
    yield case("erp-upper-case-digits", f"v1={good.upper()}")
    yield case("erp-another-version", f"v2={good}", "no_supported_version")
    yield case("erp-no-prefix", good, "no_supported_version")
    yield case("erp-prefix-twice", f"v1=v1={good}", "signature_mismatch")
    yield case("erp-body-alone-signed", f"v1={bare}", "signature_mismatch")
    yield case("erp-no-time", f"v1={good}", "timestamp_missing", stamp=None)
    yield case("erp-empty-time", f"v1={good}", "timestamp_missing", stamp="")
    yield case("erp-time-twice", f"v1={good}", "signature_repeated", extra=[["x-erp-time", str(NOW)]])
    yield case("erp-another-time", f"v1={good}", "signature_mismatch", stamp=str(NOW + 1))
    yield case("erp-time-with-letters", f"v1={mac(b'12ab.' + BODY).hexdigest()}", "timestamp_malformed", stamp="12ab")
    yield case("erp-old", f"v1={mac(f'{NOW - 301}.'.encode() + BODY).hexdigest()}", "timestamp_too_old", stamp=str(NOW - 301))
    yield case("erp-ahead", f"v1={mac(f'{NOW + 301}.'.encode() + BODY).hexdigest()}", "timestamp_in_future",
               stamp=str(NOW + 301))
    ms = f"{NOW - 299}999"
    yield case("milliseconds", f"v1={mac(ms.encode() + b'.' + BODY).hexdigest()}", stamp=ms, unit="milliseconds")
    yield case("milliseconds-read-as-seconds", f"v1={mac(ms.encode() + b'.' + BODY).hexdigest()}", "timestamp_in_future",
               stamp=ms)
    yield case("seconds-read-as-milliseconds", f"v1={good}", "timestamp_too_old", unit="milliseconds")
    yield case("no-timestamp", f"v1={bare}", **plain)
    yield case("no-timestamp-other-body", f"v1={bare}", "signature_mismatch", body=BODY + b"\n", **plain)
    yield case("base64", f"v1={b64(stamped)}", encoding="base64")
    yield case("base64-no-padding", f"v1={b64(stamped).rstrip('=')}", "signature_mismatch", encoding="base64")
    yield case("base64-more-padding", f"v1={b64(stamped)}=", "signature_mismatch", encoding="base64")
    yield case("hex-where-base64-is-due", f"v1={good}", "signature_mismatch", encoding="base64")
    yield case("sha1", f"v1={mac(BODY, 'sha1').hexdigest()}", algorithm="hmac-sha1", **plain)
    yield case("sha512", f"v1={mac(BODY, 'sha512').hexdigest()}", algorithm="hmac-sha512", **plain)
    yield case("sha512-base64", b64(BODY, "sha512"), algorithm="hmac-sha512", encoding="base64", prefix="", **plain)
    yield case("sha1-where-sha256-is-due", f"v1={mac(BODY, 'sha1').hexdigest()}", "signature_mismatch", **plain)
    yield case("body-first", f"v1={mac(BODY + str(NOW).encode()).hexdigest()}", signed="{body}{timestamp}")
    yield case("with-id", f"v1={mac(b'evt_1:' + stamped).hexdigest()}", signed="{id}:{timestamp}.{body}")
    yield case("with-id-of-another-event", f"v1={mac(b'evt_2:' + stamped).hexdigest()}", "signature_mismatch",
               signed="{id}:{timestamp}.{body}")
    yield case("literal-around", f"v1={mac(b'<' + BODY + b'>').hexdigest()}", **{**plain, "signed": "<{body}>"})


def app():
    token = "shop-token-0123456789"

    def case(name, headers, reason=None, **more):
        return line("app", name, headers, reason, secrets=more.pop("secrets", (token,)), **more)

    key, bearer = ["Idempotency-Key", "order-1001-placed"], ["Authorization", f"Bearer {token}"]
    yield case("plain", [bearer, key])
    yield case("names-in-any-case", [["AUTHORIZATION", f"bEARER {token}"], ["idempotency-key", "k"]])
    yield case("second-secret", [bearer, key], secrets=("new", token))
    yield case("key-with-space-and-colon", [bearer, ["Idempotency-Key", "a b:c/~!"]])
    yield case("longest-key", [bearer, ["Idempotency-Key", "k" * 255]])
    yield case("key-too-long", [bearer, ["Idempotency-Key", "k" * 256]], "idempotency_key_missing")
    yield case("no-key", [bearer], "idempotency_key_missing")
    yield case("empty-key", [bearer, ["Idempotency-Key", ""]], "idempotency_key_missing")
    yield case("key-twice", [bearer, key, key], "idempotency_key_missing")
    yield case("key-not-ascii", [bearer, ["Idempotency-Key", "kä"]], "idempotency_key_missing")
    yield case("key-with-control", [bearer, ["Idempotency-Key", "k\t1"]], "idempotency_key_missing")
    yield case("no-authorization", [key], "signature_missing")
    yield case("empty-authorization", [["Authorization", ""], key], "signature_missing")
    yield case("authorization-twice", [bearer, bearer, key], "signature_repeated")
    yield case("basic", [["Authorization", f"Basic {token}"], key], "signature_malformed")
    yield case("token-alone", [["Authorization", token], key], "signature_malformed")
    yield case("no-token", [["Authorization", "Bearer "], key], "signature_malformed")
    yield case("another-token", [["Authorization", "Bearer x"], key], "signature_mismatch")
    yield case("shorter", [["Authorization", f"Bearer {token[:-1]}"], key], "signature_mismatch")
    yield case("longer", [["Authorization", f"Bearer {token}0"], key], "signature_mismatch")
    yield case("another-case", [["Authorization", f"Bearer {token.upper()}"], key], "signature_mismatch")
    yield case("two-spaces", [["Authorization", f"Bearer  {token}"], key], "signature_mismatch")
    yield case("space-behind", [["Authorization", f"Bearer {token} "], key], "signature_mismatch")
    yield case("wrong-token-without-key", [["Authorization", "Bearer x"]], "signature_mismatch")
    yield case("empty-secret", [["Authorization", "Bearer "], key], "no_live_secret", secrets=("",))
    yield case("digest-of-the-token", [["Authorization", "Bearer " + hashlib.sha256(token.encode()).hexdigest()], key],
               "signature_mismatch")


def github():
    def case(name, value, reason=None, header="X-Hub-Signature-256", extra=(), **more):
        headers = [[header, value], ["X-GitHub-Delivery", "d-1"], ["X-GitHub-Event", "push"], *extra]
        return line("github", name, headers, reason, **more)

    good, sha1 = digest(SECRET, BODY).hexdigest(), digest(SECRET, BODY, "sha1").hexdigest()
    yield case("plain", f"sha256={good}")
    yield case("second-secret", f"sha256={good}", secrets=("new", SECRET))
    yield case("four-byte-utf8", f"sha256={digest(SECRET, '🙂'.encode()).hexdigest()}", body="🙂".encode())
    yield case("sha1-beside", f"sha256={good}", extra=[["X-Hub-Signature", f"sha1={sha1}"]])
    yield case("sha1-alone", f"sha1={sha1}", "signature_missing", header="X-Hub-Signature")
    yield case("sha1-in-its-place", f"sha1={sha1}", "no_supported_version")
    yield case("sha1-digest-as-sha256", f"sha256={sha1}", "signature_mismatch")
    yield case("no-prefix", good, "no_supported_version")
    yield case("upper-case-digits", f"sha256={good.upper()}", "signature_mismatch")
    yield case("upper-case-prefix", f"SHA256={good}", "no_supported_version")
    yield case("two-in-one", f"sha256={good},sha256={good}", "signature_mismatch")
    yield case("line-end-behind-the-body", f"sha256={good}", "signature_mismatch", body=BODY + b"\n")
    yield case("header-twice", f"sha256={good}", "signature_repeated", extra=[["x-hub-signature-256", f"sha256={good}"]])
    yield case("another-secret", f"sha256={digest('other', BODY).hexdigest()}", "signature_mismatch")
    yield case("empty-secret", f"sha256={digest('', BODY).hexdigest()}", "no_live_secret", secrets=("",))


def shopify():
    def case(name, value, reason=None, extra=(), **more):
        return line("shopify", name, [["X-Shopify-Hmac-Sha256", value], ["X-Shopify-Webhook-Id", "w-1"], *extra], reason, **more)

    mac = digest(SECRET, BODY)
    good = base64.b64encode(mac.digest()).decode()
    yield case("plain", good)
    yield case("second-secret", good, secrets=("new", SECRET))
    yield case("hex", mac.hexdigest(), "signature_mismatch")
    yield case("no-padding", good.rstrip("="), "signature_mismatch")
    yield case("url-alphabet", base64.urlsafe_b64encode(digest("k2", BODY).digest()).decode(), "signature_mismatch", secrets=("k2",))
    yield case("two-in-one", good + good, "signature_mismatch")
    yield case("stray-bits", good[:-2] + chr(ord(good[-2]) + 1) + "=", "signature_mismatch")
    yield case("empty", "", "signature_missing")
    yield case("header-twice", good, "signature_repeated", extra=[["X-Shopify-Hmac-Sha256", good]])
    yield case("another-body", good, "signature_mismatch", body=BODY[:-1])


SEED = bytes(range(32))


def ed25519(message):
    """(public key, signature) by openssl's command: RFC 8410's wrapping of the seed."""
    with tempfile.TemporaryDirectory() as folder:
        key, text = os.path.join(folder, "key"), os.path.join(folder, "text")
        for path, data in ((key, bytes.fromhex("302e020100300506032b657004220420") + SEED), (text, message)):
            with open(path, "wb") as out:
                out.write(data)
        run = lambda *args: subprocess.run(["openssl", *args], capture_output=True, check=True).stdout  # noqa: E731
        public = run("pkey", "-inform", "DER", "-in", key, "-pubout", "-outform", "DER")[-32:]
        return public, run("pkeyutl", "-sign", "-inkey", key, "-keyform", "DER", "-rawin", "-in", text)


def standardwebhooks():
    raw = b"0123456789abcdef0123456789abcdef"
    shared, plain = "whsec_" + base64.b64encode(raw).decode(), base64.b64encode(raw).decode()

    def case(name, value, reason=None, ident="m-1", stamp=str(NOW), start="webhook", **more):
        headers = [[f"{start}-id", ident], [f"{start}-timestamp", stamp], [f"{start}-signature", value]]
        extra = more.pop("extra", [])
        return line("standardwebhooks", name, [h for h in headers if h[1] is not None] + extra, reason,
                    secrets=more.pop("secrets", (shared,)), **more)

    def v1(ident="m-1", stamp=NOW, body=BODY, key=raw):
        return "v1," + base64.b64encode(hmac.new(key, f"{ident}.{stamp}.".encode() + body, "sha256").digest()).decode()

    message = f"m-1.{NOW}.".encode() + BODY
    public, signature = ed25519(message)
    whpk, v1a = "whpk_" + base64.b64encode(public).decode(), "v1a," + base64.b64encode(signature).decode()
    yield case("plain", v1())
    yield case("svix-names", v1(), start="svix")
    yield case("secret-without-its-mark", v1(), secrets=(plain,))
    yield case("unknown-version-before", f"v9,xx {v1()}")
    yield case("both-versions-by-the-shared-secret", f"{v1a} {v1()}")
    yield case("both-versions-by-the-pair", f"{v1()} {v1a}", secrets=(whpk,))
    yield case("pair", v1a, secrets=(whpk,))
    yield case("pair-and-shared-secret", v1a, secrets=(shared, whpk))
    yield case("pair-by-its-private-half", v1a, secrets=("whsk_" + base64.b64encode(SEED + public).decode(),))
    yield case("pair-by-svix-names", v1a, start="svix", secrets=(whpk,))
    yield case("pair-another-body", v1a, "signature_mismatch", secrets=(whpk,), body=BODY + b" ")
    yield case("pair-another-id", v1a, "signature_mismatch", secrets=(whpk,), ident="m-2")
    yield case("pair-cut", v1a[:-4], "signature_mismatch", secrets=(whpk,))
    yield case("shared-digest-made-with-the-public-key", v1(key=whpk.encode()), "signature_mismatch", secrets=(whpk,))
    yield case("shared-digest-made-with-the-public-bytes", v1(key=public), "signature_mismatch", secrets=(whpk,))
    yield case("pair-signature-said-to-be-v1", v1a.replace("v1a,", "v1,"), "signature_mismatch", secrets=(whpk,))
    yield case("shared-digest-said-to-be-v1a", v1().replace("v1,", "v1a,"), "signature_mismatch")
    yield case("key-of-31-bytes", v1a, "signature_mismatch", secrets=("whpk_" + base64.b64encode(public[:31]).decode(),))
    yield case("key-of-64-bytes", v1a, "signature_mismatch", secrets=("whpk_" + base64.b64encode(public * 2).decode(),))
    yield case("secret-verbatim", v1(key=shared.encode()), "signature_mismatch")
    yield case("another-id", v1(), "signature_mismatch", ident="m-2")
    yield case("another-time", v1(), "signature_mismatch", stamp=str(NOW + 1))
    yield case("digit-wandered", v1(), "signature_mismatch", ident=f"m-1.{str(NOW)[0]}", stamp=str(NOW)[1:])
    yield case("old", v1(stamp=NOW - 301), "timestamp_too_old", stamp=str(NOW - 301))
    yield case("ahead", v1(stamp=NOW + 301), "timestamp_in_future", stamp=str(NOW + 301))
    yield case("no-id", v1(), "signature_missing", ident=None)
    yield case("no-time", v1(), "timestamp_missing", stamp=None)
    yield case("id-twice", v1(), "signature_repeated", extra=[["Webhook-Id", "m-1"]])
    yield case("names-of-two-families", v1(), "signature_missing", ident=None, extra=[["svix-id", "m-1"]])
    yield case("first-family-wrong-second-right", v1(key=b"x" * 32), "signature_mismatch",
               extra=[["svix-id", "m-1"], ["svix-timestamp", str(NOW)], ["svix-signature", v1()]])


def slack():
    def case(name, value, reason=None, stamp=str(NOW), **more):
        headers = [["X-Slack-Signature", value]] + ([["X-Slack-Request-Timestamp", stamp]] if stamp is not None else [])
        return line("slack", name, headers, reason, **more)

    def v0(stamp=NOW, body=BODY):
        return "v0=" + digest(SECRET, f"v0:{stamp}:".encode() + body).hexdigest()

    yield case("plain", v0())
    yield case("form-body", v0(body=b"token=a&challenge=b"), body=b"token=a&challenge=b")
    yield case("no-version", v0()[3:], "no_supported_version")
    yield case("body-alone-signed", "v0=" + digest(SECRET, BODY).hexdigest(), "signature_mismatch")
    yield case("no-time", v0(), "timestamp_missing", stamp=None)
    yield case("old", v0(NOW - 301), "timestamp_too_old", stamp=str(NOW - 301))
    yield case("ahead", v0(NOW + 301), "timestamp_in_future", stamp=str(NOW + 301))
    yield case("upper-case-digits", "v0=" + v0()[3:].upper(), "signature_mismatch")
    yield case("time-with-letters", v0("12ab"), "timestamp_malformed", stamp="12ab")


def twilio():
    given = "https://hooks.example.com/hooks/t"

    def mac(text, secret=SECRET):
        return base64.b64encode(hmac.new(secret.encode(), text.encode(), "sha1").digest()).decode()

    def case(name, value, reason=None, query="", body=b"B=2&A=1", **more):
        headers = [["X-Twilio-Signature", value], ["Content-Type", "application/x-www-form-urlencoded"]]
        return line("twilio", name, headers, reason, body=body, url=more.pop("url", given) + query, **more)

    good = mac(given + "A1B2")
    yield case("plain", good)
    yield case("any-order", good, body=b"A=1&B=2")
    yield case("written-out", good, body=b"%41=%31&B=2")
    yield case("empty-pieces", good, body=b"&B=2&&A=1&")
    yield case("the-same-pair-twice", good, body=b"B=2&A=1&B=2", note="authentic, parked when read")
    yield case("default-port-signed", mac(given.replace(".com", ".com:443") + "A1B2"))
    yield case("default-port-configured-not-signed", good, url=given.replace(".com", ".com:443"))
    yield case("another-port-configured-not-signed", good, url=given.replace(".com", ".com:8443"),
               note="twilio-node drops any port")
    yield case("another-port-signed", mac(given.replace(".com", ".com:8443") + "A1B2"), "signature_mismatch")
    yield case("http-signed", mac(given.replace("https", "http") + "A1B2"), "signature_mismatch")
    yield case("http-port-configured", mac("http://hooks.example.com:80/hooks/tA1B2"), url="http://hooks.example.com/hooks/t")
    yield case("address-with-port", mac("https://[::1]:443/hooks/tA1B2"), url="https://[::1]/hooks/t")
    yield case("query", mac(given + "?a=b%20c&d='" + "A1B2"), query="?a=b%20c&d='")
    yield case("empty-query", mac(given + "?" + "A1B2"), query="?")
    yield case("query-not-signed", good, "signature_mismatch", query="?a=b")
    yield case("query-respelt", mac(given + "?a=b c" + "A1B2"), "signature_mismatch", query="?a=b%20c")
    yield case("another-value", good, "signature_mismatch", body=b"B=3&A=1")
    yield case("another-pair", good, "signature_mismatch", body=b"B=2&A=1&C=")
    yield case("a-pair-less", good, "signature_mismatch", body=b"A=1")
    yield case("no-body", mac(given), body=b"")
    yield case("too-many-pairs", mac(given), "body_malformed", body=b"&".join(b"a" for _ in range(2049)))
    yield case("sha256", base64.b64encode(hmac.new(SECRET.encode(), (given + "A1B2").encode(), "sha256").digest()).decode(),
               "signature_mismatch")
    hashed = "?bodySHA256=" + hashlib.sha256(BODY).hexdigest()
    other = "?bodySHA256=" + hashlib.sha256(b"{}").hexdigest()
    yield case("json", mac(given + hashed), query=hashed, body=BODY)
    yield case("json-of-another-hash", mac(given + other), "body_hash_mismatch", query=other, body=BODY)
    yield case("json-hash-twice", mac(given + other + "&" + hashed[1:]), "body_hash_mismatch", query=other + "&" + hashed[1:], body=BODY)
    yield case("json-hash-twice-right-one-first", mac(given + hashed + "&" + other[1:]), "body_hash_mismatch",
               query=hashed + "&" + other[1:], body=BODY)
    yield case("json-hash-in-capitals", mac(given + hashed.upper().replace("?BODY", "?body")), "body_hash_mismatch",
               query=hashed.upper().replace("?BODY", "?body"), body=BODY)
    yield case("json-hash-empty", mac(given + "?bodySHA256="), "body_hash_mismatch", query="?bodySHA256=", body=BODY)
    yield case("json-hash-not-signed", mac(given), "signature_mismatch", query=hashed, body=BODY)
    yield case("json-without-a-hash", mac(given), "signature_mismatch", body=BODY)
    yield line("twilio", "no-url", [["X-Twilio-Signature", good]], "public_url_missing", body=b"B=2&A=1")


for make in (stripe, custom, app, github, shopify, standardwebhooks, slack, twilio):
    with open(os.path.join(HERE, make.__name__ + ".jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in make())
