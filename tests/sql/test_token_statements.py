"""The statements of shared tokens when the database's clock is set back: what was written before it is then of the future."""
import os
import re
import uuid

from harness import *

WORKER, OTHER = str(uuid.uuid4()), str(uuid.uuid4())
HOUR = 3600


def text_of(name):
    with open(os.path.join(ROOT, "dispatcher", "token", name), encoding="utf-8") as f:
        return re.sub(r"--[^\n]*", "", f.read())


class Row:
    """A token of an hour, made `ago` seconds ago (negative: before the clock was set back), as a dispatcher sees it."""

    def __init__(self, t, ago, held_for=None):
        self.cluster, self.identity = t.migrated_cluster(), str(uuid.uuid4())
        self.cur = self.cluster.connect(user="pawl_dispatcher").cursor()
        self.cur.execute(re.sub(r"--[^\n]*", "", open(os.path.join(ROOT, "common/pg/setup.sql"), encoding="utf-8").read()).replace("$1", "'0'"))
        for name, kinds in (("token_hold", "uuid, uuid, float8, int8, float8"), ("token_read", "uuid")):
            self.cur.execute(f"PREPARE {name} ({kinds}) AS " + text_of(name + ".sql"))
        self.cluster.query("""INSERT INTO pawl.provider_tokens (identity, driver, token, generation, made_at, refresh_after, expires_at, held_until, held_by)
            SELECT %s, 'fcm', 'sealed', 7, at, at + interval '45 min', at + interval '55 min',
                   coalesce(now() + %s * interval '1 s', '-infinity'), CASE WHEN %s::int IS NOT NULL THEN %s::uuid END
            FROM (SELECT now() - %s * interval '1 s') x(at)""", (self.identity, held_for, held_for, OTHER, ago))

    def hold(self, stale=0, age_min_s=60):
        self.cur.execute("EXECUTE token_hold (%s, %s, 30, %s, %s)", (self.identity, WORKER, stale, age_min_s))
        return len(self.cur.fetchall()) == 1

    def read(self):
        """(minutes until it is renewed, until it ends, seconds that it is held)"""
        self.cur.execute("EXECUTE token_read (%s)", (self.identity,))
        _, _, refresh_ms, expires_ms, hold_ms, _ = self.cur.fetchone()
        return round(refresh_ms / 60000), round(expires_ms / 60000), round(hold_ms / 1000)


def test_a_token_goes_by_its_times_while_the_clock_goes_on(t):
    row = Row(t, ago=60)
    eq((row.hold(), row.read()), (False, (44, 54, 0)))
    eq(row.hold(stale=7, age_min_s=1200), False, "too young to be made anew")
    eq(row.hold(stale=7), True)
    eq(row.hold(stale=7), False, "it is held")
    eq(Row(t, ago=46 * 60).hold(), True)


def test_a_token_of_before_the_clock_was_set_back_is_made_anew_and_used_no_longer_than_its_life(t):
    row = Row(t, ago=-HOUR)
    eq(row.read(), (45, 55, 0))
    eq(row.hold(), True)
    eq(row.hold(), False, "by one worker")
    eq(Row(t, ago=-2).hold(), False, "what two clocks differ by is no such thing")


def test_a_hold_of_before_the_clock_was_set_back_stops_nobody(t):
    eq(Row(t, ago=46 * 60, held_for=29).hold(), False, "a hold")
    eq(Row(t, ago=46 * 60, held_for=360).hold(), False, "the longest pause")
    row = Row(t, ago=46 * 60, held_for=HOUR + 29)
    eq((row.read()[2], row.hold()), (0, True))
