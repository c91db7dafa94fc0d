"""The whole path with everything real: signed webhooks in, orders moved, mails out."""
from harness import *


def test_five_copies_give_one_move_and_one_mail(t):
    w = t.world(policy="strict", receivers=2, dispatchers=1)
    one = app_request(secret("shop"), "evt-1", "step.s1", order="1001", email="a@example.net")
    answers = w.post(*[one] * 5, connections=5)
    eq({a.status for a in answers}, {200})
    eventually(lambda: w.sink.count("a@example.net") == 1, what="one mail")
    eq(w.cluster.value("SELECT count(*) FROM pawl.repeats"), 4)
    w.counted(1, "pawl_moves_total", outcome="applied")
