"""What the fault suite shares: a small flow with one message of each delivery order, load, and what must hold after it.

The oracles lie outside Pawl: what the poster was answered, what the SMTP server took (by subject: one a message), SQL."""
import collections
import re
import time

from harness import *
from kit.deliveries import MAILS
from kit.procs import SLOW

POLICY = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en, keep: { keys: 45d, bodies: 14d } }
sources:
  stripe:
    scheme: stripe
    secrets: [credential:stripe]
    events:
      step.s1: { order: /data/object/metadata/order_id, to: s1, contact: { email: /data/object/receipt_email } }
      step.s2: { order: /data/object/metadata/order_id, to: s2, contact: { email: /data/object/receipt_email } }
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      step.s1: { order: /order/id, to: s1, contact: { email: /customer/email } }
      step.s2: { order: /order/id, to: s2, contact: { email: /customer/email } }
orders:
  path: [s1, s2]
  create: [s1]
""" + MAILS.replace('when: s1\n    once: "least', 'when: s2\n    once: "least')
STEP = {"most": "s1", "least": "s2"}  # the step whose message it is
ORDER = {1: "most", 2: "least"}

# Stored numbers of dispatcher/delivery.h, written down once more: who renumbers them breaks what is stored.
DUE, WIRE, ACCEPTED, REFUSED, DEAD, UNKNOWN = 0, 1, 2, 3, 8, 9
T_ACCEPTED, T_REFUSED, T_RETRY, T_UNKNOWN, T_BACK = 1, 2, 3, 4, 5

RECOVERY_S, END_S = 5, 60


def either_first(policy):
    """The policy with a flow in which an order may be created in any step, so that one event makes one message."""
    return policy.replace("create: [s1]", "create: [s1, s2]")


def both_at_once(policy):
    """The policy with both messages at step s1, so that one event makes one of each, due together."""
    return policy.replace("when: s2", "when: s1")


def step(order, name, email=None, source="shop"):
    make = app_request if source == "shop" else stripe_request
    return make(secret(source), f"{order}-{name}", "step." + name, order, email or f"{order}@example.net", source=source)


def events(prefix, orders):
    """Both steps of so many orders, each event from either source in turn."""
    names = [f"{prefix}-{n}" for n in range(orders)]
    return [step(o, s, source=("shop", "stripe")[n % 2]) for s in ("s1", "s2") for n, o in enumerate(names)]


def message(w, kind, email):
    """Posts the one event that makes a message of this kind to this address; its order."""
    order = f"{kind}-{w.cluster.value('SELECT count(*) FROM pawl.keys')}"
    eq(w.post(step(order, STEP[kind], email)).status, 200)
    return order


def rest(cluster):
    """Rows that say something is still to be done."""
    return cluster.value("SELECT (SELECT count(*) FROM pawl.due) + (SELECT count(*) FROM pawl.claims)")


def all_done(cluster, seconds, what):
    eventually(lambda: rest(cluster) == 0, seconds, f"{what}: nothing is due or claimed")


def recovered(cluster, what):
    """All is done, and until then never RECOVERY_S passed in which no try ended: how many end in a second is the machine's and
    the SMTP server's, and says nothing about what was killed."""
    def ended():
        return cluster.value("SELECT count(*) FROM pawl.attempts")
    begun = since = time.monotonic()
    seen = ended()
    while rest(cluster) > 0:
        now, last = time.monotonic(), seen
        seen = ended()
        since = now if seen > last else since
        check(now < since + RECOVERY_S * SLOW, f"{what}: no try ended for {RECOVERY_S} s while something is due or claimed")
        check(now < begun + END_S * SLOW, f"{what}: something is due or claimed after {END_S} s")
        time.sleep(0.02)


def delivery(cluster, kind, order):
    """(state, tries, possible duplicates) and the outcomes of its attempts in the order of steps."""
    nid, *row = cluster.query("SELECT d.notification_id, d.state, d.tries, d.possible_duplicates FROM pawl.deliveries d"
                              " JOIN pawl.notifications n USING (bucket, notification_id) WHERE n.once = %s", (f"{kind}/{order}",))[0]
    tries = cluster.query("SELECT outcome FROM pawl.attempts WHERE notification_id = %s ORDER BY step", (nid,))
    return tuple(row), [o for o, in tries]


def copies(sink):
    """{"most ORDER": mails that the SMTP server took}"""
    subjects = (m["subject"] if isinstance(m, dict) else re.search("^Subject: (.*)$", m, re.M)[1] for m in sink.mails())
    return collections.Counter(subjects)


class Acknowledged:
    """What the poster was told: {event id: copies that were answered 2xx}."""

    def __init__(self):
        self.ids = collections.Counter()

    def add(self, answers):
        """Every copy must have been acknowledged in the end; how many events that were."""
        got = collections.Counter(a.request.tag for a in answers if 200 <= a.status < 300)
        eq([(a.request.tag, a.status, a.error) for a in answers if not 200 <= a.status < 300], [], "never acknowledged")
        self.ids += got
        return len(got)

    def is_kept(self, cluster):
        """Each event has its key and its body; each further copy that was acknowledged is in `repeats`."""
        keys = dict(cluster.query("SELECT event_id, count(*) FROM pawl.keys GROUP BY 1"))
        bodies = dict(cluster.query("SELECT event_id, count(*) FROM pawl.bodies WHERE outcome <> 3 GROUP BY 1"))
        repeats = dict(cluster.query("SELECT event_id, count(*) FROM pawl.repeats GROUP BY 1"))
        lost = [i for i in self.ids if keys.get(i) != 1 or bodies.get(i) != 1]
        eq(lost, [], "acknowledged events that are not there exactly once")
        gone = {i: n for i, n in self.ids.items() if repeats.get(i, 0) < n - 1}
        eq(gone, {}, "acknowledged copies that are in no row")


def moved_once(cluster, acknowledged):
    """Each order went s1, s2 and owes exactly the two messages of that."""
    states = dict(cluster.query("SELECT name, id FROM pawl.names WHERE kind = 2"))
    path = [(1, 0, states["s1"]), (2, states["s1"], states["s2"])]
    found = collections.defaultdict(list)
    for order, *move in cluster.query("SELECT order_id, version, from_state, to_state FROM pawl.moves WHERE outcome = 1 ORDER BY 1, 2, 4"):
        found[order].append(tuple(move))
    wanted = {i.rsplit("-", 1)[0] for i in acknowledged.ids}
    eq({o: m for o, m in found.items() if m != path}, {}, "orders that moved otherwise than s1, s2")
    eq(set(found), wanted, "orders that moved")
    eq(cluster.query("SELECT order_id FROM pawl.orders WHERE state <> %s OR version <> 2", (states["s2"],)), [])
    eq({o for o, in cluster.query("SELECT once FROM pawl.notifications")}, {f"{k}/{o}" for k in STEP for o in wanted})


def messages_kept_their_promise(cluster, sink, exactly=False):
    """At most once or at least once by the SMTP server's count; what may be a duplicate is counted."""
    taken = copies(sink)
    rows = cluster.query("SELECT n.once, d.delivery_order, d.state, d.possible_duplicates, d.tries FROM pawl.deliveries d"
                         " JOIN pawl.notifications n USING (bucket, notification_id)")
    for once, order, state, doubles, _ in rows:
        n, what = taken.pop(once.replace("/", " "), 0), f"{once}: state {state}, {doubles} possible duplicates"
        if order == 1:
            check(n <= 1, f"{what}: at most once, but taken {n} times")
            check(state == UNKNOWN or (state, n) == (ACCEPTED, 1), f"{what}: taken {n} times")
        else:
            check(n >= 1 and state == ACCEPTED, f"{what}: at least once, but taken {n} times")
            check(n - 1 <= doubles, f"{what}: taken {n} times")
        if exactly:
            eq((n, state, doubles), (1, ACCEPTED, 0), once)
    eq(taken, {}, "mails that nobody owes")
    eq(cluster.query("SELECT notification_id, step FROM pawl.attempts GROUP BY 1, 2 HAVING count(*) > 1"), [], "steps recorded twice")
    eq(cluster.value("SELECT count(*) FROM pawl.attempts"), sum(r[4] for r in rows), "attempts, one for each step")
    counted = cluster.value("SELECT count(*) FROM pawl.attempts WHERE possible_duplicate AND outcome <> 5")
    eq(counted, sum(r[3] for r in rows), "possible duplicates, in attempts and deliveries")
    return len(rows)


def everything_holds(w, acknowledged, exactly=False):
    acknowledged.is_kept(w.cluster)
    moved_once(w.cluster, acknowledged)
    eq(messages_kept_their_promise(w.cluster, w.sink, exactly), len(acknowledged.ids), "deliveries")
    eq(w.cluster.deadlocks(), 0, "deadlocks in the server's log")
