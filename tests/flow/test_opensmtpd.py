"""Mail through OpenSMTPD, a server by others, in a root folder of its own: what it takes it hands on to a second server, whose count is the oracle."""
import os
import re
import shutil
import stat
import subprocess

from harness import *
from kit.deliveries import POLICY, Rows, ended

CONFIG = """pki mx.example.net cert "/etc/cert.pem"
pki mx.example.net key "/etc/key.pem"
smtp max-message-size "20K"
listen on 127.0.0.1 port {port} {tls} hostname mx.example.net
listen on socket
action "on" relay host "smtp://127.0.0.1:{next}"
match from any for domain "example.net" action "on"
"""
# It drops its rights to these users and looks them up by name.
PASSWD = """root:x:0:0::/:/bin/false
opensmtpd:x:64901:64901::/var/lib/opensmtpd/empty:/bin/false
opensmtpq:x:64902:64902::/var/lib/opensmtpd/empty:/bin/false
"""
FILES = {"passwd": PASSWD, "group": "root:x:0:\nopensmtpd:x:64901:\nopensmtpq:x:64902:\n", "hosts": "127.0.0.1 localhost\n",
         "mailname": "mx.example.net\n", "resolv.conf": "", "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n"}
SERVER, REFUSED = "usr/sbin/smtpd", 3


class OpenSmtpd:
    """Takes mail for example.net at .url and hands it on to the server at the port `onward`."""

    def __init__(self, t, onward, tls=False):
        program = t.need_tool(SERVER)
        if os.getuid() != 0:
            t.skip("OpenSMTPD runs as root alone")
        self.root, self.port, self.proc = scratch("pawl-opensmtpd-"), free_ports(), None
        self._libraries(t, program)
        for folder, mode in (("etc", 0o755), ("dev", 0o755), ("tmp", 0o1777), ("var/spool/smtpd", 0o711), ("var/run", 0o755),
                             ("var/lib/opensmtpd/empty", 0o755), ("usr/sbin", 0o755)):
            os.makedirs(self.path(folder), exist_ok=True)
            os.chmod(self.path(folder), mode)
        for name in (SERVER, "usr/sbin/smtpctl"):
            shutil.copy(t.need_tool(name), self.path(name))
        try:
            os.mknod(self.path("dev/null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            os.chmod(self.path("dev/null"), 0o666)
        except PermissionError:
            t.skip("no device can be made here")
        config = CONFIG.format(port=self.port, next=onward, tls="tls pki mx.example.net" if tls else "")
        for name, text in {**FILES, "smtpd.conf": config}.items():
            with open(self.path("etc", name), "w", encoding="utf-8") as f:
                f.write(text)
        self.cert = self.path("etc/cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", self.path("etc/key.pem"), "-out", self.cert],
                       check=True, capture_output=True)
        os.chmod(self.path("etc/key.pem"), 0o600)
        self.proc = t.keep(self) and Proc("opensmtpd", ["chroot", self.root, "/" + SERVER, "-d", "-f", "/etc/smtpd.conf"], cwd="/")
        eventually(self.listens, 20, "it listens")

    def path(self, *names):
        return os.path.join(self.root, *names)

    def _libraries(self, t, program):
        needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        if "not found" in needed:
            t.skip("a library of OpenSMTPD is not here (deploy/packages, section test-unpack-needs)")
        for file in re.findall(r"(/\S+)", needed):
            os.makedirs(os.path.dirname(self.root + file), exist_ok=True)
            shutil.copy(os.path.realpath(file), self.root + file)

    def listens(self):
        if not self.proc.alive():
            raise AssertionError("OpenSMTPD ended at start:\n" + self.proc.output())
        return subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{self.port}"], capture_output=True, check=False).returncode == 0

    def log(self):
        return self.proc.output()

    def close(self):
        if self.proc and self.proc.alive():
            self.proc.signal_tree(9)
            self.proc.wait(10)


def setup(t, tls=False, more=""):
    sink = t.sink()
    server = OpenSmtpd(t, sink.port, tls)
    row = f'{{ driver: smtp, url: "smtp://127.0.0.1:{server.port}"{more.format(ca=server.cert)} }}'
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", row))
    for kind in ("most", "least"):
        w.set_template(kind, "text", "{{#data}}{{note}}{{/data}}\n")
    w.must("policy", "apply")
    w.dispatcher()
    return w, server, sink, Rows(w)


def test_each_mail_goes_through_it_once_and_unchanged(t):
    _, server, sink, rows = setup(t)
    ids = {rows.add(kind, f"{kind}{i}@example.net", order=f"{kind}{i}", note="Käse & Brot"): kind for kind in ("most", "least") for i in range(10)}
    for nid in ids:
        ended(rows, nid, 2)
    eventually(lambda: sink.count() >= len(ids), 30, "it hands them on")
    eq(sink.by_rcpt(), {f"{kind}{i}@example.net": 1 for kind in ("most", "least") for i in range(10)})
    sent = {m: (i, p) for m, i, p in rows.cluster.query(
        "SELECT d.address, c.content::json ->> 'message_id', a.detail FROM pawl.deliveries d JOIN pawl.contents c USING (bucket, notification_id)"
        " JOIN pawl.attempts a USING (bucket, notification_id)")}
    for mail in sink.mails():
        message_id, told = sent[mail["rcpt"][0]]
        eq((mail["message_id"], mail["parts"]["text/plain"].strip()), (f"<{message_id}>", "Käse & Brot"), "as it was made")
        check("Message accepted for delivery" in told, told)
    eq(rows.left(), (0, 0, 0))
    check("result=\"Ok\"" in server.log(), server.log()[-500:])


def test_what_it_refuses_is_refused_for_the_right_reason(t):
    _, _, sink, rows = setup(t)
    big = rows.add("least", "big@example.net", note="x" * 30000)
    other = rows.add("least", "ann@example.org")
    local = rows.add("least", "käse@example.net")
    for nid in (big, other, local):
        ended(rows, nid, REFUSED)
    levels = dict(rows.cluster.query("SELECT d.address, a.level FROM pawl.deliveries d JOIN pawl.attempts a USING (bucket, notification_id)"))
    eq(levels, {"big@example.net": 0, "ann@example.org": 1, "käse@example.net": 1}, "message, address, address")
    said = dict(rows.cluster.query("SELECT notification_id::text, detail FROM pawl.attempts"))
    check("non-ASCII address" in said[local] and "5.3.4" in said[big] and "550" in said[other], f"{said}")
    fine = rows.add("least", "ann@example.net")
    ended(rows, fine, 2)
    eventually(lambda: sink.count() == 1, 20)
    eq(sink.by_rcpt(), {"ann@example.net": 1})


def test_a_mail_that_is_to_go_by_starttls_never_goes_in_the_clear(t):
    """Debian 12's OpenSMTPD offers STARTTLS and can't do it (OpenSMTPD/OpenSMTPD#1239); one that can must have it in its Received line."""
    w, server, sink, rows = setup(t, True, ", tls: starttls, ca: \"{ca}\"")
    nid = rows.add("least", "ann@example.net")
    eventually(lambda: rows.outcomes(nid), 15, "it was tried")
    if rows.outcomes(nid)[0] == 1:
        eventually(lambda: sink.count() == 1, 20)
        check(re.search(r"TLSv1\.[23]", sink.mails()[0]["raw"]), sink.mails()[0]["raw"][:500])
        return
    eq((rows.outcomes(nid)[0], rows.state(nid), sink.count()), (3, 0, 0))
    check("STARTTLS" in server.log() or "io-error" in server.log(), server.log()[-500:])
    check("Message accepted" not in server.log() and rows.delivery(nid)[2:4] == (0, 0), "no doubt: nothing of the mail was said")
    check(w.metric("pawl_attempts_total", outcome="accepted") == 0, "none was taken")
