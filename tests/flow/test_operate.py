"""What a person does by hand: resolve, cancel, redrive. The SMTP server's own count says what left."""
import json
import os
import pwd
import threading

from harness import *
from kit.deliveries import POLICY, ended, setup

WHO = pwd.getpwuid(os.getuid()).pw_name


def audit(rows, action):
    return rows.cluster.query("SELECT actor, object, reason FROM pawl.audit WHERE action = %s ORDER BY at, object", (action,))


def plain(nid):
    return nid.replace("-", "")


def all_of(rows, nid):
    """(redrive, state) of a notification's deliveries."""
    return rows.cluster.query("SELECT redrive, state FROM pawl.deliveries WHERE notification_id = %s ORDER BY redrive", (nid,))


def test_an_unknown_outcome_is_settled_by_a_person_once(t):
    w, sink, rows = setup(t)
    a, b = rows.add("most", "dropafterdot+a@example.net"), rows.add("most", "dropafterdot+b@example.net")
    ended(rows, a, 9)
    ended(rows, b, 9)
    eq(w.run("deliveries", "resolve", a, "--as", "sent")[0], 2, "a reason is demanded")
    eq(w.run("deliveries", "resolve", a, "--reason", "x")[0], 2)
    told = w.json("deliveries", "resolve", plain(a), "--as", "sent", "--reason", "Ann has it", "--provider-id", "<id@x>")
    eq((told["done"], told["left"]), (1, 0))
    eq(rows.state(a), 2)
    w.must("deliveries", "resolve", b, "--as", "not-sent", "--reason", "not in their log")
    eq(rows.delivery(b)[0::4], (8, f"not sent, says {WHO}: not in their log"))
    eq(rows.left(), (0, 0, 0))
    eq([row[2] for row in audit(rows, "delivery.resolve")], ["Ann has it", "not in their log"])
    eq({row[0] for row in audit(rows, "delivery.resolve")}, {WHO})
    # Again: already so; the other way round: refused.
    eq(w.run("deliveries", "resolve", a, "--as", "sent", "--reason", "again")[0], 0)
    eq(w.run("deliveries", "resolve", a, "--as", "not-sent", "--reason", "again")[0], 4)
    eq(len(audit(rows, "delivery.resolve")), 2)
    story = w.must("deliveries", "show", a)
    check("said_sent" in story and "Ann has it" in story and WHO in story, "show says who settled it:\n" + story)
    eq(sum(sink.by_rcpt().values()), 2)


def test_what_was_not_sent_gives_its_cap_slots_back(t):
    caps = "cap: [{ most: 9, in: 1d, per: recipient }, { most: 9, in: 1d, per: order, across: channels }]"
    w, _, rows = setup(t, edit=lambda p: p.replace("delivery: at-most-once\n", f"delivery: at-most-once\n    {caps}\n"))
    mails = {name: rows.add("most", f"dropafterdot+{name}@Example.net") for name in "abc"}
    rows.cluster.query("UPDATE pawl.deliveries SET recipient = 'c-1' WHERE notification_id = %s", (mails["c"],))
    for nid in mails.values():
        ended(rows, nid, 9)
    held = lambda: {name: rows.cluster.value("SELECT count(*) FROM pawl.cap_slots WHERE notification_id = %s", (nid,))
                    for name, nid in mails.items()}
    eq(held(), {"a": 2, "b": 2, "c": 2})
    w.must("deliveries", "resolve", mails["a"], "--as", "sent", "--reason", "x")
    w.must("deliveries", "resolve", mails["b"], "--as", "not-sent", "--reason", "x")
    eq(held(), {"a": 2, "b": 0, "c": 2})
    w.must("deliveries", "resolve", mails["c"], "--as", "not-sent", "--reason", "x")
    eq(held(), {"a": 2, "b": 0, "c": 0})


def test_what_was_not_sent_is_settled_and_sent_anew_in_one_go(t):
    w, sink, rows = setup(t)
    nid = rows.add("most", "dropafterdot-1+a@example.net")
    ended(rows, nid, 9)
    w.must("deliveries", "resolve", nid, "--as", "not-sent", "--redrive", "--reason", "their log has no such mail")
    eventually(lambda: all_of(rows, nid) == [(0, 8), (1, 2)], 10, "the new one is accepted")
    eq(sink.by_rcpt(), {"dropafterdot-1+a@example.net": 2})
    eq(len(audit(rows, "delivery.redrive")), 1)
    ids = rows.cluster.query("SELECT content::json ->> 'message_id' FROM pawl.contents WHERE notification_id = %s", (nid,))
    eq(len(set(ids)), 2, "the new one has a key of its own")


def test_a_cap_slot_that_was_given_back_is_no_message_too_many(t):
    cap = "cap: [{ most: 1, in: 1d, per: recipient }]\n    delivery: at-"
    w, _, rows = setup(t, edit=lambda p: p.replace("delivery: at-", cap).replace("wait: [100ms, 200ms]", "wait: [5m]"))
    once, again = rows.add("most", "dropafterdot-1+a@example.net"), rows.add("least", "dropafterdot-1+b@example.net")
    ended(rows, once, 9)
    eventually(lambda: rows.delivery(again)[:3] == (0, 1, 1), 10, "it would be tried again after one in doubt")
    w.must("deliveries", "cancel", again, "--reason", "x")
    for nid in (once, again):
        w.must("deliveries", "resolve", nid, "--as", "not-sent", "--redrive", "--reason", "their log has no such mail")
        eventually(lambda: all_of(rows, nid) == [(0, 8), (1, 2)], 10, "it takes the slot that the other gave back")
    kept = next(i for i in json.loads(w.run("reconcile", "--json")[1])["items"] if i["name"] == "caps-kept")
    eq((kept["verdict"], kept["judged"]), ("ok", 2))


def test_a_redrive_goes_by_the_policy_of_the_day(t):
    w, sink, rows = setup(t)
    nid = rows.add("most", "rcpt550-1+a@example.net")
    ended(rows, nid, 3)
    w.set_policy(POLICY, edit=lambda p: p.replace("at-most-once", "at-least-once"))
    w.must("policy", "apply")
    w.must("deliveries", "redrive", nid, "--reason", "the box exists now", "--yes")
    eventually(lambda: all_of(rows, nid) == [(0, 3), (1, 2)], 10)
    eq(rows.cluster.query("SELECT policy, delivery_order FROM pawl.deliveries WHERE redrive = 1"), [(rows.policy + 1, 2)])
    eq(sink.count("rcpt550-1+a@example.net"), 1)


def test_a_redrive_says_what_it_means_and_asks(t):
    w, sink, rows = setup(t)
    sent, doubt = rows.add("most", "ann@example.net"), rows.add("most", "dropafterdot+b@example.net")
    ended(rows, sent, 2)
    ended(rows, doubt, 9)
    for nid, words in ((sent, "reaches the customer a second time"), (doubt, "may reach the customer a second time")):
        told = w.json("deliveries", "redrive", nid, "--reason", "x", "--dry-run")
        check(told["items"][0]["outcome"].startswith(words + ": SMTP can't recognise a repeat"), str(told))
        eq((told["done"], told["dry_run"], told["items"][0]["tries"]), (1, True, 1))
        status, out, err = w.run("deliveries", "redrive", nid, "--reason", "x")
        eq((status, out), (6, ""), err)
        eq(len(all_of(rows, nid)), 1, "nothing was done")
    eq(sum(sink.by_rcpt().values()), 2)


def test_a_redrive_says_that_a_cap_has_no_room_for_it(t):
    cap = "cap: [{ most: 1, in: 1d, per: recipient, then: withhold }]\n    delivery: at-"
    w, _, rows = setup(t, edit=lambda p: p.replace("delivery: at-", cap))
    doubt, sent, refused = (rows.add("most", to + "@example.net") for to in ("dropafterdot+a", "b", "rcpt550+c"))
    for nid, state in ((doubt, 9), (sent, 2), (refused, 3)):
        ended(rows, nid, state)
    second = rows.add("most", "b@example.net")
    ended(rows, second, 5)
    would = lambda nid: w.json("deliveries", "redrive", nid, "--reason", "x", "--dry-run")["items"][0]["outcome"].partition("; now it would be ")[2]
    by = "withheld by cap most/1/86400/recipient/email"
    eq(would(doubt), by + ", of which the one before holds a slot until it is resolved as not sent")
    eq(would(sent), by + ", of which the one before holds a slot")
    eq(would(second), by)
    eq(would(refused), "", "what was refused gives its slot back")
    w.must("deliveries", "redrive", doubt, "--reason", "x", "--yes")
    eventually(lambda: all_of(rows, doubt) == [(0, 9), (1, 5)], 10, "and so it is")


def test_two_people_redrive_one_delivery_and_one_is_made(t):
    w, sink, rows = setup(t, dispatchers=0)
    nid = rows.add("most", "ann@example.net", due=False)
    rows.cluster.query("UPDATE pawl.deliveries SET state = 8, reason = 'x'")
    ends = []
    threads = [threading.Thread(target=lambda: ends.append(w.run("deliveries", "redrive", nid, "--reason", "x", "--yes")[0]))
               for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    eq(all_of(rows, nid), [(0, 8), (1, 0)])
    eq(ends.count(0), 1, f"{ends}")
    check(set(ends) <= {0, 4, 7}, f"{ends}")
    eq(rows.cluster.value("SELECT count(*) FROM pawl.due"), 1)
    w.dispatcher()
    eventually(lambda: all_of(rows, nid) == [(0, 8), (1, 2)], 10)
    eq(sink.by_rcpt(), {"ann@example.net": 1})


def test_what_waits_is_cancelled_and_what_may_be_there_is_unknown(t):
    w, sink, rows = setup(t, dispatchers=0)
    a, b, c = (rows.add("least", f"{x}@example.net") for x in "abc")
    rows.cluster.query("UPDATE pawl.deliveries SET unknown_tries = 1, tries = 1 WHERE notification_id = %s", (b,))
    rows.cluster.query("INSERT INTO pawl.attempts (bucket, channel, notification_id, redrive, step, outcome, claim_id, worker, target, at)"
                       " VALUES (1, 1, %s, 0, 1, 4, %s, %s, '', now())", (b, b, b))
    w.must("deliveries", "cancel", a, "--reason", "wrong text")
    w.must("deliveries", "cancel", b, "--reason", "wrong text")
    eq((rows.delivery(a)[0::4], rows.state(b)), ((7, f"cancelled by {WHO}: wrong text"), 9))
    eq(w.run("deliveries", "cancel", a, "--reason", "again")[0], 0, "already so")
    w.dispatcher()
    ended(rows, c, 2)
    eventually(lambda: rows.left() == (0, 0, 1), 10, "their due rows are dropped")
    eq(sink.by_rcpt(), {"c@example.net": 1})
    eq(w.run("deliveries", "cancel", c, "--reason", "x")[0], 4, "what was sent can't be cancelled")


def test_a_filter_acts_in_bulk_with_a_bound_and_goes_on_where_it_was_cut(t):
    w, sink, rows = setup(t, dispatchers=0)
    ids = [rows.add(kind, f"{kind}{i}@example.net", due=False) for kind in ("most", "least") for i in range(150)]
    rows.cluster.query("UPDATE pawl.deliveries SET state = 8, reason = 'retries ran out'")
    eq(w.run("deliveries", "redrive", "--reason", "x")[0], 2, "neither a notification nor a filter")
    eq(w.run("deliveries", "redrive", "--type", "most", "--reason", "x")[0], 6, "bulk needs a yes")
    eq(w.run("deliveries", "redrive", ids[0], "--type", "most", "--reason", "x", "--yes")[0], 2)
    told = w.json("deliveries", "redrive", "--type", "most", "--reason", "relay back", "--max", "120", "--yes")
    eq((told["done"], told["left"], told["more"]), (120, 0, True))
    rows.cluster.query("UPDATE pawl.notifications SET data = NULL WHERE notification_id = %s",
                       (rows.cluster.value("SELECT notification_id FROM pawl.deliveries d WHERE delivery_order = 1 AND NOT EXISTS"
                                           " (SELECT 1 FROM pawl.deliveries x WHERE x.notification_id = d.notification_id AND redrive = 1) LIMIT 1"),))
    status, out, err = w.run("deliveries", "redrive", "--type", "most", "--reason", "relay back", "--yes")
    eq(status, 7, "one could not be sent anew: " + err)
    check("29 sent anew, 1 left as they are" in out and "are gone" in out, out[-300:])
    eq(rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE redrive = 1 AND delivery_order = 1"), 149)
    eq(len(audit(rows, "delivery.redrive")), 149)
    w.dispatcher()
    eventually(lambda: sum(sink.by_rcpt().values()) == 149, 20, "each is sent")
    eventually(lambda: rows.left()[:2] == (0, 0), 10)
    eq(set(sink.by_rcpt().values()), {1})
    eq(w.run("deliveries", "cancel", "--type", "mots", "--reason", "x", "--yes")[0], 3, "no such message")
    out = w.json("deliveries", "cancel", "--channel", "sms", "--reason", "x")
    eq((out["done"], out["items"]), (0, []))


def test_a_filter_by_provider_finds_what_was_last_tried_there(t):
    w, sink, rows = setup(t)
    tried = [rows.add("least", f"rcpt550-1+{i}@example.net") for i in range(3)]
    for nid in tried:
        ended(rows, nid, 3)
    never = [rows.add("least", f"ann{i}@example.net", due=False) for i in range(2)]
    rows.cluster.query("UPDATE pawl.deliveries SET state = 8, reason = 'retries ran out' WHERE state = 0")
    listed = w.json("deliveries", "list", "--provider", "smtp")["items"]
    eq(({d["notification"] for d in listed}, len(w.json("deliveries", "list")["items"])), ({plain(n) for n in tried}, 5))
    eq(w.run("deliveries", "redrive", tried[0], "--provider", "smtp", "--reason", "x", "--yes")[0], 2, "one, or a filter")
    status, _, err = w.run("deliveries", "cancel", "--provider", "smpt", "--reason", "x", "--yes")
    eq((status, "no provider 'smpt'" in err), (3, True))
    told = w.json("deliveries", "redrive", "--provider", "smtp", "--state", "refused,dead", "--reason", "their server is mended", "--yes")
    eq((told["done"], told["left"], {i["notification"] for i in told["items"]}), (3, 0, {plain(n) for n in tried}))
    for nid in tried:
        eventually(lambda n=nid: all_of(rows, n) == [(0, 3), (1, 2)], 10, "sent anew")
    eq([all_of(rows, n) for n in never], [[(0, 8)]] * 2)
    eq(sum(sink.by_rcpt().values()), 3)


def test_a_filter_of_which_nothing_fits_is_told_as_not_done(t):
    w, _, rows = setup(t, dispatchers=0)
    rows.add("most", "ann@example.net", due=False)
    rows.cluster.query("UPDATE pawl.deliveries SET state = 2")
    status, out, err = w.run("deliveries", "cancel", "--state", "accepted", "--reason", "x", "--yes")
    eq(status, 7, out + err)
    check("0 cancelled, 1 left as they are\n" in out, out)
    status, out, err = w.run("--json", "deliveries", "cancel", "--state", "accepted", "--reason", "x")
    eq((status, json.loads(out)["dry_run"], json.loads(out)["more"]), (7, False, False), err)


def test_a_bulk_that_is_cut_off_says_what_it_does_not_know(t):
    w, _, rows = setup(t, dispatchers=0)
    for i in range(120):
        rows.add("most", f"a{i}@example.net")
    ends = []
    lock = rows.cluster.connect("pawl", autocommit=False)
    with lock.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pawl.deliveries ORDER BY bucket DESC, notification_id DESC LIMIT 1 FOR UPDATE")
    cancel = threading.Thread(target=lambda: ends.append(w.run("deliveries", "cancel", "--type", "most", "--reason", "x", "--yes")))
    cancel.start()
    where = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'pawl'"
    eventually(lambda: rows.cluster.value("SELECT count(*) " + where) == 1, 20, "its second batch waits")
    rows.cluster.query("SELECT pg_terminate_backend(pid) " + where)
    cancel.join()
    lock.rollback()
    status, out, err = ends[0]
    eq((status, out.count("\tcancelled\n"), out.count("not known: the command was cut off")), (69, 100, 20), err)
    w.must("deliveries", "cancel", "--type", "most", "--reason", "x", "--yes")
    eq(rows.cluster.query("SELECT state, count(*) FROM pawl.deliveries GROUP BY state"), [(7, 120)])
    eq(len(audit(rows, "delivery.cancel")), 120)


def test_a_redrive_that_was_made_is_never_told_as_not_done(t):
    w, _, rows = setup(t, dispatchers=0)
    nid = rows.add("most", "ann@example.net", due=False)
    rows.cluster.query("UPDATE pawl.deliveries SET state = 9, tries = 1")
    ends = []
    other = rows.cluster.connect("pawl", autocommit=False)
    with other.cursor() as cursor:
        cursor.execute("UPDATE pawl.deliveries SET state = 8, reason = 'not sent, says another'")
    resolve = threading.Thread(target=lambda: ends.append(
        w.run("deliveries", "resolve", nid, "--as", "not-sent", "--redrive", "--reason", "x")))
    resolve.start()
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'pawl'") == 1,
               20, "it waits for the other one")
    other.commit()
    resolve.join()
    eq((all_of(rows, nid), ends[0][0]), ([(0, 8), (1, 0)], 0), str(ends))
    eq(len(audit(rows, "delivery.redrive")), 1)


def test_a_cancel_that_meets_a_claim_leaves_it_alone(t):
    w, sink, rows = setup(t, dispatchers=0)
    nid = rows.add("most", "ann@example.net")
    ends = []
    claim = rows.cluster.connect("pawl", autocommit=False)
    with claim.cursor() as cursor:
        cursor.execute("UPDATE pawl.deliveries SET state = 1, tries = 1")
    cancel = threading.Thread(target=lambda: ends.append(w.run("deliveries", "cancel", nid, "--reason", "x")))
    cancel.start()
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'pawl'") == 1,
               20, "the cancel waits for the claim")
    claim.commit()
    cancel.join()
    eq((ends[0][0], rows.state(nid)), (7, 1), str(ends))
    check("not done: it changed meanwhile" in ends[0][1], str(ends))
    eq(audit(rows, "delivery.cancel"), [])
    eq(w.run("deliveries", "cancel", nid, "--reason", "x")[0], 4, "what is on the wire can't be cancelled")
    rows.cluster.query("UPDATE pawl.deliveries SET state = 0, tries = 0")
    w.dispatcher()
    ended(rows, nid, 2)
    eq(sink.by_rcpt(), {"ann@example.net": 1})


def test_a_list_takes_several_states_and_what_is_on_the_wire_has_no_reason_of_an_earlier_try(t):
    w, _, rows = setup(t, dispatchers=0)
    wire, dead, _ = (rows.add("most", f"{x}@example.net", due=False) for x in "abc")
    for nid, state in ((wire, 1), (dead, 8)):
        rows.cluster.query("UPDATE pawl.deliveries SET state = %s, reason = '451 later' WHERE notification_id = %s", (state, nid))
    listed = lambda *states: sorted((i["state"], i["reason"]) for i in w.json("deliveries", "list", *states)["items"])
    eq(listed("--state", "wire,dead"), [("dead", "451 later"), ("wire", None)])
    eq((len(listed()), len(listed("--state", "due"))), (3, 1))
    eq(w.json("deliveries", "show", wire)["items"][0]["reason"], None)
    for bad, word in (("dead,wirre", "did you mean 'wire'"), ("dead,,wire", "there is due wire")):
        status, _, said = w.run("deliveries", "list", "--state", bad)
        check(status == 2 and word in said, f"{bad}: {status} {said}")


def test_a_pause_holds_until_it_is_resumed_and_says_by_whom(t):
    w, sink, rows = setup(t, dispatchers=0)
    for bad, code in (("none", 3), ("channel:fax", 3), ("provider:resend", 3)):
        eq(w.run("pause", bad, "--reason", "x")[0], code, bad)
    eq(w.run("pause", "most")[0], 2, "a reason is demanded")
    eq(w.run("pause", "most", "--for", "0s", "--reason", "x")[0], 2, "no time is not for ever")
    w.must("pause", "most", "--reason", "wrong text")
    check("paused already" in w.must("pause", "most", "--reason", "wrong price", "--for", "1h"), "one pause, changed")
    most, least = rows.add("most", "m@example.net"), rows.add("least", "l@example.net")
    w.dispatcher()
    ended(rows, least, 2)
    row = eventually(lambda: next((p for p in w.json("pauses")["items"] if p["held"] == 1), None), 10, "it holds one")
    eq((row["what"], row["state"], row["by"], row["reason"]), ("most", "paused", WHO, "wrong price"))
    check(row["until"], "an hour")
    eq((rows.state(most), sink.by_rcpt()), (0, {"l@example.net": 1}))
    eq(w.json("resume", "most"), {"changed": True})
    ended(rows, most, 2)
    eq(w.json("resume", "most"), {"changed": False})
    eq([a[0][2] for a in (audit(rows, "pause"), audit(rows, "resume"))], ["wrong text", ""])
    eq(w.json("pauses")["items"][0]["state"] if w.json("pauses")["items"] else "ended", "ended")


def test_a_suppressed_address_gets_nothing_until_it_is_let_go(t):
    w, sink, rows = setup(t)
    eq(w.run("suppress", "add", "ann@example.net")[0], 2, "a reason is demanded")
    eq(w.run("suppress", "add", "abc", "--reason", "x")[0], 2, "what it is an address of")
    for bad in (["Ann <ann@example.net>"], ["ann@example.net,bob@example.net"], ["ann@example.net", "--channel", "sms"],
                ["01701234", "--channel", "sms"], ["ann", "--channel", "email"],
                ["ann@b@example.net"], ["ann bee@example.net"], ["ann@exa mple.net"], ["ann@.net"], ["a" * 65 + "@example.net"], ["ann@example..net"],
                ["+"], ["+49+170"], ["+0170123456"], ["+4"], ["+1234567890123456"]):
        eq(w.run("suppress", "add", *bad, "--reason", "x")[0], 2, f"{bad} would hold nothing")
    for act in ("add", "remove"):
        eq(w.json("suppress", act, "ann@b\u00fccher.example", "--reason", "x")["changed"], True, "a domain outside ASCII is one")
    eq(w.json("suppress", "add", "+49 (170) 12-34", "--reason", "x"), {"changed": True})
    eq(w.json("suppress", "remove", "+491701234", "--reason", "x"), {"changed": True, "suppressed_for": []})
    eq(w.json("suppress", "add", "Ann@Example.net", "--reason", "asked on the phone"), {"changed": True})
    eq(w.json("suppress", "add", "ann@example.net", "--reason", "again"), {"changed": False})
    w.must("suppress", "add", "bob@example.net", "--type", "most", "--reason", "no receipts")
    ann, bob, other = rows.add("least", "ann@example.net"), rows.add("most", "bob@example.net"), rows.add("least", "bob@example.net")
    ended(rows, ann, 5)
    ended(rows, bob, 5)
    ended(rows, other, 2)
    eq([(r["address"], r["type"], r["reason"], r["source"], r["note"]) for r in w.json("suppress", "list", "ann@example.net")["items"]],
       [("a***@e***.net", None, "by hand", WHO, "asked on the phone")])
    eq(len(w.json("suppress", "list", "--channel", "email")["items"]), 2)
    eq(w.json("suppress", "remove", "ann@example.net", "--reason", "asked again"), {"changed": True, "suppressed_for": []})
    eq(w.json("suppress", "remove", "ann@example.net", "--reason", "asked again"), {"changed": False, "suppressed_for": []})
    w.must("deliveries", "redrive", ann, "--reason", "asked again", "--yes")
    eventually(lambda: all_of(rows, ann) == [(0, 5), (1, 2)], 10)
    eq(sink.by_rcpt(), {"ann@example.net": 1, "bob@example.net": 1})
    eq(len(audit(rows, "suppress.add") + audit(rows, "suppress.remove")), 7)
