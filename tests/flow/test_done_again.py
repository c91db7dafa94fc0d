"""What PostgreSQL ends because of a deadlock is done again at once, by itself, and the log says what it was."""
import re

from harness import *

POLICY = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en }
sources:
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      step.s1: { order: /order/id, to: s1, contact: { email: /customer/email, id: /customer/id } }
orders: { path: [s1], create: [s1] }
channels:
  email: { from: "Example Shop <notify@example.net>", providers: [@SMTP_PROVIDER@] }
messages:
  one: { when: s1, once: "one/{{order.id}}", delivery: at-most-once, send: [email] }
limits: [{ most: 1, in: 1h, per: recipient, then: withhold }]
"""
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'pawl_dispatcher'"


def world(t):
    # The rival looks for a deadlock much later: the dispatcher's is the statement that is ended.
    w = t.world(policy=POLICY)
    w.cluster.set(deadlock_timeout="1500ms")
    rival = w.cluster.connect(autocommit=False)
    rival.cursor().execute("SET deadlock_timeout = '60s'; SET search_path = pawl")
    rival.commit()
    return w, rival.cursor()


def place(n, email="a@example.net"):
    return app_request(secret("shop"), f"o-{n}-s1", "step.s1", order=f"o-{n}", customer={"email": email, "id": f"c{n}"})


def ended(w, want):
    eventually(lambda: dict(w.cluster.query("SELECT state, count(*)::int FROM pawl.deliveries GROUP BY 1")) == want,
               5, f"the states are {want}")


def told(w, work):
    eq(w.cluster.deadlocks(), 1)
    eq(w.metric("pawl_db_errors_total", **{"class": "40"}), 1)
    lines = [line for line in w.dispatchers[0].log().splitlines() if "database.failed" in line]
    eq(len(lines), 1, "told once")
    check(all(re.search(what, lines[0]) for what in (rf'work"?[=:]"?{work}', r'sqlstate"?[=:]"?40P01', "deadlock detected", "done again")), lines[0])


def test_a_claim_that_was_ended_comes_again_and_nothing_is_withheld(t):
    w, rival = world(t)
    w.post(place(1), place(2))
    ended(w, {2: 2})
    (low, low_cap), (high, high_cap) = w.cluster.query("SELECT bucket, cap FROM pawl.cap_slots ORDER BY bucket, cap")
    w.breaks["caps-kept"] = "the slots of the first two are taken away, so that there are some to race for"
    w.cluster.query("DELETE FROM pawl.cap_slots")
    w.must("pause", "all", "--reason", "so that one claim takes both")
    for n in (1, 2):
        w.post(app_request(secret("shop"), f"o-{n + 2}-s1", "step.s1", order=f"o-{n + 2}", customer={"email": "a@example.net", "id": f"c{n}"}))
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.due WHERE lane < 0") == 2, 10, "both are held")
    take = ("INSERT INTO cap_slots (bucket, nth, cap, of_bucket, notification_id, channel, redrive, taken_at, in_ms)"
            " SELECT %s, 0, %s, bucket, notification_id, channel, redrive, now(), 3600000 FROM deliveries WHERE state = 2 LIMIT 1")
    rival.execute(take, (high, high_cap))
    w.must("resume", "all")
    eventually(lambda: w.cluster.value(WAITS) == 1, 15, "the claim has one slot and waits for the other")
    rival.execute(take, (low, low_cap))  # a ring
    rival.connection.rollback()
    ended(w, {2: 4})
    eq((w.sink.count(), w.cluster.value("SELECT max(tries) FROM pawl.deliveries")), (4, 1))
    told(w, "claim")


def test_a_record_that_was_ended_is_written_again_and_nothing_is_sent_twice(t):
    w, rival = world(t)
    w.post(place(1, "slow+a@example.net"))
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state = 1") == 1, 10, "it is on the wire")
    rival.execute("SELECT FROM deliveries WHERE state = 1 FOR UPDATE")
    eventually(lambda: w.cluster.value(WAITS) == 1, 15, "the record has its fence and waits for the delivery")
    rival.execute("SELECT FROM claims FOR UPDATE")  # a ring
    rival.connection.rollback()
    ended(w, {2: 1})
    eq((w.sink.count(), w.cluster.value("SELECT count(*) FROM pawl.attempts"), w.cluster.value("SELECT count(*) FROM pawl.claims")), (1, 1, 0))
    eq(w.cluster.value("SELECT count(*) FROM pawl.cap_slots WHERE used_at IS NOT NULL"), 1)
    told(w, "record")
