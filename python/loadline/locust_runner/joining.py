"""How a process becomes a worker: it waits on the bus of a master until that has a part for it."""

import logging
import socket
import time
from uuid import uuid4

import gevent

from loadline import native

from locust import runners as settings
from locust.log import HOSTNAME

from .agents import aside, bus_of

logger = logging.getLogger("locust.main")

_FOREIGN = (
    "The master at %s:%s speaks Locust's own protocol, which is not spoken here: start 'loadline "
    "locust --master' there, or Locust's own 'locust --worker' here."
)
_NO_MASTER = "There is no master: start 'loadline locust --master' there."
_REFUSED = "The master at %s:%s refuses this worker: give it the token that the master logs, %s."
# Seconds between two looks for the master.
_TURN = 0.5


def wait_for_seat(host, port, token, how_to_give_it, lives_on):
    """The seat that a master gives this process; ConnectionError if none does in time.

    How often it tries is what `locust.runners` says. The error for a wrong token says how to give
    the right one. A process that does not live on ends with its part, in whatever state it is.
    """
    text = bus_of(host, port, token)
    name = f"{HOSTNAME}_{uuid4().hex}"
    for attempt in range(1, settings.CONNECT_RETRY_COUNT + 1):
        due = time.monotonic() + settings.CONNECT_TIMEOUT
        while True:
            try:
                return aside(native.PartSeat.of_master, text, name, lives_on)
            except PermissionError as e:
                raise ConnectionError(_REFUSED % (host, port, how_to_give_it)) from e
            except ConnectionError as e:
                if _speaks_zeromq(host, port):
                    raise ConnectionError(_FOREIGN % (host, port)) from e
                if time.monotonic() >= due:
                    logger.error(f"Failed to connect to master {host}:{port}, retry "
                                 f"{attempt}/{settings.CONNECT_RETRY_COUNT}: {e}")
                    break
            gevent.sleep(_TURN)
    raise ConnectionError(_NO_MASTER)


def _speaks_zeromq(host, port):
    """Whether a master of Locust itself listens there: it sends a greeting at once."""
    try:
        with socket.create_connection((host, port), timeout=1) as knocking:
            return knocking.recv(1) == b"\xff"
    except OSError:
        return False
