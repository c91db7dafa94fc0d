"""Collapse ids through the whole path: an older message never arrives after a newer one, by the SMTP server's own log."""
import os
import random
import sys
import time

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from test_caps import all_ended, place, states  # noqa: E402

SEED = int(os.environ.get("PAWL_TEST_SEED", 0)) or random.randrange(1 << 30)
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
    w.counted(1, "pawl_deliveries_total", end="superseded")
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


def newest_is_last(w, orders):
    """By the server's log: no older mail of an order after a newer one, and the newest is there."""
    taken = order_of(w)
    eq({order: kinds for order, kinds in taken.items() if kinds != sorted(kinds)}, {})
    eq({order for order, kinds in taken.items() if kinds[-1] != "m3"}, set(), "the newest arrives always")
    eq(len(taken), orders)
    eq(w.cluster.deadlocks(), 0)


@timeout(180)
def test_no_older_message_arrives_after_a_newer_one(t):
    orders = 200 if t.long else 40
    w = t.world(policy=POLICY, dispatchers=2)
    kinds = ["ok", "dot451-2", "slow", "rcpt451-1", "dropafterdot-2"]
    mail = {n: f"{kinds[n % 5]}+{n}@example.net" for n in range(orders)}
    for step in ("s1", "s2", "s3"):
        w.post(*[place(f"o-{n}", "c", mail[n], step) for n in range(orders)], connections=4)
        time.sleep(0.15)
    all_ended(w, 60)
    newest_is_last(w, orders)


@timeout(180)
def test_none_does_so_when_dispatchers_are_killed_either(t):
    orders = 600 if t.long else 30
    w = t.world(policy=POLICY, dispatchers=2)
    kinds = ["ok", "slow", "dot451-1", "ok", "dropafterdot-1"]
    mail = {n: f"{kinds[n % 5]}+{n}@example.net" for n in range(orders)}
    dice, kills = random.Random(SEED), 0
    for step in ("s1", "s2", "s3"):
        load = w.load([place(f"o-{n}", "c", mail[n], step) for n in range(orders)], connections=4)
        for _ in range(orders // 30):
            time.sleep(dice.uniform(0.05, 0.3))
            victim = dice.choice(w.dispatchers)
            victim.kill9()
            w.restart(victim, wait=False)
            kills += 1
        eq({a.status for a in load.result()}, {200})
    all_ended(w, 60)
    ended = states(w)
    print(f"              {3 * orders} messages of {orders} orders, {kills} kills: {ended}, {w.sink.count()} mails, seed {SEED}")
    eq(set(ended) - {2, 6, 9}, set())
    newest_is_last(w, orders)
