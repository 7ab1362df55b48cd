"""A bus, and agents on it: what tests of several machines share."""

import os
import socket
import subprocess
import sys
import time

from command_support import HELD, Ended, await_line, begin, environment, kill, native_command

def free_port():
    """A port of loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Bus:
    """A NATS server, and agents on it."""

    def __enter__(self):
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self._server = subprocess.Popen(
            ["nats-server", "-a", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        self.agents = {}
        until(lambda: _listens(self.port), "a bus")
        return self

    def agent(self, name, python=sys.executable, **variables):
        """Start an agent, and wait until it is there."""
        process = subprocess.Popen(
            [native_command(), "agent", "--nats", self.url, "--name", name], cwd="/",
            env={**environment(), "LOADLINE_PYTHON": python, **variables},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )
        self.agents[name] = process
        await_line(process, "waits for runs")
        return process

    def said_by(self, name):
        """End an agent; returns what it and its parts have written on stderr."""
        process = self.agents.pop(name)
        process.kill()
        return process.communicate(timeout=30)[1]

    def begin(self, count, arguments, folder, front=(), **variables):
        """Start a test of that many agents, with these words in front."""
        front = ["--nats", self.url, "--agents", str(count), "--agents-timeout", "5s", *front]
        command = [native_command(), *front, "locust"]
        return begin(arguments, folder, {"LOADLINE_PYTHON": sys.executable, **variables}, command)

    def run(self, count, arguments, folder, **variables):
        """Run a test of that many agents to its end."""
        return Ended(self.begin(count, arguments, folder, **variables), 60)

    def states(self):
        """The rows of the list of agents."""
        told = subprocess.run([native_command(), "agents", "--nats", self.url],
                              capture_output=True, text=True)
        return told.stdout.splitlines()[1:]

    def __exit__(self, *_):
        processes = [*self.agents.values(), self._server]
        for process in processes:
            process.kill()
        said = [kill(process)[1] for process in processes]
        assert HELD not in said, "agents left processes behind"


def until(holds, what, seconds=20):
    """Wait until something holds."""
    due = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < due, f"no {what}"
        time.sleep(0.05)


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def folders_of_parts(place):
    """The folders that agents made below a place for temporary files."""
    return [name for name in os.listdir(place) if name.startswith("loadline-part-")]
