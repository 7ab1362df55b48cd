"""The search for agents that come while a test lasts, or before it: each becomes a worker."""

import logging

import gevent
from gevent.event import Event

from locust.log import greenlet_exception_logger

from .agents import aside, begin

logger = logging.getLogger("locust.runners")
log_death = greenlet_exception_logger(logger)

# Seconds between two looks.
_TURN = 0.5
_UNDER_WAY = ("spawning", "running", "cleanup")


class Search:
    """Has all who wait on a bus, now or later, do this job for a runner."""

    def __init__(self, fleet, runner, job, options):
        self._fleet, self._runner, self._job, self._options = fleet, runner, job, options
        # The refusals that were said, once each.
        self._told = set()
        # Workers for the next test: this one is recorded, and began without them.
        self._waiting = []
        self._ends = Event()
        self._looking = gevent.spawn(self._look_for_ever)
        self._looking.link_exception(log_death)

    def end(self):
        """End it. Its thread must not come back to an interpreter that ends."""
        self._ends.set()
        self._looking.join()

    def _look_for_ever(self):
        while not self._ends.is_set():
            try:
                parts, refusals = aside(self._fleet.invite)
            except ConnectionError as e:
                parts, refusals = [], [str(e)]
            for text in refusals:
                if text not in self._told:
                    self._told.add(text)
                    logger.warning(f"Agent {text}.")
            for part in parts:
                self._take(part)
            self._take_waiting()
            for sentence in self._runner.unready:
                logger.error(sentence)
            self._runner.unready.clear()
            self._ends.wait(_TURN)

    def _take(self, part):
        runner = self._runner
        index = runner.next_index
        ids = {node.id for node in runner.clients.all}
        name = part.name if part.name not in ids else f"{part.name}_{index}"
        own = {"index": index, "client_id": name}
        child = begin(part, self._job, own, self._options)
        if self._job["records"] and runner.state in _UNDER_WAY:
            logger.info(f"{name} joins with the next test, as this one is recorded.")
            self._waiting.append(child)
            return
        self._add(child)

    def _take_waiting(self):
        if self._runner.state not in _UNDER_WAY:
            while self._waiting:
                self._add(self._waiting.pop(0))

    def _add(self, child):
        node = self._runner.add_child(*child)
        self._runner.environment.events.worker_connect.fire(client_id=node.id)
        logger.info(f"{node.id} (index {node.index}) reported as ready. "
                    f"{self._runner.worker_count} workers connected.")
