"""The runner of the process that spreads users over its children, and merges what they count."""

import logging
import os
import time

import gevent

from .. import runners as states
from ..exception import RPCError
from ..stats.request_stats import merging_stats
from .base import Runner, log_death
from .distributed import MasterRunner
from .nodes import WorkerNode, WorkerNodes

logger = logging.getLogger("locust.runners")

# Seconds that children have to answer, beside the time that their users have to end.
_PATIENCE = 10.0


class ProcessNode(WorkerNode):
    """One child process."""

    def __init__(self, index, pid, pipe):
        super().__init__(f"process_{index}")
        self.index = index
        self.pid = pid
        self.pipe = pipe
        self.heard = time.monotonic()
        self.stopped = True


class ProcessesRunner(MasterRunner):
    """Tells each child how many users of each class it shall have."""

    def __init__(self, environment, children):
        environment.stats = merging_stats()
        Runner.__init__(self, environment)
        self.clients = WorkerNodes()
        self.lost = []
        self._quitting = False
        for index, (pid, pipe) in enumerate(children):
            node = ProcessNode(index, pid, pipe)
            self.clients[node.id] = node
            gevent.spawn(self._listen_to, node).link_exception(log_death)

    @property
    def worker_count(self):
        """How many children are there."""
        return len(self.clients.all)

    @property
    def user_count(self):
        """Users of all children, as they told last."""
        return sum(node.user_count for node in self.clients.all)

    @property
    def reported_user_classes_count(self):
        """`{class name: users}` of all children, as they told last."""
        counts = {}
        for node in self.clients.all:
            for name, count in node.user_classes_count.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    user_classes_count = reported_user_classes_count

    def start(self, user_count, spawn_rate, wait=False, user_classes=None):
        """Go to `user_count` users in all children; a test that does not run begins."""
        self.target_user_count = user_count
        if self.state not in (states.STATE_RUNNING, states.STATE_SPAWNING):
            self.prepare_test()
            self._dispatcher = None
            self.environment.events.test_start.fire(environment=self.environment)
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
        if self._dispatcher is None:
            self._dispatcher = self.environment.dispatcher_class(
                worker_nodes=self.clients.all, user_classes=self.user_classes
            )
        self._dispatcher.new_dispatch(user_count, spawn_rate, user_classes)
        for dispatched in self._dispatcher:
            self._tell_counts(dispatched)
        self._complete(self._dispatcher.dispatched_users)

    def _tell_counts(self, dispatched):
        for node in self.clients.all:
            node.stopped = False
            self._tell(node, "spawn", {"counts": dispatched.get(node.id, {}),
                                       "host": self.environment.host,
                                       "options": vars(self.environment.parsed_options)})

    def _complete(self, dispatched):
        self._wait_until(lambda: self.user_count >= self.target_user_count, 1.0)
        counts = {}
        for of_worker in dispatched.values():
            for name, count in of_worker.items():
                counts[name] = counts.get(name, 0) + count
        total = sum(counts.values())
        logger.info(f"All users spawned: {self.count_by(counts)} ({total} total users)")
        self.target_user_classes_count = counts
        for node in self.clients.all:
            self._tell(node, "spawning_complete", {"user_count": total})
        self.environment.events.spawning_complete.fire(user_count=total)

    def _wait_until(self, holds, seconds):
        due = time.monotonic() + seconds
        while not holds() and time.monotonic() < due:
            gevent.sleep(0.02)

    def _tell(self, node, message_type, data=None):
        try:
            node.pipe.send(message_type, data, node.id)
        except RPCError:
            # Its end is noticed where it is listened to.
            logger.debug("%s cannot be told '%s'", node.id, message_type)

    def _listen_to(self, node):
        try:
            while True:
                self._hear(node, node.pipe.receive())
        except RPCError:
            self._on_end(node)

    def _hear(self, node, message):
        node.heard = time.monotonic()
        known = getattr(self, "_on_" + message.type, None)
        if known is not None:
            known(node, message.data)
        else:
            message.node_id = node.id
            self.deliver_message(message)

    def _on_report(self, node, report):
        self.stats.add_report(report)
        node.user_count = report["user_count"]
        node.user_classes_count = report["user_classes_count"]
        self.environment.events.worker_report.fire(client_id=node.id, data=report)

    def _on_users(self, node, counts):
        node.user_count = sum(counts.values())
        node.user_classes_count = counts

    def _on_exception(self, node, told):
        self.log_exception(node.id, told["msg"], told["traceback"])

    def _on_end_test(self, _node, told):
        code = told["exit_code"]
        if code is not None and self.environment.process_exit_code is None:
            self.environment.process_exit_code = code
        self.refused = self.refused or told["refused"]
        if not self._quitting:
            gevent.spawn(self.quit)

    def _on_stopped(self, node, _told):
        node.stopped = True
        node.user_count = 0

    def _on_end(self, node):
        """A child ended: as it was told, or not."""
        node.pipe.close()
        if self._quitting and node.stopped:
            del self.clients[node.id]
            return
        self._note_loss(node)
        del self.clients[node.id]
        if self._dispatcher is not None:
            self._dispatcher.remove_worker(node)
        if not self.clients and not self._quitting:
            logger.info("The last worker quit, stopping test.")
            gevent.spawn(self.quit)

    def _note_loss(self, node):
        seconds = time.monotonic() - node.heard
        sentence = (
            f"Process {node.index} (pid {node.pid}) was lost{_how_it_ended(node.pid)}: its "
            f"{node.user_count} users are gone, and what they did in the last {seconds:.1f} "
            "seconds of it is not in the report."
        )
        self.lost.append(sentence)
        logger.error(sentence)

    def _stop_all_users(self):
        for node in self.clients.all:
            self._tell(node, "stop")
        patience = self.environment.stop_timeout + _PATIENCE
        self._wait_until(lambda: all(node.stopped for node in self.clients.all), patience)
        self._dispatcher = None

    def quit(self):
        """End the test and the children."""
        if self._quitting:
            return
        self._quitting = True
        self.stop()
        for node in self.clients.all:
            self._tell(node, "quit")
        self._wait_until(lambda: not self.clients, _PATIENCE)
        super().quit()

    def send_message(self, msg_type, data=None, client_id=None):
        """Send a message to one child, or to all."""
        for node in self.clients.all:
            if client_id in (None, node.id):
                node.pipe.send("custom", {"type": msg_type, "data": data}, node.id)


def _how_it_ended(pid):
    for _ in range(20):
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return ""
        if done:
            code = os.waitstatus_to_exitcode(status)
            return f" (killed by signal {-code})" if code < 0 else f" (exit code {code})"
        gevent.sleep(0.01)
    return ""
