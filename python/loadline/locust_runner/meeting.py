"""Where a master and its workers meet: a bus, on which workers wait for a part of a test.

Each worker is an agent, as `loadline agent` is, which can wait on the same bus.
"""

import atexit
import logging
import os
import socket

from loadline import native
from loadline.locust_web.loopback import is_loopback

from .agents import bus_of
from .bus_server import BusServer, CannotServe, new_token
from .search import Search

logger = logging.getLogger("locust.runners")

# The variable with the token of a bus.
TOKEN = "LOADLINE_MASTER_TOKEN"
_EVERYWHERE = ("*", "0.0.0.0", "::")


class Meeting:
    """The bus of a master at this address: a server of its own, or one that is there already.

    Beyond loopback it has a token, a new one where none is given. Raises CannotServe.
    """

    def __init__(self, host, port, token):
        self.host, self.port = host or "127.0.0.1", port
        self.token = token
        if not self.is_local and not token:
            self.token = new_token()
        self._fleet = self._server = self._search = None
        # Who speaks another protocol, which was said once.
        self._told = set()
        # A process that is forked from this one has the same handlers of its end.
        self._owner = os.getpid()
        self._open()

    @property
    def is_local(self):
        """Whether only workers on this machine reach it."""
        return is_loopback(self.host)

    @property
    def words(self):
        """The words that start a worker."""
        token = f" --master-token {self.token}" if self.token else ""
        host, port = self.place, self.port
        return f"loadline locust --worker --master-host {host} --master-port {port}{token}"

    @property
    def place(self):
        """The host that workers join at."""
        return socket.gethostname() if self._is_everywhere else self.host

    @property
    def _is_everywhere(self):
        return self.host in _EVERYWHERE

    def _open(self):
        host, port = self.host, self.port
        own = "127.0.0.1" if self._is_everywhere else host
        text = bus_of(own, port, self.token)
        try:
            self._fleet = native.Agents(text)
            logger.info(f"The bus of the workers is the server of NATS at port {port}.")
        except ConnectionError as e:
            if _listens(own, port):
                raise CannotServe(f"Port {port} is taken, and its server can't be used: {e}") from e
            self._server = BusServer("0.0.0.0" if host == "*" else host, port, self.token,
                                     self._on_stranger)
            self._fleet = self._server.connect(lambda: native.Agents(text))

    def _on_stranger(self, address):
        # It tries again for ever.
        host = address.rpartition(":")[0]
        if host in self._told:
            return
        self._told.add(host)
        logger.error(
            f"{host} speaks Locust's own protocol, which is not spoken here: start the worker "
            f"there by '{self.words} -f -', or the master here by Locust's own 'locust --master'."
        )

    def look_for_workers(self, runner, job, options):
        """Have all who wait on the bus, now or later, do this job for a runner."""
        self._search = Search(self._fleet, runner, job, options)
        atexit.register(self.end)

    def end(self):
        """End the search for workers, and the bus if this process has started it."""
        if os.getpid() != self._owner:
            return
        atexit.unregister(self.end)
        if self._search is not None:
            self._search.end()
        # Its connection would look for the bus as long as there is a fleet.
        self._fleet = self._search = None
        if self._server is not None:
            self._server.end()
            self._server = None


def _listens(host, port):
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
