"""An SMTP server as a foreign oracle: says what the recipient's name tells it to, writes what it took as NDJSON.

Run as a program of its own: smtp_server.py PORT RECORD [--starttls|--implicit-tls] [--cert FILE --key FILE]
[--auth USER:PASSWORD]. The local part is BEHAVIOUR[-N][+anything]; with -N only the first N transactions to that address
behave so, later ones are taken. Behaviours:
  rcptCODE        refuses the recipient with CODE           dataCODE   refuses DATA with CODE (421 closes too)
  mailCODE        refuses MAIL FROM (the sender's own name) dotCODE    refuses after the final dot
  dropbeforedata  closes instead of answering DATA          dropinbody closes in the middle of the body
  dropafterdot    takes the mail, then closes without a reply
  silentafterdot  takes the mail and never answers          slow       takes the mail, answers after 2 s
"""
import argparse
import asyncio
import email.parser
import email.policy
import hashlib
import json
import os
import re
import ssl
import sys
import time

from aiosmtpd.smtp import SMTP, AuthResult, syntax

NAME = re.compile(r"^(?P<what>[a-z]+)(?P<code>\d{3})?(-(?P<times>\d+))?(\+.*)?$")
TEXT = {"4": "try again later", "5": "not here"}
BEHAVIOURS = {"rcpt", "data", "mail", "dot", "dropbeforedata", "dropinbody", "dropafterdot", "silentafterdot", "slow"}


def reply(code):
    """A reply line with an enhanced status code of the same class."""
    return f"{code} {code[0]}.0.0 {TEXT.get(code[0], 'ok')}"


class Book:
    """What was seen of each address, and the file of records."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8", buffering=1)
        self.seen = {}

    def behaviour(self, address):
        """(what, code) of the address, or (None, None) when it is to be treated well."""
        m = NAME.match(address.split("@")[0])
        if not m or m["what"] not in BEHAVIOURS:
            return None, None
        if m["times"] and self.seen.get(address, 0) >= int(m["times"]):
            return None, None
        return m["what"], m["code"]

    def used(self, address):
        self.seen[address] = self.seen.get(address, 0) + 1

    def write(self, kind, server, envelope, end, **more):
        session = server.session
        self.file.write(json.dumps({
            "kind": kind, "end": end, "time": time.time(), "peer": session.peer[1], "tls": server.transport.get_extra_info("ssl_object") is not None,
            "auth": session.auth_data, "from": envelope.mail_from, "rcpt": envelope.rcpt_tos, **more}) + "\n")


def mail_facts(content):
    """What a test asks of a mail: headers, decoded parts, hash and size of the raw bytes."""
    mail = email.parser.BytesParser(policy=email.policy.default).parsebytes(content)
    parts = {}
    for part in mail.walk():
        if not part.is_multipart() and not part.is_attachment():  # files are in the raw bytes
            parts[part.get_content_type()] = part.get_content()
    return {"headers": [[k, str(v)] for k, v in mail.items()], "message_id": mail["Message-ID"], "subject": mail["Subject"],
            "parts": parts, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content),
            "raw": content.decode("latin-1")}


class Handler:
    def __init__(self, book):
        self.book = book

    async def handle_MAIL(self, server, session, envelope, address, options):
        what, code = self.book.behaviour(address)
        if what == "mail":
            self.book.used(address)
            return reply(code)
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        what, code = self.book.behaviour(address)
        if what == "rcpt":
            self.book.used(address)
            self.book.write("refused", server, envelope, reply(code), rcpt_refused=address)
            return reply(code)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        what, code, address = server.planned(envelope)
        facts = mail_facts(envelope.original_content)
        self.book.used(address)
        if what == "dot":
            self.book.write("refused", server, envelope, reply(code), message_id=facts["message_id"])
            return reply(code)
        self.book.write("mail", server, envelope, what or "accepted", **facts)
        if what == "dropafterdot":
            server.transport.abort()
        elif what == "silentafterdot":
            await asyncio.sleep(3600)
        elif what == "slow":
            await asyncio.sleep(2)
        return "250 OK"


class Server(SMTP):
    """aiosmtpd with the phases that a handler can't reach: the reply to DATA and the middle of the body."""

    def planned(self, envelope):
        for address in envelope.rcpt_tos:
            what, code = self.event_handler.book.behaviour(address)
            if what:
                return what, code, address
        return None, None, envelope.rcpt_tos[0] if envelope.rcpt_tos else ""

    @syntax("DATA")
    async def smtp_DATA(self, arg):
        what, code, address = self.planned(self.envelope)
        book = self.event_handler.book
        if what in ("data", "dropbeforedata", "dropinbody"):
            book.used(address)
            book.write("refused", self, self.envelope, what + (code or ""))
        if what == "data":
            await self.push(reply(code))
            if code == "421":
                self.transport.close()
            return
        if what == "dropinbody":
            await self.push("354 go on")
            await self._reader.read(10)
        if what in ("dropbeforedata", "dropinbody"):
            self.transport.abort()
            return
        await super().smtp_DATA(arg)


def tls_context(args):
    if not args.cert:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(args.cert, args.key)
    return context


def authenticator(pair):
    user, password = pair.split(":", 1)

    def check(server, session, envelope, mechanism, auth_data):
        ok = auth_data.login.decode() == user and auth_data.password.decode() == password
        return AuthResult(success=ok, auth_data=user if ok else None, handled=False)
    return check


async def serve(args):
    book, tls = Book(args.record), tls_context(args)
    options = {"hostname": "sink.test", "enable_SMTPUTF8": True, "decode_data": False, "loop": asyncio.get_running_loop(),
               "timeout": 3600}
    if args.starttls:
        options.update(tls_context=tls, require_starttls=True)
    if args.auth:
        options.update(authenticator=authenticator(args.auth), auth_required=True, auth_require_tls=bool(args.starttls))
    server = await options["loop"].create_server(
        lambda: Server(Handler(book), **options), "127.0.0.1", args.port, ssl=tls if args.implicit_tls else None, backlog=512)
    print("ready", flush=True)
    await server.serve_forever()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("port", type=int)
    p.add_argument("record")
    p.add_argument("--starttls", action="store_true")
    p.add_argument("--implicit-tls", action="store_true")
    p.add_argument("--cert")
    p.add_argument("--key")
    p.add_argument("--auth")
    args = p.parse_args()
    try:
        asyncio.run(serve(args))
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    os.umask(0o022)
    main()
