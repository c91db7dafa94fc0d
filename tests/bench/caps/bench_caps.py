"""Caps: how fast 32 workers are told about one hot recipient, against an advisory lock.

Each decision is part of a transaction as a claim's: the decision, and the end of the delivery that it is about, committed. Pawl's
are the statements that the dispatcher runs (dispatcher/claim/gates/cap_take.sql, cap_settle.sql), for one message or for the
CLAIM messages of a claim; the other takes the recipient's advisory lock for each message, counts and inserts. pgbench runs all,
prepared."""
import os
import re
import tempfile

import frame

TITLE = "Caps: decisions on one hot recipient"
WORKERS, MOST, ROWS, CLAIM = 32, 3, 100000, 20
SLOW_MS = 5  # a commit on a network disk, or with a standby that is waited for
# Deliveries :d .. of a transaction, and whether one of them has a slot.
NOTE = "('00000000-0000-0000-0000-' || lpad((%s)::text, 12, '0'))::uuid"
NOTES = f"ARRAY(SELECT {NOTE % ':d + i'} FROM generate_series(0, {{n}} - 1) i)"
LET = "EXISTS (SELECT FROM pawl.cap_slots s WHERE s.bucket = 7 AND s.cap = 'hot' AND s.notification_id = d.notification_id)"
# Who has a slot goes on the wire (1), the others end as withheld (5).
END = ("UPDATE pawl.deliveries d SET state = CASE WHEN {let} THEN 1 ELSE 5 END, updated_at = now()"
       " WHERE bucket = 1 AND notification_id = ANY({notes}) AND channel = 1;")


def asked(n):
    """The parameters of cap_take.sql for n messages."""
    def fill(value):
        return f"array_fill({value}, ARRAY[{n}])"
    return {1: f"ARRAY(SELECT generate_series(1, {n}))", 2: fill("0"), 3: fill("7"), 4: fill("'hot'::text"), 5: fill(MOST),
            6: fill("3600000::int8"), 7: fill("1"), 8: NOTES.format(n=n), 9: fill("1"), 10: fill("0"), 11: fill("true"), 12: ":d"}


def statement(name, values):
    """A statement of the dispatcher in one line, its parameters filled in."""
    with open(os.path.join(frame.ROOT, "dispatcher", "claim", "gates", name + ".sql"), encoding="utf-8") as f:
        text = re.sub(r"--[^\n]*", "", f.read())
    text = re.sub(r"\$(\d+)", lambda m: f"({values[int(m.group(1))]})", text)
    return " ".join(text.split()) + ";"


def script(n, let, *lines):
    with tempfile.NamedTemporaryFile("w", suffix=".sql", delete=False, encoding="utf-8") as f:
        os.chmod(f.name, 0o644)
        begin = rf"\set d random(0, {ROWS // n - 1}) * {n}"
        f.write("\n".join((begin, "BEGIN;", *lines, END.format(notes=NOTES.format(n=n), let=let), "COMMIT;")) + "\n")
    return f.name


def prepare(cluster):
    config = os.path.join(tempfile.mkdtemp(), "pawl.yaml")
    with open(config, "w", encoding="utf-8") as f:
        f.write(f'pawl: 1\ndatabase: "{cluster.dsn(user=None)}"\n')
    frame.run([frame.binary(), "migrate", "up", "--config", config, "--database", cluster.dsn(user="pawl")])
    cluster.query(f"""INSERT INTO pawl.deliveries (bucket, channel, notification_id, delivery_order, lane, address, created_at, updated_at)
        SELECT 1, 1, ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, 2, 11, 'a', now(), now() FROM generate_series(0, {ROWS} - 1) i;
        CREATE TABLE sent (who text, at timestamptz); CREATE INDEX ON sent (who, at)""")
    cluster.query("VACUUM ANALYZE")


def play(cluster, n, path, count):
    """A round: decisions a second; what was let through must be what the cap allows."""
    def one(seconds):
        cluster.query("TRUNCATE pawl.cap_slots, sent; UPDATE pawl.deliveries SET state = 0 WHERE state <> 0")
        cluster.query("VACUUM pawl.deliveries")
        out = frame.run([f"{frame.BIN}/pgbench", "-n", "-M", "prepared", "-c", str(WORKERS), "-j", "2", "--failures-detailed",
                         "-T", str(max(1, round(seconds))), "-f", path, "-h", cluster.dir, "-p", "5432", "-U", "pawl", "pawl"],
                        env={**os.environ, "PGOPTIONS": SETTINGS})
        let = cluster.value(count)
        if let > MOST or "number of failed transactions: 0" not in out:
            raise RuntimeError(f"{let} were let through, {MOST} are allowed:\n{out}")
        return {"decisions/s": float(re.search(r"tps = ([\d.]+)", out).group(1)) * n}
    return one


# As common/pg/setup.sql has them for the dispatcher.
SETTINGS = " ".join(f"-c {x}" for x in (
    "search_path=pawl,public", "jit=off", "plan_cache_mode=force_generic_plan",
    *(f"enable_{x}=off" for x in ("seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"))))


def contestants(cluster):
    def slots(n):
        values = asked(n)
        path = script(n, LET, statement("cap_take", values), statement("cap_settle", {1: values[3], 2: values[4]}))
        return play(cluster, n, path, "SELECT count(*) FROM pawl.cap_slots")
    lock = script(1, "false", "SELECT pg_advisory_xact_lock(42);",
                  "INSERT INTO sent SELECT 'hot', now() WHERE (SELECT count(*) FROM sent WHERE who = 'hot'"
                  f" AND at > now() - interval '1 hour') < {MOST};")
    return {"claim": slots(CLAIM), "one": slots(1), "advisory": play(cluster, 1, lock, "SELECT count(*) FROM sent")}


def run(bench):
    cluster = bench.cluster()
    prepare(cluster)
    bench.about("claim", f"Pawl: slot rows, a unique index decides; {CLAIM} messages a transaction, as a claim has them")
    bench.about("one", "the same, a message a transaction")
    bench.about("advisory", "pg_advisory_xact_lock, count, insert: a message a transaction")
    title = f"{WORKERS} workers, one recipient, at most {MOST} an hour"
    bench.interleave("hot", title, contestants(cluster))
    bench.ratio("A claim's slots against an advisory lock a message", ("hot", "claim"), ("hot", "advisory"), "decisions/s", at_least=10)
    bench.ratio("One message's slot against an advisory lock", ("hot", "one"), ("hot", "advisory"), "decisions/s")
    cluster.set(commit_delay=str(SLOW_MS * 1000), commit_siblings="0")
    bench.interleave("slow", f"The same where a commit takes {SLOW_MS} ms", contestants(cluster))
    bench.ratio(f"A claim's slots against an advisory lock a message, commits of {SLOW_MS} ms", ("slow", "claim"), ("slow", "advisory"),
                "decisions/s", at_least=10)
    bench.ratio(f"One message's slot against an advisory lock, commits of {SLOW_MS} ms", ("slow", "one"), ("slow", "advisory"), "decisions/s")
    bench.note("The lock is held until its transaction is on the disk, so that one commit follows the other; slots are read without"
               " waiting, and what finds no free one commits beside the others. What a slot costs is processor time of the server:"
               " one message a transaction gains little where commits are quick. A lock taken once for many messages would gain too.")
    bench.note(f"Commits of {SLOW_MS} ms are made by PostgreSQL's commit_delay.")
