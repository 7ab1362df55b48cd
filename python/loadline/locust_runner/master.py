"""Locust's own words for several machines: `--master` and `--worker`.

The master starts the bus that Loadline's agents wait on, and each worker is such an agent, with one
part of one test.
"""

import logging
import sys
import time

import gevent

from locust.runners.coordinator import ProcessesRunner

from .agents import job_of, refuse
from .bundle import Bundle, TooMuch
from .bus_server import CannotServe
from .meeting import Meeting
from .processes import lead

logger = logging.getLogger("locust.runners")

# As in Locust, for a locustfile whose workers did not come in time.
_GAVE_UP = 1
_INTERRUPTED = 130


class Master:
    """The workers of a test. To be made before the locustfile is loaded, whose files they get."""

    def __init__(self):
        self.bundle = Bundle()
        self._meeting = self._runner = self._options = None

    def check(self, options):
        """End the process where options contradict a master."""
        self.bundle.close()
        if options.processes:
            refuse("--processes starts workers of its own: leave out --processes, or --master.")

    def create_runner(self, environment, options, outputs, paths):
        """Start the bus, and return the runner of this process, which has no workers yet."""
        self._options = options
        try:
            files, names = self.bundle.pack(paths)
            self._meeting = Meeting(
                options.master_bind_host, options.master_bind_port, options.master_token
            )
        except (CannotServe, ConnectionError, TooMuch) as e:
            refuse(str(e))
        self._log_how_to_join()
        self._runner = ProcessesRunner(environment, [], replaces_users=True)
        self._runner.is_open = not options.headless
        self._runner.rebalances = options.enable_rebalancing
        lead(environment, self._runner)
        self._meeting.look_for_workers(self._runner, job_of(files, names, outputs.records), options)
        return self._runner

    def _log_how_to_join(self):
        logger.info(f"Workers join by: {self._meeting.words} -f -")
        if self._meeting.is_local:
            logger.info("Only workers on this machine can. --master-bind-host 0.0.0.0 lets others "
                        "join, who then need a token.")

    def await_ready(self, runner):
        """Where the test begins at once, wait until as many workers are ready as it expects."""
        options = self._options
        if not (options.headless or options.autostart):
            return
        try:
            self._await_expected(runner)
        except KeyboardInterrupt:
            self._leave(_INTERRUPTED)

    def _leave(self, code):
        self._runner.quit()
        self.end()
        sys.exit(code)

    def _await_expected(self, runner):
        options = self._options
        began, told = time.monotonic(), None
        while True:
            ready = sum(node.is_ready for node in runner.clients.all)
            if ready >= options.expect_workers:
                return
            if told != ready:
                told = ready
                logger.info(f"Waiting for workers to be ready, {ready} of "
                            f"{options.expect_workers} connected")
            most = options.expect_workers_max_wait
            if most and time.monotonic() - began > most:
                logger.error("Gave up waiting for workers to connect")
                self._leave(_GAVE_UP)
            gevent.sleep(0.1)

    def end(self):
        """End the search for workers, and the bus if this process has started it."""
        self._meeting.end()
