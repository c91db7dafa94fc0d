#!/usr/bin/env python3
"""Writes stripe.jsonl, custom.jsonl and app.jsonl beside it: signed requests and the verdict each must get.

The digests are made by Python's hmac, not by Pawl. Fields: id, provider (= the scheme), headers [[name, value]],
body (base64), secrets, now, expect (accept or reject), reason, note; custom lines have "verify", the admin's grammar."""
import base64
import hashlib
import hmac
import json
import os

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


for name, make in (("stripe", stripe), ("custom", custom), ("app", app)):
    with open(os.path.join(HERE, name + ".jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for case in make())
