"""What the tests of the package and of its command share: paths, processes, reports, a server.

Importing it makes `import locust` in the tests mean our package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.request

TESTS = os.path.dirname(os.path.abspath(__file__))
PACKAGES = os.path.dirname(TESTS)

sys.path.insert(0, PACKAGES)

import gevent  # noqa: E402
import pytest  # noqa: E402

import loadline  # noqa: E402
from loadline import command  # noqa: E402

loadline.use_locust()

# The real Locust's command beside this Python, if it is installed.
REAL = shutil.which("locust", path=os.path.dirname(sys.executable))
NO_REAL = "the real Locust is not installed beside this Python"
# What is said instead of the output of a process whose pipes are still open after its end.
HELD = "(a process that it left behind holds its pipes)"


def native_command():
    """The native command; without it the test is left out."""
    try:
        return command.find()
    except command.MissingCommand as e:
        pytest.skip(str(e))


def report_of(path):
    """The report of a saved run as JSON."""
    told = subprocess.run([native_command(), "report", str(path), "-o", "json"],
                          capture_output=True, text=True)
    assert told.stdout, told.stderr
    return json.loads(told.stdout)


def changes_of(path):
    """The numbers of users that the load of a saved run was changed to."""
    changes = report_of(path)["summary"].get("changes", [])
    return [change["to"]["users"] for change in changes]


def environment():
    """Variables of a process that runs our command."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOCUST")}
    return {**kept, "PYTHONPATH": PACKAGES}


def begin(arguments, folder, env=None, command=None, stdin=subprocess.DEVNULL):
    """Start our command, or another, in a folder."""
    return subprocess.Popen(
        [*(command or [sys.executable, "-m", "loadline"]), *arguments],
        cwd=folder,
        env={**environment(), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=stdin,
        text=True,
    )


def await_line(process, pattern, pipe="stdout", seconds=60):
    """Read what a process prints up to a line that has this pattern; returns the match.

    A process that does not print one, or has printed so much to its other pipe that it waits for
    a reader, is killed, and what it said is told.
    """
    passed = []
    # Pipes of processes are gevent's here, as it has patched this process.
    with gevent.Timeout(seconds, False):
        for line in getattr(process, pipe):
            if found := re.search(pattern, line):
                return found
            passed.append(line)
    said = "".join([*passed, *filter(None, kill(process))])
    raise AssertionError(f"no '{pattern}' within {seconds} s or before the end, but:\n{said}")


def kill(process, seconds=30):
    """Kill a process; returns what it has printed and was not read yet."""
    process.kill()
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return "", HELD


class Ended:
    """Output and exit code of a process."""

    def __init__(self, process, seconds=30):
        try:
            self.out, self.err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.out, self.err = kill(process)
            raise AssertionError(f"still running after {seconds} s:\n{self.err}") from None
        self.code = process.returncode

    def lines(self):
        """The lines of stderr."""
        return self.err.splitlines()


def run(folder, *arguments, env=None):
    """Run our command to its end."""
    return Ended(begin(arguments, folder, env))


def run_real(folder, *arguments, env=None):
    """Run the real Locust to its end."""
    variables = {**environment(), **(env or {})}
    variables.pop("PYTHONPATH")
    process = subprocess.Popen(
        [REAL, *arguments], cwd=folder, env=variables, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    )
    return Ended(process)


def write(folder, text, name="locustfile.py"):
    """Write a locustfile."""
    path = os.path.join(str(folder), name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(text))
    return path


class Server:
    """Answers every request with 200 and 60 bytes, paths that begin with /missing with 404.

    It knows how many there were.
    """

    def __enter__(self):
        command = [sys.executable, "-c", _SERVER]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = "http://127.0.0.1:" + await_line(self.process, r"\d+")[0]
        return self

    def count(self):
        """The number of requests so far, this one left out."""
        with urllib.request.urlopen(self.url + "/count", timeout=60) as answer:
            return int(answer.read())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


_SERVER = """
import http.server, threading
seen, lock = 0, threading.Lock()
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def log_message(self, *a): pass
    def do_GET(self):
        global seen
        with lock:
            seen += self.path != "/count"
        body = str(seen).encode() if self.path == "/count" else b"x" * 60
        self.send_response(404 if self.path.startswith("/missing") else 200)
        self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
class S(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
s = S(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
"""
