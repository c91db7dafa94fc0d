"""Kills and commits in doubt: what the dispatcher promises of deliveries holds whatever is killed."""
import time

from harness import *
from kit.deliveries import ended, promises_hold, setup

WAITING = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pawl dispatcher' AND wait_event = 'SyncRep'"


def _standby(cluster, name):
    """From now on a COMMIT waits for this standby ('' = for none); our own session does not."""
    cluster.query("SET synchronous_commit = local")
    cluster.set(synchronous_standby_names=name)


def _in_doubt(cluster, how):
    """Waits until a COMMIT of the dispatcher has happened without being answered, then cuts it off."""
    pid = eventually(lambda: cluster.query(WAITING), 10, "a COMMIT waits for its standby")[0][0]
    cluster.query(f"SELECT {how}(%s)", (pid,))
    eventually(lambda: (pid,) not in cluster.query(WAITING), 10, "it waits no more")  # the setting would let the COMMIT end well
    _standby(cluster, "")


def test_a_claim_whose_commit_was_not_confirmed_is_given_back_and_sent_once(t):
    for how in ("pg_terminate_backend", "pg_cancel_backend"):
        w, sink, rows = setup(t)
        _standby(rows.cluster, "nobody")
        nid = rows.add("most", "ann@example.net")
        _in_doubt(rows.cluster, how)
        ended(rows, nid, 2)
        eq((sink.count(), rows.outcomes(nid), rows.left()), (1, [5, 1], (0, 0, 0)), how)
        eq(w.metric("pawl_stale_records_total"), 0)


def test_a_record_whose_commit_was_not_confirmed_is_run_again_without_effect(t):
    # Alone in its batch the claim is gone with the record; beside one that hangs the fence still holds the second time.
    for how, beside in (("pg_terminate_backend", False), ("pg_cancel_backend", True), ("pg_terminate_backend", True)):
        w, sink, rows = setup(t, dispatchers=0, host={"dispatcher": {"transfers": 9, "poll": "20ms", "lease": "60s", "grace": "100ms"}})
        nid = rows.add("least", "slow@example.net")
        if beside:
            rows.add("most", "silentafterdot@example.net")
        w.dispatcher()
        eventually(lambda: sink.count() == (2 if beside else 1), what="both are on the wire")
        _standby(rows.cluster, "nobody")  # no renewal comes before the record: the lease is long
        _in_doubt(rows.cluster, how)
        ended(rows, nid, 2)
        other = rows.add("most", "ann@example.net")
        ended(rows, other, 2)
        time.sleep(0.3)
        eq((sink.count("slow@example.net"), rows.outcomes(nid), rows.delivery(nid)[1]), (1, [1], 1), how)
        eq(rows.left(), (0, 1 if beside else 0, 0), how)
        eq(w.metric("pawl_stale_records_total"), 0, how)


LABELS = ["claim.before_begin", "claim.after_take", "claim.before_commit", "claim.after_commit", "wire.before_start",
          "wire.after_start", "wire.after_body", "send.after_reply", "record.before_lock", "record.after_lock",
          "record.before_commit", "record.after_commit"]


@timeout(240)
def test_a_kill_at_any_label_costs_nothing_that_was_promised(t):
    t.need_faults()
    w, sink, rows = setup(t, dispatchers=0)
    count = {"most": 0, "least": 0}
    for i, label in enumerate(LABELS):
        victim = w.dispatcher(wait=False, fault=f"crash@{label}:{1 + i % 3}")
        # One batch may take all that is there: rows come until the label was passed often enough.
        for n in range(400):
            if n >= 20 and not victim.proc.alive():
                break
            kind = "least" if n % 2 else "most"
            address = ("rcpt451-1" if n == 3 else f"{kind}{i}x{n}") + f"+{label}{n}@example.net"
            rows.add(kind, address)
            count[kind] += 1
            time.sleep(0 if n < 20 else 0.02)
        victim.proc.wait(20)
        w.dispatchers.remove(victim)
        w.ended.append(victim)
    w.dispatcher()
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state IN (0, 1)") == 0, 30, "all have an end")
    promises_hold(sink, rows, count)


@timeout(120)
def test_kills_of_dispatchers_and_of_the_database_under_load(t):
    w, sink, rows = setup(t, dispatchers=2)
    count = {"most": 0, "least": 0}
    for i in range(10 if not t.long else 60):
        for n in range(40):
            kind = "least" if n % 2 else "most"
            rows.add(kind, f"{kind}{i}x{n}@example.net")
            count[kind] += 1
        if i % 4 == 3:
            rows.cluster.kill9()
            rows.cluster.start()
        else:
            victim = w.dispatchers[i % 2]
            victim.kill9()
            w.restart(victim, wait=False)
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state IN (0, 1)") == 0, 30, "all have an end")
    eventually(lambda: rows.left()[:2] == (0, 0), 10, "no due rows, no claims")
    promises_hold(sink, rows, count)
