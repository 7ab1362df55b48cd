"""The runner of the process that spreads users over others, and merges what they count.

These are its children, or processes that agents on other machines have, or workers that join it.

A child says four times a second that its loop runs, and at its end what came of it. One that says
nothing is ended by this process: as Loadline's own `--processes` does it, within seconds where it
was stopped; a task that computes has longer, while the test goes on. A child without a last word is
lost: it is named, with what is not in the report, and the exit code says so.
"""

import logging
import math
import time

import gevent

from .. import runners as states
from ..exception import RPCError
from ..rpc import Message
from ..stats import RequestStats
from .base import Runner, log_death
from .distributed import DistributedRunner
from .nodes import WorkerNode, WorkerNodes

logger = logging.getLogger("locust.runners")

# How often the children are looked at, in seconds.
_TURN = 0.1
# Seconds that a task may keep its process from saying anything while the test goes on, and once it
# is to end, beside the time that its users have for it.
_MOST_WORK = 30.0
_LAST_GRACE = 5.0


# The state of a process that is not ready for users yet.
_LOADING = "loading"
# Records of the log of a process that are kept, as each keeps of its own.
_MOST_LINES = 500
# Seconds after which it is said that processes are not ready yet.
_READY_TIMEOUT = 10.0


class ProcessNode(WorkerNode):
    """One process with users: a child of this one, or of an agent."""

    def __init__(self, index, remote, pipe, line):
        super().__init__(remote.node_id, _LOADING)
        self.index = index
        self.remote = remote
        self.pipe = pipe
        # What carries the reports of its engine, where the test is recorded, and its part of the
        # record.
        self.line = line
        self.part = None
        # The greenlet that reads what it says.
        self.listening = None
        # When it told last what it had counted.
        self.reported = time.monotonic()
        # Seconds since it said anything; those in which this process did not run are left out.
        self.silent = 0.0
        # Whether it said anything yet: before, it loads what its locustfile wants.
        self.serves = False
        # Whether its locustfile is ready for users.
        self.is_ready = False
        self.is_warned = False
        self.stopped = True
        # What it said last: its exit code, and the one that its users asked for.
        self.last_word = None


class MasterRunner(DistributedRunner):
    """Tells each worker how many users of each class it shall have.

    Made by a program of one's own, it opens a bus at an address, on which workers join: without a
    host for this machine alone. Beyond it they need the token, which is that of the variable
    LOADLINE_MASTER_TOKEN, or a new one, if none is given.
    """

    has_users = False

    def __init__(self, environment, master_bind_host="", master_bind_port=5557, master_token=None):
        """Raises CannotServe, an OSError, where there can't be a bus."""
        from loadline.locust_runner.library import open_meeting

        meeting = open_meeting(master_bind_host, master_bind_port, master_token)
        self._lead(environment, replaces_users=True)
        self.master_bind_host, self.master_bind_port = meeting.host, meeting.port
        self.master_token = meeting.token
        self.is_open = True
        self._meeting = meeting
        meeting.look_for_programs(self)

    def _lead(self, environment, replaces_users):
        """Be a runner without workers.

        Where it `replaces_users`, those of a worker that is lost are started anew on the others.
        """
        Runner.__init__(self, environment)
        self.clients = WorkerNodes()
        self.lost = []
        # The processes that this test has lost.
        self._missing = []
        # Why processes could not begin.
        self.unready = []
        self._replaces_users = replaces_users
        # Whether workers that come while a test runs get their share of the users that are there.
        self.rebalances = False
        # Whether further processes may come, and with them further tests.
        self.is_open = False
        # Where workers join that come by themselves, if this runner has made the place.
        self._meeting = None
        # The number of the next process.
        self.next_index = 0
        # The worst exit code of the children.
        self.exit_code = 0
        self._ending = False
        self._quitting = False
        gevent.spawn(self._watch).link_exception(log_death)

    def add_child(self, remote, pipe, line):
        """Let one more process have users; returns its node."""
        node = ProcessNode(self.next_index, remote, pipe, line)
        self.next_index += 1
        self.clients[node.id] = node
        if self._users_dispatcher is not None:
            self._users_dispatcher.add_worker(node)
        node.listening = gevent.spawn(self._listen_to, node)
        node.listening.link_exception(log_death)
        return node

    def await_ready(self):
        """Wait until all processes are ready for users; returns why some can't be."""
        due = time.monotonic() + _READY_TIMEOUT
        while self.clients and not self.unready:
            missing = [node for node in self.clients.all if not node.is_ready]
            if not missing:
                break
            if time.monotonic() > due:
                due = math.inf
                names = ", ".join(node.remote.label for node in missing)
                logger.warning(f"Still waiting until these have loaded the locustfile: {names}.")
            gevent.sleep(0.02)
        return self.unready

    @property
    def worker_count(self):
        """How many children are there."""
        return len(self.clients.all)

    @property
    def shown_workers(self):
        """The children that are there, and those that this test has lost."""
        return [*self.clients.all, *self._missing]

    @property
    def missing(self):
        """The children that this test has lost."""
        return list(self._missing)

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
        if not self.clients and self.is_open:
            logger.warning("You can't start a distributed test before at least one worker "
                           "processes has connected")
            return
        self.target_user_count = user_count
        if self.state in (states.STATE_RUNNING, states.STATE_SPAWNING):
            self.note_change(user_count)
        else:
            self.prepare_test()
            self._users_dispatcher = None
            self._missing = []
            for node in self.clients.all:
                node.part = None
            self.environment.events.test_start.fire(environment=self.environment)
            if self._quitting:
                return
        self.use_host()
        self._stop_spawning()
        self.update_state(states.STATE_SPAWNING)
        self.spawning_greenlet = self.greenlet.spawn(
            self._spawn, user_count, spawn_rate, user_classes
        )
        self.spawning_greenlet.link_exception(log_death)
        if wait:
            self.spawning_greenlet.join()

    @property
    def agents(self):
        """The names of the agents that have the users; none where these are children."""
        nodes = [node.remote for node in self.clients.all]
        return [remote.agent for remote in nodes if remote.agent is not None]

    def record_parts(self, begin):
        """Have the children record the test that begins.

        `begin` is called with the lines of their reports, each with its name; the record that it
        returns knows when the load of all begins.
        """
        nodes = self.clients.all
        recording = begin([(node.remote.name, node.line) for node in nodes])
        for number, node in enumerate(nodes):
            begin_ns = recording.begin_ns + node.remote.clock_ahead_ns
            node.part = (number, len(nodes), begin_ns)
        return recording

    def _spawn(self, user_count, spawn_rate, user_classes):
        logger.info(
            "Ramping to %d users at a rate of %.2f per second" % (user_count, spawn_rate)
        )
        if self._users_dispatcher is None:
            self._users_dispatcher = self.environment.dispatcher_class(
                worker_nodes=self.clients.all, user_classes=self.user_classes
            )
        self._users_dispatcher.new_dispatch(user_count, spawn_rate, user_classes)
        for dispatched in self._users_dispatcher:
            self._send_counts(dispatched)
        self._complete(self._users_dispatcher.dispatched_users)
        if self.rebalances:
            self._hand_on()

    def _send_counts(self, dispatched):
        for node in self.clients.all:
            node.stopped = False
            self._send(node, "spawn", {"counts": dispatched.get(node.id, {}),
                                       "part": node.part,
                                       "state": self.state,
                                       "host": self.environment.host,
                                       "classes": list(self.user_classes_by_name),
                                       "stop_timeout": self.environment.stop_timeout,
                                       "options": self._options()})

    def _options(self):
        options = self.environment.parsed_options
        return vars(options) if options else {}

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
            self._send(node, "spawning_complete", {"user_count": total})
        self.environment.events.spawning_complete.fire(user_count=total)

    def _wait_until(self, holds, seconds=math.inf):
        due = time.monotonic() + seconds
        while not holds() and time.monotonic() < due:
            gevent.sleep(0.02)

    def _send(self, node, message_type, data=None):
        try:
            node.pipe.send(message_type, data, node.id)
        except RPCError:
            # Its end is noticed where it is listened to.
            logger.debug("%s cannot be told '%s'", node.id, message_type)

    def _listen_to(self, node):
        try:
            while True:
                self._on_message(node, node.pipe.receive())
        except RPCError:
            self._on_end(node)

    def _on_message(self, node, message):
        node.silent = 0.0
        node.serves = True
        getattr(self, "_on_" + message.type)(node, message.data)

    def _on_beat(self, _node, _told):
        pass

    def _on_heartbeat(self, node, told):
        node.state = told["state"]
        node.cpu_usage = told["current_cpu_usage"]
        node.memory_usage = told["current_memory_usage"]
        self.environment.events.heartbeat_sent.fire(client_id=node.id, timestamp=time.time())
        self._send(node, "heartbeat")

    def _on_logs(self, node, lines):
        known = self.environment.worker_logs.get(node.id, [])
        logs = [*known, *map(str, lines)][-_MOST_LINES:]
        self.environment.update_worker_logs({"worker_id": node.id, "logs": logs})

    def _on_ready(self, node, _told):
        node.is_ready = True
        node.state = states.STATE_INIT
        if self.state == states.STATE_RUNNING:
            self._rebalance()

    def _rebalance(self):
        """Hand users on to workers that have fewer than the others, at the pace of the test."""
        dispatcher = self._users_dispatcher
        if self.rebalances and dispatcher is not None and not dispatcher.dispatch_in_progress:
            self._stop_spawning()
            self.spawning_greenlet = self.greenlet.spawn(self._hand_on)
            self.spawning_greenlet.link_exception(log_death)

    def _hand_on(self):
        self._users_dispatcher.rebalance()
        for dispatched in self._users_dispatcher:
            self._send_counts(dispatched)

    def _on_custom(self, node, told):
        self.deliver_message(Message(told["type"], told["data"], node.id))

    def _on_report(self, node, report):
        self.stats.add_report(report)
        node.reported = time.monotonic()
        node.user_count = report["user_count"]
        node.user_classes_count = report["user_classes_count"]
        self.environment.events.worker_report.fire(client_id=node.id, data=report)

    def _on_users(self, node, counts):
        node.user_count = sum(counts.values())
        node.user_classes_count = counts

    def _on_exception(self, node, told):
        self.log_exception(node.id, told["msg"], told["traceback"])

    def _on_unfit(self, node, sentence):
        logger.error(sentence)
        self.log_exception(node.id, sentence, sentence)

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

    def _on_ended(self, node, told):
        node.last_word = told
        self.exit_code = max(self.exit_code, told["code"])
        if self.environment.process_exit_code is None:
            self.environment.process_exit_code = told["wanted"]

    def _watch(self):
        """End the children that say nothing any more."""
        while self.clients or not self._quitting:
            gevent.sleep(_TURN)
            for node in self.clients.all:
                if node.id in self.clients:
                    node.silent += _TURN
                    self._look_at(node)

    def _look_at(self, node):
        if node.silent < node.remote.most_silence:
            return
        if node.remote.is_stopped():
            self._give_up(node, "was stopped")
        elif node.silent >= self._longest_silence_of(node):
            busy = "let no other user run" if node.serves else "was not ready for users"
            self._give_up(node, busy)
        elif node.serves and not node.is_warned:
            node.is_warned = True
            logger.warning(
                f"{node.remote.label} has said nothing for {node.remote.most_silence:.0f} s: one "
                "of its tasks computes and lets no other user run."
            )

    def _longest_silence_of(self, node):
        if self._ending:
            return _LAST_GRACE + self.environment.stop_timeout
        return _MOST_WORK if node.serves else math.inf

    def _give_up(self, node, why):
        node.remote.kill()
        node.listening.kill()
        self._on_end(node, f"{why}, said nothing for {node.silent:.0f} s and was ended")

    def _on_end(self, node, why=None):
        """A child ended: with a last word, or not."""
        node.pipe.close()
        del self.clients[node.id]
        # Its last reports may be on their way, and none follow.
        node.line.cut()
        if node.last_word is None:
            why = why or node.remote.loss()
            if node.serves or not node.remote.is_awaited:
                self._note_loss(node, why)
            else:
                self.unready.append(f"{node.remote.label}: {why}")
        elif not self._quitting:
            logger.info(f"Worker '{node.id}' (index {node.index}) quit. "
                        f"{self.worker_count} workers ready.")
        if self._users_dispatcher is not None:
            self._users_dispatcher.remove_worker(node)
            self._replace_users()
        if not self.clients and not self._quitting and not self.unready:
            logger.info("The last worker quit, stopping test.")
            gevent.spawn(self.stop if self.is_open else self.quit)

    def _replace_users(self):
        """Start the users of a process that is gone anew on the others, at the pace of the test."""
        missing = self.target_user_count - self._users_dispatcher.user_count
        if not self._replaces_users or not self.clients or missing <= 0:
            return
        # A ramp that is under way starts them itself.
        if self.state == states.STATE_RUNNING:
            logger.info(f"Starting its {missing} users anew on the others.")
            self._stop_spawning()
            self.spawning_greenlet = self.greenlet.spawn(self._refill)
            self.spawning_greenlet.link_exception(log_death)

    def _refill(self):
        dispatcher = self._users_dispatcher
        dispatcher.go_on()
        for dispatched in dispatcher:
            self._send_counts(dispatched)

    def _note_loss(self, node, how):
        seconds = time.monotonic() - node.reported
        sentence = (
            f"{node.remote.label} {how}: its {node.user_count} users are gone, "
            f"and what they did in the last {seconds:.1f} seconds of it is not in the report."
        )
        self.lost.append(sentence)
        logger.error(sentence)
        node.state, node.user_count = states.STATE_MISSING, 0
        self._missing.append(node)

    def send_user_settings(self, settings):
        """Have all children follow a change of classes."""
        for node in self.clients.all:
            self._send(node, "user_settings", settings)

    def _stop_all_users(self):
        self._ending = True
        for node in self.clients.all:
            node.silent = 0.0
            self._send(node, "stop")
        self._wait_until(lambda: all(node.stopped for node in self.clients.all))
        self._ending = False
        self._users_dispatcher = None

    def quit(self):
        """End the test and the children."""
        if self._quitting:
            return
        self._quitting = True
        self.stop()
        self._ending = True
        for node in self.clients.all:
            self._send(node, "quit")
        self.join_processes()
        if self._meeting is not None:
            self._meeting.end()
        super().quit()

    def join_processes(self):
        """Wait until all children have ended: as long as they say that they run."""
        self._wait_until(lambda: not self.clients)

    def send_message(self, msg_type, data=None, client_id=None):
        """Send a message to one child, or to all."""
        for node in self.clients.all:
            if client_id in (None, node.id):
                node.pipe.send("custom", {"type": msg_type, "data": data}, node.id)


class ProcessesRunner(MasterRunner):
    """The runner of a command, whose workers are children, agents, or come to what it opened."""

    def __init__(self, environment, children, replaces_users=False):
        environment.stats = RequestStats()
        self._lead(environment, replaces_users)
        for remote, pipe, line in children:
            self.add_child(remote, pipe, line)
