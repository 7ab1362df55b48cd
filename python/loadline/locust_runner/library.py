"""Masters and workers of programs of one's own, which use the package as a library."""

import argparse
import json
import logging
import os
import socket

import gevent

from loadline import native
from loadline.locust_web.loopback import is_loopback

from locust.rpc.pipe import Pipe

from .agents import job_of
from .joining import wait_for_seat
from .meeting import TOKEN, Meeting
from .recording import RecordedPart

logger = logging.getLogger("locust.runners")

_HOW_TO_GIVE_TOKEN = f"as master_token of create_worker_runner or as {TOKEN}"
_NEEDS_TOKEN = f"A master on another machine has a token: give it {_HOW_TO_GIVE_TOKEN}."


class ProgramMeeting(Meeting):
    """Where the workers of a program join, with classes of their own."""

    def look_for_programs(self, runner):
        """Have all who join be workers of a runner."""
        job = {**job_of({}, [], records=False), "words": []}
        self.look_for_workers(runner, job, runner.environment.parsed_options)


def open_meeting(host, port, token):
    """Open a bus for the workers of a program; port 0 is any. Raises CannotServe."""
    meeting = ProgramMeeting(host, port or _free_port(), token or os.environ.get(TOKEN))
    token = ""
    if meeting.token:
        # For workers that this program starts.
        os.environ[TOKEN] = meeting.token
        token = f", master_token={meeting.token!r}"
    logger.info(
        f"Workers join by: create_worker_runner({meeting.place!r}, {meeting.port}{token})"
    )
    return meeting


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Membership:
    """What a worker of a program has of its master: a pipe, its number and its name."""

    def __init__(self, seat):
        self._seat = seat
        job, terms = json.loads(seat.job()), json.loads(seat.own())
        self.index, self.name = terms["index"], terms["client_id"]
        own, wanted = native.load().__version__, job["version"]
        if own != wanted:
            seat.fail(f"its package for Python is of version {own}")
            raise ConnectionError(
                f"The master is of version {wanted}, and this package of version {own}: "
                f"pip install 'loadline[locust]=={wanted}'"
            )
        descriptor, self._line = seat.begin()
        self.pipe = Pipe(socket.socket(fileno=descriptor))
        self._options = argparse.Namespace(**self.pipe.receive().data)
        self._records = job["records"]
        self._recorded = None

    def record(self, environment):
        """Record what this process has of the test, where the master saves it."""
        if self._records:
            self._recorded = RecordedPart("", environment, self._options, True, self._line)

    def finish_record(self):
        """Wait until what is recorded is sent."""
        if self._recorded is not None:
            self._recorded.finish()

    def leave(self):
        """Wait until the master has all that was sent, and leave it."""
        self.pipe.close()
        self._line.close()
        gevent.get_hub().threadpool.apply(self._seat.finish)


def join(host, port, token):
    """Become a worker of the master at this address; ConnectionError if that can't be."""
    token = token or os.environ.get(TOKEN)
    if not is_loopback(host) and not token:
        raise ConnectionError(_NEEDS_TOKEN)
    return Membership(wait_for_seat(host, port, token, _HOW_TO_GIVE_TOKEN, lives_on=True))
