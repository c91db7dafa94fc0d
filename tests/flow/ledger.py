"""What the database holds, in SQL of the tests' own: the oracle of the receiving suites, so that none asks Pawl about itself."""
from harness import *

# Stored numbers (receiver/arrival.h), written down here once more: who renumbers them breaks what is stored.
ACCEPTED, DUPLICATE, MISMATCH, PARKED, UNMAPPED = 1, 2, 3, 6, 7
APPLIED, ALREADY_DONE, STALE, EARLY, CONFLICT, UNKNOWN_ORDER = 1, 2, 3, 4, 5, 6

STATES = "SELECT id, name FROM pawl.names WHERE kind = 2"


def keys(cluster, event_id):
    return cluster.value("SELECT count(*) FROM pawl.keys WHERE event_id = %s", (event_id,))


def repeats(cluster, event_id, outcome=DUPLICATE):
    return cluster.value("SELECT count(*) FROM pawl.repeats WHERE event_id = %s AND outcome = %s", (event_id, outcome))


def stored_once(cluster, event_ids):
    """The ids among event_ids that do not have exactly one key."""
    found = dict(cluster.query("SELECT event_id, count(*) FROM pawl.keys GROUP BY 1"))
    return [i for i in event_ids if found.get(i, 0) != 1]


def bodies(cluster, event_id):
    """[(outcome, body)] in the order they came."""
    rows = cluster.query("SELECT outcome, body FROM pawl.bodies WHERE event_id = %s ORDER BY received_at, outcome", (event_id,))
    return [(outcome, bytes(body)) for outcome, body in rows]


def states(cluster):
    """{order: name of its state}; a placeholder has None."""
    return dict(cluster.query(f"SELECT o.order_id, s.name FROM pawl.orders o LEFT JOIN ({STATES}) s ON s.id = o.state"))


def applied(cluster):
    """[(order, version, from, to)] of every applied move, in the order of each order's versions."""
    return cluster.query(
        f"WITH s AS ({STATES}) SELECT m.order_id, m.version, f.name, g.name FROM pawl.moves m LEFT JOIN s f ON f.id = m.from_state"
        " JOIN s g ON g.id = m.to_state WHERE m.outcome = 1 AND m.order_id IS NOT NULL ORDER BY m.order_id, m.version, m.nth")


def conflicts(cluster):
    """[(order, from, to)] of the moves that were judged a conflict."""
    return cluster.query(f"WITH s AS ({STATES}) SELECT m.order_id, f.name, g.name FROM pawl.moves m JOIN s f ON f.id = m.from_state"
                         " JOIN s g ON g.id = m.to_state WHERE m.outcome = 5")


def notifications(cluster):
    """[(message, order, version of the order, policy version, event)]"""
    return cluster.query("SELECT t.name, n.order_id, n.version, n.policy, n.event_id FROM pawl.notifications n"
                         " JOIN pawl.names t ON t.kind = 3 AND t.id = n.type")


def waiting(cluster):
    """[(order, its state or None, event, target)] of the events that wait."""
    return cluster.query(
        f"WITH s AS ({STATES}) SELECT w.order_id, s.name, w.event_id, g.name FROM pawl.waiting w"
        " JOIN pawl.orders o ON o.bucket = w.bucket AND o.order_id = w.order_id"
        " LEFT JOIN s ON s.id = o.state JOIN s g ON g.id = w.to_state")


def all_sent(cluster):
    """True when no delivery is due or leased."""
    return cluster.value("SELECT (SELECT count(*) FROM pawl.due) + (SELECT count(*) FROM pawl.claims)") == 0


def blocked(cluster, *kinds):
    """Pids of the receivers' backends that wait: by the type of the wait or its name; for any lock if not said."""
    return [pid for pid, in cluster.query("SELECT pid FROM pg_stat_activity WHERE usename = 'pawl_receiver' AND"
                                          " (wait_event_type = ANY(%(k)s) OR wait_event = ANY(%(k)s))", {"k": list(kinds) or ["Lock"]})]


class Barrier:
    """Holds every receiver's transaction at its first insert, until open()."""

    def __init__(self, cluster):
        self.cluster, self.conn = cluster, cluster.connect(autocommit=False)
        self.conn.cursor().execute("LOCK TABLE pawl.keys IN EXCLUSIVE MODE")

    def reached(self, backends=1):
        eventually(lambda: len(blocked(self.cluster)) >= backends, 10, f"{backends} transactions wait at the barrier", every=0.005)
        return self

    def open(self):
        if not self.conn.closed:
            self.conn.rollback()
        self.conn.close()

    close = open


def retire(pawl, program):
    """Takes a program that has ended out of those that run."""
    group = pawl.receivers if program.kind == "receiver" else pawl.dispatchers
    group.remove(program)
    pawl.ended.append(program)


def statuses(answers):
    """{status: how many}"""
    return {s: sum(a.status == s for a in answers) for s in sorted({a.status for a in answers})}


def unavailable(answer, what):
    """Checks a 503 as it is promised: with Retry-After, as problem+json."""
    eq(answer.status, 503, f"{what} ({answer.error})")
    check(int(answer.headers.get("retry-after", "0")) >= 1, f"{what}: 503 without Retry-After: {answer.headers}")
    eq(answer.headers["content-type"], "application/problem+json", what)
