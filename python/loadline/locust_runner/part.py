"""A process that has some of the users of a test which a process on another machine leads.

An agent starts it in a folder of its own, which is removed with it.
"""

import argparse
import contextlib
import json
import logging
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
from .bundle import unpack
from .processes import have_users
from .recording import RecordedPart
from .telemetry import Telemetry, is_requested

logger = logging.getLogger("locust.main")

# How the names of the folders begin that are made for parts.
FOLDER = "loadline-part-"


def main():
    """Have users for the agent that has started this process, until the test ends. Ends it."""
    # A terminal sends Ctrl-C to all processes; it is the agent's end that ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seat = native.PartSeat.of_agent()
    _leave_standard_streams()
    have_part(seat, os.getcwd())


def have_part(seat, folder, loaded=None, options=None):
    """Have the part of a seat, and end the process. Its folder is removed, if there is one."""
    code = 1
    try:
        code = Part(seat, folder, loaded, options).run()
        logger.info(f"Shutting down (exit code {code})")
    except CannotLoad as e:
        # Where its files lie on this machine says nothing to whoever reads this elsewhere.
        _fail(seat, str(e).replace(f"{folder}{os.sep}", "") if folder else str(e))
    except BaseException as e:
        traceback.print_exc()
        _fail(seat, f"ended with {type(e).__name__}: {e}")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if folder and os.path.basename(folder).startswith(FOLDER):
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)
        os._exit(code)


def _fail(seat, reason):
    """Report why a part can't go on, and wait until that is sent."""
    seat.fail(reason)
    seat.finish()


def _leave_standard_streams():
    """Have what the locustfile prints on stderr: frames are on the streams that were here."""
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)


_NO_LOCUSTFILE = (
    "The master is a program of its own, which has no locustfile to send: join it by "
    "'loadline locust --worker -f FILE' with the classes of its users."
)


class Part:
    """The part that a seat has: of the locustfile that it is sent, or of one that is loaded here.

    With options of its own it has set up its log as well.
    """

    def __init__(self, seat, folder, loaded=None, options=None):
        self._seat = seat
        self._job = json.loads(seat.job())
        self._own = json.loads(seat.own())
        self._folder = folder
        self._loaded = loaded
        # Whether the locustfile, and so the options, are those of this process.
        self._is_own = loaded is not None
        self._options = options

    def run(self):
        """Have users until the test ends; returns the exit code."""
        raise_open_files()
        self._check_version()
        if self._loaded is None:
            self._load()
        descriptor, line = self._seat.begin()
        pipe = Pipe(socket.socket(fileno=descriptor))
        try:
            return self._have_users(pipe, line)
        finally:
            pipe.close()
            line.close()
            self._seat.finish()

    def _check_version(self):
        own, wanted = native.load().__version__, self._job["version"]
        if own != wanted:
            raise CannotLoad(
                f"Its package for Python is of version {own}, and that of the test is {wanted}: "
                f"pip install 'loadline[locust]=={wanted}'"
            )

    def _load(self):
        if not self._job["locustfiles"]:
            raise CannotLoad(_NO_LOCUSTFILE)
        try:
            unpack(self._job["files"], self._folder)
        except ValueError as e:
            raise CannotLoad(str(e)) from None
        sys.argv = ["locust", *self._job["words"]]
        names = self._job["locustfiles"]
        self._loaded = Loaded([os.path.join(self._folder, name) for name in names])
        # Listeners that add options see the parser, as in the process that leads.
        get_parser()

    def _have_users(self, pipe, line):
        options = self._options_of_test(pipe.receive().data)
        environment = Command(
            options, self._loaded, chosen(options, self._loaded)
        ).make_environment()
        runner = ChildRunner(environment, pipe, self._own["index"], self._own["client_id"])
        runner.own_folder = "" if self._is_own else self._folder
        environment.runner = runner
        if is_requested(options):
            Telemetry(environment)
        if not self._job["records"]:
            return have_users(runner, lambda: None)
        recorded = RecordedPart("", environment, options, True, line)
        return have_users(runner, recorded.finish)

    def _options_of_test(self, told):
        if self._is_own:
            return self._options
        options = argparse.Namespace(**told)
        if self._options is None and not options.skip_log_setup:
            log.setup_logging(options.loglevel)
        return options
