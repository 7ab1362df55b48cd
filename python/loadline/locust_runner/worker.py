"""Locust's `--worker`: this process has some of the users of a master.

It waits on the master's bus as an agent does, for one test command. Its locustfile is its own, or
with `-f -` that of the master.
"""

import logging
import os
import signal
import sys
import tempfile

import gevent

from loadline import native
from loadline.locust_web.loopback import is_loopback

from locust.argument_parser import (
    check_options,
    get_empty_argument_parser,
    get_locustfiles_locally,
    get_parser,
    setup_parser_arguments,
)
from locust.exception import RPCReceiveError
from locust.main import load, refuse, set_up_logging, version

from .command import on_signal
from .joining import wait_for_seat
from .part import FOLDER, have_part
from .processes import check_count

logger = logging.getLogger("locust.main")

# The exit code of a worker that is ended before a master has a part for it.
_ENDED = 0


def main(first):
    """Have users for the master that the options name. Ends the process."""
    loaded, options = _loaded(first)
    set_up_logging(options)
    logger.info(f"Starting Locust {version}")
    check_count(options)
    if not is_loopback(options.master_host) and not options.master_token:
        refuse("A master on another machine has a token: give the --master-token that it logs.")
    if options.processes:
        _fork(options.processes)
    folder, seat = None, _seat(options)
    if loaded is None:
        folder = tempfile.mkdtemp(prefix=FOLDER)
        os.chdir(folder)
    have_part(seat, folder, loaded, options)


def _loaded(first):
    """What the worker's own locustfile has, or None, and the options."""
    if first.locustfile != "-":
        loaded = load(get_locustfiles_locally(first))
        parser = get_parser()
        options = parser.parse_args()
        check_options(parser, options)
        return loaded, options
    parser = get_empty_argument_parser()
    setup_parser_arguments(parser)
    # Options of the master's locustfile are not known yet.
    return None, parser.parse_known_args()[0]


def _fork(count):
    """Go on in that many children; the parent waits for them, and ends with the worst exit code."""
    sys.stdout.flush()
    pids, own_pid = [], os.getpid()
    for _ in range(count):
        pid = gevent.fork()
        if pid == 0:
            native.end_with_parent(own_pid)
            return
        pids.append(pid)

    def pass_on(number, _frame):
        for pid in pids:
            os.kill(pid, signal.SIGTERM)

    # A terminal sends Ctrl-C to all of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, pass_on)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    sys.exit(max(abs(code) for code in codes))


def _seat(options):
    """The seat that a master gives this process, which waits for it.

    A signal ends the wait and the process; once it has a seat, its users, and the master is told.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        on_signal(number, lambda: os._exit(_ENDED))
    try:
        seat = wait_for_seat(options.master_host, options.master_port, options.master_token,
                             "as --master-token", lives_on=False)
    except ConnectionError as e:
        return refuse(str(e))
    _leave_at_signals(gevent.getcurrent())
    return seat


def _leave_at_signals(main):
    def leave():
        logger.info("Got a signal: this worker leaves the test")
        gevent.kill(main, RPCReceiveError("a signal ends this worker"))

    for number in (signal.SIGINT, signal.SIGTERM):
        on_signal(number, leave)
