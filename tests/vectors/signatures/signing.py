"""What the makers of vectors share: requests as JSON lines, digests by Python's hmac, signatures by openssl's command."""
import base64
import hmac
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NOW = 1795961472
ISO = "2026-11-29T14:11:12Z"
SECRET = "a secret of 31 printable bytes!"
URL = "https://hooks.example.com/hooks/p"


def hexmac(key, message, algorithm="sha256"):
    return hmac.new(key if isinstance(key, bytes) else key.encode(), message, algorithm).hexdigest()


def b64mac(key, message, algorithm="sha256"):
    return base64.b64encode(hmac.new(key if isinstance(key, bytes) else key.encode(), message, algorithm).digest()).decode()


def body_of(**members):
    return json.dumps(members, ensure_ascii=False).encode()


def line(provider, name, headers, body, reason=None, secrets=(SECRET,), **more):
    return {"id": f"{provider}/{name}", "provider": provider, "headers": [list(h) for h in headers],
            "body": base64.b64encode(body).decode(), "secrets": list(secrets), "now": NOW,
            "expect": "reject" if reason else "accept", "reason": reason, "note": "", **more}


def twice(provider, headers, body, **more):
    """The request, and the same with another body, with another secret live, and without its first header."""
    other = more.pop("other", body.replace(b"e", b"f", 1))
    yield line(provider, "ok", headers, body, **more)
    yield line(provider, "another-body", headers, other, more.get("bad", "signature_mismatch"), **{k: v for k, v in more.items() if k != "bad"})
    rest = {**more, "secrets": ["another"]} if "secrets" not in more else more
    if "secrets" not in more:
        yield line(provider, "another-secret", headers, body, "signature_mismatch", **rest)
    yield line(provider, "no-signature", headers[1:], body, "signature_missing", **more)
    yield line(provider, "signature-twice", [headers[0]] + list(headers), body, "signature_repeated", **more)


def openssl(*args, data=None):
    return subprocess.run(["openssl", *args], input=data, capture_output=True, check=True).stdout


def signed_by(private, message, raw=False):
    with tempfile.TemporaryDirectory() as folder:
        key, text = os.path.join(folder, "key"), os.path.join(folder, "text")
        for path, content in ((key, private), (text, message)):
            with open(path, "wb") as out:
                out.write(content)
        how = ["-rawin"] if raw else ["-rawin", "-digest", "sha256"]
        return openssl("pkeyutl", "-sign", "-inkey", key, *how, "-in", text)


def public_of(private, form):
    return openssl("pkey", "-pubout", "-outform", form, data=private)


def write(name, *makers):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(case, ensure_ascii=False) + "\n" for make in makers for case in make())
