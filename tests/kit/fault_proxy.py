"""A TCP proxy before a peer that spoils one reply in so many, in each of the ways in which networks and peers do.

It sees bytes, no protocol: a reply is what the peer sends after it was sent something. `spoils(reply, before)` says whether this
one may be spoilt, `before` being the reply before it on this connection (None = none)."""
import collections
import random
import socket
import struct
import threading
import time

CHUNK = 65536


def drop(conn, _):
    conn.end()


def reset(conn, _):
    conn.reset()


def late(conn, reply):
    time.sleep(0.4)
    conn.client.sendall(reply)


def twice(conn, reply):
    conn.client.sendall(reply + reply)


def reset_after_status(conn, reply):
    conn.client.sendall(reply[:12])
    conn.reset()


def half_close(conn, _):
    conn.client.shutdown(socket.SHUT_WR)


FAULTS = [drop, reset, late, twice, reset_after_status, half_close]


class FaultProxy:
    """.port listens; .done counts the faults by name; every=0: none."""

    def __init__(self, port, every=5, spoils=lambda reply, before: True, seed=1):
        self.to, self.every, self.spoils = port, every, spoils
        self.random, self.lock, self.done = random.Random(seed), threading.Lock(), collections.Counter()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                Connection(self, client, socket.create_connection(("127.0.0.1", self.to)))
            except OSError:
                if self.listener.fileno() < 0:
                    return

    def pick(self):
        """The fault of this reply, or None."""
        with self.lock:
            if not self.every or self.random.randrange(self.every):
                return None
            fault = self.random.choice(FAULTS)
            self.done[fault.__name__] += 1
            return fault

    def close(self):
        self.listener.close()


class Connection:
    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server, self.resets = proxy, client, server, False
        for pump in (self._requests, self._replies):
            threading.Thread(target=self._until_closed, args=(pump,), daemon=True).start()

    def _until_closed(self, pump):
        try:
            pump()
        except (OSError, ValueError):
            pass
        self.end()

    def _requests(self):
        while data := self.client.recv(CHUNK):
            self.server.sendall(data)

    def _replies(self):
        before = None
        while reply := self.server.recv(CHUNK):
            fault = self.proxy.pick() if self.proxy.spoils(reply, before) else None
            if fault:
                fault(self, reply)
            else:
                self.client.sendall(reply)
            before = reply

    def end(self):
        for sock in (self.client, self.server):
            # A socket that another thread reads stays open behind close(), so the reader is woken; without a FIN, where a RST is to come.
            try:
                sock.shutdown(socket.SHUT_RD if self.resets and sock is self.client else socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

    def reset(self):
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.resets = True
        self.end()
