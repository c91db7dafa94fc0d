"""Workers whose clock is an hour off, one either way: what is due, what it waits for and what is signed go by the database's clock."""
import base64
import email.utils
import json
import os
import re
import sys
import time

from harness import *
from kit.deliveries import POLICY, Rows, ended
from kit.https import Authority
from kit.procs import SLOW

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import Shop  # noqa: E402
from http_script import HttpPeer  # noqa: E402
from test_channel_faults import KEYS  # noqa: E402
from test_ses import ACCESS, REGION, TAKEN, verified  # noqa: E402

OFF = ("-3600", "+3600")
LATE_S = 4 * SLOW


def workers(w):
    for off in OFF:
        w.dispatcher(now=off)


def claims(token):
    """What a signed token says."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_none_goes_early_late_or_twice(t):
    t.need_faults()
    sink = t.sink()
    w = t.pawl(t.cluster(), sink, policy=POLICY.replace("wait: [100ms, 200ms], jitter: 20%", "wait: [1500ms], jitter: 0%"))
    rows = Rows(w)
    due = {f"now{i}@example.net": 0 for i in range(30)} | {f"soon{i}@example.net": 3 for i in range(30)}
    for i, (address, seconds) in enumerate(due.items()):
        nid = rows.add(("most", "least")[i % 2], address, due=False, expires="59 minutes", retry="59 minutes")
        rows.cluster.query("INSERT INTO pawl.due VALUES (1, 11, now() + %s * interval '1 second', %s, 1, 0, 0, '')", (seconds, nid))
    again = [rows.add("least", f"rcpt451-1+{i}@example.net", retry="50 minutes") for i in range(6)]
    gone = [rows.add("most", f"gone{i}@example.net", expires="-1 second") for i in range(4)]
    later = rows.add("most", "later@example.net", due=False)
    rows.cluster.query("INSERT INTO pawl.due VALUES (1, 11, now() + interval '58 minutes', %s, 1, 0, 0, '')", (later,))
    began = time.time()
    workers(w)
    up = time.time()
    eventually(lambda: sink.count() == len(due) + len(again), 20, "all that is due is sent")
    for nid in gone:
        ended(rows, nid, 4)
    at = {m["rcpt"][0]: m["time"] - began for m in sink.mails()}
    eq(len(at), sink.count(), "each once")
    for address, seconds in due.items():
        check(seconds - 1 <= at[address] <= max(seconds, up - began) + LATE_S, f"{address} is due after {seconds} s and came after {at[address]:.2f} s")
    waited = "SELECT min(b.at - a.at) >= interval '1400 ms' AND max(b.at - a.at) < %s * interval '1 second' FROM pawl.attempts a JOIN pawl.attempts b" \
             " USING (notification_id) WHERE a.outcome = 3 AND b.outcome = 1"
    check(rows.cluster.value(waited, (1.5 + LATE_S,)), "a second try comes when the policy says")
    # A lease is no longer and no shorter than it is: what hangs is renewed and not taken by the other one.
    slow = rows.add("most", "slow@example.net")
    ended(rows, slow, 2)
    eq((rows.outcomes(slow), rows.state(later), sink.count("later@example.net")), ([1], 0, 0))
    eq(w.metric("pawl_takeovers_total"), 0)
    eq(set(sink.by_rcpt().values()), {1})


def test_a_lease_is_as_long_for_the_one_who_takes_it_over(t):
    t.need_faults()
    for dies, takes in (OFF, OFF[::-1]):
        sink = t.sink()
        w = t.pawl(t.migrated_cluster(), sink, policy=POLICY, host={"dispatcher": {"transfers": 5, "poll": "20ms", "lease": "3s"}})
        rows = Rows(w)
        victim = w.dispatcher(now=dies, fault="crash@claim.after_commit:1")
        nid = rows.add("least", "a@example.net")
        victim.proc.wait(15)
        w.ended.append(w.dispatchers.pop())
        w.dispatcher(now=takes)
        ended(rows, nid, 2, 15)
        eq((sink.count(), rows.outcomes(nid)), (1, [4, 1]))
        claimed = "SELECT extract(epoch FROM max(b.at) - min(d.created_at))::float8 FROM pawl.deliveries d JOIN pawl.attempts b USING (notification_id)"
        waited = rows.cluster.value(claimed)
        check(3 <= waited <= 3 + LATE_S + 2, f"{takes} took over from {dies} after {waited:.2f} s, the lease is 3 s")


def test_a_date_that_a_provider_names_is_as_far_away_as_it_is(t):
    t.need_faults()
    asked = {}

    def script(c, r):
        [to] = r["json"]["to"]
        asked.setdefault(to, []).append(time.time())
        if len(asked[to]) > 1:
            c.say()
        else:
            c.say(429, b'{"name":"rate_limit_exceeded"}', "Retry-After: " + email.utils.formatdate(int(time.time()) + 4, usegmt=True))
    worlds = []
    for off in OFF:
        p = t.keep(HttpPeer(script))
        w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: resend, token: credential:api, url: "{p.url}" }}'))
        w.dispatcher(now=off)
        worlds.append((off, Rows(w)))
    added = [(off, rows, rows.add("least", f"a{off}@example.net")) for off, rows in worlds]
    for off, rows, nid in added:
        ended(rows, nid, 2, 20)
        first, second = asked[f"a{off}@example.net"]
        check(2.5 <= second - first <= 5 + LATE_S, f"{off}: asked again after {second - first:.2f} s")


def test_what_is_signed_tells_the_databases_time(t):
    t.need_faults()
    vonage = Authority().key("vonage")
    vapid = Authority().key("vapid", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    seen = {}

    def script(c, r):
        if "amz" in "".join(r["headers"]):
            seen["ses"] = r
            c.say(200, TAKEN)
        elif r["path"].startswith("/push"):
            seen["webpush"] = r
            c.say(201, b"")
        else:
            seen["vonage"] = r
            c.say(202, b'{"message_uuid":"u"}')
    p = t.keep(HttpPeer(script))
    channels = f"""  email: {{ from: "Shop <shop@example.net>", providers: [{{ driver: ses, region: {REGION}, access_key: {ACCESS}, secret: credential:api, url: "{p.url}" }}] }}
  sms: {{ from: "+4915100000000", providers: [{{ driver: vonage, application: app1, key: credential:vonage.pem, url: "{p.url}" }}] }}
  push: {{ providers: [{{ driver: webpush, subject: 'mailto:ops@example.net', key: credential:vapid.pem, private: true }}] }}"""
    texts = {}
    for name, key in (("vonage.pem", vonage), ("vapid.pem", vapid)):
        with open(key.path, encoding="utf-8") as f:
            texts[name] = f.read().rstrip("\n")

    def prepare(w):
        for kind in ("most", "least"):
            w.set_template(kind, "title", "Order {{order.id}}\n", "push")
    shop = Shop(t, channels, "email, sms, push", dispatchers=0, credentials=texts, prepare=prepare)
    for off in OFF:
        seen.clear()
        d = shop.w.dispatcher(now=off)
        order = shop.order("least", email="a@example.net", phone="+4915112345678",
                           devices=[{"kind": "webpush", "token": {"endpoint": p.url + "/push/1", "keys": KEYS}}])
        eventually(lambda o=order: [d[2] for d in shop.deliveries(o)] == ["accepted"] * 3, 15, f"{off}: all three are taken")
        now = time.time()
        check(verified(seen["ses"], secret("api")), "a signature of AWS's kind")
        said = time.mktime(time.strptime(seen["ses"]["headers"]["x-amz-date"][0] + " UTC", "%Y%m%dT%H%M%SZ %Z")) - time.timezone
        check(abs(said - now) < 60, f"{off}: x-amz-date is {said - now:.0f} s off")
        token = claims(seen["vonage"]["headers"]["authorization"][0].split()[1])
        check(abs(token["iat"] - now) < 60 and token["exp"] > now, f"{off}: {token}, now {now}")
        token = claims(re.search(r"t=([^,]+)", seen["webpush"]["headers"]["authorization"][0])[1])
        check(now < token["exp"] <= now + 86400, f"{off}: {token}, now {now}")
        d.stop()
