"""The processes that have the users of a test, as the runner that leads them sees them."""

import contextlib
import os
import signal

import gevent

# How often, and how many times, the end of a process is looked for that sends nothing more.
_TURN = 0.01
_TURNS = 20


class Child:
    """A process of this machine, made by fork."""

    # The agent that has it, if one has.
    agent = None
    clock_ahead_ns = 0
    # Whether it must be ready before a test begins.
    is_awaited = False
    # Seconds of silence after which a process that was stopped is ended, and one that was not is
    # warned of: what Loadline's own processes have (`SILENCE_TIMEOUT` in crates/cluster).
    most_silence = 3.0

    def __init__(self, index, count, pid):
        self.pid = pid
        self.node_id = f"process_{index}"
        # As the begin of a sentence, and in that of a record.
        self.label = f"Process {index} (pid {pid})"
        self.name = f"process {index + 1} of {count}"

    def is_stopped(self):
        """Whether it was stopped by a signal or a debugger, or is gone."""
        try:
            with open(f"/proc/{self.pid}/stat", encoding="utf-8", errors="replace") as stat:
                return stat.read().rpartition(")")[2].split()[0] in "TtZX"
        except (OSError, IndexError):
            return True

    def kill(self):
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def loss(self):
        """How it was lost, as the rest of a sentence."""
        for _ in range(_TURNS):
            try:
                done, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                break
            if done:
                code = os.waitstatus_to_exitcode(status)
                how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
                return f"was lost ({how})"
            gevent.sleep(_TURN)
        return "was lost"


class FarChild:
    """A process that an agent has; `part` is the extension's end of the line to it."""

    is_awaited = True
    # The line ends one that was stopped, after three.
    most_silence = 4.0

    def __init__(self, part, node_id):
        self._part = part
        self.node_id = node_id
        self.agent = part.name
        self.label = f"Agent {part.name}"
        self.name = f"agent {part.name}"
        self.clock_ahead_ns = part.clock_ahead_ns

    def is_stopped(self):
        """Whether it runs no more: that ends its line, which is noticed there."""
        return False

    def kill(self):
        """End it at once."""
        self._part.kill()

    def loss(self):
        """How it was lost, as the rest of a sentence."""
        for _ in range(_TURNS):
            if ending := self._part.ending():
                return ending
            gevent.sleep(_TURN)
        return "was lost"
