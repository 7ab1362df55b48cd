"""Drives a runner by a shape: one tick per second."""

import logging
import time

import gevent

from .. import runners as states

logger = logging.getLogger("locust.runners")


class ShapeWorker:
    """Asks the shape of a runner's environment what the load is now."""

    def __init__(self, runner):
        self._runner = runner

    def start(self):
        """Begin with the first tick, unless the shape drives already."""
        runner = self._runner
        if runner.shape_greenlet is not None:
            logger.info("There is an ongoing shape test running. Editing is disabled")
            return
        logger.info("Shape test starting.")
        runner.update_state(states.STATE_INIT)
        runner.shape_greenlet = runner.greenlet.spawn(self._tick_for_ever)
        runner.shape_greenlet.link_exception(_log_death)
        runner.environment.shape_class.reset_time()

    def stop(self):
        """No more ticks."""
        greenlet = self._runner.shape_greenlet
        if greenlet is None:
            return
        self._runner.shape_greenlet = None
        self._runner.shape_last_tick = None
        if greenlet is not gevent.getcurrent():
            greenlet.kill(block=True)

    def _tick_for_ever(self):
        logger.info("Shape worker starting")
        due = time.perf_counter()
        while self._runner.shape_greenlet is gevent.getcurrent():
            load = self._runner.environment.shape_class.tick()
            if load is None:
                logger.info("Shape test stopping")
                self._end()
                return
            if load != self._runner.shape_last_tick:
                self._follow(load)
            due += 1
            gevent.sleep(max(0, due - time.perf_counter()))

    def _end(self):
        options = self._runner.environment.parsed_options
        if not getattr(options, "headless", False):
            # Else the command ends the test, and itself.
            self._runner.stop()

    def _follow(self, load):
        runner = self._runner
        users, rate, *classes = load
        logger.info("Shape test updating to %d users at %.2f spawn rate" % (users, rate))
        runner.start(users, rate, user_classes=classes[0] if classes else None)
        runner.shape_last_tick = load


def _log_death(greenlet):
    from ..log import greenlet_exception_logger

    greenlet_exception_logger(logger)(greenlet)
