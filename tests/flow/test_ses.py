"""Mail by Amazon SES through the whole dispatcher: the signature is checked here by AWS's published algorithm, and a peer by others takes mails."""
import base64
import email
import email.policy
import hashlib
import hmac
import json
import os
import re
import sys
import urllib.request

from harness import *
from kit.deliveries import POLICY, Rows, ended
from kit.npm import installed

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402

ACCESS, REGION, SENDING = "AKIDEXAMPLE", "eu-central-1", "/v2/email/outbound-emails"
TAKEN = b'{"MessageId":"0100-ses-1"}'
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([\w-]+)/ses/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$")


def verified(r, secret_key):
    """The request as AWS would see it: recomputed from what arrived (reference_sigv-create-signed-request.html)."""
    one = {name: values[0] for name, values in r["headers"].items()}
    access, day, region, names, signature = AUTHORIZATION.match(one["authorization"]).groups()
    if (access, region) != (ACCESS, REGION) or not {"content-type", "host", "x-amz-date"} <= set(names.split(";")):
        return False
    canonical = "\n".join([r["method"], r["path"], "", *(f"{n}:{one[n]}" for n in names.split(";")), "", names,
                           hashlib.sha256(r["body"]).hexdigest()])
    scope = f"{day}/{region}/ses/aws4_request"
    said = "\n".join(["AWS4-HMAC-SHA256", one["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret_key).encode()
    for part in (day, region, "ses", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.compare_digest(signature, hmac.new(key, said.encode(), hashlib.sha256).hexdigest())


def setup(t, url, more=""):
    row = f'{{ driver: ses, region: {REGION}, access_key: {ACCESS}, secret: credential:api, url: "{url}"{more} }}'
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", row))
    w.dispatcher()
    return w, Rows(w)


def mime(r):
    return email.message_from_bytes(base64.b64decode(r["json"]["Content"]["Raw"]["Data"]), policy=email.policy.default)


def test_the_signature_is_what_aws_computes_and_the_message_is_whole(t):
    p = t.keep(HttpPeer(lambda c, r: c.say(200, TAKEN) if verified(r, secret("api")) else c.say(403, b'{"message":"signature"}')))
    w, rows = setup(t, p.url)
    nid = rows.add("least", "ann@example.net", order="1001", note="Käse")
    ended(rows, nid, 2)
    eq((len(p.requests), p.requests[0]["path"]), (1, SENDING))
    r = p.requests[0]
    check(not verified({**r, "body": r["body"] + b" "}, secret("api")), "a changed body does not match")
    check(not verified(r, secret("api") + "x"), "another secret does not match")
    eq(r["json"]["Destination"], {"ToAddresses": ["ann@example.net"]})
    message = mime(r)
    eq((message["subject"], message["to"], message["from"]), ("least 1001", "ann@example.net", "Example Shop <notify@example.net>"))
    tags = {tag["Name"]: tag["Value"] for tag in r["json"]["EmailTags"]}
    check(re.fullmatch("[0-9a-f]{32}", tags["pawl_delivery"]) and all(re.fullmatch("[A-Za-z0-9_-]{1,256}", v) for v in tags.values()), f"{tags}")
    eq(rows.cluster.value("SELECT provider_id FROM pawl.attempts"), "0100-ses-1")
    check(secret("api") not in w.dispatchers[0].log(), "no secret in the log")


def test_what_ses_says_decides_and_a_lost_reply_is_unknown(t):
    says = {"paused@example.net": lambda c: c.say(400, b'{"message":"paused"}', "x-amzn-ErrorType: SendingPausedException"),
            "spam@example.net": lambda c: c.say(400, b'{"message":"virus"}', "x-amzn-ErrorType: MessageRejected"),
            "lost@example.net": lambda c: c.cut()}
    p = t.keep(HttpPeer(lambda c, r: says[r["json"]["Destination"]["ToAddresses"][0]](c)))
    _, rows = setup(t, p.url)
    spam, lost = rows.add("least", "spam@example.net"), rows.add("most", "lost@example.net")
    ended(rows, spam, 3)
    ended(rows, lost, 9)
    paused = rows.add("most", "paused@example.net")
    eventually(lambda: rows.outcomes(paused), 10, "it was tried")
    eq((rows.outcomes(paused), rows.state(paused)), ([3], 0))


class Ses:
    """aws-ses-v2-local, running."""

    def __init__(self, t):
        folder = installed(t, "tests/peers/ses")
        self.url = f"http://127.0.0.1:{free_ports()}"
        script = os.path.join(folder, "node_modules", "aws-ses-v2-local", "dist", "cli.js")
        self.proc = Proc("ses", ["node", script, "--port", self.url.rsplit(":", 1)[1], "--host", "127.0.0.1"], cwd=folder)
        t.keep(self)
        eventually(self.store, 30, "the peer answers")

    def store(self):
        try:
            with urllib.request.urlopen(self.url + "/store", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return None

    def close(self):
        self.proc.sigterm()
        self.proc.wait(10)


def test_an_implementation_by_others_takes_the_mail(t):
    ses = Ses(t)
    _, rows = setup(t, ses.url)
    nid = rows.add("least", "ann@example.net", order="1001", note="Käse & Brot")
    ended(rows, nid, 2)
    mails = ses.store()["emails"]
    eq(len(mails), 1)
    mail = mails[0]
    eq((mail["subject"], mail["destination"]["to"]), ("least 1001", ["ann@example.net"]))
    check("notify@example.net" in mail["from"], mail["from"])
    check(mail["body"].get("text") or mail["body"].get("html"), f"{mail}")
    check(rows.cluster.value("SELECT provider_id FROM pawl.attempts"), "its id is kept")
