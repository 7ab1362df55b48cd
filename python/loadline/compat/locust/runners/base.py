"""What all runners share: state, users of this process, the end of a test."""

import json
import logging
import traceback
from itertools import islice

import gevent
from gevent.pool import Group

from .. import runners as states
from ..exception import StopTest
from ..log import greenlet_exception_logger
from .monitor import Monitor
from .shape import ShapeWorker

# The channel that locustfiles and log filters know.
logger = logging.getLogger("locust.runners")
log_death = greenlet_exception_logger(logger)


class Runner:
    """Starts and stops users. Use one of its subclasses."""

    # Whether its users are in this process.
    has_users = True
    # The names of the machines that have them instead, in the order of the workers of a record.
    agents = ()

    def __init__(self, environment):
        self.environment = environment
        # One greenlet per user, whose first argument is the user.
        self.user_greenlets = Group()
        # What runs as long as the runner does.
        self.greenlet = Group()
        self.state = states.STATE_INIT
        self.spawning_greenlet = None
        self.shape_greenlet = None
        # What the shape said last.
        self.shape_last_tick = None
        self.exceptions = {}
        self.target_user_count = 0
        self.target_user_classes_count = {}
        # The users of each class when the test was told to end.
        self.final_user_classes_count = {}
        # What tells of machines that are not there yet.
        self.connection_broken = self.worker_cpu_warning_emitted = False
        self.custom_messages = {}
        # Whether the test could not begin, so that there is nothing to report.
        self.refused = False
        self._users_dispatcher = None
        self._shape = ShapeWorker(self)
        self._monitor = Monitor(self)
        self._watching = []
        self._listen()
        self._watch_process()

    def _listen(self):
        events = self.environment.events
        events.request.sinks.append(self.stats.count_sample)
        events.spawning_complete.add_listener(self._on_spawning_complete)
        events.user_error.add_listener(self._on_user_error)

    def _watch_process(self):
        """Watch this process until the runner's end; again, if a test begins behind that."""
        if all(one.ready() for one in self._watching):
            watches = (self._monitor.watch_usage, self._monitor.keep_seconds)
            self._watching = [self.greenlet.spawn(one) for one in watches]
            for one in self._watching:
                one.link_exception(log_death)

    def _on_spawning_complete(self, **_kwargs):
        self.update_state(states.STATE_RUNNING)
        if self.environment.reset_stats:
            logger.info("Resetting stats\n")
            self.stats.reset_all()

    def _on_user_error(self, exception=None, tb=None, **_kwargs):
        formatted_tb = self._formatted(tb)
        self.log_exception("local", str(exception), formatted_tb)
        self.stats.native.log_exception(type(exception).__name__, str(exception), formatted_tb)

    def _formatted(self, tb):
        return "".join(traceback.format_tb(tb))

    def log_exception(self, node_id, msg, formatted_tb):
        """Count an exception of a task; equal tracebacks are one row."""
        key = hash(formatted_tb)
        row = self.exceptions.setdefault(
            key, {"count": 0, "msg": msg, "traceback": formatted_tb, "nodes": set()}
        )
        row["count"] += 1
        row["nodes"].add(node_id)

    @property
    def stats(self):
        """The statistics of the test."""
        return self.environment.stats

    @property
    def errors(self):
        """Failures by their key."""
        return self.stats.errors

    @property
    def user_classes(self):
        """The classes of the test."""
        return self.environment.user_classes

    @property
    def user_classes_by_name(self):
        """The classes of the test by their names."""
        return self.environment.user_classes_by_name

    @property
    def user_count(self):
        """Users that run in this process."""
        return len(self.user_greenlets)

    def users(self):
        """The users that run in this process."""
        # A greenlet that has ended may still be there, without its arguments.
        return [greenlet.args[0] for greenlet in self.user_greenlets if greenlet.args]

    @property
    def user_classes_count(self):
        """`{class name: users that run}`."""
        counts = {kind.__name__: 0 for kind in self.user_classes}
        for user in self.users():
            name = type(user).__name__
            counts[name] = counts.get(name, 0) + 1
        return counts

    @property
    def current_cpu_usage(self):
        """Percent of a core that this process used last."""
        return self._monitor.cpu_usage

    @property
    def current_memory_usage(self):
        """Bytes of memory of this process."""
        return self._monitor.memory_usage

    def update_state(self, new_state):
        """Enter another state."""
        logger.debug("Updating state to '%s', old state was '%s'", new_state, self.state)
        self.state = new_state

    def prepare_test(self):
        """Make the classes what the options say, and forget the test before."""
        self.environment._filter_tasks_by_tags()
        self.use_host()
        # Timers begin at what the loop thinks is now; it may not have run for a while.
        gevent.get_hub().loop.update_now()
        self.stats.clear_all()
        self.stats.use_custom_buckets()
        self.exceptions = {}
        self._watch_process()
        self._monitor.begin()

    def use_host(self):
        """Have users that start from now on send to the host of the test, if it has one."""
        if self.environment.host:
            for kind in self.user_classes:
                kind.host = self.environment.host

    def note_change(self, user_count):
        """Say that the test, which runs, goes to so many users; a shape's steps are its own."""
        if self.shape_greenlet is not gevent.getcurrent():
            self.environment.events.load_changed.fire(user_count=user_count)

    def spawn_users(self, user_classes_spawn_count, wait=False):
        """Start that many users of each class; returns them."""
        if self.state in (states.STATE_INIT, states.STATE_STOPPED):
            self.update_state(states.STATE_SPAWNING)
        logger.debug(
            "Spawning additional %s (%s already running)...",
            json.dumps(user_classes_spawn_count),
            json.dumps(self.user_classes_count),
        )
        users = []
        for name, count in user_classes_spawn_count.items():
            users += [self._spawn_one(name) for _ in range(count)]
        if wait:
            self.user_greenlets.join()
            logger.info("All users stopped\n")
        return users

    def _spawn_one(self, name):
        user = self.user_classes_by_name[name](self.environment)
        assert hasattr(user, "environment"), (
            f"Attribute 'environment' is missing on user {name}. Perhaps you defined your own "
            "__init__ and forgot to call the base constructor? (super().__init__(*args, **kwargs))"
        )
        user.start(self.user_greenlets).link_exception(log_death)
        return user

    def stop_users(self, user_classes_stop_count):
        """End that many users of each class, whichever."""
        users = []
        for name, count in user_classes_stop_count.items():
            users += self._some(name, count)
        self._end(users)

    def _some(self, name, count):
        return list(islice((user for user in self.users() if type(user).__name__ == name), count))

    def _end(self, users):
        """End users; those in a task have the stop timeout to finish it."""
        current = gevent.getcurrent()
        own = [user for user in users if user.greenlet is current]
        greenlets = [user.greenlet for user in users if user.greenlet is not current]
        timeout = self.environment.stop_timeout
        if timeout:
            self._request_end_of(users, greenlets, timeout)
        gevent.killall(greenlets, block=True)
        for greenlet in greenlets:
            # The group itself notices only in the loop's next turn.
            self.user_greenlets.discard(greenlet)
        for user in own:
            # It asked for this itself: it ends at its next wait.
            user.greenlet.kill(block=False)

    def _request_end_of(self, users, greenlets, timeout):
        current = gevent.getcurrent()
        for user in users:
            if user.greenlet is not current:
                user.request_end()
        gevent.joinall(greenlets, timeout=timeout)
        if not all(greenlet.dead for greenlet in greenlets):
            logger.info(
                "Not all users finished their tasks & terminated in %s seconds. Stopping them...",
                timeout,
            )

    def start_shape(self):
        """Let the shape say how many users there are."""
        self._shape.start()

    def stop(self):
        """End the test."""
        if self.state in (states.STATE_STOPPED, states.STATE_INIT, states.STATE_CLEANUP):
            return
        logger.debug("Stopping all users")
        self.environment.events.test_stopping.fire(environment=self.environment)
        self.final_user_classes_count = dict(self.user_classes_count)
        self.update_state(states.STATE_CLEANUP)
        self._stop_spawning()
        self._shape.stop()
        self._stop_all_users()
        self.update_state(states.STATE_STOPPED)
        self.cpu_log_warning()
        self.environment.events.test_stop.fire(environment=self.environment)

    def cpu_log_warning(self):
        """Say what moved the figures of the test, if anything did; returns whether it was said."""
        return self._monitor.conclude()

    @property
    def cpu_warning_emitted(self):
        """Whether it was said that users waited for their turn."""
        return self._monitor.has_warned

    def _stop_spawning(self):
        spawning = self.spawning_greenlet
        if spawning is not None and spawning is not gevent.getcurrent():
            spawning.kill(block=True)

    def _stop_all_users(self):
        self._end(self.users())
        self._users_dispatcher = None

    def quit(self):
        """End the test and everything that belongs to the runner."""
        self.stop()
        current = gevent.getcurrent()
        for greenlet in list(self.greenlet):
            if greenlet is current:
                self.greenlet.discard(greenlet)
            else:
                greenlet.kill(block=False)

    def send_user_settings(self, settings):
        """Have the processes of the test follow a change of classes. There is this one alone."""

    def join_processes(self):
        """Wait until all processes of the test have ended. There is this one alone."""

    def end_test(self, why):
        """A user wants the test to end."""
        if not isinstance(why, StopTest) or self.state == states.STATE_CLEANUP:
            return
        if str(why):
            logger.error("%s", why)
        logger.warning("Stopping Locust...")
        exit_code = getattr(why, "exit_code", None)
        if exit_code is not None:
            self.refused = True
            if self.environment.process_exit_code is None:
                self.environment.process_exit_code = exit_code
        self.quit()

    def register_message(self, msg_type, listener, concurrent=False):
        """Call `listener(environment=, msg=)` for messages of a type."""
        if msg_type in self.custom_messages:
            raise Exception(f"Tried to register listener method for {msg_type}, but it already had "
                            "a listener!")
        self.custom_messages[msg_type] = (listener, concurrent)

    def deliver_message(self, message):
        """Call who registered for a message."""
        if message.type not in self.custom_messages:
            logger.warning(f"Unknown message type received: {message.type}")
            return
        listener, concurrent = self.custom_messages[message.type]
        if concurrent:
            gevent.spawn(listener, environment=self.environment, msg=message)
            return
        try:
            listener(environment=self.environment, msg=message)
        except Exception:
            logging.error(f"Uncaught exception in handler for {message.type}\n"
                          f"{traceback.format_exc()}")

    def count_by(self, users):
        """`{class name: n}` of all classes, as the log shows it."""
        counts = {kind.__name__: 0 for kind in self.user_classes} | users
        return json.dumps(dict(sorted(counts.items())))
