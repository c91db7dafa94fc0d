"""`pawl`, the command: demo and up as processes, trigger, story, lists, exit codes, and the page docs/cli.md."""
import json
import os
import pty
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from harness import *  # noqa: E402,F403 pylint: disable=wrong-import-position,wildcard-import

ENV = {**os.environ, "LC_ALL": "C.UTF-8", "PAWL_CONFIG": "/nonexistent/pawl.yaml",
       "ASAN_OPTIONS": "detect_leaks=1:exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99",
       "LSAN_OPTIONS": f"suppressions={ROOT}/tests/lsan.supp:print_suppressions=0"}


def pawl(*args, env=None, user=None, timeout=90):
    """(exit status, stdout, stderr) without a host file."""
    pre = ["setpriv", "--reuid", user, "--regid", str(pwd.getpwnam(user).pw_gid), "--clear-groups", "--"] if user else []
    done = subprocess.run(pre + [binary(), *args], capture_output=True, text=True, env={**ENV, **(env or {})}, timeout=timeout,
                          cwd="/", check=False)
    return done.returncode, done.stdout, done.stderr


def up(folder, name="up", **env):
    """A running `pawl up` and what it said about itself."""
    proc = Proc(name, [binary(), "up", "--dir", folder, "--json"], env={**ENV, **env}, cwd="/")

    def told():
        if not proc.alive():
            raise AssertionError(f"up ended with {proc.popen.returncode}:\n{proc.tail()}")
        return next((json.loads(line) for line in whole_lines(proc.log_path) if line.startswith('{"dir"')), None)

    return proc, eventually(told, 60, "up is ready")


def wait_gone(pids, seconds):
    eventually(lambda: all(gone(p) for p in pids), seconds, "everything it started has ended")


def is_promised(out):
    told = json.loads(out)
    eq((told["ok"], told["copies"], told["moves"], told["mails"], told["caught"]), (True, 5, 1, 1, 4))
    eq(len(told["ages_s"]), 4)
    check(all(0 < age < 60 for age in told["ages_s"]), "the repeats' ages are positive and small")
    eq(told["story"]["verdict"], "5 webhook copies -> 1 move -> 1 mail, accepted once. Nothing outstanding.")
    return told


def test_demo_ends_with_0_and_exactly_one_mail_twice_on_the_same_data(_t):
    folder = os.path.join(scratch("pawl-demo-"), "d")
    status, out, err = pawl("demo", "--json", "--dir", folder, env={"HOME": ""})
    eq(status, 0, out + err)
    first = is_promised(out)
    with open(os.path.join(folder, "mails", "log.tsv"), encoding="utf-8") as f:
        eq([line.split("\t")[1] for line in f], [first["order"] + "@example.net"])
    status, out, err = pawl("demo", "--dir", folder, env={"HOME": ""})
    eq(status, 0, out + err)
    check("5 copies in, 1 move, 1 mail, 4 caught (" in out, "the last line says it all: " + out)
    eq(first["order"] in out, False, "each run has an order of its own")
    check("of an earlier run" in err, "the second run finds the first one's data")


def test_demo_works_for_a_user_without_a_home(t):
    if os.getuid() != 0:
        t.skip("needs root to become another user")
    try:
        status, out, err = pawl("demo", "--json", user="nobody", env={"HOME": ""})
        eq(status, 0, out + err)
        eq(is_promised(out)["dir"], "/var/tmp/pawl-nobody/demo")
    finally:
        shutil.rmtree("/var/tmp/pawl-nobody", ignore_errors=True)


def test_up_ends_within_two_seconds_and_a_second_start_finds_the_data(_t):
    folder = os.path.join(scratch("pawl-up-"), "d")
    proc, told = up(folder)
    sent = pawl("-c", told["config"], "trigger", "stripe:payment_intent.succeeded", "--id", "evt_1", "--json")
    eq((sent[0], json.loads(sent[1])["accepted"]), (0, 1), sent[2])
    eq(pawl("up", "--dir", folder)[0], 4, "a second up on the same folder is refused")
    for command in ("check", "list", "up"):
        eq(pawl("-c", told["config"], "migrate", command)[::2], (0, ""), "migrate " + command + " as the cluster's owner")
    pids, start = proc.tree(), time.monotonic()
    proc.signal(signal.SIGINT)
    eq(proc.wait(5), 0)
    check(time.monotonic() - start < 2.0, f"^C took {time.monotonic() - start:.2f} s")
    wait_gone(pids, 1)
    proc, told = up(folder, "again")
    sent = pawl("-c", told["config"], "trigger", "stripe:payment_intent.succeeded", "--id", "evt_1", "--json")
    eq(json.loads(sent[1])["caught"], 1, "the first run's event is known: " + sent[1])
    story = json.loads(pawl("-c", told["config"], "story", "evt_1", "--json")[1])
    eq((story["copies"], story["caught"], story["moves"]), (2, 1, 1))


PROGRAMS = {"pawl-receiver", "pawl-dispatch"}


def both_tell(listener, what):
    """Reads what is told to systemd until both programs have told this; PostgreSQL tells it things too."""
    found = set()
    while not PROGRAMS <= found:
        data, ancillary, _, _ = listener.recvmsg(4096, 1024)
        if data.decode().split("\n")[0] == what:
            found.add(comm(struct.unpack("3i", ancillary[0][2])[0]))


def test_up_passes_a_reload_on_to_both_programs(_t):
    place = scratch("pawl-up-")
    os.chmod(place, 0o777)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        listener.bind(place + "/notify")
        os.chmod(place + "/notify", 0o777)
        listener.settimeout(10)
        proc, told = up(place + "/d", NOTIFY_SOCKET=place + "/notify")
        both_tell(listener, "READY=1")
        with open(place + "/d/credentials/stripe", "w", encoding="utf-8") as f:
            f.write("whsec_changed\n")
        request = stripe_request("whsec_changed", "evt_1", "payment_intent.succeeded", "1001")
        eq(post_all([request], [told["port"]])[0].status, 401)
        proc.signal(signal.SIGHUP)
        both_tell(listener, "RELOADING=1")
    eventually(lambda: post_all([request], [told["port"]])[0].status == 200, 5, "the new secret is known")
    check(proc.alive(), "and it runs on")
    proc.signal(signal.SIGTERM)
    eq(proc.wait(5), 0)


def test_up_ends_with_its_terminal(_t):
    folder = os.path.join(scratch("pawl-up-"), "d")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(binary(), [binary(), "up", "--dir", folder], ENV)
    try:
        said = b""
        while b"Running;" not in said:
            said += os.read(terminal, 65536)
        tree = Proc.tree(types.SimpleNamespace(pid=pid))
        check(len(tree) >= 6, tree)
        os.close(terminal)
        start = time.monotonic()
        eventually(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid, 5, "it ends")
        check(time.monotonic() - start < 3, "soon")
        wait_gone(tree, 2)
    finally:
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_killed_up_leaves_nothing_running(_t):
    folder = os.path.join(scratch("pawl-up-"), "d")
    proc, _ = up(folder)
    pids = proc.tree()
    check(len(pids) >= 6, "there is something to end")
    os.kill(proc.pid, signal.SIGKILL)
    proc.popen.wait(5)
    wait_gone(pids[1:], 8)
    proc, _ = up(folder, "again")


def test_up_ends_when_a_program_dies_and_says_which(_t):
    folder = os.path.join(scratch("pawl-up-"), "d")
    proc, _ = up(folder)
    pids = proc.tree()
    victim = next(p for p in pids if comm(p) == "pawl-dispatch")
    os.kill(victim, signal.SIGKILL)
    eq(proc.wait(5), 69)
    check("pawl-dispatch was killed by signal 9" in proc.output(), proc.tail())
    wait_gone(pids, 2)


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return None


def test_a_story_has_every_hop(t):
    w = t.world(policy="strict")
    to = ["--to", f"http://127.0.0.1:{w.ports()[0]}"]
    sent = w.json("trigger", "shop:step.s1", "--order", "77", "--copies", "5", "--parallel", "5", *to)
    eq((sent["copies"], sent["accepted"], sent["caught"], sent["failed"]), (5, 1, 4, 0))
    eventually(lambda: w.sink.count("customer@example.net") == 1)
    eventually(lambda: w.json("story", "77")["due"] == 0)
    story = w.json("story", "77")
    eq([line["hop"] for line in sorted(story["timeline"], key=lambda l: l["hop"])],
       ["claim", "inbox", "inbox", "move", "notification", "provider"])
    eq(story["verdict"], "5 webhook copies -> 1 move -> 1 mail, accepted once. Nothing outstanding.")
    check("customer@" not in w.must("story", "77"), "addresses are masked")
    event, note = w.cluster.query("SELECT event_id, replace(notification_id::text, '-', '') FROM pawl.notifications")[0]
    message = w.cluster.value("SELECT content::json ->> 'message_id' FROM pawl.contents")
    once = w.cluster.value("SELECT once FROM pawl.notifications")
    for ref in (event, note, f"<{message}>", once):
        eq(w.json("story", ref)["verdict"], story["verdict"], ref)
    eq(w.json("deliveries", "show", once), w.json("deliveries", "show", note))
    eq(w.run("deliveries", "show", once + "0")[0], 3)
    w.json("trigger", "shop:step.s3", "--order", "77", *to)
    eq(w.json("story", "77")["waiting"], 1)
    check("Outstanding: 1 waiting event." in w.must("story", "77"), "an early event is outstanding")
    eq(w.run("story", "78")[0], 3)


def test_an_event_that_came_while_two_generations_of_keys_overlap_is_shown_once(t):
    w = t.world(policy="strict", dispatchers=0)
    w.cluster.query("INSERT INTO pawl.key_gen (gen, overlap) SELECT max(gen) + 1, true FROM pawl.key_gen")
    to = ["--to", f"http://127.0.0.1:{w.ports()[0]}"]
    sent = w.json("trigger", "shop:step.s1", "--order", "77", "--id", "k1", "--copies", "5", "--parallel", "5", *to)
    eq(w.cluster.value("SELECT count(*) FROM pawl.keys WHERE event_id = 'k1'"), 2, "it is in two slots")
    eq((sent["copies"], sent["accepted"], sent["caught"], sent["failed"]), (5, 1, 4, 0))
    for ref in ("77", "k1"):
        check(w.json("story", ref)["verdict"].startswith("5 webhook copies -> 1 move "), w.json("story", ref)["verdict"])
    eq([i["event"] for i in w.json("inbox", "show", "k1")["items"]], ["k1"])
    # In each of its slots the key is known to the next copy, whose outcome is not taken for that of the row in the other.
    again = w.json("trigger", "shop:step.s1", "--order", "77", "--id", "k1", *to)
    eq((again["accepted"], again["caught"], again["failed"]), (0, 1, 0))


def test_lists_show_what_came_in_and_went_out(t):
    w = t.world(policy="strict")
    w.json("trigger", "stripe:step.s1", "--order", "5", "--id", "evt_x", "--set", "/extra=true",
           "--to", f"http://127.0.0.1:{w.ports()[0]}")
    eventually(lambda: [d["state"] for d in w.json("deliveries", "list")["items"]] == ["accepted"])
    row = w.json("inbox", "list")["items"][0]
    eq((row["event"], row["source"], row["type"], row["outcome"], row["order"]), ("evt_x", "stripe", "step.s1", "accepted", "5"))
    eq(json.loads(w.must("inbox", "show", "evt_x", "--raw"))["extra"], True)
    check("stripe-signature: sha256:" in w.must("inbox", "show", "evt_x", "--headers"), "the signature is redacted")
    eq(w.json("deliveries", "list", "--state", "dead")["items"], [])
    note = w.json("deliveries", "list", "--type", "reached-s1")["items"][0]["notification"]
    shown = w.json("deliveries", "show", note)
    eq(shown["items"][0]["content"]["to"], "c***@e***.net")
    eq([a["outcome"] for a in shown["attempts"]], ["accepted"])
    eq(w.must("inbox", "list").splitlines()[0].split("\t")[0], "AT", "a pipe gets tabs")


def test_a_trigger_counts_what_was_parked(t):
    w = t.world(policy="strict")
    _, _, said = w.run("trigger", "stripe:step.s1", "--set", "/data/object/metadata/order_id={}", "--to", f"http://127.0.0.1:{w.ports()[0]}")
    check("1 copy: 0 accepted, 0 caught at inbox, 1 parked " in said, said)


def test_a_waiting_retry_says_why_and_when(t):
    sink = t.sink()
    w = t.pawl(t.cluster(), sink, edit=lambda p: p.replace("100ms", "10m"))
    sink.stop()
    w.start()
    w.post(app_request(secret("shop"), "w1", "step.s1", order="WAIT-1", email="ann@example.net"))

    def told_alike():
        """What all of them say between two tries; the next try may come while they are asked."""
        row = next((d for d in w.json("deliveries", "list", "--state", "due")["items"] if d["tries"] > 0), None)
        dues = w.cluster.query("SELECT to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') FROM pawl.due")
        if not row or not dues:
            return False  # on the wire just now
        due = dues[0][0]
        shown = w.json("deliveries", "show", row["notification"])["items"][0]
        text = w.must("deliveries", "show", row["notification"])
        last = [line["detail"] for line in w.json("story", "WAIT-1")["timeline"] if line["hop"] == "delivery"]
        return ("can't connect" in row["reason"] and row["due_at"] == due and due in text
                and (shown["reason"], shown["due_at"]) == (row["reason"], due) and last == [f"next try {due}: {row['reason']}"])

    eventually(told_alike, 30, "list, show and story say why and when", every=0.01)


def test_policies_are_checked_and_stored_once(t):
    p = t.pawl(t.cluster(), policy="strict")
    eq("nothing changed" in p.must("policy", "apply"), True)
    eq([v["version"] for v in p.json("policy", "list")["items"]], [1])
    p.set_policy("strict", edit=lambda s: s.replace("at-least-once", "at-most-onse"))
    status, out, _ = p.run("policy", "check")
    eq(status, 5)
    check(re.search(r"policy\.yaml:\d+:\d+: error: .*at-most-once.*\[", out), "the shape of GCC, with the nearest word: " + out)
    eq(json.loads(p.run("policy", "check", "--json")[1])["errors"] > 0, True)
    eq(p.run("policy", "apply")[0], 5)
    p.set_policy("strict", edit=lambda s: s.replace("Order reached s1", "Order has come to s1"))
    eq(json.loads(p.must("policy", "apply", "--note", "words", "--json"))["version"], 2)
    eq(p.json("policy", "list")["items"][0]["note"], "words")
    eq(p.json("policy", "show", "1")["version"], 1)
    eq(p.run("policy", "show", "9")[0], 3)


def test_exit_codes_and_streams(t):
    p = t.pawl(t.cluster(), policy="strict", setup=False)
    eq(p.run("migrate", "check")[0], 1)
    p.must("migrate", "up")
    p.must("policy", "apply")
    cases = [(("version",), 0), (("nope",), 2), (("story",), 2), (("story", "--jsn", "1"), 2), (("deliveries", "show", "x"), 3),
             (("story", "none"), 3), (("trigger", "none:x", "--to", "127.0.0.1:9"), 3), (("help", "none"), 3),
             (("trigger", "shop:step.s1", "--to", "127.0.0.1:9"), 69), (("--database", "host=/nonexistent", "story", "1"), 69),
             (("-c", "/nonexistent", "story", "1"), 78)]
    for args, want in cases:
        status, out, err = p.run(*args)
        eq(status, want, " ".join(args) + ": " + err)
        if want in (2, 3):
            eq(out, "", "nothing but data goes to stdout")
            problem = json.loads(p.run(*args, "--json")[2])
            eq((problem["exit"], problem["type"]), (want, "about:blank"))


def test_the_page_names_every_command_flag_and_exit_code(_t):
    told = json.loads(pawl("help", "--json")[1])
    with open(os.path.join(ROOT, "docs", "cli.md"), encoding="utf-8") as f:
        page = f.read()
    rows = set(re.findall(r"^\| `pawl ([^`]*)`", page, re.M))
    eq(rows, {(c["name"] + " " + c["arguments"]).strip() for c in told["commands"]})
    for command in told["commands"]:
        row = next(r for r in page.splitlines() if r.startswith(f"| `pawl {(command['name'] + ' ' + command['arguments']).strip()}`"))
        eq(set(re.findall(r"`--([a-z-]+)`", row)), set(command["flags"]), command["name"])
        check(command["summary"] in row, f"{command['name']}: the page says what the help says")
    eq({int(n) for n in re.findall(r"^\| (\d+) \|", page, re.M)}, {e["code"] for e in told["exit_codes"]})
    for flag in told["flags"]:
        check(f"`--{flag['name']}`" in page, f"--{flag['name']} is on the page")
    for command in told["commands"]:
        eq(pawl(*command["name"].split(), "--help")[0], 0)


def test_completion_is_bash(_t):
    script = pawl("completion", "bash")[1]
    script += '\nCOMP_WORDS=(pawl poli); COMP_CWORD=1; _pawl; echo "${COMPREPLY[*]}"'
    script += '\nCOMP_WORDS=(pawl policy sh); COMP_CWORD=2; _pawl; echo "${COMPREPLY[*]}"'
    script += '\nCOMP_WORDS=(pawl trigger a:b --cop); COMP_CWORD=3; _pawl; echo "${COMPREPLY[*]}"'
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=False)
    eq((done.stdout.split("\n")[:3], done.stderr), (["policy", "show", "--copies"], ""))


BAD = (b"", b"x" * 100_000, b"a\xff\xfe", b"a\x1b[2Jb\x01")
LONG_RUNNERS = ("receiver", "dispatcher", "up", "demo")


def all_commands(p):
    """(words, an argument to give or [], its name, [its own flags that take a value])"""
    found = p.json("help")
    takes = {f["name"] for f in found["flags"] if f["argument"]}
    for command in found["commands"]:
        name = command["arguments"].strip("[]")
        demanded = name and not command["arguments"].startswith("[")
        yield command["name"].split(), ["x:y"] if demanded else [], name, [f for f in command["flags"] if f in takes]


def tried(p, *args):
    """(exit status, stderr) of a call with bytes in it, and a look at what must hold of every one."""
    done = subprocess.run([binary(), "--config", p.config, *args], env=p.env, input=b"POST /hooks/stripe HTTP/1.1\r\nHost: a\r\n\r\n{}",
                          capture_output=True, timeout=60, check=False)
    said = done.stderr.decode()  # UTF-8, whatever was typed
    shown = b" ".join(a if isinstance(a, bytes) else a.encode() for a in args)[:200]
    # 5 is for what files say, such as a policy that names templates which are not there.
    check(done.returncode in (0, 1, 2, 3, 4, 6, 7, 69) or (done.returncode == 5 and "--templates" in args), f"{shown}: {done.returncode} {said}")
    check("\x1b" not in said and len(said) < 4000, f"{shown}: {said[:4000]!r}")
    return done.returncode, said


@timeout(300)
def test_no_flag_or_argument_brings_a_command_down(t):
    """Each flag and argument of each command, with one of the bad texts in turn; tests/unit/cli/given_test.c has all of them."""
    p = t.pawl(t.migrated_cluster(), policy="strict")
    n, seen = 0, {"note", "set"}
    for words, arg, name, flags in all_commands(p):
        for flag in flags:
            if flag not in seen:
                seen.add(flag)
                status, said = tried(p, *words, *arg, "--" + flag, BAD[n % 4])
                check(status == 2 and f"--{flag} " in said, f"{words} --{flag}: {status} {said}")
                n += 1
            if words[0] not in LONG_RUNNERS:
                tried(p, *words, *arg, "--" + flag, "zzz")
        if name:
            status, said = tried(p, *words, BAD[n % 4])
            check(status == 2 and said.startswith(f"pawl: {name} "), f"{words}: {status} {said}")
            n += 1
            if name != "FILES":  # what is wrong with a policy is input, not usage
                tried(p, *words, "zzz")
    check(n > 30, f"only {n}")
    for status, said in (tried(p, b"\xffx"), tried(p, b"story", b"1", b"--\x1b[2J"), tried(p, b"--\xff=1", b"--json"), tried(p, b"")):
        check(status == 2, said)


def test_what_was_not_paused_is_told_apart_from_what_is_not_there(t):
    p = t.pawl(t.migrated_cluster(), policy="strict")
    for what, want in (("nosuch", 3), ("channel:fax", 3), ("provider:nosuch", 3), ("channel:sms", 0), ("all", 0), ("reached-s1", 0)):
        status, out, err = p.run("resume", what)
        eq(status, want, err)
        check(("not paused" in out) == (want == 0) and ("there is no" in err or "has no provider" in err) == (want == 3), out + err)
    p.must("pause", "all", "--reason", "x")
    check(p.must("resume", "all").startswith("resumed"), "")
    status, _, err = p.run("deliveries", "list", "--state", "")
    check(status == 2 and "--state is empty" in err, err)
