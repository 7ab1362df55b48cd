"""The runner of a process that has the users which the coordinator tells it to have.

It is a child of the coordinator, the part of an agent, or a worker that has joined it.
"""

import argparse
import logging
import os
import time

import gevent
from gevent.event import Event

from .. import runners as states
from ..exception import RPCError, RPCReceiveError, StopTest
from ..log import new_lines
from ..rpc import Message
from .base import Runner, log_death
from .distributed import DistributedRunner

logger = logging.getLogger("locust.runners")

# Seconds between two reports: what is lost at most with a child that is killed.
_REPORT_INTERVAL = 1.0
# Seconds between two signs that the loop of this process runs, until its last word.
_BEAT = 0.25
# What Locust calls the states in which a worker ends users, and waits for the next test.
_SHOWN_STATES = {states.STATE_CLEANUP: states.STATE_RUNNING,
                 states.STATE_STOPPED: states.STATE_INIT}


class WorkerRunner(DistributedRunner):
    """Follows the messages of a master.

    Made by a program of one's own, it joins the master at this address, and waits for it as long
    as `locust.runners.CONNECT_RETRY_COUNT` says. A master beyond this machine has a token, which
    is that of the variable LOADLINE_MASTER_TOKEN if none is given.
    """

    def __init__(self, environment, master_host, master_port, master_token=None):
        """Raises ConnectionError where there is no master that can be joined."""
        from loadline.locust_runner.library import join

        seat = join(master_host, master_port, master_token)
        self._follow_messages(environment, seat.pipe, seat.index, seat.name)
        self.master_host, self.master_port = master_host, master_port
        self._seat = seat
        seat.record(environment)
        self._serving = self.greenlet.spawn(self._have_part)
        self._serving.link_exception(log_death)

    def _follow_messages(self, environment, pipe, index, client_id):
        """Be a runner that is told what to do through a pipe."""
        Runner.__init__(self, environment)
        self.worker_index = index
        self.client_id = client_id
        self._pipe = pipe
        self._handed_out = {}
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
        # Whether it does not have all classes of the test.
        self._is_unfit = False
        # What tells the coordinator, without being asked, that this process is there, and how.
        self._telling = []
        # How many lines of the log it has been told of.
        self._lines_told = 0
        # Whether it does what the coordinator says: from then on it can be interrupted.
        self._is_serving = Event()

    def _have_part(self):
        """Have users until the master needs no more of them, or this worker is to leave."""
        self.serve()
        self._seat.finish_record()
        self.send_end(0)
        gevent.killall(self._telling)
        self._seat.leave()
        Runner.quit(self)

    def serve(self):
        """Do what the coordinator says until it says quit, or is gone."""
        self._send("ready")
        self._telling = [gevent.spawn(one) for one in (
            self._beat_for_ever, self._send_state_for_ever, self._send_log_for_ever)]
        reports = gevent.spawn(self._report_for_ever)
        try:
            self._is_serving.set()
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
        self._leaves = True
        Runner.stop(self)
        self._report()
        self._send_log()

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
        elif message.type == "heartbeat":
            self.environment.events.heartbeat_received.fire(
                client_id=message.node_id, timestamp=time.time()
            )
        elif message.type == "custom":
            self.deliver_message(
                Message(message.data["type"], message.data["data"], message.node_id)
            )

    def _on_spawn(self, told):
        if self._lacks(told["classes"]):
            return
        self._take_settings(told)
        if self.state not in (states.STATE_RUNNING, states.STATE_SPAWNING):
            self.prepare_test()
            self._handed_out = {}
            self.part = told["part"]
            self.environment.events.test_start.fire(environment=self.environment)
        self.use_host()
        self.update_state(told["state"])
        try:
            self._go_to(told["counts"])
        except StopTest as e:
            self.end_test(e)
            return
        self._send("users", self.user_classes_count)

    def _lacks(self, names):
        """Whether this process does not have one of the classes; says so once."""
        missing = sorted(set(names) - set(self._known_classes))
        if missing and not self._is_unfit:
            sentence = (
                f"{self.client_id} has no user class {', '.join(missing)}: give the master and its "
                "workers the same classes."
            )
            logger.error(sentence)
            self._send("unfit", sentence)
        self._is_unfit = bool(missing)
        return self._is_unfit

    @property
    def _known_classes(self):
        return self.environment.available_user_classes or self.user_classes_by_name

    def _take_settings(self, told):
        """What the page may have changed since the processes began."""
        environment = self.environment
        environment.host = told["host"]
        environment.stop_timeout = told["stop_timeout"]
        if environment.parsed_options is not None:
            vars(environment.parsed_options).update(told["options"])
        elif told["options"]:
            environment.parsed_options = argparse.Namespace(**told["options"])
        environment.user_classes = [self._known_classes[name] for name in told["classes"]]

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

    def send_end(self, code):
        """Tell the coordinator that this process has done all that it was to do."""
        self._send("ended", {"code": code, "wanted": self._wanted_code})

    def _beat_for_ever(self):
        while True:
            self._send("beat")
            gevent.sleep(_BEAT)

    def _send_state_for_ever(self):
        while True:
            self._send_state()
            gevent.sleep(states.HEARTBEAT_INTERVAL)

    def _send_state(self):
        self._send("heartbeat", {
            "state": _SHOWN_STATES.get(self.state, self.state),
            "current_cpu_usage": self.current_cpu_usage,
            "current_memory_usage": self.current_memory_usage,
        })

    def update_state(self, new_state):
        """Enter another state, which the coordinator is told at once."""
        super().update_state(new_state)
        self._send_state()

    def _send_log_for_ever(self):
        while states.WORKER_LOG_REPORT_INTERVAL > 0:
            self._send_log()
            gevent.sleep(states.WORKER_LOG_REPORT_INTERVAL)

    def _send_log(self):
        """Tell the coordinator what was logged since the last time."""
        if states.WORKER_LOG_REPORT_INTERVAL <= 0:
            return
        lines, self._lines_told = new_lines(self._lines_told)
        if lines:
            self._send("logs", lines)

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
        formatted_tb = self._without_own_folder(formatted_tb)
        super().log_exception(node_id, msg, formatted_tb)
        self._send("exception", {"msg": msg, "traceback": formatted_tb})

    def _formatted(self, tb):
        return self._without_own_folder(super()._formatted(tb))

    def _without_own_folder(self, text):
        return text.replace(self.own_folder + os.sep, "") if self.own_folder else text

    def end_test(self, why):
        """A user wants the test to end: that is the coordinator's to do."""
        if str(why):
            logger.error("%s", why)
        logger.warning("Stopping Locust...")
        self._request_end_of_test(getattr(why, "exit_code", None), hasattr(why, "exit_code"))

    def _request_end_of_test(self, exit_code, refused):
        if self._leaves:
            return
        self._send("end_test", {"exit_code": exit_code, "refused": refused})

    def stop(self):
        """A task ends the test, in all processes."""
        self._request_end_of_test(self.environment.process_exit_code, False)

    def quit(self):
        """Leave the test; a task ends it, in all processes."""
        if gevent.getcurrent() in self.user_greenlets:
            self.stop()
            return
        self._is_serving.wait()
        self._serving.kill(RPCReceiveError("this worker leaves"))

    def send_message(self, msg_type, data=None, client_id=None):
        """Send a message to the coordinator."""
        self._pipe.send("custom", {"type": msg_type, "data": data}, self.client_id)


class ChildRunner(WorkerRunner):
    """The runner of a command's child or part, which ends with the test command."""

    def __init__(self, environment, pipe, index, client_id):
        self._follow_messages(environment, pipe, index, client_id)

    def serve(self):
        """Do what the coordinator says until it says quit, or is gone."""
        super().serve()
        Runner.quit(self)

    def quit(self):
        """A task ends the test, in all processes."""
        self.stop()
