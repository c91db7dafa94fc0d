"""SMTP peers: SmtpSink (scripted by recipient, see smtp_server.py) and PostfixSink (Debian's smtp-sink)."""
import glob
import json
import os
import re
import socket
import subprocess
import sys

from . import procs

HERE = os.path.dirname(os.path.realpath(__file__))


def _listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class SmtpSink:
    """tls: None, "starttls" or "implicit", with the PEM files cert and key, else with a certificate that vouches for itself;
    auth: "user:password". Records survive stop() and start()."""

    def __init__(self, tls=None, auth=None, cert=None, key=None):
        self.dir = procs.scratch("pawl-smtp-")
        self.record = os.path.join(self.dir, "mails.ndjson")
        self.port, self.tls, self.auth, self.proc = procs.free_ports(), tls, auth, None
        self.key = key or os.path.join(self.dir, "key.pem")
        self.cert = cert or (self._make_cert() if tls else None)
        open(self.record, "w", encoding="utf-8").close()
        self.start()

    @property
    def url(self):
        return f"{'smtps' if self.tls == 'implicit' else 'smtp'}://127.0.0.1:{self.port}"

    def _make_cert(self):
        cert = os.path.join(self.dir, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", self.key, "-out", cert],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return cert

    def start(self):
        argv = [sys.executable, os.path.join(HERE, "smtp_server.py"), str(self.port), self.record]
        if self.tls:
            argv += ["--starttls" if self.tls == "starttls" else "--implicit-tls", "--cert", self.cert,
                     "--key", self.key]
        if self.auth:
            argv += ["--auth", self.auth]
        self.proc = procs.Proc("smtp", argv)
        procs.eventually(lambda: not self.proc.alive() or _listening(self.port), 15, "the SMTP server listens")
        if not self.proc.alive():
            raise AssertionError("the SMTP server ended at start:\n" + self.proc.output())

    def stop(self):
        self.proc.kill9()

    def records(self):
        """Every record in order: mails taken (kind "mail") and refusals (kind "refused")."""
        return [json.loads(line) for line in procs.whole_lines(self.record)]

    def mails(self, rcpt=None):
        """The mails that were taken whole, whatever was answered then; of one recipient if given."""
        return [r for r in self.records() if r["kind"] == "mail" and (rcpt is None or rcpt in r["rcpt"])]

    def count(self, rcpt=None):
        return len(self.mails(rcpt))

    def by_rcpt(self):
        """{recipient: number of mails taken}"""
        counts = {}
        for mail in self.mails():
            for rcpt in mail["rcpt"]:
                counts[rcpt] = counts.get(rcpt, 0) + 1
        return counts

    def close(self):
        if self.proc.alive():
            self.proc.kill9()


class PostfixSink:
    """Postfix's smtp-sink: a program nobody here wrote counts the mails. options: see smtp-sink(1)."""

    def __init__(self, options=()):
        self.dir = procs.scratch("pawl-sink-")
        os.chmod(self.dir, 0o777)
        self.port = procs.free_ports()
        program, env = _find_smtp_sink()
        # The dump has one file a mail: the server's own record of what it took.
        argv = [program, "-d", os.path.join(self.dir, "mail."), *options, f"127.0.0.1:{self.port}", "100"]
        if os.getuid() == 0:
            argv[1:1] = ["-u", "nobody"]
        self.proc = procs.Proc("smtp-sink", argv, env=env)
        procs.eventually(lambda: _listening(self.port), 10, "smtp-sink listens")

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def mails(self):
        """The text of each mail that was taken, with X-Rcpt-Args and the like in front."""
        found = []
        for path in sorted(glob.glob(os.path.join(self.dir, "mail.*"))):
            with open(path, encoding="utf-8", errors="replace") as f:
                found.append(f.read())
        return found

    def count(self):
        return len(glob.glob(os.path.join(self.dir, "mail.*")))

    def by_rcpt(self):
        counts = {}
        for text in self.mails():
            for rcpt in re.findall(r"^X-Rcpt-Args: <([^>]*)>", text, re.M):
                counts[rcpt] = counts.get(rcpt, 0) + 1
        return counts

    def close(self):
        if self.proc.alive():
            self.proc.kill9()


def _find_smtp_sink():
    """(program, environment); an unpacked one needs its libraries named."""
    program = procs.tool("usr/sbin/smtp-sink")
    if not program:
        raise AssertionError("smtp-sink is missing: tests/run unpacks it (deploy/packages, section test-unpack)")
    libraries = os.path.join(os.path.dirname(program), "../lib/postfix")
    return program, {**os.environ, "LD_LIBRARY_PATH": libraries}
