"""Bodies that come compressed: taken where a source says so, within limits."""
import gzip
import hashlib
import hmac
import json
import os
import re
import sys
import zlib

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from batch_rig import count, gocardless, good, member, world  # noqa: E402
from ledger import MISMATCH, bodies, repeats, states  # noqa: E402


def coded(request, how="gzip", pack=gzip.compress):
    """The same, compressed after it was signed; or, with sign, before."""
    request.body, request.headers["Content-Encoding"] = pack(request.body), how
    return request


def sent_gzip(body, source="gocardless-zip", how="gzip"):
    mac = hmac.new(secret("gocardless").encode(), body, hashlib.sha256).hexdigest()
    return Request(f"/hooks/{source}", {"Webhook-Signature": mac, "Content-Encoding": how}, body)


def test_a_compressed_body_is_taken_where_its_source_says_so(t):
    w = world(t)
    plain = gocardless(member("EV1", "o-1"), member("EV2", "o-2")).body
    good(w.post(sent_gzip(gzip.compress(plain))))
    eq(bodies(w.cluster, "EV1"), [(1, plain)], "kept as what it stands for")
    good(w.post(sent_gzip(zlib.compress(plain), how="deflate")))
    good(w.post(gocardless(member("EV1", "o-1"), source="gocardless-zip")))
    eq((repeats(w.cluster, "EV1"), repeats(w.cluster, "EV1", MISMATCH)), (2, 0), "however it was compressed, it is the same event")
    eq(w.post(coded(gocardless(member("EV3", "o-3"), source="gocardless-zip"))).status in (401, 498), True, "the bytes as sent are signed")
    eq(states(w.cluster), {"o-1": "s1", "o-2": "s1"})


def test_what_is_signed_may_be_what_a_compressed_body_stands_for(t):
    w = world(t)
    one = erp_request(secret("erp"), "e-1", "step.s1", "o-1", source="erp-zip")
    plain = one.body
    eq(w.post(coded(one)).status, 200)
    eq(bodies(w.cluster, "e-1"), [(1, plain)])
    two = erp_request(secret("erp"), "e-2", "step.s1", "o-2", source="erp-zip")
    packed = gzip.compress(two.body)
    eq(w.post(Request("/hooks/erp-zip", {**erp_sign(secret("erp"), packed), "Content-Encoding": "gzip"}, packed)).status, 401)


def test_reverify_admits_as_large_a_body_as_the_receiver_does(t):
    w = world(t, host={"receiver": {"body_max": "8MiB"}})
    large = erp_request("another secret", "e-1", "step.s1", "o-1", source="erp-zip", note=os.urandom(30000).hex() + "x" * (3 << 20))
    eq(w.post(coded(large)).status, 401)
    eventually(lambda: count(w.cluster, "rejected", "left_out = 0") == 1, 10, "it is kept")
    w.set_credential("erp", "another secret")
    eq([(i["now"], i["outcome"]) for i in w.json("inbox", "reverify", "--source", "erp-zip")["items"]], [("ok", "accepted")])


def test_a_coding_that_a_source_does_not_take_is_400_and_says_so(t):
    w = world(t)
    packed = gzip.compress(gocardless(member("EV1", "o-1")).body)
    bad = [sent_gzip(packed, source="gocardless"), sent_gzip(packed, how="br"), sent_gzip(packed, how="gzip, gzip"),
           sent_gzip(packed, how="deflate"), sent_gzip(packed[:-1]), sent_gzip(packed + b"x"), sent_gzip(packed[:-8] + b"\0" * 8)]
    for request in bad:
        answer = w.post(request)
        eq((answer.status, answer.headers["content-type"]), (400, "application/problem+json"), request.headers["Content-Encoding"])
        eq(json.loads(answer.body)["code"], "content_encoding")
    w.counted(4, "pawl_webhook_rejected_total", source="gocardless-zip", reason="content_encoding_broken")
    w.counted(3, "pawl_webhook_rejected_total", reason="content_encoding")
    good(w.post(sent_gzip(gocardless(member("EV1", "o-1")).body, source="gocardless", how="identity")))
    eq(count(w.cluster, "keys"), 1)


def resident_kib(program):
    with open(f"/proc/{program.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])


def test_a_bomb_is_refused_before_it_goes_off(t):
    w = world(t)
    good(w.post(*[sent_gzip(gzip.compress(gocardless(member("EV1", "o-1")).body))]))
    before = resident_kib(w.receivers[0])
    bomb = gzip.compress(b'{"events":[' + b" " * (64 << 20) + b"]}", 9)
    check(len(bomb) < 64 << 10, "it passes the limit of what is sent")
    nested = gzip.compress(bomb)
    for answer in w.post(*[sent_gzip(bomb)] * 20, connections=10):
        eq((answer.status, json.loads(answer.body)["code"]), (413, "too_large"))
    eq(w.post(sent_gzip(nested, how="gzip, gzip")).status, 400)
    grown = resident_kib(w.receivers[0]) - before
    check(grown < 16 << 10, f"{grown} KiB more were resident; the bombs are 64 MiB each")
    w.counted(20, "pawl_webhook_rejected_total", source="gocardless-zip", reason="inflated_too_large")
