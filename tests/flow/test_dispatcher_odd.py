"""The dispatcher where something else went wrong: a result the database refuses, a lease lost in mid-air, a channel that is gone."""
import os
import sys
import threading
import time

from harness import *
from kit.deliveries import POLICY, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from mail_server import SHORT, Mailbox, against, all_ended  # noqa: E402


def test_a_result_that_the_database_refuses_costs_the_others_nothing(t):
    server = Mailbox(t, lambda what, address, _: b"550 5.9.9 odd" if what == "RCPT" and address.startswith("odd") else True)
    w, rows = against(t, server, dispatchers=0, host=SHORT)
    for name, in rows.cluster.query("SELECT relname FROM pg_class WHERE relname ~ '^attempts(_[0-9]+)?$' AND relkind = 'r'"):
        rows.cluster.query(f"ALTER TABLE pawl.{name} ADD CHECK (enhanced IS DISTINCT FROM '5.9.9')")
    odd = rows.add("most", "odd@example.net")
    nids = [rows.add("most" if i % 2 else "least", f"n{i}@example.net") for i in range(20)]
    d = w.dispatcher()
    all_ended(rows, 21)
    eq({rows.state(n) for n in nids}, {2})
    eq((rows.state(odd), rows.outcomes(odd)), (9, [4]), "nobody knows, once its lease has run out")
    check("record.poison" in d.log(), "it is said")
    eq(set(server.counts().values()), {1})


def test_a_lease_that_was_lost_in_mid_air_is_noticed_and_what_comes_then_is_dropped(t):
    go_on = threading.Event()

    def reply(what, *_):
        if what == ".":
            go_on.wait(30)
        return True
    server = Mailbox(t, reply)
    w, rows = against(t, server, dispatchers=0, host=SHORT)
    first = w.dispatcher()
    nid = rows.add("most", "m@example.net")
    eventually(lambda: server.counts(), 10, "it is on the wire")
    first.freeze()
    w.dispatcher()
    ended(rows, nid, 9)
    first.thaw()
    eventually(lambda: "claim.lost" in first.log(), 10, "the first worker notices")
    go_on.set()
    eventually(lambda: first.metric("pawl_stale_records_total") == 1, 10, "its record is refused")
    eq((rows.outcomes(nid), server.counts()), ([4], {"m@example.net": 1}))


def test_a_claim_that_ends_while_leases_are_renewed_keeps_its_own(t):
    """The renewal waits for a lock, on the one connection; over the other the next claim commits meanwhile."""
    go_on = threading.Event()
    server = Mailbox(t, lambda what, *_: what != "." or go_on.wait(30))
    w, rows = against(t, server, dispatchers=0, host={"dispatcher": {"transfers": 50, "poll": "20ms", "lease": "6s"}})
    d = w.dispatcher()
    nids = [rows.add("most", "first@example.net")]
    eventually(lambda: len(server.counts()) == 1, 10, "it is on the wire")
    lease = rows.cluster.value("SELECT lease_until FROM pawl.claims")
    rival = t.keep(rows.cluster.connect(autocommit=False))
    rival.cursor().execute("SELECT FROM pawl.claims FOR UPDATE")
    waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'pawl_dispatcher'"
    eventually(lambda: rows.cluster.value(waits) == 1, 10, "the renewal waits")
    nids.append(rows.add("most", "second@example.net"))
    eventually(lambda: len(server.counts()) == 2, 5, "another claim ends")
    rival.rollback()
    renewed = "SELECT count(*) FROM pawl.claims WHERE lease_until > %s + interval '7 s'"
    eventually(lambda: rows.cluster.value(renewed, (lease,)) == 2, 10, "both are renewed from then on")
    go_on.set()
    for nid in nids:
        ended(rows, nid, 2)
    check("claim.lost" not in d.log(), "no lease was lost")
    eq((w.metric("pawl_takeovers_total"), w.metric("pawl_stale_records_total")), (0, 0))


def test_what_waits_for_a_channel_that_is_gone_goes_when_it_is_back(t):
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0)
    nids = [rows.add(kind, f"{kind}@example.net") for kind in ("most", "least")]
    w.set_policy(POLICY[:POLICY.index("channels:")])
    w.must("policy", "apply")
    w.dispatcher()
    for nid in nids:
        eventually(lambda n=nid: 3 in rows.outcomes(n), 10, "a try without a provider")
    eq(rows.cluster.query("SELECT DISTINCT level FROM pawl.attempts"), [(2,)])
    time.sleep(0.5)
    eq(server.counts(), {})
    w.set_policy(POLICY)
    w.must("policy", "apply")
    for nid in nids:
        ended(rows, nid, 2)
    eq(set(server.counts().values()), {1})


def test_nothing_is_sent_that_could_not_be_recorded(t):
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0, host=SHORT)
    rows.cluster.query("ALTER ROLE pawl_dispatcher CONNECTION LIMIT 1")
    nid = rows.add("least", "l@example.net")
    d = w.dispatcher(wait=False)
    eventually(lambda: d.log().count("database.unreachable") >= 2, 10, "the second connection is refused")
    eq((rows.left()[:2], server.counts()), ((1, 0), {}), "nothing is claimed or sent")
    rows.cluster.query("ALTER ROLE pawl_dispatcher CONNECTION LIMIT -1")
    ended(rows, nid, 2)
    eq(server.counts(), {"l@example.net": 1})
