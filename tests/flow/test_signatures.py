"""Verification over real HTTP through the whole receiver: the verdicts of rows that Pawl did not make, each by its own clock."""
import base64
import json
import os
import re
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import keys  # noqa: E402

VECTORS = os.path.join(ROOT, "tests", "vectors", "signatures")
VERIFIED = {200, 422}  # 422: an app's body that can't be read, which is told only to who may post.
SCHEMES = ("stripe", "custom", "app", "github", "shopify", "standardwebhooks", "slack", "twilio")
# The answer of each reason; every other one is 401.
ANSWER = {None: VERIFIED, "no_live_secret": {503}, "idempotency_key_missing": {400}}


class Pairs(list):
    """Headers as they are, repeated ones too."""
    items = list.__iter__


def rows(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def request_of(case, source):
    headers = Pairs((name, value.encode().decode("latin-1")) for name, value in case["headers"])  # UTF-8 on the wire.
    query = case.get("url", "").partition("?")
    return Request(f"/hooks/{source}{query[1]}{query[2]}", headers, base64.b64decode(case["body"]), tag=case["id"])


def source_lines(name, scheme, secrets, grammar=None, url=None):
    """One source of a policy; each secret is a credential of its own."""
    lines = [f"  {name}:", f"    scheme: {scheme}", f"    secrets: [{', '.join('credential:' + s for s in secrets)}]"]
    if url:
        lines.append(f"    public_url: {json.dumps(url)}")
    if grammar:
        g = {k: json.dumps(v) for k, v in grammar.items()}
        prefix = f"prefix: {g['prefix']}, " if grammar["prefix"] else ""
        lines += ["    verify:", f"      signature: {{ header: {g['header']}, {prefix}encoding: {g['encoding']} }}"]
        if "timestamp" in g:
            lines.append(f"      timestamp: {{ header: {g['timestamp']}, unit: {grammar['unit']}, tolerance: {grammar['tolerance']}s }}")
        lines += [f"      signed: {g['signed']}", f"      algorithm: {grammar['algorithm']}", f"    id: {g['id']}", "    type: /type"]
    return lines + ["    events:", "      payment_intent.succeeded: { order: /order, to: s1 }"]


def with_sources(lines):
    """The strict policy with other sources."""
    return lambda text: re.sub(r"^sources:\n.*?(?=^orders:)", lambda _: "sources:\n" + "\n".join(lines) + "\n\n", text, flags=re.M | re.S)


def harmless(case):
    return "harmless" in case["note"]


@timeout(180)
def test_every_row_of_stripe_that_its_own_sdk_signed_gets_its_verdict_by_the_case_s_clock(t):
    t.need_faults()
    path = t.need_shared("cases/signatures.jsonl")
    cases = [c for c in rows(path) if c["provider"] == "stripe"]
    check(len(cases) >= 14, f"only {len(cases)} rows")
    cluster, wrong = t.cluster(), []
    names = lambda case: [f"k{n}" for n in range(len(case["secrets"]))]  # noqa: E731
    for shape in sorted({len(c["secrets"]) for c in cases}):  # A policy for each number of secrets, in a database to be copied.
        cluster.database = f"shape{shape}"
        cluster.create_database(cluster.database)
        t.pawl(cluster, edit=with_sources(source_lines("stripe", "stripe", [f"k{n}" for n in range(shape)])))
    for n, case in enumerate(cases):
        cluster.database = f"case{n}"
        cluster.create_database(cluster.database, template=f"shape{len(case['secrets'])}")
        pawl = t.pawl(cluster, edit=with_sources(source_lines("stripe", "stripe", names(case))), setup=False)
        for name, value in zip(names(case), case["secrets"]):
            pawl.set_credential(name, value)
        receiver = pawl.receiver(now=case["now"])
        answer = pawl.post(request_of(case, "stripe"))
        kept = cluster.value("SELECT count(*) FROM pawl.bodies")
        passed = answer.status in VERIFIED
        if not harmless(case) and passed != (case["expect"] == "accept"):
            wrong.append((case["id"], answer.status, case["reason"]))
        eq((answer.status, kept), (200, 1) if passed else (401, 0), f"answer and stored bodies of {case['id']}")
        if passed and case["event_id"] and case["id"] not in ("stripe/ok-empty-object", "stripe/ok-bom-body"):
            eq(keys(cluster, case["event_id"]), 1, f"keys of {case['id']}")
        eq(receiver.stop(), 0)
    eq(wrong, [], "wrong verdicts (case, status, reason)")


def test_every_vector_of_our_own_gets_the_answer_of_its_reason(t):
    t.need_faults()
    cases = [c for name in SCHEMES for c in rows(os.path.join(VECTORS, name + ".jsonl"))
             if c["reason"] != "public_url_missing"]  # Such a policy can't be applied.
    check(len(cases) >= 190, f"only {len(cases)} vectors")
    eq(len({c["now"] for c in cases}), 1, "clocks of the vectors")
    sources, lines, secrets = {}, [], {}
    for case in cases:  # Cases that share scheme, grammar and secrets share a source.
        url = case.get("url", "").partition("?")[0]
        kind = json.dumps([case["provider"], case.get("verify"), case["secrets"], url])
        if kind not in sources:
            name = sources[kind] = f"source{len(sources)}"
            held = {f"{name}-{n}": value for n, value in enumerate(case["secrets"])}
            secrets.update(held)
            lines += source_lines(name, case["provider"], held or ["none"], case.get("verify"), url)
        case["source"] = sources[kind]
    pawl = t.pawl(t.cluster(), edit=with_sources(lines))
    os.unlink(os.path.join(pawl.dir, "credentials", "none"))
    for name, value in secrets.items():
        pawl.set_credential(name, value)
    pawl.receiver(now=cases[0]["now"])
    answers = post_all([request_of(c, c["source"]) for c in cases], pawl.ports(), connections=1)
    wrong = [(c["id"], a.status, c["reason"]) for c, a in zip(cases, answers)
             if not harmless(c) and a.status not in ANSWER.get(c["reason"], {401})]
    eq(wrong, [], "wrong answers (vector, status, reason)")
    reasons = {c["reason"] for c in cases if c["reason"]}
    told = {r: pawl.metric("pawl_webhook_rejected_total", reason=r) for r in reasons}
    want = {r: sum(c["reason"] == r for c in cases) for r in reasons}
    eq(told, want, "refusals counted by reason")
