#!/usr/bin/python3
"""harness.py: how the suites of tests/sql, tests/flow and tests/faults are written and run.

A test is a function test_<sentence>(t) in a file test_*.py; everything it makes through `t` ends with it:

    from harness import *

    def test_five_copies_give_one_move_and_one_mail(t):
        w = t.world(policy="strict", receivers=2, dispatchers=1)       # cluster, SMTP sink, programs: all running
        one = app_request(secret("shop"), "evt-1", "step.s1", order="1001", email="a@example.net")
        answers = w.post(*[one] * 5, connections=5)                    # over keep-alive, both receivers in turn
        eq({a.status for a in answers}, {200})
        eventually(lambda: w.sink.count("a@example.net") == 1)         # the SMTP server's own count
        eq(w.cluster.value("SELECT count(*) FROM pawl.repeats"), 4)    # as superuser
        eq(w.receivers[0].metric("pawl_moves_total", outcome="applied") <= 1, True)

Run: tests/harness.py tests/flow [-j 4] [--long] [-k WORD] [-x]; PAWL_BUILD=build-x picks the build, PAWL_TEST_KEEP=1 keeps the
scratch folders, PAWL_TEST_TMP=/var/tmp says where they are (else /tmp, and /dev/shm for clusters where memory is plenty), PAWL_WRAP="valgrind -q" runs the programs under that, PAWL_SLOW=10 makes every wait so many times as long. Each test may take 120 s (@timeout(300) changes that). More of what there is:
  t.cluster(options={..}) (t.migrated_cluster() has the schema already) kill9() freeze() thaw() restart() query() value() set(..) deadlocks(); t.sink(tls=, auth=), whose
  recipients say how it behaves (kit/smtp_server.py: rcpt550@, dropafterdot-1+any@, ..); t.postfix_sink();
  t.pawl(cluster, sink, policy=, edit=, host=, env=): must("policy", "apply"), run(..), json(..), receiver(fault="crash@label:1",
  now=..), dispatcher(..), restart(program), load(requests, again=True) in the background; program.kill9() freeze() stop()
  log() admin("/readyz"); gone(pid); stripe_request, erp_request, app_request; RawSocket(port) for malformed HTTP;
  t.need_faults(), t.need_shared(path), t.need_tool("usr/bin/promtool"), t.skip(why), t.long.
A program that runs at the test's end gets SIGTERM and must end with 0; a sanitizer's report of any program fails the test.
Then `pawl reconcile` must find nothing broken; a test that breaks data on purpose says so: w.breaks["note-move"] = "why" ("all")."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from kit.cluster import Cluster  # noqa: E402
from kit.http import Answer, Load, RawSocket, get, post_all  # noqa: E402
from kit.pawl import Pawl, Program, binary, build_dir, build_option, has_faults, parse_metrics, secret  # noqa: E402
from kit.procs import ROOT, SHARED, Proc, eventually, free_ports, gone, scratch, tool, whole_lines  # noqa: E402
from kit.runner import Skip, alone, check, eq, main, timeout  # noqa: E402
from kit.sign import (Request, app_auth, app_request, as_body, erp_request, erp_sign, stripe_event,  # noqa: E402
                      stripe_request, stripe_sign)
from kit.smtp import PostfixSink, SmtpSink  # noqa: E402

__all__ = [n for n in dir() if not n.startswith("_") and n not in ("os", "sys", "main")]

if __name__ == "__main__":
    sys.exit(main())
