"""Refusals and lost replies in each phase of SMTP, through the whole dispatcher: what is written down in both delivery orders."""
import os
import signal
import sys

from harness import *

for folder in (".", "../flow"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), folder))
# pylint: disable=wrong-import-position
from rig import (ACCEPTED, POLICY, REFUSED, STEP, T_ACCEPTED, T_BACK, T_REFUSED, T_RETRY, T_UNKNOWN, UNKNOWN,  # noqa: E402
                 copies, delivery, either_first, message, rest)
from smtp_script import ScriptedPeer  # noqa: E402

ONCE_MORE = (ACCEPTED, [T_RETRY, T_ACCEPTED], 1, 0)
NEVER = (REFUSED, [T_REFUSED], 0, 0)

# ../shared/outbound.md §0.4. Address: (state, outcomes of the tries, mails that the server took, possible duplicates); where
# the delivery orders differ first at most once, then at least once. A body as small as ours is handed over at once: a
# connection lost in it can't be told from one lost after the dot.
TABLE = {
    "fine": (ACCEPTED, [T_ACCEPTED], 1, 0),
    "rcpt550": NEVER,
    "rcpt553": NEVER,
    "rcpt451-1": ONCE_MORE,
    "rcpt421-1": ONCE_MORE,
    "data421-1": ONCE_MORE,
    "data451-1": ONCE_MORE,
    "data554": NEVER,
    "dropbeforedata-1": ONCE_MORE,
    "dropinbody-1": [(UNKNOWN, [T_UNKNOWN], 0, 0), (ACCEPTED, [T_UNKNOWN, T_ACCEPTED], 1, 1)],
    "dropafterdot-1": [(UNKNOWN, [T_UNKNOWN], 1, 0), (ACCEPTED, [T_UNKNOWN, T_ACCEPTED], 2, 1)],
    "dropafterdot-2": [(UNKNOWN, [T_UNKNOWN], 1, 0), (ACCEPTED, [T_UNKNOWN, T_UNKNOWN, T_ACCEPTED], 3, 2)],
    "dot421-1": ONCE_MORE,
    "dot451-1": ONCE_MORE,
    "dot452-1": ONCE_MORE,
    "dot554": NEVER,
}


def asked_anew(w):
    """SIGHUP has a provider asked at once that is left alone after errors of its own, longer each time, by chance."""
    w.dispatchers[0].proc.signal(signal.SIGHUP)
    return True


def test_each_way_a_mail_can_fail_ends_as_the_table_says_in_both_delivery_orders(t):
    w = t.world(policy=either_first(POLICY))
    orders = {(name, kind): message(w, kind, f"{name}+{kind}@example.net") for name in TABLE for kind in STEP}
    eventually(lambda: asked_anew(w) and rest(w.cluster) == 0, 40, "everything ended: nothing is due or claimed", every=0.3)
    taken = copies(w.sink)
    for (name, kind), order in orders.items():
        want = TABLE[name]
        state, outcomes, mails, doubles = want[kind == "least"] if isinstance(want, list) else want
        got = sent(delivery(w.cluster, kind, order))
        eq((*got, taken[f"{kind} {order}"]), ((state, len(outcomes), doubles), outcomes, mails), f"{kind}, {name}")
    unknown = w.cluster.value("SELECT count(*) FROM pawl.unknown_outcomes")
    eq(unknown, 3, "unknown outcomes to be looked after")
    w.counted(4, "pawl_possible_duplicates_total")


def sent(found):
    """Without the tries that were given back: claimed ahead when the server said something about itself, or when the end came."""
    (state, tries, doubles), outcomes = found
    return (state, tries - outcomes.count(T_BACK), doubles), [o for o in outcomes if o != T_BACK]


def ended(c, *replies):
    """Says one line after the other, each to one command, then hangs up."""
    for reply in replies:
        c.hear()
        c.say(reply)


# What a provider says or does before it knows the message, one connection each: that is no word about the message.
BEFORE_IT_KNOWS = [
    lambda c: c.say(b"421 4.3.2 closing"),
    lambda c: c.say(b"554 5.3.2 no service"),
    lambda c: None,
    lambda c: (c.say(b"220 script.test"), ended(c, b"421 4.3.2 closing")),
    lambda c: (c.say(b"220 script.test"), ended(c, b"550 5.5.1 no", b"550 5.5.1 no")),
    lambda c: (c.greet(), ended(c, b"451 4.3.0 later")),
    lambda c: (c.greet(), ended(c, b"550 5.7.1 not from you")),
    lambda c: (c.greet(), c.hear()),
    lambda c: (c.greet(), ended(c, b"250 ok"), c.hear()),
]


def test_a_provider_that_fails_before_it_knows_the_message_costs_it_nothing_but_time(t):
    def script(c):
        if c.number % (len(BEFORE_IT_KNOWS) + 1) < len(BEFORE_IT_KNOWS):
            BEFORE_IT_KNOWS[c.number % (len(BEFORE_IT_KNOWS) + 1)](c)
            return
        c.greet()
        c.take()
    peer = t.keep(ScriptedPeer(script))
    w = t.world(sink=peer, policy=either_first(POLICY), host={"dispatcher": {"transfers": 1}})
    for kind in STEP:
        order = message(w, kind, f"{kind}@example.net")
        eventually(lambda: asked_anew(w) and rest(w.cluster) == 0, 40, f"the message {kind} is done", every=0.3)
        tries = len(BEFORE_IT_KNOWS) + 1
        eq(delivery(w.cluster, kind, order), ((ACCEPTED, tries, 0), [T_RETRY] * (tries - 1) + [T_ACCEPTED]), kind)
    eq(len(peer.bodies()), 2)


def test_a_sink_nobody_here_wrote_that_hangs_up_after_the_dot_makes_unknown_or_counted_duplicates(t):
    w = t.world(sink=t.postfix_sink("-q", "."), policy=either_first(POLICY))
    most, least = message(w, "most", "most@example.net"), message(w, "least", "least@example.net")
    eventually(lambda: w.cluster.value("SELECT max(tries) FROM pawl.deliveries") >= 4, 15, "at least once is tried again")
    eq(w.dispatchers[0].stop(), 0)
    eq(delivery(w.cluster, "most", most), ((UNKNOWN, 1, 0), [T_UNKNOWN]))
    (_, tries, doubles), outcomes = sent(delivery(w.cluster, "least", least))
    eq((set(outcomes), doubles), ({T_UNKNOWN}, tries - 1))
    taken = w.sink.by_rcpt()
    eq(taken, {"most@example.net": 1, "least@example.net": tries}, "mails that smtp-sink took")
