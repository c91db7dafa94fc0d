"""Drives dispatcher/send (send_driver.c) from a script: what the tests of it share."""
import json
import os
import subprocess

from harness import build_dir, check, eq
from kit.pawl import wrap
from kit.procs import SLOW
from smtp_script import ScriptedPeer

DRIVER = os.path.join(build_dir(), "tests", "flow", "send_driver")
RUN = {"op": "run", "ms": 0}


def mail(url, to="ann@example.org", **more):
    """A script line that sends one mail."""
    number = mail.number = getattr(mail, "number", 0) + 1
    return {"op": "send", "id": f"d{number}", "url": url, "plain": True, "from": "Shop <shop@example.net>", "to": to,
            "subject": "Your order", "text": "Hello\n", "message_id": f"{number:032x}@example.net",
            "date": "Sun, 29 Nov 2026 12:00:00 +0000", **more}


def drive(lines, transfers=8, connect_ms=2000, reply_ms=2000, final_ms=2000):
    """Runs the script; (results by id, the other lines)."""
    done = subprocess.run([*wrap(), DRIVER, *map(str, (transfers, connect_ms, reply_ms, final_ms))],
                          input="".join(json.dumps(line) + "\n" for line in lines), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=100 * SLOW, check=False)
    check(done.returncode == 0, f"send_driver ended with {done.returncode}:\n{done.stderr}")
    out = [json.loads(line) for line in done.stdout.splitlines()]
    return {r["id"]: r for r in out if "id" in r}, [r for r in out if "id" not in r]


def one(url, to="ann@example.org", options=None, **more):
    """The result of one mail."""
    results, _ = drive([mail(url, to, **more), RUN], **(options or {}))
    eq(len(results), 1)
    return next(iter(results.values()))


def verdict(result):
    return result["outcome"], result["level"], result["code"]


def peer(t, script):
    return t.keep(ScriptedPeer(script))
