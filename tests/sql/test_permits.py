"""The statement that hands out permits of rates: what the database's clock may do to it."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.sub(r"--[^\n]*", "", f.read()).strip()


def asker(t):
    """(cluster, ask(scope, rate, wanted) -> how many are granted, or None where its row was just made)"""
    cluster = t.migrated_cluster()
    cur = cluster.connect(user="pawl_dispatcher").cursor()
    cur.execute(text_of("common/pg/setup.sql").replace("$1", "'0'"))
    cur.execute("PREPARE permits AS " + text_of("dispatcher/route/permits.sql"))

    def ask(scope, rate, wanted):
        cur.execute("EXECUTE permits (ARRAY[%s], ARRAY[%s]::float8[], ARRAY[%s])", (scope, rate, wanted))
        rows = cur.fetchall()
        return rows[0][1] if rows else None
    return cluster, ask


def test_a_clock_that_was_set_back_holds_no_rate_up(t):
    cluster, ask = asker(t)
    eq(ask("email", 50, 5), None, "its row is made")
    eq(ask("email", 50, 5), 5)
    cluster.query("UPDATE pawl.rates SET free_at = now() + interval '1 hour'")
    eventually(lambda: ask("email", 50, 5) > 0, 2, "permits are granted again")
    check(cluster.value("SELECT free_at <= now() + interval '5 seconds' FROM pawl.rates"), "by the clock of now")


def test_permits_come_no_faster_than_their_rate_after_the_clock_was_set_back(t):
    cluster, ask = asker(t)
    ask("email", 0.5, 1)
    cluster.query("UPDATE pawl.rates SET free_at = now() + interval '1 hour'")
    eq([ask("email", 0.5, 1) for _ in range(3)], [1, 0, 0])
