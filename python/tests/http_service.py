"""A small HTTP service that the tests of the sessions ask: run as a process, it prints its port.

It is plain (threads, no gevent), so that nothing of the client under test can slow it down.
"""

import gzip
import hashlib
import json
import socket
import ssl
import struct
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Service(BaseHTTPRequestHandler):
    """Answers by the first segment of the path; what it does not know is echoed."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        """Say nothing."""

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.read_chunks() if self.chunked() else self.rfile.read(length)
        segments = urlsplit(self.path).path.strip("/").split("/")
        answer = getattr(self, "answer_" + segments[0].replace("-", "_"), self.answer_echo)
        answer(*segments[1:])

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any
    do_PURGE = handle_any

    def chunked(self):
        return "chunked" in (self.headers.get("Transfer-Encoding") or "")

    def read_chunks(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def query(self, name, default):
        return parse_qs(urlsplit(self.path).query).get(name, [default])[0]

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer_echo(self, *_):
        facts = {
            "method": self.command,
            "path": self.path,
            "headers": [[k.lower(), v] for k, v in self.headers.items() if k.lower() != "host"],
            "body": self.body.decode("latin-1"),
        }
        self.reply(200, json.dumps(facts).encode(), [("Content-Type", "application/json")])

    def answer_status(self, code, *_):
        self.reply(int(code), b"" if code in ("204", "304") else b"status %s" % code.encode())

    def answer_redirect(self, count, *_):
        left = int(count) - 1
        code = int(self.query("code", "302"))
        target = "/redirect/%d?code=%d" % (left, code) if left > 0 else "/echo"
        self.reply(code, b"moved", [("Location", target), ("Set-Cookie", f"hop={count}; Path=/")])

    def answer_loop(self, *_):
        self.reply(302, b"", [("Location", "/loop")])

    def answer_nowhere(self, kind, *_):
        targets = {"empty": "", "ftp": "ftp://host.test/", "no-url": "http://[x"}
        self.reply(302, b"moved", [("Location", targets[kind])])

    def answer_elsewhere(self, port, *_):
        self.reply(302, b"", [("Location", f"http://localhost:{port}/echo")])

    def answer_set_cookie(self, name, value, *_):
        self.reply(
            200,
            b"set",
            [("Set-Cookie", f"{name}={value}; Path=/"), ("Set-Cookie", "other=1; Path=/")],
        )

    def answer_delay(self, seconds, *_):
        time.sleep(float(seconds))
        self.reply(200, b"late")

    def answer_text(self, kind, *_):
        text = "Grüße aus Köln, straße " * 8
        if kind == "latin1":
            return self.reply(
                200, text.encode("latin-1"), [("Content-Type", "text/html; charset=ISO-8859-1")]
            )
        if kind == "utf8":
            return self.reply(200, text.encode(), [("Content-Type", "text/plain; charset=utf-8")])
        if kind == "no-charset":
            return self.reply(200, text.encode(), [("Content-Type", "text/html")])
        self.reply(200, text.encode())

    def answer_gzip(self, *_):
        self.reply(200, gzip.compress(b"compressed " * 100), [("Content-Encoding", "gzip")])

    def answer_bad_gzip(self, *_):
        self.reply(200, b"this is no gzip", [("Content-Encoding", "gzip")])

    def answer_deflate(self, kind, *_):
        bits = -zlib.MAX_WBITS if kind == "raw" else zlib.MAX_WBITS
        packer = zlib.compressobj(9, zlib.DEFLATED, bits)
        body = packer.compress(b"compressed " * 100) + packer.flush()
        self.reply(200, body, [("Content-Encoding", "deflate")])

    def answer_until_close(self, *_):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end")

    def answer_json(self, *_):
        self.reply(200, b'{"a": [1, 2, "\xc3\xbc"]}', [("Content-Type", "application/json")])

    def answer_lines(self, count, *_):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        for i in range(int(count)):
            line = b"line %d\n" % i
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

    def answer_host(self, *_):
        self.reply(200, self.headers["Host"].encode())

    def answer_peer(self, *_):
        """The common name of the client's certificate."""
        certificate = self.connection.getpeercert() or {}
        names = [v for part in certificate.get("subject", ()) for _, v in part]
        self.reply(200, " ".join(names).encode())

    def answer_link(self, *_):
        self.reply(200, b"", [("Link", '<http://x.test/2>; rel="next"')])

    def answer_basic(self, user, password, *_):
        import base64

        wanted = "Basic " + base64.b64encode((f"{user}:{password}").encode()).decode()
        if self.headers.get("Authorization") == wanted:
            return self.reply(200, b"welcome")
        self.reply(401, b"no", [("WWW-Authenticate", 'Basic realm="x"')])

    def answer_digest(self, user, password, *_):
        given = self.headers.get("Authorization") or ""
        if not given.startswith("Digest "):
            challenge = 'Digest realm="x", nonce="n1", qop="auth", algorithm=MD5'
            return self.reply(401, b"no", [("WWW-Authenticate", challenge)])
        parts = dict(p.strip().split("=", 1) for p in given[7:].split(","))
        parts = {k: v.strip('"') for k, v in parts.items()}
        first, second = md5(f"{user}:x:{password}"), md5(self.command + ":" + self.path)
        wanted = md5(":".join([first, "n1", parts["nc"], parts["cnonce"], "auth", second]))
        self.reply(200 if parts["response"] == wanted else 403, b"digest")

    def answer_close(self, *_):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def answer_reset(self, *_):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def answer_garbage(self, *_):
        self.close_connection = True
        self.wfile.write(b"this is not HTTP\r\n\r\n")

    def answer_short(self, *_):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")


def md5(text):
    """The digest that RFC 2617 asks for."""
    return hashlib.md5(text.encode()).hexdigest()


class Server(ThreadingHTTPServer):
    """A server whose threads end with it."""

    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        """A client that went away is no news."""


def serve(certificate=None):
    """Serve on a free port, which is printed; with TLS if there is a certificate."""
    server = Server(("127.0.0.1", 0), Service)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.load_verify_locations(certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(*sys.argv[1:])
