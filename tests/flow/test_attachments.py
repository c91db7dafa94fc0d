"""Files that go with mails: what arrives is judged by Python's own mail parser, byte for byte."""
import base64
import email
import email.policy
import os
import re
import socket
import sys
import threading

from harness import *
from kit.deliveries import POLICY, Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402
from smtp_script import ScriptedPeer  # noqa: E402
from test_ses import verified  # noqa: E402

MIB = 1 << 20
TEXT = b".\r\n..two dots\nFrom me\r\n--\r\n"


def with_files(*patterns, kind="least"):
    """Edits the policy: the message has these files, and the events' note is a value."""
    listed = ", ".join(f'"{p}"' for p in patterns)
    return lambda text: text.replace("/customer/email } }", "/customer/email }, data: { note: /note } }").replace(
        f"  {kind}:\n", f"  {kind}:\n    attachments: [{listed}]\n")


class Folder:
    def __init__(self):
        self.path = os.path.join(scratch("pawl-files-"), "files")
        os.makedirs(self.path)

    def put(self, name, content):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        return content

    def host(self):
        return {"dispatcher": {"attachments": self.path}}


def setup(t, *patterns, sink=None, policy=POLICY, folder=None):
    folder = folder or Folder()
    sink = sink or t.sink()
    w = t.pawl(t.migrated_cluster(), sink, policy=policy, edit=with_files(*patterns), host=folder.host())
    w.dispatcher()
    return w, sink, Rows(w), folder


def parsed(mail):
    return email.message_from_bytes(mail["raw"].encode("latin-1"), policy=email.policy.default)


def files_of(message):
    return {a.get_filename(): (a.get_content_type(), a.get_payload(decode=True)) for a in message.iter_attachments()}


def again(rows):
    """What waits is due now."""
    rows.cluster.query("UPDATE pawl.due SET due_at = now()")


def test_the_files_arrive_byte_for_byte_beside_text_and_html(t):
    w, sink, rows, folder = setup(t, "invoices/{{order.id}}.pdf", "dots.TXT", "Größe & Käse \\\"neu\\\" – ein langer Name, der über eine Zeile geht.csv")
    pdf = folder.put("invoices/1001.pdf", os.urandom(MIB + 1))
    folder.put("dots.TXT", TEXT)
    name = 'Größe & Käse "neu" – ein langer Name, der über eine Zeile geht.csv'
    folder.put(name, b"a;b\n")
    nid = rows.add("least", "ann@example.net", order="1001")
    ended(rows, nid, 2)
    eq(sink.count("ann@example.net"), 1)
    raw = sink.mails()[0]["raw"]
    message = parsed(sink.mails()[0])
    eq(message.get_content_type(), "multipart/mixed")
    eq(message.defects, [])
    eq([p.get_content_type() for p in message.walk()][1:4], ["multipart/alternative", "text/plain", "text/html"])
    check("Order 1001: least." in message.get_body(("plain",)).get_content(), "the text is there")
    check("<b>1001</b>" in message.get_body(("html",)).get_content(), "the HTML is there")
    eq(files_of(message), {"1001.pdf": ("application/pdf", pdf), "dots.TXT": ("text/plain", TEXT), name: ("text/csv", b"a;b\n")})
    head, _, body = raw.partition("\r\n\r\n")
    del head
    check(all(len(line) <= 76 for line in body.split("\r\n")), "lines of at most 76")
    check(raw.isascii(), "7 bit")
    shown = w.must("deliveries", "show", nid.replace("-", ""))
    digest = rows.cluster.value("SELECT content::json->'attachments'->0->>'sha256' FROM pawl.contents")
    check(f"invoices/1001.pdf" in shown and str(MIB + 1) in shown and digest in shown, shown)
    item = w.json("deliveries", "show", nid.replace("-", ""))["items"][0]
    eq(item["content"]["attachments"][0], {"path": "invoices/1001.pdf", "size": MIB + 1, "sha256": digest})
    check(rows.cluster.value("SELECT length(content) FROM pawl.contents") < 4000, "only what the files are is stored, not their bytes")


def test_an_expansion_to_nothing_is_no_file_and_the_mail_is_what_it_is_without(t):
    w, sink, rows, _ = setup(t, "{{#data}}{{#with}}{{note}}{{/with}}{{/data}}")
    nid = rows.add("least", "ann@example.net", order="1001", note="x.pdf")
    ended(rows, nid, 2)
    del w
    message = parsed(sink.mails()[0])
    eq((message.get_content_type(), files_of(message)), ("multipart/alternative", {}))


def api_files(driver, request):
    """{name: (type, bytes)} as the provider takes them."""
    body = request["json"]
    if driver == "ses":
        raw = base64.b64decode(body["Content"]["Raw"]["Data"], validate=True)
        return files_of(email.message_from_bytes(raw, policy=email.policy.default))
    rows, name, kind, content = {
        "resend": ("attachments", "filename", "content_type", "content"), "sendgrid": ("attachments", "filename", "type", "content"),
        "postmark": ("Attachments", "Name", "ContentType", "Content")}[driver]
    return {a[name]: (a[kind], base64.b64decode(a[content], validate=True)) for a in body[rows]}


def test_every_mail_api_gets_the_files_in_base64(t):
    answers = {"resend": b'{"id":"r"}', "postmark": b'{"ErrorCode":0,"MessageID":"p"}', "sendgrid": b"", "ses": b'{"MessageId":"s"}'}
    cluster, folder = t.migrated_cluster(), Folder()
    pdf, odd = folder.put("in/1001.pdf", os.urandom(300_001)), folder.put("käse.bin", os.urandom(57))
    requests = {}
    for driver, answer in answers.items():
        p = t.keep(HttpPeer(lambda c, r, a=answer: c.say(202 if a == b"" else 200, a)))
        more = ", region: eu-central-1, access_key: AKIDEXAMPLE, secret: credential:api" if driver == "ses" else ", token: credential:api"
        w = t.pawl(cluster, policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: {driver}, url: "{p.url}"{more} }}'),
                   edit=with_files("in/1001.pdf", "käse.bin"), host=folder.host())
        w.dispatcher()
        rows = Rows(w)
        nid = rows.add("least", f"{driver}@example.net", order=driver)
        ended(rows, nid, 2)
        w.dispatchers[0].stop()
        eq(len(p.requests), 1, driver)
        eq(api_files(driver, p.requests[0]), {"1001.pdf": ("application/pdf", pdf), "käse.bin": ("application/octet-stream", odd)}, driver)
        requests[driver] = p.requests[0]
    check(verified(requests["ses"], secret("api")), "SES's signature is over the files too")


def test_what_a_provider_does_not_take_is_refused_before_it_is_sent(t):
    p = t.keep(HttpPeer(lambda c, r: c.say(200, b'{"ErrorCode":0,"MessageID":"p"}')))
    folder = Folder()
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: postmark, token: credential:api, url: "{p.url}" }}'),
               edit=with_files("a.bin", "b.bin"), host=folder.host())
    folder.put("a.bin", bytes(5 * MIB))
    folder.put("b.bin", bytes(5 * MIB))
    w.dispatcher()
    rows = Rows(w)
    nid = rows.add("least", "ann@example.net")
    ended(rows, nid, 3)
    check("postmark takes 10485760" in rows.cluster.value("SELECT detail FROM pawl.attempts"), "the reason is told")
    eq(len(p.requests), 0)


def test_a_file_that_changed_or_went_since_the_first_try_ends_the_delivery(t):
    w, sink, rows, folder = setup(t, "invoices/{{order.id}}.pdf", policy=POLICY.replace("[100ms, 200ms]", "[1h]").replace("for: 10m", "for: 2h"))
    changes = {
        "other": lambda p: folder.put(p, b"%PDF-other"), "longer": lambda p: folder.put(p, b"%PDF-first."),
        "gone": lambda p: os.unlink(os.path.join(folder.path, p)),
        "link": lambda p: (os.rename(os.path.join(folder.path, p), os.path.join(folder.path, "x")), os.symlink("../x", os.path.join(folder.path, p))),
        "same": lambda p: folder.put(p, b"%PDF-first")}
    nids = {}
    for order in changes:
        folder.put(f"invoices/{order}.pdf", b"%PDF-first")
        nids[order] = rows.add("least", f"rcpt451-1+{order}@example.net", order=order, retry="2 hours")
        eventually(lambda o=order: rows.delivery(nids[o])[:2] == (0, 1), 10, f"{order} was tried once")
    for order, change in changes.items():
        change(f"invoices/{order}.pdf")
    again(rows)
    ended(rows, nids["same"], 2)
    for order in set(changes) - {"same"}:
        ended(rows, nids[order], 8)
        check(f"'invoices/{order}.pdf'" in rows.delivery(nids[order])[4], rows.delivery(nids[order])[4])
        eq(rows.outcomes(nids[order]), [3, 2], order)
    eq(sink.by_rcpt(), {"rcpt451-1+same@example.net": 1})
    eq(files_of(parsed(sink.mails()[0])), {"same.pdf": ("application/pdf", b"%PDF-first")})
    eq(rows.left(), (0, 0, 0))
    del w


def test_after_a_try_of_unknown_outcome_a_changed_file_leaves_it_unknown(t):
    w, sink, rows, folder = setup(t, "a.pdf", policy=POLICY.replace("[100ms, 200ms]", "[1h]").replace("for: 10m", "for: 2h"))
    folder.put("a.pdf", b"first")
    nid = rows.add("least", "dropafterdot-1+l@example.net", retry="2 hours")
    eventually(lambda: rows.delivery(nid)[:2] == (0, 1), 10)
    folder.put("a.pdf", b"other")
    again(rows)
    ended(rows, nid, 9)
    check("'a.pdf'" in rows.delivery(nid)[4], rows.delivery(nid)[4])
    eq(sink.count(), 1)
    del w


def test_what_is_no_file_below_the_folder_is_never_read(t):
    w, sink, rows, folder = setup(t, "{{data.note}}")
    outside = os.path.join(os.path.dirname(folder.path), "outside.pdf")
    with open(outside, "wb") as f:
        f.write(b"not the shop's")
    os.symlink(outside, os.path.join(folder.path, "link.pdf"))
    os.mkfifo(os.path.join(folder.path, "pipe"))
    os.mkdir(os.path.join(folder.path, "sub"))
    folder.put("empty.pdf", b"")
    folder.put("large.bin", bytes(5 * MIB + 1))
    folder.put("sub/in.pdf", b"in")
    words = {"missing.pdf": "'missing.pdf': there is no such file", "link.pdf": "symbolic link", "pipe": "not a regular file", "sub": "not a regular file",
             "empty.pdf": "'empty.pdf' is empty", "large.bin": f"{5 * MIB + 1} bytes, more than 5 MiB", "..": "'..'", "../outside.pdf": "'/' can't stand in a value",
             "sub/in.pdf": "'/' can't stand in a value", outside: "'/' can't stand in a value", "a\r\nBcc: eve@example.net": "control character",
             "x" * 300: "longer than 255 bytes", "": None}
    nids = {note: rows.add("least", "ann@example.net", note=note) for note in words}
    for note, nid in nids.items():
        ended(rows, nid, 8 if words[note] else 2)
        check(not words[note] or words[note] in rows.delivery(nid)[4], f"{note!r}: {rows.delivery(nid)[4]}")
    eq(sink.count(), 1)
    eq(files_of(parsed(sink.mails()[0])), {})
    del w


def test_all_together_they_are_bounded(t):
    w, sink, rows, folder = setup(t, "a", "b", "c")
    folder.put("a", bytes(5 * MIB))
    folder.put("b", bytes(5 * MIB))
    folder.put("c", b"x")
    nid = rows.add("least", "ann@example.net")
    ended(rows, nid, 8)
    check("more than 10 MiB together" in rows.delivery(nid)[4], rows.delivery(nid)[4])
    eq(sink.count(), 0)
    del w


def test_of_mails_that_lack_a_file_none_of_the_others_is_read(t):
    """Else one claim would read far more than its 16 MiB, and the loop stand still meanwhile."""
    w, _, rows, folder = setup(t, "terms.pdf", "missing.pdf")
    folder.put("terms.pdf", bytes(5 * MIB))
    for i in range(20):
        rows.add("least", f"p{i}@example.net")
    eventually(lambda: rows.left()[0] == 0 and rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state = 8") == 20, 30, "all are dead")
    with open(f"/proc/{w.dispatchers[0].pid}/io", encoding="ascii") as f:
        read = int(re.search(r"rchar: (\d+)", f.read())[1])
    check(read < 20 * MIB, f"{read} bytes were read")


def test_a_folder_that_is_away_ends_nothing(t):
    w, sink, rows, folder = setup(t, "a.pdf", policy=POLICY.replace("[100ms, 200ms]", "[1h]").replace("for: 10m", "for: 2h"))
    folder.put("a.pdf", b"first")
    tried = rows.add("least", "rcpt451-1+b@example.net", retry="2 hours")
    eventually(lambda: rows.delivery(tried)[:2] == (0, 1), 10)
    os.rename(folder.path, folder.path + ".away")
    new = rows.add("least", "new@example.net")
    again(rows)
    eventually(lambda: "attachments.unreadable" in w.dispatchers[0].log(), 10)
    eventually(lambda: rows.outcomes(tried) == [3, 5], 10, "given back, and no try spent")
    eq((rows.state(new), rows.state(tried)), (0, 0))
    os.rename(folder.path + ".away", folder.path)
    again(rows)
    ended(rows, new, 2)
    ended(rows, tried, 2)
    eq(sink.count(), 2)


def test_the_policy_is_checked_with_places(t):
    w = t.pawl(t.migrated_cluster(), policy=POLICY, edit=with_files("invoices/{{order.id}}.pdf"), setup=False)
    status, _, told = w.run("policy", "apply")
    check(status == 5 and "dispatcher: { attachments: FOLDER }" in told and "policy.yaml:" in told, told)


def test_a_request_that_is_cut_before_its_end_is_sent_again_even_at_most_once(t):
    class Cutting(HttpPeer):
        """Its first connection ends in the middle of a body."""
        cut = 0

        def _serve(self, sock):
            if not self.cut:
                self.cut = len(sock.recv(1000))
                sock.close()  # bytes are left unread: a reset
                return
            super()._serve(sock)

    p, folder = t.keep(Cutting(lambda c, r: c.say())), Folder()
    files = {name: folder.put(name, os.urandom(5 * MIB)) for name in "ab"}
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}'),
               edit=with_files("a", "b", kind="most"), host=folder.host())
    w.dispatcher()
    rows = Rows(w)
    nid = rows.add("most", "ann@example.net")
    ended(rows, nid, 2, 30)
    check(p.cut > 0, "one was cut")
    eq(rows.outcomes(nid), [3, 1])
    eq({name: got for name, (_, got) in api_files("resend", p.requests[0]).items()}, files)
    eq(len(p.requests), 1)


def test_a_file_that_changes_while_it_is_sent_cuts_the_request_before_its_end(t):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)  # connections have it too: most of it waits for us
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    folder = Folder()
    for name in "ab":
        folder.put(name, os.urandom(5 * MIB))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{url}" }}'),
               edit=with_files("a", "b"), host=folder.host())
    w.dispatcher()
    rows = Rows(w)
    nid = rows.add("least", "ann@example.net")
    listener.settimeout(20)
    with listener, listener.accept()[0] as peer:
        peer.settimeout(20)
        got = peer.recv(1000)
        folder.put("b", os.urandom(5 * MIB))  # the first is on its way
        for some in iter(lambda: peer.recv(65536), b""):
            got += some
    length = int(re.search(rb"Content-Length: (\d+)", got)[1])
    head, _, body = got.partition(b"\r\n\r\n")
    check(head.startswith(b"POST /emails ") and 10 * MIB < len(body) < length, f"{len(body)} of {length} bytes")
    check(b"}" not in body[-1000:], "the end of the object never came")
    ended(rows, nid, 8)
    check("'b' is not the file it was" in rows.delivery(nid)[4], rows.delivery(nid)[4])
    eq(rows.outcomes(nid), [2])


def test_a_file_that_changes_while_its_mail_is_sent_cuts_the_mail_before_its_dot(t):
    folder, got, cut_off = Folder(), [], threading.Event()
    whole = {name: folder.put(name, os.urandom(5 * MIB)) for name in "ab"}

    def script(c):
        c.greet(b"250-script.test\r\n250 SIZE 99999999\r\n")
        if got:
            c.take()
            return
        c.envelope()
        got.append(c.file.read(1000))
        folder.put("b", os.urandom(5 * MIB))  # the first is on its way
        got.extend(iter(lambda: c.file.read(65536), b""))
        folder.put("b", whole["b"])
        cut_off.set()
    peer = t.keep(ScriptedPeer(script))
    peer.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)  # connections have it too: most of it waits for us
    _, _, rows, _ = setup(t, "a", "b", sink=peer, folder=folder)
    nid = rows.add("least", "ann@example.net")
    ended(rows, nid, 8)
    check("'b' is not the file it was" in rows.delivery(nid)[4], rows.delivery(nid)[4])
    eq(rows.outcomes(nid), [2])
    check(cut_off.wait(20), "the connection ends")
    cut = b"".join(got)
    check(10 * MIB < len(cut) < sum(map(len, whole.values())) * 78 // 57, f"{len(cut)} bytes")
    check(b"\r\n.\r\n" not in cut and b"QUIT" not in cut[-100:], "neither the dot nor another word")
    after = rows.add("least", "bob@example.net")  # over a connection that knows of no mail
    ended(rows, after, 2)
    eq([len(c.lines) for c in peer.connections], [4, 4], "EHLO and an envelope each")
    eq({name: body for name, (_, body) in files_of(parsed({"raw": peer.bodies()[0].decode("latin-1")})).items()}, whole)
