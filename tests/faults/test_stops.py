"""SIGSTOP at every label of the dispatcher, a lease taken over meanwhile, SIGCONT: what woke up too late changes nothing."""
import os
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from rig import ACCEPTED, POLICY, UNKNOWN, all_done, both_at_once, messages_kept_their_promise, step  # noqa: E402
from test_kills import DISPATCHER  # noqa: E402

# From the claim's commit to the record's lock the database holds nothing of it: its lease runs out.
FENCED = ["claim.after_commit", "wire.before_start", "wire.after_start", "wire.after_body", "send.after_reply", "record.before_lock"]
OTHERS = [label for label in DISPATCHER if label not in FENCED]
LEASE_S, IDLE_IN_TRANSACTION_S = 4, 5
MEMBERS = 2  # of each claim: one message of each order

EVERYTHING = ("SELECT row_to_json(d)::text FROM pawl.deliveries d UNION ALL SELECT row_to_json(a)::text FROM pawl.attempts a"
              " UNION ALL SELECT row_to_json(u)::text FROM pawl.unknown_outcomes u ORDER BY 1")


class Stopped:
    """One dispatcher a label, each stopped there, most of them with two messages in hand."""

    def __init__(self, t, labels, holding=False):
        t.need_faults()
        self.w = t.world(policy=both_at_once(POLICY), dispatchers=0, host={"dispatcher": {"lease": f"{LEASE_S}s"}})
        self.orders, self.keeper = 0, None
        self.at = {label: self.w.dispatcher(wait=False, fault=f"stop@{label}:1") for label in labels}
        for label, program in self.at.items():
            if label == "claim.before_begin":
                eventually(program.proc.frozen, 20, "it stops at its first look")
            else:
                program.wait_ready()
        while self.running():
            self.feed_and_hold() if holding else self.feed()

    def held(self):
        """By each dispatcher: how many members its claims have."""
        return [n for n, in self.w.cluster.query("SELECT sum(cardinality(n))::int FROM pawl.claims GROUP BY worker")]

    def running(self):
        return sum(not p.proc.frozen() for p in self.at.values())

    def feed(self):
        """One message of each order for whoever comes, who then stops."""
        before = self.running()
        self.orders += 1
        eq(self.w.post(step(f"o{self.orders}", "s1")).status, 200)
        eventually(lambda: self.running() < before, 10, f"one of {before} running dispatchers stops at its label")

    def feed_and_hold(self):
        """The same where all of them stop with a claim: two that look at once may share an order, and then both have to stop
        before the next, lest one of them claims that too. Their leases stay theirs until all were fed, however long that takes."""
        self.feed()
        eventually(lambda: self.w.cluster.value("SELECT count(*) FROM pawl.due") == 0
                   and len(self.held()) == len(self.at) - self.running(), 10, "whoever has some of it has stopped")
        if not self.keeper:
            self.keeper = self.w.cluster.connect(autocommit=False)
        self.keeper.cursor().execute("SELECT 1 FROM pawl.claims FOR UPDATE")  # A takeover passes by what is locked.

    def others_end_it(self):
        """A healthy dispatcher does what is to be done; what the database holds then."""
        if self.keeper:
            self.keeper.close()
        self.w.dispatcher()
        all_done(self.w.cluster, LEASE_S + IDLE_IN_TRANSACTION_S + 10, "the healthy dispatcher")
        return self.w.cluster.query(EVERYTHING)

    def go_on(self):
        for program in self.at.values():
            program.thaw()

    def end(self):
        """All of them end well: what they still had to record is behind them then."""
        for label, program in self.at.items():
            program.wait_ready()
            eq(program.stop(), 0, f"exit status of the one stopped at {label}")


def test_stopped_between_the_claims_commit_and_the_records_lock_its_record_is_refused_and_counted(t):
    s = Stopped(t, FENCED, holding=True)
    eq(s.w.cluster.value("SELECT count(*) FROM pawl.attempts"), 0, "records before all were stopped")
    held = s.held()
    eq((len(held), sum(held)), (len(FENCED), MEMBERS * s.orders), "each holds some, and together all")
    before = s.others_end_it()
    eventually(lambda: s.w.dispatchers[-1].metric("pawl_takeovers_total") == sum(held), 10, "all is counted as taken over")
    s.go_on()
    eventually(lambda: sorted(p.metric("pawl_stale_records_total") for p in s.at.values()) == sorted(held), 10, "each drops what it held")
    s.end()
    eq(s.w.cluster.query(EVERYTHING), before, "what the database holds")
    states = s.w.cluster.query("SELECT delivery_order, state, tries, count(*)::int FROM pawl.deliveries GROUP BY 1, 2, 3 ORDER BY 1")
    eq(states, [(1, UNKNOWN, 1, s.orders), (2, ACCEPTED, 2, s.orders)])
    messages_kept_their_promise(s.w.cluster, s.w.sink)


def test_stopped_anywhere_else_nothing_takes_effect_twice(t):
    s = Stopped(t, OTHERS)
    before = s.others_end_it()
    s.go_on()
    s.end()
    eq(s.w.cluster.query(EVERYTHING), before, "what the database holds")
    messages_kept_their_promise(s.w.cluster, s.w.sink)


def test_stopped_before_the_claims_commit_its_rows_go_to_others_who_send_each_once(t):
    s = Stopped(t, [label for label in OTHERS if label.startswith("claim.")])
    s.others_end_it()
    s.go_on()
    s.end()
    messages_kept_their_promise(s.w.cluster, s.w.sink, exactly=True)
