"""`pawl reconcile`: finds nothing where nothing is broken, and names each invariant that is broken by SQL."""
import json
import os
import re

from harness import *

NOTE = "(SELECT notification_id FROM pawl.deliveries WHERE state = 2 ORDER BY notification_id LIMIT 1)"
ORDER = "(SELECT order_id FROM pawl.orders WHERE version = 1 ORDER BY order_id LIMIT 1)"
ONE = "(bucket, channel, notification_id, redrive, step, outcome, claim_id, worker, target, at)"

# name -> SQL that breaks it, and the command that the example names. What else a break breaks is not said here.
BREAKS = {
    "key-body": ("DELETE FROM pawl.bodies WHERE event_id = 'e-1'", "inbox show e-1"),
    "body-key": ("DELETE FROM pawl.keys WHERE event_id = 'e-1'", "inbox show e-1"),
    "accepted-once": ("INSERT INTO pawl.bodies SELECT * FROM pawl.bodies WHERE event_id = 'e-1'", "inbox show e-1"),
    "repeat-key": ("DELETE FROM pawl.keys WHERE event_id = 'e-2'", "inbox show e-2"),
    "event-judged": ("DELETE FROM pawl.moves WHERE event_id = 'e-wait'", "story e-wait"),
    "event-applied-once": ("INSERT INTO pawl.moves SELECT * FROM pawl.moves WHERE event_id = 'e-1'", "story e-1"),
    "step-applied-once": ("INSERT INTO pawl.moves SELECT (m).* FROM (SELECT m #= hstore('event_id', 'e-x') AS m"
                          " FROM pawl.moves m WHERE event_id = 'e-1') x", "story o-1"),
    "moves-forward": ("UPDATE pawl.moves SET from_state = to_state WHERE event_id = 'e-1'", "story o-1"),
    "order-history": ("UPDATE pawl.orders SET version = version + 1 WHERE order_id = 'o-1'", "story o-1"),
    "move-order": ("UPDATE pawl.moves SET version = 9 WHERE event_id = 'e-1'", "story o-1"),
    "waiting-counted": ("DELETE FROM pawl.waiting", "story o-wait"),
    "move-notes": ("DELETE FROM pawl.notifications WHERE order_id = 'o-1'", "story e-1"),
    "move-owes": ("DELETE FROM pawl.notifications WHERE order_id = 'o-1'", "story e-1"),
    "note-move": ("UPDATE pawl.moves SET notifications = NULL WHERE event_id = 'e-1'", None),
    "note-id": ("UPDATE pawl.notifications SET once = once || 'x' WHERE order_id = 'o-1'", "deliveries show "),
    "note-deliveries": (f"DELETE FROM pawl.deliveries WHERE notification_id = {NOTE}", None),
    "delivery-note": (f"DELETE FROM pawl.notifications WHERE notification_id = {NOTE}", None),
    "waits-in-due": ("DELETE FROM pawl.due", None),
    "due-once": ("INSERT INTO pawl.due SELECT * FROM pawl.due", None),
    "wire-in-claim": (f"UPDATE pawl.deliveries SET state = 1 WHERE notification_id = {NOTE}", None),
    "lease-kept": ("INSERT INTO pawl.claims SELECT gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour',"
                   f" '{{1}}', ARRAY[{NOTE}], '{{1}}', '{{}}', '{{0}}', '{{1}}'", None),
    "unknown-listed": (f"UPDATE pawl.deliveries SET state = 9 WHERE notification_id = {NOTE}", None),
    "sendable": ("UPDATE pawl.notifications SET data = NULL WHERE order_id = 'o-later'", None),
    "tries-recorded": (f"DELETE FROM pawl.attempts WHERE notification_id = {NOTE}", None),
    "at-most-once": (f"UPDATE pawl.deliveries SET delivery_order = 1, tries = 2 WHERE notification_id = {NOTE};"
                     f"INSERT INTO pawl.attempts {ONE} SELECT bucket, channel, notification_id, redrive, 2, 1, claim_id,"
                     f" worker, target, at FROM pawl.attempts WHERE notification_id = {NOTE}", None),
    "duplicates-counted": (f"UPDATE pawl.deliveries SET possible_duplicates = 1 WHERE notification_id = {NOTE}", None),
    "end-recorded": (f"UPDATE pawl.attempts SET outcome = 3 WHERE notification_id = {NOTE}", None),
    "end-reason": (f"UPDATE pawl.deliveries SET state = 8 WHERE notification_id = {NOTE}", None),
    "cap-slots-held": ("INSERT INTO pawl.cap_slots (bucket, nth, cap, of_bucket, notification_id, channel, redrive, taken_at, in_ms)"
                       f" SELECT 1, 0, 'x', bucket, {NOTE}, channel, 7, now(), 1000 FROM pawl.deliveries WHERE notification_id = {NOTE}", None),
    "caps-kept": (f"INSERT INTO pawl.deliveries SELECT (d #= hstore('redrive', g::text)).* FROM pawl.deliveries d, generate_series(1, 9) g"
                  f" WHERE notification_id = {NOTE}; INSERT INTO pawl.attempts SELECT (a #= hstore('redrive', g::text)).*"
                  f" FROM pawl.attempts a, generate_series(1, 9) g WHERE notification_id = {NOTE}", None),
    "newest-last": ("UPDATE pawl.deliveries SET collapse = 'x', bucket = 1, order_version = CASE WHEN notification_id = " + NOTE +
                    " THEN 1 ELSE 2 END; UPDATE pawl.attempts SET bucket = 1, at = CASE WHEN notification_id = " + NOTE +
                    " THEN now() ELSE at END", None),
}

# Further ways to break some of them: what is repeated though a first one is older than the window, an event without an order, and
# what came of a delivery.
EARLIER = "FROM pawl.{0} x, unnest('{{50 days,1 minute}}'::interval[]) d WHERE event_id = 'e-1'"
ODD_BREAKS = [
    ("accepted-once", "INSERT INTO pawl.bodies SELECT (x #= hstore('received_at', (received_at - d)::text)).* " + EARLIER.format("bodies")),
    ("event-applied-once", "INSERT INTO pawl.moves SELECT (x #= hstore('at', (at - d)::text)).* " + EARLIER.format("moves")),
    ("move-owes", "INSERT INTO pawl.moves SELECT (x #= hstore('order_id', NULL) #= hstore('event_id', 'e-x')).* FROM pawl.moves x WHERE event_id = 'e-1'"),
    ("end-recorded", f"UPDATE pawl.deliveries SET state = 11 WHERE notification_id = {NOTE}"),
]


def step(order, event, name="s1"):
    return app_request(secret("shop"), event, "step." + name, order=order, email="a@example.net")


def busy_world(t):
    """Moves, repeats, mails, a waiting event, and two deliveries that wait."""
    w = t.world(policy="strict", edit=lambda text: text + "\nlimits: [{ most: 9, in: 1h, per: recipient, then: defer }]\n")
    eq({a.status for a in w.post(*[step(f"o-{n}", f"e-{n}") for n in range(8)])}, {200})
    w.post(*[step("o-2", "e-2")] * 3)
    w.post(step("o-wait", "e-wait", "s3"))
    eventually(lambda: w.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE state = 2") == 8)
    for program in w.dispatchers:
        program.stop()
    w.post(step("o-later", "e-later"), step("o-after", "e-after"))
    return w


def items(w, *args, database=None):
    where = ["--database", w.cluster.dsn(user=None, db=database)] if database else []
    status, out, err = w.run("reconcile", "--json", *args, *where)
    check(status in (0, 1), err)
    found = {i["name"]: i for i in json.loads(out)["items"]}
    eq(status, 1 if any(i["verdict"] == "broken" for i in found.values()) else 0)
    return found


def test_a_busy_world_is_whole_and_really_looked_at(t):
    w = busy_world(t)
    found = items(w)
    eq([i for i in found.values() if i["verdict"] != "ok"], [])
    eq({n for n, i in found.items() if i["judged"] == 0}, {"wire-in-claim", "lease-kept", "unknown-listed", "at-most-once",
                                                           "end-reason", "newest-last"}, "what there was nothing to judge of")
    check("31 of 31 hold" in w.must("reconcile"), "the last line says it")


@timeout(240)
def test_each_invariant_that_is_broken_is_named(t):
    w = busy_world(t)
    eq(set(items(w)), set(BREAKS), "each has a break here")
    w.receivers[0].stop()
    w.cluster.query("CREATE EXTENSION hstore")
    for number, (name, (sql, command)) in enumerate(BREAKS.items()):
        database = f"broken{number}"
        w.cluster.create_database(database, w.cluster.database)
        w.cluster.query(sql, db=database)
        found = items(w, database=database)[name]
        eq(found["verdict"], "broken", name)
        check(found["examples"], f"{name} has an example")
        check(command is None or found["examples"][0].startswith("pawl " + command), f"{name}: {found['examples']}")


def test_what_is_broken_in_an_odd_way_is_named_too(t):
    w = busy_world(t)
    w.receivers[0].stop()
    w.cluster.query("CREATE EXTENSION hstore")
    for number, (name, sql) in enumerate(ODD_BREAKS):
        database = f"odd{number}"
        w.cluster.create_database(database, w.cluster.database)
        w.cluster.query(sql, db=database)
        eq(items(w, "--since", "60d", database=database)[name]["verdict"], "broken", name)


def test_the_text_says_how_many_and_which_command_shows_them(t):
    w = busy_world(t)
    w.breaks["all"] = "orders are given a version that they never had"
    w.cluster.query("UPDATE pawl.orders SET version = version + 1 WHERE order_id LIKE 'o-_'")
    w.cluster.query("UPDATE pawl.orders SET order_id = 'it''s' WHERE order_id = 'o-0'")
    status, out, _ = w.run("reconcile")
    eq(status, 1)
    line = next(l for l in out.splitlines() if l.startswith("broken") and "order-history" in l)
    check(line.endswith(": not so for 8 of 11"), line)
    eq(re.findall(r"^          (pawl .*)$", out[out.index(line):], re.M)[:2], ["pawl story 'it'\\''s'", "pawl story o-1"])
    check("the test's end would have failed", w.broken())


def test_what_was_emptied_is_out_of_reach_and_not_broken(t):
    w = busy_world(t)
    w.breaks["all"] = "facts are taken away as retention would"
    w.cluster.query("DELETE FROM pawl.moves; DELETE FROM pawl.attempts; DELETE FROM pawl.bodies;"
                    "INSERT INTO pawl.emptied SELECT r, 0, now(), now(), 0 FROM unnest('{moves,attempts,bodies}'::text[]) r")
    found = items(w)
    eq([n for n, i in found.items() if i["verdict"] != "ok"], [])
    eq({n: i["out_of_reach"] for n, i in found.items() if i["out_of_reach"]},
       {"key-body": 11, "order-history": 10, "note-move": 10, "tries-recorded": 8, "end-recorded": 8})
    check("can't be judged any more" in w.must("reconcile"), "and it is said")


def test_policy_versions_past_the_newest_256_are_told_of(t):
    w = busy_world(t)
    w.breaks["all"] = "moves are said to be made under policies that are not there"
    more = "INSERT INTO pawl.moves SELECT (m #= hstore('policy', g::text)).* FROM pawl.moves m, generate_series(2, %s) g WHERE event_id = 'e-1'"
    w.cluster.query("CREATE EXTENSION hstore")
    w.cluster.query(more, (256,))
    check("more than" not in w.run("reconcile")[2], "256 are judged")
    w.cluster.query("UPDATE pawl.moves SET policy = 257 WHERE policy = 256")
    w.cluster.query(more, (256,))
    check("what those before the newest 256 owe was not judged" in w.run("reconcile")[2], "one more is not")
    eq(json.loads(w.run("reconcile", "--json")[1])["versions"], {"unreadable": 256, "older_left_out": True})


def test_only_so_far_back_and_not_without_a_database(t):
    w = busy_world(t)
    w.breaks["all"] = "an old notification loses its delivery"
    w.cluster.query("UPDATE pawl.notifications SET created_at = created_at - interval '2 days';"
                    f"DELETE FROM pawl.deliveries WHERE notification_id = {NOTE}")
    eq(items(w, "--since", "1d")["note-deliveries"]["verdict"], "ok")
    eq(items(w, "--since", "3d")["note-deliveries"]["verdict"], "broken")
    eq(w.run("reconcile", "--since", "soon")[0], 2)
    w.cluster.stop()
    eq(w.run("reconcile")[0], 69)


def test_the_page_names_every_invariant(t):
    p = t.pawl(t.migrated_cluster(), setup=False)
    with open(os.path.join(ROOT, "docs", "cli.md"), encoding="utf-8") as f:
        rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]*) \|", f.read(), re.M))
    told = {i["name"]: i["holds"] for i in json.loads(p.must("reconcile", "--json"))["items"]}
    eq({n: rows.get(n) for n in told}, told)
