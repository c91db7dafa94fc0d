"""What the tests of caps and collapse share: their statements as the dispatcher runs them, several transactions at once."""
import json
import os
import re
import sys
import threading
import time
import uuid

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

FULL, CROWDED, LOST = 1, 2, 3
CAP_TAKE = ("EXECUTE cap_take (%s::int[], %s::int[], %s::int[], %s::text[], %s::int[], %s::bigint[], %s::int[], %s::uuid[], %s::int[],"
            " %s::int[], %s::bool[], %s)")
HOLD = "EXECUTE hold (%s::int[], %s::uuid[], %s::int[], %s::text[], %s::int[], %s::int[], %s::bigint[], %s::text[])"
COLLAPSE = "EXECUTE collapse (%s::int[], %s::uuid[], %s::int[], %s::text[], %s::int[])"
DUE, WIRE, ACCEPTED, REFUSED, SUPERSEDED, UNKNOWN = 0, 1, 2, 3, 6, 9


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.sub(r"--[^\n]*", "", f.read()).strip()


def rows_touched(node):
    removed = sum(n for what, n in node.items() if what.startswith("Rows Removed"))
    return (node["Actual Rows"] + removed) * node["Actual Loops"] + sum(rows_touched(below) for below in node.get("Plans", []))


class Claimer:
    """One connection of a dispatcher, in a transaction from begin() to commit()."""

    def __init__(self, cluster):
        self.cur = cluster.connect(user="pawl_dispatcher").cursor()
        self.cur.execute(text_of("common/pg/setup.sql").replace("$1", "'0'"))
        for name in ("cap_settle", "cap_take", "collapse", "hold"):
            self.cur.execute(f"PREPARE {name} AS " + text_of(f"dispatcher/claim/gates/{name}.sql"))

    def begin(self):
        self.cur.execute("BEGIN")
        return self

    def commit(self):
        self.cur.execute("COMMIT")

    def rollback(self):
        self.cur.execute("ROLLBACK")

    def explain(self, run, args):
        """How many rows the statement touches in all its parts, a row compared with another counted anew each time. Undone."""
        self.cur.execute("BEGIN")
        self.cur.execute("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) " + run, args)
        plan = self.cur.fetchone()[0]
        self.cur.execute("ROLLBACK")
        return rows_touched((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])

    def take(self, wants, salt=0):
        """wants: [(member, cap, most, seconds, delivery)] or with fresh as the last; what is missed: {(member, cap): why}"""
        wants = sorted(wants, key=lambda w: w[1])
        fresh = [w[5] if len(w) > 5 else True for w in wants]
        bucket = [1] * len(wants)
        caps = [w[1] for w in wants]
        self.cur.execute(
            CAP_TAKE,
            ([w[0] for w in wants], list(range(len(wants))), bucket, caps, [w[2] for w in wants], [int(w[3] * 1000) for w in wants], [5] * len(wants),
             [w[4] for w in wants], [1] * len(wants), [0] * len(wants), fresh, salt))
        self.rows = self.cur.fetchall()
        self.cur.execute("EXECUTE cap_settle (%s::int[], %s::text[])", (bucket, caps))
        return {(m, caps[place]): why for m, place, why, *_ in self.rows}

    def collapse(self, *names):
        """names: (notification, target); {place of the name: state or -1}, 0 = of no claim"""
        self.cur.execute(COLLAPSE,
                         ([5] * len(names), [n for n, _ in names], [1] * len(names), [t for _, t in names], [0] * len(names)))
        return sorted(self.cur.fetchall())

    def hold(self, *notifications):
        n = len(notifications)
        self.cur.execute(HOLD, ([5] * n, list(notifications), [1] * n, [""] * n, [0] * n, [0] * n, [100] * n, ["it waits"] * n))


class World:
    def __init__(self, t, **how):
        self.cluster = t.migrated_cluster(**how)
        self.one, self.two = Claimer(self.cluster), Claimer(self.cluster)

    def delivery(self, state=DUE, target="", of=None, collapse=None, version=1, unknown=0):
        nid = of or str(uuid.uuid4())
        self.cluster.query(
            "INSERT INTO pawl.deliveries (bucket, channel, notification_id, target, state, delivery_order, lane, address, collapse,"
            " order_version, unknown_tries, created_at, updated_at) VALUES (5, 1, %s, %s, %s, 2, 11, 'a', %s, %s, %s, now(), now())",
            (nid, target, state, collapse, version, unknown))
        return nid

    def deliveries(self, n, **how):
        return [self.delivery(**how) for _ in range(n)]

    def state(self, nid, state=None, target=""):
        if state is not None:
            self.cluster.query("UPDATE pawl.deliveries SET state = %s, updated_at = now() WHERE notification_id = %s AND target = %s",
                               (state, nid, target))
        return self.cluster.value("SELECT state FROM pawl.deliveries WHERE notification_id = %s AND target = %s", (nid, target))

    def slots(self, cap="x"):
        """[(nth, delivery, dated)]"""
        return self.cluster.query("SELECT nth, notification_id::text, used_at IS NOT NULL FROM pawl.cap_slots WHERE cap = %s ORDER BY 1", (cap,))

    def settle(self, cap="x"):
        self.one.cur.execute("EXECUTE cap_settle (ARRAY[1], ARRAY[%s])", (cap,))


def behind(claimer, work):
    """Runs work(claimer) in the background, which has to wait for a rival; the thread and its results."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work(claimer)), daemon=True)
    thread.start()
    time.sleep(0.2)
    check(thread.is_alive(), "it waits for the rival")
    return thread, found
