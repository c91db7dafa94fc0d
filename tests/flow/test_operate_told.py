"""What a person is told beside what is done: nothing is left out, cut or foretold wrongly in silence."""
import os
import sys

from harness import *
from kit.deliveries import POLICY, Rows, ended, setup

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from mail_server import SHORT, Mailbox  # noqa: E402


def states(rows, nid):
    return rows.cluster.query("SELECT redrive, state FROM pawl.deliveries WHERE notification_id = %s ORDER BY redrive", (nid,))


def test_a_filter_settles_what_is_in_doubt_and_was_sent_anew(t):
    w, _, rows = setup(t)
    mails = [rows.add("most", f"dropafterdot-1+{x}@example.net") for x in "ab"]
    for nid in mails:
        ended(rows, nid, 9)
    w.must("deliveries", "redrive", "--state", "unknown", "--reason", "x", "--yes")
    for nid in mails:
        eventually(lambda n=nid: states(rows, n) == [(0, 9), (1, 2)], 10, "sent anew")
    resolve = ("deliveries", "resolve", "--state", "unknown", "--as", "not-sent", "--reason", "not in their log", "--yes")
    status, out, err = w.run(*resolve, "--redrive")
    check(status == 7 and out.count("there is a later redrive of it; resolve without --redrive settles it") == 2, out + err)
    told = w.json(*resolve)
    eq((told["done"], told["left"]), (2, 0))
    eq([states(rows, nid) for nid in mails], [[(0, 8), (1, 2)]] * 2)
    eq(rows.left(), (0, 0, 0))


def test_a_redrive_to_a_suppressed_address_is_told_as_withheld(t):
    w, _, rows = setup(t)
    bounced, one, free = (rows.add("most", to + "@example.net") for to in ("rcpt550+a", "b", "rcpt550-1+c"))
    for nid, state in ((bounced, 3), (one, 2), (free, 3)):
        ended(rows, nid, state)
    w.must("suppress", "add", "B@example.net", "--type", "most", "--reason", "x")
    w.run("suppress", "add", "rcpt550+a@example.net", "--reason", "x")
    would = lambda nid, *how: w.json("deliveries", "redrive", nid, "--reason", "x", *how)["items"][0]["outcome"]
    way = "withheld, since its address is suppressed ({}): pawl suppress remove ADDRESS"
    for nid, held in ((bounced, way.format("by hand")), (one, way.format("by hand") + " --type most")):
        check(would(nid, "--dry-run").endswith("; now it would be " + held), would(nid, "--dry-run"))
        eq(would(nid, "--yes"), "sent anew, but will be " + held)
        eventually(lambda n=nid: states(rows, n)[1:] == [(1, 5)], 10, "and so it is")
    check("suppressed" not in would(free, "--dry-run"), "another address")
    eq(would(free, "--yes"), "sent anew")


def test_a_list_that_is_cut_off_says_so(t):
    w, _, rows = setup(t, dispatchers=0)
    for name in "abc":
        rows.add("most", name + "@example.net")
        w.must("suppress", "add", name + "@example.net", "--reason", "x")
        w.must("pause", "all" if name == "a" else "channel:" + {"b": "sms", "c": "push"}[name], "--reason", "x")
    for words in (("deliveries", "list"), ("suppress", "list"), ("pauses",)):
        cut = w.json(*words, "--limit", "2")
        eq((len(cut["items"]), cut["more"], len(w.json(*words, "--limit", "3")["items"]), w.json(*words, "--limit", "3")["more"]),
           (2, True, 3, False), f"{words}")
        status, out, err = w.run(*words, "--limit", "2")
        eq((status, len(out.splitlines()), "these are the first 2, there are more: --limit N" in err), (0, 3, True), err)
        eq(w.run(*words, "--limit", "3")[2], "")


def test_letting_an_address_go_names_what_else_it_is_suppressed_for(t):
    w, _, _ = setup(t, dispatchers=0)
    add = lambda *how: w.must("suppress", "add", "ann@example.net", "--reason", "x", *how)
    remove = lambda *how: w.must("suppress", "remove", "ann@example.net", "--reason", "x", *how).strip()
    eq(remove(), "it was not suppressed")
    add("--type", "most")
    add("--type", "least")
    eq(remove(), "it was not suppressed for all messages; it is for --type least, --type most")
    eq(w.json("suppress", "remove", "ann@example.net", "--reason", "x"), {"changed": False, "suppressed_for": ["least", "most"]})
    eq(remove("--type", "most"), "no longer suppressed for --type most; it is for --type least")
    eq(remove("--type", "least"), "no longer suppressed")
    add()
    eq(remove("--type", "most"), "it was not suppressed for --type most; it is for all messages (without --type)")
    eq(w.json("suppress", "remove", "ann@example.net", "--reason", "x"), {"changed": True, "suppressed_for": []})


def test_a_list_of_what_there_is_not_is_refused_by_name(t):
    w, _, rows = setup(t, dispatchers=0)
    eq(w.json("deliveries", "list", "--type", "least", "--provider", "smtp")["items"], [], "known, and none is there")
    for flag, name, words in (("--type", "leats", "no message 'leats'; did you mean 'least'?"), ("--type", "nope", "no message 'nope'"),
                              ("--provider", "smpt", "no provider 'smpt'; did you mean 'smtp'?"), ("--provider", "resend", "no provider 'resend'")):
        status, out, err = w.run("deliveries", "list", flag, name)
        eq((status, out, words in err), (3, "", True), err)
    rows.cluster.query("UPDATE pawl.names SET name = 'gone' WHERE kind = 3 AND name = 'least'")
    rows.add("least", "ann@example.net", due=False)
    eq(len(w.json("deliveries", "list", "--type", "gone")["items"]), 1, "the database knows it")


def test_times_want_a_unit_and_what_is_held_is_said_to_be_due(t):
    w, _, _ = setup(t, dispatchers=0)
    for words in (("reconcile",), ("deliveries", "list"), ("story", "1")):
        status, _, err = w.run(*words, "--since", "1")
        eq((status, "--since '1' is not a time such as 15m, 24h or 30d" in err), (2, True), err)
    status, _, err = w.run("deliveries", "list", "--state", "held")
    eq((status, "what is held is due" in err and "pawl pauses" in err), (2, True), err)


def test_what_was_refused_has_the_servers_words_as_its_reason(t):
    server = Mailbox(t, lambda what, address, _: b"550 5.1.1 no such mailbox" if what == "RCPT" and address.startswith("dead") else True)
    w = t.pawl(t.cluster(), server, policy=POLICY, host=SHORT)
    w.dispatcher()
    rows = Rows(w)
    refused, later = rows.add("most", "dead1@example.net"), rows.add("most", "fine@example.net")
    ended(rows, refused, 3)
    ended(rows, later, 2)
    reasons = lambda: {i["to"]: i["reason"] for i in w.json("deliveries", "list", "--state", "refused")["items"]}
    eq(reasons(), {"d***@e***.net": "550 5.1.1 no such mailbox"})
    eq(w.json("deliveries", "show", refused)["items"][0]["reason"], "550 5.1.1 no such mailbox")
    line = lambda: next(i["detail"] for i in w.json("story", refused.replace("-", ""))["timeline"] if i["hop"] == "delivery")
    eq(line(), "the provider refused it; its address is suppressed now")
    w.must("suppress", "remove", "dead1@example.net", "--reason", "x")
    eq(line(), "the provider refused it")
    # A receipt that says so after the server took it: the try's words would be those of success.
    rows.cluster.query("UPDATE pawl.deliveries SET state = 3, reason = 'said so later' WHERE notification_id = %s", (later,))
    eq(w.json("deliveries", "show", later)["items"][0]["reason"], "said so later")
    w.breaks["end-recorded"] = "no receipt was written down"
