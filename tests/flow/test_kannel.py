"""Kannel, a real SMS gateway, with its fake network: driver `http` as docs/sms.md writes it."""
import os
import subprocess
import sys
import urllib.parse

from harness import *

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
# pylint: disable=wrong-import-position
from channels_rig import Shop  # noqa: E402

CONFIG = """group = core
admin-port = {0}
admin-password = {1}
admin-interface = 127.0.0.1
smsbox-port = {2}
smsbox-interface = 127.0.0.1
box-allow-ip = "127.0.0.1"
dlr-storage = internal

group = smsc
smsc = fake
smsc-id = FAKE
port = {3}
connect-allow-ip = 127.0.0.1

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = {2}
sendsms-port = {4}
sendsms-interface = 127.0.0.1

group = sendsms-user
username = shop
password = {1}
max-messages = 10
concatenation = true

group = sms-service
keyword = default
text = "no"
"""


class Kannel:
    """bearerbox, smsbox and fakesmsc of Debian's packages; .got() is what the network took."""

    def __init__(self, t, password):
        paths = [t.need_tool(p) for p in ("usr/sbin/bearerbox", "usr/sbin/smsbox", "usr/lib/kannel/test/fakesmsc",
                                          "usr/lib/x86_64-linux-gnu/libmariadb.so.3", "usr/lib/x86_64-linux-gnu/libct.so.4")]
        folder, first = scratch("pawl-kannel-"), free_ports(4)
        config = os.path.join(folder, "kannel.conf")
        with open(config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(first, password, first + 1, first + 2, first + 3))
        self.port = first + 3
        env = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(paths[3]), "LC_ALL": "C.UTF-8"}
        self.procs = [Proc("bearerbox", [paths[0], config], env=env, cwd=folder)]
        t.keep(self)
        eventually(lambda: self.listens(first + 1), 20, "bearerbox listens")
        self.procs.append(Proc("smsbox", [paths[1], config], env=env, cwd=folder))
        eventually(lambda: self.listens(self.port), 20, "smsbox listens")
        # It ends with its standard input.
        keep_open = "sleep 600 | exec " + " ".join([paths[2], "-H", "127.0.0.1", "-r", str(first + 2), "-m", "0"])
        self.network = Proc("fakesmsc", ["sh", "-c", keep_open], env=env, cwd=folder)
        self.procs.append(self.network)
        eventually(lambda: "Connecting" in self.network.output(), 20, "the network is there")

    @staticmethod
    def listens(port):
        return subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], capture_output=True, check=False).returncode == 0

    def got(self):
        return [line.partition("<")[2].rstrip(">") for line in whole_lines(self.network.log_path) if "Got message" in line]

    def close(self):
        for proc in reversed(self.procs):
            proc.signal_tree(9)
            proc.wait(10)


def test_kannel_hands_on_what_it_is_given(t):
    kannel = Kannel(t, secret("kannel"))
    url = (f"http://127.0.0.1:{kannel.port}/cgi-bin/sendsms?username=shop&password={{token}}&to={{to}}&from={{from}}&text={{text}}"
           "&charset=UTF-8&coding={coding}")
    channel = (f'  sms: {{ from: "+4915100000000", providers: [{{ driver: http, url: "{url}", token: credential:kannel,'
               " request: { method: GET, success: [202] } }] }")
    texts = {"least": "50 \u20ac & 100 % of {{order.id}}?", "most": "\U0001f600 {{order.id}}"}
    shop = Shop(t, channel, "sms", prepare=lambda w: [w.set_template(k, "text", v + "\n", "sms") for k, v in texts.items()])
    plain, emoji = shop.order("least", phone="+4915112345671"), shop.order("most", phone="+4915112345672")
    shop.ended(plain, "accepted")
    shop.ended(emoji, "accepted")
    eventually(lambda: len(kannel.got()) == 2, 10)
    first, second = sorted(kannel.got(), key=lambda m: "345672" in m)
    eq(first, f"+4915100000000 +4915112345671 text 50 \u20ac & 100 % of {plain}?")
    head, _, coded = second.rpartition(" ")
    eq((head, urllib.parse.unquote_to_bytes(coded.replace("+", " ")).decode("utf-16-be")),
       ("+4915100000000 +4915112345672 ucs-2", f"\U0001f600 {emoji}"))
    shop.w.set_credential("kannel", "another")
    shop.w.dispatchers[0].proc.signal(1)
    eventually(lambda: shop.w.dispatchers[0].log().count("policy.loaded") > 1, 10)
    order = shop.order("least", phone="+4915112345673")
    eventually(lambda: (3, 2, 403) in [a[:3] for a in shop.attempts(order)], 10, "a wrong password is about the provider")
    eq(len(kannel.got()), 2)
