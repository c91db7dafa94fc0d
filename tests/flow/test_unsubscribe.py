"""One-click unsubscribe (RFC 8058): the link in a mail that arrived, posted as a mailbox provider posts it; by the database."""
import email
import os
import re
import sys
import time
import urllib.parse

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import EMAIL, Shop  # noqa: E402

BASE = "https://hooks.example.com"
RULE = f"unsubscribe: {{ url: {BASE}/, secrets: [credential:leave] }}\n"
CLICK = b"List-Unsubscribe=One-Click"
TEXT = "Order {{order.id}}. No more: {{unsubscribe_url}}\n"


def edit(text):
    text = text.replace("messages:\n", RULE + "messages:\n", 1)
    return text.replace("    about: At least once\n", "    about: At least once\n    unsubscribe: true\n", 1)


def prepare(w):
    w.set_template("least", "text", TEXT)
    w.set_template("least", "html", "<p>{{order.id}} <a href=\"{{unsubscribe_url}}\">x</a></p>")


def setup(t, **how):
    sink = t.sink()
    return Shop(t, EMAIL, "email", sink=sink, edit=edit, prepare=prepare, **how), sink


def mail(shop, sink, kind, to):
    """The mail of a new order to that address, as it arrived."""
    order = shop.order(kind, email=to)
    shop.ended(order, "accepted")
    return next(m for m in (email.message_from_string(one["raw"]) for one in sink.mails(to)) if order in m["Subject"])


def link_of(message):
    return re.fullmatch(r"<(\S+)>", message["List-Unsubscribe"])[1]


def path_of(link):
    eq(link[:len(BASE)], BASE)
    return urllib.parse.urlparse(link).path


def click(shop, path, body=CLICK, **how):
    return shop.w.post(Request(path, {"Content-Type": "application/x-www-form-urlencoded"}, body, **how))


def listed(shop):
    return shop.cluster.query("SELECT s.channel, n.name, s.reason, s.address, s.source FROM pawl.suppressions s"
                              " LEFT JOIN pawl.names n ON n.kind = 3 AND n.id = s.type ORDER BY 4, 2")


def test_the_link_of_a_mail_unsubscribes_from_its_type_alone(t):
    shop, sink = setup(t)
    message = mail(shop, sink, "least", "Ann@Example.net")
    eq(message["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
    link = link_of(message)
    check(all(link in part.get_payload(decode=True).decode() for part in message.walk() if not part.is_multipart()), "in both bodies")
    eq((mail(shop, sink, "most", "ann@example.net")["List-Unsubscribe"], listed(shop)), (None, []))
    answer = click(shop, path_of(link))
    eq((answer.status, answer.body), (200, b"You are unsubscribed.\n"))
    eq(listed(shop), [(1, "least", 3, "Ann@Example.net", "unsubscribe")])
    again = shop.order("least", email="ann@example.net")
    shop.ended(again, "withheld")
    mail(shop, sink, "most", "ann@example.net")
    mail(shop, sink, "least", "bob@example.net")
    eq({a.status for a in shop.w.post(*[Request(path_of(link), {}, CLICK)] * 20, connections=4)}, {200}, "repeated")
    multipart = b'--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
    eq((click(shop, path_of(link), multipart).status, len(listed(shop))), (200, 1))


def test_who_posts_one_link_over_and_over_is_refused_and_the_others_can_leave(t):
    shop, sink = setup(t)
    ann, bob = (path_of(link_of(mail(shop, sink, "least", f"{name}@example.net"))) for name in ("ann", "bob"))
    answers = shop.w.post(*[Request(ann, {}, CLICK)] * 200, connections=8)
    refused = [a for a in answers if a.status == 429]
    eq({a.status for a in answers}, {200, 429})
    check(len(refused) > 140 and all(a.headers["retry-after"] for a in refused), f"{len(refused)} were refused")
    eq(click(shop, bob).status, 200)
    eq(shop.w.receivers[0].metric("pawl_webhook_rejected_total", reason="unsubscribe_rate"), len(refused))
    eq([row[3] for row in listed(shop)], ["ann@example.net", "bob@example.net"])


def test_following_the_link_changes_nothing(t):
    shop, sink = setup(t)
    path = path_of(link_of(mail(shop, sink, "least", "ann@example.net")))
    answer = click(shop, path, b"", method="GET")
    check(answer.status == 200 and b'<form method="post">' in answer.body and b"example.net" not in answer.body, answer.body)
    put = click(shop, path, CLICK, method="PUT")
    eq((put.status, put.headers["allow"]), (405, "GET, POST"))
    eq(click(shop, path, b"").status, 400, "an empty POST is no click")
    bare = RawSocket(shop.w.ports()[0], 10).send(f"POST {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    eq(bare.status(), 400, "nor is one without a body")
    eq(listed(shop), [])


def test_a_link_that_we_did_not_sign_is_none(t):
    shop, sink = setup(t)
    path = path_of(link_of(mail(shop, sink, "least", "ann@example.net")))
    place, mac = path.rsplit("/", 1)[1].split(".")
    other = place[:-1] + "1"
    forged = [f"{place}.{'0' * 32}", f"{other}.{mac}", f"{place}.{mac[:-1]}", f"{place}.{mac}0", place, f"{place}.{mac.upper()}", "", ".", "x" * 4000]
    for token in forged:
        for method, body in (("POST", CLICK), ("GET", b"")):
            eq(click(shop, "/unsubscribe/" + token, body, method=method).status, 404, f"{method} {token[:80]}")
    eq((listed(shop), click(shop, path).status), ([], 200))


def test_a_link_outlives_the_key_that_signed_it_while_that_is_listed(t):
    shop, sink = setup(t)
    path = path_of(link_of(mail(shop, sink, "least", "ann@example.net")))
    shop.w.set_policy(open(os.path.join(shop.w.dir, "policy.yaml"), encoding="utf-8").read().replace(
        "[credential:leave]", "[credential:leave-new, credential:leave]"))
    prepare(shop.w)
    shop.w.must("policy", "apply")
    eventually(lambda: shop.w.receivers[0].metric("pawl_policy_info", version="2") == 1, 10)
    eq(click(shop, path).status, 200)
    shop.w.set_policy(open(os.path.join(shop.w.dir, "policy.yaml"), encoding="utf-8").read().replace(
        "[credential:leave-new, credential:leave]", "[credential:leave-new]"))
    prepare(shop.w)
    shop.w.must("policy", "apply")
    eventually(lambda: click(shop, path).status == 404, 10, "a key that is no longer listed signs nothing")


def test_a_message_of_an_earlier_policy_is_signed_with_the_keys_of_today(t):
    """Its rules are of its own version, whose keys no dispatcher that started later ever read."""
    shop, sink = setup(t)
    shop.w.must("pause", "all", "--reason", "what waits outlives its policy")
    order = shop.order("least", email="ann@example.net")
    shop.w.set_policy(open(os.path.join(shop.w.dir, "policy.yaml"), encoding="utf-8").read().replace("[credential:leave]", "[credential:leave-new]"))
    prepare(shop.w)
    shop.w.must("policy", "apply")
    shop.w.restart(shop.w.dispatchers[0])
    eventually(lambda: shop.w.receivers[0].metric("pawl_policy_info", version="2") == 1, 10)
    shop.w.must("resume", "all")
    shop.ended(order, "accepted")
    message, = [email.message_from_string(one["raw"]) for one in sink.mails("ann@example.net")]
    eq((click(shop, path_of(link_of(message))).status, len(listed(shop))), (200, 1))


def test_a_click_beside_an_event_that_the_database_refuses_is_taken(t):
    """The batch is tried again one by one; a click has no event and must not be counted as nothing."""
    shop, sink = setup(t, host={"receiver": {"threads": 1, "deadline": "5s"}})
    message = mail(shop, sink, "least", "ann@example.net")
    order = message["Subject"].split()[-1]
    shop.cluster.query("ALTER TABLE pawl.bodies ADD CHECK (event_id <> 'evt-poison')")
    held = shop.cluster.connect(autocommit=False)
    held.cursor().execute("SELECT FROM pawl.orders WHERE order_id = %s FOR UPDATE", (order,))
    loads = [shop.w.load([app_request(secret("shop"), "evt-stuck", "most", order)])]
    eventually(lambda: shop.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == 1, 5)
    for request in (Request(path_of(link_of(message)), {}, CLICK), app_request(secret("shop"), "evt-poison", "most", "o1"),
                    app_request(secret("shop"), "evt-good", "most", "o2")):
        loads.append(shop.w.load([request]))
        time.sleep(0.2)  # they wait in this order
    held.close()
    eq([load.result()[0].status for load in loads], [200, 200, 503, 200])
    eq(len(listed(shop)), 1)


def test_a_second_click_waits_for_the_standby_as_the_first_did(t):
    """The first click's row is there though nobody confirmed it: what writes nothing would be answered without its standby."""
    shop, sink = setup(t, host={"receiver": {"deadline": "1s"}})
    path = path_of(link_of(mail(shop, sink, "least", "ann@example.net")))
    shop.cluster.miss_standby("missing")
    eq(click(shop, path).status, 503, "the first")
    eventually(lambda: len(listed(shop)) == 1, 10, "its backend was cancelled, so its row is there")
    eq(click(shop, path).status, 503, "the second")
    shop.cluster.set(synchronous_standby_names="")
    eventually(lambda: click(shop, path).status == 200, 10)
