"""The runner of a child process: has the users that the coordinator tells it to have."""

import logging
import os

import gevent

from .. import runners as states
from ..exception import RPCError, StopTest
from ..rpc import Message
from .base import Runner, log_death
from .distributed import WorkerRunner

logger = logging.getLogger("locust.runners")

# Seconds between two reports: what is lost at most with a child that is killed.
_REPORT_INTERVAL = 1.0
# Seconds between two signs that the loop of this process runs, until its last word.
_BEAT = 0.25


class ChildRunner(WorkerRunner):
    """Follows the messages of the coordinator."""

    def __init__(self, environment, pipe, index, client_id):
        Runner.__init__(self, environment)
        self.worker_index = index
        self.client_id = client_id
        self._pipe = pipe
        self._handed_out = {}
        self._spawning = None
        # What this process has of the record of the test: its number, how many there are, and when
        # the load begins. None if there is no record.
        self.part = None
        # The exit code that its users asked for, before the test ended.
        self._wanted_code = None
        # Whether this process is about to end, whatever becomes of the test.
        self._leaves = False
        # The folder of its locustfile, if that is one for this process alone: what it tells of
        # files leaves it out, so that it is the same for all processes.
        self.own_folder = ""

    def serve(self):
        """Do what the coordinator says until it says quit, or is gone."""
        self._send("ready")
        gevent.spawn(self._beat_for_ever)
        reports = gevent.spawn(self._report_for_ever)
        try:
            while True:
                message = self._pipe.receive()
                if message.type == "stop":
                    # Whoever listens to the end sees what this process alone has counted last.
                    self._wanted_code = self.environment.process_exit_code
                if message.type == "quit":
                    break
                self._follow(message)
        except RPCError:
            logger.debug("The coordinator is gone")
        reports.kill()
        self._end_all()

    def _follow(self, message):
        if message.type == "spawn":
            self._stop_spawning()
            self.spawning_greenlet = gevent.spawn(self._on_spawn, message.data)
            self.spawning_greenlet.link_exception(log_death)
        elif message.type == "spawning_complete":
            self.environment.events.spawning_complete.fire(**message.data)
        elif message.type == "user_settings":
            self.environment.update_user_class(message.data)
        elif message.type == "stop":
            gevent.spawn(self._on_stop).link_exception(log_death)
        elif message.type == "custom":
            self.deliver_message(
                Message(message.data["type"], message.data["data"], message.node_id)
            )

    def _on_spawn(self, told):
        self._take_settings(told)
        if self.state not in (states.STATE_RUNNING, states.STATE_SPAWNING):
            self.prepare_test()
            self._handed_out = {}
            self.part = told["part"]
            self.environment.events.test_start.fire(environment=self.environment)
        self.update_state(told["state"])
        try:
            self._go_to(told["counts"])
        except StopTest as e:
            self.end_test(e)
            return
        self._send("users", self.user_classes_count)

    def _take_settings(self, told):
        """What the page may have changed since the processes began."""
        environment = self.environment
        environment.host = told["host"]
        vars(environment.parsed_options).update(told["options"])
        known = environment.available_user_classes or self.user_classes_by_name
        environment.user_classes = [known[name] for name in told["classes"]]

    def _go_to(self, counts):
        more = {name: n - self._handed_out.get(name, 0) for name, n in counts.items()}
        self._handed_out = dict(counts)
        self.spawn_users({name: n for name, n in more.items() if n > 0})
        fewer = {name: -n for name, n in more.items() if n < 0}
        if fewer:
            self.stop_users(fewer)

    def _on_stop(self):
        try:
            Runner.stop(self)
            self._report()
        finally:
            self._send("stopped")

    def _end_all(self):
        self._leaves = True
        Runner.stop(self)
        self._report()
        Runner.quit(self)

    def say_last_word(self, code):
        """Tell the coordinator that this process has done all that it was to do."""
        self._send("ended", {"code": code, "wanted": self._wanted_code})

    def _beat_for_ever(self):
        while True:
            self._send("beat")
            gevent.sleep(_BEAT)

    def _report_for_ever(self):
        while True:
            gevent.sleep(_REPORT_INTERVAL)
            self._report()

    def _report(self):
        """Tell what was counted since the last report."""
        stats = self.stats
        report = {
            "stats": stats.serialize_stats(),
            "stats_total": stats.total.serialize(),
            "errors": stats.serialize_errors(),
            "user_count": self.user_count,
            "user_classes_count": self.user_classes_count,
        }
        stats.reset_all()
        self.environment.events.report_to_master.fire(client_id=self.client_id, data=report)
        self._send("report", report)

    def _send(self, message_type, data=None):
        try:
            self._pipe.send(message_type, data, self.client_id)
        except RPCError as e:
            logger.debug("%s", e)

    def log_exception(self, node_id, msg, formatted_tb):
        """Tell the coordinator of an exception of a task."""
        if self.own_folder:
            formatted_tb = formatted_tb.replace(self.own_folder + os.sep, "")
        super().log_exception(node_id, msg, formatted_tb)
        self._send("exception", {"msg": msg, "traceback": formatted_tb})

    def end_test(self, why):
        """A user wants the test to end: that is the coordinator's to do."""
        if str(why):
            logger.error("%s", why)
        logger.warning("Stopping Locust...")
        self._ask_to_end_test(getattr(why, "exit_code", None), hasattr(why, "exit_code"))

    def _ask_to_end_test(self, exit_code, refused):
        if self._leaves:
            return
        self._send("end_test", {"exit_code": exit_code, "refused": refused})

    def stop(self):
        """A task ends the test, in all processes."""
        self._ask_to_end_test(self.environment.process_exit_code, False)

    quit = stop

    def send_message(self, msg_type, data=None, client_id=None):
        """Send a message to the coordinator."""
        self._pipe.send("custom", {"type": msg_type, "data": data}, self.client_id)
