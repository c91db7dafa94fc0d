"""Unknown outcomes and providers that can be asked: what was taken is not sent again, what was not is. The provider's own log is the oracle."""
import datetime
import json
import os
import sys
import threading
import time
import urllib.parse

from harness import *
from kit.deliveries import POLICY, Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import Shop  # noqa: E402
from http_script import HttpPeer  # noqa: E402

SETTLE_S = 4
FOUND, NOT_FOUND, UNANSWERED = 7, 6, 8


class Postmark:
    """Takes mail and can be searched by metadata. The address says how: lost+ is taken and not answered, gone+ neither (the first
    time), late+ is found by the second search, sick+ answers the first search with 500, wrong+ finds somebody else's."""

    def __init__(self):
        self.mails, self.searches, self.posts, self.lock, self.hold = {}, [], {}, threading.Lock(), None

    def script(self, c, r):
        (self.search if r["method"] == "GET" else self.take)(c, r)

    def take(self, c, r):
        to, key = r["json"]["To"], r["json"]["Metadata"]["pawl-delivery"]
        with self.lock:
            self.posts.setdefault(to, []).append((time.monotonic(), key))
            first = len(self.posts[to]) == 1
            if not (to.startswith("gone+") and first):
                self.mails.setdefault(key, []).append(to)
        if first and to.split("+")[0] in ("lost", "gone", "late", "sick", "wrong"):
            c.cut()
        else:
            c.say(200, b'{"ErrorCode":0,"MessageID":"pm-%s"}' % key.encode())

    def search(self, c, r):
        key = urllib.parse.parse_qs(urllib.parse.urlsplit(r["path"]).query)["metadata_pawl-delivery"][0]
        with self.lock:
            self.searches.append(key)
            n, to = self.searches.count(key), (self.mails.get(key) or [""])[0]
        if self.hold:
            self.hold.wait(30)
        if to.startswith("sick+") and n == 1:
            return c.say(500, b"{}")
        if not to or (to.startswith("late+") and n < 2):
            return c.say(200, b'{"TotalCount":0,"Messages":[]}')
        named = "0" * 32 if to.startswith("wrong+") and n == 1 else key
        return c.say(200, b'{"TotalCount":1,"Messages":[{"Subject":"Your code is 4711","MessageID":"pm-%s","Metadata":{"pawl-delivery":"%s"}}]}'
                     % (key.encode(), named.encode()))


def setup(t, dispatchers=1, **how):
    mark = Postmark()
    p = t.keep(HttpPeer(mark.script))
    row = f'{{ driver: postmark, token: credential:api, url: "{p.url}", settle: {SETTLE_S}s }}'
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", row), **how)
    for _ in range(dispatchers):
        w.dispatcher()
    return w, mark, Rows(w)


def copies(mark):
    """How often the mail to each address was taken."""
    counts = {}
    for taken in mark.mails.values():
        for to in taken:
            counts[to] = counts.get(to, 0) + 1
    return counts


def test_what_is_found_is_accepted_and_not_sent_again(t):
    w, mark, rows = setup(t)
    ids = [rows.add(kind, f"{how}+{kind}@example.net") for kind in ("most", "least") for how in ("lost", "late", "sick", "wrong")]
    for nid in ids:
        ended(rows, nid, 2, 20)
    eq(set(copies(mark).values()), {1})
    eq({to: len(sent) for to, sent in mark.posts.items()}, {to: 1 for to in mark.posts})
    eq(rows.outcomes(ids[0])[-1], FOUND)
    eq(rows.outcomes(ids[1]), [4, NOT_FOUND, FOUND])
    eq((UNANSWERED in rows.outcomes(ids[2]), UNANSWERED in rows.outcomes(ids[3])), (True, True))
    eq(rows.left(), (0, 0, 0))
    eq(rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE provider_id LIKE 'pm-%%' AND lookup_at IS NULL"), len(ids))
    w.counted(len(ids), "pawl_lookups_total", outcome="found")
    eq(rows.cluster.value("SELECT sum(possible_duplicates) FROM pawl.deliveries"), 0)
    eq(rows.cluster.value("SELECT count(*) FROM pawl.attempts WHERE detail LIKE '%%4711%%'"), 0, "no message in what tries say")


def test_a_search_that_fails_is_made_again_however_soon_the_message_expires(t):
    _, mark, rows = setup(t)
    ids = [rows.add(kind, f"sick+{kind}@example.net", expires="2 seconds", retry="2 seconds") for kind in ("most", "least")]
    ids.append(rows.add("most", "sick+once@example.net", retry=None))
    eventually(lambda: len(mark.mails) == len(ids), 2, "all are taken")
    rows.cluster.query("UPDATE pawl.deliveries SET expires_at = now() WHERE expires_at IS NOT NULL")
    for nid in ids:
        ended(rows, nid, 2, 20)
    eq((set(copies(mark).values()), rows.left()), ({1}, (0, 0, 0)))


def test_a_worker_without_a_policy_judges_no_lost_worker(t):
    w, mark, rows = setup(t, dispatchers=0, host={"dispatcher": {"lease": "3s"}})
    victim = w.dispatcher(fault="crash@send.after_reply:1")
    ids = [rows.add(kind, f"took+{kind}@example.net") for kind in ("most", "least")]
    victim.proc.wait(15)
    w.ended.append(w.dispatchers.pop())
    path = os.path.join(w.dir, "credentials", "api")
    os.rename(path, path + ".away")
    d = w.dispatcher(wait=False)
    eventually(lambda: "policy.unusable" in d.log(), 15, "it has no policy to go by")
    eventually(lambda: rows.cluster.value("SELECT max(lease_until) < now() - interval '3 seconds' FROM pawl.claims") is not False, 15, "the lease ran out")
    os.rename(path + ".away", path)
    for nid in ids:
        ended(rows, nid, 2, 30)
    eq((copies(mark), rows.left()), ({to: 1 for to in mark.posts}, (0, 0, 0)))


def test_what_is_not_found_is_sent_again_only_once_that_counts(t):
    _, mark, rows = setup(t)
    least, most = rows.add("least", "gone+l@example.net"), rows.add("most", "gone+m@example.net")
    ended(rows, least, 2, 20)
    eq(copies(mark), {"gone+l@example.net": 1})
    (first, key), (second, again) = mark.posts["gone+l@example.net"]
    eq(key, again)
    check(second - first >= SETTLE_S, f"sent again after {second - first} s")
    eventually(lambda: rows.cluster.value("SELECT lookup_at FROM pawl.deliveries WHERE notification_id = %s", (most,)) is None, 10)
    eq((rows.state(most), len(mark.posts["gone+m@example.net"])), (9, 1))
    check("does not know of it" in rows.delivery(most)[4], rows.delivery(most)[4])
    eq(rows.outcomes(most)[-1], NOT_FOUND)
    eq(rows.left(), (0, 0, 1))


def test_a_search_that_began_too_early_says_nothing_however_late_it_is_answered(t):
    _, mark, rows = setup(t)
    mark.hold = threading.Event()
    nid = rows.add("least", "late+l@example.net")
    eventually(lambda: mark.searches, 10, "it asks")
    eventually(lambda: rows.cluster.value("SELECT lookup_at < now() FROM pawl.deliveries"), 10, "the settling delay is over")
    mark.hold.set()
    ended(rows, nid, 2, 20)
    eq((rows.outcomes(nid), copies(mark)), ([4, NOT_FOUND, FOUND], {"late+l@example.net": 1}))


def test_answers_behind_a_lost_lease_are_dropped(t):
    w, mark, rows = setup(t)
    mark.hold = threading.Event()
    nid = rows.add("least", "lost+l@example.net")
    eventually(lambda: mark.searches, 10, "it asks")
    rows.cluster.query("UPDATE pawl.claims SET worker = claim_id")
    mark.hold.set()
    eventually(lambda: "lookup.stale" in w.dispatchers[0].log(), 10, "its answer is dropped")
    eq((rows.state(nid), rows.outcomes(nid)), (0, [4]))


def test_a_killed_dispatchers_tries_and_look_ups_are_taken_up(t):
    w, mark, rows = setup(t, dispatchers=0, host={"dispatcher": {"lease": "3s"}})
    ids = [rows.add(kind, f"lost+{kind}{i}@example.net") for kind in ("most", "least") for i in range(4)]
    mark.hold = threading.Event()
    w.dispatcher()
    eventually(lambda: len(set(mark.searches)) >= 4, 20, "it asks")
    w.dispatchers[0].kill9()
    mark.hold.set()
    w.dispatcher()
    for nid in ids:
        ended(rows, nid, 2, 30)
    eq((set(copies(mark).values()), rows.left()), ({1}, (0, 0, 0)))
    eq({len(sent) for sent in mark.posts.values()}, {1})


def test_a_person_is_faster_than_the_look_up(t):
    w, mark, rows = setup(t)
    nid = rows.add("most", "gone+m@example.net")
    ended(rows, nid, 9)
    w.must("deliveries", "resolve", nid, "--as", "not-sent", "--reason", "their log has none")
    eventually(lambda: rows.left() == (0, 0, 0), 10, "its row is dropped")
    eq((rows.state(nid), len(mark.posts["gone+m@example.net"])), (8, 1))


def test_a_cancel_leaves_the_question_to_its_provider(t):
    w, mark, rows = setup(t)
    mark.hold = threading.Event()
    nid = rows.add("least", "lost+l@example.net")
    eventually(lambda: mark.searches, 10, "it asks")
    w.must("deliveries", "cancel", nid, "--reason", "no longer wanted")
    eq((rows.state(nid), rows.left()[2]), (9, 1), "it may be there")
    mark.hold.set()
    ended(rows, nid, 2, 20)
    eq((rows.left(), copies(mark)), ((0, 0, 0), {"lost+l@example.net": 1}))


def test_what_ended_while_it_was_looked_up_is_not_due_again(t):
    w, mark, rows = setup(t)
    nid = rows.add("least", "gone+l@example.net")
    eventually(lambda: len(mark.searches) >= 1, 10, "it asks")
    mark.hold = threading.Event()
    seen = len(mark.searches)
    rows.cluster.query("UPDATE pawl.deliveries SET lookup_at = now() WHERE lookup_at IS NOT NULL")
    eventually(lambda: len(mark.searches) > seen, 20, "it asks when that counts")
    w.must("deliveries", "cancel", nid, "--reason", "no longer wanted")
    mark.hold.set()
    eventually(lambda: rows.cluster.value("SELECT lookup_at FROM pawl.deliveries") is None, 20, "it is told")
    eq((rows.state(nid), rows.left(), len(mark.posts["gone+l@example.net"])), (9, (0, 0, 1), 1))
    check("cancelled" in rows.delivery(nid)[4], rows.delivery(nid)[4])


def test_no_try_comes_after_the_provider_forgot_the_key(t):
    seen = []

    def script(c, r):
        seen.append(r["json"]["to"][0])
        c.cut()
    p = t.keep(HttpPeer(script))
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}')
               .replace("[100ms, 200ms]", "[2s]"))
    rows = Rows(w)
    w.dispatcher()
    nid = rows.add("least", "ann@example.net", retry="3 days")
    eventually(lambda: rows.delivery(nid)[2] == 1, 10, "one try is in doubt")
    rows.cluster.query("UPDATE pawl.deliveries SET doubt_at = now() - interval '24 hours', provider_at = now() - interval '24 hours'")
    ended(rows, nid, 9)
    eq((seen, rows.delivery(nid)[3]), (["ann@example.net"], 0))
    check("no longer recognise" in rows.delivery(nid)[4], rows.delivery(nid)[4])


def test_a_pause_of_the_provider_that_knows_the_key_takes_no_time_and_its_window_ends_the_bond(t):
    seen = []

    def second(c, r):
        seen.append(r["json"]["to"][0])
        c.say(200, b'{"id":"re_2"}')
    one, two = t.keep(HttpPeer(lambda c, r: c.cut())), t.keep(HttpPeer(second))
    rows_of = "\n      - ".join(f'{{ name: {name}, driver: resend, token: credential:api, url: "{p.url}" }}' for name, p in (("one", one), ("two", two)))
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", rows_of).replace("[100ms, 200ms]", "[2s]"))
    rows = Rows(w)
    w.dispatcher()
    nid = rows.add("least", "ann@example.net", retry="4 seconds")
    eventually(lambda: rows.delivery(nid)[:3] == (0, 1, 1), 10, "one try is in doubt")
    w.must("pause", "provider:one", "--reason", "a test")
    # The window counts from the doubt, however long ago the first try with that provider was.
    rows.cluster.query("UPDATE pawl.deliveries SET provider_at = now() - interval '25 hours'")
    late = "SELECT now() - created_at > interval '6 s' AND retry_until - created_at > interval '6 s' AND reason = 'paused: a test' FROM pawl.deliveries"
    eventually(lambda: rows.cluster.value(late), 10, "it waits for the pause, its time for tries still to come")
    eq((seen, rows.delivery(nid)[:3]), ([], (0, 1, 1)))
    # Then another one may take it, which has its own window.
    rows.cluster.query("UPDATE pawl.deliveries SET doubt_at = now() - interval '25 hours'")
    ended(rows, nid, 2, 15)
    eq((seen, rows.delivery(nid)[3]), (["ann@example.net"], 1))


# --- Sinch: text messages, looked up by client_reference.

class Sinch:
    """Keeps batches and lists them as Sinch's API does. The number's last digit says how, as with Postmark above."""
    HOW = {"1": "lost", "2": "gone", "3": "late", "4": "sick", "5": "wrong", "6": "busy"}

    def __init__(self):
        self.batches, self.asked, self.posts, self.lock, self.hold = [], [], {}, threading.Lock(), None

    def script(self, c, r):
        if r["headers"]["authorization"] != ["Bearer " + secret("sms")]:
            return c.say(401, b'{"code":"unauthorized"}')
        return (self.list if r["method"] == "GET" else self.take)(c, r)

    def take(self, c, r):
        to, how = r["json"]["to"][0], self.HOW[r["json"]["to"][0][-1]]
        with self.lock:
            first = not self.posts.setdefault(to, [])
            self.posts[to].append((time.monotonic(), r["json"]["client_reference"]))
            if not (how == "gone" and first):
                self.batches.append({"id": f"01B{len(self.batches)}", "to": [to], "client_reference": r["json"]["client_reference"],
                                     "created_at": datetime.datetime.now(datetime.timezone.utc).isoformat(), "body": "Your code is 4711"})
        if first:
            return c.cut()
        return c.say(201, json.dumps({"id": self.batches[-1]["id"]}).encode())

    def list(self, c, r):
        path, query = r["path"].split("?")
        asked = {k: v[0] for k, v in urllib.parse.parse_qs(query).items()}
        eq((path, set(asked)), ("/xms/v1/plan1/batches", {"page_size", "start_date", "client_reference"}))
        key, since = asked["client_reference"], datetime.datetime.fromisoformat(asked["start_date"].replace("Z", "+00:00"))
        with self.lock:
            self.asked.append(key)
            n = self.asked.count(key)
        if self.hold:
            self.hold.wait(30)
        with self.lock:
            found = [b for b in self.batches if b["client_reference"] == key and datetime.datetime.fromisoformat(b["created_at"]) >= since]
        how = self.HOW[found[0]["to"][0][-1]] if found else ""
        if how in ("sick", "busy") and n == 1:
            return c.say(500, b"") if how == "sick" else c.say(429, b'{"code":"too_many_requests"}')
        if how == "late" and n < 2:
            found = []
        if how == "wrong" and n == 1:
            found = [{**found[0], "client_reference": "0" * 32}]
        return c.say(200, json.dumps({"count": len(found), "page": 0, "page_size": 1, "batches": found[:1]}).encode())


def sinch(t):
    peer = Sinch()
    p = t.keep(HttpPeer(peer.script))
    channel = ('  sms: { from: "+4915100000000", providers: [{ driver: sinch, plan: plan1, token: credential:sms, url: "%s", settle: %ds }] }'
               % (p.url, SETTLE_S))
    return peer, Shop(t, channel, "sms")


def number(how, kind):
    last = next(digit for digit, name in Sinch.HOW.items() if name == how)
    return f"+49151000000{'1' if kind == 'most' else '2'}{last}"


def test_sinch_tells_what_it_took_and_nothing_is_sent_again(t):
    peer, shop = sinch(t)
    orders = {(kind, how): shop.order(kind, phone=number(how, kind)) for kind in ("most", "least") for how in ("lost", "late", "sick", "wrong", "busy")}
    for order in orders.values():
        shop.ended(order, "accepted", 20)
    eq({to: len(sent) for to, sent in peer.posts.items()}, {number(how, kind): 1 for kind, how in orders})
    for kind in ("most", "least"):
        eq(shop.outcomes(orders[kind, "lost"])[0::len(shop.outcomes(orders[kind, "lost"])) - 1], [4, FOUND])
        eq(shop.outcomes(orders[kind, "late"]), [4, NOT_FOUND, FOUND])
        for how in ("sick", "wrong", "busy"):
            eq(shop.outcomes(orders[kind, how]), [4, UNANSWERED, FOUND], how)
    c = shop.cluster
    eq({i for i, in c.query("SELECT provider_id FROM pawl.deliveries")}, {b["id"] for b in peer.batches})
    eq((c.value("SELECT sum(possible_duplicates) FROM pawl.deliveries"), c.value("SELECT count(*) FROM pawl.unknown_outcomes")), (0, 0))
    eq(c.value("SELECT count(*) FROM pawl.attempts WHERE detail LIKE '%%4711%%'"), 0)


def test_what_sinch_never_took_goes_again_once_that_is_sure(t):
    peer, shop = sinch(t)
    least, most = shop.order("least", phone=number("gone", "least")), shop.order("most", phone=number("gone", "most"))
    shop.ended(least, "accepted", 20)
    (first, key), (second, again) = peer.posts[number("gone", "least")]
    eq((key, [b["client_reference"] for b in peer.batches]), (again, [key]))
    check(second - first >= SETTLE_S, f"sent again after {second - first} s")
    eventually(lambda: "does not know of it" in (shop.deliveries(most)[0][4] or ""), 20, f"{shop.deliveries(most)}")
    eq((shop.deliveries(most)[0][2], len(peer.posts[number("gone", "most")])), ("unknown", 1))
    eq(shop.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE lookup_at IS NOT NULL"), 0, "it is not asked for again")


# --- Both at once.

def both(t, mails, **how):
    """A backlog of mails in doubt, and Postmark's search hangs."""
    mark, peer = Postmark(), Sinch()
    mark.hold = threading.Event()
    pm, ps = t.keep(HttpPeer(mark.script)), t.keep(HttpPeer(peer.script))
    channels = (f'  email: {{ from: "Shop <shop@example.net>", providers: [{{ driver: postmark, token: credential:api, url: "{pm.url}", settle: {SETTLE_S}s }}] }}\n'
                f'  sms: {{ from: "+4915100000000", providers: [{{ driver: sinch, plan: plan1, token: credential:sms, url: "{ps.url}", settle: {SETTLE_S}s }}] }}')
    shop = Shop(t, channels, "email, sms", **how)
    for i in range(mails):
        shop.order("least", email=f"lost+{i}@example.net")
    eventually(lambda: len(mark.searches) >= min(mails, 8), 20, "Postmark is asked")
    return mark, peer, shop


def test_a_search_that_hangs_holds_up_no_other_channels(t):
    """One round of eight that are not answered takes 15 s: what waits behind all of these waits for a minute."""
    mark, peer, shop = both(t, 32)
    try:
        order = shop.order("least", phone=number("lost", "least"))
        eventually(lambda: (2, "", "accepted", 1, None) in shop.deliveries(order), 25, "the text is found")
        eq((shop.outcomes(order)[-1], len(peer.posts[number("lost", "least")])), (FOUND, 1))
        check(len(set(mark.searches)) < 32, "Postmark has not answered by then")
    finally:
        mark.hold.set()


def test_what_hangs_in_two_channels_is_given_up_and_recorded_at_sigterm(t):
    mark, peer, shop = both(t, 1, host={"dispatcher": {"grace": "1s"}})
    peer.hold = threading.Event()
    try:
        shop.order("least", phone=number("lost", "least"))
        eventually(lambda: peer.asked, 10, "Sinch is asked, too")
        rows = shop.cluster.query("SELECT cardinality(b) FROM pawl.claims WHERE lookup ORDER BY 1")
        eq(rows, [(1,), (1,)], "a lease each")
        eq(shop.w.dispatchers[0].stop(), 0)
        eq(shop.cluster.value("SELECT count(*) FROM pawl.claims"), 0, "nothing is left to take over")
        eq(shop.cluster.query("SELECT lane, count(*) FROM pawl.due GROUP BY 1 ORDER BY 1"), [(19, 1), (29, 1)])
        eq(shop.cluster.value("SELECT count(*) FROM pawl.attempts WHERE outcome = %s", (UNANSWERED,)), 2)
    finally:
        mark.hold.set()
        peer.hold.set()
