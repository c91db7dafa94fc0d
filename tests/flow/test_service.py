"""The programs as services: sd_notify, the watchdog, sockets and credentials handed in, secrets that stay inside."""
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time

from harness import *
from kit.procs import Proc, scratch

MARK = "marker7f3a"  # in every secret of these tests
RELEASE = os.environ.get("PAWL_RELEASE_BUILD") or os.path.join(ROOT, "build")


class Manager:
    """What a service manager is to a program: the socket named by NOTIFY_SOCKET."""

    def __init__(self, t, abstract=False):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.address = f"@pawl-test-{os.getpid()}-{time.monotonic_ns()}" if abstract else os.path.join(scratch("pawl-notify-"), "notify")
        self.socket.bind(self.address.replace("@", "\0", 1) if abstract else self.address)
        self.socket.settimeout(0.2)
        self.said = []
        t.keep(self)

    def heard(self, what, times=1):
        """True once a message with this line came so often."""
        try:
            while True:
                self.said.append((time.monotonic(), self.socket.recv(4096).decode().splitlines()))
        except (socket.timeout, BlockingIOError):
            pass
        return sum(what in lines for _, lines in self.said) >= times

    def index(self, what):
        return next(i for i, (_, lines) in enumerate(self.said) if what in lines)

    def close(self):
        self.socket.close()


def secrets_of(w):
    """Gives every credential of w a value with the marker."""
    folder = os.path.join(w.dir, "credentials")
    for name in os.listdir(folder):
        if name != "smtp-password":
            w.set_credential(name, ("whsec_" if name.startswith("stripe") else "") + MARK + name)


def test_both_programs_tell_their_manager_of_start_reload_and_stop(t):
    w = t.world(receivers=0, dispatchers=0)
    for kind, abstract in (("receiver", False), ("dispatcher", True)):
        manager = Manager(t, abstract)
        program = getattr(w, kind)(env={"NOTIFY_SOCKET": manager.address})
        eventually(lambda m=manager: m.heard("READY=1"), 10, f"{kind}: READY=1")
        program.proc.signal(signal.SIGHUP)
        eventually(lambda m=manager: m.heard("RELOADING=1") and m.heard("READY=1", 2), 10, f"{kind}: reload")
        eq(program.stop(), 0)
        check(manager.heard("STOPPING=1"), f"{kind}: STOPPING=1")
        check(manager.index("READY=1") < manager.index("RELOADING=1") < manager.index("STOPPING=1"), f"{manager.said}")


def test_the_watchdog_is_fed_while_the_loop_turns_also_without_a_database(t):
    w = t.world(receivers=0, dispatchers=0)
    for kind in ("receiver", "dispatcher"):
        manager = Manager(t)
        program = getattr(w, kind)(env={"NOTIFY_SOCKET": manager.address})
        eventually(lambda m=manager: m.heard("WATCHDOG=1", 3), 10, f"{kind}: WATCHDOG=1")
        w.cluster.freeze()
        fed = len(manager.said)
        eventually(lambda m=manager, n=fed: m.heard("WATCHDOG=1", n + 2), 15, f"{kind}: fed while the database stands still")
        w.cluster.thaw()
        # A process that stands still feeds nobody, and not more often than it has to.
        program.freeze()
        manager.heard("WATCHDOG=1")
        fed = len(manager.said)
        time.sleep(1.5)
        manager.heard("WATCHDOG=1")
        eq(len(manager.said), fed, kind)
        program.thaw()
        at = [when for when, lines in manager.said if "WATCHDOG=1" in lines]
        check(len(at) <= (at[-1] - at[0]) / 0.9 + 3, f"{kind}: {len(at)} times in {at[-1] - at[0]:.1f} s")
        eq(program.stop(), 0)


def without_credentials(program):
    """A host file like the program's that leaves the credentials to the service manager."""
    with open(program.config, encoding="utf-8") as f:
        text = re.sub(r"^credentials: .*\n", "", f.read(), flags=re.M)
    path = program.config + ".service.yaml"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def test_the_socket_and_the_credentials_of_systemd_are_taken(t):
    activate = shutil.which("systemd-socket-activate") or t.skip("systemd-socket-activate is not here")
    w = t.world(receivers=1, dispatchers=0)
    program = w.receivers[0]
    eq(program.stop(), 0)
    port = free_ports()
    # What LoadCredential= makes: a folder only root and the service may enter, files 0440.
    folder = os.path.join(scratch("pawl-cred-"), "pawl-receiver.service")
    shutil.copytree(os.path.join(w.dir, "credentials"), folder)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o444)
    keep = [f"--setenv={k}" for k in w.env if re.fullmatch(r"[A-Z_]+", k)]
    proc = Proc("activated", [activate, "-l", f"127.0.0.1:{port}", "--setenv=CREDENTIALS_DIRECTORY=" + folder, *keep, binary(), "receiver",
                              "--config", without_credentials(program)], env=w.env)
    eventually(lambda: "Listening on" in proc.output(), 10, "the socket is there")
    # The first request starts it, and is answered.
    request = stripe_request(secret("stripe"), "evt-1", "step.s1", "o-1")
    eq(post_all([request], [port])[0].status, 200)
    proc.sigterm()
    eq(proc.wait(15), 0)


def everything_seen(w):
    """{where: bytes} of all that another one on the machine, or a reader of the logs, can see."""
    seen = {}
    for program in w.programs():
        for name in ("cmdline", "environ"):
            with open(f"/proc/{program.pid}/{name}", "rb") as f:
                seen[f"{program.name} {name}"] = f.read()
        seen[f"{program.name} log"] = program.log().encode()
        for path in ("/metrics", "/readyz", "/livez", "/nowhere"):
            seen[f"{program.name} {path}"] = program.admin(path).body
    pids = ",".join(str(p.pid) for p in w.programs())
    seen["ps"] = subprocess.run(["ps", "eww", "-o", "args", "-p", pids], stdout=subprocess.PIPE, check=True).stdout
    seen["postgres log"] = w.cluster.log().encode()
    return seen


def test_no_secret_is_in_a_log_an_argument_the_environment_or_an_answer(t):
    auth = f"user:{MARK}-smtp"
    sink = t.sink(auth=auth)
    w = t.world(receivers=0, dispatchers=0, sink=sink, host={"log": {"format": "json", "level": "debug"}})
    secrets_of(w)
    # Every statement and its parameters are in the server's log: no secret goes there either.
    w.cluster.set(log_statement="all", log_min_duration_statement="0")
    w.start(1, 1)
    good, bad = "whsec_" + MARK + "stripe", "whsec_wrong"
    mail = stripe_request(good, "evt-1", "step.s1", "o-1", email="a@example.net")
    answers = [w.post(r) for r in (mail, mail, stripe_request(bad, "evt-2", "step.s1", "o-2"),
                                   app_request(MARK + "shop", "k-1", "step.s1", order="o-3", email="b@example.net"),
                                   app_request("wrong", "k-2", "step.s1", order="o-3"))]
    eq([a.status for a in answers], [200, 200, 401, 200, 401])
    eventually(lambda: sink.count("a@example.net") == 1, 15)
    # The password that the server refuses, and secrets that are empty or gone at a reload, are told of without their value.
    w.set_credential("smtp-password", MARK + "-not-this")
    w.set_credential("shop", "")
    for program in w.programs():
        program.proc.signal(signal.SIGHUP)
    eventually(lambda: w.receivers[0].log().count("reload") >= 1, 5)
    eq(w.post(stripe_request(good, "evt-3", "step.s2", "o-1", email="a@example.net")).status, 200)
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.attempts WHERE outcome <> 1") > 0, 15, "a refused log-in")
    seen = everything_seen(w)
    seen.update({f"answer {i}": a.body for i, a in enumerate(answers)})
    eq([where for where, text in seen.items() if MARK.encode() in text], [])
    check(sum(len(text) for text in seen.values()) > 20000 and all(b"pawl" in seen[f"{p.name} cmdline"] for p in w.programs()), "there was something to look at")
    check(b"INSERT INTO" in seen["postgres log"], "the server's log has the statements")
    rows = [str(r) for table in ("policy_texts", "bodies", "contents", "attempts", "audit") for r in w.cluster.query(f"SELECT * FROM pawl.{table}")]
    eq([r for r in rows if MARK in r], [])


def release(t):
    """The build as shipped: that of the tests keeps itself readable for its leak check."""
    path = os.path.join(RELEASE, "cli", "pawl")
    if not os.path.exists(path):
        t.skip("there is no build as shipped (build/)")
    return path


def test_the_memory_is_closed_to_others_and_leaves_no_core_file(t):
    pawl = release(t)
    if os.getuid() != 0:
        t.skip("needs root, to start the programs as another user")
    w = t.world(receivers=1, dispatchers=1)
    for program in w.programs():
        eq(program.stop(), 0)
    os.chmod(os.path.join(w.dir, "credentials"), 0o755)
    shutil.chown(os.path.join(w.dir, "credentials"), "www-data")
    for name in os.listdir(os.path.join(w.dir, "credentials")):
        shutil.chown(os.path.join(w.dir, "credentials", name), "www-data")
    for program in w.receivers + w.dispatchers:
        # PostgreSQL lets the role in from any user here (trust).
        env = {k: v for k, v in w.env.items() if not k.endswith("SAN_OPTIONS")}
        proc = Proc("shipped-" + program.kind, [pawl, program.kind, "--config", program.config], env=env, user="www-data", cwd="/")
        eventually(lambda: program.admin("/livez").status == 200 or check(proc.alive(), proc.tail()), 10, "it runs")
        eq(os.stat(f"/proc/{proc.pid}/environ").st_uid, 0, "as the process is not dumpable, its files in /proc are root's")
        peek = subprocess.run(["setpriv", "--reuid", "www-data", "--regid", "www-data", "--clear-groups", "cat", f"/proc/{proc.pid}/environ"],
                              capture_output=True, check=False)
        eq((peek.returncode, peek.stdout), (1, b""))
        with open(f"/proc/{proc.pid}/limits", encoding="utf-8") as f:
            eq(re.search(r"Max core file size +(\S+) +(\S+)", f.read()).groups(), ("0", "0"))
        os.kill(proc.pid, signal.SIGSEGV)
        _, status = os.waitpid(proc.pid, 0)
        check(os.WIFSIGNALED(status) and not os.WCOREDUMP(status), f"status {status}")
        proc.popen.returncode = -signal.SIGSEGV


def test_the_units_are_in_step_with_the_programs(t):
    del t
    for kind in ("receiver", "dispatcher"):
        path = os.path.join(ROOT, "deploy", "systemd", f"pawl-{kind}.service")
        with open(path, encoding="utf-8") as f:
            unit = f.read()
        for line in (f"ExecStart=/usr/bin/pawl {kind} --config /etc/pawl/pawl.yaml", "Type=notify", "RestartPreventExitStatus=78",
                     "ExecReload=/bin/kill -HUP $MAINPID", f"User=pawl-{kind}", "WatchdogSec="):
            check(line in unit, f"{kind}: {line}")
        with open(os.path.join(ROOT, "deploy", "systemd", f"pawl-{kind}.service.d", "credentials.conf"), encoding="utf-8") as f:
            check("\nLoadCredential=" in f.read(), kind)
        check(not stat.S_IMODE(os.stat(path).st_mode) & 0o111, path)
