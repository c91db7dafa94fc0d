"""The texts of messages through the real binaries: layouts, and the contact's locale."""
import os

from harness import *
from kit.deliveries import Rows, ended, setup
from kit.pawl import write

POLICY_INVALID = 5


def put(w, texts):
    for path, text in texts.items():
        folder = os.path.join(w.dir, "templates", os.path.dirname(path))
        os.makedirs(folder, exist_ok=True)
        write(os.path.join(w.dir, "templates", path + ".mustache"), text)


def test_a_mail_has_its_layout_and_its_locale(t):
    w, sink, _ = setup(t)
    put(w, {"least/email.en.html": "{{<page}}\n{{$body}}\n<p>{{#data}}{{note}}{{/data}}</p>\n{{/body}}\n{{/page}}\n",
            "least/email.de.subject": "Bestellung {{order.id}}\n",
            "least/email.de.html": "{{<page}}{{$hello}}Hallo{{/hello}}{{/page}}\n"})
    status, said, more = w.run("policy", "check")
    eq(status, POLICY_INVALID, said + more)
    check("least/email.en.html.mustache:1:1: error: there is no 'page'" in said + more, said + more)
    put(w, {"layouts/page": "<h1>{{$hello}}Hello{{/hello}}</h1>\n<main>\n  {{$body}}\n  {{/body}}\n</main>\n"})
    status, said, more = w.run("policy", "check")
    eq(status, 0, said + more)
    check("has no text in locale 'de', and has it in 'en'" in said + more, said + more)
    w.must("policy", "apply")
    rows = Rows(w)
    for to, locale in (("ann@example.net", None), ("bob@example.net", "de-AT"), ("eve@example.net", "fr")):
        ended(rows, rows.add("least", to, order="1001", locale=locale), 2)
    mails = {to: str(sink.mails(f"{to}@example.net")[0]) for to in ("ann", "bob", "eve")}
    for to in ("ann", "eve"):
        for part in ("<h1>Hello</h1>", "  <p>&lt;b&gt;&amp;</p>", "Order 1001: least."):
            check(part in mails[to], f"{part!r} is in {mails[to]}")
    for part in ("Bestellung 1001", "<h1>Hallo</h1>"):
        check(part in mails["bob"], f"{part!r} is in {mails['bob']}")
    check("Order 1001" not in mails["bob"], f"a part of another locale: {mails['bob']}")


def test_long_texts_are_stored_compressed_by_the_quicker_method(t):
    w, _, _ = setup(t)
    cluster = w.cluster
    if "lz4" not in cluster.value("SELECT enumvals::text FROM pg_settings WHERE name = 'default_toast_compression'"):
        t.skip("this PostgreSQL has no lz4")
    put(w, {"least/email.en.html": "<p>hello again</p>\n" * 1000})
    w.must("policy", "apply")
    rows = Rows(w)
    ended(rows, rows.add("least", "ann@example.net"), 2)
    eq(cluster.query("SELECT pg_column_compression(content), length(content) > 10000 FROM pawl.contents"), [("lz4", True)])
