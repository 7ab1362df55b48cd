"""Ends users that let nothing else run, once a signal has asked for the end of their test.

The runner ends users that wait, whatever for. A task that computes keeps the loop from running, and
with it whoever would end the test: for that the interpreter calls a handler of a signal meanwhile.
What users do in their `on_stop` they may finish, as where the runner ends them.
"""

import atexit
import signal

import gevent
from gevent import GreenletExit
from locust.user.task import TaskSet
from locust.user.users import User

# How long the loop has had no turn, in seconds, before the user that holds it is ended.
_PATIENCE = 0.5
# How often the loop shows that it has turns.
_TURN = 0.1
# What calls `on_stop`, of a user and of a set.
_CLEAN_UPS = {one.__code__ for one in (User._call_on_stop, TaskSet._leave_on, TaskSet._end)}


def end_busy_users(runner, stop_timeout):
    """From the stop timeout on, end each user of this process that keeps the loop from running."""
    if runner.has_users:
        _Watch(runner).begin((stop_timeout or 0) + _PATIENCE)


class _Watch:
    def __init__(self, runner):
        self._runner = runner
        self._has_turned = False
        # The greenlets of users that it has ended.
        self._ended = set()

    def begin(self, seconds):
        gevent.spawn(self._turn)
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, seconds, _PATIENCE)
        # An interpreter that ends has no handler any more, and the signal would kill it.
        atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)

    def _turn(self):
        while True:
            self._has_turned = True
            gevent.sleep(_TURN)

    def _look(self, _number, frame):
        has_turned, self._has_turned = self._has_turned, False
        if not has_turned and self._may_be_ended(gevent.getcurrent(), frame):
            self._ended.add(gevent.getcurrent())
            # As the runner ends one that waits.
            raise GreenletExit

    def _may_be_ended(self, greenlet, frame):
        is_user = greenlet in self._runner.user_greenlets
        return is_user and greenlet not in self._ended and not _is_within_clean_up(frame)


def _is_within_clean_up(frame):
    while frame is not None and frame.f_code not in _CLEAN_UPS:
        frame = frame.f_back
    return frame is not None
