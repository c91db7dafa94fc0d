"""Line ends, NUL and what else might end a header, from a webhook to the wire: more than fifty vectors by each channel, by the peers' own logs."""
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from http_script import HttpPeer  # noqa: E402

EVIL = ["\r\nX-Evil: 1", "\nX-Evil: 1", "\rX-Evil: 1", "\r\r\nX-Evil: 1", "\n\rX-Evil: 1", "\r\n\r\nevil body", "\n\nevil body", "\0X-Evil: 1", "\0\r\nX-Evil: 1",
        "\r\n\0X-Evil: 1", "\0", "\r\n", "\n", "\r", "\r\n X-Evil: 1", "\r\n\tX-Evil: 1", "\u2028X-Evil: 1", "\x85X-Evil: 1", "\u560d\u560aX-Evil: 1",
        "\u010d\u010aX-Evil: 1", "%0d%0aX-Evil: 1", "%00", "\\r\\nX-Evil: 1", "=?utf-8?q?=0d=0aX-Evil:_1?=", "=?utf-8?b?DQpYLUV2aWw6IDE=?=", "\x0bX-Evil: 1",
        "\x0cX-Evil: 1", "\x1cX-Evil: 1", "\x1b[2J", "\x7fX-Evil: 1", "\r\n.\r\nMAIL FROM:<evil@example.net>", "\n.\nRCPT TO:<evil@example.net>", "\r.\rQUIT",
        ">\r\nRCPT TO:<evil@example.net>", "\r\nBcc: evil@example.net", "\nBcc:evil@example.net\n", "\r\nContent-Type: text/html\r\n\r\n<b>evil</b>",
        "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST /evil HTTP/1.1", "\r\nContent-Length: 0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n", "\"\r\nX-Evil: 1", "'\r\nX-Evil: 1",
        "\",\"evil\":\"1", "\\\",\"evil\":\"1", "\"}\r\n{\"evil\":1}", "&evil=1", "&evil=1\r\n", "?evil=1#\r\n", "\ud800\r\nX-Evil: 1", "\udfff\nX-Evil: 1", " \r\n ", "a" * 900 + "\r\nX-Evil: 1",
        "é\r\nX-Evil: 1", "😀\nX-Evil: 1", "\ufeff\r\nX-Evil: 1"]

POLICY = """pawl: 1
defaults: { timezone: Europe/Berlin, locale: en }
sources:
  shop:
    scheme: app
    secrets: [credential:shop]
    events:
      step.s1: { order: /order/id, to: s1, contact: { email: /customer/email, phone: /customer/phone }, data: { note: /note } }
orders: { path: [s1], create: [s1] }
channels:
  email: { from: "Shop <notify@example.net>", providers: [@MAIL@] }
  sms: { from: "+4915100000000", providers: [@SMS@] }
messages:
  note:
    about: What is written by strangers
    when: s1
    once: "note/{{order.id}}"
    delivery: at-least-once
    send: [email, sms]
    retry: { wait: [100ms], for: 5s }
"""
SMS = {
    "gateway with a header": 'driver: http, token: credential:sms, request: { headers: { X-Text: "{text}", X-To: "{to}" }, json: "{\\"t\\":\\"{text}\\"}", success: [200] }',
    "gateway with a form": 'driver: http, token: credential:sms, request: { form: { to: "{to}", text: "{text}" }, success: [200] }',
    "gateway with a URL": 'driver: http, token: credential:sms, request: { method: GET, success: [200] }',
    "twilio": "driver: twilio, account: AC1, token: credential:sms",
}



def goes_through(t, mail_row, sink, api, sms):
    gateway = t.keep(HttpPeer(lambda c, _: c.say(201 if "twilio" in sms else 200, b'{"sid":"SM1"}')))
    url = gateway.url + ("/send?to={to}&text={text}" if "URL" in sms else "")
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@MAIL@", mail_row).replace("@SMS@", f'{{ {SMS[sms]}, url: "{url}" }}'))
    for part, text in (("subject", "To {{data.note}}"), ("text", "Dear {{data.note}}.\n"), ("html", "<p>{{data.note}}</p>\n")):
        w.set_template("note", part, text)
    w.set_template("note", "text", "{{data.note}}", "sms")
    w.must("policy", "apply")
    w.start(receivers=1, dispatchers=1)
    requests = []
    for n, evil in enumerate(EVIL):
        for place, customer, note in (("note", {"email": f"a{n}@example.net", "phone": f"+4915112{n:05}"}, "A" + evil + "B"),
                                      ("address", {"email": f"a{n}{evil}@example.net", "phone": f"+4915112{n:05}" + evil}, "fine"),
                                      ("end", {"email": f"a{n}@example.net{evil}", "phone": evil + f"+4915112{n:05}"}, "fine")):
            requests.append(app_request(secret("shop"), f"{place}-{n}", "step.s1", f"{place}-{n}", customer=customer, note=note))
    eq({a.status for a in w.post(*requests, connections=8)} - {200, 422}, set())
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state IN (0, 1)") == 0, 60, "each has an end")
    eq(w.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state IN (2, 3, 5, 8)"), w.cluster.value("SELECT count(*) FROM pawl.deliveries"))
    went = w.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state = 2")
    check(went > 20, f"{went} went: what is harmless there does")
    for p in [gateway] + ([api] if api else []):
        for r in p.requests:
            names = set(r["headers"]) - {"accept", "authorization", "content-length", "content-type", "host", "user-agent", "x-text", "x-to", "idempotency-key"}
            check(not names and r["method"] in ("POST", "GET") and "evil" not in r["path"].split("?")[0].lower(), f"{sms}: {r}")
            check(all(c > 31 and c != 127 for value in sum(r["headers"].values(), []) for c in value.encode()), f"{r['headers']}")
            check(not r["json"] or "evil" not in r["json"], f"{r['json']}")
            check("&evil=" not in r["path"] and (r["json"] or b"&evil=" not in r["body"]), f"{r}")
        check(p.broken == 0 and len(p.requests) > 5, f"{p.broken} connections were not HTTP, {len(p.requests)} requests")
    return sink.mails() if sink else []


def test_nothing_of_a_webhook_ends_a_header_of_a_mail(t):
    check(len(EVIL) > 50, "as many as that")
    sink = t.sink()
    mails = goes_through(t, f'{{ driver: smtp, url: "{sink.url}", tls: none }}', sink, None, "gateway with a header")
    check(len(mails) > 10, f"{len(mails)} mails")
    for m in mails:
        [to] = m["rcpt"]
        check("evil@" not in to and to.isprintable(), to)
        names = {name.lower() for name, _ in m["headers"]}
        eq(names - {"from", "to", "subject", "date", "message-id", "mime-version", "content-type", "content-transfer-encoding", "auto-submitted"}, set(), m["raw"])
        eq(sum(name.lower() == "subject" for name, _ in m["headers"]), 1)
        check("\0" not in m["raw"] and all(len(line) <= 998 for line in m["raw"].split("\r\n")), m["raw"])
        check("\n" not in m["raw"].replace("\r\n", "") and "\r" not in m["raw"].replace("\r\n", ""), m["raw"])


def test_nothing_of_a_webhook_ends_a_header_of_a_request(t):
    for sms in ("gateway with a form", "gateway with a URL", "twilio") if t.long else ("gateway with a URL", "twilio"):
        api = t.keep(HttpPeer(lambda c, _: c.say()))
        goes_through(t, f'{{ driver: resend, token: credential:api, url: "{api.url}" }}', None, api, sms)
