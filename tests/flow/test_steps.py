"""Steps that come `after` another one, and not at all when that one did. What came is told by the text gateway's and the mail server's own logs."""
import os
import sys
import threading
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import EMAIL, HttpPeer, Shop  # noqa: E402
from mail_server import Mailbox  # noqa: E402

CHANNELS = """  sms:
    from: "+4915100000000"
    providers:
      - { driver: http, token: credential:sms, url: "@URL@", request: { form: { to: "{to}", text: "{text}" } } }
""" + EMAIL
CUSTOMER = {"phone": "+4915112345678", "email": "a@example.net"}


def setup(t, reply, step="after: 2s, unless: accepted(sms)", **how):
    """(gateway, mail server, shop)"""
    gateway, mails = t.keep(HttpPeer(lambda c, r: reply(c))), Mailbox(t)
    return gateway, mails, Shop(t, CHANNELS.replace("@URL@", gateway.url), "sms, { channel: email, %s }" % step, sink=mails, **how)


def seen(shop, order):
    """{channel: (state, reason)}"""
    return {d[0]: (d[2], d[4]) for d in shop.deliveries(order)}


def ends(shop, order, sms, mail, timeout=15):
    eventually(lambda: tuple(seen(shop, order)[c][0] for c in (2, 1)) == (sms, mail), timeout, f"ends as it should: {seen(shop, order)}")


def taken(c):
    c.say(200, b"{}")


def test_the_second_channel_is_left_out_when_the_first_one_was_accepted(t):
    gateway, mails, shop = setup(t, taken)
    order = shop.order("least", **CUSTOMER)
    ends(shop, order, "accepted", 6)
    eq(seen(shop, order)[1], (6, "not needed: accepted by sms"))
    eq((len(gateway.requests), mails.counts()), (1, {}))
    eventually(lambda: shop.w.metric("pawl_gates_total", gate="step", channel="email", result="superseded") == 1, 5, "it is counted")


def test_the_second_channel_comes_after_its_time_when_the_first_one_failed(t):
    gateway, mails, shop = setup(t, lambda c: c.say(400, b"no"))
    order = shop.order("least", **CUSTOMER)
    ends(shop, order, "refused", "accepted")
    eq((len(gateway.requests), mails.counts()), (1, {"a@example.net": 1}))
    waited = shop.cluster.value("SELECT extract(epoch FROM wire_at - created_at)::float8 FROM pawl.deliveries WHERE channel = 1")
    check(2 <= waited < 6, f"not before, and then at once: {waited}")


def test_a_first_channel_without_an_address_lets_the_second_one_go(t):
    gateway, mails, shop = setup(t, taken)
    order = shop.order("most", email=CUSTOMER["email"])
    ends(shop, order, "withheld", "accepted")
    eq((len(gateway.requests), mails.counts()), (0, {"a@example.net": 1}))


def test_while_the_first_one_is_on_the_wire_the_second_one_waits_for_its_outcome(t):
    go_on = threading.Event()

    def slow(c):
        go_on.wait(20)
        c.say(200, b"{}")
    _, mails, shop = setup(t, slow)
    order = shop.order("least", **CUSTOMER)
    eventually(lambda: (seen(shop, order)[1][1] or "").startswith("waits for the last word"), 10, "it is put off")
    time.sleep(1)
    eq(mails.counts(), {})
    go_on.set()
    ends(shop, order, "accepted", 6)
    eq(mails.counts(), {})


def test_delivered_asks_for_more_than_accepted(t):
    gateway, mails, shop = setup(t, taken, step="after: 1s, unless: delivered(sms)")
    order = shop.order("least", **CUSTOMER)
    ends(shop, order, "accepted", "accepted")
    eq((len(gateway.requests), mails.counts()), (1, {"a@example.net": 1}))


def test_a_step_with_after_alone_only_comes_later(t):
    _, mails, shop = setup(t, taken, step="after: 2s")
    order = shop.order("least", **CUSTOMER)
    ends(shop, order, "accepted", "accepted")
    check(2 <= shop.cluster.value("SELECT extract(epoch FROM wire_at - created_at)::float8 FROM pawl.deliveries WHERE channel = 1") < 6, "after its time")
    eq(mails.counts(), {"a@example.net": 1})


def test_the_time_for_tries_of_a_later_step_begins_when_it_is_due(t):
    _, mails, shop = setup(t, taken, step="after: 3s", edit=lambda text: text.replace("for: 10m", "for: 2s"))
    order = shop.order("least", **CUSTOMER)
    ends(shop, order, "accepted", "accepted")
    eq(mails.counts(), {"a@example.net": 1})


def test_the_recipients_zone_comes_from_the_event(t):
    _, _, shop = setup(t, taken, edit=lambda text: text.replace("locale: /customer/locale", "locale: /customer/locale, timezone: /customer/zone"))
    order = shop.order("least", **CUSTOMER, zone="Asia/Kolkata")
    ends(shop, order, "accepted", 6)
    eq(shop.cluster.query("SELECT DISTINCT zone FROM pawl.deliveries"), [("Asia/Kolkata",)])
