"""The dispatcher and many policy versions: old ones are loaded again, broken ones hold up nobody else."""
import json
import os
import signal
import time

from harness import *
from kit.deliveries import LANE, POLICY, Rows, ended, setup


def version(w, text):
    """Applies a version whose mails say `text`; rows that remember it."""
    w.set_template("least", "text", f"{text}\n")
    w.must("policy", "apply")
    return Rows(w)


def test_messages_of_more_versions_than_are_kept_have_each_the_text_of_its_own(t):
    w, sink, _ = setup(t, dispatchers=0)
    old = [version(w, f"text of round {i}") for i in range(12)]
    nids = []
    for turn in range(2):  # what was dropped is loaded once more
        nids += [(rows, rows.add("least", f"r{i}t{turn}@example.net")) for i, rows in enumerate(old)]
    w.dispatcher()
    for rows, nid in nids:
        ended(rows, nid, 2)
    for i in range(12):
        for turn in range(2):
            mail = sink.mails(f"r{i}t{turn}@example.net")
            eq([m["parts"]["text/plain"].strip() for m in mail], [f"text of round {i}"])
    w.counted(1, "pawl_policy_info")


def test_a_retry_finds_its_version_again_after_others_took_its_place(t):
    w, sink, _ = setup(t)
    first = version(w, "the first")
    nid = first.add("least", "rcpt451-3@example.net")
    eventually(lambda: first.delivery(nid)[1] >= 1, 10, "its first try")
    for i in range(12):
        rows = version(w, f"text {i}")
        ended(rows, rows.add("least", f"n{i}@example.net"), 2)
    first.cluster.query("UPDATE pawl.due SET due_at = now()")
    ended(first, nid, 2, 15)
    eq(sink.mails("rcpt451-3@example.net")[0]["parts"]["text/plain"].strip(), "the first")


def test_a_version_that_cannot_be_read_holds_up_only_its_own_messages(t):
    w, sink, _ = setup(t, dispatchers=0)
    broken, fine = version(w, "broken"), version(w, "fine")
    change = "UPDATE pawl.policy_texts SET body = %s WHERE version = %s AND kind = 1"
    kept = fine.cluster.value("SELECT body FROM pawl.policy_texts WHERE version = %s AND kind = 1", (broken.policy,))
    fine.cluster.query(change, (b"pawl: [\n", broken.policy))
    waits = broken.add("least", "waits@example.net")
    goes = [fine.add("least", f"n{i}@example.net") for i in range(5)]
    d = w.dispatcher()
    for nid in goes:
        ended(fine, nid, 2)
    eventually(lambda: "policy.broken" in d.log(), 10, "it is said")
    eq(fine.delivery(waits)[:2], (0, 0), "it waits, and no try is spent")
    fine.cluster.query(change, (bytes(kept), broken.policy))
    ended(fine, waits, 2, 60)
    eq((sink.count("waits@example.net"), d.log().count("policy.broken")), (1, 1))


def test_without_its_credential_it_waits_and_says_so_until_there_is_one(t):
    sink = t.sink(tls="starttls", auth="shop:right")
    w = t.pawl(t.cluster(), sink, policy=POLICY)
    rows = Rows(w)
    path = os.path.join(w.dir, "credentials", "smtp-password")
    os.rename(path, path + ".away")
    d = w.dispatcher(wait=False)
    nid = rows.add("most", "ann@example.net")
    eventually(lambda: "smtp-password" in d.log(), 15, "the missing credential is named")
    check(not d.proc.alive() or d.admin("/readyz").status == 503, "it is not ready")
    eq((sink.count(), rows.delivery(nid)[:2]), (0, (0, 0)))
    os.rename(path + ".away", path)
    if not d.proc.alive():
        w.dispatchers.remove(d)
        w.dispatcher()
    ended(rows, nid, 2, 30)
    eq(sink.count(), 1)


def test_an_active_version_that_lacks_a_secret_is_told_once_and_the_older_goes_on(t):
    w = t.pawl(t.cluster(), t.sink(tls="starttls", auth="shop:right"), policy=POLICY)
    d, path = w.dispatcher(), os.path.join(w.dir, "credentials", "smtp-password")
    look = lambda d: (d.admin("/readyz").status, {c["name"]: (c["ok"], c["detail"]) for c in json.loads(d.admin("/readyz").body)["checks"]})
    policy = lambda d: (look(d)[0], *look(d)[1]["policy"])
    eventually(lambda: policy(d) == (200, True, "loaded"), 10)
    eq(d.metric("pawl_policy_unusable"), 0)
    os.rename(path, path + ".away")
    newer = version(w, "the newer")
    nid = newer.add("least", "ann@example.net")
    ended(newer, nid, 2)
    eventually(lambda: d.metric("pawl_policy_unusable") == 1, 10, "it can't be used")
    time.sleep(3)
    eq(d.log().count("policy.unusable"), 1, "told once")
    status, ok, detail = policy(d)
    check((status, ok) == (200, False) and "smtp-password" in detail and detail.startswith("an older version is in use: "), detail)
    fresh = w.dispatcher(wait=False)
    eventually(lambda: fresh.admin("/readyz").status == 503, 10)
    eventually(lambda: "smtp-password" in policy(fresh)[2], 10, "who starts now has none, and says why")
    eq(policy(fresh)[:2], (503, False))
    os.rename(path + ".away", path)
    for one in (d, fresh):
        eventually(lambda o=one: policy(o) == (200, True, "loaded") and o.metric("pawl_policy_unusable") == 0, 10, "all is well again")


def test_none_is_loaded_while_a_claim_stands_on_those_in_memory(t):
    """Two claims wait for locks. The main connection comes free and could load what SIGHUP asks for, but the other claims still."""
    w, _, rows = setup(t)
    d, nids, rivals = w.dispatchers[0], [], []
    eventually(lambda: d.log().count("policy.loaded") == 1, 10, "the first is loaded")
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'pawl_dispatcher'"
    for n in range(2):
        due = rows.cluster.connect(autocommit=False)
        rivals.append(t.keep(due))
        nids.append(rows.add("most", f"n{n}@example.net", due=False))
        due.cursor().execute("SELECT FROM pawl.deliveries WHERE notification_id = %s FOR UPDATE", (nids[n],))
        rows.cluster.query("INSERT INTO pawl.due VALUES (1, %s, now(), %s, 1, 0, 0, '')", (LANE, nids[n]))
        eventually(lambda: rows.cluster.value(waits) == len(nids), 10, "its claim waits")
    d.proc.signal(signal.SIGHUP)
    rivals[0].rollback()
    ended(rows, nids[0], 2)
    eq(d.log().count("policy.loaded"), 1, "none while the other claim is under way")
    rivals[1].rollback()
    ended(rows, nids[1], 2)
    eventually(lambda: d.log().count("policy.loaded") == 2, 10, "then it is")
