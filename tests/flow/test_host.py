"""A host set up as docs/deploy.md says, with systemd-socket-activate in systemd's place: one event in, one mail out."""
import os
import re
import shutil
import subprocess

from harness import *
from kit.pawl import smtp_provider, write
from kit.procs import Proc, scratch

# System users that every machine has, in place of ours.
USERS = {"pawl-receiver": "www-data", "pawl-dispatcher": "mail", "pawl-operator": "games"}
ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}  # systemd gives little


def deploy_file(name):
    with open(os.path.join(ROOT, "deploy", "postgresql", name), encoding="utf-8") as f:
        text = f.read()
    for ours, theirs in USERS.items():
        text = text.replace(ours + " ", theirs + " ")
    return text


def run_as(user, folder, *args):
    done = subprocess.run(["setpriv", "--reuid", user, "--regid", "65534", "--clear-groups", binary(), "--config", folder + "/pawl.yaml", *args],
                          env={**ENV, **sanitizers()}, cwd="/", capture_output=True, text=True, check=False)
    eq(done.returncode, 0, done.stdout + done.stderr)


def sanitizers():
    return {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}


def configure(cluster, sink, listen, admin):
    """/etc/pawl of the page, in a folder of its own."""
    folder = scratch("pawl-etc-")
    write(folder + "/pawl.yaml", f'pawl: 1\ndatabase: "host={cluster.dir} port=5432 dbname=pawl"\npolicy: [policy.yaml]\ntemplates: templates\n'
          f'receiver: {{ listen: ["127.0.0.1:{listen}"], threads: 1 }}\nadmin: {{ listen: ["127.0.0.1:{admin}"] }}\n')
    with open(os.path.join(ROOT, "tests", "flow", "policies", "strict.yaml"), encoding="utf-8") as f:
        policy = f.read().replace("@SMTP_PROVIDER@", smtp_provider(sink))
    write(folder + "/policy.yaml", policy)
    for kind in re.findall(r"^  ([a-z0-9][a-z0-9-]*):", policy.partition("\nmessages:")[2].partition("\nlimits:")[0], re.M):
        for part in ("subject", "text", "html"):
            write(f"{folder}/templates/{kind}/email.en.{part}.mustache", "Order {{order.id}}\n" if part != "subject" else "Order {{order.id}}")
    return folder, set(re.findall(r"credential:([A-Za-z0-9._-]+)", policy))


def credentials(user, names):
    """What LoadCredential= makes for one unit: a folder that only its user may enter."""
    folder = scratch("pawl-cred-")
    for name in names:
        write(os.path.join(folder, name), secret(name) + "\n", 0o400)
        shutil.chown(os.path.join(folder, name), user)
    os.chmod(folder, 0o500)
    shutil.chown(folder, user)
    return folder


def log_in_by_peer(cluster):
    """Step 2 of the page; the superuser stays able to look."""
    for name, more in (("pg_hba.conf", "local all pawl trust\n"), ("pg_ident.conf", "")):
        write(os.path.join(cluster.data, name), deploy_file(name) + more)
    cluster.query("SELECT pg_reload_conf()")
    eventually(lambda: cluster.value("SELECT count(*) FROM pg_hba_file_rules WHERE error IS NULL") == 2, 5)


def test_a_host_set_up_as_the_page_says_carries_one_event(t):
    activate = shutil.which("systemd-socket-activate") or t.skip("systemd-socket-activate is not here")
    if os.getuid() != 0:
        t.skip("needs root, to be several system users")
    cluster, sink, listen, admin = t.migrated_cluster(), t.sink(), free_ports(), free_ports(3)
    log_in_by_peer(cluster)
    folder, names = configure(cluster, sink, listen, admin)
    run_as(USERS["pawl-operator"], folder, "policy", "apply")
    programs = []
    for kind in ("receiver", "dispatcher"):
        user = USERS["pawl-" + kind]
        env = {**ENV, **sanitizers(), "CREDENTIALS_DIRECTORY": credentials(user, names)}
        argv = [binary(), kind, "--config", folder + "/pawl.yaml"]
        if kind == "receiver":
            argv = [activate, "-l", f"127.0.0.1:{listen}", *[f"--setenv={k}" for k in env], *argv]
        # Proc's own switch of user asks for a group of the same name, which each of these has.
        programs.append(Proc(kind, argv, env=env, user=user, cwd="/"))
    eventually(lambda: "Listening on" in programs[0].output(), 10, "the socket is there")
    request = stripe_request(secret("stripe"), "evt-1", "step.s1", "o-1", email="a@example.net")
    eq([a.status for a in post_all([request, request], [listen])], [200, 200])
    eventually(lambda: sink.count("a@example.net") == 1, 20, programs[1].tail())
    eq(cluster.query("SELECT DISTINCT usename::text, application_name FROM pg_stat_activity WHERE usename LIKE 'pawl\\_%%' ORDER BY 1")[0][0], "pawl_dispatcher")
    eq(cluster.value("SELECT count(*) FROM pawl.repeats"), 1)
    for program in programs:
        program.sigterm()
        eq(program.wait(20), 0)
        check(not program.sanitizer_report(), program.tail())
