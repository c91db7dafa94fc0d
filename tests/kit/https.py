"""A certificate authority of the tests' own, keys that sign, and an HTTPS server that publishes them. openssl does the cryptography."""
import base64
import http.server
import json
import os
import ssl
import subprocess
import threading
import time

from . import procs


def openssl(*args, given=None):
    done = subprocess.run(["openssl", *args], input=given, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {' '.join(args)}: {done.stderr.decode()}")
    return done.stdout


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Authority:
    """Issues certificates; .file is its own."""

    def __init__(self, name="Pawl test CA"):
        self.dir = procs.scratch("pawl-ca-")
        self.file = self.path("ca.pem")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", f"/CN={name}", "-keyout", self.path("ca.key"),
                "-out", self.file)

    def path(self, name):
        return os.path.join(self.dir, name)

    def key(self, name, *how):
        path = self.path(name + ".key")
        openssl("genpkey", *(how or ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")), "-out", path)
        return Key(path)

    def certificate(self, key, names, days=30):
        """The PEM of a certificate of these names; days below zero: one that has run out."""
        request, config = key.path + ".csr", key.path + ".ext"
        with open(config, "w", encoding="utf-8") as f:
            f.write("subjectAltName=" + ",".join("DNS:" + n for n in names) + "\n")
        openssl("req", "-new", "-key", key.path, "-subj", f"/CN={names[0]}", "-out", request)
        day = lambda n: time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + n * 86400))  # noqa: E731
        return self._sign(request, config, day(min(days - 1, -1)), day(days)).decode()

    def _sign(self, request, config, start, end):
        for name, text in (("index.txt", ""), ("serial", os.urandom(8).hex() + "\n")):
            with open(self.path(name), "w", encoding="ascii") as f:
                f.write(text)
        with open(self.path("ca.cnf"), "w", encoding="ascii") as f:
            f.write(f"[ca]\ndefault_ca=c\n[c]\ndatabase={self.path('index.txt')}\nserial={self.path('serial')}\nnew_certs_dir={self.dir}\n"
                    f"certificate={self.file}\nprivate_key={self.path('ca.key')}\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
        return openssl("ca", "-batch", "-notext", "-config", self.path("ca.cnf"), "-in", request, "-extfile", config, "-startdate", start,
                       "-enddate", end)


class Key:
    """A private key in a file."""

    def __init__(self, path):
        self.path = path

    def sign(self, data, digest="sha256"):
        return openssl("dgst", "-" + digest, "-sign", self.path, given=data)

    def jwk(self, kid):
        """Its public half; an EC key is on P-256."""
        der = openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")
        if len(der) < 100:
            return {"kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "x": url64(der[-64:-32]), "y": url64(der[-32:])}
        text = openssl("rsa", "-in", self.path, "-noout", "-modulus").decode()
        return {"kty": "RSA", "kid": kid, "use": "sig", "n": url64(bytes.fromhex(text.split("=")[1].strip())), "e": "AQAB"}

    def jwt(self, kid, claims, alg="ES256"):
        """A signed token; an ES256 signature is r and s (RFC 7518 section 3.4)."""
        part = lambda v: url64(json.dumps(v).encode())  # noqa: E731
        signed = part({"alg": alg, "kid": kid, "typ": "JWT"}) + "." + part(claims)
        made = self.sign(signed.encode())
        return signed + "." + url64(raw_pair(made) if alg == "ES256" else made)


def raw_pair(der):
    """r and s of a DER signature, 32 bytes each."""
    n = der[3]
    r, s = der[4:4 + n], der[6 + n:]
    return b"".join(v.lstrip(b"\0").rjust(32, b"\0") for v in (r, s))


class HttpsServer:
    """GET path -> pages[path], which is bytes or (status, headers, bytes); .asked counts by path. Slow by .delay seconds."""

    def __init__(self, certificate, key, port=None):
        self.pages, self.asked, self.delay, self.lock = {}, {}, 0, threading.Lock()
        self.port = port or procs.free_ports()
        self.chain = key.path + ".chain"
        with open(self.chain, "w", encoding="ascii") as f:
            f.write(certificate)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.chain, key.path)
        self.start()

    def start(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, format, *args):  # pylint: disable=redefined-builtin
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.socket = self.context.wrap_socket(self.server.socket, server_side=True)
        self.server.handle_error = lambda *args: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler):
        with self.lock:
            self.asked[handler.path] = self.asked.get(handler.path, 0) + 1
        time.sleep(self.delay)
        page = self.pages.get(handler.path, (404, {}, b"no such page"))
        status, headers, body = page if isinstance(page, tuple) else (200, {}, page)
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def count(self, start=""):
        return sum(n for path, n in self.asked.items() if path.startswith(start))

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
