"""Locust's own words for several machines: `--master` and `--worker`.

The master starts the bus that Loadline's agents wait on, and each worker is such an agent, with one
part of one test. `loadline agent` can wait on the same bus.
"""

import logging
import socket
import sys
import time

import gevent
from gevent.event import Event

from loadline import native
from loadline.locust_web.access import is_loopback

from locust.log import greenlet_exception_logger
from locust.runners.coordinator import ProcessesRunner

from .agents import aside, begin, bus_of, job_of, refuse
from .bus_server import BusServer, CannotServe, new_token
from .bundle import Bundle, TooMuch
from .processes import lead

logger = logging.getLogger("locust.runners")
log_death = greenlet_exception_logger(logger)

# Seconds between two looks for workers.
_TURN = 0.5
_EVERYWHERE = ("*", "0.0.0.0", "::")
# As in Locust, for a locustfile whose workers did not come in time.
_GAVE_UP = 1
_INTERRUPTED = 130


class Master:
    """The workers of a test. To be made before the locustfile is loaded, whose files they get."""

    def __init__(self):
        self.bundle = Bundle()
        self._fleet = self._server = self._runner = self._job = None
        self._options = self._outputs = None
        # What was said once: refusals of agents, and who speaks another protocol.
        self._told = set()
        # The words of a worker.
        self._words = None
        # Workers for the next test: this one is recorded, and began without them.
        self._waiting = []
        self._looking = None
        self._ends = Event()

    def check(self, options):
        """End the process where options contradict a master."""
        self.bundle.close()
        if options.processes:
            refuse("--processes starts workers of its own: leave out --processes, or --master.")

    def create_runner(self, environment, options, outputs, paths):
        """Start the bus, and return the runner of this process, which has no workers yet."""
        self._options, self._outputs = options, outputs
        try:
            files, names = self.bundle.pack(paths)
            self._open_bus()
        except (CannotServe, ConnectionError, TooMuch) as e:
            refuse(str(e))
        self._job = job_of(files, names, outputs)
        self._runner = ProcessesRunner(environment, [], replaces_users=True)
        self._runner.is_open = not options.headless
        lead(environment, self._runner)
        self._looking = gevent.spawn(self._look_for_ever)
        self._looking.link_exception(log_death)
        return self._runner

    def _open_bus(self):
        options = self._options
        host, port = options.master_bind_host or "127.0.0.1", options.master_bind_port
        token = options.master_token
        if not is_loopback(host) and not token:
            token = new_token()
        is_everywhere = host in _EVERYWHERE
        own = "127.0.0.1" if is_everywhere else host
        text = bus_of(own, port, token)
        place = socket.gethostname() if is_everywhere else host
        self._words = f"loadline locust --worker --master-host {place} --master-port {port}" + (
            f" --master-token {token}" if token else "")
        try:
            self._fleet = native.Agents(text)
            logger.info(f"The bus of the workers is the server of NATS at port {port}.")
        except ConnectionError as e:
            if _listens(own, port):
                raise CannotServe(f"Port {port} is taken, and its server can't be used: {e}") from e
            self._server = BusServer("0.0.0.0" if host == "*" else host, port, token,
                                     self._on_stranger)
            self._fleet = self._server.connect(lambda: native.Agents(text))
        logger.info(f"Workers join by: {self._words} -f -")
        if is_loopback(host):
            logger.info("Only workers on this machine can. --master-bind-host 0.0.0.0 lets others "
                        "join, who then need a token.")

    def _on_stranger(self, address):
        # It tries again for ever.
        host = address.rpartition(":")[0]
        if host in self._told:
            return
        self._told.add(host)
        logger.error(
            f"{host} speaks Locust's own protocol, which is not spoken here: start the worker "
            f"there by '{self._words} -f -', or the master here by Locust's own 'locust --master'."
        )

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
        child = begin(part, self._job, {"index": index, "client_id": name}, self._options)
        if self._outputs.records and runner.state in ("spawning", "running", "cleanup"):
            logger.info(f"{name} joins with the next test, as this one is recorded.")
            self._waiting.append(child)
            return
        self._add(child)

    def _take_waiting(self):
        if self._runner.state not in ("spawning", "running", "cleanup"):
            while self._waiting:
                self._add(self._waiting.pop(0))

    def _add(self, child):
        node = self._runner.add_child(*child)
        self._runner.environment.events.worker_connect.fire(client_id=node.id)
        logger.info(f"{node.id} (index {node.index}) reported as ready. "
                    f"{self._runner.worker_count} workers connected.")

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
        self._ends.set()
        if self._looking is not None:
            # Its thread must not come back to an interpreter that ends.
            self._looking.join()
        if self._server is not None:
            self._server.end()


def _listens(host, port):
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
