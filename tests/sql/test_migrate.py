"""`pawl migrate`: up, list, check, sql; a changed file and a failing one are refused by name."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

PROBE = os.environ.get("PAWL_STORE_PROBE") or os.path.join(build_dir(), "tests", "sql", "store_probe")
ROLES = {"pawl_receiver", "pawl_dispatcher", "pawl_maint", "pawl_operator"}


def migrate(cluster, verb, status=0, user="pawl"):
    done = subprocess.run([PROBE, cluster.dsn(user), verb], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=100, check=False)
    eq(done.returncode, status, f"migrate {verb}: {done.stdout}")
    return done.stdout


def objects(cluster):
    return cluster.query("""SELECT c.relname, c.relkind, c.relacl::text FROM pg_class c
        WHERE relnamespace = 'pawl'::regnamespace ORDER BY 1""")


def test_an_empty_cluster_is_migrated_once(t):
    cluster = t.cluster()
    check("pending 0001_core" in migrate(cluster, "check", 1), "check names what is pending")
    eq(cluster.value("SELECT count(*) FROM pg_namespace WHERE nspname = 'pawl'"), 0, "check changes nothing")
    check("pending" in migrate(cluster, "list"), "list shows it as pending")
    check("applied 0001_core" in migrate(cluster, "up"), "up says what it did")
    before = objects(cluster)
    check("nothing to do" in migrate(cluster, "up"), "up again has nothing to do")
    eq(objects(cluster), before)
    migrate(cluster, "check")
    first = json.loads(migrate(cluster, "json"))[0]
    eq((first["number"], first["name"], first["state"]), (1, "core", "applied"))
    eq(cluster.query("SELECT number, name, by_version <> '' FROM pawl.migrations")[0], (1, "core", True))


def test_roles_log_in_and_can_become_nobody_else(t):
    cluster = t.cluster()
    cluster.query("CREATE ROLE pawl_maint LOGIN NOINHERIT PASSWORD 'kept'")
    migrate(cluster, "up")
    rows = cluster.query("""SELECT rolname, rolcanlogin, rolinherit OR rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls
        FROM pg_roles WHERE rolname LIKE 'pawl\\_%'""")
    eq({r[0] for r in rows}, ROLES)
    for name, login, more in rows:
        eq((name, login, more), (name, True, False))
    eq(cluster.value("""SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid IN (m.member, m.roleid)
        WHERE r.rolname LIKE 'pawl\\_%'"""), 0)
    check(cluster.value("SELECT rolpassword IS NOT NULL FROM pg_authid WHERE rolname = 'pawl_maint'"), "a role that was there stays as it was")


def test_several_runs_at_once_apply_each_file_once(t):
    cluster = t.cluster()
    runs = [subprocess.Popen([PROBE, cluster.dsn(), "up"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(5)]
    said = [r.communicate(timeout=60)[0] for r in runs]
    eq([r.returncode for r in runs], [0] * 5, "\n".join(said))
    eq(sum("applied 0001_core" in s for s in said), 1)


def test_a_changed_checksum_is_refused_by_name(t):
    cluster = t.cluster()
    migrate(cluster, "up")
    cluster.query("UPDATE pawl.migrations SET sha256 = repeat('0', 64) WHERE number = 1")
    for verb in ("up", "check", "list"):
        check("0001_core was changed" in migrate(cluster, verb, 2), f"{verb} names the file")


def test_a_file_that_fails_leaves_nothing_behind(t):
    cluster = t.cluster()
    cluster.query("CREATE SCHEMA pawl")
    cluster.query("CREATE TABLE pawl.audit(other int)")
    said = migrate(cluster, "up", 2)
    check("migration 0001_core: relation \"audit\" already exists" in said, said)
    eq([r[0] for r in objects(cluster)], ["audit", "migrations", "migrations_pkey"])
    cluster.query("DROP TABLE pawl.audit")
    migrate(cluster, "up")


def test_a_schema_of_a_newer_version_is_no_error(t):
    cluster = t.cluster()
    migrate(cluster, "up")
    cluster.query("INSERT INTO pawl.migrations VALUES (9999, 'later', 'x', now(), '9.0')")
    check("nothing to do" in migrate(cluster, "up"), "up")
    migrate(cluster, "check")
    check("newer" in migrate(cluster, "list"), "list")


def test_who_was_suppressed_with_a_name_before_the_address_stays_so(t):
    cluster = t.cluster()
    migrate(cluster, "up")
    cluster.query("DELETE FROM pawl.migrations WHERE number >= 12; ALTER TABLE pawl.deliveries DROP COLUMN not_before")
    before = "substring(sha256(convert_to(lower(address), 'UTF8')) FROM 1 FOR 16)"
    cluster.query(f"INSERT INTO pawl.suppressions (channel, type, reason, key, address, source) SELECT 1, 0, 3, {before}, address, 'test' FROM"
                  " unnest(ARRAY['Ann <Ann@example.net>', 'A. <ann@example.net>', 'bob@example.net', 'B <bob@example.net>', '<c@example.net> c']) x(address)")
    check("applied 0012_addresses" in migrate(cluster, "up"), "it is applied")
    eq(cluster.query("SELECT x, (SELECT count(*) FROM pawl.suppressions WHERE key = pawl.address_key(1, x)) FROM"
                     " unnest(ARRAY['ann@example.net', 'bob@example.net', '<c@example.net> c']) x"),
       [("ann@example.net", 1), ("bob@example.net", 1), ("<c@example.net> c", 1)])
    eq(cluster.value("SELECT count(*) FROM pawl.suppressions"), 3)


def test_up_waits_for_a_lock_that_is_soon_free(t):
    cluster = t.cluster()
    migrate(cluster, "up")
    cluster.query("DELETE FROM pawl.migrations")
    cluster.query("DROP SCHEMA pawl CASCADE")
    cluster.query("CREATE SCHEMA pawl")
    holder = cluster.connect(autocommit=False)
    holder.cursor().execute("SELECT pg_advisory_lock(hashtextextended('pawl migrate', 0))")
    run = subprocess.Popen([PROBE, cluster.dsn(), "up"], stdout=subprocess.PIPE, text=True)
    try:
        run.wait(1)
        raise AssertionError("up did not wait")
    except subprocess.TimeoutExpired:
        holder.close()
    eq(run.wait(30), 0)


def test_sql_gives_psql_the_same_schema(t):
    cluster = t.cluster()
    script = migrate(cluster, "sql")
    cluster.create_database("by_hand")
    done = subprocess.run(["psql", "-X", "-q", cluster.dsn(db="by_hand")], input=script, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    eq(done.returncode, 0, done.stdout)
    migrate(cluster, "up")
    shape = """SELECT c.relname, c.relkind, c.relacl::text, pg_get_expr(c.relpartbound, c.oid) FROM pg_class c
        WHERE relnamespace = 'pawl'::regnamespace ORDER BY 1"""
    eq(cluster.query(shape, db="by_hand"), cluster.query(shape))
    eq(cluster.query("SELECT number, sha256 FROM pawl.migrations", db="by_hand"), cluster.query("SELECT number, sha256 FROM pawl.migrations"))


def test_an_owner_who_may_not_create_roles_is_told_so(t):
    cluster = t.cluster()
    cluster.query("CREATE ROLE plain LOGIN")
    cluster.query("GRANT CREATE ON DATABASE pawl TO plain")
    check("create role pawl_receiver: " in migrate(cluster, "up", 2, user="plain"), "names the role")
    for role in ROLES:
        cluster.query(f"CREATE ROLE {role} LOGIN NOINHERIT")
    migrate(cluster, "up", user="plain")
