"""The runner whose users run in this process."""

import logging
import socket
from uuid import uuid4

from .. import runners as states
from ..exception import StopTest
from ..rpc import Message
from .base import Runner, log_death
from .nodes import WorkerNode

logger = logging.getLogger("locust.runners")


class LocalRunner(Runner):
    """Starts users here, in the order and at the pace of the dispatcher."""

    worker_index = 0
    worker_count = 1

    def __init__(self, environment):
        super().__init__(environment)
        self.client_id = f"{socket.gethostname()}_{uuid4().hex}"
        self._node = WorkerNode("local")
        self._handed_out = {}

    def start(self, user_count, spawn_rate, wait=False, user_classes=None):
        """Go to `user_count` users; a test that does not run begins. Returns at once."""
        self.target_user_count = user_count
        if self.state in (states.STATE_RUNNING, states.STATE_SPAWNING):
            self.note_change(user_count)
        else:
            self.prepare_test()
            self._handed_out = {}
            self._users_dispatcher = None
            self.environment.events.test_start.fire(environment=self.environment)
        self.use_host()
        self._stop_spawning()
        self.update_state(states.STATE_SPAWNING)
        self.spawning_greenlet = self.greenlet.spawn(
            self._spawn, user_count, spawn_rate, user_classes
        )
        self.spawning_greenlet.link_exception(log_death)
        if wait:
            self.spawning_greenlet.join()

    def _spawn(self, user_count, spawn_rate, user_classes):
        logger.info(
            "Ramping to %d users at a rate of %.2f per second" % (user_count, spawn_rate)
        )
        try:
            for dispatched in self._dispatch(user_count, spawn_rate, user_classes):
                self._go_to(dispatched[self._node.id])
        except StopTest as e:
            self.end_test(e)
            return
        total = sum(self._handed_out.values())
        logger.info(
            f"All users spawned: {self.count_by(self._handed_out)} ({total} total users)"
        )
        self.target_user_classes_count = dict(self._handed_out)
        self.environment.events.spawning_complete.fire(user_count=total)

    def _dispatch(self, user_count, spawn_rate, user_classes):
        if self._users_dispatcher is None:
            self._users_dispatcher = self.environment.dispatcher_class(
                worker_nodes=[self._node], user_classes=self.user_classes
            )
        self._users_dispatcher.new_dispatch(user_count, spawn_rate, user_classes)
        return self._users_dispatcher

    def _go_to(self, counts):
        """Start and stop what differs from the batch before. Users that ended are not replaced."""
        before = self._handed_out
        more = {name: n - before.get(name, 0) for name, n in counts.items()}
        self._handed_out = dict(counts)
        self.spawn_users({name: n for name, n in more.items() if n > 0})
        fewer = {name: -n for name, n in more.items() if n < 0}
        if fewer:
            self.stop_users(fewer)

    def send_message(self, msg_type, data=None, client_id=None):
        """Deliver a message to the listeners of this process."""
        logger.debug("Running locally: sending %s message to self", msg_type)
        self.deliver_message(Message(msg_type, data, "local"))
