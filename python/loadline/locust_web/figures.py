"""The figures of a test as `/stats/requests` has them."""

import json
import time
from itertools import islice

from gevent.lock import RLock

from locust import stats as tunables
from locust.runners import STATE_MISSING, MasterRunner
from locust.stats import sort_stats
from locust.stats.slices import in_slices

# So many names and kinds of failures are shown.
_MOST_ROWS = 500

_WITHOUT_RUNNER = {
    "stats": [],
    "errors": [],
    "total_rps": 0.0,
    "total_fail_per_sec": 0.0,
    "fail_ratio": 0.0,
    "current_response_time_percentile_1": None,
    "current_response_time_percentile_2": None,
    "state": STATE_MISSING,
    "user_count": 0,
}
# What the figures have of their last row as well.
_OF_TOTAL = ("current_rps", "current_fail_per_sec", "total_rps", "total_fail_per_sec")


def figures(environment):
    """Rows, their total, failures, and how the test stands; as of one instant."""
    runner = environment.runner
    if runner is None:
        return dict(_WITHOUT_RUNNER)
    shown = runner.stats.as_of_now()
    shares = tunables.PERCENTILES_TO_CHART
    newest = {
        f"response_time_percentile_{share}":
            runner.stats.total.get_current_response_time_percentile(share)
        for share in shares
    }
    rows = [*islice(sort_stats(shown.entries), _MOST_ROWS), shown.total]
    rows = [row.to_dict() for row in in_slices(rows)]
    failures = islice(shown.errors.values(), _MOST_ROWS)
    return {
        "stats": rows,
        "errors": [one.serialize() for one in in_slices(failures)],
        **{name: rows[-1][name] for name in _OF_TOTAL},
        "fail_ratio": shown.total.fail_ratio,
        "current_response_time_percentiles": newest,
        **_workers(runner),
        "state": runner.state,
        "user_count": runner.user_count,
    }


def _workers(runner):
    if not isinstance(runner, MasterRunner):
        return {}
    workers = [
        {
            "id": one.id,
            "state": one.state,
            "user_count": one.user_count,
            "cpu_usage": one.cpu_usage,
            "memory_usage": one.memory_usage,
        }
        for one in runner.shown_workers
    ]
    return {"workers": workers, "worker_count": runner.worker_count}


def as_json(report):
    """The figures as JSON, made a slice at a time."""
    return "{" + ",".join(f"{json.dumps(key)}:{_text(one)}" for key, one in report.items()) + "}"


def _text(value):
    if isinstance(value, list):
        return "[" + ",".join(map(json.dumps, in_slices(value))) + "]"
    return json.dumps(value)


class Remembered:
    """What a function made last, for a while: it is made once, however many ask.

    Where making it takes longer than it is remembered, it is remembered for twice as long.
    """

    def __init__(self, make, seconds):
        self._make = make
        self._seconds = seconds
        self._made = None
        self._over = 0.0
        self._lock = RLock()
        # How often it was forgotten.
        self._forgotten = 0

    def __call__(self):
        with self._lock:
            began, forgotten = time.monotonic(), self._forgotten
            if began >= self._over:
                self._made = self._make()
                now = time.monotonic()
                if now - began > self._seconds:
                    self._seconds *= 2
                self._over = now + self._seconds if forgotten == self._forgotten else 0.0
            return self._made

    def clear_cache(self):
        """Make it anew for the next one who asks."""
        self._forgotten += 1
        self._over = 0.0
