"""Deliveries made by SQL as the receiver makes them, and what must hold of them at the end."""
import json
import uuid

from .procs import eventually
from .runner import check, eq

FLOW = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en, keep: { keys: 45d, bodies: 14d } }
sources:
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      step.s1: { order: /order/id, to: s1, contact: { email: /customer/email } }
orders:
  path: [s1]
  create: [s1]
"""
# One message of each delivery order.
MAILS = """channels:
  email:
    from: "Example Shop <notify@example.net>"
    providers:
      - @SMTP_PROVIDER@
messages:
  most:
    about: At most once
    when: s1
    once: "most/{{order.id}}"
    delivery: at-most-once
    send: [email]
    retry: { wait: [100ms, 200ms], jitter: 20%, for: 10m }
  least:
    about: At least once
    when: s1
    once: "least/{{order.id}}"
    delivery: at-least-once
    send: [email]
    retry: { wait: [100ms, 200ms], jitter: 20%, for: 10m }
"""
POLICY = FLOW + MAILS
ORDERS = {"most": 1, "least": 2}
LANE = 11  # email, normal


class Rows:
    """Notifications, deliveries and due rows as the receiver makes them."""

    def __init__(self, pawl):
        self.cluster = pawl.cluster
        pawl.breaks.update({"note-move": "no receiver made these notifications", "note-id": "their ids are random"})
        self.types = dict(self.cluster.query("SELECT name, id FROM pawl.names WHERE kind = 3"))
        self.policy = self.cluster.value("SELECT max(version) FROM pawl.policy_versions")

    def add(self, kind, email, order=None, expires=None, retry="10 minutes", lane=LANE, locale=None, due=True, note="<b>&"):
        """One delivery, due now (or not due at all); returns its notification's id. note: {{note}} within {{#data}}."""
        order = order or uuid.uuid4().hex[:8]
        nid = str(uuid.uuid4())
        contact = {"email": email, **({"locale": locale} if locale else {})}
        data = json.dumps({"order": {"id": order, "state": "s1"}, "event": {"id": "e", "type": "t", "source": "shop"},
                           "contact": contact, "data": {"note": note}})
        self.cluster.query(
            "INSERT INTO pawl.notifications VALUES (1, %s, %s, 1, %s, 1, %s, %s, 'e', '', %s, now());"
            "INSERT INTO pawl.deliveries(bucket, channel, notification_id, delivery_order, lane, address, created_at, updated_at,"
            " expires_at, retry_until) VALUES (1, 1, %s, %s, %s, %s, now(), now(), now() + %s::interval, now() + %s::interval)",
            (self.types[kind], self.policy, nid, f"{kind}/{order}", order, data, nid, ORDERS.get(kind, 2), lane, email, expires, retry))
        if due:
            self.cluster.query("INSERT INTO pawl.due VALUES (1, %s, now(), %s, 1, 0, 0, '')", (lane, nid))
        return nid

    def delivery(self, nid):
        """(state, tries, unknown_tries, possible_duplicates, reason)"""
        return self.cluster.query("SELECT state, tries, unknown_tries, possible_duplicates, reason FROM pawl.deliveries"
                                  " WHERE notification_id = %s", (nid,))[0]

    def state(self, nid):
        return self.delivery(nid)[0]

    def outcomes(self, nid):
        """The outcomes of its attempts, in the order of steps."""
        return [o for o, in self.cluster.query("SELECT outcome FROM pawl.attempts WHERE notification_id = %s ORDER BY step", (nid,))]

    def left(self):
        """(due, claims, unknown) rows."""
        return tuple(self.cluster.value(f"SELECT count(*) FROM pawl.{t}") for t in ("due", "claims", "unknown_outcomes"))


def setup(t, dispatchers=1, **how):
    """(installation, sink, rows)"""
    sink = t.sink()
    w = t.pawl(t.cluster(), sink, policy=POLICY, **how)
    for _ in range(dispatchers):
        w.dispatcher()
    return w, sink, Rows(w)


def ended(rows, nid, state, timeout=10):
    eventually(lambda: rows.state(nid) == state, timeout, f"delivery comes to state {state}, it is {rows.delivery(nid)}")


def promises_hold(sink, rows, count):
    """What design.md promises of deliveries, by the SMTP server's count and by SQL."""
    got = sink.by_rcpt()
    seen = rows.cluster.query("SELECT delivery_order, address, state, possible_duplicates, tries FROM pawl.deliveries")
    eq(len(seen), sum(count.values()))
    for order, address, state, duplicates, tries in seen:
        copies = got.get(address, 0)
        if order == 1:
            check(copies <= 1 and (copies == 1 or state == 9), f"{address}: {copies} copies, state {state}")
        else:
            check(copies >= 1 and state == 2, f"{address}: {copies} copies, state {state}")
            check(copies - 1 <= duplicates, f"{address}: {copies} copies, {duplicates} counted")
    c = rows.cluster
    eq(c.value("SELECT count(*) FROM (SELECT 1 FROM pawl.attempts GROUP BY notification_id, step HAVING count(*) > 1) x"), 0)
    eq(c.value("SELECT count(*) FROM pawl.attempts"), c.value("SELECT sum(tries) FROM pawl.deliveries"), "an attempt for each step")
    eq(c.value("SELECT count(*) FROM pawl.unknown_outcomes"), c.value("SELECT count(*) FROM pawl.deliveries WHERE state = 9"))
    eq(rows.left()[:2], (0, 0))
