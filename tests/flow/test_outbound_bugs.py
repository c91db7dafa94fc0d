"""Bugs of other senders, each with its place and the right behaviour, against the whole dispatcher and a scripted mail server.

Each row of the collection's tables (number in it, or section), and where it is a test:

| row | link or fact | test |
|---|---|---|
| 0.1 | libcurl says a POST again when a kept connection dies | a_message_that_a_kept_connection_swallowed_.., test_send_connections.py a_message_is_never_said_twice_in_one_try |
| 0.2 | status and CURLcode disagree | test_http_send.py every_fault_on_a_fresh_connection_.. (status, then reset); unit http_test, push_reply_test |
| 0.3 | HTTP/2: REFUSED_STREAM, drops, GOAWAY | test_push_send.py a_refused_stream_.., a_reset_stream_.., a_connection_cut_.., many_go_over_few_connections_..; unit streams_test |
| 0.4 | SMTP phases through libcurl, the table | test_send.py every_row_of_the_outcome_table_.., unit smtp_test, test_outcomes.py (both delivery orders) |
| 0.5 | libcurl passes CR and LF on | line_ends_in_an_address_or_a_value_.., test_send.py line_ends_in_addresses_and_headers_.., unit address_test, mime_test |
| 0.6 | no BODY=8BITMIME, SMTPUTF8 by itself | everything_goes_out_as_seven_bits_.., test_send_connections.py names_outside_ascii_use_idna_and_smtputf8 |
| 0.7 | a foreign sink that hangs up after the dot | test_send.py postfix_counts_a_mail_.., test_outcomes.py a_sink_nobody_here_wrote_.. |
| 1 | rpush#494, #120, #424, #385 | a_killed_workers_claim_is_taken_over_.., unit lease_test |
| 2 | postal#645, #1085, #2869, PR #2872 | a_kill_before_the_wire_is_sent_later_.. |
| 4 | rpush mark_all_failed | one_failure_within_a_batch_.. |
| 5 | listmonk#2313, #2070 | a_server_that_hangs_up_after_so_many_mails_.. |
| 7 | Notifuse#414, #26 | a_quota_reached_halfway_.. |
| 8 | freescout#5457, pimalaya/core#46, devlane#374, nodemailer#9 | a_lost_reply_to_the_final_dot_.., a_late_reply_to_the_final_dot_.. |
| 10 | notification-api#2473 | two_workers_and_a_row_that_is_due_twice_.., test_dispatcher.py a_stopped_worker_loses_its_lease_.. |
| 11 | diplicity-react#1281 | a_due_row_of_a_delivery_that_ended_.. |
| 13 | novu#2569, #1633, #3893, #2699 | Pawl makes no digests; two events in one moment: test_once_keys.py, test_once.py |
| 14 | ha-llmvision#545, nmshd/backbone#1042 | unit push_test a_collapse_id_is_hashed_where_it_does_not_fit |
| 16 | pushy#865, #312, node-apn#685, apns2#20, rpush PR #564 | a_server_that_never_greets_holds_up_nobody, test_send.py a_peer_that_answers_just_in_time_..; test_push_send.py streams_above_a_goaways_last_were_not_taken_and_go_again |
| 17 | sendgrid-nodejs#708, #741, #954, firebase/extensions#69 | test_outbound_texts.py names_with_quotes_and_ampersands_.., unit render_test fills_every_part_with_its_own_escaping |
| 19 | upyo#39, cyrus-imapd#2529, #2663, neomutt#1015, Indy#157, fidogate#8, mikel/mail#35 | test_outbound_texts.py subjects_of_emoji_.., unit encode_test |
| 20 | message-segment-calculator#57, #18, sms-counter-php#15 | unit segments_test extension_characters_are_one_unit_.., an_emoji_is_two_units_.. |
| 22 | beszel#1825, netdata-cloud#1137, birday#365 | test_nights.py, sql/test_quiet.py every_moment_of_the_nights_.. |
| 23 | GSA/notifications-api#648, postal increment_live_stats | test_caps.py tries_of_one_message_count_once_.., sql/test_cap_statements.py |
| 25 | postal#2788, sendgrid-nodejs#893, rspamd PR 3496 | unit mime_test both_headers_.., mail_drivers_test both_headers_..; the relay signs with DKIM (docs/unsubscribe.md) |
| 26 | emailflare#190, mailkick#84, #76 | test_unsubscribe.py following_the_link_changes_nothing, the_link_of_a_mail_unsubscribes_from_its_type_alone |
| 28 | notification-api#1578 | test_receipts.py a_temporary_failure_is_a_new_try_.. |
| 29 | listmonk#1801 | what_expired_while_nobody_sent_.. |
| 31 | pushy#794 | unit push_test: a content without a collapse id gets the delivery's key; of mail the Message-ID is derived: a_lost_reply_.., unit render_test the_message_id_is_derived_.. |
| 32 | kannel devel msg05418 | no SMPP; an answer that comes too late: test_http_send.py every_fault_.. (late reply), test_rates.py no_more_requests_at_once_.. |
| 2.4 | codes: basic decides, enhanced says why; 421 anywhere; 535 spends no try; DMARC is ours | each_kind_of_refusal_.., test_dispatcher.py credentials_are_read_again_.. |
| 2.4 | dots, bare LF, long lines, one recipient each | test_send.py a_message_arrives_as_it_was_meant, test_send_connections.py a_kept_connection_carries_many_mails_.. |
| 5.4 | byte-same retries; editing a template changes nothing in flight | test_outbound_texts.py an_edited_template_.., test_send.py the_same_content_gives_the_same_bytes |
| 6 | a missing value is permanent | test_dispatcher.py what_expired_or_cannot_be_rendered_.., unit template/ |
"""
import os
import sys
import time

from harness import *
from kit.deliveries import ORDERS, POLICY, Rows, ended

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from mail_server import SHORT, Mailbox, against, all_ended, parsed, texts, times  # noqa: E402
from send_rig import peer  # noqa: E402


# --- the transport


def test_a_message_that_a_kept_connection_swallowed_is_not_said_again_in_the_same_try(t):
    """0.1: libcurl, left to itself, says it again on a fresh connection and calls that success."""
    def reply(what, _, c):
        return None if what == "." and len(c.bodies) == 2 else True
    server = Mailbox(t, reply)
    _, rows = against(t, server, host={"dispatcher": {"transfers": 1, "poll": "20ms", "lease": "2s"}})
    nids = [rows.add("most", f"n{i}@example.net") for i in range(10)]
    all_ended(rows, 10)
    eq(set(server.counts().values()), {1})
    eq(len(server.taken), 10)
    eq(sorted(rows.state(n) for n in nids), [2] * 5 + [9] * 5)


def test_line_ends_in_an_address_or_a_value_never_reach_the_server(t):
    """0.5: the library passed `RCPT TO` on, out of an address and out of a header."""
    server = Mailbox(t)
    _, rows = against(t, server, note=True)
    bad = ["ok@example.net>\r\nRCPT TO:<evil@example.net", "ok@example.net\nBcc: evil@example.net", "evil\r\n <ok@example.net>"]
    nids = [rows.add(kind, address) for kind in ORDERS for address in bad]
    fine = rows.add("least", "ok@example.net", note="a\r\nBcc: evil@example.net\r\n\r\nevil")
    all_ended(rows, len(nids) + 1)
    eq({(rows.state(n), rows.delivery(n)[1]) for n in nids}, {(3, 1)}, "refused at the first try")
    eq(rows.cluster.query("SELECT DISTINCT outcome, level FROM pawl.attempts WHERE outcome = 2"), [(2, 1)], "the address is at fault")
    check(not [line for line in server.said() if "evil" in line.lower()], server.said())
    if rows.state(fine) == 2:  # a line end in a header value may be refused or made a space, never more
        mail = parsed(server.bodies("ok@example.net")[0])
        eq((mail["Bcc"], mail["Subject"].count("\n")), (None, 0))
    eq(set(server.counts()) - {"ok@example.net"}, set())


def test_everything_goes_out_as_seven_bits_whatever_the_server_offers(t):
    """0.6: the library sent eight bits to servers without having said BODY=8BITMIME."""
    server = Mailbox(t, offers=b"250-script.test\r\n250-8BITMIME\r\n250-SIZE 1000000\r\n250 SMTPUTF8\r\n")
    _, rows = against(t, server, note=True)
    few, many = "Grüße aus Köln", "Привет 😀 " * 30
    nids = [rows.add("least", f"n{i}@example.net", note=note) for i, note in enumerate((few, many))]
    for nid, note, i in zip(nids, (few, many), range(2)):
        ended(rows, nid, 2)
        body = server.bodies(f"n{i}@example.net")[0]
        check(max(body) < 0x80, "a byte above 0x7f")
        check(max(map(len, body.split(b"\r\n"))) <= 76, "a line over 76")
        eq(texts(body)["text/plain"], f"Dear {note}")
    check(not [line for line in server.said() if "BODY=" in line or "SMTPUTF8" in line], server.said())


def test_a_server_that_never_greets_holds_up_nobody(t):
    """16 (apns2#20, rpush PR #564): one dial that hung stopped them all."""
    server = Mailbox(t, lambda what, _, c: ... if what == "CONNECT" and c.number == 0 else True)
    _, rows = against(t, server, host={"dispatcher": {"transfers": 2, "poll": "20ms", "lease": "60s", "grace": "100ms"}})
    nids = [rows.add("most", f"n{i}@example.net") for i in range(30)]
    started = time.monotonic()
    eventually(lambda: sum(rows.state(n) == 2 for n in nids) == 29, 8, "all others are sent")
    check(time.monotonic() - started < 8, "without its timeout")
    eq(set(server.counts().values()), {1})


# --- claims


def test_a_killed_workers_claim_is_taken_over_when_its_lease_has_run_out(t):
    """1 (rpush#494, #120, #424, #385): rows stayed `processing` for ever, until somebody restarted the right daemon."""
    t.need_faults()
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0, host=SHORT)
    victim = w.dispatcher(fault="crash@claim.after_commit:1")
    least = rows.add("least", "l@example.net")
    victim.proc.wait(10)
    w.dispatchers.remove(victim)
    w.ended.append(victim)
    eq((rows.state(least), rows.left()[:2]), (1, (0, 1)), "what it left behind")
    w.dispatcher()
    started = time.monotonic()
    ended(rows, least, 2)
    check(time.monotonic() - started < 5, "by time alone")
    eq((server.counts(), rows.outcomes(least)), ({"l@example.net": 1}, [4, 1]))


def test_a_kill_before_the_wire_is_sent_later_and_one_after_it_is_unknown_and_shown(t):
    """2 (postal#645, #1085, #2869): the row was locked for ever; then a day later deleted without a word (PR #2872)."""
    t.need_faults()
    for label, state, outcomes, taken in (("claim.before_commit", 2, [1], 1), ("wire.before_start", 9, [4], 0), ("send.after_reply", 9, [4], 1)):
        server = Mailbox(t)
        w, rows = against(t, server, dispatchers=0, host=SHORT)
        victim = w.dispatcher(fault=f"crash@{label}:1")
        nid = rows.add("most", "m@example.net")
        victim.proc.wait(10)
        w.dispatchers.remove(victim)
        w.ended.append(victim)
        w.dispatcher()
        ended(rows, nid, state)
        eq((rows.outcomes(nid), server.counts().get("m@example.net", 0)), (outcomes, taken), label)
        shown = w.json("deliveries", "list", "--state", "unknown")["items"]
        eq([r["notification"] for r in shown], [nid.replace("-", "")] if state == 9 else [], label)


def test_one_failure_within_a_batch_leaves_the_others_as_they_were(t):
    """4 (rpush mark_all_failed): a failure in the middle marked those failed that had been delivered."""
    t.need_faults()
    def reply(what, address, _):
        if what == "." and address == "n10@example.net":
            return None
        if what == "." and address.startswith("slow"):
            time.sleep(1)
        return True
    server = Mailbox(t, reply)
    w, rows = against(t, server, dispatchers=0, host=SHORT)
    nids = [rows.add("most", f"n{i}@example.net") for i in range(20)]
    w.dispatcher()
    all_ended(rows, 20)
    eq([rows.state(n) for n in nids], [2] * 10 + [9] + [2] * 9)
    # The worker dies when some of a batch are recorded: these keep their end, the others get one of their own.
    w.dispatchers[0].stop()
    more = [rows.add("most", f"{'slow' if i % 2 else 'm'}{i}@example.net") for i in range(20)]
    victim = w.restart(w.dispatchers[0], wait=False, fault="crash@record.after_commit:1")
    eventually(lambda: not victim.proc.alive(), 10, "it dies")
    before = {n: rows.state(n) for n in more}
    check(2 in before.values(), "some were recorded")
    w.dispatchers.remove(victim)
    w.ended.append(victim)
    w.dispatcher()
    all_ended(rows, 40)
    eq([n for n in more if before[n] == 2 and rows.state(n) != 2], [])
    check(set(server.counts().values()) == {1}, "each was taken once at most")


def test_a_server_that_hangs_up_after_so_many_mails_gets_each_mail_once_over_restarts(t):
    """5 (listmonk#2313, #2070): the run began at A again: some got three to five copies, others none."""
    def reply(what, _, c):
        if what == "MAIL" and len(c.bodies) == 7:
            return b"421 4.7.0 enough for this connection" if c.number % 2 else None
        return True
    server = Mailbox(t, reply)
    w, rows = against(t, server, host={"dispatcher": {"transfers": 3, "poll": "20ms", "lease": "2s"}})
    for i in range(150):
        rows.add("most", f"n{i}@example.net")
        if i in (50, 100):
            w.restart(w.dispatchers[0])
    all_ended(rows, 150)
    eq(rows.cluster.query("SELECT state, count(*) FROM pawl.deliveries GROUP BY 1"), [(2, 150)])
    eq((len(server.counts()), set(server.counts().values())), (150, {1}))


def test_two_workers_and_a_row_that_is_due_twice_make_one_mail(t):
    """10 (notification-api#2473): a row put in again was taken by two workers at once."""
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0)
    w.breaks["due-once"] = "rows are made due twice on purpose"
    for i in range(100):
        rows.add("most" if i % 2 else "least", f"n{i}@example.net")
    rows.cluster.query("INSERT INTO pawl.due SELECT * FROM pawl.due")
    for _ in range(3):
        w.dispatcher(wait=False)
    all_ended(rows, 100)
    eventually(lambda: rows.left()[:2] == (0, 0), 10, "nothing is left")
    eq(set(server.counts().values()), {1})
    eq(rows.cluster.query("SELECT state, tries, count(*) FROM pawl.deliveries GROUP BY 1, 2"), [(2, 1, 100)])


def test_a_due_row_of_a_delivery_that_ended_sends_nothing(t):
    """11 (diplicity-react#1281): a retry read the batch again by its ids and not by its state."""
    server = Mailbox(t)
    w, rows = against(t, server, dispatchers=0)
    w.breaks["all"] = "states without a history"
    ends = list(range(2, 10))
    nids = [rows.add(kind, f"n{state}@example.net") for state in ends for kind in ORDERS]
    for nid, state in zip(nids, [s for s in ends for _ in ORDERS]):
        rows.cluster.query("UPDATE pawl.deliveries SET state = %s WHERE notification_id = %s", (state, nid))
    w.dispatcher()
    eventually(lambda: rows.left()[:2] == (0, 0), 10, "the due rows are dropped")
    fine = rows.add("least", "fine@example.net")
    ended(rows, fine, 2)
    eq(server.counts(), {"fine@example.net": 1})
    eq([rows.state(n) for n in nids], [s for s in ends for _ in ORDERS])


# --- outcomes


def test_a_quota_reached_halfway_costs_no_message_its_life(t):
    """7 (Notifuse#414, #26): at recipient 46 of 68 the day's quota was reached; after three tries the others were dropped."""
    open_at = []

    def reply(what, _, c):
        if what != "RCPT" or len(server.taken) < 45 or (open_at and time.monotonic() > open_at[0]):
            return True
        if not open_at:
            open_at.append(time.monotonic() + 2.5)
        return b"452 4.5.3 daily quota exceeded" if c.number % 2 else b"452 over quota for today"
    server = Mailbox(t, reply)
    _, rows = against(t, server, host={"dispatcher": {"transfers": 5, "poll": "20ms", "lease": "2s"}})
    for i in range(68):
        rows.add("most" if i % 2 else "least", f"n{i}@example.net")
    all_ended(rows, 68)
    eq(rows.cluster.query("SELECT state, count(*) FROM pawl.deliveries GROUP BY 1"), [(2, 68)])
    eq((len(server.counts()), set(server.counts().values())), (68, {1}))
    eq(rows.cluster.query("SELECT DISTINCT level FROM pawl.attempts WHERE outcome = 3"), [(2,)], "the provider's doing, not the message's")
    eq(rows.cluster.value("SELECT count(*) FROM pawl.deliveries WHERE free_tries <> tries - 1"), 0, "none of it spent a try")
    check(rows.cluster.value("SELECT count(*) FROM pawl.attempts WHERE outcome = 3") < 30, "few asked while it was so")


def test_a_lost_reply_to_the_final_dot_is_unknown_or_a_counted_copy_of_the_same_bytes(t):
    """8 (freescout#5457, pimalaya/core#46, devlane#374, nodemailer#9): the mail was made anew, and nobody knew of the copies."""
    server = Mailbox(t, times(2, None))
    w, rows = against(t, server, host=SHORT)
    w.set_template("least", "html", "<p>{{#data}}{{note}}{{/data}}</p>\n")
    w.must("policy", "apply")
    most, least = rows.add("most", "m@example.net"), Rows(w).add("least", "l@example.net", note="Größe 😀" * 20)
    ended(rows, least, 2)
    ended(rows, most, 9)
    eq((rows.outcomes(most), rows.outcomes(least)), ([4], [4, 4, 1]))
    eq((server.counts(), rows.delivery(least)[3]), ({"m@example.net": 1, "l@example.net": 3}, 2))
    eq(len(set(server.bodies("l@example.net"))), 1, "copies differ")
    check(len(parsed(server.bodies("l@example.net")[0])["Message-ID"]) > 32, "a Message-ID")


def test_a_late_reply_to_the_final_dot_is_waited_for_beyond_the_lease(t):
    """8 (nodemailer#9, `Last Command: .: timed out`): a server that checked the mail for some time got it again."""
    def reply(what, _, c):
        if what == "." and len(c.bodies) == 1:
            time.sleep(5)
        return True
    server = Mailbox(t, reply)
    w, rows = against(t, server, dispatchers=2, host=SHORT)
    nids = [rows.add(kind, f"{kind}@example.net") for kind in ORDERS]
    for nid in nids:
        ended(rows, nid, 2, 15)
        eq((rows.outcomes(nid), rows.delivery(nid)[3]), ([1], 0))
    eq(set(server.counts().values()), {1})
    eq(w.metric("pawl_takeovers_total"), 0)


REFUSALS = [  # phase, reply, state at the end (None: it is tried again until the server is well), level
    ("RCPT", "550 5.1.1 no such user", 3, 1),
    ("RCPT", "550 5.1.10 the domain takes no mail", 3, 1),
    ("RCPT", "550 5.1.2 bad domain", 3, 1),
    (".", "550 5.1.1 no such user", 3, 1),
    ("RCPT", "552 5.2.2 mailbox full", 3, 1),
    ("RCPT", "452 4.2.2 mailbox full", None, 1),
    ("RCPT", "550 5.7.1 we do not like what you send", 3, 0),
    (".", "554 5.7.1 spam", 3, 0),
    (".", "552 5.3.4 too big", 3, 0),
    ("RCPT", "450 4.7.1 greylisted", None, 0),
    ("MAIL", "550 5.7.1 your sender is unknown", None, 2),
    (".", "550 5.7.26 neither SPF nor DKIM passed", None, 2),
    ("RCPT", "550 5.7.23 SPF validation failed", None, 2),
    ("MAIL", "530 5.7.0 sign in first", None, 2),
    ("RCPT", "535 5.7.8 sign in again", None, 2),
    ("RCPT", "421 4.3.2 closing", None, 2),
    ("DATA", "421 closing", None, 2),
    (".", "421 closing", None, 2),
    (".", "451 4.3.0 try later", None, 2),
    ("RCPT", "451 4.4.1 no route", None, 2),
    ("DATA", "451 local error", None, 0),
]


def test_each_kind_of_refusal_ends_it_or_not_and_says_whose_fault_it_was(t):
    """2.4: the basic code decides; the enhanced one says why. Policy and spam are no reason to give up an address, sign-in
    and DMARC none to give up a message (postal: SMTPAuthenticationError spent the tries of every message)."""
    once = []  # the next refusal to give

    def reply(what, *_):
        return once.pop()[1].encode() if once and once[0][0] == what else True
    server = Mailbox(t, reply)
    _, rows = against(t, server)
    tries = "SELECT outcome, level FROM pawl.attempts WHERE notification_id = %s ORDER BY step"
    for i, (phase, said, state, level) in enumerate(REFUSALS):
        for kind in ORDERS:
            once.append((phase, said))
            nid = rows.add(kind, f"r{i}{kind}@example.net")
            ended(rows, nid, state or 2)
            eq(rows.cluster.query(tries, (nid,)), [(2, level)] if state else [(3, level), (1, 0)], f"{kind}: {phase}: {said}")
            eq(rows.cluster.value("SELECT code FROM pawl.attempts WHERE notification_id = %s AND step = 1", (nid,)), int(said[:3]))


def test_what_expired_while_nobody_sent_stays_at_home(t):
    """29 (listmonk#1801): a server restored from a snapshot sent the campaigns of last week."""
    server = Mailbox(t, lambda what, address, _: b"451 4.7.1 later" if what == "RCPT" and address.startswith("waits") else True)
    w, rows = against(t, server, dispatchers=0)
    late = [rows.add(kind, f"late{kind}@example.net", expires="-1 second") for kind in ORDERS]
    no_time = [rows.add(kind, f"old{kind}@example.net", expires="-3 hours", retry="-2 hours") for kind in ORDERS]
    good = [rows.add(kind, f"good{kind}@example.net", expires="1 hour") for kind in ORDERS]
    waits = [rows.add(kind, f"waits{kind}@example.net", expires="1500 ms") for kind in ORDERS]
    w.dispatcher()
    for nid in late + no_time + waits:
        ended(rows, nid, 4)
    for nid in good:
        ended(rows, nid, 2)
    eq(server.counts(), {f"good{kind}@example.net": 1 for kind in ORDERS})


def test_a_mail_that_a_kept_connection_can_t_carry_is_not_judged_by_the_answer_to_the_one_before(t):
    def script(c):
        c.greet(b"250 script.test\r\n")
        while True:
            c.take(reply=b"550 5.1.1 no such user here")
    p = peer(t, script)
    w = t.pawl(t.migrated_cluster(), policy=POLICY.replace("@SMTP_PROVIDER@", f'{{ driver: smtp, url: "{p.url}", tls: none }}'))
    rows = Rows(w)
    w.dispatcher()
    for address in ("gone@example.org", "j\u00fcrgen@example.org"):
        ended(rows, rows.add("least", address), 3)
    eq(rows.cluster.query("SELECT address FROM pawl.suppressions"), [("gone@example.org",)])
