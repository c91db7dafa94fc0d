"""`pawl verify`, `pawl schemes` and `pawl keys`: why a request was refused, and what would have matched."""
import base64
import hashlib
import hmac
import json
import os
import subprocess
import time

from harness import *

T = 1795961472
BODY = b'{"id":"evt_1","type":"step.s1","url":"https:\\/\\/a.example\\/","name":"Andr\\u00e9","amount":1}'
PLAIN = '{"id":"evt_1","type":"step.s1","name":"André","amount":1}'.encode()
SOURCES = """
  stripe-test:
    scheme: stripe
    secrets: [credential:stripe-sandbox]
    events: { step.s1: { order: /o, to: s1 } }
  rolled:
    scheme: stripe
    secrets:
      - credential:stripe-now
      - { secret: credential:stripe-old, until: 2026-11-01 }
    events: { step.s1: { order: /o, to: s1 } }
  standard:
    scheme: standardwebhooks
    secrets: [credential:standard]
    events: { step.s1: { order: /o, to: s1 } }
  github:
    scheme: github
    secrets: [credential:github]
    events: { step.s1: { order: /o, to: s1 } }
  hexed:
    scheme: custom
    verify: { signature: { header: X-Sig, encoding: hex }, signed: "{body}", algorithm: hmac-sha256 }
    id: /id
    type: /type
    secrets: [credential:hexed]
    events: { step.s1: { order: /o, to: s1 } }
  twilio:
    scheme: twilio
    public_url: http://hooks.example.com/hooks/twilio
    secrets: [credential:twilio]
    events: { step.s1: { order: /o, to: s1 } }

orders:"""
STANDARD = base64.b64encode(b"standard-webhooks-secret").decode()


def installation(t):
    w = t.pawl(t.cluster(), edit=lambda text: text.replace("\norders:", SOURCES, 1), setup=False)
    w.breaks["all"] = "no database is asked"
    w.set_credential("standard", "whsec_" + STANDARD)
    return w


def saved(target, headers, body, end="\r\n"):
    head = [f"POST {target} HTTP/1.1", "Host: hooks.example.com", f"Content-Length: {len(body)}"]
    return end.join(head + [f"{k}: {v}" for k, v in headers.items()]) + end * 2 + body.decode()


def stripe(key, body, signed=None, t=T):
    """A request to the source whose body is not the one that was signed."""
    return saved("/hooks/stripe", stripe_sign(key, body if signed is None else signed, t), body)


def ask(w, request, *args, at=T):
    status, out, err = w.run("verify", "--json", "--at", str(at), *args, stdin=request)
    check(status in (0, 1), err)
    told = json.loads(out)
    eq(status == 0, told["authentic"])
    return told


def ifs(told):
    return [(m["if"], m["secret"], m["source"]) for m in told["would_match"]]


def test_an_authentic_request_is_told_so_with_its_secret(t):
    w = installation(t)
    request = stripe(secret("stripe"), BODY)
    told = ask(w, request)
    eq((told["reason"], told["secret"], told["source"], told["age_s"]), ("ok", "stripe", "stripe", 0))
    status, out, _ = w.run("verify", "--source", "stripe", "--at", "2026-11-29T14:11:12Z", stdin=request)
    eq((status, "authentic" in out, "secret    stripe" in out), (0, True, True), out)
    curl = "".join("> " + line + "\n" for line in request.split("\r\n")[:-1]) + BODY.decode()
    eq(ask(w, "* Connected\n" + curl)["reason"], "ok", "as curl -v prints it")
    eq(ask(w, stripe(secret("stripe"), BODY).replace("\r\n", "\n"))["reason"], "ok", "an editor's line ends in the head")
    as_json = json.dumps({"items": [{"method": "POST", "target": "/hooks/stripe", "received_at": "2026-11-29T14:11:12.000Z",
                                     "headers": "".join(f"{k}: {v}\n" for k, v in stripe_sign(secret("stripe"), BODY, T).items()),
                                     "body": None, "body_base64": base64.b64encode(BODY).decode()}]})
    status, out, err = w.run("verify", "--json", stdin=as_json)
    eq((status, json.loads(out)["judged_at_s"]), (0, T), err)


def test_what_was_done_to_a_body_is_named(t):
    w = installation(t)
    rows = [
        ("without the trailing CRLF of the body", BODY + b"\r\n", BODY),
        ("without the trailing newline of the body", BODY + b"\n", BODY),
        ("with a trailing CRLF behind the body", BODY, BODY + b"\r\n"),
        ("with LF in place of every CRLF", b"{\r\n}", b"{\n}"),
        ("after decoding escaped slashes", BODY, BODY.replace(b"\\/", b"/")),
        ("with escaped slashes", BODY.replace(b"\\/", b"/"), BODY),
        ("after decoding \\u escapes", BODY.replace(b"\\/", b""), '{"id":"evt_1","type":"step.s1","url":"https:a.example","name":"André","amount":1}'.encode()),
        ("with \\u escapes for what is no ASCII", PLAIN, json.dumps(json.loads(PLAIN), separators=(",", ":")).encode()),
        ("without white space between", json.dumps(json.loads(PLAIN), ensure_ascii=False, indent=2).encode(), PLAIN),
        ("with a blank behind every", PLAIN, json.dumps(json.loads(PLAIN), ensure_ascii=False).encode()),
        ("with blanks and \\u escapes", PLAIN, json.dumps(json.loads(PLAIN)).encode()),
        ("without the byte order mark", b"\xef\xbb\xbf{}", b"{}"),
        ("with an empty body", b"{}", b""),
    ]
    for name, got, signed in rows:
        told = ask(w, stripe(secret("stripe"), got, signed))
        eq((told["authentic"], told["reason"]), (False, "signature_mismatch"), name)
        check([s for i, s, _ in ifs(told) if i.startswith(name) and s == "stripe"], f"{name}: {ifs(told)}")


def test_a_forged_request_matches_nothing(t):
    w = installation(t)
    told = ask(w, stripe("another", BODY))
    eq((told["reason"], ifs(told), [s["matches"] for s in told["tried"]]), ("signature_mismatch", [], [False]))
    status, out, _ = w.run("verify", "--at", str(T), stdin=stripe("another", BODY))
    eq((status, "nothing that was tried" in out), (1, True), out)
    check(secret("stripe") not in out, "no secret is shown")


def test_what_is_wrong_with_a_secret_is_named(t):
    w = installation(t)
    good = secret("stripe")
    rows = [
        ("with a newline at the secret's end", good + "\n"),
        ("without the prefix of the secret", good[len("whsec_"):]),
        ("with whsec_ before the secret", "whsec_" + good),
        ("this is the test mode's secret: that of source 'stripe-test'", secret("stripe-sandbox")),
        ("this is the secret of source 'github'", secret("github")),
    ]
    for name, key in rows:
        told = ask(w, stripe(key, BODY))
        check([i for i, _, _ in ifs(told) if i.startswith(name)], f"{name}: {ifs(told)}")
    w.set_credential("stripe", f' "{good}" ')
    check([i for i, _, _ in ifs(ask(w, stripe(good, BODY))) if "quotes" in i], "quotes")
    w.set_credential("stripe", good + "  ")
    check([i for i, _, _ in ifs(ask(w, stripe(good, BODY))) if "white space around" in i], "white space")


def test_an_ended_secret_and_the_clock_are_named(t):
    w = installation(t)
    request = saved("/hooks/rolled", stripe_sign(secret("stripe-old"), BODY, T), BODY)
    told = ask(w, request)
    eq((told["reason"], [(s["secret"], s["state"], s["matches"]) for s in told["tried"]]),
       ("signature_mismatch", [("stripe-now", "live", False), ("stripe-old", "ended", True)]))
    told = ask(w, stripe(secret("stripe"), BODY), at=T + 420)
    eq((told["reason"], told["age_s"], told["past_s"], told["secret"]), ("timestamp_too_old", 420, 300, "stripe"))
    status, out, _ = w.run("verify", "--at", str(T + 660), stdin=stripe(secret("stripe"), BODY))
    eq((status, "11 min ago; tolerance 300 s" in out), (1, True), out)
    eq(ask(w, stripe(secret("stripe"), BODY), at=T - 301)["reason"], "timestamp_in_future")


def test_other_forms_of_keys_and_signatures_and_other_schemes_are_named(t):
    w = installation(t)
    mac = hmac.new(secret("hexed").encode(), BODY, hashlib.sha256)
    told = ask(w, saved("/hooks/hexed", {"X-Sig": base64.b64encode(mac.digest()).decode()}, BODY))
    check([i for i, _, _ in ifs(told) if i == "if the signature is read as base64"], str(told))
    mac = hmac.new(secret("hexed").encode(), BODY, hashlib.sha1)
    told = ask(w, saved("/hooks/hexed", {"X-Sig": mac.hexdigest()}, BODY))
    check([i for i, _, _ in ifs(told) if i == "if it is HMAC-SHA1"], str(told))
    mac = hmac.new(("whsec_" + STANDARD).encode(), b"m1.%d." % T + BODY, hashlib.sha256)
    headers = {"webhook-id": "m1", "webhook-timestamp": T, "webhook-signature": "v1," + base64.b64encode(mac.digest()).decode()}
    told = ask(w, saved("/hooks/standard", headers, BODY))
    check([i for i, _, _ in ifs(told) if i == "if the secret is read so: the secret as it stands"], str(told))
    told = ask(w, saved("/hooks/github", stripe_sign(secret("github"), BODY, T), BODY))
    eq((told["reason"], [i for i, _, _ in ifs(told)]), ("signature_missing", ["as scheme 'stripe'"]))


def test_the_url_that_was_signed_is_named(t):
    w = installation(t)
    rows = [
        ("if the URL is https", "https://hooks.example.com/hooks/twilio"),
        ("with a slash at the URL's end", "http://hooks.example.com/hooks/twilio/"),
        ("if the URL has the path that was requested", "http://hooks.example.com/proxied"),
        ("if the URL is the one that was requested", "https://hooks.example.com/proxied"),
    ]
    for name, url in rows:
        mac = hmac.new(secret("twilio").encode(), (url + "MessageSidSM1").encode(), hashlib.sha1).digest()
        told = ask(w, saved("/proxied", {"X-Twilio-Signature": base64.b64encode(mac).decode()}, b"MessageSid=SM1"), "--source", "twilio")
        check([i for i, _, _ in ifs(told) if i.startswith(name) and url in i], f"{name}: {ifs(told)}")


def test_what_is_no_request_is_said(t):
    w = installation(t)
    for text, code, words in [("", 5, "no request"), ("hello\n", 5, "no request line"), ("{}", 5, "no 'headers'"),
                              ("POST /hooks/nobody HTTP/1.1\r\n\r\n", 3, "no source 'nobody'"),
                              ("POST / HTTP/1.1\r\n\r\n", 2, "which source"), ("POST / HTTP/1.1\nbad\n\n", 5, "no header line")]:
        status, out, err = w.run("verify", stdin=text)
        eq((status, words in err, out), (code, True, ""), f"{text!r}: {err}")
    eq(w.run("verify", "--at", "soon", stdin=stripe("x", BODY))[0], 2)


def test_a_refused_request_that_was_kept_can_be_asked_about(t):
    w = t.world(receivers=1, dispatchers=0)
    body = b'{"id":"evt_9","type":"step.s1"}'
    request = Request("/hooks/stripe", stripe_sign(secret("stripe"), body), body + b"\r\n")
    eq(w.post(request).status, 401)
    kept = eventually(lambda: w.json("inbox", "rejected", "list")["items"], what="it is kept")[0]
    status, out, err = w.run("verify", "--json", stdin=w.must("inbox", "rejected", "show", kept["id"], "--json"))
    told = json.loads(out)
    eq((status, told["source"], told["reason"]), (1, "stripe", "signature_mismatch"), err)
    eq("without the trailing CRLF of the body" in [i for i, _, _ in ifs(told)], True, out)


def test_what_no_key_signs_and_what_a_public_key_signs_is_asked_too(t):
    w = t.pawl(t.cluster(), setup=False, edit=lambda text: text.replace("\norders:", """
  telegram: { scheme: telegram, secrets: [credential:telegram], events: { update: { order: /o, to: s1 } } }
  sendgrid: { scheme: sendgrid, secrets: [credential:sendgrid], events: { delivered: { order: /o, to: s1 } } }

orders:""", 1))
    w.breaks["all"] = "no database is asked"
    folder = os.path.join(w.dir, "key.pem")
    subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", folder], check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", folder, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
    w.set_credential("sendgrid", base64.b64encode(public).decode())
    name = "X-Telegram-Bot-Api-Secret-Token"
    eq(ask(w, saved("/hooks/telegram", {name: secret("telegram")}, b"{}"))["authentic"], True)
    told = ask(w, saved("/hooks/telegram", {name: secret("telegram") + "x"}, b"{}"))
    eq((told["reason"], ifs(told)), ("signature_mismatch", []))
    body = b'[{"sg_event_id":"e1","event":"delivered"}]\r\n'

    def sendgrid(signed, got, mac=None):
        made = mac or subprocess.run(["openssl", "dgst", "-sha256", "-sign", folder], input=b"%d" % T + signed, check=True, capture_output=True).stdout
        return saved("/hooks/sendgrid", {"X-Twilio-Email-Event-Webhook-Timestamp": T,
                                         "X-Twilio-Email-Event-Webhook-Signature": base64.b64encode(made).decode()}, got)
    eq(ask(w, sendgrid(body, body))["authentic"], True)
    eq([i for i, _, _ in ifs(ask(w, sendgrid(body, body[:-2])))], ["with a trailing CRLF behind the body"])
    forged = hmac.new(base64.b64encode(public), b"%d" % T + body, hashlib.sha256).digest()
    told = ask(w, sendgrid(body, body, forged))
    eq((told["authentic"], ifs(told)), (False, []), "the public key is no shared secret")


def test_a_source_that_believes_anybody_is_said_to(t):
    w = t.pawl(t.cluster(), setup=False, edit=lambda text: text.replace("\norders:", """
  open:
    scheme: none
    verify: none
    id: /id
    type: /type
    events: { step.s1: { order: /o, to: s1 } }

orders:""", 1))
    w.breaks["all"] = "no database is asked"
    request = saved("/hooks/open", {}, b'{"id":"1"}')
    eq(ask(w, request)["authentic"], True)
    status, out, _ = w.run("verify", stdin=request)
    eq((status, "without being verified" in out), (0, True), out)
    rows = w.json("keys", "check", "--source", "open")["items"]
    eq([(r["verdict"], "anybody is believed" in r["finding"]) for r in rows], [("warn", True)])


def test_docs_schemes_is_what_the_catalogue_says(t):
    w = installation(t)
    with open(os.path.join(ROOT, "docs", "schemes.md"), encoding="utf-8") as f:
        page = f.read()
    begin, end = "<!-- made by `pawl schemes list --markdown` -->\n", "<!-- end -->"
    check(begin in page and end in page, "the page has its marks")
    same = page.split(begin)[1].split(end)[0].strip() == w.must("schemes", "list", "--markdown").strip()
    check(same, "docs/schemes.md is not what the table says: tools/schemes-page BUILD mends it")
    check("?" not in w.must("schemes", "list", "--markdown"), "every row has words")
