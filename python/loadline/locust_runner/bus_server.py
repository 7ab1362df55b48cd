"""The bus of a master: a nats-server that this process starts, or one that is there already."""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile

import gevent

from loadline import native

# Seconds in which a server listens.
_CONNECT_TIMEOUT = 10.0

_MISSING = (
    "--master needs the program nats-server, on which workers meet it: apt-get install "
    "nats-server (Debian, Ubuntu), or put another build of it on the PATH. Where a server of NATS "
    "runs already, start `loadline agent --nats URL` on each machine, and `loadline --nats URL "
    "--agents N locust …` here."
)
# What the server says of a client that begins as ZeroMQ does, whose greeting is FF … 7F.
_STRANGER = re.compile(r"(\S+) - cid:\d+ - .*parser ERROR.*\\xff.*\\x7f", re.I)


class CannotServe(Exception):
    """There is no bus; the text says why, and what to do."""


class BusServer:
    """A server at this address, whose clients need the token if there is one."""

    def __init__(self, host, port, token, on_stranger):
        self._on_stranger = on_stranger
        program = shutil.which("nats-server") or _refuse(_MISSING)
        self._folder = tempfile.TemporaryDirectory(prefix="loadline-bus-")
        own_pid = os.getpid()
        self._process = subprocess.Popen(
            [program, "-c", self._configuration(host, port, token)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # A signal of the terminal is for the master, which ends it.
            start_new_session=True,
            preexec_fn=lambda: native.end_with_parent(own_pid),
        )
        self._printed = []
        self._reading = gevent.spawn(self._read)

    def _configuration(self, host, port, token):
        """A file that nobody else may read: it has the token."""
        path = os.path.join(self._folder.name, "bus.conf")
        lines = [f'host: "{host}"', f"port: {port}"]
        if token:
            lines.append(f'authorization {{ token: "{token}" }}')
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        return path

    def _read(self):
        for line in self._process.stderr:
            text = line.decode(errors="replace").strip()
            self._printed = [*self._printed[-4:], text]
            if found := _STRANGER.search(text):
                self._on_stranger(found[1])

    def connect(self, agents):
        """The result of `agents` as soon as it can use the server."""
        due = gevent.get_hub().loop.now() + _CONNECT_TIMEOUT
        while True:
            try:
                return agents()
            except ConnectionError as e:
                if self._process.poll() is not None:
                    self._reading.join(1)
                    raise CannotServe(f"nats-server has ended: {' '.join(self._printed)}") from e
                gevent.get_hub().loop.update_now()
                if gevent.get_hub().loop.now() > due:
                    raise CannotServe(str(e)) from e
            gevent.sleep(0.05)

    def end(self):
        """End the server."""
        self._process.terminate()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._folder.cleanup()


def _refuse(sentence):
    raise CannotServe(sentence)


def new_token():
    """A secret for the clients of a server."""
    return secrets.token_hex(16)
