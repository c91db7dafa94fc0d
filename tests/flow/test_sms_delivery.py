"""Text messages through receiver and dispatcher: what each provider is sent, by its own log, and what its replies lead to."""
import base64
import json
import os
import sys
import time
import urllib.parse

from harness import *
from kit.https import Authority, openssl
from kit.npm import prism

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import EMAIL, HttpPeer, Shop  # noqa: E402

PHONE = "+4915112345678"


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
        key = Authority().key("vonage")
        t.vonage = os.path.dirname(key.path)
        with open(key.path, encoding="utf-8") as f:
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


def test_numbers_that_a_sender_cannot_reach_stop_no_other(t):
    """Whoever gives a number decides where it is: 21606 is what Twilio says where the sender can't send to that country."""
    abroad = "+8613800000000"
    p, shop = setup(t, "twilio", lambda c, r: c.say(400, b'{"code":21606,"message":"not for this destination"}', "Retry-After: 3600")
                    if twilio_read(r)[0] == abroad else taken("twilio")(c, r))
    for _ in range(4):
        order = shop.order("most", phone=abroad)
        eventually(lambda order=order: shop.attempts(order), 15, "it was tried")
    order = shop.order("least", phone=PHONE)
    shop.ended(order, "accepted")
    eq(shop.w.metric("pawl_provider_breaker_opened_total"), 0)
    check(len(p.requests) >= 5, p.requests)


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
    signed, _, signature = token.rpartition(".")
    head, claims = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in signed.split(".")]
    eq((scheme, head["alg"], claims["application_id"]), ("Bearer", "RS256", "app1"))
    check(0 < claims["exp"] - claims["iat"] <= 86400, claims)
    at = lambda name: os.path.join(t.vonage, name)  # noqa: E731
    openssl("pkey", "-in", at("vonage.key"), "-pubout", "-out", at("public"))
    with open(at("signature"), "wb") as f:
        f.write(base64.urlsafe_b64decode(signature + "=="))
    openssl("dgst", "-sha256", "-verify", at("public"), "-signature", at("signature"), given=signed.encode())


def replies_mean_what_they_say(t, name):
    """Each refusal of the driver's table, then a reply that is lost, for both delivery orders."""
    d = DRIVERS[name]
    answers = []
    p, shop = setup(t, name, lambda c, _: answers.pop(0)(c))
    say = lambda status, body, *_: lambda c: c.say(status, body)  # noqa: E731
    ok = say(*d.taken)
    for about, level in (("message", 0), ("address", 1)):
        if about in d.refusals:
            answers.append(say(*d.refusals[about]))
            order = shop.order("least", phone=PHONE + str(level))  # an address that is refused gets nothing any more
            shop.ended(order, "refused")
            eq([a[:3] for a in shop.attempts(order)], [(2, level, d.refusals[about][0])], about)
    answers.extend([say(*d.refusals["provider"]), ok])
    order = shop.order("most", phone=PHONE)
    shop.ended(order, "accepted", 20)
    eq([a[:3] for a in shop.attempts(order)], [(3, 2, d.refusals["provider"][0]), (1, 0, d.taken[0])])
    answers.append(lambda c: c.cut())
    order = shop.order("most", phone=PHONE)
    shop.ended(order, "unknown")
    if name == "sinch":
        return  # can be asked what became of it, and is, before anything is sent again: test_lookups.py
    n = len(p.requests)
    answers.extend([lambda c: c.cut(), lambda c: c.say(500, b""), ok])
    order = shop.order("least", phone=PHONE)
    shop.ended(order, "accepted", 20)
    eq(shop.outcomes(order), [4, 4, 1])
    copies = p.requests[n:]
    eq(len(copies), 3)
    eq({r["body"] for r in copies}, {copies[0]["body"]}, "the same bytes on every try")
    if d.key:
        eq(len({d.key(r) for r in copies}), 1)
    eq(shop.w.metric("pawl_possible_duplicates_total"), 2)


def test_twilios_replies_mean_what_they_say(t):
    replies_mean_what_they_say(t, "twilio")


def test_sinchs_replies_mean_what_they_say(t):
    replies_mean_what_they_say(t, "sinch")


def test_vonages_replies_mean_what_they_say(t):
    replies_mean_what_they_say(t, "vonage")


def test_telnyxs_replies_mean_what_they_say(t):
    replies_mean_what_they_say(t, "telnyx")


def test_a_gateways_replies_mean_what_they_say(t):
    replies_mean_what_they_say(t, "http")


def test_parts_are_shown_and_limited(t):
    long_text = lambda n: lambda w: w.set_template("least", "text", "\u20ac" * 80 + "x" * (n - 160) + "\n", "sms")  # noqa: E731
    p, shop = setup(t, "http", taken("http"), prepare=long_text(161))
    order = shop.order("least", phone=PHONE)
    shop.ended(order, "accepted")
    shown = shop.w.must("deliveries", "show", f"least/{order}")
    check("parts       2 (GSM-7, 161 units)" in shown, shown)
    eq(shop.w.json("deliveries", "show", f"least/{order}")["items"][0]["segments"], {"parts": 2, "coding": "GSM-7", "units": 161})
    long_text(1531)(shop.w)
    shop.w.must("policy", "apply")
    order = shop.order("least", phone=PHONE)
    eq(shop.ended(order, "dead")[3:], (0, "the text is 11 short messages long, limit 10"))
    eq(len(p.requests), 1)


def test_a_number_that_is_none_is_refused_and_nothing_leaves(t):
    p, shop = setup(t, "twilio", taken("twilio"))
    for phone in ("015112345678", "+0123", "+4915112345678\r\nX: y", "+49 151", "+491511234567890123"):
        order = shop.order("least", phone=phone)
        eventually(lambda: shop.deliveries(order)[0][2] in ("refused", "withheld"), 10)  # pylint: disable=cell-var-from-loop
    eq(p.requests, [])


def test_an_sms_provider_that_hangs_holds_up_no_mail(t):
    sink = t.sink()
    p = t.keep(HttpPeer(lambda c, _: time.sleep(60)))
    channels = EMAIL + f'\n  sms: {{ from: "{OWN}", providers: [{{ {DRIVERS["twilio"].row}, url: "{p.url}" }}] }}'
    shop = Shop(t, channels, "sms, email", sink=sink, host={"dispatcher": {"transfers": 6, "grace": "1s"}})
    for _ in range(8):
        shop.order("most", phone=PHONE)
    eventually(lambda: len(p.requests) >= 4, 10, "the slots of SMS are full")
    began = time.monotonic()
    for i in range(12):
        shop.order("most", phone=PHONE, email=f"a{i}@example.net")
    eventually(lambda: sum(sink.by_rcpt().values()) == 12, 15, "every mail leaves")
    check(time.monotonic() - began < 15, "in time")
    check(len(p.requests) <= 4, f"{len(p.requests)} of 6 transfers taken by SMS")


def test_promises_hold_with_a_fault_in_one_of_five_and_a_kill(t):
    say = DRIVERS["http"].taken[:2]
    faults = [lambda c: c.cut(), lambda c: c.say(500, b""), lambda c: c.say(429, b""), lambda c: c.reset(), lambda c: c.say(203, b"")]
    p, shop = setup(t, "http", lambda c, r: faults[r["n"] // 5 % len(faults)](c) if r["n"] % 5 == 4 else c.say(*say), dispatchers=2)
    numbers = {kind: [f"+49151{code}{i:06d}" for i in range(60)] for kind, code in (("most", 1), ("least", 2))}
    orders = [shop.order(kind, phone=phone) for kind in numbers for phone in numbers[kind][:20]]
    shop.w.dispatchers[0].kill9()
    orders += [shop.order(kind, phone=phone) for kind in numbers for phone in numbers[kind][20:]]
    shop.w.dispatcher()
    states = "SELECT count(*) FROM pawl.deliveries WHERE state NOT IN (2, 9)"
    eventually(lambda: shop.cluster.value(states) == 0, 60, "every delivery has an end")
    copies = {}
    for r in p.requests:
        f = form(r["body"])
        if not r["refused"]:
            copies[f["to"]] = copies.get(f["to"], 0) + 1
    seen = shop.cluster.query("SELECT address, state, possible_duplicates, delivery_order FROM pawl.deliveries")
    eq(len(seen), len(orders))
    for address, state, duplicates, delivery_order in seen:
        n = copies.get(address, 0)
        if delivery_order == 1:
            check(n <= 1 and (n == 1 or state == 9), f"{address}: {n} copies, state {state}")
        else:
            check(n >= 1 and state == 2 and n - 1 <= duplicates, f"{address}: {n} copies, {duplicates} counted, state {state}")


@timeout(300)
def test_twilios_own_document_allows_what_is_sent(t):
    peer, url = prism(t, "openapi/twilio_messages.json")
    channel = f'  sms: {{ from: "{OWN}", providers: [{{ {DRIVERS["twilio"].row}, url: "{url}", callback: "https://a.example/c" }}] }}'
    channel = channel.replace("AC1,", "AC" + "0" * 32 + ",")
    shop = Shop(t, channel, "sms")
    order = shop.order("least", phone=PHONE)
    shop.ended(order, "accepted", 20)
    [(outcome, _, code, _, _, sid)] = shop.attempts(order)
    eq((outcome, code, sid[:2]), (1, 201, "SM"))
    check("error" not in peer.output().lower().replace("error_", ""), peer.tail())
