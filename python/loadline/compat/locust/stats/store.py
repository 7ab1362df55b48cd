"""Counts of requests in plain Python, with the interface of the engine's own.

A process that does not send requests itself, but merges what its children report, keeps its counts
here.
"""

import time
from collections import defaultdict
from itertools import islice

from .buckets import bucket_response_time

_SUMS = (
    "num_requests",
    "num_none_requests",
    "num_failures",
    "total_response_time",
    "total_content_length",
)
_DICTS = ("response_times", "num_reqs_per_sec", "num_fail_per_sec")


class StoreEntry:
    """The counts of one method and name."""

    def __init__(self, method, name):
        self.method = method
        self.name = name
        self.reset()

    def reset(self):
        """Begin anew at zero."""
        for field in _SUMS:
            setattr(self, field, 0)
        for field in _DICTS:
            setattr(self, field, defaultdict(int))
        self.min_response_time = None
        self.max_response_time = 0
        self.start_time = time.time()
        self.last_request_timestamp = None

    def copy(self):
        """The same counts as they are now."""
        same = StoreEntry(self.method, self.name)
        for field, value in vars(self).items():
            setattr(same, field, value.copy() if isinstance(value, dict) else value)
        return same

    def log(self, response_time, length, bucket=None):
        """Count one request; `response_time` in ms, or None where it has none."""
        now = time.time()
        bucket = bucket or bucket_response_time
        self.num_requests += 1
        self.num_reqs_per_sec[int(now)] += 1
        self.last_request_timestamp = now
        self.total_content_length += length
        if response_time is None:
            self.num_none_requests += 1
            return
        self.total_response_time += response_time
        self._widen(response_time, response_time)
        self.response_times[bucket(response_time)] += 1

    def _widen(self, low, high):
        if low is not None:
            known = self.min_response_time
            self.min_response_time = low if known is None else min(known, low)
        self.max_response_time = max(self.max_response_time, high)

    def log_error(self):
        """Count one failure, now."""
        self.num_failures += 1
        self.num_fail_per_sec[int(time.time())] += 1

    def add(self, report):
        """Add the counts of another process: a dict of the fields of this class."""
        for field in _SUMS:
            setattr(self, field, getattr(self, field) + report[field])
        for field in _DICTS:
            counts = getattr(self, field)
            for key, count in report[field].items():
                counts[int(key) if field != "response_times" else key] += count
        self._widen(report["min_response_time"], report["max_response_time"])
        self.start_time = min(self.start_time, report["start_time"])
        newest = report["last_request_timestamp"]
        if newest is not None:
            self.last_request_timestamp = max(self.last_request_timestamp or 0, newest)


class Store:
    """All counts of a run, and their total."""

    def __init__(self):
        self.bucket = None
        self.on_failure = None
        self.clear()

    def clear(self):
        """Forget all entries."""
        self._entries = {}
        self._total = StoreEntry("", "Aggregated")

    def reset(self):
        """Set all entries to zero."""
        for one in [self._total, *self._entries.values()]:
            one.reset()

    def entry(self, method, name):
        """The entry of a method and name, made if it is missing."""
        key = (method, name)
        if key not in self._entries:
            self._entries[key] = StoreEntry(method, name)
        return self._entries[key]

    def entries(self, first=0):
        """All entries behind the `first` of them, in the order in which they were made."""
        return list(islice(self._entries.values(), first, None))

    def total(self):
        """What all requests together are."""
        return self._total

    def log(self, method, name, response_time_ms, length):
        """Count one request."""
        for one in (self._total, self.entry(method, name)):
            one.log(response_time_ms, length, self.bucket)

    def log_error(self, method, name, _error_key):
        """Count one failure."""
        for one in (self._total, self.entry(method, name)):
            one.log_error()
