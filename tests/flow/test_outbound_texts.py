"""Bugs of other senders in the texts of mails; the list of all rows is in test_outbound_bugs.py."""
import email.header
import os
import re
import sys
import threading

from harness import *
from kit.deliveries import Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
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
