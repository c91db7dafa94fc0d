"""Send: the dispatcher as it ships against libcurl alone, which sends the same bytes to the same server and keeps nothing."""
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "dispatch"))

# pylint: disable=wrong-import-position
from bench_dispatch import Sink, memory, whole_program  # noqa: E402
from frame import procs, tool  # noqa: E402
from sides import PawlSide  # noqa: E402

TITLE = "Send: to a provider by HTTP and by SMTP, everything recorded"
HTTP_CONNECTIONS, SMTP_CONNECTIONS = 32, 20
IN_FLIGHT, SLOW_S = 500, 4.0


class HttpSink(Sink):
    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class HttpSide(PawlSide):
    """A dispatcher whose mails go to Resend's API at a sink."""

    def __init__(self, cluster, name, sink, transfers):
        self.row = f'{{ driver: resend, token: credential:api, url: "{sink.url}", concurrency: 1000 }}'
        super().__init__(cluster, name, sink, transfers=transfers, edit=lambda text: text.replace("@SMTP_PROVIDER@", self.row))


class Catcher(BaseHTTPRequestHandler):
    """Keeps the body of the last request."""
    body = b""
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        Catcher.body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "13")
        self.end_headers()
        self.wfile.write(b'{"id":"re_1"}')

    def log_message(self, *_args):
        pass


def caught_request(cluster):
    """A file with the body of one request as the dispatcher makes it."""
    server = HTTPServer(("127.0.0.1", 0), Catcher)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.port, server.url = server.server_port, f"http://127.0.0.1:{server.server_port}"
    side = HttpSide(cluster, "caught", server, 1)
    side.fill(1)
    program = side.pawl.dispatcher()
    procs.eventually(lambda: Catcher.body, 30, "one mail leaves")
    program.stop()
    server.shutdown()
    return kept("request.json", Catcher.body)


def caught_mail(cluster):
    """A file with one mail as the dispatcher makes it: the server is pawl's own sink, which keeps mails."""
    sink = Sink("sink", [tool("tests/bench/dispatch/sink"), "127.0.0.1:{port}", "{dir}"])
    side = PawlSide(cluster, "caught", sink=sink, transfers=1)
    side.fill(1)
    program = side.pawl.dispatcher()
    found = procs.eventually(lambda: [os.path.join(at, f) for at, _, names in os.walk(sink.dir) for f in names if f.endswith(".eml")],
                             30, "one mail leaves")
    program.stop()
    sink.close()
    with open(found[0], "rb") as f:
        return kept("mail.eml", f.read())


def kept(name, data):
    path = os.path.join(procs.scratch("pawl-bench-"), name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def bare(sink, path, connections):
    def play(seconds):
        argv = [tool("tests/bench/send/bare"), sink.url, path, str(connections), str(int(seconds * 1000))]
        done = json.loads(subprocess.run(argv, stdout=subprocess.PIPE, check=True, timeout=seconds + 60).stdout)
        return {"jobs/s": done["sent"] / done["seconds"]}
    return play


def by_http(bench, cluster, n):
    sink = HttpSink("http-sink", [tool("tests/bench/send/http_sink"), "{port}"])
    side = HttpSide(cluster, "http", sink, HTTP_CONNECTIONS)
    path = caught_request(cluster)
    bench.interleave("http", f"By HTTP, {HTTP_CONNECTIONS} connections",
                     {"pawl-http": whole_program(side, n), "bare-http": bare(sink, path, HTTP_CONNECTIONS)})
    bench.ratio("By HTTP: Pawl against a bare loop of libcurl", ("http", "pawl-http"), ("http", "bare-http"), "jobs/s", at_least=0.4)
    bench.note(f"A request's body has {os.path.getsize(path):,} bytes: a text and an HTML part, rendered and stored by Pawl, the same bytes"
               " each time by the bare loop.")
    sink.close()


def by_smtp(bench, cluster, n):
    sink = Sink("sink", [tool("tests/bench/dispatch/sink"), "127.0.0.1:{port}", "{dir}"])
    side = PawlSide(cluster, "smtp", sink=sink, transfers=SMTP_CONNECTIONS)
    path = caught_mail(cluster)
    bench.interleave("smtp", f"By SMTP, {SMTP_CONNECTIONS} connections",
                     {"pawl-smtp": whole_program(side, n), "bare-smtp": bare(sink, path, SMTP_CONNECTIONS)})
    bench.ratio("By SMTP: Pawl against a bare loop of libcurl", ("smtp", "pawl-smtp"), ("smtp", "bare-smtp"), "jobs/s", at_least=0.7)
    bench.note(f"A mail has {os.path.getsize(path):,} bytes.")
    sink.close()


def in_memory(bench, cluster, n):
    sink = HttpSink("slow-http", [sys.executable, os.path.join(HERE, "slow_http.py"), "{port}", str(SLOW_S)])
    side = HttpSide(cluster, "many", sink, IN_FLIGHT)
    side.fill(n)
    top, flying = memory(side, 2 * SLOW_S, IN_FLIGHT)
    bench.value(f"The dispatcher's memory at most, with {flying:.0f} requests in flight and {n:,} due", top, "MB", below=48)
    sink.close()


def run(bench):
    many, some = (20000, 10000) if bench.quick else (1000000, 100000)
    cluster = bench.cluster()
    bench.about("pawl-http", "Pawl's dispatcher: claimed, rendered, stored, marked, sent as to Resend, recorded.")
    bench.about("bare-http", "`curl_multi` alone: the same POST again and again, its reply thrown away.")
    bench.about("pawl-smtp", "Pawl's dispatcher, by SMTP.")
    bench.about("bare-smtp", "`curl_multi` alone: the same mail again and again.")
    by_http(bench, cluster, some)
    by_smtp(bench, cluster, some)
    in_memory(bench, cluster, many)
    bench.note("Dispatcher or loop, server and PostgreSQL share the machine's cores. A dispatcher writes two transactions for each"
               " batch of mails to the disk, the bare loop nothing.")
    bench.note("Of a mail by HTTP about half of the dispatcher's time is libcurl and the sockets, which the bare loop takes too; a third reads"
               " values, expands templates, writes content and parameters, the rest is transfers' beginnings and ends. The server takes as much"
               " again, so that both cores are nearly full: two claims at once gain a third where sends are free, a tenth here.")
