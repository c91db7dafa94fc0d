"""The dispatcher alone: rows put in by SQL, what leaves by a real SMTP server's own count."""
import json
import signal
import time

from harness import *
from kit.deliveries import LANE, ORDERS, POLICY, Rows, ended, setup
from kit.procs import SLOW


def test_one_due_row_makes_one_mail_with_derived_headers(t):
    w, sink, rows = setup(t)
    w.set_template("least", "html", "<p>{{#data}}{{note}}{{/data}}</p>\n")
    w.must("policy", "apply")
    rows = Rows(w)
    nid = rows.add("least", "ann@example.net", order="1001")
    ended(rows, nid, 2)
    eq(sink.count("ann@example.net"), 1)
    mail = sink.mails("ann@example.net")[0]
    text = json.dumps(mail)
    for part in ("least 1001", "Order 1001: least.", "&lt;b&gt;&amp;", "notify@example.net", "@example.net"):
        check(part in text, f"{part!r} is in {text}")
    eq(rows.delivery(nid)[:4], (2, 1, 0, 0))
    eq(rows.outcomes(nid), [1])
    eq(rows.left(), (0, 0, 0))
    eq(rows.cluster.value("SELECT count(*) FROM pawl.contents"), 1)
    w.counted(1, "pawl_attempts_total", outcome="accepted")
    w.counted(1, "pawl_deliveries_total", end="accepted")


def test_a_soft_refusal_is_tried_again_with_the_same_content(t):
    for kind in ORDERS:
        w, sink, rows = setup(t)
        nid = rows.add(kind, "rcpt451-2@example.net")
        ended(rows, nid, 2)
        eq(rows.outcomes(nid), [3, 3, 1], kind)
        eq(rows.delivery(nid)[:4], (2, 3, 0, 0), kind)
        eq(rows.cluster.value("SELECT count(*) FROM pawl.contents"), 1)
        eq(sink.count(), 1, kind)


def test_a_hard_refusal_ends_it(t):
    w, sink, rows = setup(t)
    nid = rows.add("least", "rcpt550@example.net")
    ended(rows, nid, 3)
    eq(rows.outcomes(nid), [2])
    eq((sink.count(), rows.left()), (0, (0, 0, 0)))


def test_a_lost_reply_is_unknown_for_ever_or_sent_again_as_a_possible_duplicate(t):
    w, sink, rows = setup(t)
    most, least = rows.add("most", "dropafterdot-1+m@example.net"), rows.add("least", "dropafterdot-1+l@example.net")
    ended(rows, most, 9)
    ended(rows, least, 2)
    eq(rows.outcomes(most), [4])
    eq(rows.outcomes(least), [4, 1])
    eq(rows.delivery(least)[:4], (2, 2, 1, 1))
    eq((sink.count("dropafterdot-1+m@example.net"), sink.count("dropafterdot-1+l@example.net")), (1, 2))
    eq(rows.cluster.query("SELECT step, possible_duplicate FROM pawl.attempts WHERE notification_id = %s ORDER BY 1", (least,)),
       [(1, False), (2, True)])
    eq(rows.left(), (0, 0, 1))
    w.counted(1, "pawl_possible_duplicates_total")


def test_a_message_whose_stored_content_is_gone_is_dead_or_unknown_after_a_try_in_doubt(t):
    w, sink, rows = setup(t, edit=lambda text: text.replace("[100ms, 200ms]", "[1m]"))
    refused, doubtful = rows.add("least", "rcpt451-1+r@example.net"), rows.add("least", "dropafterdot-1+l@example.net")
    eventually(lambda: [rows.delivery(n)[:2] for n in (refused, doubtful)] == [(0, 1)] * 2, 10, "each was tried once")
    w.breaks["all"] = "the contents are gone"
    rows.cluster.query("TRUNCATE pawl.contents")
    rows.cluster.query("UPDATE pawl.due SET due_at = now()")
    for nid, state in ((refused, 8), (doubtful, 9)):
        ended(rows, nid, state)
        check("stored content is gone" in rows.delivery(nid)[4], rows.delivery(nid)[4])
    eq(sink.count(), 1)


def test_what_expired_or_cannot_be_rendered_never_leaves(t):
    w, sink, rows = setup(t)
    late = rows.add("least", "ann@example.net", expires="-1 second")
    never = rows.add("least", "ann@example.net", retry="-1 second")
    w.set_template("most", "text", "{{#event}}{{order.colour}}{{/event}}\n")
    w.must("policy", "apply")
    dead = Rows(w).add("most", "ann@example.net")
    ended(rows, late, 4)
    ended(rows, dead, 8)
    ended(rows, never, 2)  # retry_until before created_at: a message without retries; its first try is due all the same
    check("order.colour" in rows.delivery(dead)[4], f"the reason names the value: {rows.delivery(dead)[4]}")
    eq((sink.count(), rows.left()), (1, (0, 0, 0)))
    eq(rows.delivery(late)[1], 0)


def test_a_due_row_of_another_step_is_only_dropped(t):
    w, sink, rows = setup(t)
    done = rows.add("least", "ann@example.net")
    ended(rows, done, 2)
    rows.cluster.query("INSERT INTO pawl.due VALUES (1, %s, now(), %s, 1, 0, 0, '')", (LANE, done))
    eventually(lambda: rows.left() == (0, 0, 0))
    eq((sink.count(), rows.delivery(done)[1]), (1, 1))


def test_a_claim_of_many_is_rendered_and_marked_part_by_part(t):
    w, sink, rows = setup(t, dispatchers=0, host={"dispatcher": {"transfers": 400, "lease": "60s"}})
    sent = [rows.add(("most", "least")[n % 2], f"m{n}@example.net") for n in range(230)]
    late = [rows.add("least", f"late{n}@example.net", expires="-1 second") for n in range(110)]
    w.dispatcher()
    eventually(lambda: rows.left()[:2] == (0, 0), 30, "nothing is due or claimed")
    eq({rows.state(nid) for nid in sent}, {2})
    eq({rows.delivery(nid)[:2] for nid in late}, {(4, 0)})
    eq(sink.by_rcpt(), {f"m{n}@example.net": 1 for n in range(230)})
    eq(rows.cluster.query("SELECT count(*), count(DISTINCT claim_id), count(DISTINCT notification_id), sum(outcome) FROM pawl.attempts"),
       [(230, 1, 230, 230)], "one claim, a record of each")
    eq(rows.cluster.query("SELECT count(*), count(DISTINCT notification_id) FROM pawl.contents"), [(230, 230)], "stored once each")


def test_low_lanes_move_while_high_ones_are_full(t):
    w, sink, rows = setup(t, host={"dispatcher": {"transfers": 2, "poll": "20ms", "lease": "2s"}}, dispatchers=0)
    for i in range(120):
        rows.add("least", f"h{i}@example.net", lane=10)
    low = rows.add("least", "low@example.net", lane=12)
    w.dispatcher()
    ended(rows, low, 2)
    check(sink.count() < 110, f"low lane came after {sink.count()} of 120 high ones")


def test_a_stopped_worker_loses_its_lease_and_its_record_is_refused(t):
    t.need_faults()
    w, sink, rows = setup(t, dispatchers=0)
    first = w.dispatcher(fault="stop@wire.after_body:1")
    most = rows.add("most", "ann@example.net")
    eventually(first.proc.frozen, 10, "the first dispatcher stops itself")
    w.dispatcher()
    ended(rows, most, 9)
    first.thaw()
    eventually(lambda: first.metric("pawl_stale_records_total") == 1, 10, "the stale record is refused")
    eq(rows.outcomes(most), [4])
    eq(rows.state(most), 9)
    eq(sink.count("ann@example.net"), 1)
    eq(rows.left(), (0, 0, 1))
    w.counted(1, "pawl_takeovers_total")


def test_stopped_after_the_claims_commit_it_starts_nothing_when_its_lease_is_gone(t):
    t.need_faults()
    for kind in ORDERS:
        w, sink, rows = setup(t, dispatchers=0)
        first = w.dispatcher(fault="stop@claim.after_commit:1")
        nid = rows.add(kind, "ann@example.net")
        eventually(first.proc.frozen, 10, "the first dispatcher stops itself")
        w.dispatcher()
        ended(rows, nid, 9 if kind == "most" else 2)
        first.thaw()
        eventually(lambda: first.metric("pawl_stale_records_total") == 1, 10, "what it gives back is refused")
        eq(sink.count(), 0 if kind == "most" else 1, kind)
        eq(rows.outcomes(nid), [4] if kind == "most" else [4, 1], kind)


def test_sigterm_lets_end_what_flies_and_gives_back_what_did_not_start(t):
    t.need_faults()
    w, sink, rows = setup(t, dispatchers=0)
    one = w.dispatcher()
    slow = rows.add("most", "slow@example.net")
    eventually(lambda: rows.state(slow) == 1)
    time.sleep(0.3)
    eq(one.stop(), 0)
    eq(rows.outcomes(slow), [1])
    two = w.restart(one, fault="stop@claim.before_commit:1")
    back = rows.add("most", "ann@example.net")
    eventually(two.proc.frozen, 10, "it stops itself before the commit")
    w.cluster.freeze()  # So that the commit is not confirmed before the signal was seen.
    two.proc.sigterm()
    two.thaw()
    eventually(lambda: "dispatcher.stopping" in two.log(), 10, "it has seen the signal")
    w.cluster.thaw()
    eq(two.proc.wait(15), 0)
    eq(rows.delivery(back)[:2], (0, 1))
    eq(rows.outcomes(back), [5])
    eq((sink.count("ann@example.net"), rows.left()), (0, (1, 0, 0)))
    w.restart(two)
    ended(rows, back, 2)
    eq(sink.count("ann@example.net"), 1)


def test_the_end_of_the_grace_time_cuts_off_and_records_it_as_unknown(t):
    w, sink, rows = setup(t, host={"dispatcher": {"transfers": 50, "poll": "20ms", "lease": "20s", "grace": "500ms"}}, dispatchers=0)
    one = w.dispatcher()
    most, least = rows.add("most", "silentafterdot+m@example.net"), rows.add("least", "silentafterdot+l@example.net")
    eventually(lambda: sink.count() == 2)
    start = time.monotonic()
    eq(one.stop(), 0)
    check(time.monotonic() - start < 1.5 * SLOW, "it ended within the grace time")
    eq((rows.state(most), rows.state(least)), (9, 0))
    eq((rows.outcomes(most), rows.outcomes(least)), ([4], [4]))
    eq(rows.left(), (1, 0, 1))


def test_a_lost_answer_to_the_claims_commit_gives_its_members_back(t):
    w, sink, rows = setup(t)
    for i in range(200):
        rows.add("most", f"n{i}@example.net")
        if i % 20 == 0:
            rows.cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pawl dispatcher'")
    done = "SELECT count(*) FROM pawl.deliveries WHERE state IN (2, 9)"
    eventually(lambda: rows.cluster.value(done) == 200, 20, "all ended")
    check(max(sink.by_rcpt().values()) == 1, "no at-most-once mail twice")
    eq(rows.cluster.value("SELECT count(*) FROM (SELECT 1 FROM pawl.attempts GROUP BY notification_id, step HAVING count(*) > 1) x"), 0)


def test_a_database_that_is_gone_comes_back_without_a_restart(t):
    w, sink, rows = setup(t)
    slow = rows.add("most", "slow@example.net")
    eventually(lambda: rows.state(slow) == 1)
    rows.cluster.stop()
    eventually(lambda: w.dispatchers[0].admin("/readyz").status == 503, 5, "readiness says so")
    time.sleep(2)
    rows.cluster.start()
    eventually(lambda: rows.state(slow) in (2, 9), 10, "the kept result is recorded, or its lease was taken over")
    nid = rows.add("most", "ann@example.net")
    ended(rows, nid, 2)


def test_many_dispatchers_send_each_mail_once(t):
    w, sink, rows = setup(t, dispatchers=0)
    for i in range(300):
        rows.add("most" if i % 2 else "least", f"n{i}@example.net")
    for _ in range(3):
        w.dispatcher(wait=False)
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state = 2") == 300, 20)
    eq(len(sink.by_rcpt()), 300)
    eq(set(sink.by_rcpt().values()), {1})
    eventually(lambda: rows.left() == (0, 0, 0))


def test_a_new_version_with_another_provider_holds_for_what_waits(t):
    w, sink, rows = setup(t)
    nid = rows.add("least", "rcpt451-1@example.net")
    ended(rows, nid, 2)
    other = t.sink()
    w.sink = other
    w.set_policy(POLICY)
    w.must("policy", "apply")
    old = rows.add("least", "ann@example.net")  # its notification remembers version 1
    ended(rows, old, 2)
    eq((sink.count(), other.count("ann@example.net")), (1, 1))


def test_credentials_are_read_again_on_sighup_and_a_wrong_one_ends_nothing(t):
    sink = t.sink(tls="starttls", auth="shop:right")
    w = t.pawl(t.cluster(), sink, policy=POLICY)
    w.set_credential("smtp-password", "wrong")
    d = w.dispatcher()
    rows = Rows(w)
    nid = rows.add("most", "ann@example.net")
    eventually(lambda: 3 in rows.outcomes(nid), 10, "a try failed at the login")
    eq(rows.cluster.value("SELECT max(level) FROM pawl.attempts"), 2)
    w.set_credential("smtp-password", "right")
    d.proc.signal(signal.SIGHUP)
    ended(rows, nid, 2)
    eq(sink.count(), 1)


def test_a_record_that_fails_is_run_again(t):
    t.need_faults()
    w, sink, rows = setup(t, dispatchers=0)
    w.dispatcher(fault="fail@record.before_commit:1")
    nid = rows.add("most", "ann@example.net")
    ended(rows, nid, 2)
    eq((rows.outcomes(nid), sink.count()), ([1], 1))


def test_a_frozen_database_is_left_and_found_again(t):
    w, sink, rows = setup(t)
    rows.cluster.freeze()
    time.sleep(12)  # longer than the loop waits for an answer
    eq(w.dispatchers[0].admin("/livez").status, 200)
    eq(w.dispatchers[0].admin("/readyz").status, 503)
    rows.cluster.thaw()
    nid = rows.add("most", "ann@example.net")
    ended(rows, nid, 2)


def test_few_free_transfers_are_enough_when_the_others_hang(t):
    w, sink, rows = setup(t, host={"dispatcher": {"transfers": 20, "poll": "20ms", "lease": "20s", "grace": "100ms"}}, dispatchers=0)
    for i in range(19):
        rows.add("most", f"silentafterdot+{i}@example.net", lane=10)
    nids = [rows.add("most", f"n{i}@example.net") for i in range(40)]
    w.dispatcher()
    eventually(lambda: all(rows.state(n) == 2 for n in nids), 20, "the one free transfer carries the rest")


def test_exit_codes_say_what_was_wrong_at_the_start(t):
    w, sink, rows = setup(t)
    status, _, said = w.run("dispatcher", "--config", w.dispatchers[0].config)
    eq(status, 69, said)
    status, _, said = w.run("dispatcher", "--config", "/nonexistent/pawl.yaml")
    eq(status, 78, said)


def test_a_provider_that_begins_to_fail_is_said_once_and_so_is_its_recovery(t):
    w, sink, rows = setup(t)
    program = w.dispatchers[0]
    sink.stop()
    nids = [rows.add("most", f"n{i}@example.net") for i in range(5)]
    eventually(lambda: sum(rows.delivery(nid)[1] for nid in nids) >= 6, 10, "each was tried, one a second time")
    ready = program.admin("/readyz")
    eq((ready.status, json.loads(ready.body)["status"]), (200, "degraded"))
    bad = [c for c in json.loads(ready.body)["checks"] if not c["ok"]]
    eq([c["name"] for c in bad], ["provider_email_smtp"])
    check("can't connect" in bad[0]["detail"], bad)
    sink.start()
    for nid in nids:
        ended(rows, nid, 2)
    ready = program.admin("/readyz")
    eq((ready.status, json.loads(ready.body)["status"]), (200, "ready"))
    log = program.log()
    eq([log.count(event) for event in ("provider.failing", "provider.recovered")], [1, 1])
    check("can't connect" in log, "the reason is said")
