"""Caps through the whole path, judged by the SMTP server's own log: no window of a cap's length holds more than it allows."""
import time

from harness import *
from kit.procs import SLOW

POLICY = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en }
sources:
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      step.s1: { order: /order/id, to: s1, contact: { email: /customer/email, id: /customer/id } }
      step.s2: { order: /order/id, to: s2, contact: { email: /customer/email, id: /customer/id } }
orders: { path: [s1, s2], create: [s1] }
channels:
  email: { from: "Example Shop <notify@example.net>", providers: [@SMTP_PROVIDER@] }
messages:
  one:
    when: s1
    once: "one/{{order.id}}"
    delivery: at-least-once
    send: [email]
    retry: { wait: [100ms, 200ms], for: 10m }
    @CAP@
  two:
    when: s2
    once: "two/{{order.id}}"
    delivery: at-least-once
    send: [email]
    retry: { wait: [100ms, 200ms], for: 10m }
@LIMITS@
"""


def world(t, cap="", limits="", **how):
    policy = POLICY.replace("@CAP@", f"cap: [{cap}]" if cap else "").replace("@LIMITS@", limits)
    return t.world(policy=policy, **how)


def place(order, contact, email, step="s1"):
    return app_request(secret("shop"), f"{order}-{step}", "step." + step, order=order, customer={"email": email, **({"id": contact} if contact else {})})


def states(w):
    """{state: number of deliveries}"""
    return dict(w.cluster.query("SELECT state, count(*)::int FROM pawl.deliveries GROUP BY 1"))


def all_ended(w, timeout=30):
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state IN (0, 1)") == 0, timeout, "all have an end")


def sent_at(w, who):
    """{recipient: times at which the server took mails, ascending}; who(address) names the recipient."""
    times = {}
    for mail in w.sink.mails():
        times.setdefault(who(mail["rcpt"][0]), []).append(mail["time"])
    return {name: sorted(found) for name, found in times.items()}


def over(times, most, seconds):
    """Windows of that length that hold more than `most`."""
    return [(a, b) for a, b in zip(times, times[most:]) if b - a <= seconds]


@timeout(240)
def test_a_flood_stays_below_the_cap_in_every_window_and_uses_it(t):
    recipients, most, seconds, flood = 10, 3, 2, 60 if t.long else 7
    w = world(t, cap=f"{{ most: {most}, in: {seconds}s, per: recipient, then: defer }}", dispatchers=2)
    each = (flood // seconds + 2) * most * 3 // 2  # more than can be sent; some are refused
    kinds = ["ok", "ok", "rcpt550", "ok", "dot451-1", "ok", "ok", "slow"]
    requests = []
    for n in range(each):
        for who in range(recipients):
            # A mail that is taken slowly holds its slot meanwhile; seldom, so that waiting does not hide what is not used.
            kind = kinds[(n + who) % 7] if n % 5 or who % 3 else "slow"
            requests.append(place(f"o-{who}-{n}", f"c{who}", f"{kind}+c{who}-{n}@example.net"))
    w.post(*requests, connections=8)
    time.sleep(flood * SLOW)
    for program in w.dispatchers:
        program.stop()
    times = sent_at(w, lambda address: address.split("+")[1].split("-")[0])
    eq(len(times), recipients)
    eq({who: over(found, most, seconds) for who, found in times.items() if over(found, most, seconds)}, {})
    # Of the time that all slots together had, how much was in use: by a mail under way, or by the time of one that arrived.
    begin = min(found[0] for found in times.values())
    end = max(found[-1] for found in times.values())
    slow = [m["time"] for m in w.sink.mails() if m["end"] == "slow"]
    full = sum(min(seconds, end - at) for found in times.values() for at in found) + sum(min(2, end - at) for at in slow)
    used = full / (recipients * most * (end - begin))
    sent = sum(len(found) for found in times.values())
    print(f"{sent} sent in {end - begin:.1f} s, {used:.3f} of the slots' time used")
    check(used >= (0.95 if t.long and SLOW == 1 else 0.8), f"{used:.3f} of what was allowed was used; {sent} sent in {end - begin:.1f} s")
    eq(w.cluster.deadlocks(), 0)


def test_withhold_ends_what_is_too_much_and_a_refused_one_leaves_room(t):
    w = world(t, cap="{ most: 2, in: 1h, per: recipient, then: withhold }", dispatchers=0)
    w.dispatcher()
    w.post(place("o-1", "c1", "rcpt550+a@example.net"))
    all_ended(w)
    eq(states(w), {3: 1})
    w.post(*[place(f"o-{n}", "c1", f"a{n}@example.net") for n in range(2, 8)])
    all_ended(w)
    eq((states(w), w.sink.count()), ({2: 2, 3: 1, 5: 4}, 2))
    eq(w.cluster.query("SELECT DISTINCT reason FROM pawl.deliveries WHERE state = 5"), [("cap one/2/3600/recipient/email",)])
    w.counted(4, "pawl_gates_total", gate="cap", result="withheld")
    w.post(place("o-8", "c2", "b@example.net"))
    all_ended(w)
    eq(w.sink.count(), 3, "another recipient has slots of their own")


def test_without_an_id_one_address_is_one_recipient_however_it_is_written(t):
    w = world(t, cap="{ most: 1, in: 1h, per: recipient, then: withhold }", dispatchers=0)
    w.dispatcher()
    w.post(place("o-1", None, "Ann@Example.net"))
    all_ended(w)
    w.post(place("o-2", None, "ann@example.NET"), place("o-3", None, "bob@example.net"), place("o-4", None, "Ann <ann@example.net>"))
    all_ended(w)
    eq(states(w), {2: 2, 5: 2})


def test_limits_count_all_messages_of_an_order_and_exempt_ones_are_free(t):
    for exempt, want in [("", {2: 1, 5: 1}), ("exempt: [two]", {2: 2})]:
        w = world(t, limits="limits: [{ most: 1, in: 1h, per: order, then: withhold }]\n" + exempt)
        w.post(place("o-1", "c1", "a@example.net"))
        all_ended(w)
        w.post(place("o-1", "c1", "a@example.net", "s2"))
        all_ended(w)
        eq(states(w), want, exempt)


def test_tries_of_one_message_count_once_against_its_cap(t):
    """GSA/notifications-api#648, postal increment_live_stats: a quota counted attempts, and few messages used it up."""
    w = world(t, cap="{ most: 2, in: 1h, per: recipient, then: withhold }")
    w.post(place("o-1", "c1", "dot451-3+a@example.net"))
    all_ended(w)
    w.post(place("o-2", "c1", "dropafterdot-1+a@example.net"))
    all_ended(w)
    w.post(place("o-3", "c1", "b@example.net"))
    all_ended(w)
    eq((states(w), w.cluster.value("SELECT count(*) FROM pawl.attempts")), ({2: 2, 5: 1}, 4 + 2))
    eq(w.cluster.value("SELECT count(*) FROM pawl.cap_slots"), 2)


def test_what_is_unknown_keeps_its_slot(t):
    w = world(t, cap="{ most: 1, in: 1h, per: recipient, then: withhold }", dispatchers=0)
    w.set_policy(POLICY.replace("@CAP@", "cap: [{ most: 1, in: 1h, per: recipient, then: withhold }]").replace("@LIMITS@", "")
                 .replace("at-least-once", "at-most-once"))
    w.must("policy", "apply")
    w.dispatcher()
    w.post(place("o-1", "c1", "dropafterdot+a@example.net"))
    all_ended(w)
    w.post(place("o-2", "c1", "b@example.net"))
    all_ended(w)
    eq((states(w), w.sink.count()), ({5: 1, 9: 1}, 1))


def test_a_killed_dispatcher_keeps_no_slot_and_frees_none_that_was_used(t):
    t.need_faults()
    w = world(t, cap="{ most: 1, in: 1h, per: recipient, then: withhold }", dispatchers=0)
    w.post(place("o-1", "c1", "a@example.net"))
    one = w.dispatcher(wait=False, fault="crash@claim.before_commit:1")  # it may be gone before it is ready
    eventually(lambda: not one.proc.alive(), 15, "it is gone before the commit")
    w.ended.append(w.dispatchers.pop())
    w.dispatcher()
    all_ended(w)
    w.post(place("o-2", "c1", "b@example.net"))
    all_ended(w)
    eq((states(w), w.sink.count()), ({2: 1, 5: 1}, 1))


def test_a_claim_takes_all_its_slots_in_one_order(t):
    # One of the two messages has a gate to ask before its cap: rivals that wait for one another would be a deadlock.
    quiet = time.strftime("%H", time.gmtime(time.time() + 6 * 3600))
    policy = (POLICY.replace("@CAP@", "").replace("@LIMITS@", "limits: [{ most: 1, in: 1h, per: recipient, then: withhold }]")
              .replace('    once: "two/', f'    quiet: {{ from: "{quiet}:00", to: "{quiet}:59" }}\n    once: "two/'))
    w = t.world(policy=policy)
    for contact in ("c1", "c2", "c3"):
        w.post(place("o-" + contact, contact, "a@example.net"))
    w.post(place("o-c3", "c3", "a@example.net", "s2"))
    all_ended(w)  # from now on the zones are known
    order = ("SELECT s.bucket, s.cap, n.order_id FROM pawl.cap_slots s JOIN pawl.notifications n USING (notification_id)"
             " WHERE n.order_id <> 'o-c3' ORDER BY 1, 2")
    (low, low_cap, low_order), (high, high_cap, high_order) = w.cluster.query(order)
    w.breaks["caps-kept"] = "the slots of the first two are taken away, so that there are some to race for"
    w.cluster.query("DELETE FROM pawl.cap_slots")
    w.must("pause", "all", "--reason", "so that one claim takes both")
    w.post(place(low_order, low_order[2:], "a@example.net", "s2"))
    w.post(place("o-4", high_order[2:], "a@example.net"))
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.due WHERE lane < 0") == 2, 10, "both are held")
    rival = w.cluster.connect(autocommit=False)
    take = ("INSERT INTO pawl.cap_slots (bucket, nth, cap, of_bucket, notification_id, channel, redrive, taken_at, in_ms)"
            " SELECT %s, 0, %s, bucket, notification_id, channel, redrive, now(), 3600000 FROM pawl.deliveries WHERE state = 2 LIMIT 1")
    rival.cursor().execute(take, (low, low_cap))
    w.must("resume", "all")
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'pawl_dispatcher'"
    eventually(lambda: w.cluster.value(waits) == 1, 15, "the claim waits for the rival")
    rival.cursor().execute(take, (high, high_cap))
    rival.rollback()
    all_ended(w)
    eq(w.metric("pawl_db_errors_total"), 0)


def test_a_claim_that_waits_for_a_slot_holds_none_that_it_settles(t):
    # What it would settle another claim may have on its way, behind a slot that this one has.
    w = world(t, limits="limits: [{ most: 1, in: 1h, per: recipient, then: withhold }]")
    w.post(place("o-1", "c1", "a@example.net"), place("o-2", "c2", "a@example.net"))
    all_ended(w)
    (free, free_cap, _), (held, held_cap, held_order) = w.cluster.query(
        "SELECT s.bucket, s.cap, n.order_id FROM pawl.cap_slots s JOIN pawl.notifications n USING (notification_id) ORDER BY 1, 2")
    w.breaks["caps-kept"] = "the slot of the first one is taken away, so that there is one to race for"
    w.cluster.query("DELETE FROM pawl.cap_slots WHERE bucket = %s AND cap = %s", (free, free_cap))
    w.cluster.query("UPDATE pawl.cap_slots SET used_at = NULL")  # its delivery has ended, and nobody saw to it yet
    w.must("pause", "all", "--reason", "so that one claim asks for both")
    w.post(place("o-3", "c1", "a@example.net"), place("o-4", "c2", "a@example.net"))
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.due WHERE lane < 0") == 2, 10, "both are held")
    rival = w.cluster.connect(autocommit=False)
    rival.cursor().execute("INSERT INTO pawl.cap_slots (bucket, nth, cap, of_bucket, notification_id, channel, redrive, taken_at, in_ms)"
                           " SELECT %s, 0, %s, bucket, notification_id, channel, redrive, now(), 3600000 FROM pawl.deliveries WHERE state = 2"
                           " LIMIT 1", (free, free_cap))
    w.must("resume", "all")
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'pawl_dispatcher'"
    eventually(lambda: w.cluster.value(waits) == 1, 15, "the claim waits for the rival")
    rival.cursor().execute("SELECT FROM pawl.cap_slots WHERE bucket = %s AND cap = %s FOR UPDATE NOWAIT", (held, held_cap))
    rival.rollback()
    all_ended(w)
    eq((states(w), w.metric("pawl_db_errors_total")), ({2: 3, 5: 1}, 0))
    eq(w.cluster.value("SELECT n.order_id FROM pawl.deliveries d JOIN pawl.notifications n USING (notification_id) WHERE d.state = 5"),
       {"o-1": "o-3", "o-2": "o-4"}[held_order], "asked again it was settled, and full")


def test_a_rival_that_rolls_back_causes_no_wrong_end(t):
    rival_rolls_back(t, "withhold")


def test_a_rival_that_rolls_back_defers_nothing_for_a_window(t):
    rival_rolls_back(t, "defer")


def rival_rolls_back(t, then):
    """It takes the only slot, and gives up: who waited for it meanwhile is sent at once, neither withheld nor deferred for the hour."""
    w = world(t, cap=f"{{ most: 1, in: 1h, per: recipient, then: {then} }}", dispatchers=0)
    w.post(place("o-1", "c1", "a@example.net"))
    w.dispatcher()
    all_ended(w)
    bucket, cap = w.cluster.query("SELECT bucket, cap FROM pawl.cap_slots")[0]
    w.dispatchers[0].stop()
    w.ended.append(w.dispatchers.pop())
    w.cluster.query("DELETE FROM pawl.cap_slots")
    w.breaks["caps-kept"] = "the first one's slot is taken away, so that there is one to race for"
    rival = w.cluster.connect(autocommit=False)
    rival.cursor().execute("INSERT INTO pawl.cap_slots (bucket, nth, cap, of_bucket, notification_id, channel, redrive, taken_at, in_ms)"
                           " SELECT %s, 0, %s, bucket, notification_id, channel, redrive, now(), 3600000 FROM pawl.deliveries", (bucket, cap))
    w.dispatcher()
    w.post(place("o-2", "c1", "b@example.net"))
    time.sleep(1)
    eq(states(w), {0: 1, 2: 1}, "it waits for the rival")
    rival.rollback()
    all_ended(w)
    eq((states(w), w.sink.count()), ({2: 2}, 2))
