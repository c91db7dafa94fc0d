"""Bugs of other senders in the texts of mails; the list of all rows is in test_outbound_bugs.py."""
import email.header
import os
import re
import sys
import threading

from harness import *
from kit.deliveries import POLICY, Rows, ended
from kit.pawl import smtp_provider

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402
from mail_server import SHORT, Mailbox, against, parsed, texts  # noqa: E402


def test_names_with_quotes_and_ampersands_arrive_as_they_were_written(t):
    """17 (sendgrid-nodejs#708, #741, #954, firebase/extensions#69): O&#x27;Neil and C&amp;A in the subject."""
    server = Mailbox(t)
    _, rows = against(t, server, note=True)
    note = "O'Neil & \"C&A\" <b>\\"
    nid = rows.add("least", "ann@example.net", note=note)
    ended(rows, nid, 2)
    body = server.bodies("ann@example.net")[0]
    eq(parsed(body)["Subject"], f"Dear {note}")
    eq(texts(body), {"text/plain": f"Dear {note}", "text/html": "<p>Dear O&#39;Neil &amp; &quot;C&amp;A&quot; &lt;b&gt;\\</p>"})


def test_subjects_of_emoji_come_in_words_that_decode_alone(t):
    """19 (upyo#39, cyrus-imapd#2529, #2663, neomutt#1015, Indy#157, fidogate#8, mikel/mail#35): words split a character."""
    notes = ["😀" * 40, "é" * 200, "a" * 61 + "€" * 9, "日本語" * 30, "x" * 300, "=?UTF-8?B?w6k=?=", "e\u0301" * 70, "👩‍👩‍👧‍👦" * 12]
    server = Mailbox(t)
    _, rows = against(t, server, note=True)
    nids = [rows.add("least", f"n{i}@example.net", note=note) for i, note in enumerate(notes)]
    for i, (nid, note) in enumerate(zip(nids, notes)):
        ended(rows, nid, 2)
        body = server.bodies(f"n{i}@example.net")[0]
        head = body.partition(b"\r\n\r\n")[0].decode("ascii")
        subject = re.search(r"^Subject: (.*(?:\r\n[ \t].*)*)", head, re.M)[1]
        for word in re.findall(r"=\?.*?\?=", subject):
            check(len(word) <= 75, f"{len(word)} characters: {word}")
            text, charset = email.header.decode_header(word)[0]
            text.decode(charset)  # a part of a character does not decode
        check(max(map(len, head.split("\r\n"))) <= 998, "a line over 998")
        check("=?" not in subject or max(map(len, head.split("\r\n"))) <= 76, "a line over 76")
        eq(parsed(body)["Subject"], f"Dear {note}", f"note {i}")


def test_an_edited_template_changes_no_message_that_was_tried_already(t):
    """5.4: a retry with another text is another message, and the provider's key for the first no longer fits."""
    again = threading.Event()
    server = Mailbox(t, lambda what, *_: True if what != "." or again.is_set() else None)
    w, rows = against(t, server, host=SHORT)
    nid = rows.add("least", "l@example.net")
    eventually(lambda: len(server.bodies("l@example.net")) >= 1, 10, "a first try")
    w.set_template("least", "text", "Another text.\n")
    w.set_template("least", "subject", "another")
    w.must("policy", "apply")
    w.restart(w.dispatchers[0])
    eventually(lambda: len(server.bodies("l@example.net")) >= 3, 10, "tries after the edit")
    again.set()
    ended(rows, nid, 2)
    eq(len(set(server.bodies("l@example.net"))), 1)
    fresh = Rows(w).add("least", "f@example.net")
    ended(rows, fresh, 2)
    check(b"Another text." in server.bodies("f@example.net")[0], "a new message has the new text")


LEASE_3S = {"dispatcher": {"transfers": 50, "poll": "20ms", "lease": "3s"}}


class Api:
    """Resend, as far as its reply goes."""

    def __init__(self, t):
        self.peer = t.keep(HttpPeer(lambda c, _: c.say()))
        self.row = f'{{ driver: resend, token: credential:api, url: "{self.peer.url}" }}'

    def sent(self):
        """What must be the same each time."""
        return [(r["key"], r["body"]) for r in self.peer.requests]


class Smtp:
    def __init__(self, t):
        self.box = Mailbox(t)
        self.row = smtp_provider(self.box)

    def sent(self):
        return list(self.box.taken)


def test_killed_between_rendering_and_the_record_all_copies_have_the_text_of_the_first(t):
    """Whoever takes it over finds the content that was stored before the wire, not the template of today."""
    t.need_faults()
    labels = ["send.after_reply", "claim.after_commit", "wire.after_body"]  # later ones may be killed while they send an earlier one's again
    if t.long:
        labels += ["wire.before_start", "wire.after_start", "record.before_lock", "record.before_commit"]
    for kind in (Smtp, Api):
        server = kind(t)
        w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", server.row), host=LEASE_3S)
        rows, nids = Rows(w), {}
        for label in labels:
            victim = w.dispatcher(wait=False, fault=f"crash@{label}:1")
            nids[label] = rows.add("least", "l@example.net")
            victim.proc.wait(15)
            w.ended.append(w.dispatchers.pop())
        w.set_template("least", "text", "Another text.\n")
        w.set_template("least", "subject", "another")
        w.must("policy", "apply")
        w.dispatcher()
        sent = {}
        for nid in nids.values():
            ended(rows, nid, 2, 20)
        for one in server.sent():
            sent.setdefault(re.search(rb"Order (\w+): least", one[1])[1].decode(), []).append(one)
        eq(len(sent), len(labels), "none has another text")
        for label, nid in nids.items():
            copies = sent[rows.cluster.value("SELECT once FROM pawl.notifications WHERE notification_id = %s", (nid,)).split("/")[1]]
            eq(len(set(copies)), 1, f"{kind.__name__}, killed at {label}: copies differ")
            check(b"least" in copies[0][1] and b"nother" not in copies[0][1], f"{copies[0]}")
            check(len(copies) > 1 or label != labels[0], f"{kind.__name__}, killed at {label}: {len(copies)} copies")
            check(1 <= len(copies) <= rows.delivery(nid)[3] + 1, f"{label}: {len(copies)} copies, {rows.delivery(nid)}")
