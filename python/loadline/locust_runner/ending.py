"""Ends users that let nothing else run, once a signal has asked for the end of their test.

The runner ends users that wait, whatever for. A task that computes keeps the loop from running, and
with it whoever would end the test: for that the interpreter calls a handler of a signal meanwhile.
"""

import atexit
import signal

import gevent
from gevent import GreenletExit

# How long the loop has had no turn, in seconds, before the user that holds it is ended.
_PATIENCE = 0.5
# How often the loop shows that it has turns.
_TURN = 0.1


def end_busy_users(runner, stop_timeout):
    """From the stop timeout on, end each user of this process that keeps the loop from running."""
    if runner.has_users:
        _Watch(runner).begin((stop_timeout or 0) + _PATIENCE)


class _Watch:
    def __init__(self, runner):
        self._runner = runner
        self._has_turned = False

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

    def _look(self, _number, _frame):
        has_turned, self._has_turned = self._has_turned, False
        if not has_turned and gevent.getcurrent() in self._runner.user_greenlets:
            # As the runner ends one that waits.
            raise GreenletExit
