"""A load of one method through one client, on a server that drops requests: `KIND METHOD HOW`.

Prints as JSON what the client counted (requests, failures) and what reached the server (requests,
dropped ones).
"""

import json
import socket
import struct
import sys

from gevent import monkey

monkey.patch_all()

import gevent  # noqa: E402
from locust import FastHttpUser, HttpUser, constant, task  # noqa: E402
from locust.env import Environment  # noqa: E402
from gevent.server import StreamServer  # noqa: E402

REQUESTS = 200
EVERY = 20


class Dropping:
    """Reads each request whole; of each twentieth it drops the connection."""

    def __init__(self, how):
        self.how, self.requests, self.dropped = how, 0, 0

    def serve(self, peer, _address):
        stream = peer.makefile("rb")
        while self.read(stream):
            self.requests += 1
            if self.requests % EVERY == 0:
                self.dropped += 1
                if self.how == "reset":
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                break
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        stream.close()
        peer.close()

    @staticmethod
    def read(stream):
        length, line = 0, stream.readline()
        if not line:
            return False
        while line.strip():
            line = stream.readline()
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        stream.read(length)
        return True


def main(kind, method, how):
    dropping = Dropping(how)
    server = StreamServer(("127.0.0.1", 0), dropping.serve)
    server.start()
    base = FastHttpUser if kind == "fast" else HttpUser
    body = {"data": b"x"} if method in ("POST", "PUT", "PATCH") else {}

    class Caller(base):
        host = f"http://127.0.0.1:{server.server_port}"
        wait_time = constant(0)

        @task
        def call(self):
            for _ in range(REQUESTS):
                self.client.request(method, "/", name="all", **body)
            self.environment.runner.quit()

    environment = Environment(user_classes=[Caller])
    runner = environment.create_local_runner()
    runner.start(1, spawn_rate=1)
    with gevent.Timeout(60):
        runner.greenlet.join()
    total = environment.stats.total
    server.stop()
    print(json.dumps([total.num_requests, total.num_failures, dropping.requests, dropping.dropped]))


main(*sys.argv[1:])
