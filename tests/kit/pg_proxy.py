"""A proxy before PostgreSQL's socket that cuts a connection at a COMMIT: before it is passed on, as soon as it was, or after it
was carried out.

Pawl is pointed at it by t.world(cluster=t.keep(PgProxy(cluster))): everything else it hands on to the cluster."""
import os
import socket
import struct
import threading

from . import procs

SOCKET = ".s.PGSQL.5432"
LATER = "later"


class Rule:
    """Cuts every third transaction in which a statement with this text ran, so many times; carried_out: the COMMIT happens,
    its answer is lost; LATER: nobody waits for it, the connection is gone while the server works on it."""

    def __init__(self, text, times, carried_out):
        self.text, self.left, self.carried_out = text, times, carried_out
        self.seen = self.cut = 0

    def hits(self, statements):
        if self.left == 0 or not any(self.text in s for s in statements):
            return False
        self.seen += 1
        return self.seen % 3 == 1


class PgProxy:
    def __init__(self, cluster):
        self.cluster, self.dir = cluster, procs.scratch("pawl-pgproxy-")
        self.rules, self.lock = [], threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.dir, SOCKET))
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __getattr__(self, name):
        return getattr(self.cluster, name)

    def dsn(self, user="pawl", db=None):
        return self.cluster.dsn(user, db).replace(f"host={self.cluster.dir} ", f"host={self.dir} ")

    def cut(self, text, times, carried_out):
        rule = Rule(text, times, carried_out)
        self.rules.append(rule)
        return rule

    def take(self, statements):
        """The rule that this transaction falls under; one of its times is used up."""
        with self.lock:
            for rule in self.rules:
                if rule.hits(statements):
                    rule.left -= 1
                    return rule
        return None

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(os.path.join(self.cluster.dir, SOCKET))
            except OSError:
                client.close()
                continue
            Session(self, client, server)

    def close(self):
        self.listener.close()


class Session:
    """One connection; each direction has its thread, which ends with it."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.rule = None  # Once it is set, nothing more gets to the client.
        self.prepared, self.transaction, self.over = {}, [], threading.Event()
        for relay in (self._to_server, self._to_client):
            threading.Thread(target=self._run, args=(relay,), daemon=True).start()

    def _run(self, relay):
        try:
            relay()
        except (OSError, EOFError):
            pass
        self.end()

    def end(self):
        self.over.set()
        for sock in (self.client, self.server):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _to_server(self):
        source = self.client.makefile("rb")
        self.server.sendall(message(source, b""))  # The startup packet has no type.
        while True:
            kind = exactly(source, 1)
            packet = message(source, kind)
            if self._is_commit(kind, packet[5:]):
                self.rule = self.proxy.take(self.transaction)
            if self.rule and not self.rule.carried_out:
                self.rule.cut += 1
                return
            self.server.sendall(packet)
            if self.rule and self.rule.carried_out == LATER and kind == b"S":
                self.rule.cut += 1
                self._leave()
                return

    def _leave(self):
        """The client is gone once the COMMIT is under way (a trigger of the test sleeps in it), and the server does not notice:
        with its end closed too it would break off when it next writes."""
        procs.eventually(lambda: self.proxy.cluster.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), 10,
                         "the server is at the commit", every=0.01)
        self.client.shutdown(socket.SHUT_RDWR)
        self.over.wait(30)

    def _is_commit(self, kind, body):
        """Follows what is prepared and run; True for the message that says COMMIT."""
        if kind == b"P":
            name, query = body.split(b"\0", 2)[:2]
            self.prepared[name] = query.decode("utf-8", "replace")
            if query.startswith(b"BEGIN"):
                self.transaction = []
            return query == b"COMMIT"
        if kind == b"B":
            self.transaction.append(self.prepared.get(body.split(b"\0", 2)[1], ""))
        return False

    def _to_client(self):
        source = self.server.makefile("rb")
        committed = False
        while True:
            kind = exactly(source, 1)
            packet = message(source, kind)
            if self.rule is None:
                self.client.sendall(packet)
                continue
            committed = committed or (kind == b"C" and packet[5:] == b"COMMIT\0")
            if kind == b"Z":
                self.rule.cut += committed and self.rule.carried_out != LATER  # that one is counted
                return


def exactly(source, n):
    data = source.read(n)
    if len(data) < n:
        raise EOFError
    return data


def message(source, kind):
    """The next message, whole: its length counts itself but not the type."""
    head = exactly(source, 4)
    return kind + head + exactly(source, struct.unpack("!i", head)[0] - 4)
