"""Agents that a test has lost: they are marked on the page, and so is that they are back.

One that is back has no part of the test any more, unless agents may join it.
"""

import logging
import time

import gevent
from gevent.event import Event

from locust.log import greenlet_exception_logger

from .agents import aside

logger = logging.getLogger("locust.runners")
log_death = greenlet_exception_logger(logger)

# Seconds between two looks.
_TURN = 1.0


class Losses:
    """Follows the losses of a runner, whose agents are of this fleet."""

    def __init__(self, fleet, runner):
        self._fleet, self._runner = fleet, runner
        # The nodes whose loss is marked, and those that are not back.
        self._known, self._absent = set(), []
        self._ends = Event()
        self._looking = gevent.spawn(self._look_for_ever)
        self._looking.link_exception(log_death)

    def end(self):
        """End it. Its thread must not come back to an interpreter that ends."""
        self._ends.set()
        self._looking.join()

    def _look_for_ever(self):
        while not self._ends.wait(_TURN):
            self._mark_lost()
            if self._absent and not self._fleet.is_elastic:
                self._look_for_absent()

    def _mark_lost(self):
        missing = self._runner.missing
        for node in missing:
            if node not in self._known:
                self._mark(f"{node.remote.label} is lost")
                self._known.add(node)
                self._absent.append(node)
        # Losses of earlier tests are none of this one.
        self._absent = [node for node in self._absent if node in missing]

    def _look_for_absent(self):
        try:
            free = aside(self._fleet.free, [node.remote.agent for node in self._absent])
        except ConnectionError:
            # The bus is away, and with it all agents.
            return
        for node in self._absent[:]:
            if node.remote.agent in free:
                self._absent.remove(node)
                self._say_back(node)

    def _say_back(self, node):
        label, seconds = node.remote.label, time.monotonic() - node.reported
        self._mark(f"{label} is back")
        sentence = f"{label} is back after {seconds:.1f} seconds, and has no users of this test."
        self._runner.lost.append(sentence)
        logger.warning(sentence)

    def _mark(self, text):
        page = self._runner.environment.web_ui
        if page:
            page.notes.mark(text)
