"""`pawl doctor`: nothing to mend in a world that runs; each main failure is found with the command that mends it."""
import contextlib
import http.server
import json
import os
import signal
import socketserver
import struct
import subprocess
import threading

from harness import *


def examine(p, *args, **how):
    """{check: [(verdict, says, mend), ..]} and the exit status."""
    status, out, err = p.run("doctor", "--json", *args, **how)
    check(status in (0, 1), f"{status}: {err}")
    rows = {}
    for item in json.loads(out)["items"]:
        rows.setdefault(item["check"], []).append((item["verdict"], item["says"], item["mend"]))
    eq(status, 1 if any(r[0] == "fail" for found in rows.values() for r in found) else 0)
    return rows


def one(rows, name, verdict):
    """The one finding of a check with this verdict."""
    found = [r for r in rows.get(name, []) if r[0] == verdict]
    eq(len(found), 1, f"{name} {verdict} among {rows}")
    return found[0][1:]


class Running:
    """A program started with the host file that the command has too, so that the doctor finds it by that."""

    def __init__(self, w, kind, ready=200):
        with open(w.config, encoding="utf-8") as f:
            first = int(f.read().split("admin:")[1].split('"')[1].rsplit(":", 1)[1])
        self.port = first + (kind == "dispatcher")
        self.proc = Proc(kind, [binary(), kind, "--config", w.config], env=w.env)
        eventually(lambda: get(self.port, "/readyz").status == ready, 20, f"{kind} says {ready}")

    def version(self):
        shown = parse_metrics(get(self.port, "/metrics").body.decode())
        return [dict(labels)["version"] for (name, labels), n in shown.items() if name == "pawl_policy_info" and n == 1]

    def close(self):
        self.proc.sigterm()
        eq(self.proc.wait(15), 0)


def one_host(t, **sink):
    """(pawl, its receiver, its dispatcher): both run by one host file, as on a real host."""
    w = t.pawl(t.migrated_cluster(), t.sink(**sink), policy="strict")
    programs = [t.keep(Running(w, kind)) for kind in ("receiver", "dispatcher")]
    eventually(lambda: all(p.version() == ["1"] for p in programs))
    return w, *programs


def test_a_running_host_has_nothing_to_mend(t):
    w, *_ = one_host(t)
    rows = examine(w)
    eq([(name, r) for name, found in rows.items() for r in found if r[0] != "ok" and name != "snapshots"], [])
    eq([says for _, says, _ in rows["processes"]], ["the receiver works by policy version 1", "the dispatcher works by policy version 1"])
    check("lets us in" in rows["channels"][0][1], rows["channels"])
    eq(w.sink.count(), 0, "mails that were sent")
    eq(set(rows), {"database", "settings", "standby", "clock", "schema", "rights", "policy", "processes", "credentials", "channels",
                   "vacuum", "snapshots", "leases", "unknown", "due", "waiting", "pauses"})
    check("mend:" not in "".join(l for l in w.must("doctor").splitlines() if "pg_read_all_stats" not in l), "in words too")


def test_a_process_that_works_by_another_policy_is_named(t):
    w, receiver, dispatcher = one_host(t)
    dispatcher.proc.freeze()
    w.set_policy("strict", edit=lambda s: s.replace("Order reached s1", "Order has come to s1"))
    w.must("policy", "apply")
    eq(one(examine(w), "policy", "ok")[0], "version 2 is active")
    eventually(lambda: receiver.version() == ["2"])
    found = examine(w)["processes"]
    dispatcher.proc.thaw()
    eq(found[1][:2], ("fail", "the dispatcher hangs: no answer within 2000 ms"))
    check(found[1][2].startswith("systemctl restart pawl-dispatcher"), found)
    eventually(lambda: dispatcher.version() == ["2"])
    w.cluster.query("INSERT INTO pawl.policy_versions (version, sha256, applied_at) SELECT 3, 'x', now() + interval '1 minute'; INSERT INTO pawl.policy_texts"
                    " SELECT 3, kind, path, 'pawl: 9' FROM pawl.policy_texts WHERE version = 2 AND kind = 1")
    rows = examine(w)
    check(rows["policy"][0][0] == "fail", rows["policy"])
    eq([r[:2] for r in rows["processes"] if "yet" in r[1]],
       [("note", f"the {kind} has not read policy version 3 yet: that was applied less than 10 s ago") for kind in ("receiver", "dispatcher")])
    eq([r for r in rows["processes"] if r[0] == "fail"], [])
    w.cluster.query("UPDATE pawl.policy_versions SET applied_at = now() - interval '11 s' WHERE version = 3")
    rows = examine(w)
    eq([r[:2] for r in rows["processes"] if r[0] == "fail"], [("fail", f"the {kind} works by policy version 2, 3 is active")
                                            for kind in ("receiver", "dispatcher")])
    check(rows["processes"][0][2].startswith("systemctl reload pawl-receiver"), rows["processes"])


def test_why_a_process_is_not_well_is_told(t):
    w, _, dispatcher = one_host(t, auth="shop:right", tls="starttls")
    w.set_policy("strict", edit=lambda s: s.replace("Order reached s1", "Order has come to s1"))
    os.unlink(os.path.join(w.dir, "credentials", "smtp-password"))
    w.must("policy", "apply")
    eventually(lambda: b"degraded" in get(dispatcher.port, "/readyz").body, 10)
    says = one(examine(w), "processes", "warn")[0]
    check(says.startswith("not all of the dispatcher is well: policy: an older version is in use: policy version 2: can't open"), says)
    dispatcher.close()
    dispatcher.proc = Running(w, "dispatcher", ready=503).proc
    w.cluster.query("UPDATE pawl.policy_versions SET applied_at = now() - interval '11 s' WHERE version = 2")
    says = [says for verdict, says, _ in examine(w)["processes"] if verdict == "fail" and "dispatcher" in says]
    check(says[0] == "the dispatcher has no policy yet" and says[1].startswith("the dispatcher is not ready: policy: policy version 2: "), says)


@contextlib.contextmanager
def answering(port, livez=200, checks=()):
    """An admin listener that says this, since a real program is not easily brought to it."""
    ready = json.dumps({"status": "degraded" if checks else "ready", "checks": list(checks)}).encode()
    answers = {"/metrics": (200, b'\npawl_policy_info{version="1"} 1\n'), "/readyz": (200, ready), "/livez": (livez, b"{}")}

    class Admin(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answers[self.path]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Admin) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def test_a_loop_that_stands_still_is_told_though_its_admin_port_answers(t):
    w, _, dispatcher = one_host(t)
    dispatcher.close()
    with answering(dispatcher.port, livez=503):
        says, mends = one(examine(w), "processes", "fail")
    eq((says, mends.split(";")[0]), ("the dispatcher hangs: a loop of it does not turn", "systemctl restart pawl-dispatcher"))
    dispatcher.proc = Running(w, "dispatcher").proc


def test_an_open_breaker_is_mended_by_a_reload(t):
    w, _, dispatcher = one_host(t)
    dispatcher.close()
    with answering(dispatcher.port, checks=[{"name": "provider_email_smtp", "ok": False, "detail": "gets none for now: connection refused"}]):
        says, mends = one(examine(w), "processes", "warn")
    eq(says, "not all of the dispatcher is well: provider_email_smtp: gets none for now: connection refused")
    eq(mends.split(";")[0], "systemctl reload pawl-dispatcher")
    dispatcher.proc = Running(w, "dispatcher").proc


def test_without_a_database_or_processes_it_says_what_to_start(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    found = examine(w)["processes"]
    eq([(r[0], r[2].split(";")[0]) for r in found], [("fail", "systemctl start pawl-receiver"), ("fail", "systemctl start pawl-dispatcher")])
    w.cluster.stop()
    says, mend = one(examine(w), "database", "fail")
    check("connect" in says and mend.startswith("systemctl start postgresql"), (says, mend))


def test_a_host_may_run_one_program_of_both(t):
    w, receiver, dispatcher = one_host(t)
    dispatcher.close()
    found = examine(w)["processes"]
    eq([(r[0], r[2].split(";")[0]) for r in found], [("ok", ""), ("warn", "systemctl start pawl-dispatcher")])
    receiver.close()
    eq([r[0] for r in examine(w)["processes"]], ["fail", "fail"])
    receiver.proc, dispatcher.proc = Running(w, "receiver").proc, Running(w, "dispatcher").proc


def test_what_is_paused_is_told_with_what_it_holds(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    eq(one(examine(w), "pauses", "ok")[0], "nothing is paused")
    w.must("pause", "channel:email", "--reason", "the relay moves")
    w.must("pause", "all", "--reason", "ended")
    w.must("resume", "all")
    w.cluster.query("INSERT INTO pawl.due SELECT 1, -100 * id, now(), gen_random_uuid(), 1, 0, 0, '' FROM pawl.pauses WHERE kind = 2")
    says, mend = one(examine(w), "pauses", "warn")
    check(says.startswith("channel:email is paused and holds 1 deliveries (") and says.endswith(": the relay moves)"), says)
    w.must(*mend.split()[1:])
    one(examine(w), "pauses", "ok")


@contextlib.contextmanager
def refusing_database(says):
    """The connection string of a server that refuses everybody in these words, as PostgreSQL does while it recovers."""
    class Refuses(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(4096)
            fields = b"SFATAL\0VFATAL\0C57P03\0M" + says.encode() + b"\0\0"
            self.request.sendall(b"E" + struct.pack(">I", len(fields) + 4) + fields)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"host=127.0.0.1 port={server.server_address[1]} dbname=pawl sslmode=disable gssencmode=disable"
        server.shutdown()


def test_a_database_that_recovers_is_waited_for(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    for state in ("starting up", "shutting down", "in recovery mode", "not yet accepting connections"):
        with refusing_database(f"the database system is {state}") as database:
            says, mend = one(examine(w, "--database", database), "database", "fail")
        check(f"is {state}: wait" in says and mend == "sleep 10; pawl doctor", (says, mend))


def test_a_database_that_hangs_is_not_told_to_be_started(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    w.cluster.freeze()
    says, mend = one(examine(w), "database", "fail")
    w.cluster.thaw()
    check(says.startswith("it does not answer within 5 s") and mend.startswith("ps -C postgres "), (says, mend))
    eq(subprocess.run(mend, shell=True, check=False, stdout=subprocess.DEVNULL).returncode, 0, "it can be copied")


def test_what_mends_a_pawl_up_is_its_own_command(_t):
    folder = os.path.join(scratch("pawl-up-"), "a place")
    env = {**os.environ, "PAWL_CONFIG": f"{folder}/pawl.yaml"}
    proc = Proc("up", [binary(), "up", "--dir", folder, "--json"], env=env, cwd="/")
    eventually(lambda: '{"dir"' in proc.output(), 60, "it runs")
    doctor = lambda: json.loads(subprocess.run([binary(), "doctor", "--json"], env=env, capture_output=True, cwd="/", check=False).stdout)["items"]
    processes = lambda: [(i["verdict"], i["mend"]) for i in doctor() if i["check"] == "processes"]
    eventually(lambda: processes() == [("ok", "")] * 2, 10, "all is well")
    granted = next(i["mend"] for i in doctor() if i["check"] == "snapshots")
    subprocess.run(granted, shell=True, check=True, cwd="/", stdout=subprocess.DEVNULL)
    eq([i["verdict"] for i in doctor() if i["check"] == "snapshots"], ["ok"], granted)
    os.kill(next(p for p in proc.tree() if open(f"/proc/{p}/comm", encoding="utf-8").read() == "pawl-dispatch\n"), signal.SIGSTOP)
    verdict, mends = processes()[1]
    eq((verdict, mends), ("fail", f"kill $(cat '{folder}'/lock); pawl up --dir '{folder}'"))
    subprocess.run(mends.split(";")[0], shell=True, check=True)
    eq(proc.wait(10), 0)
    found = [i["mend"] for i in doctor() if i["check"] in ("database", "processes")]
    eq(found, [f"pawl up --dir '{folder}'"] * 3)


def test_settings_that_lose_commits_fail(t):
    w = t.pawl(t.migrated_cluster(options={"fsync": "off", "full_page_writes": "off"}), t.sink(), policy="strict")
    w.cluster.query("ALTER ROLE pawl_receiver SET synchronous_commit = off")
    found = {says.split(" for ")[0]: mend for verdict, says, mend in examine(w)["settings"] if verdict == "fail"}
    eq(set(found), {"fsync is off", "full_page_writes is off", "synchronous_commit is off"})
    check("ALTER SYSTEM RESET fsync" in found["fsync is off"], found)
    check("ALTER ROLE pawl_receiver RESET synchronous_commit" in found["synchronous_commit is off"], found)
    w.cluster.set(synchronous_standby_names="away")
    eventually(lambda: w.cluster.value("SHOW synchronous_standby_names") == "away")
    check("no COMMIT is confirmed" in one(examine(w), "standby", "fail")[0], "the standby is missed")


def test_what_the_mend_says_mends_rights_and_roles(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    breaks = [("REVOKE INSERT ON pawl.bodies FROM pawl_receiver", "rights", "pawl_receiver may not INSERT bodies"),
              ("GRANT SELECT ON pawl.contents TO pawl_receiver", "rights", "pawl_receiver may SELECT contents"),
              ("ALTER ROLE pawl_dispatcher NOLOGIN", "roles", "pawl_dispatcher may not log in"),
              ("ALTER ROLE pawl_maint SUPERUSER", "roles", "pawl_maint is SUPERUSER"),
              ("GRANT pawl_maint TO pawl_operator", "roles", "pawl_operator is a member of pawl_maint")]
    for sql, name, want in breaks:
        w.cluster.query(sql)
        found = [r for r in examine(w)[name] if r[1].startswith(want)]
        check(found and found[0][0] == "fail", f"{sql}: {found}")
        w.cluster.query(found[0][2].split("'")[1])
        eq(one(examine(w), "rights", "ok")[1], "", sql)


def test_schema_and_policy_that_are_missing_are_told(t):
    w = t.pawl(t.cluster(), t.sink(), policy="strict", setup=False)
    says, mend = one(examine(w), "database", "fail")
    eq(mend, "pawl migrate up", says)
    w.must("migrate", "up")
    eq(one(examine(w), "policy", "fail")[1], "pawl policy apply")
    w.cluster.query("DELETE FROM pawl.migrations WHERE number = (SELECT max(number) FROM pawl.migrations)")
    eq(one(examine(w), "schema", "fail")[1], "pawl migrate up")


def test_credentials_are_looked_at_as_files(t):
    w = t.pawl(t.migrated_cluster(), t.sink(auth="shop:password"), policy="strict")
    path = os.path.join(w.dir, "credentials", "shop")
    one(examine(w), "credentials", "ok")
    os.chmod(path, 0o644)
    rows = examine(w)["credentials"]
    check(any(v == "fail" and m == f"chmod o-rwx '{path}'" for v, _, m in rows), rows)
    os.chmod(path, 0o600)
    w.set_credential("shop", "two words")
    rows = examine(w)["credentials"]
    check(any(v == "warn" and "white space" in s and "cat" not in m for v, s, m in rows), f"white space is told, the secret is not: {rows}")
    w.set_credential("shop", "-----BEGIN PRIVATE KEY-----\nMC4CAQAw BQ==\n-----END PRIVATE KEY-----\n")
    check(not any("white space" in s for _, s, _ in examine(w)["credentials"]), "a key's lines are no white space")
    os.unlink(path)
    rows = examine(w)["credentials"]
    check(any(v == "fail" and m.endswith(f"'{path}'") for v, _, m in rows), rows)
    check(any(v == "fail" and "source 'shop' has no live secret" in s for v, s, _ in rows), rows)
    if os.getuid() == 0:
        w.set_credential("stripe", "x")
        os.chown(os.path.join(w.dir, "credentials", "stripe"), 65534, 65534)
        check(any(v == "warn" and "owned by user 65534" in s for v, s, _ in examine(w)["credentials"]), "the owner is told")


def test_a_credential_is_for_who_reads_the_others(t):
    if os.getuid() != 0:
        t.skip("files of other users need root")
    w = t.pawl(t.migrated_cluster(), t.sink(auth="shop:password"), policy="strict")
    folder = os.path.join(w.dir, "credentials")
    for uid, gid, mode, owner, reader in ((65534, 65534, 0o700, "nobody:nogroup", "nobody"), (0, 65534, 0o750, "root:nogroup", "group nogroup"),
                                          (0, 0, 0o755, "root:nogroup", "group nogroup")):
        os.chown(folder, uid, gid)
        os.chmod(folder, mode)
        for path in (os.path.join(folder, name) for name in os.listdir(folder)):
            os.chown(path, uid, 65534)
            os.chmod(path, 0o640)
        one(examine(w), "credentials", "ok")
        path = os.path.join(folder, "shop")
        os.unlink(path)
        found = [m for v, _, m in examine(w)["credentials"] if v == "fail" and m.startswith("install")]
        eq(found, ["install -o {} -g {} -m 0640 /dev/stdin '{}'".format(*owner.split(":"), path)])
        subprocess.run(found[0], shell=True, check=True, input=b"shop-secret-of-this-test\n")
        one(examine(w), "credentials", "ok")
        os.chown(path, 0, 0)
        says, mend = one(examine(w), "credentials", "warn")
        eq(says, f"{path} can't be read by {reader}, as the others can")
        check(any(r["verdict"] == "warn" and f"chown {owner} '" in r["finding"] for r in w.json("keys", "check")["items"]), "keys check says so too")
        subprocess.run(mend, shell=True, check=True)
        one(examine(w), "credentials", "ok")


def test_channels_are_tried_without_sending(t):
    sink = t.sink(auth="shop:password", tls="starttls")
    w = t.pawl(t.migrated_cluster(), sink, policy="strict")
    check("lets us in" in one(examine(w), "channels", "ok")[0], "with STARTTLS and a password")
    w.set_credential("smtp-password", "another")
    check("channels" in examine(w) and one(examine(w), "channels", "fail")[0], "a wrong password is told")
    eq(sink.count(), 0)
    sink.close()
    says, mend = one(examine(w), "channels", "fail")
    eq(mend, f"openssl s_client -connect '127.0.0.1:{sink.port}' -starttls smtp", says)


def test_a_mail_server_is_looked_at_as_its_url_says(t):
    for tls, want in ((None, "curl -v 'smtp://127.0.0.1:{}'"), ("implicit", "openssl s_client -connect '127.0.0.1:{}'")):
        sink = t.sink(tls=tls)
        w = t.pawl(t.migrated_cluster(), sink, policy="strict")
        sink.close()
        says, mend = one(examine(w), "channels", "fail")
        eq(mend, want.format(sink.port), says)


def test_what_waits_too_long_is_told(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    w.cluster.query("""
        INSERT INTO pawl.claims SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour', '{1}',
            ARRAY[gen_random_uuid()], '{1}', '{""}', '{0}', '{1}';
        INSERT INTO pawl.unknown_outcomes SELECT 1, 1, gen_random_uuid(), 0, '', now() - interval '1 day';
        INSERT INTO pawl.due SELECT 1, 11, now() - interval '1 hour', gen_random_uuid(), 1, 0, 0, '';
        INSERT INTO pawl.waiting SELECT 1, 1, 1, 4, NULL, 'o', 'e', '', 't', '{}', '{}', now() - interval '8 days'""")
    rows = examine(w)
    eq(one(rows, "leases", "fail")[1].split(";")[0], "systemctl restart pawl-dispatcher")
    eq(one(rows, "unknown", "warn")[1], "pawl deliveries list --state unknown")
    check("the oldest for 36" in one(rows, "due", "warn")[0], rows["due"])
    check("1 events" in one(rows, "waiting", "warn")[0], rows["waiting"])


def test_an_old_snapshot_is_seen_where_that_is_granted(t):
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    says, mend = one(examine(w), "snapshots", "note")
    check(says.startswith("not seen"), says)
    for sql in mend.split("'")[1::2]:
        w.cluster.query(sql)
    eq(one(examine(w), "snapshots", "ok"), ("none is older than ten minutes", ""))
    w.cluster.set(autovacuum="off")
    eventually(lambda: any("autovacuum is off" in says for _, says, _ in examine(w)["settings"]))


def test_a_clock_that_is_off_is_told(t):
    t.need_faults()
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict")
    says, mend = one(examine(w, env={"PAWL_TEST_NOW": "1700000000"}), "clock", "fail")
    check("off the database's" in says and mend == "timedatectl set-ntp true", (says, mend))


def test_the_folder_of_attachments_is_looked_at(t):
    folder = os.path.join(scratch("pawl-files-"), "files")
    w = t.pawl(t.migrated_cluster(), t.sink(), policy="strict", host={"dispatcher": {"attachments": folder}},
               edit=lambda s: s.replace("  reached-s1:\n", "  reached-s1:\n    attachments: [terms.pdf]\n"))
    says, mend = one(examine(w), "attachments", "fail")
    check("is not there" in says and mend.startswith("install -d") and folder in mend, (says, mend))
    with open(folder, "w", encoding="utf-8"):
        check("is no folder" in one(examine(w), "attachments", "fail")[0], "a file is told")
    os.unlink(folder)
    os.mkdir(folder, 0o755)
    check(folder in one(examine(w), "attachments", "ok")[0], "and what is right too")
    with open(w.config, encoding="utf-8") as f:
        named = f.read()
    with open(w.config, "w", encoding="utf-8") as f:
        f.write("".join(line for line in named.splitlines(True) if folder not in line))
    check("reached-s1 carries files" in one(examine(w), "attachments", "warn")[0], "no folder is named")
