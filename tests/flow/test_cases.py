"""Every outside case of a signature over real HTTP through the whole receiver: its verdict, and how its event ends, by the database."""
import base64
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import DUPLICATE, MISMATCH, PARKED, UNMAPPED  # noqa: E402
from test_signatures import harmless, request_of, rows, with_sources  # noqa: E402

ACCEPTED, REPLAY, LATE = 1, 4, 5
TOPICS = 'topics: ["arn:aws:sns:us-east-1:1:*"]'
SIGNS_URL = ("twilio", "square", "hubspot")
NAMED = {"braintree"}  # Its public key is a name, not a key.
# Cases that are authentic and must not be applied: what is posted before them, how their own event ends (None: no event at all)
# and what the answer is.
POLICY = {
    "github/ok-replay-other-delivery-id": ("github/ok-basic", REPLAY, (200, b"")),
    "shopify/ok-topic-swapped": ("shopify/ok-basic", MISMATCH, (200, b"")),
    "mailgun/ok-payload-not-covered": ("mailgun/ok-basic", MISMATCH, (200, b"")),
    "paypal/ok-crc32-collision-forgery": ("paypal/ok-basic", REPLAY, (200, b"")),
    "discord/ok-ping": (None, None, (204, b"")),
    "slack/ok-url-verification": (None, None, (200, b"3eZbrw1aB")),
    "aws-sns/ok-subscription-confirmation": (None, None, (200, b"")),
    # Not named so by their notes, but retries of the first case.
    "stripe/ok-retry-same-id-new-timestamp": ("stripe/ok-basic", DUPLICATE, (200, b"")),
    "slack/ok-retry": ("slack/ok-basic", DUPLICATE, (200, b"")),
}
NOTES = ("HANDSHAKE", "FINGERPRINT MISMATCH", "REPLAY BYPASS", "ROUTING BYPASS", "PAYLOAD FORGERY", "SECURITY")
# So that an applied event shows as a move.
MOVES = {
    "github": "push: { order: /repository/id, to: s1 }",
    "shopify": "orders/paid: { order: /id, to: s1 }, orders/cancelled: { order: /id, to: s2 }",
    "mailgun": "delivered: { order: /event-data/recipient, to: s1 }",
    "paypal": "PAYMENT.CAPTURE.COMPLETED: { order: /event_type, to: s1 }",
    "stripe": "payment_intent.succeeded: { order: /id, to: s1 }",
    "slack": "app_mention: { order: /event_id, to: s1 }",
}
TWO = {"adyen/ok-two-items", "sendgrid/ok-batch-of-two"}  # requests of two events


def sources_of(cases):
    """A source of its own for each case: each has a clean inbox."""
    lines, secrets = [], {}
    for case in cases:
        name, provider = case["source"], case["provider"]
        held = case["secrets"] + ([case["public_key"]] if case["public_key"] and provider not in NAMED else [])
        names = [f"{name}-{n}" for n in range(len(held))]
        secrets.update(zip(names, held))
        lines += [f"  {name}:", f"    scheme: {provider}", f"    secrets: [{', '.join('credential:' + n for n in names)}]"]
        lines += [f"    public_url: {case['url'].partition('?')[0]}"] * (provider in SIGNS_URL) + [f"    {TOPICS}"] * (provider == "aws-sns")
        lines.append(f"    events: {{ {MOVES.get(provider, 'never.sent: { order: /order, to: s1 }')} }}")
    return lines, secrets


class Inbox:
    """What the database holds of each source, by the number that the policy gave it."""

    def __init__(self, cluster):
        ask = lambda what, table: cluster.query(  # noqa: E731
            f"SELECT n.name, {what} FROM pawl.{table} t JOIN pawl.names n ON n.kind = 1 AND n.id = t.source")
        self.keys, self.bodies, self.repeats, self.moves = {}, {}, {}, {}
        for found, rows_ in ((self.keys, ask("t.event_id", "keys")), (self.bodies, ask("t.outcome, t.event_id, t.type", "bodies")),
                             (self.repeats, ask("t.outcome", "repeats")), (self.moves, ask("t.outcome", "moves"))):
            for name, *row in rows_:
                found.setdefault(name, []).append(tuple(row) if len(row) > 1 else row[0])

    def of(self, name):
        """(keys, bodies, repeats, moves)"""
        return tuple(sorted(found.get(name, []), key=str) for found in (self.keys, self.bodies, self.repeats, self.moves))


def wrong_verdict(case, answer):
    if harmless(case):
        return False
    want = {200, 204} if case["expect"] == "accept" else {401}
    return answer.status not in want


def wrong_end(case, inbox):
    """Why the inbox of a case that is no policy case is not as it should be; None when it is."""
    keys, bodies, repeats, _ = inbox.of(case["source"])
    if case["expect"] == "reject":
        return None if harmless(case) or (keys, bodies, repeats) == ([], [], []) else "refused, but stored"
    want = 2 if case["id"] in TWO else 1
    if len(bodies) != want or repeats:
        return f"{len(bodies)} bodies and {len(repeats)} repeats"
    outcomes = {outcome for outcome, _, _ in bodies}
    if not outcomes <= ({LATE} if old(case) else {ACCEPTED, UNMAPPED, PARKED}) or (len(keys) != want and PARKED not in outcomes):
        return f"outcomes {outcomes}, {len(keys)} keys"
    if case["event_id"] and PARKED not in outcomes and not any(known(case, key) for key in keys):
        return f"ids {keys}, want {case['event_id']}"
    return None


def old(case):
    """By its own time in the body it is older than the window, though the request was signed just now."""
    return case["provider"] in ("svix", "standardwebhooks", "paypal") and b"2026-01-01T00:00:00Z" in base64.b64decode(case["body"])


def known(case, key):
    """The provider's id stands in ours: a number behind '#', and where it does not tell events apart more of the body follows it.
    WooCommerce's is another one for each try."""
    return case["provider"] == "woocommerce" or (key.removeprefix("#") + ":").startswith(case["event_id"] + ":")


def wrong_policy(case, inbox, before):
    """Why a policy case did not end as its note demands: the first alone may have been applied."""
    keys, bodies, repeats, moves = inbox.of(case["source"])
    outcome = POLICY[case["id"]][1]
    if outcome is None:
        return None if (keys, bodies, repeats, moves) == ([], [], [], []) else f"a handshake left {keys} {bodies}"
    first = ([1], ACCEPTED) if not old(before) else ([], LATE)
    told = (repeats, moves, [o for o, _, _ in bodies].count(first[1]))
    return None if told == ([outcome], first[0], 1) else f"after {before['id']}: repeats {repeats}, moves {moves}, bodies {bodies}"


@timeout(180)
def test_every_outside_case_gets_its_verdict_and_ends_as_its_note_demands(t):
    t.need_faults()
    cases = rows(t.need_shared("cases/signatures.jsonl"))
    eq([c["id"] for c in cases if c["note"].startswith(NOTES) and c["id"] not in POLICY], [], "policy cases without a rule here")
    check(len(cases) >= 252, f"only {len(cases)} cases")
    eq(len({c["now"] for c in cases}), 1, "clocks of the cases")
    for n, case in enumerate(cases):
        case["source"] = f"c{n}"
    by_id = {c["id"]: c for c in cases}
    lines, secrets = sources_of(cases)
    pawl = t.pawl(t.cluster(), edit=with_sources(lines))
    for name, value in secrets.items():
        pawl.set_credential(name, value)
    receiver = pawl.receiver(now=cases[0]["now"])
    first = [(c, by_id[POLICY[c["id"]][0]]) for c in cases if POLICY.get(c["id"], (None,))[0]]
    eq([a.status for a in post_all([request_of(before, c["source"]) for c, before in first], pawl.ports(), connections=4)], [200] * len(first))
    answers = post_all([request_of(c, c["source"]) for c in cases], pawl.ports(), connections=4)
    eq([(c["id"], a.status, c["reason"]) for c, a in zip(cases, answers) if wrong_verdict(c, a)], [], "wrong verdicts")
    inbox = Inbox(pawl.cluster)
    ends = [(c["id"], wrong_policy(c, inbox, by_id.get(POLICY[c["id"]][0])) if c["id"] in POLICY else wrong_end(c, inbox)) for c in cases]
    eq([(i, why) for i, why in ends if why], [], "events that ended otherwise")
    for case, answer in zip(cases, answers):
        if case["id"] in POLICY:
            status, body = POLICY[case["id"]][2]
            eq((answer.status, body in (b"", answer.body)), (status, True), f"answer to {case['id']}: {answer.body}")
    told = {(c["source"], c["reason"]): receiver.metric("pawl_webhook_rejected_total", source=c["source"], reason=c["reason"])
            for c in cases if c["reason"] and not harmless(c)}
    eq([key for key, n in told.items() if n != 1], [], "refusals that are counted under another reason")
