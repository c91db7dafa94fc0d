"""Who may do what: every role x table x verb tried for real, as that role; what the table does not allow is refused."""
import os
import subprocess

import psycopg2

from harness import *

ROLES = ["pawl_receiver", "pawl_dispatcher", "pawl_maint", "pawl_operator"]
VERBS = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"]
KEY = {"bucket", "notification_id", "channel", "target", "redrive"}
COLUMNS = {  # rights on some columns only
    ("pawl_dispatcher", "due", "UPDATE"): {"lane"},  # so that it may lock rows
    ("pawl_maint", "notifications", "UPDATE"): {"data"},  # blanked after its time
    ("pawl_maint", "cap_slots", "UPDATE"): {"taken_at"},  # so that it may lock rows
    # What a receipt is judged by, and what it moves.
    ("pawl_receiver", "deliveries", "SELECT"): KEY | {"state", "tries", "unknown_tries", "delivery_order", "lane", "address", "provider_id",
                                                      "expires_at", "retry_until", "lookup_at", "doubt_at", "provider"},
    ("pawl_receiver", "receipts", "SELECT"): {"bucket", "channel", "notification_id", "redrive", "kind", "provider_id"},
    ("pawl_dispatcher", "receipts", "SELECT"): {"bucket", "channel", "notification_id", "redrive", "kind", "provider_id"},
    ("pawl_receiver", "deliveries", "UPDATE"): {"state", "reason", "updated_at", "provider_id", "lookup_at", "not_before",
                                                      "unknown_tries", "doubt_at"},
    ("pawl_receiver", "unknown_outcomes", "SELECT"): KEY,
    ("pawl_operator", "deliveries", "UPDATE"): {"state", "reason", "updated_at", "provider_id", "lookup_at", "retry_until"},  # by hand
}
RINGS = {"keys": 4, "replay_keys": 4, "bodies": 16, "repeats": 16, "moves": 16, "attempts": 16, "contents": 16, "rejected": 16, "receipts": 16, "audit": 16}
EMPTIED = [f"{ring}_{i}" for ring, n in RINGS.items() if ring != "audit" for i in range(n)]

# The letters of SELECT INSERT UPDATE DELETE TRUNCATE by role; a table that is not named here allows its role nothing.
ALLOWED = {
    "pawl_receiver": {
        "migrations": "s", "policy_versions": "s", "policy_texts": "s", "names": "s", "key_gen": "s", "keys": "si",
        "replay_keys": "si", "bodies": "i", "repeats": "si", "deliveries": "i", "due": "i", "moves": "si",
        "notifications": "si", "orders": "siu", "waiting": "sid", "rejected": "si", "secret_uses": "siu",
        "receipts": "i", "attempts": "i", "suppressions": "i", "unknown_outcomes": "d"},
    "pawl_dispatcher": {
        "migrations": "s", "policy_versions": "s", "policy_texts": "s", "names": "s", "notifications": "s",
        "deliveries": "su", "due": "sid", "claims": "siud", "cap_slots": "siud", "unknown_outcomes": "sid",
        "contents": "si", "attempts": "si", "provider_tokens": "siud", "rates": "siu", "pauses": "sd", "suppressions": "si"},
    "pawl_maint": {
        "key_gen": "siu", "emptied": "siu", "blanked_until": "su", "blank_later": "sid", "policy_versions": "s", "waiting": "s",
        "due": "s", "claims": "s", "deliveries": "s", "notifications": "s", "cap_slots": "sd", **{slot: "st" for slot in EMPTIED}},
    "pawl_operator": {  # and "s" on all but tokens
        "policy_versions": "si", "policy_texts": "si", "names": "si", "audit": "si", "deliveries": "si", "due": "si", "attempts": "si",
        "unknown_outcomes": "sid", "cap_slots": "sd",
        "pauses": "siu", "suppressions": "siud"},
}


def tables(cluster):
    """{table: its first column}, partitions too."""
    return dict(cluster.query("""SELECT c.relname::text, (SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid
            AND attnum > 0 AND NOT attisdropped ORDER BY attnum LIMIT 1)
        FROM pg_class c WHERE c.relnamespace = 'pawl'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"""))


def allowed(role, table, verb):
    if role == "pawl_operator" and verb == "SELECT":
        return table != "provider_tokens"
    return verb[0].lower() in ALLOWED[role].get(table, "")


def statement(table, column, verb):
    """Changes no row, and yet the server asks for the right first. WHERE names no column: reading one asks for more."""
    return {
        "SELECT": f"SELECT * FROM pawl.{table} LIMIT 0",
        "INSERT": f"INSERT INTO pawl.{table} SELECT (NULL::pawl.{table}).* WHERE false",
        "UPDATE": f"UPDATE pawl.{table} SET {column} = NULL WHERE false",
        "DELETE": f"DELETE FROM pawl.{table} WHERE false",
        "TRUNCATE": f"TRUNCATE pawl.{table}",
    }[verb]


def refused(conn, sql):
    """True when the right is missing; whatever else goes wrong is a failure."""
    try:
        with conn.cursor() as cur:
            cur.execute(sql)
    except psycopg2.errors.InsufficientPrivilege:
        return True
    finally:
        conn.rollback()
    return False


def differences(cluster, counts):
    wrong = []
    known = tables(cluster)
    for role in ROLES:
        conn = cluster.connect(role, autocommit=False)
        for table, column in sorted(known.items()):
            for verb in VERBS:
                want = not allowed(role, table, verb)
                counts[want] += 1
                if refused(conn, statement(table, column, verb)) != want:
                    wrong.append(f"{role} {verb} {table}: {'is not refused' if want else 'is refused'}")
        conn.close()
    return wrong


def test_every_role_may_do_what_the_table_says_and_nothing_else(t):
    cluster = t.migrated_cluster()
    known = tables(cluster)
    eq({table for rights in ALLOWED.values() for table in rights} - set(known), set(), "tables that are not there")
    check(len(known) > 100, f"{len(known)} tables")
    counts = {True: 0, False: 0}
    eq(differences(cluster, counts), [])
    print(f"              {counts[True]} of {counts[True]} denied cells refused, {counts[False]} of {counts[False]} allowed cells work")
    # It bites, both ways.
    cluster.query("GRANT UPDATE ON pawl.keys_2 TO pawl_receiver")
    cluster.query("REVOKE SELECT ON pawl.due FROM pawl_dispatcher")
    eq(differences(cluster, {True: 0, False: 0}),
       ["pawl_receiver UPDATE keys_2: is not refused", "pawl_dispatcher SELECT due: is refused"])


def test_a_column_right_is_for_that_column_only(t):
    cluster = t.migrated_cluster()
    found = {}
    for role, table, verb, column in cluster.query("""
            SELECT r.rolname::text, c.relname::text, x.privilege_type::text, a.attname::text
            FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, aclexplode(a.attacl) x JOIN pg_roles r ON r.oid = x.grantee
            WHERE c.relnamespace = 'pawl'::regnamespace"""):
        found.setdefault((role, table, verb), set()).add(column)
    eq(found, COLUMNS)
    for (role, table, verb), allowed_columns in found.items():
        columns = [r[0] for r in cluster.query("SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
                                               ("pawl." + table,))]
        check(len(columns) > 5, f"{columns}")
        conn = cluster.connect(role, autocommit=False)
        for column in columns:
            sql = f"UPDATE pawl.{table} SET {column} = NULL WHERE false" if verb == "UPDATE" else f"SELECT {column} FROM pawl.{table} LIMIT 0"
            eq(refused(conn, sql), column not in allowed_columns, f"{role} {verb} {table} {column}")
        conn.close()


BEYOND = [
    "SET ROLE pawl", "SET SESSION AUTHORIZATION pawl", "CREATE TABLE pawl.mine (x int)", "CREATE TABLE public.mine (x int)",
    "CREATE SCHEMA mine", "CREATE ROLE mine", "CREATE DATABASE mine", "CREATE EXTENSION dblink", "CREATE EXTENSION hstore", "ALTER ROLE pawl_maint SUPERUSER",
    "CREATE FUNCTION pawl.mine() RETURNS int LANGUAGE sql RETURN 1", "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql RETURN 1",
    "CREATE VIEW pawl.mine AS SELECT 1", "CREATE SEQUENCE pawl.mine", "CREATE INDEX mine ON pawl.orders (state)",
    "CREATE TRIGGER mine BEFORE INSERT ON pawl.orders FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "ALTER TABLE pawl.orders DISABLE TRIGGER ALL", "ALTER TABLE pawl.orders ADD mine int", "DROP TABLE pawl.audit", "DROP SCHEMA pawl CASCADE",
    "GRANT SELECT ON pawl.orders TO PUBLIC", "SELECT * FROM pg_authid", "SELECT * FROM pg_shadow", "SELECT * FROM pg_hba_file_rules",
    "SELECT pg_read_file('postgresql.conf')", "SELECT pg_ls_dir('.')", "SELECT lo_import('/etc/passwd')",
    "COPY (SELECT 1) TO '/tmp/pawl-roles'", "COPY (SELECT 1) TO PROGRAM 'true'", "ALTER SYSTEM SET fsync = off",
    "SELECT pg_reload_conf()", "SET session_replication_role = replica", "CHECKPOINT", "VACUUM FULL pawl.orders",
    "SELECT pg_create_physical_replication_slot('mine')", "CREATE PUBLICATION mine FOR TABLE pawl.orders",
]


def beyond(role):
    """The statements that nobody may run, and SET ROLE to each of the others."""
    return BEYOND + [f"SET ROLE {other}" for other in ROLES if other != role]


def test_no_role_reaches_another_or_makes_an_object_or_reads_what_is_the_servers(t):
    cluster = t.migrated_cluster()
    tried, wrong = 0, []
    for role in ROLES:
        conn = cluster.connect(role, autocommit=True)
        for sql in beyond(role):
            tried += 1
            try:
                with conn.cursor() as cur:
                    cur.execute(sql)
                # GRANT and VACUUM only warn, and do nothing.
                if not any("no privileges were granted" in n or "only table or database owner can vacuum" in n for n in conn.notices):
                    wrong.append(f"{role}: {sql}")
                del conn.notices[:]
            except psycopg2.errors.InsufficientPrivilege:
                pass
            except psycopg2.Error as e:
                wrong.append(f"{role}: {sql}: {e}")
        conn.close()
    eq(wrong, [])
    print(f"              {tried} of {tried} ways beyond are refused")
    eq(cluster.query("""SELECT rolname::text FROM pg_roles WHERE rolname LIKE 'pawl\\_%%'
        AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR rolinherit OR NOT rolcanlogin)"""), [])
    eq(cluster.value("SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid IN (m.member, m.roleid) WHERE rolname LIKE 'pawl\\_%%'"), 0)
    # They own nothing, and PUBLIC has nothing in the schema.
    eq(cluster.query("SELECT relname::text FROM pg_class c JOIN pg_roles r ON r.oid = relowner WHERE rolname LIKE 'pawl\\_%%'"), [])
    eq(cluster.query("SELECT relname::text FROM pg_class, aclexplode(relacl) x WHERE relnamespace = 'pawl'::regnamespace AND grantee = 0"), [])


SYSTEM_USERS = {"pawl-receiver": "www-data", "pawl-dispatcher": "mail", "pawl-operator": "games"}  # that every machine has
MAY_BE = {"pawl-receiver": {"pawl_receiver"}, "pawl-dispatcher": {"pawl_dispatcher", "pawl_maint"}, "pawl-operator": {"pawl_operator"}}


def deploy_file(name):
    with open(os.path.join(ROOT, "deploy", "postgresql", name), encoding="utf-8") as f:
        return f.read()


def test_the_peer_map_gives_each_system_user_its_own_role(t):
    if os.getuid() != 0:
        t.skip("needs root, to be several system users")
    cluster = t.migrated_cluster()
    ident = deploy_file("pg_ident.conf")
    for ours, theirs in SYSTEM_USERS.items():
        ident = ident.replace(ours + " ", theirs + " ")
    for name, text in (("pg_hba.conf", deploy_file("pg_hba.conf") + "local all pawl trust\n"), ("pg_ident.conf", ident)):
        with open(os.path.join(cluster.data, name), "w", encoding="utf-8") as f:
            f.write(text)
    cluster.query("SELECT pg_reload_conf()")
    eq(cluster.query("SELECT line_number, error FROM pg_hba_file_rules WHERE error IS NOT NULL"), [])
    eq(cluster.query("SELECT line_number, error FROM pg_ident_file_mappings WHERE error IS NOT NULL"), [])
    eventually(lambda: whoami(cluster, "www-data", "pawl_receiver") == "pawl_receiver", 5)
    for ours, theirs in SYSTEM_USERS.items():
        eq({role for role in ROLES if whoami(cluster, theirs, role) == role}, MAY_BE[ours], ours)
    eq(whoami(cluster, "nobody", "pawl_receiver"), "")


def whoami(cluster, system_user, role):
    """The role that psql of this system user is, logged in as role; "" when it is refused."""
    done = subprocess.run(["setpriv", "--reuid", system_user, "--clear-groups", "--regid", "65534", "/usr/lib/postgresql/15/bin/psql", "-XAtw",
                           "-d", cluster.dsn(role), "-c", "SELECT session_user"], capture_output=True, text=True, check=False)
    return done.stdout.strip()
