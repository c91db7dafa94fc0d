#!/usr/bin/env python3
"""Writes grammars.jsonl beside it: requests of sources whose policy says itself how they are proved (scheme custom)."""
import base64
import hashlib
from urllib.parse import quote, urlencode

from signing import ISO, NOW, SECRET, URL, body_of, hexmac, line, openssl, public_of, signed_by, write

def grammars():
    body = body_of(id="evt_1", type="done", amount=12.50, cur="EUR", at=ISO)
    base = {"header": "X-Sig", "encoding": "hex", "algorithm": "hmac-sha256", "id": "/id"}

    def case(name, verify, headers, reason=None, text=body, **more):
        return line("custom", name, headers, text, reason, verify={**base, **verify}, **more)
    listed = {"item_sep": ",", "kv_sep": "=", "keys": ["v1", "v2"], "item": "t", "unit": "seconds", "tolerance": 60, "signed": "{timestamp}.{body}"}
    good = hexmac(SECRET, f"{NOW}.".encode() + body)
    yield case("list", listed, [("X-Sig", f"t={NOW},v2={good}")])
    yield case("list-two", listed, [("X-Sig", f"t={NOW},v1=00,v2={good},v9=x")])
    yield case("list-other-name", listed, [("X-Sig", f"t={NOW},v3={good}")], "no_supported_version")
    yield case("list-old", listed, [("X-Sig", f"t={NOW - 61},v1={hexmac(SECRET, f'{NOW - 61}.'.encode() + body)}")], "timestamp_too_old")
    second = {"second": "X-Sig-2", "signed": "{body}"}
    yield case("second-header", second, [("X-Sig", hexmac("x", body)), ("X-Sig-2", hexmac(SECRET, body))])
    yield case("second-header-alone", second, [("X-Sig-2", hexmac(SECRET, body))])
    yield case("neither-header", second, [], "signature_missing")
    url = {"signed": "{method} {url} {header:X-A}|{body}"}
    text = f"POST {URL}?q=1 a|".encode() + body
    yield case("method-url-header", url, [("X-Sig", hexmac(SECRET, text)), ("x-a", "a")], url=URL + "?q=1")
    yield case("other-header", url, [("X-Sig", hexmac(SECRET, text)), ("x-a", "b")], "signature_mismatch", url=URL + "?q=1")
    yield case("path", {"signed": "{path}{body}"}, [("X-Sig", hexmac(SECRET, b"/hooks/p" + body))], url=URL)
    chosen = {"signed": "{json:/amount}:{json:/cur}:{json:/none}"}
    yield case("fields", chosen, [("X-Sig", hexmac(SECRET, b"12.5:EUR:"))])
    yield case("fields-changed", chosen, [("X-Sig", hexmac(SECRET, b"12.50:EUR:"))], "signature_mismatch")
    yield case("fields-of-no-json", chosen, [("X-Sig", hexmac(SECRET, b"::"))], "body_malformed", text=b"x")
    form = {"signed": "{field:a}+{field:b}", "field": "/s", "header": None}
    yield case("form-fields", form, [], text=urlencode({"a": "1 2", "b": "3", "s": hexmac(SECRET, b"1 2+3")}).encode())
    yield case("form-fields-changed", form, [], "signature_mismatch", text=urlencode({"a": "1 2", "b": "4", "s": hexmac(SECRET, b"1 2+3")}).encode())
    stamp = {"signed": "{body}", "ts_field": "/at", "unit": "iso", "tolerance": 60}
    yield case("time-in-the-body", stamp, [("X-Sig", hexmac(SECRET, body))])
    late = body.replace(b"14:11:12", b"14:10:11")
    yield case("old-time-in-the-body", stamp, [("X-Sig", hexmac(SECRET, late))], "timestamp_too_old", text=late)
    yield case("id-header", {"signed": "{id}.{body}", "id_header": "X-Id"}, [("X-Sig", hexmac(SECRET, b"m-1." + body)), ("X-Id", "m-1")])
    yield case("another-id-header", {"signed": "{id}.{body}", "id_header": "X-Id"}, [("X-Sig", hexmac(SECRET, b"m-1." + body)), ("X-Id", "m-2")], "signature_mismatch")
    for key, secret, raw in (("hex", "00ff10", bytes.fromhex("00ff10")), ("base64", "AP8Q", bytes.fromhex("00ff10")), ("whsec", "whsec_AP8Q", bytes.fromhex("00ff10")),
                             ("sha1", "s", hashlib.sha1(b"s").digest()), ("nfkd", "\u00e9", "e\u0301".encode()), ("verbatim", "00ff10", b"00ff10")):
        yield case(f"key-{key}", {"signed": "{body}", "key": key}, [("X-Sig", hexmac(raw, body))], secrets=[secret])
    yield case("key-not-hex", {"signed": "{body}", "key": "hex"}, [("X-Sig", hexmac(b"zz", body))], "signature_mismatch", secrets=["zz"])
    ed = openssl("genpkey", "-algorithm", "ed25519")
    raw = public_of(ed, "DER")[-32:]
    yield case("ed25519", {"signed": "{body}", "algorithm": "ed25519", "key": "hex"}, [("X-Sig", signed_by(ed, body, True).hex())], secrets=[raw.hex()])
    for algorithm, made in (("ecdsa-p256-sha256", ("EC", "ec_paramgen_curve:P-256")), ("rsa-sha256", ("RSA", "rsa_keygen_bits:2048"))):
        key = openssl("genpkey", "-algorithm", made[0], "-pkeyopt", made[1])
        verify = {"signed": "{body}", "algorithm": algorithm, "encoding": "base64"}
        value = base64.b64encode(signed_by(key, body)).decode()
        yield case(algorithm, verify, [("X-Sig", value)], secrets=[public_of(key, "PEM").decode()])
        yield case(algorithm + "-forged", verify, [("X-Sig", value)], "signature_mismatch", text=body + b" ", secrets=[public_of(key, "PEM").decode()])
    token = {"header": None, "encoding": None, "algorithm": None}
    yield case("token", {**token, "token_header": "X-T", "token_prefix": "Token "}, [("X-T", "Token " + SECRET)])
    yield case("token-without-prefix", {**token, "token_header": "X-T", "token_prefix": "Token "}, [("X-T", SECRET)], "signature_malformed")
    yield case("token-in-the-query", {**token, "token_query": "k"}, [], url=f"{URL}?k={quote(SECRET)}")
    yield case("token-basic", {**token, "token_basic": True}, [("Authorization", "Basic " + base64.b64encode(b"shop:a long password for a test of many bits").decode())],
               secrets=["shop:a long password for a test of many bits"])


if __name__ == "__main__":
    write("grammars.jsonl", grammars)
