"""The answer to a COMMIT is lost, or the COMMIT itself: whoever can't know does it again without a second effect."""
import os
import sys

from harness import *
from kit.pg_proxy import LATER, PgProxy

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from rig import (ACCEPTED, POLICY, T_ACCEPTED, T_BACK, Acknowledged, all_done, both_at_once, delivery,  # noqa: E402
                 events, everything_holds, message, messages_kept_their_promise, step)

# A text of one statement of the transaction that is cut.
ACCEPT, CLAIM, RECORD, TAKEOVER = "INSERT INTO keys", "INSERT INTO claims", "RETURNING u.*, d.lane", "the lease ran out"
CUTS = 4


def town(t, policy=POLICY, **how):
    """A running world whose programs reach the database through the proxy."""
    return t.world(cluster=t.keep(PgProxy(t.migrated_cluster())), policy=policy, **how)


def was_cut(rule):
    eventually(lambda: rule.cut == CUTS, 10, f"{CUTS} transactions are cut")


def outcomes(cluster, outcome):
    return cluster.value("SELECT count(*) FROM pawl.attempts WHERE outcome = %s", (outcome,))


def accept_rounds(t, carried_out):
    """Two copies of each event at the same time while commits are cut, later a third: who is told what."""
    w = town(t, dispatchers=0)
    rule = w.cluster.cut(ACCEPT, CUTS, carried_out)
    first = [step(f"o{n}", "s1") for n in range(60)]
    answers = w.post(*[r for r in first for _ in range(2)], connections=4, again=True)
    eq(rule.cut, CUTS, "transactions that were cut")
    check(all(a.tries == 1 for a in answers), "a copy was told 503 or nothing")
    eq({a.status for a in answers}, {200})
    told_first = [a.request.tag for a in answers if "idempotency-replayed" not in a.headers]
    eq(sorted(told_first), sorted(r.tag for r in first), "events told once as accepted")
    later = w.post(*first)
    check(all(a.headers.get("idempotency-replayed") == "true" for a in later), "a later copy was told as the first")
    eq(w.cluster.query("SELECT event_id FROM pawl.repeats GROUP BY 1 HAVING count(DISTINCT arrival) <> 2"), [], "repeats of an event")
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats r JOIN pawl.keys k USING (arrival)"), 0, "the first among its repeats")
    acknowledged = Acknowledged()
    acknowledged.add(answers + later)
    acknowledged.is_kept(w.cluster)
    eq(w.cluster.query("SELECT order_id FROM pawl.moves WHERE outcome = 1 GROUP BY 1 HAVING count(*) > 1"), [], "moved twice")
    eq(w.cluster.value("SELECT count(*) FROM pawl.deliveries"), len(first))


def test_a_webhook_whose_commit_got_no_answer_is_told_once_as_accepted(t):
    accept_rounds(t, carried_out=True)


def test_a_webhook_whose_commit_never_reached_the_database_is_told_once_as_accepted(t):
    accept_rounds(t, carried_out=False)


def test_a_copy_with_another_body_whose_commit_got_no_answer_is_kept_once(t):
    w = town(t, dispatchers=0)
    eq(w.post(step("o1", "s1")).status, 200)
    rule = w.cluster.cut(ACCEPT, 1, carried_out=True)
    event = w.cluster.value("SELECT event_id FROM pawl.keys")
    eq(w.post(app_request(secret("shop"), event, "step.s1", "o2")).status, 422)
    eq((rule.cut, w.cluster.value("SELECT count(*) FROM pawl.repeats"), w.cluster.value("SELECT count(*) FROM pawl.bodies WHERE outcome = 3")),
       (1, 1, 1))


def dispatch_rounds(t, text, carried_out):
    """Load while commits of the dispatcher are cut; every message must be taken exactly once."""
    # Nothing but a lost commit has anything given back: no message waits for a transfer, and no lease runs short.
    w, acknowledged = town(t, host={"dispatcher": {"transfers": 50, "lease": "20s"}}), Acknowledged()
    rule = w.cluster.cut(text, CUTS, carried_out)
    for part in range(2 * CUTS):  # Each is claimed and recorded apart from the others, and what was cut once more.
        acknowledged.add(w.post(*events(f"l{part}", 10)))
        all_done(w.cluster, 10, "after the cuts")
    was_cut(rule)
    everything_holds(w, acknowledged, exactly=True)
    eq(w.dispatchers[0].metric("pawl_stale_records_total"), 0, "a lost answer is not staleness")
    return w


def test_a_claim_whose_commit_got_no_answer_is_given_back_as_never_sent(t):
    w = dispatch_rounds(t, CLAIM, carried_out=True)
    check(outcomes(w.cluster, T_BACK) >= CUTS, "nothing was given back")


def test_a_claim_that_is_still_being_committed_when_its_connection_breaks_is_given_back_as_never_sent(t):
    cluster = t.migrated_cluster()
    cluster.query("CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END'")
    cluster.query("CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON pawl.claims DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE"
                  " FUNCTION slow()")
    w = t.world(cluster=t.keep(PgProxy(cluster)), policy=POLICY, host={"dispatcher": {"lease": "20s"}})
    rule = w.cluster.cut(CLAIM, 1, LATER)
    order = message(w, "most", "most@example.net")
    eventually(lambda: rule.cut == 1, 10, "the claim's connection is cut")
    all_done(w.cluster, 15, "after the cut")
    eq(delivery(w.cluster, "most", order), ((ACCEPTED, 2, 0), [T_BACK, T_ACCEPTED]))
    eq(len(w.sink.mails()), 1)
    eq(w.dispatchers[0].metric("pawl_stale_records_total"), 0, "a lost answer is not staleness")


def test_a_claim_whose_commit_never_reached_the_database_leaves_no_trace(t):
    w = dispatch_rounds(t, CLAIM, carried_out=False)
    eq(outcomes(w.cluster, T_BACK), 0, "given back")


def test_what_a_claim_that_failed_had_taken_waits_no_longer_for_being_old(t):
    w = town(t, dispatchers=0)
    for n in range(3):
        eq(w.post(step(f"o{n}", "s1")).status, 200)
    w.cluster.query("UPDATE pawl.due SET due_at = now() - n * interval '60 s' FROM (SELECT ctid AS c, row_number() OVER () AS n"
                    " FROM pawl.due) x WHERE ctid = c")
    rule = w.cluster.cut(CLAIM, 1, carried_out=False)
    w.dispatcher()
    eventually(lambda: rule.cut == 1, 10, "the claim is cut")
    all_done(w.cluster, 10, "after the cut")
    eq(len(w.sink.mails()), 3)


def test_a_record_whose_commit_got_no_answer_is_made_again_without_a_second_effect(t):
    dispatch_rounds(t, RECORD, carried_out=True)


def test_a_record_whose_commit_never_reached_the_database_is_made_again(t):
    dispatch_rounds(t, RECORD, carried_out=False)


def test_a_record_of_a_try_that_another_follows_makes_it_due_once_though_its_commits_got_no_answer(t):
    w = town(t, both_at_once(POLICY), host={"dispatcher": {"transfers": 8, "lease": "20s"}})
    rule = w.cluster.cut(RECORD, CUTS, carried_out=True)
    orders = [f"o{n}" for n in range(3 * CUTS)]
    for part in range(3):  # Each has five steps, so at least five records, however many messages one of them takes along.
        w.post(*[step(o, "s1", f"rcpt451-4+{o}@example.net") for o in orders[part::3]])
        all_done(w.cluster, 20, "after the cuts")
    was_cut(rule)
    eq(messages_kept_their_promise(w.cluster, w.sink, exactly=True), 2 * len(orders))
    eq(w.cluster.value("SELECT sum(tries) FROM pawl.deliveries"), (2 + 4) * len(orders), "steps")


def test_a_takeover_whose_commit_got_no_answer_judges_its_members_once(t):
    t.need_faults()
    for carried_out in (True, False):
        w = town(t, both_at_once(POLICY), dispatchers=0)
        dead = w.dispatcher(fault="crash@wire.after_body:2")
        rule = w.cluster.cut(TAKEOVER, 1, carried_out)
        eq(w.post(step("o1", "s1", "slow@example.net")).status, 200)  # so slow that none has ended when the other's body is there
        eventually(lambda d=dead: not d.proc.alive(), 10, "it dies with two messages on the wire")
        w.restart(dead)
        eventually(lambda r=rule: r.cut == 1, 10, "the takeover's commit is cut")
        all_done(w.cluster, 10, "after the cut")
        messages_kept_their_promise(w.cluster, w.sink)
        eq(w.cluster.query("SELECT delivery_order, tries, possible_duplicates FROM pawl.deliveries ORDER BY 1"), [(1, 1, 0), (2, 2, 1)])


def test_a_record_that_fails_before_its_commit_is_made_again(t):
    t.need_faults()
    w, acknowledged = t.world(policy=POLICY, dispatchers=0), Acknowledged()
    w.env["PAWL_FAULT_LOG"] = os.path.join(w.dir, "passed")
    one = w.dispatcher(fault="fail@record.before_commit:1,fail@record.before_commit:2,fail@record.before_commit:3")
    acknowledged.add(w.post(*events("f", 10)))
    all_done(w.cluster, 10, "after the failures")
    everything_holds(w, acknowledged, exactly=True)
    eq(one.log().count("failed on purpose"), 3)
