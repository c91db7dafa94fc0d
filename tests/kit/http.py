"""HTTP/1.1 clients: many requests at once over keep-alive connections, and raw bytes over a socket."""
import asyncio
import http.client
import socket
import threading
import time
from dataclasses import dataclass, field

ANSWER_TIMEOUT_S = 30


@dataclass
class Answer:
    """status 0: no answer came (error says why). tries counts how often the request was posted."""
    status: int = 0
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    ms: float = 0.0
    error: str = ""
    tries: int = 1
    request: object = None
    at: float = 0.0


def wire(request, port, close=False):
    """The bytes of a request."""
    lines = [f"{request.method} {request.path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Length: {len(request.body)}"]
    lines += [f"{k}: {v}" for k, v in request.headers.items()]
    if close:
        lines.append("Connection: close")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + request.body


async def _read_answer(reader):
    """(answer, keep-alive?) of the next response on the connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    answer = Answer(status=int(head[0].split(" ")[1]))
    answer.headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
    if "chunked" in answer.headers.get("transfer-encoding", ""):
        while True:
            size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
            answer.body += (await reader.readexactly(size + 2))[:size]
            if size == 0:
                break
    elif answer.status == 204:
        pass  # it has none (RFC 9110 section 15.3.5)
    elif "content-length" in answer.headers:
        answer.body = await reader.readexactly(int(answer.headers["content-length"]))
    else:
        answer.body = await reader.read()
        return answer, False
    return answer, answer.headers.get("connection", "").lower() != "close"


class _Connection:
    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def post(self, request):
        start = time.monotonic()
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            self.writer.write(wire(request, self.port))
            answer, keep = await asyncio.wait_for(_read_answer(self.reader), ANSWER_TIMEOUT_S)
        except (OSError, EOFError, ValueError, IndexError, asyncio.TimeoutError) as e:
            answer, keep = Answer(error=repr(e)), False
        if not keep:
            self.close()
        answer.ms, answer.request, answer.at = (time.monotonic() - start) * 1000, request, time.time()
        return answer

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


async def _worker(queue, ports, results, again, stop):
    """Posts requests one after the other; with again it repeats, as a provider does, what was not acknowledged."""
    conns = {}
    while queue and not stop.is_set():
        index, request = queue.pop()
        tries = 0
        while True:
            port = request.port or ports[(index + tries) % len(ports)]
            answer = await conns.setdefault(port, _Connection(port)).post(request)
            tries += 1
            answer.tries = tries
            if not again or stop.is_set() or (answer.status and answer.status != 503):
                break
            await asyncio.sleep(0.05)
        results[index] = answer
    for conn in conns.values():
        conn.close()


class Load:
    """Requests being posted by a thread of its own; .answers fills up, in the order of the requests."""

    def __init__(self, requests, ports, connections=16, again=False):
        self.requests = list(requests)
        self.answers = [None] * len(self.requests)
        self._stop = threading.Event()
        self._failure = None
        self._thread = threading.Thread(target=self._run, args=(list(ports), connections, again), daemon=True)
        self._thread.start()

    def _run(self, ports, connections, again):
        async def go():
            queue = list(enumerate(self.requests))[::-1]
            await asyncio.gather(*(_worker(queue, ports, self.answers, again, self._stop) for _ in range(connections)))
        try:
            asyncio.run(go())
        except BaseException as e:  # pylint: disable=broad-except
            self._failure = e

    def done(self):
        """How many requests have their last answer."""
        return sum(a is not None for a in self.answers)

    def acknowledged(self):
        """The requests that were answered 2xx so far."""
        return [a.request for a in self.answers if a is not None and 200 <= a.status < 300]

    def stop(self):
        """Posts nothing further."""
        self._stop.set()

    def result(self, timeout=60):
        """Waits for the end and returns the answers in the order of the requests (None: not posted after stop())."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            self.stop()
            raise AssertionError(f"only {self.done()} of {len(self.requests)} requests were answered within {timeout} s")
        if self._failure:
            raise self._failure
        return self.answers


def post_all(requests, ports, connections=16, again=False, timeout=60):
    """Posts all requests over so many keep-alive connections, spread over the ports in turn; again: until not 503."""
    return Load(requests, ports, connections, again).result(timeout)


def get(port, path, timeout=5):
    """One GET on loopback; status 0 when nothing answers."""
    try:
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        conn.request("GET", path)
        r = conn.getresponse()
        return Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read())
    except (OSError, http.client.HTTPException) as e:
        return Answer(error=repr(e))


class RawSocket:
    """Bytes as they are, for malformed requests: send pieces, read what comes until the peer closes or time is up."""

    def __init__(self, port, timeout=5):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout)
        self.timeout = timeout

    def send(self, data):
        self.sock.sendall(data)
        return self

    def read(self, until_close=False, timeout=None):
        """The answer's bytes: up to the end of one response head (all until the close if asked); b"" = closed at once."""
        self.sock.settimeout(timeout or self.timeout)
        got = b""
        try:
            while until_close or b"\r\n\r\n" not in got:
                piece = self.sock.recv(65536)
                if not piece:
                    break
                got += piece
        except TimeoutError:
            pass
        except ConnectionResetError:
            pass
        return got

    def status(self, **how):
        """The status code of the next answer, 0 for none."""
        got = self.read(**how).split(b" ", 2)
        return int(got[1]) if len(got) > 1 and got[0].startswith(b"HTTP/") else 0

    def closed_by_peer(self, timeout=3):
        """True when the peer closes within timeout seconds."""
        self.sock.settimeout(timeout)
        try:
            while self.sock.recv(65536):
                pass
            return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def close(self):
        self.sock.close()
