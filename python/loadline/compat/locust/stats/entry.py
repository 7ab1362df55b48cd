"""One row of the statistics: counts that the engine keeps, and what Locust derives from them."""

import time
from collections import OrderedDict

from .. import stats as tunables
from ..util.rounding import proper_round
from .buckets import (
    bucket_response_time,
    calculate_response_time_percentile,
    diff_response_time_dicts,
)

_KEPT_BESIDE_WINDOW = 10
# How far from the beginning of the window a histogram may be, as in Locust.
_FURTHEST = 8
_FIELDS = (
    "last_request_timestamp",
    "start_time",
    "num_requests",
    "num_none_requests",
    "num_failures",
    "total_response_time",
    "max_response_time",
    "min_response_time",
    "total_content_length",
    "response_times",
    "num_reqs_per_sec",
    "num_fail_per_sec",
)


def avg(values):
    """The mean; 0 of nothing."""
    return sum(values) / max(len(values), 1)


def _engine_entry(method, name):
    from loadline import native

    return native.load().Entry(method, name)


def _count(field):
    def read(self):
        return getattr(self.counts, field)

    def write(self, value):
        setattr(self.counts, field, value)

    return property(read, write)


class StatsEntry:
    """The statistics of one method and name, or of all requests."""

    def __init__(self, stats, name, method, use_response_times_cache=False, counts=None):
        self.stats = stats
        self.name = name
        self.method = method
        self.use_response_times_cache = use_response_times_cache
        # The engine's Entry.
        self.counts = counts if counts is not None else _engine_entry(method, name)
        # {second: histogram up to then}, of the newest seconds.
        self.response_times_cache = OrderedDict() if use_response_times_cache else None
        self._remember_the_beginning()

    num_requests = _count("num_requests")
    num_none_requests = _count("num_none_requests")
    num_failures = _count("num_failures")
    total_response_time = _count("total_response_time")
    total_content_length = _count("total_content_length")
    min_response_time = _count("min_response_time")
    max_response_time = _count("max_response_time")
    response_times = _count("response_times")
    num_reqs_per_sec = _count("num_reqs_per_sec")
    num_fail_per_sec = _count("num_fail_per_sec")
    start_time = _count("start_time")
    last_request_timestamp = _count("last_request_timestamp")

    def reset(self):
        """Begin anew at zero."""
        self.counts.reset()
        self.forget()

    def forget(self):
        """Drop the histograms of the newest seconds."""
        if self.use_response_times_cache:
            self.response_times_cache = OrderedDict()

    def log(self, response_time, content_length):
        """Count one request in this row alone."""
        now, newest = int(time.time()), self.last_request_timestamp
        if newest and now > int(newest):
            self._remember(now - 1)
        rounding = tunables.bucket_response_time
        self.counts.log(
            response_time, content_length, None if rounding is bucket_response_time else rounding
        )

    def log_error(self, _error=None):
        """Count one failure in this row alone."""
        self.counts.log_error()

    def _remember_the_beginning(self):
        """A row is made when it is asked for, behind its first requests: it was empty before."""
        if self.use_response_times_cache and self.num_requests:
            before = min(self.num_reqs_per_sec) - 1
            self.response_times_cache[before] = tunables.CachedResponseTimes({}, 0, 0)
        self._remember(int(time.time()))

    def _remember(self, second):
        if self.use_response_times_cache:
            self.response_times_cache[second] = tunables.CachedResponseTimes(
                dict(self.response_times), self.num_requests, self.num_none_requests
            )
            kept = tunables.CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW + _KEPT_BESIDE_WINDOW
            while len(self.response_times_cache) > kept:
                self.response_times_cache.popitem(last=False)

    @property
    def fail_ratio(self):
        """Failures by requests; 1 where there are only failures."""
        if self.num_requests:
            return self.num_failures / self.num_requests
        return 1.0 if self.num_failures else 0.0

    @property
    def _timed(self):
        return self.num_requests - self.num_none_requests

    @property
    def avg_response_time(self):
        """The exact mean in ms."""
        return self.total_response_time / self._timed if self._timed else 0.0

    @property
    def median_response_time(self):
        """The median of the rounded times, within the exact minimum and maximum."""
        if not self._timed or self.min_response_time is None:
            return 0
        median = self.get_response_time_percentile(0.5)
        return max(min(median, self.max_response_time), self.min_response_time)

    @property
    def avg_content_length(self):
        """Bytes of a body on average."""
        return self.total_content_length / self.num_requests if self.num_requests else 0

    @property
    def current_rps(self):
        """Requests per second of the newest whole seconds, two or three of them left out."""
        return self._current(self.num_reqs_per_sec)

    @property
    def current_fail_per_sec(self):
        """Failures per second of the same seconds."""
        return self._current(self.num_fail_per_sec)

    def _current(self, per_second):
        newest = self.stats.last_request_timestamp
        if newest is None:
            return 0.0
        begin = max(int(newest) - 12, int(self.stats.start_time or 0))
        return float(avg([per_second.get(second, 0) for second in range(begin, int(newest) - 2)]))

    @property
    def total_rps(self):
        """Requests per second of the whole run."""
        return self._per_second(self.num_requests)

    @property
    def total_fail_per_sec(self):
        """Failures per second of the whole run."""
        return self._per_second(self.num_failures)

    def _per_second(self, count):
        newest, begin = self.stats.last_request_timestamp, self.stats.start_time
        if not newest or not begin or newest <= begin:
            return 0.0
        return count / (newest - begin)

    def get_response_time_percentile(self, percent):
        """The time that a share `percent` (0 to 1) took at most, as a bucket; 0 of nothing."""
        return calculate_response_time_percentile(self.response_times, self._timed, percent)

    def get_response_time_percentiles(self, shares):
        """The same for several shares, of times that are taken from the engine once."""
        times, timed = self.response_times, self._timed
        return [calculate_response_time_percentile(times, timed, share) for share in shares]

    def get_current_response_time_percentile(self, percent):
        """The same of about the last ten seconds; None where nothing is known of them."""
        if not self.use_response_times_cache:
            raise ValueError(
                "StatsEntry.use_response_times_cache must be set to True to calculate the "
                "*current* response time percentile"
            )
        cached = self._before_window(int(time.time()))
        if cached is None:
            return None
        return calculate_response_time_percentile(
            diff_response_time_dicts(self.response_times, cached.response_times),
            self._timed - (cached.num_requests - cached.num_none_requests),
            percent,
        )

    def _before_window(self, now):
        """The histogram that is closest to as old as the window is long."""
        window = tunables.CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW
        for distance in range(_FURTHEST + 1):
            for second in (now - window - distance, now - window + distance):
                if second in self.response_times_cache:
                    return self.response_times_cache[second]
        return None

    def get_stripped_report(self):
        """What other processes need to know. Reading it changes nothing."""
        return self.serialize()

    def serialize(self):
        """All counts as plain data."""
        data = {"name": self.name, "method": self.method}
        for field in _FIELDS:
            value = getattr(self, field)
            data[field] = dict(value) if isinstance(value, dict) else value
        return data

    @classmethod
    def unserialize(cls, data, stats=None):
        """A row of its own with the counts that `serialize` gave."""
        entry = cls(stats, data["name"], data["method"])
        for field in _FIELDS:
            setattr(entry.counts, field, data[field])
        return entry

    def extend(self, other):
        """Add the counts of another row."""
        self.counts.add(other.serialize())

    def to_dict(self):
        """What the web page shows of the row."""
        shares = tunables.PERCENTILES_TO_STATISTICS
        return {
            "method": self.method,
            "name": self.name,
            "num_requests": self.num_requests,
            "num_failures": self.num_failures,
            "min_response_time": proper_round(self.min_response_time or 0),
            "max_response_time": proper_round(self.max_response_time),
            "current_rps": self.current_rps,
            "current_fail_per_sec": self.current_fail_per_sec,
            "avg_response_time": self.avg_response_time,
            "median_response_time": self.median_response_time,
            "total_rps": self.total_rps,
            "total_fail_per_sec": self.total_fail_per_sec,
            **{
                f"response_time_percentile_{share}": self.get_response_time_percentile(share)
                for share in shares
            },
            "avg_content_length": self.avg_content_length,
        }

    def as_of_now(self, stats):
        """A row with the same counts, which nobody counts on, of the statistics `stats`."""
        return StatsEntry(stats, self.name, self.method, counts=self.counts.copy())

    def __str__(self):
        return self.to_string()

    def to_string(self, current=True):
        """The row of the table; with rates of now, or else of the whole run."""
        from .tables import entry_row

        return entry_row(self, current)

    def percentile(self):
        """The row of the table of percentiles."""
        from .tables import percentile_row

        if not self.num_requests:
            raise ValueError("Can't calculate percentile on url with no successful requests")
        return percentile_row(self)
