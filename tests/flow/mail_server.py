"""A mail server scripted in words of mails, and dispatchers that send to it: what the tests of outbound bugs share."""
import email
import email.policy
import re
import threading
import time

from harness import eventually
from kit.deliveries import POLICY, Rows
from send_rig import peer
from smtp_script import OFFERS

SHORT = {"dispatcher": {"transfers": 50, "poll": "20ms", "lease": "2s"}}


class Mailbox:
    """A scripted server in words of mails: reply(what, address, connection) -> the answer, None to hang up, ... to be silent.

    what is CONNECT, MAIL, RCPT, DATA or `.`; without an answer of its own (True) everything is well."""

    FINE = {"CONNECT": b"220 script.test", "MAIL": b"250 2.1.0 ok", "RCPT": b"250 2.1.5 ok", "DATA": b"354 go on", ".": b"250 2.0.0 ok: queued as Q1"}

    def __init__(self, t, reply=lambda *_: True, offers=OFFERS):
        self.reply, self.offers, self.taken, self.lock = reply, offers, [], threading.Lock()
        self.peer = peer(t, self.session)
        self.url = self.peer.url

    def session(self, c):
        address = None
        self.answer(c, "CONNECT", address)
        while True:
            line = c.hear().decode("latin-1").strip()
            word = line[:4].upper()
            if word == "EHLO":
                c.say(self.offers)
            elif word in ("RSET", "NOOP", "QUIT"):
                c.say(b"250 2.0.0 ok" if word != "QUIT" else b"221 2.0.0 bye")
            elif word in ("MAIL", "RCPT"):
                address = re.search(r"<(.*)>", line)[1]
                self.answer(c, word, address)
            elif self.answer(c, "DATA", address):
                c.body()
                with self.lock:
                    self.taken.append((address, c.bodies[-1]))
                self.answer(c, ".", address)

    def answer(self, c, what, address):
        """True when the client may go on to the body."""
        said = self.reply(what, address, c)
        if said is None:
            raise EOFError
        if said is ...:
            time.sleep(3600)
        said = self.FINE[what] if said is True else said
        c.say(said)
        if said.startswith(b"421"):
            raise EOFError
        return said.startswith(b"354")

    def bodies(self, address):
        with self.lock:
            return [body for to, body in self.taken if to == address]

    def counts(self):
        """{address: how often its mail was taken up to the final dot}"""
        with self.lock:
            return {to: sum(to == other for other, _ in self.taken) for to, _ in self.taken}

    def said(self):
        return [line for lines in self.peer.lines() for line in lines]


def against(t, server, dispatchers=1, host=None, note=None):
    """(installation, rows): dispatchers that send to the server. note: {{note}} is the subject's and the text's end."""
    w = t.pawl(t.cluster(), server, policy=POLICY, host=host)
    if note:
        w.set_template("least", "subject", "Dear {{#data}}{{note}}{{/data}}")
        w.set_template("least", "text", "Dear {{#data}}{{note}}{{/data}}\n")
        w.set_template("least", "html", "<p>Dear {{#data}}{{note}}{{/data}}</p>\n")
        w.must("policy", "apply")
    for _ in range(dispatchers):
        w.dispatcher()
    return w, Rows(w)


def all_ended(rows, n, timeout=20):
    eventually(lambda: rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state > 1") == n, timeout, f"{n} deliveries end")


def parsed(body):
    return email.message_from_bytes(body, policy=email.policy.default)


def texts(body):
    """{content type: decoded text} of a mail's parts, without their last line end, which belongs to the boundary (RFC 2046 5.1.1)."""
    return {p.get_content_type(): p.get_content().rstrip("\r\n") for p in parsed(body).walk() if not p.is_multipart()}


def times(n, otherwise):
    """A reply to the final dot: `otherwise` to the first n mails of each address."""
    seen = {}

    def reply(what, address, _):
        if what != ".":
            return True
        seen[address] = seen.get(address, 0) + 1
        return otherwise if seen[address] <= n else True
    return reply
