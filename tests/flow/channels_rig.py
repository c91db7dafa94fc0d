"""An installation that sends by all channels: orders come in by an app source, as a shop's own service posts them."""
import json
import os
import sys
import uuid

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402

POLICY = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en, keep: { keys: 45d, bodies: 14d } }
sources:
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      most: { order: /order/id, to: most, contact: @CONTACT@ }
      least: { order: /order/id, to: least, contact: @CONTACT@ }
orders:
  path: [most]
  aside: { least: { from: [most] } }
  create: [most, least]
channels:
@CHANNELS@
messages:
  most:
    about: At most once
    when: most
    once: "most/{{order.id}}"
    delivery: at-most-once
    send: [@SEND@]
    retry: { wait: [100ms, 200ms], jitter: 20%, for: 10m }
  least:
    about: At least once
    when: least
    once: "least/{{order.id}}"
    delivery: at-least-once
    send: [@SEND@]
    retry: { wait: [100ms, 200ms], jitter: 20%, for: 10m }
"""
CONTACT = "{ id: /customer/id, email: /customer/email, phone: /customer/phone, push: /customer/devices, locale: /customer/locale }"
EMAIL = '  email: { from: "Shop <shop@example.net>", providers: [@SMTP_PROVIDER@] }'
STATES = {0: "due", 1: "wire", 2: "accepted", 3: "refused", 4: "expired", 5: "withheld", 8: "dead", 9: "unknown"}


def policy(channels, send):
    return POLICY.replace("@CHANNELS@", channels).replace("@SEND@", send).replace("@CONTACT@", CONTACT)


class Shop:
    """Posts events and reads what became of them; .w is the installation."""

    def __init__(self, t, channels, send, sink=None, dispatchers=1, credentials=None, prepare=None, **how):
        self.w = t.pawl(t.cluster(), sink, policy=policy(channels, send), setup=False, **how)
        for name, text in (credentials or {}).items():
            self.w.set_credential(name, text)
        if prepare:
            prepare(self.w)
        self.w.must("migrate", "up")
        self.w.must("policy", "apply")
        self.w.start(receivers=1, dispatchers=dispatchers)
        self.cluster = self.w.cluster

    def order(self, kind, **customer):
        """One order's event, and with it what its message owes; returns the order's id."""
        order = uuid.uuid4().hex[:8]
        answer = self.w.post(app_request(secret("shop"), "evt-" + order, kind, order, customer=customer))
        eq((answer.status, json.loads(answer.body)["outcome"]), (200, "applied"))
        return order

    def deliveries(self, order):
        """[(channel, target, state, tries, reason)] in the order of channel and target."""
        rows = self.cluster.query("SELECT d.channel, d.target, d.state, d.tries, d.reason FROM pawl.deliveries d JOIN pawl.notifications n"
                                  " USING (bucket, notification_id) WHERE n.order_id = %s ORDER BY 1, 2", (order,))
        return [(c, g, STATES.get(s, s), n, r) for c, g, s, n, r in rows]

    def ended(self, order, state, timeout=10):
        """The one delivery of this order when it has come to that state: (channel, target, state, tries, reason)."""
        try:
            eventually(lambda: [d[2] for d in self.deliveries(order)] == [state], timeout)
        except AssertionError:
            raise AssertionError(f"no delivery in state {state} within {timeout} s: {self.deliveries(order)}, {self.attempts(order)}") from None
        return self.deliveries(order)[0]

    def attempts(self, order):
        """[(outcome, level, code, enhanced, detail, provider_id)] in the order of steps."""
        return self.cluster.query("SELECT a.outcome, a.level, a.code, a.enhanced, a.detail, a.provider_id FROM pawl.attempts a"
                                  " JOIN pawl.notifications n USING (bucket, notification_id) WHERE n.order_id = %s"
                                  " ORDER BY a.target, a.step", (order,))

    def outcomes(self, order):
        return [a[0] for a in self.attempts(order)]
