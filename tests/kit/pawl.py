"""The programs under test: host file, policy, templates and credentials in a scratch folder; start, stop, ask."""
import json
import os
import re
import subprocess

import psycopg2

from . import http, procs

ADMIN_PORTS = 3  # A host file's admin port is the first of three: +0, +1, +2 by program.
POLICIES = os.path.join(procs.ROOT, "tests", "flow", "policies")


def build_dir():
    """The build under test: $PAWL_BUILD, else build-test, else build."""
    named = os.environ.get("PAWL_BUILD")
    names = [named] if named else [os.path.join(procs.ROOT, n) for n in ("build-test", "build")]
    return next((n for n in names if os.path.exists(os.path.join(n, "cli", "pawl"))), names[0])


def binary():
    return os.path.join(build_dir(), "cli", "pawl")


def build_option(name):
    """The value of a meson option of the build under test (None when it can't be read)."""
    try:
        with open(os.path.join(build_dir(), "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
            return next((o["value"] for o in json.load(f) if o["name"] == name), None)
    except OSError:
        return None


def wrap():
    """What the programs (not the command) run under: PAWL_WRAP="valgrind --error-exitcode=9"."""
    return os.environ.get("PAWL_WRAP", "").split()


def has_faults():
    """True when the build has the fault labels and the test clock."""
    return bool(build_option("faults"))


def secret(name):
    """The value of the credential NAME in every test."""
    return ("whsec_" if name.startswith("stripe") else "secret-") + "test_" + name


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as f:
        f.write(text)


def smtp_provider(sink):
    """The policy's provider row for a sink."""
    row = {"driver": "smtp", "url": json.dumps(sink.url), "concurrency": 1000}
    tls = getattr(sink, "tls", None)
    if tls is None:
        row["tls"] = "none"
    else:
        row.update({"ca": json.dumps(sink.cert)}, **({"tls": "starttls"} if tls == "starttls" else {}))
    if getattr(sink, "auth", None):
        row.update({"user": sink.auth.split(":")[0], "password": "credential:smtp-password"})
    return "{ " + ", ".join(f"{k}: {v}" for k, v in row.items()) + " }"


class Pawl:
    """One installation: .receivers and .dispatchers are the running programs, .dir holds its files."""

    def __init__(self, cluster, sink=None, policy="strict", edit=None, host=None, env=None, setup=True):
        """policy: a name in tests/flow/policies or a text; edit(text) -> text changes it; host: {"dispatcher": {"lease": "2s"}};
        env: for every program; setup=False: no migration, no policy applied."""
        self.cluster, self.sink = cluster, sink
        self.dir = procs.scratch("pawl-host-")
        self.receivers, self.dispatchers, self.ended = [], [], []
        self.breaks = {}  # {invariant of `pawl reconcile`, or "all": why it does not hold in this test's database}
        slow = bool(wrap())  # A first transaction takes seconds under valgrind; tests of deadlines give their own.
        self.host = {
            "receiver": {"threads": 1, "body_max": "2MiB", "deadline": "30s" if slow else "2500ms", "connections": 4096},
            "dispatcher": {"transfers": 50, "poll": "20ms", "lease": "20s" if slow else "2s"},
            "log": {"format": "text", "level": "info"},
        }
        for part, values in (host or {}).items():
            self.host.setdefault(part, {}).update(values)
        self.env = {**os.environ, "PGUSER": "pawl", "HOME": self.dir, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", **(env or {})}
        self.env.setdefault("ASAN_OPTIONS", "detect_leaks=1:exitcode=99")
        self.env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1:exitcode=99")
        self.env.setdefault("LSAN_OPTIONS", f"suppressions={procs.ROOT}/tests/lsan.supp:print_suppressions=0")
        self.set_policy(policy, edit)
        self.config = self._host_file("main", 0, procs.free_ports(ADMIN_PORTS))
        if setup:
            self.must("migrate", "up")
            self.must("policy", "apply")

    def set_policy(self, policy, edit=None):
        """Writes policy, credentials and templates (not applied: that is must("policy", "apply"))."""
        text = policy
        if "\n" not in policy:
            with open(os.path.join(POLICIES, policy + ".yaml"), encoding="utf-8") as f:
                text = f.read()
        text = edit(text) if edit else text
        text = text.replace("@SMTP_PROVIDER@", smtp_provider(self.sink) if self.sink else '{ driver: smtp, url: "smtp://127.0.0.1:9", tls: none, concurrency: 1000 }')
        write(os.path.join(self.dir, "policy.yaml"), text)
        for name in set(re.findall(r"credential:([A-Za-z0-9._-]+)", text)):
            auth = getattr(self.sink, "auth", None)
            value = auth.split(":", 1)[1] if name == "smtp-password" and auth else secret(name)
            self.set_credential(name, value)
        messages = text.partition("\nmessages:")[2]
        for kind in re.findall(r"^  ([a-z0-9][a-z0-9-]*):", messages.partition("\nlimits:")[0], re.M):
            self.set_template(kind, "subject", "%s {{order.id}}" % kind)
            self.set_template(kind, "text", "Order {{order.id}}: %s.\n" % kind)
            self.set_template(kind, "html", "<p>Order <b>{{order.id}}</b>: %s.</p>\n" % kind)
            steps = messages.partition(f"  {kind}:")[2].partition("send:")[2].partition("\n    retry")[0]
            for channel in [c for c in ("sms", "push") if re.search(r"\b%s\b" % c, steps)]:
                self.set_template(kind, "text", "Order {{order.id}}: %s.\n" % kind, channel)

    def set_credential(self, name, value):
        write(os.path.join(self.dir, "credentials", name), value + "\n", 0o600)

    def set_template(self, kind, part, text, channel="email"):
        write(os.path.join(self.dir, "templates", kind, f"{channel}.en.{part}.mustache"), text)

    def _host_file(self, name, port, admin):
        """A host file of one process: they share everything but the ports."""
        lines = ["pawl: 1", f'database: "{self.cluster.dsn(user=None)}"', f"credentials: {self.dir}/credentials",
                 f"policy: [{self.dir}/policy.yaml]", f"templates: {self.dir}/templates"]
        parts = {k: dict(v) for k, v in self.host.items()}
        parts["receiver"]["listen"] = f'["127.0.0.1:{port}"]'
        parts["admin"] = {"listen": f'["127.0.0.1:{admin}"]'}
        for part, values in parts.items():
            lines += [f"{part}:"] + [f"  {k}: {v}" for k, v in values.items()]
        path = os.path.join(self.dir, name + ".yaml")
        write(path, "\n".join(lines) + "\n")
        return path

    # --- the command

    def run(self, *args, stdin=None, env=None, timeout=60):
        """(exit status, stdout, stderr) of `pawl ARGS`."""
        done = subprocess.run([binary(), "--config", self.config, *args], input=stdin, capture_output=True, text=True,
                              env={**self.env, **(env or {})}, timeout=timeout, check=False)
        return done.returncode, done.stdout, done.stderr

    def must(self, *args, **how):
        """Stdout of a command that has to succeed."""
        status, out, err = self.run(*args, **how)
        if status != 0:
            raise AssertionError(f"pawl {' '.join(args)} ended with {status}:\n{out}{err}")
        return out

    def json(self, *args, **how):
        return json.loads(self.must(*args, "--json", **how))

    # --- the programs

    def receiver(self, wait=True, env=None, fault=None, now=None):
        """Starts a receiver; fault: PAWL_FAULT, now: PAWL_TEST_NOW (both need a build with -Dfaults=true)."""
        return self._start("receiver", self.receivers, wait, env, fault, now)

    def dispatcher(self, wait=True, env=None, fault=None, now=None):
        return self._start("dispatcher", self.dispatchers, wait, env, fault, now)

    def _start(self, kind, group, wait, env, fault, now, like=None):
        extra = dict(env or {})
        extra.update({"PAWL_FAULT": fault} if fault else {}, **({"PAWL_TEST_NOW": str(now)} if now else {}))
        program = Program(self, kind, len(self.ended) + len(group), extra, like)
        group.append(program)
        if wait:
            program.wait_ready()
        return program

    def start(self, receivers=1, dispatchers=1):
        """Starts so many of each and returns when all are ready."""
        new = [self.receiver(wait=False) for _ in range(receivers)] + [self.dispatcher(wait=False) for _ in range(dispatchers)]
        for program in new:
            program.wait_ready()
        return self

    def restart(self, program, wait=True, fault=None):
        """Starts a program again that has ended, on the same ports."""
        group = self.receivers if program.kind == "receiver" else self.dispatchers
        if program.proc.alive():
            program.stop()
        group.remove(program)
        self.ended.append(program)
        return self._start(program.kind, group, wait, None, fault, None, like=program)

    def programs(self):
        return self.receivers + self.dispatchers

    def ports(self):
        """The public ports of the receivers."""
        return [r.port for r in self.receivers]

    def post(self, *requests, **how):
        """Posts requests to the receivers; one request: its answer, several: the list of answers."""
        answers = http.post_all(requests, self.ports(), **how)
        return answers[0] if len(requests) == 1 else answers

    def load(self, requests, **how):
        """Posts in the background: see http.Load."""
        return http.Load(requests, self.ports(), **how)

    def metric(self, name, **labels):
        """The sum over all running programs."""
        return sum(p.metric(name, **labels) for p in self.programs() if p.proc.alive())

    def counted(self, want, name, **labels):
        """The metric comes to `want`, and not above: what was committed is counted a moment after."""
        procs.eventually(lambda: self.metric(name, **labels) >= want, 10, f"{name} {labels} comes to {want}")
        if self.metric(name, **labels) != want:
            raise AssertionError(f"{name} {labels}: got {self.metric(name, **labels)}, want {want}")

    def broken(self):
        """What `pawl reconcile` finds broken, one line each; empty when the database can't be asked."""
        if not self.cluster.proc.alive() or not (self.programs() or self.ended):
            return []
        self.cluster.thaw()  # a test may end while it stands still
        status, out, err = self.run("reconcile", "--json", "--since", "60d")
        if status in (0, 1):
            return [f"{i['name']}: {i['holds']}: not so for {i['broken']} of {i['judged']}: {', '.join(i['examples'])}"
                    for i in json.loads(out)["items"] if i["verdict"] != "ok" and i["name"] not in self.breaks]
        try:
            known = self.cluster.value("SELECT to_regclass('pawl.emptied') IS NOT NULL")
        except psycopg2.Error:
            return []
        return [f"pawl reconcile ended with {status}: {err}"] if known else []

    def close(self):
        """SIGTERM to all; a program that was running and does not end with 0, a sanitizer's report, or anything that
        `pawl reconcile` then finds broken is a failure."""
        running = [p for p in self.programs() if p.proc.alive()]
        for program in running:
            program.proc.thaw()
            program.proc.sigterm()
        faults = [f"{p.name} ended with {s}:\n{p.proc.tail()}" for p in running for s in [p.proc.wait(20)] if s != 0]
        faults += [f"{p.name}: {report}" for p in self.programs() + self.ended for report in [p.proc.sanitizer_report()] if report]
        faults += [] if "all" in self.breaks else [f"reconcile: {b}" for b in self.broken()]
        if faults:
            raise AssertionError("\n".join(faults))


class Program:
    """One running `pawl receiver` or `pawl dispatcher`."""

    def __init__(self, pawl, kind, number, env, like=None):
        self.pawl, self.kind, self.name = pawl, kind, f"{kind}-{number}"
        self.port = like.port if like else procs.free_ports()
        self._admin_base = like._admin_base if like else procs.free_ports(ADMIN_PORTS)
        self._admin = None
        self.config = pawl._host_file(self.name, self.port, self._admin_base)
        self.proc = procs.Proc(self.name, [*wrap(), binary(), kind, "--config", self.config], env={**pawl.env, **env})

    @property
    def pid(self):
        return self.proc.pid

    def admin(self, path):
        """The answer of GET path on the admin port (status 0: none)."""
        ports = [self._admin] if self._admin else range(self._admin_base, self._admin_base + ADMIN_PORTS)
        for port in ports:
            answer = http.get(port, path)
            if answer.status:
                self._admin = port
                return answer
        return http.Answer(error="no admin port answers")

    def ready(self):
        return self.admin("/readyz").status == 200

    def wait_ready(self, timeout=20):
        def check():
            if not self.proc.alive():
                raise AssertionError(f"{self.name} ended at start with {self.proc.popen.returncode}:\n{self.proc.tail()}")
            return self.ready()
        procs.eventually(check, timeout, f"{self.name} is ready; it says:\n{self.proc.tail()}", every=0.03)
        return self

    def metrics(self):
        """{(name, ((label, value), ..)): number} of /metrics."""
        return parse_metrics(self.admin("/metrics").body.decode())

    def metric(self, name, **labels):
        """The sum of the series of that name that carry these labels; 0 when there is none."""
        want = {k: str(v) for k, v in labels.items()}.items()
        return sum(v for (n, found), v in self.metrics().items() if n == name and want <= dict(found).items())

    def stop(self, timeout=15):
        """SIGTERM; returns the exit status."""
        self.proc.sigterm()
        return self.proc.wait(timeout)

    def kill9(self):
        self.proc.kill9()

    def freeze(self):
        self.proc.freeze()

    def thaw(self):
        self.proc.thaw()

    def log(self):
        return self.proc.output()


SERIES = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$")
LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')


def parse_metrics(text):
    series = {}
    for line in text.splitlines():
        m = SERIES.match(line)
        if m:
            series[m[1], tuple(sorted(LABEL.findall(m[2] or "")))] = float(m[3])
    return series
