"""Requests of providers that send a secret as it is: in a header, in the URL or in the body. For make_providers.py."""
import base64
import hashlib
from urllib.parse import quote

from signing import SECRET, URL, body_of, line


def tokens():
    body = body_of(id="1")
    for provider, header in (("gitlab-token", "X-Gitlab-Token"), ("bigcommerce", "X-Webhook-Token"), ("okta", "Authorization"),
                             ("telegram", "X-Telegram-Bot-Api-Secret-Token"), ("adobe-sign", "X-AdobeSign-ClientId")):
        yield line(provider, "ok", [(header, SECRET)], body)
        yield line(provider, "second", [(header, SECRET)], body, secrets=["x", SECRET])
        for name, value in (("longer", SECRET + "x"), ("shorter", SECRET[:-1]), ("upper-case", SECRET.upper()), ("digest", hashlib.sha256(SECRET.encode()).hexdigest())):
            yield line(provider, name, [(header, value)], body, "signature_mismatch")
        yield line(provider, "none", [], body, "signature_missing")
        yield line(provider, "twice", [(header, SECRET)] * 2, body, "signature_repeated")
    for provider in ("postmark", "chargebee"):
        basic = base64.b64encode(b"user:a pass word that is long enough").decode()
        yield line(provider, "ok", [("Authorization", "Basic " + basic)], body, secrets=["user:a pass word that is long enough"])
        yield line(provider, "lower-case", [("authorization", "basic " + basic)], body, secrets=["user:a pass word that is long enough"])
        yield line(provider, "another", [("Authorization", "Basic " + base64.b64encode(b"user:a pass word").decode())], body, "signature_mismatch", secrets=["user:a pass word that is long enough"])
        yield line(provider, "bearer", [("Authorization", "Bearer " + basic)], body, "signature_malformed", secrets=["user:a pass word that is long enough"])
        yield line(provider, "no-base64", [("Authorization", "Basic user:a pass word that is long enough")], body, "signature_malformed", secrets=["user:a pass word that is long enough"])
        yield line(provider, "none", [], body, "signature_missing", secrets=["user:a pass word that is long enough"])
    asked = quote(SECRET)
    yield line("shippo", "ok", [], body, url=f"{URL}?token={asked}")
    yield line("shippo", "behind-another", [], body, url=f"{URL}?a=1&token={asked}")
    yield line("shippo", "another", [], body, "signature_mismatch", url=URL + "?token=x")
    yield line("shippo", "twice", [], body, "signature_repeated", url=f"{URL}?token={asked}&token={asked}")
    yield line("shippo", "none", [], body, "signature_missing", url=URL)
    yield line("shippo", "in-the-body", [], f"token={asked}".encode(), "signature_missing", url=URL)

    paid = b"id=tr_8WhJKGmgBy"
    form = [("Content-Type", "application/x-www-form-urlencoded")]
    yield line("mollie-classic", "ok", form, paid, url=f"{URL}?token={asked}")
    yield line("mollie-classic", "another", form, paid, "signature_mismatch", url=URL + "?token=x")
    yield line("mollie-classic", "none", form, paid, "signature_missing", url=URL)
    yield line("mollie-classic", "in-the-body", form, paid + f"&token={asked}".encode(), "signature_missing", url=URL)

    def graph(name, *states, reason=None):
        return line("ms-graph", name, [], body_of(value=[{"clientState": s, "resource": "r"} if s is not None else {} for s in states]), reason)
    yield graph("ok", SECRET)
    yield graph("two", SECRET, SECRET)
    yield graph("second-forged", SECRET, "x", reason="signature_mismatch")
    yield graph("second-without", SECRET, None, reason="signature_missing")
    yield graph("no-member", reason="signature_missing")
    yield graph("number", 1, reason="signature_missing")
