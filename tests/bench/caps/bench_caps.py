"""Caps: how fast 32 workers are told about one hot recipient, against an advisory lock.

Each decision is a transaction as a claim's: the decision, and the end of the delivery that it is about, committed. Pawl's are
the statements that the dispatcher runs (dispatcher/claim/gates/cap_settle.sql, cap_take.sql); the other takes the recipient's
advisory lock, counts and inserts. pgbench runs both, prepared."""
import os
import re
import tempfile

import frame

TITLE = "Caps: decisions on one hot recipient"
WORKERS, MOST, ROWS = 32, 3, 20000
NOTE = "('00000000-0000-0000-0000-' || lpad((:d)::text, 12, '0'))::uuid"
# Who has a slot goes on the wire (1), the others end as withheld (5).
END = ("UPDATE pawl.deliveries SET state = CASE WHEN {let} THEN 1 ELSE 5 END, updated_at = now()"
       " WHERE bucket = 1 AND notification_id = {note} AND channel = 1;")
LET = "EXISTS (SELECT FROM pawl.cap_slots s WHERE s.bucket = 7 AND s.cap = 'hot' AND s.notification_id = {note})"
TAKE = {1: "ARRAY[1]", 2: "ARRAY[0]", 3: "ARRAY[7]", 4: "ARRAY['hot']", 5: f"ARRAY[{MOST}]", 6: "ARRAY[3600000]", 7: "ARRAY[1]",
        8: f"ARRAY[{NOTE}]", 9: "ARRAY[1]", 10: "ARRAY[0]", 11: "ARRAY[true]", 12: ":d"}


def statement(name, values):
    """A statement of the dispatcher in one line, its parameters filled in."""
    with open(os.path.join(frame.ROOT, "dispatcher", "claim", "gates", name + ".sql"), encoding="utf-8") as f:
        text = re.sub(r"--[^\n]*", "", f.read())
    text = re.sub(r"\$(\d+)", lambda m: f"({values[int(m.group(1))]})", text)
    return " ".join(text.split()) + ";"


def script(let, *lines):
    with tempfile.NamedTemporaryFile("w", suffix=".sql", delete=False, encoding="utf-8") as f:
        os.chmod(f.name, 0o644)
        f.write("\n".join((rf"\set d random(1, {ROWS})", "BEGIN;", *lines, END.format(note=NOTE, let=let), "COMMIT;")) + "\n")
    return f.name


def prepare(cluster):
    config = os.path.join(tempfile.mkdtemp(), "pawl.yaml")
    with open(config, "w", encoding="utf-8") as f:
        f.write(f'pawl: 1\ndatabase: "{cluster.dsn(user=None)}"\n')
    frame.run([frame.binary(), "migrate", "up", "--config", config, "--database", cluster.dsn(user="pawl")])
    cluster.query(f"""INSERT INTO pawl.deliveries (bucket, channel, notification_id, delivery_order, lane, address, created_at, updated_at)
        SELECT 1, 1, ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, 2, 11, 'a', now(), now() FROM generate_series(1, {ROWS}) i;
        CREATE TABLE sent (who text, at timestamptz); CREATE INDEX ON sent (who, at)""")
    cluster.query("VACUUM ANALYZE")


def play(cluster, path, count):
    """A round: decisions a second; what was let through must be what the cap allows."""
    def one(seconds):
        cluster.query("TRUNCATE pawl.cap_slots, sent; UPDATE pawl.deliveries SET state = 0 WHERE state <> 0")
        out = frame.run([f"{frame.BIN}/pgbench", "-n", "-M", "prepared", "-c", str(WORKERS), "-j", "2", "--failures-detailed", "-T", str(max(1, round(seconds))),
                         "-f", path, "-h", cluster.dir, "-p", "5432", "-U", "pawl", "pawl"], env={**os.environ, "PGOPTIONS": "-c search_path=pawl,public -c jit=off -c enable_seqscan=off"})
        let = cluster.value(count)
        if let > MOST or "number of failed transactions: 0" not in out:
            raise RuntimeError(f"{let} were let through, {MOST} are allowed:\n{out}")
        return {"decisions/s": float(re.search(r"tps = ([\d.]+)", out).group(1))}
    return one


def run(bench):
    cluster = bench.cluster()
    prepare(cluster)
    slots = script(LET.format(note=NOTE), statement("cap_settle", {1: TAKE[3], 2: TAKE[4]}), statement("cap_take", TAKE))
    lock = script("false", "SELECT pg_advisory_xact_lock(42);",
                  f"INSERT INTO sent SELECT 'hot', now() WHERE (SELECT count(*) FROM sent WHERE who = 'hot' AND at > now() - interval '1 hour') < {MOST};")
    bench.about("slots", "Pawl: slot rows, a unique index decides")
    bench.about("advisory", "pg_advisory_xact_lock, count, insert")
    bench.interleave("hot", f"{WORKERS} workers, one recipient, at most {MOST} an hour", {
        "slots": play(cluster, slots, "SELECT count(*) FROM pawl.cap_slots"),
        "advisory": play(cluster, lock, "SELECT count(*) FROM sent")})
    bench.ratio("Slots against an advisory lock", ("hot", "slots"), ("hot", "advisory"), "decisions/s", at_least=10)
