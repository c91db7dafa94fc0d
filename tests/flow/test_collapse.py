"""Collapse ids through the whole path: an older message never arrives after a newer one, by the SMTP server's own log."""
import os
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from test_caps import all_ended, place, states  # noqa: E402

POLICY = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en }
sources:
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      step.s1: { order: /order/id, to: s1, contact: { email: /customer/email, id: /customer/id } }
      step.s2: { order: /order/id, to: s2, contact: { email: /customer/email, id: /customer/id } }
      step.s3: { order: /order/id, to: s3, contact: { email: /customer/email, id: /customer/id } }
orders: { path: [s1, s2, s3], create: [s1] }
channels:
  email: { from: "Example Shop <notify@example.net>", providers: [@SMTP_PROVIDER@] }
messages:
""" + "".join(f"""  m{n}:
    when: s{n}
    once: "m{n}/{{{{order.id}}}}"
    delivery: at-least-once
    send: [email]
    collapse: "order/{{{{order.id}}}}"
    retry: {{ wait: [300ms], for: 10m }}
""" for n in (1, 2, 3))


def order_of(w):
    """{order: subjects in the order in which the server took them}"""
    taken = {}
    for mail in w.sink.mails():
        kind, order = mail["subject"].split()[:2]
        taken.setdefault(order, []).append(kind)
    return taken


def test_a_newer_message_ends_an_older_one_that_retries(t):
    w = t.world(policy=POLICY)
    w.post(place("o-1", "c", "a@example.net", "s1"))
    all_ended(w)
    w.sink.stop()
    w.post(place("o-1", "c", "a@example.net", "s2"))
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.attempts WHERE outcome = 3") >= 1, 10, "the older one was tried")
    w.post(place("o-1", "c", "a@example.net", "s3"))
    eventually(lambda: states(w).get(6) == 1, 10, "the older one ends")
    w.sink.start()
    all_ended(w)
    eq(states(w), {2: 2, 6: 1})
    eq(w.cluster.query("SELECT d.reason FROM pawl.deliveries d WHERE state = 6"), [("a newer message took its place",)])
    eq(w.metric("pawl_deliveries_total", end="superseded"), 1)
    eq(w.sink.count(), 2)


def test_a_newer_message_waits_for_an_older_one_that_is_on_the_wire(t):
    w = t.world(policy=POLICY, dispatchers=2)
    w.post(place("o-1", "c", "slow+a@example.net", "s1"))
    eventually(lambda: w.sink.count() == 1, 10, "the older one is under way")
    w.post(place("o-1", "c", "slow+a@example.net", "s2"))
    time.sleep(0.7)
    eq(w.sink.count(), 1, "the newer one has not begun")
    all_ended(w)
    eq((states(w), w.sink.count()), ({2: 2}, 2))


@timeout(180)
def test_no_older_message_arrives_after_a_newer_one(t):
    orders = 200 if t.long else 40
    w = t.world(policy=POLICY, dispatchers=2)
    kinds = ["ok", "dot451-2", "slow", "rcpt451-1", "ok"]
    mail = {n: f"{kinds[n % 5]}+{n}@example.net" for n in range(orders)}
    for step in ("s1", "s2", "s3"):
        w.post(*[place(f"o-{n}", "c", mail[n], step) for n in range(orders)], connections=4)
        time.sleep(0.15)
    all_ended(w, 60)
    taken = order_of(w)
    eq({order: kinds for order, kinds in taken.items() if kinds != sorted(kinds)}, {})
    eq({order for order, kinds in taken.items() if kinds[-1] != "m3"}, set(), "the newest arrives always")
    eq(len(taken), orders)
    eq(w.cluster.deadlocks(), 0)
