"""What the tests of the web page share: a command that serves one, ours or the real Locust's."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

# First, as it has gevent patch what requests imports.
from command_support import environment, kill

import requests

VARIABLE = "LOCUST"


def real_locust():
    """The real Locust's command: the named one, the one beside this Python, or PATH's; or None."""
    beside = os.path.dirname(sys.executable)
    for path in (os.environ.get(VARIABLE), shutil.which("locust", path=beside),
                 shutil.which("locust")):
        if path and "Loadline" not in _version(path):
            return path
    return None


def _version(path):
    kept = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    told = subprocess.run([path, "--version"], capture_output=True, text=True, env=kept)
    return told.stdout if told.returncode == 0 else "Loadline"


def free_port():
    """A port that nobody listens at."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Page:
    """A process with a page, which ends with the block; `folder` has its locustfile."""

    def __init__(self, folder, *arguments, env=None, command=None):
        self.folder = folder
        self.log = folder / f"log-{len(list(folder.glob('log-*')))}"
        self.port = free_port()
        variables = {**environment(), **(env or {})}
        if command:
            variables.pop("PYTHONPATH")
        words = command or [sys.executable, "-m", "loadline"]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*words, "--web-port", str(self.port), *arguments], cwd=folder, env=variables,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.session = requests.Session()
        self.session.trust_env = False
        self.base = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        try:
            self.until(self._is_open, "the page is not served")
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        kill(self.process)
        self.session.close()

    def _is_open(self):
        if self.process.poll() is not None:
            raise AssertionError(self.said())
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return "Starting web interface" in self.said()

    def said(self):
        """The log so far."""
        return self.log.read_text()

    def url(self):
        """The address that the log names."""
        return re.search(r"Starting web interface at (\S+?),? press", self.said())[1]

    def until(self, holds, what, seconds=20):
        """Wait for something; returns it."""
        due = time.monotonic() + seconds
        while time.monotonic() < due:
            found = holds()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{what}:\n{self.said()}")

    def get(self, path, **given):
        """Ask."""
        return self.session.get(self.base + path, timeout=20, **given)

    def post(self, path, data=None, **given):
        """Change something."""
        return self.session.post(self.base + path, data=data, timeout=20, **given)

    def swarm(self, users, rate=100, **more):
        """What `/swarm` answers to these users."""
        answer = self.post("/swarm", {"user_count": users, "spawn_rate": rate, **more})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def figures(self):
        """What `/stats/requests` says."""
        return self.get("/stats/requests").json()

    def until_figures(self, holds):
        """The first figures for which something holds."""
        return self.until(lambda: _if(holds, self.figures()), "the figures are others")

    def until_state(self, state):
        """Wait until the test is in a state: the page itself is made anew for each who asks."""
        self.until(lambda: self.template_args()["state"] == state, f"the state is not {state}")

    def template_args(self):
        """What the page knows when it is opened."""
        found = re.search(r"window\.templateArgs = (.*)$", self.get("/").text, re.MULTILINE)
        return json.loads(found[1])

    def end(self, number=signal.SIGINT):
        """End the process by a signal; returns its exit code, and what it printed."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self, seconds=20):
        """The exit code of the process, and what it printed."""
        out, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, out


def _if(holds, value):
    return value if holds(value) else None


def open_locust(folder, *arguments):
    """The page of the real Locust, for this machine alone."""
    return Page(folder, "--web-host", "127.0.0.1", *arguments, command=[real_locust()])


