"""One request, many events: each remembered by itself, all committed together or none."""
import hashlib
import hmac
import os
import random
import re
import signal
import sys
import threading
import time

from harness import *
from kit.pg_proxy import PgProxy

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from batch_rig import b64, count, gocardless, good, member, signed_b64, world  # noqa: E402
from ledger import Barrier, DUPLICATE, MISMATCH, PARKED, applied, bodies, keys, repeats, states  # noqa: E402


def test_250_events_of_one_request_are_250_events_of_one_commit(t):
    w = world(t)
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(250)), meta={"webhook_id": "WB1"})
    good(w.post(batch))
    eq(w.cluster.query("SELECT count(*), count(DISTINCT first_at), count(DISTINCT arrival) FROM pawl.keys"), [(250, 1, 1)])
    eq(states(w.cluster), {f"o-{n}": "s1" for n in range(250)})
    eq([b for _, b in w.cluster.query("SELECT event_id, body FROM pawl.bodies WHERE body <> ''")
        for b in [bytes(b)]], [batch.body], "the body is kept once")
    eq(count(w.cluster, "bodies"), 250)
    eq(w.must("inbox", "show", "EV249", "--raw").encode(), batch.body, "and shown with each of its events")


def test_a_batch_that_comes_again_is_250_duplicates(t):
    w = world(t)
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(250)))
    for _ in range(3):
        good(w.post(batch))
    eq((count(w.cluster, "keys"), count(w.cluster, "moves"), count(w.cluster, "bodies")), (250, 250, 250))
    eq(w.cluster.query("SELECT outcome, count(*) FROM pawl.repeats GROUP BY 1"), [(DUPLICATE, 500)])


def test_a_batch_that_comes_again_with_one_new_member_applies_just_that_one(t):
    w = world(t)
    old = [member(f"EV{n}", f"o-{n}") for n in range(20)]
    good(w.post(gocardless(*old)))
    longer = gocardless(*old[:10], member("EV-new", "o-new"), *old[10:])
    good(w.post(longer))
    eq(w.cluster.query("SELECT event_id FROM pawl.moves WHERE order_id = 'o-new'"), [("EV-new",)])
    eq((count(w.cluster, "keys"), count(w.cluster, "moves")), (21, 21))
    eq(w.cluster.query("SELECT outcome, count(*) FROM pawl.repeats GROUP BY 1"), [(DUPLICATE, 20)])
    eq(bodies(w.cluster, "EV-new"), [(1, longer.body)], "the request that brought it")


def test_one_event_in_two_different_batches_is_the_same_event(t):
    w = world(t)
    for n in range(5):
        good(w.post(gocardless(member(f"EV-{n}", f"o-{n}"), member("EV-same", "o-same"), meta={"webhook_id": f"WB{n}"})))
    eq((keys(w.cluster, "EV-same"), repeats(w.cluster, "EV-same"), repeats(w.cluster, "EV-same", MISMATCH)), (1, 4, 0))


def test_two_members_with_one_id_are_one_event_and_a_repeat(t):
    w = world(t)
    one = member("EV1", "o-1")
    good(w.post(gocardless(one, one, member("EV2", "o-2"), one)))
    eq((keys(w.cluster, "EV1"), repeats(w.cluster, "EV1"), count(w.cluster, "moves")), (1, 2, 2))
    batch = gocardless(member("EV3", "o-3"), member("EV3", "o-4"))
    good(w.post(batch))
    eq((keys(w.cluster, "EV3"), repeats(w.cluster, "EV3", MISMATCH)), (1, 1))
    eq(w.cluster.query("SELECT outcome FROM pawl.bodies WHERE event_id = 'EV3' ORDER BY 1"), [(1,), (MISMATCH,)])
    eq("o-4" in states(w.cluster), False, "what differs is never applied")


def test_members_that_can_not_be_read_are_parked_beside_those_that_can(t):
    w = world(t)
    nameless = {"action": "created", "links": {"order": "o-x"}}
    good(w.post(gocardless(member("EV1", "o-1"), nameless, 7, None, nameless, member("EV2", {}), {"id": "EV3"}, member("EV4", "o-4"))))
    eq(states(w.cluster), {"o-1": "s1", "o-4": "s1"})
    eq(w.cluster.query("SELECT reason, count(*) FROM pawl.bodies WHERE outcome = %s GROUP BY 1 ORDER BY 1", (PARKED,)),
       [("bad-order", 1), ("no-id", 4), ("no-type", 1)])
    eq(count(w.cluster, "keys", "event_id LIKE 'arrival:%'"), 4, "none of them shares a key")


def test_the_members_of_an_order_move_it_in_their_order(t):
    w = world(t)
    good(w.post(gocardless(member("EV1", "o-1"), member("EV2", "o-1", "submitted"), member("EV3", "o-1", "confirmed"),
                           member("EV4", "o-2", "submitted"), member("EV5", "o-2"))))
    eq([(o, to) for o, _, _, to in applied(w.cluster)], [("o-1", "s1"), ("o-1", "s2"), ("o-1", "s3"), ("o-2", "s1"), ("o-2", "s2")])


def test_requests_that_write_more_than_one_transaction_may_are_stored_in_several(t):
    t.need_faults()
    w = world(t, receivers=0, host={"receiver": {"threads": 1, "deadline": "10s"}})
    w.receiver(env={"PAWL_TEST_FLIGHT_MAX": "400000"})
    orders = [f"o-{n}" for n in range(120)]
    parts = orders[:60], orders[60:]
    for part in parts:
        good(w.post(gocardless(*(member("EV-" + o, o) for o in part))))
    w.cluster.query("UPDATE pawl.orders SET data = json_build_object('note', repeat('x', 2000))")
    held = w.cluster.connect(autocommit=False)
    held.cursor().execute("SELECT FROM pawl.orders WHERE order_id = 'o-0' FOR UPDATE")
    loads = [w.load([gocardless(member("EV-stuck", "o-0", "confirmed"))])]
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 1, 5)
    loads += [w.load([gocardless(*(member("EW-" + o, o, "submitted") for o in part))]) for part in parts]
    eventually(lambda: w.receivers[0].metric("pawl_inflight", component="receiver") == 3, 10)
    held.close()
    eq([load.result()[0].status for load in loads], [200] * 3)
    eq(count(w.cluster, "notifications", "once LIKE 'reached-s2/%'"), len(orders))


def test_forty_copies_of_a_batch_at_once_are_one(t):
    w = world(t, receivers=2)
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(50)))
    for answer in w.post(*[batch] * 40, connections=40):
        good(answer)
    eq((count(w.cluster, "keys"), count(w.cluster, "moves"), count(w.cluster, "repeats")), (50, 50, 39 * 50))


def test_batches_that_overlap_do_not_get_in_each_others_way(t):
    w = world(t, receivers=2)
    rand = random.Random(4)
    everything = [member(f"EV{n}", f"o-{n % 40}") for n in range(200)]
    batches = [gocardless(*rand.sample(everything, 60)) for _ in range(60)] + [gocardless(*everything)]
    for answer in w.post(*batches, connections=20):
        good(answer)
    eq(count(w.cluster, "keys"), 200)
    eq(count(w.cluster, "moves", "outcome = 1"), 40)
    eq(w.cluster.deadlocks(), 0)


@timeout(200)
def test_a_receiver_killed_within_a_batch_stored_all_of_it_or_nothing(t):
    t.need_faults()
    w = world(t)
    for n, label in enumerate(("before_begin", "after_keys", "after_lock", "before_commit", "after_commit", "before_answer")):
        batch = gocardless(*(member(f"EV{n}-{k}", f"o-{n}-{k}") for k in range(250)))
        victim = w.restart(w.receivers[0], fault=f"crash@accept.{label}:1")
        eq(w.post(batch).status, 0, f"{label}: no answer")
        eq(victim.proc.wait(10), -signal.SIGKILL, label)
        found = [count(w.cluster, table, f"event_id LIKE 'EV{n}-%'") for table in ("keys", "moves", "bodies")]
        eq(found, [250 if label in ("after_commit", "before_answer") else 0] * 3, label)
        w.restart(victim)
        good(w.post(batch))
        eq([count(w.cluster, table, f"event_id LIKE 'EV{n}-%'") for table in ("keys", "moves", "bodies")], [250] * 3, label)
    eq(count(w.cluster, "moves", "outcome = 1"), 6 * 250)


def test_a_batch_whose_commit_got_no_answer_is_told_again_as_it_was(t):
    w = world(t, cluster=t.keep(PgProxy(t.migrated_cluster())))
    one = member("EV1", "o-1")
    good(w.post(gocardless(member("EV0", "o-0"))))
    rule = w.cluster.cut("INSERT INTO keys", 1, True)
    good(w.post(gocardless(one, one, member("EV0", "o-0"), {"action": "created"}, member("EV2", "o-2"))))
    eq(rule.cut, 1, "transactions that were cut")
    eq((repeats(w.cluster, "EV1"), repeats(w.cluster, "EV0"), repeats(w.cluster, "EV2")), (1, 1, 0))
    eq((count(w.cluster, "keys"), count(w.cluster, "bodies"), count(w.cluster, "moves")), (4, 4, 3))


def test_a_batch_of_none_is_acknowledged_and_leaves_nothing(t):
    """LINE's `verify` button and Xero's intent to receive."""
    w = world(t)
    good(w.post(signed_b64("line", "x-line-signature", b'{"destination":"U1","events":[]}')))
    intent = signed_b64("xero", "x-xero-signature", b'{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"S0m"}')
    good(w.post(intent))
    intent.headers["x-xero-signature"] = b64(b"\0" * 32)
    eq(w.post(intent).status, 401)
    eq((count(w.cluster, "keys"), count(w.cluster, "bodies")), (0, 0))
    w.counted(2, "pawl_webhook_requests_total", outcome="empty")


def test_a_provider_of_the_policy_s_own_may_send_batches_too(t):
    w = world(t)
    body = as_body({"shop": "s", "days": [{"changes": [{"n": 1, "kind": "paid", "order": "o-1"}, {"n": "1", "kind": "paid", "order": "o-2"}]},
                                          {"changes": []}, {"changes": [{"n": 2, "kind": "paid", "order": "o-3"}]}],
                    "more": [{"n": 3, "kind": "paid", "order": "o-4"}]})
    mac = hmac.new(secret("own").encode(), body, hashlib.sha256).hexdigest()
    for _ in range(2):
        eq(w.post(Request("/hooks/own", {"X-Own-Signature": mac}, body)).status, 200)
    eq(w.cluster.query("SELECT scope, event_id FROM pawl.keys ORDER BY 2"), [("s", i) for i in ("#1:paid", "#2:paid", "#3:paid", "1:paid")])
    eq((states(w.cluster), count(w.cluster, "repeats")), ({f"o-{n}": "s1" for n in (1, 2, 3, 4)}, 4))


def test_a_batch_that_is_none_is_parked_as_a_whole(t):
    w = world(t)
    for body in (b'{"event":{}}', b'{"events":{}}', b'{"events":[', as_body({"events": [member(f"EV{n}", "o") for n in range(1001)]})):
        mac = hmac.new(secret("gocardless").encode(), body, hashlib.sha256).hexdigest()
        good(w.post(Request("/hooks/gocardless", {"Webhook-Signature": mac}, body)))
        eq(w.cluster.query("SELECT body FROM pawl.bodies ORDER BY received_at DESC LIMIT 1")[0][0].tobytes(), body)
    eq(w.cluster.query("SELECT reason FROM pawl.bodies WHERE outcome = %s ORDER BY received_at", (PARKED,)),
       [("no-batch",), ("bad-batch",), ("unreadable",), ("batch-too-long",)])
    eq(states(w.cluster), {})


def test_more_events_than_one_transaction_takes_are_taken_in_several(t):
    w = world(t, host={"receiver": {"deadline": "20s"}})
    batches = [gocardless(*(member(f"EV{n}-{k}", f"o-{n}") for k in range(900))) for n in range(6)]
    barrier = Barrier(w.cluster)
    first = w.load([batches[0]], connections=1)
    barrier.reached()
    rest = w.load(batches[1:], connections=5)
    eventually(lambda: w.metric("pawl_inflight", component="receiver") >= 6, 10, "five more wait together")
    barrier.open()
    for answer in first.result(30) + rest.result(30):
        good(answer)
    eq(count(w.cluster, "keys"), 5400)
    eq(w.cluster.value("SELECT count(DISTINCT first_at) FROM pawl.keys"), 4, "at most 2,000 events each: 1, 2, 2 and 1 requests")


def test_trigger_sends_a_batch_of_one_and_finds_it_by_the_id_it_gets(t):
    w = world(t)
    ids = {"gocardless:payments.created": r"^evt_\w+$", "meta:messages": r"^evt_\w+:1$", "line:message": r"^evt_\w+$",
           "xero:INVOICE.CREATE": r"^evt_\w+:1001:INVOICE:CREATE:"}
    for what, known in ids.items():
        told = w.json("trigger", what, "--order", "1001", "--copies", "3", "--to", f"http://127.0.0.1:{w.ports()[0]}")
        eq((told["accepted"], told["caught"], told["failed"]), (1, 2, 0), what)
        check(re.search(known, told["items"][0]["event"]), f"{what}: {told['items'][0]}")


def refusing(w, table, condition):
    w.cluster.query(f"ALTER TABLE pawl.{table} ADD CHECK ({condition})")


def reasons(cluster):
    return cluster.query("SELECT event_id, reason FROM pawl.bodies WHERE outcome = %s ORDER BY 1", (PARKED,))


def test_a_member_that_the_database_refuses_is_parked_alone_and_the_others_are_applied(t):
    w = world(t)
    refusing(w, "orders", "order_id NOT IN ('o-7', 'o-18')")
    batch = gocardless(*(member(f"EV{n}", f"o-{n}") for n in range(20)))
    good(w.post(batch))
    eq(states(w.cluster), {f"o-{n}": "s1" for n in range(20) if n not in (7, 18)})
    eq(reasons(w.cluster), [("EV18", "refused-by-database"), ("EV7", "refused-by-database")])
    eq(w.receivers[0].metric("pawl_events_refused_total", source="gocardless"), 2)
    good(w.post(batch))
    eq((count(w.cluster, "keys"), count(w.cluster, "bodies"), repeats(w.cluster, "EV7")), (20, 20, 1), "a copy is a copy")
    eq(w.must("inbox", "show", "EV7", "--raw").encode(), batch.body)
    check("refused-by-database" in w.must("story", "EV7"), w.must("story", "EV7"))


def test_a_refused_member_holds_up_no_other_request_of_its_batch(t):
    w = world(t)
    refusing(w, "orders", "order_id <> 'bad'")
    requests = [gocardless(member(f"EV{n}", f"o-{n}"), member(f"EV-x{n}", "bad" if n % 9 == 0 else f"x-{n}")) for n in range(40)]
    for answer in w.post(*requests, connections=20):
        good(answer)
    eq((len(states(w.cluster)), len(reasons(w.cluster))), (75, 5))


def test_the_others_of_a_batch_with_a_refused_member_are_stored_together(t):
    w = world(t)
    refusing(w, "orders", "order_id <> 'bad'")
    requests = [gocardless(member(f"EV{n}", "bad" if n == 70 else f"o-{n}")) for n in range(128)]
    connection = w.cluster.connect()
    with connection, connection.cursor() as held:
        held.execute("LOCK TABLE pawl.keys IN SHARE MODE")
        posting = threading.Thread(target=lambda: [good(a) for a in w.post(*requests, connections=128)])
        posting.start()
        time.sleep(1)
    posting.join()
    connection.close()
    made = w.cluster.value("SELECT count(DISTINCT xmin::text) FROM pawl.bodies")
    eq(count(w.cluster, "bodies"), 128)
    check(made < 40, f"{made} transactions")


def test_a_member_whose_id_the_database_refuses_is_kept_without_it(t):
    w = world(t)
    refusing(w, "keys", "event_id <> 'EV-bad'")
    good(w.post(gocardless(member("EV-1", "o-1"), member("EV-bad", "o-2"))))
    eq(states(w.cluster), {"o-1": "s1"})
    (event_id, reason), = reasons(w.cluster)
    eq((event_id.split(":")[0], reason), ("arrival", "refused-by-database"))


def test_what_can_not_be_stored_at_all_is_not_acknowledged(t):
    w = world(t)
    refusing(w, "bodies", "outcome <> 6")
    refusing(w, "orders", "order_id <> 'o-1'")
    eq(w.post(gocardless(member("EV-1", "o-1"), member("EV-2", "o-2"))).status, 503)
    eq((count(w.cluster, "keys"), states(w.cluster)), (0, {}))
    good(w.post(gocardless(member("EV-3", "o-3"))))
    eq(states(w.cluster), {"o-3": "s1"})
