"""The policy is a version in the database: changed under load, every effect names the version it came of; secrets turn over."""
import json
import os
import re
import shutil
import signal
import sys

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from ledger import Barrier, notifications, statuses, stored_once  # noqa: E402

POLICY_INVALID = 5

WELCOME = """  welcome:
    about: A first word
    when: s1
    once: "welcome/{{order.id}}"
    delivery: at-least-once
    send: [email]
    retry: { wait: [200ms], for: 10m }
"""


def with_welcome(text):
    """Version 2: s1 owes another message, so that the version which judged a move shows in what the move made."""
    return text.rstrip("\n") + "\n\n" + WELCOME


def step(event, order, kind="step.s1", key="stripe", **more):
    return stripe_request(secret(key), event, kind, order, f"{order}@example.net", **more)


def versions(w):
    return [v for v, in w.cluster.query("SELECT version FROM pawl.policy_versions ORDER BY 1")]


def test_a_policy_applied_under_load_is_in_force_from_the_next_transaction_and_every_notification_remembers_its_version(t):
    w = t.world(receivers=2, dispatchers=1)
    load = w.load([step(f"evt-{n}", f"o{n}") for n in range(3000)], connections=16)
    eventually(lambda: load.done() >= 200, 20, "the load is under way", every=0.002)
    w.set_policy("strict", with_welcome)
    w.must("policy", "apply")
    after = [step(f"after-{n}", f"after{n}") for n in range(40)]
    eq(statuses(w.post(*after)), {200: 40})
    check(load.done() < 2900, f"{load.done()} requests were answered before the policy was applied")
    load.stop()
    answers = [a for a in load.result() if a]
    eq(statuses(answers), {200: len(answers)})

    eq(versions(w), [1, 2])
    made = {}
    for message, order, _, policy, _ in notifications(w.cluster):
        made.setdefault(order, set()).add((message, policy))
    want = {1: {("reached-s1", 1)}, 2: {("reached-s1", 2), ("welcome", 2)}}
    moved = dict(w.cluster.query("SELECT order_id, policy FROM pawl.moves WHERE outcome = 1"))
    eq({o for o, p in moved.items() if made[o] != want[p]}, set(), "orders whose notifications are not of the version that judged")
    eq(len(moved), len(answers) + 40)
    eq(set(moved.values()), {1, 2})
    eq({moved[f"after{n}"] for n in range(40)}, {2}, "versions that judged what was posted after the command had ended")
    eventually(lambda: w.sink.count("after0@example.net") == 2, 60, "the new message is sent, after all that was posted before it")
    for receiver in w.receivers:
        eventually(lambda r=receiver: (r.metric("pawl_policy_info", version=1), r.metric("pawl_policy_info", version=2)) == (0, 1), 5,
                   "the metric names the version in use")


def test_a_new_source_is_served_by_every_thread_of_an_idle_receiver(t):
    w = t.world(receivers=1, dispatchers=0)
    receiver = w.receivers[0]
    w.set_policy("strict", lambda s: s.replace("  stripe:\n", "  second:\n", 1))
    w.must("policy", "apply")
    eventually(lambda: receiver.metric("pawl_policy_info", version=2) == 1, 5, "nothing came, and the new version is in use")
    for n in range(16):  # each on a connection of its own, so that more than one thread is asked
        body = step(f"evt-{n}", f"o{n}")
        body.path = "/hooks/second"
        eq(w.post(body).status, 200, f"request {n}")


def test_a_version_that_could_not_be_read_for_a_while_is_in_use_afterwards_though_nothing_comes(t):
    w = t.world(receivers=1, dispatchers=0)
    w.cluster.query("REVOKE SELECT ON pawl.policy_texts FROM pawl_receiver")
    w.set_policy("strict", lambda s: s.replace("  stripe:\n", "  second:\n", 1))
    w.must("policy", "apply")
    eventually(lambda: "policy.load:" in w.receivers[0].log(), 10, "it can't be read")
    w.cluster.query("GRANT SELECT ON pawl.policy_texts TO pawl_receiver")
    eventually(lambda: w.receivers[0].metric("pawl_policy_info", version=2) == 1, 10, "it is in use")


def test_a_bad_file_changes_nothing(t):
    w = t.world(receivers=1, dispatchers=0)
    for wrong in (lambda s: s.replace("create: [s1]", "create: [s9]"), lambda s: s.replace("pawl: 1", "pawl: 1\npawl: 1"),
                  lambda s: s.replace("delivery: at-least-once", "delivery: twice"), lambda s: s.replace("{{order.id}}", "{{order"),
                  lambda s: s + "\tx: 1\n"):
        w.set_policy("strict", wrong)
        status, _, said = w.run("policy", "apply")
        eq(status, POLICY_INVALID, said)
        check(re.search(r"policy\.yaml:\d+:\d+: error: ", said), f"no place is named: {said}")
        eq(versions(w), [1])
    w.receivers[0].proc.signal(signal.SIGHUP)
    eq(w.post(step("evt-1", "1001")).status, 200)
    eq([n[3] for n in notifications(w.cluster)], [1])
    w.set_policy("strict")
    check("nothing changed" in w.must("policy", "apply"), "the same policy again made a version")
    eq(versions(w), [1])


def test_check_looks_at_the_secrets_that_the_host_file_leads_to(t):
    w = t.world(receivers=0, dispatchers=0)
    w.set_policy("strict", lambda s: s + "\nunsubscribe: { url: \"https://hooks.example.com/unsubscribe/\", secrets: [credential:leave] }\n")
    os.unlink(os.path.join(w.dir, "credentials", "leave"))
    said = w.must("policy", "check")
    eq((said.count("warning:"), said.count("credentials/leave: ")), (1, 1), "it is for receiver and dispatcher, and told once: " + said)
    w.set_credential("leave", secret("leave"))
    eq(w.must("policy", "check"), "")
    _, _, said = w.run("policy", "apply")
    check(f"next: pawl -c {w.config} policy show" in said, said)
    w.set_credential("leave", "two words")
    said = w.must("policy", "check")
    check("credentials/leave: warning: there is white space" in said, "a warning beside no error is told: " + said)
    eq(w.must("policy", "check", os.path.join(w.dir, "policy.yaml")), said, "files that are named do not stand in the host file's place")
    shutil.rmtree(os.path.join(w.dir, "credentials"))
    said = w.must("policy", "check")
    eq(said.count("warning:"), 1, said)
    check(f"{w.dir}/credentials: warning: there is no such folder" in said, said)


def test_a_scheme_that_is_mistyped_is_told_the_nearest(t):
    w = t.world(receivers=0, dispatchers=0)
    w.set_policy("strict", lambda s: s.replace("scheme: stripe", "scheme: stirpe", 1))
    status, said, _ = w.run("policy", "check")
    eq(status, POLICY_INVALID, said)
    check("stirpe'; did you mean 'stripe'?" in said, said)


def test_texts_of_which_nothing_could_be_sent_are_refused(t):
    w = t.world(receivers=0, dispatchers=0)
    w.set_policy("strict", with_welcome)
    w.set_template("welcome", "text", "{{order.idd}} {{#contact.email}}{{colour}}{{/contact.email}}\n")
    for command in ("check", "apply"):
        status, said, more = w.run("policy", command)
        eq(status, POLICY_INVALID, said + more)
        check("no event ever gives 'order.idd'; did you mean 'order.id'?" in said + more, said + more)
        check("colour" not in said + more, "what stands in a section is judged")
    w.set_template("welcome", "text", "{{order.id}}{{#contact}}{{#x}}{{.}}{{/x}}{{/contact}}\n{{^contact.emial}}nobody{{/contact.emial}}\n")
    status, said, more = w.run("policy", "check")
    eq(status, POLICY_INVALID, said + more)
    check(re.search(r"mustache:2:1: error: no event ever gives 'contact.emial'; did you mean 'contact.email'\?", said), said)
    eq(json.loads(w.run("policy", "check", "--json")[1])["errors"], 1)
    w.set_template("welcome", "text", "{{order.id}}\n")
    status, _, said = w.run("policy", "apply", "--templates", w.dir + "/none")
    eq(status, POLICY_INVALID, said)
    eq(versions(w), [1])
    os.unlink(os.path.join(w.dir, "credentials", "erp"))
    check("credentials/erp" in w.must("policy", "check"), "a missing secret is told")
    w.must("policy", "apply")
    w.set_credential("erp", secret("erp"))
    path = os.path.join(w.dir, "credentials", "erp")
    os.chmod(path, 0o644)
    w.set_template("welcome", "text", "{{order.id}}!\n")
    for args in (("check",), ("apply",), ("apply", "--json"), ("apply", "-q")):
        status, said, more = w.run("policy", *args)
        eq(status, POLICY_INVALID, said + more)
        check(f"chmod o-rwx '{path}'" in said + more, "what mends it is said: " + said + more)
    eq(versions(w), [1, 2])
    os.chmod(path, 0o640)
    w.must("policy", "apply")
    eq(versions(w), [1, 2, 3])


def secret_of(w, table, event):
    return [s for s, in w.cluster.query(f"SELECT secret FROM pawl.{table} WHERE event_id = %s", (event,))]


def paid(event, key, value=None):
    return stripe_request(value or secret(key), event, "payment_intent.succeeded", event, "a@example.net")


def test_two_secrets_live_at_once_which_matched_is_recorded_and_one_past_its_date_counts_no_more(t):
    w = t.world(policy="example", receivers=1, dispatchers=0)
    eq(statuses(w.post(paid("evt-1", "stripe"), paid("evt-2", "stripe-old"), connections=1)), {200: 2})
    eq(statuses(w.post(paid("evt-1", "stripe-old"), paid("evt-2", "stripe"), connections=1)), {200: 2})
    eq((secret_of(w, "bodies", "evt-1"), secret_of(w, "bodies", "evt-2")), (["stripe"], ["stripe-old"]))
    eq((secret_of(w, "repeats", "evt-1"), secret_of(w, "repeats", "evt-2")), (["stripe-old"], ["stripe"]))
    receiver = w.receivers[0]
    eq([receiver.metric("pawl_webhook_verified_total", source="stripe", key=k) for k in ("stripe", "stripe-old")], [2, 2])

    w.set_policy("example", lambda s: s.replace("until: 2035-12-31", "until: 2020-12-31"))
    w.must("policy", "apply")
    eq(w.post(paid("evt-3", "stripe")).status, 200)
    eq([a.status for a in w.post(paid("evt-4", "stripe-old"), paid("evt-4", "stripe"), connections=1)], [401, 200])
    eq(secret_of(w, "bodies", "evt-4"), ["stripe"])


def test_which_secret_matched_is_recorded_by_its_name_of_that_moment(t):
    w = t.world(policy="example", receivers=1, dispatchers=0)
    barrier = t.keep(Barrier(w.cluster))
    load = w.load([paid("evt-1", "stripe")])
    barrier.reached()
    more = w.load([paid("evt-2", "stripe")])  # waits behind it, verified
    eventually(lambda: w.receivers[0].metric("pawl_webhook_verified_total", source="stripe", key="stripe") == 2, 5)
    w.set_policy("example", lambda s: re.sub(r"secrets: \[credential:stripe, (.*)\]", r"secrets: [\1, credential:stripe]", s))
    w.must("policy", "apply")
    barrier.open()
    eq({a.status for a in load.result() + more.result()}, {200})
    eq((secret_of(w, "bodies", "evt-1"), secret_of(w, "bodies", "evt-2")), (["stripe"], ["stripe"]))


def test_sighup_takes_a_new_secret_from_its_file_while_everything_is_served(t):
    w = t.world(policy="example", receivers=2, dispatchers=0)
    requests = [erp_request(secret("erp"), f"evt-{n}", "packed", f"o{n}") for n in range(4000)]
    load = w.load(requests, connections=8)
    eventually(lambda: load.done() >= 100, 20, "the load is under way", every=0.002)
    pids = [r.pid for r in w.receivers]
    w.set_credential("stripe", "whsec_the_next_one")
    eq(w.post(paid("before", "stripe")).status, 200, "a file that changed is not read before it is asked for")
    for n in range(5):
        for receiver in w.receivers:
            receiver.proc.signal(signal.SIGHUP)
        for port in w.ports():
            def taken(name=f"new-{n}-{port}", to=port):
                request = paid(name, None, "whsec_the_next_one")
                request.port = to
                return w.post(request).status == 200
            eventually(taken, 5, "the new secret is taken")
    eq(w.post(paid("late", "stripe")).status, 401, "the old secret")
    eq(w.post(paid("late", "stripe-old")).status, 200, "the other live secret")
    check(load.done() < len(requests), "all was posted before the reload")
    load.stop()
    answers = [a for a in load.result() if a]
    eq(statuses(answers), {200: len(answers)})
    eq(stored_once(w.cluster, [a.request.tag for a in answers]), [])
    eq([r.pid for r in w.receivers if r.proc.alive()], pids)


def test_a_sighup_while_the_database_is_away_is_made_up_for_when_it_is_there(t):
    w = t.world(policy="example", receivers=1, dispatchers=0)
    w.cluster.stop()
    eventually(lambda: w.post(paid("away", "stripe")).status == 503, 5, "the database is missed")
    w.set_credential("stripe", "whsec_the_next_one")
    w.receivers[0].proc.signal(signal.SIGHUP)
    eventually(lambda: "receiver.reload" in w.receivers[0].log(), 5, "it is asked for")
    w.cluster.start()
    eventually(lambda: w.post(paid("new", None, "whsec_the_next_one")).status == 200, 10, "the new secret is taken")


def test_a_source_whose_secret_is_gone_answers_503_and_the_others_work_on(t):
    w = t.world(policy="example", receivers=1, dispatchers=0)
    receiver = w.receivers[0]
    os.unlink(os.path.join(w.dir, "credentials", "erp"))
    receiver.proc.signal(signal.SIGHUP)
    request = erp_request(secret("erp"), "evt-1", "packed", "1001")
    eventually(lambda: w.post(request).status == 503, 5, "the source without a secret is unavailable")
    eq(w.post(paid("evt-2", "stripe")).status, 200)
    ready = receiver.admin("/readyz")
    eq((ready.status, b"no live secret" in ready.body), (200, True), f"{ready.body!r}")
    w.set_credential("erp", secret("erp"))
    receiver.proc.signal(signal.SIGHUP)
    eventually(lambda: w.post(request).status == 200, 5, "it is available again")


def test_what_does_not_run_yet_is_named_when_a_program_starts(t):
    w = t.world(host={"receiver": {"trusted_proxies": '["192.0.2.0/24"]'}})
    for program in w.programs():
        eventually(lambda p=program: re.search(r"\.yaml:\d+.*not active yet: trusted_proxies", p.log()), 5, f"{program.name} names it")
