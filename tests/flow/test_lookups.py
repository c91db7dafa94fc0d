"""Unknown outcomes and providers that can be asked: what was taken is not sent again, what was not is. The provider's own log is the oracle."""
import os
import sys
import threading
import time
import urllib.parse

from harness import *
from kit.deliveries import POLICY, Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
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
    eq(w.metric("pawl_lookups_total", outcome="found"), len(ids))
    eq(rows.cluster.value("SELECT sum(possible_duplicates) FROM pawl.deliveries"), 0)
    eq(rows.cluster.value("SELECT count(*) FROM pawl.attempts WHERE detail LIKE '%%4711%%'"), 0, "no message in what tries say")


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
    rows.cluster.query("UPDATE pawl.deliveries SET doubt_at = now() - interval '24 hours'")
    ended(rows, nid, 9)
    eq((seen, rows.delivery(nid)[3]), (["ann@example.net"], 0))
    check("no longer recognise" in rows.delivery(nid)[4], rows.delivery(nid)[4])
