"""Changes of the number of users by the program that shows the test on a page, and by others.

The program of the page begins this process with a socket as stdin, and says so in a variable. On it
comes, line by line, what is asked, and goes what came of it:

    {"number": 1, "users": 20, "spawn_rate": 5}
    {"number": 1, "at_s": 12.4, "reached_s": 13.4, "spawn_rate": 5.0}
    {"number": 1, "problem": "its users are set by a class of shapes."}

Without a rate users start and stop at that of before. Instants are seconds from the begin of
the load: that of the change, and the one at which the last user is told to start or to stop.

The page is told of each change, whoever makes it, before a question is answered that made it; and
at the begin of the test of the agents that have its users, in the order of its workers:

    {"at_s": 12.4, "users": 20}
    {"agents": ["north", "south"]}
"""

import json
import logging
import math
import os
import socket
import sys

import gevent

from loadline import native

from locust.log import greenlet_exception_logger
from locust.runners import STATE_RUNNING, STATE_SPAWNING

logger = logging.getLogger("locust.main")
log_death = greenlet_exception_logger(logger)

# Says that stdin is the socket.
STEERED = "LOADLINE_STEERED"


def take_control():
    """The socket that stdin is, if the test is steered; stdin is empty from then on.

    This process ends with the one that steers it: nobody could end the test then.
    """
    if not os.environ.pop(STEERED, None):
        return None
    if not native.load().end_with_parent(os.getppid()):
        sys.exit(1)
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return control


def seconds_to_reach(change, spawn_rate):
    """The time from the first to the last start, or stop, of so many users, as Locust's dispatcher
    paces them: whole users at once."""
    at_once = max(1, math.floor(spawn_rate))
    batches = math.ceil(change / at_once)
    return max(0, batches - 1) * at_once / spawn_rate


class Steering:
    """Obeys what comes on a socket, as long as that is open, and tells what becomes of the test.

    To be made behind the outputs: what it tells, they have recorded.
    """

    def __init__(self, control, environment, outputs, options):
        self._control = control
        self._environment = environment
        self._outputs = outputs
        # The rate at which users start and stop where nothing else is asked.
        self._spawn_rate = options.spawn_rate or 1
        # Whether the test that runs is the first: a page shows no other one.
        self._is_first = True
        events = environment.events
        events.test_start.add_listener(self._tell_agents)
        events.load_changed.add_listener(self._tell_change)
        events.test_stop.add_listener(self._end_first)
        gevent.spawn(self._obey).link_exception(log_death)

    def _tell_agents(self, **_kwargs):
        names = self._environment.runner.agents
        if self._is_first and names:
            self._tell({"agents": names})

    def _tell_change(self, user_count, **_kwargs):
        if self._is_first:
            self._tell({"at_s": self._outputs.changed_s(), "users": user_count})

    def _end_first(self, **_kwargs):
        self._is_first = False

    def _tell(self, line):
        try:
            self._control.sendall(f"{json.dumps(line)}\n".encode())
        except OSError as e:
            logger.debug("The page of the test is gone: %s", e)

    def _obey(self):
        try:
            for line in self._control.makefile("r", encoding="utf-8"):
                asked = json.loads(line)
                self._tell({"number": asked["number"], **self._answer(asked)})
        except OSError as e:
            logger.debug("The page of the test is gone: %s", e)

    def _answer(self, asked):
        runner = self._environment.runner
        if self._environment.shape_class:
            return {"problem": "its users are set by a class of shapes."}
        if runner.state not in (STATE_RUNNING, STATE_SPAWNING):
            return {"problem": "no users are under way: change them while they are."}
        users = asked["users"]
        rate = self._spawn_rate = float(asked["spawn_rate"] or self._spawn_rate)
        taking = seconds_to_reach(abs(users - runner.user_count), rate)
        runner.start(users, rate)
        at = self._outputs.changed_s()
        return {"at_s": at, "reached_s": at + taking, "spawn_rate": rate}
