"""A scripted HTTP peer on a raw socket, with or without TLS: its log says what arrived, whatever is answered."""
import json
import socket
import ssl
import threading
import time

OK = b'{"id":"re_1"}'


class HttpPeer:
    """Each request runs script(connection, request), numbered over all connections from 0; .requests is the log.
    tls: (chain, key) as PEM files; anywhere: at every address of the machine, not at 127.0.0.1 alone."""

    def __init__(self, script, tls=None, anywhere=False):
        self.script, self.requests, self.connections, self.broken = script, [], [], 0
        self.lock = threading.Lock()
        self.tls = None
        if tls:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*tls)
        family = socket.AF_INET6 if anywhere else socket.AF_INET
        self.listener = socket.create_server(("" if anywhere else "127.0.0.1", 0), backlog=128, family=family, dualstack_ipv6=anywhere)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            connection = HttpConnection(self, sock)
            self.connections.append(connection)
            with connection.file:  # a socket with a file stays open behind its close()
                connection.run()
        except (OSError, EOFError, ValueError):
            self.broken += 1
        finally:
            sock.close()

    def took(self, connection, request):
        with self.lock:
            request.update(n=len(self.requests), refused=False, at=time.monotonic())
            request["connection"] = self.connections.index(connection)
            self.requests.append(request)

    def bodies(self):
        """How often each body was taken whole, by the delivery's key in it."""
        counts = {}
        for request in self.requests:
            key = request["key"]
            counts[key] = counts.get(key, 0) + 1
        return counts

    def by_rcpt(self):
        """How often the mail to each recipient may have been taken: not what was answered with 3xx or 4xx (Resend's form)."""
        counts = {}
        for request in [r for r in self.requests if not r["refused"]]:
            for to in request["json"]["to"]:
                counts[to] = counts.get(to, 0) + 1
        return counts

    def close(self):
        self.listener.close()
        for connection in self.connections:
            connection.cut()


class HttpConnection:
    def __init__(self, peer, sock):
        self.peer, self.sock, self.open, self.request = peer, sock, True, None
        self.file = sock.makefile("rb")

    def run(self):
        while self.open:
            request = self._read()
            if request is None:
                return
            self.request = request
            self.peer.took(self, request)
            self.peer.script(self, request)

    def _read(self):
        first = self.file.readline()
        if not first:
            return None
        headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            if not line:
                raise EOFError
            name, _, value = line.decode().partition(":")
            headers.setdefault(name.lower(), []).append(value.strip())
        wanted = int(headers.get("content-length", ["0"])[0])
        body = self.file.read(wanted)
        if len(body) < wanted:
            raise EOFError
        key = (headers.get("idempotency-key") or [None])[0]
        method, path, _ = first.decode().split(" ", 2)
        is_json = body and "json" in headers.get("content-type", [""])[0]  # what is encrypted may begin with { too
        return {"method": method, "path": path, "headers": headers, "body": body, "key": key, "json": json.loads(body) if is_json else None}

    def say(self, status=200, body=OK, *headers, length=None):
        self.request["refused"] = 300 <= status < 500
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
        self.sock.sendall("\r\n".join(lines).encode() + body)

    def cut(self):
        self.open = False
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def reset(self):
        self.open = False
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.file.close()
        self.sock.close()
