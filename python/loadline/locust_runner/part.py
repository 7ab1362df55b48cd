"""A process that has some of the users of a test which a process on another machine leads.

An agent starts it in a folder of its own, which is removed with it.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import traceback

from loadline import native

from locust import log
from locust.argument_parser import get_parser
from locust.main import CannotLoad, Loaded, chosen
from locust.rpc.pipe import Pipe
from locust.runners.child import ChildRunner

from .command import Command, raise_open_files
from .luggage import unpack
from .processes import have_users
from .recording import RecordedPart
from .telemetry import Telemetry, is_wanted

# How the names of the folders begin that agents make for their parts.
_FOLDER = "loadline-part-"


def main():
    """Have users until the test ends. Ends the process."""
    # A terminal sends Ctrl-C to all processes; it is the agent's end that ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seat = native.PartSeat.of_agent()
    _leave_standard_streams()
    code, folder = 1, os.getcwd()
    try:
        code = _Part(seat, folder).run()
    except CannotLoad as e:
        seat.fail(str(e))
    except BaseException as e:
        traceback.print_exc()
        seat.fail(f"ended with {type(e).__name__}: {e}")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if os.path.basename(folder).startswith(_FOLDER):
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)
        os._exit(code)


def _leave_standard_streams():
    """Have what the locustfile prints on stderr: frames are on the streams that were here."""
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)


class _Part:
    """The part that a seat has."""

    def __init__(self, seat, folder):
        self._seat = seat
        self._job = json.loads(seat.job())
        self._folder = folder

    def run(self):
        """Have users until the test ends; returns the exit code."""
        raise_open_files()
        unpack(self._job["files"], self._folder)
        sys.argv = ["locust", *self._job["words"]]
        loaded = Loaded([os.path.join(self._folder, name) for name in self._job["locustfiles"]])
        # Listeners that add options see the parser, as in the process that leads.
        get_parser()
        descriptor, line = self._seat.begin()
        pipe = Pipe(socket.socket(fileno=descriptor))
        try:
            return self._have_users(pipe, line, loaded)
        finally:
            pipe.close()
            line.close()
            self._seat.finish()

    def _have_users(self, pipe, line, loaded):
        options = argparse.Namespace(**pipe.receive().data)
        if not options.skip_log_setup:
            log.setup_logging(options.loglevel)
        environment = Command(options, loaded, chosen(options, loaded)).make_environment()
        runner = ChildRunner(environment, pipe, self._job["index"], self._job["client_id"])
        environment.runner = runner
        if is_wanted(options):
            Telemetry(environment)
        if not self._job["records"]:
            return have_users(runner, lambda: None)
        recorded = RecordedPart("", environment, options, True, line)
        return have_users(runner, recorded.finish)
