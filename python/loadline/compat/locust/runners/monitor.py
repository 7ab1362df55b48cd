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
        self._warned = None

    def watch_usage(self):
        """Look at CPU and memory every few seconds. Does not return."""
        while True:
            wall, cpu, lag = time.monotonic(), time.process_time(), _hub_lag()
            gevent.sleep(settings.CPU_MONITOR_INTERVAL)
            took = time.monotonic() - wall
            self.cpu_usage = (time.process_time() - cpu) / took * 100
            self.memory_usage = _resident_bytes()
            self._tell(took, _hub_lag()["total_ms"] - lag["total_ms"])

    def _tell(self, took, lag_ms):
        events, environment = self._runner.environment.events, self._runner.environment
        events.usage_monitor.fire(
            environment=environment, cpu_usage=self.cpu_usage, memory_usage=self.memory_usage
        )
        if self.cpu_usage <= settings.CPU_WARNING_THRESHOLD:
            return
        events.cpu_warning.fire(environment=environment, cpu_usage=self.cpu_usage)
        if lag_ms > took * 1000 * _LAG_THAT_MATTERS and not self._warned:
            self._warned = _hub_lag()
            logger.warning(
                "CPU usage above %s%%, and users waited %.0f ms for their turn in the last %.0f "
                "seconds. Use --processes to spread them over more cores.",
                settings.CPU_WARNING_THRESHOLD,
                lag_ms,
                took,
            )

    def repeat_warning(self):
        """At the end of a test, say once more what moved its figures, and where."""
        if self._warned:
            lag = _hub_lag()
            where = f", at worst at {lag['worst']}" if lag.get("worst") else ""
            logger.warning(
                "CPU usage was too high at some point during the test: users waited up to %.0f ms "
                "for their turn%s.",
                lag["max_ms"],
                where,
            )

    def keep_seconds(self):
        """Keep the histograms of each second, for *current* percentiles. Does not return."""
        while True:
            now = time.time()
            gevent.sleep(1 - now % 1)
            stats = self._runner.stats
            if stats.use_response_times_cache and stats.num_requests:
                stats.remember_second(int(time.time()) - 1)


def _hub_lag():
    from loadline import native

    return native.load().hub_lag()


def _resident_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
