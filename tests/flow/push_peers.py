"""Peers of the push drivers: nginx as APNs and FCM, and an HTTP/2 server of raw frames that misbehaves."""
import json
import os
import socket
import ssl
import struct
import threading

from harness import eventually, tool
from kit import procs
from kit.https import Authority

TEMPLATE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "nginx_push.conf")


class Nginx:
    """.apns and .fcm are its bases, .ca the file that vouches for both; hits(..) reads its access log."""

    def __init__(self, t, requests=1000, streams=128, life=3599):
        program = tool("usr/sbin/nginx")
        if not program:
            t.skip("nginx is not here")
        self.dir = procs.scratch("pawl-nginx-")
        authority = Authority()
        key = authority.key("nginx")
        self.ca = authority.file
        for folder in ("logs", "tmp"):
            os.mkdir(os.path.join(self.dir, folder))
        self.write("c.pem", authority.certificate(key, ["localhost"]))
        with open(key.path, encoding="ascii") as f:
            self.write("k.pem", f.read())
        apns, fcm = procs.free_ports(), procs.free_ports()
        self.apns, self.fcm = f"https://localhost:{apns}", f"https://localhost:{fcm}"
        with open(TEMPLATE, encoding="utf-8") as f:
            text = f.read()
        for name, value in {"REQUESTS": requests, "STREAMS": streams, "LIFE": life, "APNS": apns, "FCM": fcm}.items():
            text = text.replace(f"@{name}@", str(value))
        self.write("nginx.conf", ("user root;\n" if os.getuid() == 0 else "") + text)
        self.proc = procs.Proc("nginx", [program, "-p", self.dir, "-c", "nginx.conf", "-e", "logs/error.log"])
        eventually(lambda: self.listens(apns) and self.listens(fcm), 10, "nginx listens")

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
            f.write(text)

    @staticmethod
    def listens(port):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0

    def hits(self, **want):
        """The requests of its log whose fields are these."""
        rows = [json.loads(line) for line in procs.whole_lines(os.path.join(self.dir, "logs", "a.log"))]
        return [row for row in rows if all(row[k] == v for k, v in want.items())]

    def close(self):
        self.proc.sigterm()
        self.proc.wait()


DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
REFUSED_STREAM, PROTOCOL_ERROR = 7, 1
STATUS = {200: b"\x88", 500: b"\x8e"}  # HPACK's static table


class Http2Peer:
    """Each whole request runs script(connection, stream, n): n counts from 0 over all connections. .bodies is the log."""

    def __init__(self, certificate, key, script, streams=100):
        self.script, self.bodies, self.streams, self.lock = script, [], streams, threading.Lock()
        self.connections, self.most_open = 0, 0
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"https://localhost:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            sock = self.context.wrap_socket(sock, server_side=True)
            self.connections += 1
            Http2Connection(self, sock).run()
        except (OSError, EOFError):
            pass
        finally:
            sock.close()

    def took(self, body):
        with self.lock:
            self.bodies.append(body)
            return len(self.bodies) - 1

    def keys(self):
        """How often each delivery's body came whole."""
        counts = {}
        for body in self.bodies:
            key = json.loads(body)["pawl"]
            counts[key] = counts.get(key, 0) + 1
        return counts

    def close(self):
        self.listener.close()


class Http2Connection:
    def __init__(self, peer, sock):
        self.peer, self.sock, self.open_streams = peer, sock, {}
        self.file = sock.makefile("rb")
        self.ended, self.lock = False, threading.Lock()
        self.highest, self.last = 0, None  # stream that was taken; said in a GOAWAY: for scripts

    def frame(self, kind, flags, stream, payload=b""):
        with self.lock:
            self.sock.sendall(struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload)

    def read(self, n):
        data = self.file.read(n)
        if len(data) < n:
            raise EOFError
        return data

    def run(self):
        self.read(24)  # the client's preface
        self.frame(SETTINGS, 0, 0, struct.pack(">HI", 3, self.peer.streams))
        while not self.ended:
            head = self.read(9)
            payload = self.read(int.from_bytes(head[:3], "big"))
            self.take(head[3], head[4], int.from_bytes(head[5:], "big") & 0x7fffffff, payload)

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & 1:
            self.frame(SETTINGS, 1, 0)
        elif kind == PING and not flags & 1:
            self.frame(PING, 1, 0, payload)
        elif kind == HEADERS:
            self.open_streams[stream] = b""
            self.peer.most_open = max(self.peer.most_open, len(self.open_streams))
            if len(self.open_streams) > self.peer.streams:
                self.reset(stream, REFUSED_STREAM)
        elif kind == DATA and stream in self.open_streams:
            self.open_streams[stream] += payload
        if kind in (DATA, HEADERS) and flags & 1 and stream in self.open_streams:
            n = self.peer.took(self.open_streams[stream])
            self.peer.script(self, stream, n)

    def say(self, stream, status=200):
        self.open_streams.pop(stream, None)
        self.frame(HEADERS, 5, stream, STATUS[status])

    def reset(self, stream, code):
        self.open_streams.pop(stream, None)
        self.frame(RST, 0, stream, struct.pack(">I", code))

    def goaway(self, last, code=0):
        self.frame(GOAWAY, 0, 0, struct.pack(">II", last, code))

    def break_off(self):
        """A RST of TCP."""
        self.ended = True
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.file.close()
        self.sock.close()

    def finish(self):
        """An orderly end: all that was said arrives, since nothing unread is left that would make the end a reset."""
        self.ended = True
        self.sock.shutdown(socket.SHUT_WR)
        while self.sock.recv(65536):
            pass

    def cut(self):
        self.ended = True
        self.sock.shutdown(socket.SHUT_RDWR)
