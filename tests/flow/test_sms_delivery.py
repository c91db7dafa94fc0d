"""Text messages through receiver and dispatcher: what each provider is sent, by its own log, and what its replies lead to."""
import base64
import json
import os
import sys
import urllib.parse

from harness import *
from kit.https import Authority

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import EMAIL, HttpPeer, Shop  # noqa: E402

PHONE = "+4915112345678"
FORM = {"twilio": ("To", "From", "Body"), "http": ("to", "from", "text")}


def form(body):
    return {k: v[0] for k, v in urllib.parse.parse_qs(body.decode()).items()}


class Driver:
    """One provider: its row of the policy, what it says, and where in a request things are."""

    def __init__(self, row, taken, refusals, read, key=None):
        self.row, self.taken, self.refusals, self.read, self.key = row, taken, refusals, read, key


def twilio_read(r):
    f = form(r["body"])
    return f["To"], f["From"], f["Body"]


DRIVERS = {
    "twilio": Driver(
        "driver: twilio, account: AC1, token: credential:sms", (201, b'{"sid":"SM7","status":"queued"}', "SM7"),
        {"message": (400, b'{"code":21617,"message":"too long"}'), "address": (400, b'{"code":21610,"message":"opted out"}'),
         "provider": (401, b'{"code":20003,"message":"authenticate"}')}, twilio_read),
    "sinch": Driver(
        "driver: sinch, plan: plan1, token: credential:sms", (201, b'{"id":"01SINCH"}', "01SINCH"),
        {"message": (400, b'{"code":"syntax_invalid_json","text":"no"}'), "provider": (401, b"")},
        lambda r: (r["json"]["to"][0], r["json"]["from"], r["json"]["body"]), lambda r: r["json"]["client_reference"]),
    "vonage": Driver(
        "driver: vonage, application: app1, key: credential:vonage.pem", (202, b'{"message_uuid":"uuid-1"}', "uuid-1"),
        {"message": (422, b'{"type":"https://x/errors#1120a","detail":"no"}'),
         "address": (403, b'{"type":"https://developer.vonage.com/api-errors/messages#1050","detail":"barred"}'),
         "provider": (402, b'{"type":"https://developer.vonage.com/api-errors/messages#1070","detail":"quota"}')},
        lambda r: ("+" + r["json"]["to"], "+" + r["json"]["from"], r["json"]["text"]), lambda r: r["json"]["client_ref"]),
    "telnyx": Driver(
        "driver: telnyx, token: credential:sms", (200, b'{"data":{"id":"tx-1"}}', "tx-1"),
        {"message": (422, b'{"errors":[{"code":"40002","detail":"spam"}]}'), "address": (400, b'{"errors":[{"code":"40300","detail":"opted out"}]}'),
         "provider": (401, b'{"errors":[{"code":"10009","detail":"no"}]}')},
        lambda r: (r["json"]["to"], r["json"]["from"], r["json"]["text"]), lambda r: r["headers"]["idempotency-key"][0]),
    "http": Driver(
        'driver: http, token: credential:sms, request: { form: { to: "{to}", from: "{from}", text: "{text}", key: "{key}" }, success: [202], '
        "id: /msg/id }", (202, b'{"msg":{"id":"gw-1"}}', "gw-1"),
        {"message": (400, b"no"), "provider": (429, b"")}, lambda r: tuple(form(r["body"])[n] for n in ("to", "from", "text")),
        lambda r: form(r["body"])["key"]),
}
OWN = "+4915100000000"


def setup(t, name, script, credentials=None, **how):
    p = t.keep(HttpPeer(script))
    keys = dict(credentials or {})
    if name == "vonage":
        with open(Authority().key("vonage").path, encoding="utf-8") as f:
            keys["vonage.pem"] = f.read().rstrip("\n")
    channel = f'  sms: {{ from: "{OWN}", providers: [{{ {DRIVERS[name].row}, url: "{p.url}" }}] }}'
    return p, Shop(t, channel, "sms", credentials=keys, **how)


def taken(name):
    status, body, _ = DRIVERS[name].taken
    return lambda c, r: c.say(status, body)


def goes_through(t, name):
    d = DRIVERS[name]
    p, shop = setup(t, name, taken(name))
    order = shop.order("least", phone=PHONE)
    shop.ended(order, "accepted")
    eq(len(p.requests), 1)
    eq(d.read(p.requests[0]), (PHONE, OWN, f"Order {order}: least."))
    eq([(a[0], a[2], a[5]) for a in shop.attempts(order)], [(1, d.taken[0], d.taken[2])])
    if d.key:
        check(len(d.key(p.requests[0])) == 32, f"the delivery's key: {d.key(p.requests[0])}")
    return p.requests[0]


def test_twilio_takes_a_form_under_basic_auth(t):
    request = goes_through(t, "twilio")
    eq(request["path"], "/2010-04-01/Accounts/AC1/Messages.json")
    eq(request["headers"]["authorization"], ["Basic " + base64.b64encode(f"AC1:{secret('sms')}".encode()).decode()])


def test_a_gateway_is_asked_as_the_policy_says(t):
    eq(goes_through(t, "http")["path"], "/")


def test_sinch_gets_its_reference(t):
    request = goes_through(t, "sinch")
    eq((request["path"], request["headers"]["authorization"]), ("/xms/v1/plan1/batches", ["Bearer " + secret("sms")]))


def test_telnyx_gets_the_key(t):
    eq(goes_through(t, "telnyx")["headers"]["authorization"], ["Bearer " + secret("sms")])


def test_vonage_gets_a_token_signed_for_its_application(t):
    request = goes_through(t, "vonage")
    scheme, _, token = request["headers"]["authorization"][0].partition(" ")
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    eq((scheme, claims["application_id"]), ("Bearer", "app1"))
