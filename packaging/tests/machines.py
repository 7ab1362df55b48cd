"""What the tests of packages share: packages of the command that is tested, servers that stand in
for the places where releases are, and a server to load.

The command is that of `make build` (LOADLINE_PROGRAM), so that these tests take seconds.
`make test-package` names the folder of what `make package` made besides (LOADLINE_PACKAGE).
"""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import re
import select
import subprocess
import threading

import pytest

try:
    import tomllib
except ImportError:
    import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = "https://github.com/loadline/loadline"
RELEASES = f"{SITE}/releases"
TARGET = "x86_64-unknown-linux-gnu"
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
VERSION = MANIFEST["workspace"]["package"]["version"]
TARBALL = f"loadline-{TARGET}.tar.gz"
DEB = "loadline_amd64.deb"


def program():
    """The command that is packed."""
    named = os.environ.get("LOADLINE_PROGRAM", ROOT / "target/release/loadline")
    if not os.access(named, os.X_OK):
        pytest.skip(f"there is no command {named}: make build makes it")
    return pathlib.Path(named)


def package():
    """The folder of a release's files; without it the test is left out."""
    named = os.environ.get("LOADLINE_PACKAGE")
    if not named:
        pytest.skip("make test-package runs this, with what make package made")
    return pathlib.Path(named)


def pack(folder, *kinds, command=None, **variables):
    """Make artefacts of the command in a folder."""
    words = [ROOT / "scripts/package", folder, command or program(), *kinds]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", **variables}
    return succeed(words, env=environment)


def run(words, **settings):
    """Run a command to its end."""
    settings = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": 300,
                **settings}
    return subprocess.run([str(word) for word in words], **settings)


def succeed(words, **settings):
    """Run a command that has to succeed, and return what it printed."""
    ended = run(words, **settings)
    assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@contextlib.contextmanager
def serving(handler):
    """An HTTP server on a free port of loopback; gives its URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_):
        """Nothing."""


class _Releases(Quiet):
    """A folder's files, where releases have theirs: the latest, and that of the version."""

    def translate_path(self, path):
        within = re.sub(f"^/(latest/download|download/v{re.escape(VERSION)})/", "/files/", path)
        place = super().translate_path(within.removeprefix("/files"))
        return place if within.startswith("/files/") else os.path.join(self.directory, "missing/")


def releases(folder):
    """A server with a release; its URL stands for RELEASES."""
    return serving(functools.partial(_Releases, directory=str(folder)))


def first_line(process):
    """The first line that a process prints; one that prints nothing for a minute is killed."""
    if not select.select([process.stdout], [], [], 60)[0]:
        process.kill()
        raise AssertionError(f"{process.args} prints nothing")
    return process.stdout.readline()


@contextlib.contextmanager
def target(*words):
    """The test server of the command, with some words more; gives its URL."""
    words = [str(program()), "serve", "--listen", "127.0.0.1:0", *words]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield re.search(r"http://\S+", first_line(server))[0]
        finally:
            server.kill()


def files_in(*folders):
    """All that is in some folders, to see what was left behind."""
    return sorted(str(path) for folder in folders for path in pathlib.Path(folder).rglob("*"))


def summary_of(report):
    """The summary of a JSON report."""
    return json.loads(pathlib.Path(report).read_text(encoding="utf-8"))["summary"]
