"""`pawl keys`: what is used, what can go, and what is wrong with the files."""
import base64
import json
import os
import time

from harness import *

DAY = 86400
SOURCES = """
  rolled:
    scheme: stripe
    secrets:
      - { secret: credential:stripe-new, note: "since the audit" }
      - credential:stripe-old
      - { secret: credential:stripe-gone, until: 2026-11-01 }
      - { secret: credential:stripe-next, from: 2099-01-01 }
    events: { step.s1: { order: /data/object/metadata/order_id, to: s1 } }
  standard:
    scheme: standardwebhooks
    secrets: [credential:standard]
    events: { step.s1: { order: /o, to: s1 } }
  sendgrid:
    scheme: sendgrid
    secrets: [credential:sendgrid]
    events: { step.s1: { order: /o, to: s1 } }
  hooks:
    scheme: github
    secrets: [credential:github, credential:github-2]
    events: { step.s1: { order: /o, to: s1 } }
  postmark:
    scheme: postmark
    secrets: [credential:postmark]
    events: { step.s1: { order: /o, to: s1 } }
  meta:
    scheme: meta
    secrets: [credential:meta]
    handshake: { token: credential:meta-hello }
    events: { step.s1: { order: /o, to: s1 } }

orders:"""
STANDARD = "whsec_" + base64.b64encode(b"standard-webhooks-secret").decode()
P256 = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8jmgQGWlGw52IS+s3GGW8McTMf+q/R6hwXdnCP9zIgA3/+BA0hSehjd8ouTo4HVPZSlDbLGqDTy66RTyKm8VbA=="


def add_sources(text):
    return text.replace("\norders:", SOURCES, 1)


def good_files(w):
    for name, value in {"erp": "secret-of-the-erp", "standard": STANDARD, "postmark": "user:a-long-password-1", "sendgrid": P256}.items():
        w.set_credential(name, value)


def check(w, *args):
    status, out, err = w.run("keys", "check", "--json", *args)
    rows = json.loads(out)["items"]
    eq(status, 1 if any(r["verdict"] == "fail" for r in rows) else 0, err)
    return rows


def findings(rows, name):
    return [(r["verdict"], r["finding"]) for r in rows if r["secret"] == name and r["verdict"] != "ok"]


def use(w, key):
    w.post(stripe_request(secret(key), "evt_" + key, "step.s1", order="1", source="rolled"))


def listed(w):
    return {i["secret"]: i for i in w.json("keys", "list", "--source", "rolled")["items"]}


def test_the_last_use_of_each_secret_is_a_metric_and_in_the_list(t):
    w = t.world(receivers=1, dispatchers=0, edit=add_sources)
    rows = listed(w)
    eq({k: (v["state"], v["says"]) for k, v in rows.items()},
       {"stripe-new": ("live", "not used yet"), "stripe-old": ("live", "not used yet"),
        "stripe-gone": ("ended", "over, safe to drop"), "stripe-next": ("not yet", "waits for its day")})
    eq((rows["stripe-new"]["note"], rows["stripe-gone"]["until"]), ("since the audit", "2026-11-02T00:00:00.000Z"))
    use(w, "stripe-new")
    eventually(lambda: listed(w)["stripe-new"]["last_used"], what="the use is written down")
    eq(listed(w)["stripe-old"]["last_used"], None)
    metric = w.metric("pawl_secret_last_used_seconds", source="rolled", secret="stripe-new")
    eq(abs(metric - time.time()) < 60, True, metric)
    use(w, "stripe-old")  # Within the minute: written at the end.
    w.receivers[0].stop()
    eq(bool(listed(w)["stripe-old"]["last_used"]), True)
    eq(w.cluster.value("SELECT count(*) FROM pawl.secret_uses"), 2)


def test_a_secret_that_nothing_uses_while_another_is_used_can_go(t):
    w = t.world(receivers=1, dispatchers=0, edit=add_sources)
    use(w, "stripe-new")
    use(w, "stripe-old")
    eventually(lambda: listed(w)["stripe-new"]["last_used"])
    w.receivers[0].stop()
    w.cluster.query("UPDATE pawl.secret_uses SET first_at = now() - interval '30 h', last_at = now() - interval '26 h' WHERE secret = 'stripe-old'")
    eq((listed(w)["stripe-old"]["safe_to_drop"], listed(w)["stripe-old"]["says"]), (False, "used 26.0 h ago"), "the new one is too new")
    w.cluster.query("UPDATE pawl.secret_uses SET first_at = now() - interval '30 h' WHERE secret = 'stripe-new'")
    eq((listed(w)["stripe-old"]["safe_to_drop"], listed(w)["stripe-old"]["says"]), (True, "unused for 26.0 h, safe to drop"))
    eq(listed(w)["stripe-new"]["safe_to_drop"], False)
    w.cluster.query("DELETE FROM pawl.secret_uses WHERE secret = 'stripe-old'")
    eq(listed(w)["stripe-old"]["says"], "never used, safe to drop")
    eq(w.run("keys", "list", "--source", "nobody")[0], 3)


def test_good_files_have_nothing_wrong(t):
    w = t.pawl(t.cluster(), edit=add_sources, setup=False)
    w.breaks["all"] = "no database is asked"
    good_files(w)
    eq([r for r in check(w) if r["verdict"] != "ok"], [])


def test_what_is_wrong_with_a_file_is_said(t):
    w = t.pawl(t.cluster(), edit=add_sources, setup=False)
    w.breaks["all"] = "no database is asked"
    pem = "-----BEGIN PUBLIC KEY-----\n" + P256 + "\n-----END PUBLIC KEY-----"
    rows = [
        ("stripe-new", "whsec_test_stripe-new ", "fail", "white space or a second line end at its end"),
        ("stripe-new", "whsec_test_stripe-new\n", "fail", "white space or a second line end at its end"),
        ("stripe-new", "\twhsec_test_stripe-new", "fail", "white space at its beginning"),
        ("stripe-new", "whsec_test stripe-new", "warn", "white space inside"),
        ("stripe-new", '"whsec_test_stripe-new"', "fail", "quotes around it"),
        ("stripe-new", "\ufeffwhsec_test_stripe-new", "fail", "byte order mark"),
        ("stripe-new", "sk_live_51H0000000000000", "fail", "an API key"),
        ("stripe-new", "something-else-entirely", "warn", "begin with whsec_"),
        ("stripe-new", "", "fail", "the file is empty"),
        ("standard", "v1," + STANDARD, "fail", "as a signature does"),
        ("standard", "whsec_not*base64", "fail", "can't be read as base64 behind an optional whsec_"),
        ("standard", "whsec_" + base64.b64encode(b"short").decode(), "fail", "only 5 bytes"),
        ("standard", "whsk_" + base64.b64encode(b"k" * 32).decode(), "warn", "the private key"),
        ("github", "whpk_" + base64.b64encode(b"k" * 32).decode(), "fail", "one key of a pair (whpk_)"),
        ("github", pem, "fail", "a public key where a shared secret is needed"),
        ("github", "tiny", "fail", "only 4 bytes"),
        ("github", "twelve-bytes", "warn", "only 12 bytes"),
        ("github", secret("github-2"), "warn", "the same as"),
        ("github", secret("meta"), "warn", "the same as"),
        ("sendgrid", "a-shared-secret-of-someone", "fail", "can't be read as"),
        ("sendgrid", pem.replace("PUBLIC", "PRIVATE"), "fail", "a private key"),
        ("postmark", "no-colon-in-here-at-all", "fail", "user:password"),
        ("meta-hello", "", "fail", "the file is empty"),
    ]
    for name, value, verdict, words in rows:
        good_files(w)
        w.set_credential("github", secret("github"))
        w.set_credential("meta-hello", secret("meta-hello"))
        w.set_credential("stripe-new", secret("stripe-new"))
        if value:
            w.set_credential(name, value)
        else:
            open(os.path.join(w.dir, "credentials", name), "w").close()
        told = check(w)
        found = [f for n in {name, "github-2", "meta"} for f in findings(told, n)]
        eq(any(v == verdict and words in says for v, says in found), True, f"{name} {value!r}: {found}")
        eq([r for r in told if value and value in json.dumps(r)], [], "no secret is shown")


def test_missing_and_open_files_are_said(t):
    w = t.pawl(t.cluster(), edit=add_sources, setup=False)
    w.breaks["all"] = "no database is asked"
    good_files(w)
    folder = os.path.join(w.dir, "credentials")
    os.chmod(os.path.join(folder, "github"), 0o644)
    os.chmod(os.path.join(folder, "meta"), 0o620)
    os.unlink(os.path.join(folder, "stripe-old"))
    rows = check(w)
    eq([v for v, says in findings(rows, "github") if "chmod o-rwx" in says], ["fail"])
    eq([v for v, says in findings(rows, "meta") if "chmod g-w" in says], ["warn"])
    eq([v for v, _ in findings(rows, "stripe-old")], ["fail"])
    eq([r["verdict"] for r in check(w, "--source", "standard")], ["ok"])
