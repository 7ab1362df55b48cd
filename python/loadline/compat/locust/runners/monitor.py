"""Watches the process itself: CPU, memory, and whether the loop was blocked."""

import logging
import os
import time

import gevent

from .. import runners as settings

logger = logging.getLogger("locust.runners")

# The part of a check's interval for which the loop must have been blocked before a high CPU usage
# means that figures were moved by it.
_LAG_THAT_MATTERS = 0.01


class Monitor:
    """Figures of this process, taken while a runner lives."""

    def __init__(self, runner):
        self._runner = runner
        self.cpu_usage = 0
        self.memory_usage = 0
        # Whether users waited so long for their turn that figures were moved by it.
        self.has_warned = False
        self._began = None

    def begin(self):
        """A test begins: what was before is no user's."""
        self.has_warned = False
        self._began = time.monotonic()
        _hub_lag(forget=True)

    def watch_usage(self):
        """Look at CPU and memory every few seconds. Does not return."""
        self.memory_usage = _resident_bytes()
        while True:
            wall, cpu, lag = time.monotonic(), time.process_time(), _hub_lag()
            gevent.sleep(settings.CPU_MONITOR_INTERVAL)
            took = time.monotonic() - wall
            self.cpu_usage = (time.process_time() - cpu) / took * 100
            self.memory_usage = _resident_bytes()
            self._warn_of(took, _hub_lag()["total_ms"] - lag["total_ms"])

    def _warn_of(self, took, lag_ms):
        events, environment = self._runner.environment.events, self._runner.environment
        events.usage_monitor.fire(
            environment=environment, cpu_usage=self.cpu_usage, memory_usage=self.memory_usage
        )
        is_high = self.cpu_usage > settings.CPU_WARNING_THRESHOLD
        if is_high:
            events.cpu_warning.fire(environment=environment, cpu_usage=self.cpu_usage)
        if not self._runner.has_users:
            return
        if not self.has_warned and _matters(lag_ms, took):
            self.has_warned = True
            logger.warning(
                "%s waited %.0f ms for their turn in the last %.0f seconds. Use --processes to "
                "spread them over more cores.",
                f"CPU usage above {settings.CPU_WARNING_THRESHOLD}%, and users"
                if is_high else "Users",
                lag_ms,
                took,
            )

    def conclude(self):
        """At the end of a test, say whether users waited for their turn, and where.

        Of one that ends before the first look this is all that is said. Returns whether it was.
        """
        if not self._runner.has_users:
            return False
        lag = _hub_lag()
        if self._began is not None:
            took = time.monotonic() - self._began
            self.has_warned |= _matters(lag["total_ms"], took)
        if self.has_warned:
            where = f", at worst at {lag['worst']}" if lag.get("worst") else ""
            logger.warning(
                "Users waited for their turn at some point during the test, up to %.0f ms%s. Use "
                "--processes to spread them over more cores.",
                lag["max_ms"],
                where,
            )
        return self.has_warned

    def keep_seconds(self):
        """Keep the histograms of each second, for *current* percentiles. Does not return."""
        while True:
            now = time.time()
            gevent.sleep(1 - now % 1)
            stats = self._runner.stats
            if stats.use_response_times_cache and stats.num_requests:
                stats.remember_second(int(time.time()) - 1)


def _matters(lag_ms, seconds):
    return lag_ms > seconds * 1000 * _LAG_THAT_MATTERS


def _hub_lag(forget=False):
    from loadline import native

    return native.load().hub_lag(forget)


def _resident_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
