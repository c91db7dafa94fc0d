"""A scripted SMTP peer on a raw socket, for what no well-behaved server library does."""
import socket
import threading

GREETING = b"220 script.test\r\n"
OFFERS = b"250-script.test\r\n250-SIZE 1000000\r\n250 SMTPUTF8\r\n"


class ScriptedPeer:
    """Each connection runs script(connection); what was said on it is kept in .connections[i].lines."""

    def __init__(self, script):
        self.script, self.connections = script, []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            connection = Connection(sock, len(self.connections))
            self.connections.append(connection)
            threading.Thread(target=connection.run, args=(self.script,), daemon=True).start()

    def bodies(self):
        """All messages that were read up to their final dot, over all connections."""
        return [body for c in self.connections for body in c.bodies]

    def lines(self):
        return [c.lines for c in self.connections]

    def close(self):
        self.listener.close()
        for c in self.connections:
            c.close()


class Connection:
    def __init__(self, sock, number):
        self.sock, self.number, self.lines, self.bodies = sock, number, [], []
        self.file = sock.makefile("rb")

    def run(self, script):
        try:
            script(self)
        except (OSError, EOFError, ValueError):
            pass
        self.close()

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def say(self, line):
        self.sock.sendall(line if line.endswith(b"\n") else line + b"\r\n")

    def hear(self):
        line = self.file.readline()
        if not line:
            raise EOFError
        self.lines.append(line.decode("latin-1").rstrip("\r\n"))
        return line

    def greet(self, offers=OFFERS):
        self.say(GREETING)
        self.hear()
        self.say(offers)

    def body(self):
        """Reads a message up to its final dot."""
        lines = []
        while True:
            line = self.file.readline()
            if not line:
                raise EOFError
            if line == b".\r\n":
                break
            lines.append(line)
        self.bodies.append(b"".join(lines))

    def envelope(self):
        """Takes MAIL, RCPT and DATA; the body is next."""
        for reply in (b"250 ok", b"250 ok", b"354 go on"):
            self.hear()
            self.say(reply)

    def take(self, reply=b"250 2.0.0 ok: queued as Q1"):
        """One whole transaction, answered with reply (None = not at all)."""
        self.envelope()
        self.body()
        if reply:
            self.say(reply)
