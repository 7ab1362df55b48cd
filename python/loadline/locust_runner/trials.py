"""The users of a locustfile, as many as `loadline capacity` asks for.

The command starts this as a child, which lives as long as the search: users stay as they are from
trial to trial, with their connections, and only the number changes. Stdin is a socket. On it comes,
line by line, what is asked:

    users N SECONDS   have N users, and start new ones evenly over these seconds
    state             tell what is going on

The second is answered on the same socket: `state FAILURES SINCE...`, how many requests have failed
in all, as Locust counts, and since when each request in flight is so (nanoseconds of
CLOCK_MONOTONIC). Stdout takes the saved run of everything that is sent, which the command reads
while it is written. What the locustfile prints goes to stderr. The end of stdin is the end.
"""

import logging
import os
import signal
import socket
import sys

import gevent
from gevent.event import Event

from loadline import native

from locust import log, stats
from locust.argument_parser import (
    check_options,
    get_locustfiles_locally,
    get_parser,
    parse_locustfile_option,
)
from locust.main import chosen, load, refuse

from .command import Command, raise_open_files

logger = logging.getLogger("locust.main")

# New users start in so many batches at most.
_MOST_BATCHES = 50
# Seconds that users have to finish their task when there are fewer of them, unless the options say
# so: to give up a request breaks its connection, which costs the target more than the request.
_STOP_TIMEOUT = 2.0


def main():
    """Load the locustfile, and have its users until stdin ends."""
    control, record = _take_descriptors()
    loaded = load(get_locustfiles_locally(parse_locustfile_option()))
    # The search says how many users there are.
    loaded.shapes.clear()
    parser = get_parser()
    parser.set_defaults(loglevel="WARNING")
    options = parser.parse_args()
    check_options(parser, options)
    stats.validate_stats_configuration()
    if not options.skip_log_setup:
        log.setup_logging(options.loglevel, options.logfile)
    if options.processes or options.master or options.worker:
        refuse("A search has its users in one process: leave --processes, --master and --worker "
                "out.")
    if not loaded.user_classes:
        refuse("No User class found!")
    options.num_users = options.run_time = options.spawn_rate = None
    options.reset_stats = False
    Trials(options, loaded, chosen(options, loaded)).serve(control, record)


def _take_descriptors():
    """The socket that stdin is, and a descriptor of stdout; whoever prints has stderr instead."""
    control = socket.socket(fileno=os.dup(0))
    record = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return control, record


class Trials(Command):
    """Users whose number is told."""

    def serve(self, control, record):
        """Have users until `control` ends; ends the process."""
        raise_open_files()
        self.make_environment()
        self._make_runner()
        self._init_listeners()
        self.environment.stop_timeout = self.environment.stop_timeout or _STOP_TIMEOUT
        self._control = control
        self._changing = None
        self._over = Event()
        self._code = 0
        self.environment.events.test_stop.add_listener(self._stopped)
        recording = native.Recording(f"/dev/fd/{record}", self._host(), 1, None)
        recording.begin()
        # The command decides what an interrupt is.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gevent.spawn(self._obey)
        self._over.wait()
        self._end(recording)

    def _host(self):
        hosts = [kind.host for kind in self.environment.user_classes if kind.host]
        host = self.environment.host or (hosts[0] if hosts else None)
        return host or refuse("No host is given: add -H, such as -H http://127.0.0.1:8080.")

    def _obey(self):
        try:
            for line in self._control.makefile("r", encoding="ascii"):
                word, *numbers = line.split()
                if word == "users":
                    self._change(int(numbers[0]), float(numbers[1]))
                else:
                    self._send_state()
        except OSError as e:
            logger.debug("The search is gone: %s", e)
        self._over.set()

    def _change(self, users, seconds):
        if self._changing is not None:
            self._changing.kill()
        self._changing = gevent.spawn(self._go_to, users, seconds)

    def _go_to(self, users, seconds):
        before = self.runner.target_user_count
        batches = min(max(users - before, 1), _MOST_BATCHES)
        for batch in range(1, batches + 1):
            # In one step of the dispatcher: it is here that they are spread over the time.
            count = before + (users - before) * batch // batches
            self.runner.start(count, max(count, before, 1), wait=True)
            gevent.sleep(seconds / batches)

    def _send_state(self):
        failures = self.runner.stats.total.num_failures
        words = ["state", failures, *native.in_flight_since_ns()]
        self._control.sendall((" ".join(map(str, words)) + "\n").encode())

    def _stopped(self, **_kwargs):
        if not self._over.is_set():
            logger.error("The locustfile ended the test: a search needs users who go on.")
            self._code = 1
            self._over.set()

    def _end(self, recording):
        self._over.set()
        events = self.environment.events
        events.quitting.fire(environment=self.environment, reverse=True)
        self.runner.quit()
        recording.end()
        events.quit.fire(exit_code=self._code)
        sys.exit(self._code)
