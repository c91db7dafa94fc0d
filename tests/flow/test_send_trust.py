"""Whom dispatcher/send talks to: certificates, redirects, and names that lead inside. The peers' own logs are the oracle."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
# pylint: disable=wrong-import-position
from harness import *  # noqa: E402
from kit import procs  # noqa: E402
from kit.https import Authority  # noqa: E402
from http_script import HttpPeer  # noqa: E402
from push_peers import Http2Peer  # noqa: E402
from send_rig import RUN, drive, mail, verdict  # noqa: E402

ACCEPTED, NOT_SENT = ("accepted", "message", 200), ("retry", "provider", 0)
TOKEN = "00" * 32


def api(url, **more):
    return mail(url, driver="resend", password="s3cret", plain=False, **more)


def one(line):
    results, _ = drive([line, RUN])
    return results[line["id"]]


def chain(ca, key, names, days=30, name="chain.pem"):
    path = os.path.join(ca.dir, name)
    with open(path, "w", encoding="ascii") as f:
        f.write(ca.certificate(key, names, days))
    return path


def certificates(ca):
    """[(what, file the client trusts, chain of the server, is it to be trusted)]"""
    key, other = ca.key("peer"), Authority("somebody else")
    return key, [
        ("good", ca.file, chain(ca, key, ["localhost"], name="good.pem"), True),
        ("expired yesterday", ca.file, chain(ca, key, ["localhost"], days=-1, name="old.pem"), False),
        ("of another name", ca.file, chain(ca, key, ["elsewhere.example"], name="name.pem"), False),
        ("of a name below", ca.file, chain(ca, key, ["mail.localhost"], name="below.pem"), False),
        ("of an authority nobody knows", other.file, chain(ca, key, ["localhost"], name="unknown.pem"), False),
        ("of an authority the system does not know", None, chain(ca, key, ["localhost"], name="system.pem"), False),
    ]


def test_no_request_goes_to_a_server_whose_certificate_is_not_right(t):
    key, rows = certificates(Authority())
    p256 = Authority().key("p8", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    with open(p256.path, encoding="ascii") as f:
        p8 = f.read()
    for what, trusted, served, good in rows:
        ca = {"ca": trusted} if trusted else {}
        p = t.keep(HttpPeer(lambda c, _: c.say(), (served, key.path)))
        result = one(api(p.url.replace("127.0.0.1", "localhost"), **ca))
        eq((verdict(result), len(p.requests)), (ACCEPTED if good else NOT_SENT, 1 if good else 0), f"HTTP/1, {what}: {result['detail']}")
        h2 = t.keep(Http2Peer(served, key.path, lambda c, stream, n: c.say(stream)))
        line = mail(h2.url, TOKEN, driver="apns", channel="push", plain=False, password=p8, account="T", key_id="K", topic="x.y", **ca)
        result = one(line)
        eq((verdict(result), len(h2.bodies)), (ACCEPTED if good else NOT_SENT, 1 if good else 0), f"HTTP/2, {what}: {result['detail']}")


def test_no_mail_goes_to_a_server_whose_certificate_is_not_right(t):
    key, rows = certificates(Authority())
    for tls in ("implicit", "starttls"):
        for what, trusted, served, good in rows:
            sink = t.sink(tls=tls, cert=served, key=key.path)
            url = sink.url.replace("127.0.0.1", "localhost")
            result = one(mail(url, plain=False, starttls=tls == "starttls", **({"ca": trusted} if trusted else {})))
            eq((result["outcome"], result["level"], sink.count()), ("accepted", "message", 1) if good else ("retry", "provider", 0),
               f"{tls}, {what}: {result['detail']}")


def test_no_redirect_is_followed_wherever_it_leads(t):
    elsewhere = t.keep(HttpPeer(lambda c, _: c.say()))
    for status in (300, 301, 302, 303, 305, 307, 308):
        for to in (elsewhere.url + "/x", "/self", "file:///etc/passwd"):
            p = t.keep(HttpPeer(lambda c, _, status=status, to=to: c.say(status, b"", "Location: " + to)))
            result = one(api(p.url))
            eq((verdict(result), len(p.requests)), (("retry", "provider", status), 1), f"{status} to {to}: {result['detail']}")
    eq(elsewhere.requests, [])


# --- names, in a network of our own: nothing of it leaves the machine, and no name of it is asked for outside

PUBLIC, PUBLIC_BUT_GONE = "11.22.33.44", "11.22.33.45"
INSIDE = {"private.example": "10.9.8.7", "home.example": "192.168.7.7", "meta.example": "169.254.169.254", "carrier.example": "100.64.1.1",
          "loop.example": "127.0.0.1", "unique.example": "fd00::7", "mapped.example": "::ffff:10.9.8.7", "loop6.example": "::1"}
NOT_PUBLIC = "not a public one"


def test_a_name_that_leads_inside_is_refused_unless_that_is_allowed(t):
    """Also when a public address stands before it, and however the address is written."""
    del t
    if os.getuid() != 0 or subprocess.run(["unshare", "-mn", "true"], check=False, capture_output=True).returncode != 0:
        raise Skip("no network of its own can be made here")
    done = subprocess.run(["unshare", "-mn", "/usr/bin/python3", os.path.realpath(__file__), "inside"], check=False, capture_output=True,
                          text=True, timeout=100)
    check(done.returncode == 0, done.stdout + done.stderr)


def inside():
    run = lambda *argv: subprocess.run(argv, check=True, capture_output=True)  # noqa: E731
    hosts = os.path.join(procs.scratch("pawl-hosts-"), "hosts")
    with open(hosts, "w", encoding="ascii") as f:
        f.write(f"127.0.0.1 localhost\n{PUBLIC} public.example\n{PUBLIC_BUT_GONE} both.example\n10.9.8.7 both.example\n")
        f.writelines(f"{address} {name}\n" for name, address in INSIDE.items())
    run("mount", "--bind", hosts, "/etc/hosts")
    run("ip", "link", "set", "lo", "up")
    for address in {PUBLIC, *INSIDE.values()} - {"127.0.0.1", "::1", "::ffff:10.9.8.7"}:
        run("ip", "addr", "add", address + ("/128" if ":" in address else "/32"), "dev", "lo")
    ca = Authority()
    key = ca.key("peer")
    names = ["public.example", "both.example", *INSIDE]
    p = HttpPeer(lambda c, _: c.say(), (chain(ca, key, names), key.path), anywhere=True)
    asked = 0
    for name, private, want in [("public.example", False, ACCEPTED), ("both.example", False, NOT_SENT), ("both.example", True, ACCEPTED),
                                *[(name, private, ACCEPTED if private else NOT_SENT) for name in INSIDE for private in (False, True)]]:
        result = one(api(f"https://{name}:{p.port}", ca=ca.file, **({"private": True} if private else {})))
        asked += want == ACCEPTED
        eq((verdict(result), len(p.requests)), (want, asked), f"{name}, private: {private}: {json.dumps(result)}")
        check((NOT_PUBLIC in result["detail"]) == (want == NOT_SENT), result["detail"])


if __name__ == "__main__" and sys.argv[1:] == ["inside"]:
    inside()
