"""Two events that only share an id are two intents: each notifies, under a key of its own."""
import re

from harness import *

SOURCES = """
  shop-a: { scheme: app, secrets: [credential:shop], events: { hello: { notify: hello, contact: { email: /mail } } } }
  shop-b: { scheme: app, secrets: [credential:shop], events: { hello: { notify: hello, contact: { email: /mail } } } }
"""


def with_hello(text):
    hello = "messages:\n  hello:\n    once: \"hello/{{event.id}}\"\n    delivery: at-most-once\n    send: [email]\n"
    text = text.replace("\nmessages:\n", "\n" + hello, 1)
    text = text.replace("      step.s1:", "      customer.created: { notify: hello, contact: { email: /data/mail } }\n      step.s1:", 1)
    return re.sub(r"^orders:", lambda _: SOURCES.lstrip("\n") + "\norders:", text, count=1, flags=re.M)


def test_one_id_of_two_sources_or_two_accounts_is_two_notifications(t):
    w = t.world(receivers=1, dispatchers=0, edit=with_hello)
    for source in ("shop-a", "shop-b", "shop-a"):
        body = b'{"type":"hello","mail":"%s@example.net"}' % source.encode()
        head = {"Authorization": "Bearer " + secret("shop"), "Idempotency-Key": "same", "Content-Type": "application/json"}
        eq(w.post(Request("/hooks/" + source, head, body)).status, 200)
    for account in ("acct_1", "acct_2", "acct_1"):
        body = as_body({"id": "same", "type": "customer.created", "account": account, "livemode": True, "data": {"mail": account + "@example.net"}})
        eq(w.post(Request("/hooks/stripe", stripe_sign(secret("stripe"), body), body)).status, 200)
    eq([once for once, in w.cluster.query("SELECT once FROM pawl.notifications ORDER BY 1")],
       ["hello/shop-a//same", "hello/shop-b//same", "hello/stripe/acct_1:true/same", "hello/stripe/acct_2:true/same"])
    eq(w.cluster.value("SELECT count(DISTINCT address) FROM pawl.deliveries"), 4)
