"""All statistics of a run, as locustfiles know them: `environment.stats`."""

from .. import stats as tunables
from .buckets import bucket_response_time
from .entry import StatsEntry
from .errors import StatsError
from .slices import in_slices

_NAMES_REMEMBERED = 200


def sort_stats(stats):
    """The values of a dict in the order of its keys."""
    return [stats[key] for key in sorted(stats)]


class EntriesDict(dict):
    """Rows by (name, method); a row that is asked for is made."""

    def __init__(self, request_stats):
        super().__init__()
        self.request_stats = request_stats

    def __missing__(self, key):
        name, method = key
        counts = self.request_stats.native.entry(method, name)
        return self.request_stats.adopt(counts, self)


class RequestStats:
    """Rows, their total, failures by their text, and the points of the report's plots."""

    def __init__(self, use_response_times_cache=True):
        self.use_response_times_cache = use_response_times_cache
        # What counts: the engine's Stats.
        self.native = _engine_stats()
        self.native.on_failure = self.note_failure
        self._entries = EntriesDict(self)
        # How many of the rows that the store has made are among them for sure.
        self._adopted = 0
        self._total = None
        self.errors = {}
        self.history = []
        # Whether *current* percentiles are wanted of each name, however many there are.
        self.remembers_all = False

    def use_custom_buckets(self):
        """Let the engine round times as `locust.stats.bucket_response_time` does now."""
        rounding = tunables.bucket_response_time
        self.native.bucket = None if rounding is bucket_response_time else rounding

    def adopt(self, counts, entries):
        """Make the row of an entry of the engine."""
        row = StatsEntry(
            self, counts.name, counts.method, self.use_response_times_cache, counts=counts
        )
        entries[(counts.name, counts.method)] = row
        return row

    @property
    def entries(self):
        """Rows by (name, method)."""
        new = self.native.entries(self._adopted)
        self._adopted += len(new)
        for counts in new:
            if (counts.name, counts.method) not in self._entries:
                self.adopt(counts, self._entries)
        return self._entries

    @property
    def total(self):
        """The row of all requests."""
        if self._total is None:
            self._total = StatsEntry(
                self, "Aggregated", "", self.use_response_times_cache, counts=self.native.total()
            )
        return self._total

    @property
    def num_requests(self):
        """Requests of all rows."""
        return self.total.num_requests

    @property
    def num_none_requests(self):
        """Requests without a time."""
        return self.total.num_none_requests

    @property
    def num_failures(self):
        """Failures of all rows."""
        return self.total.num_failures

    @property
    def last_request_timestamp(self):
        """When the newest request of all ended."""
        return self.total.last_request_timestamp

    @property
    def start_time(self):
        """When counting began."""
        return self.total.start_time

    def log_request(self, method, name, response_time, content_length):
        """Count a request that the engine has not sent; `response_time` in ms."""
        self.native.log(method, name, response_time, content_length)

    def log_error(self, method, name, error):
        """Count a failure of such a request."""
        self.native.log_error(method, name, StatsError.parse_error(error))
        self.note_failure(method, name, error)

    def note_failure(self, method, name, error):
        """Group a failure that is counted already."""
        key = StatsError.create_key(method, name, error)
        if key not in self.errors:
            self.errors[key] = StatsError(method, name, error)
        self.errors[key].occurred()

    def count_sample(self, request_type, name, response_time, response_length=0, exception=None,
                     **_others):
        """Count a `request` event that was fired by hand."""
        self.log_request(request_type, name, response_time, response_length or 0)
        if exception:
            self.log_error(request_type, name, exception)

    def get(self, name, method):
        """The row of a name and method; there is one from now on."""
        return self._entries[(name, method)]

    def as_of_now(self):
        """The same figures, which nobody counts on: to be shown a part at a time."""
        return StatsOfAnInstant(self)

    def remember_second(self, second):
        """Keep the histograms as they are now, for percentiles of the newest seconds.

        Those of names only as long as there are few, since copying many would hold up users; with
        `remembers_all` always.
        """
        rows = list(self.entries.values())
        if len(rows) > _NAMES_REMEMBERED and not self.remembers_all:
            rows = []
        for row in in_slices([self.total, *rows]):
            row._remember(second)

    def reset_all(self):
        """Set all rows to zero, and forget failures and plots."""
        self.native.reset()
        for row in [self.total, *self._entries.values()]:
            row.forget()
        self.errors = {}
        self.history = []

    def clear_all(self):
        """Forget everything."""
        self.native.clear()
        self._total = None
        self._entries = EntriesDict(self)
        self._adopted = 0
        self.errors = {}
        self.history = []

    def serialize_stats(self):
        """All rows as plain data."""
        return [
            row.serialize()
            for row in self.entries.values()
            if row.num_requests or row.num_failures
        ]

    def serialize_errors(self):
        """All failures as plain data."""
        return {key: error.serialize() for key, error in self.errors.items()}

    def add_report(self, report):
        """Add what another process counted: `{"stats": …, "stats_total": …, "errors": …}`."""
        for row in report["stats"]:
            self.native.entry(row["method"], row["name"]).add(row)
        self.native.total().add(report["stats_total"])
        for key, failure in report["errors"].items():
            if key in self.errors:
                self.errors[key].add(failure)
            else:
                self.errors[key] = StatsError.unserialize(failure)


class StatsOfAnInstant:
    """What `RequestStats` had at an instant."""

    def __init__(self, stats):
        self.last_request_timestamp = stats.last_request_timestamp
        self.start_time = stats.start_time
        self.errors = dict(stats.errors)
        self.total = stats.total.as_of_now(self)
        self.entries = {key: row.as_of_now(self) for key, row in stats.entries.items()}


def _engine_stats():
    from loadline import native

    return native.load().Stats()


def setup_distributed_stats_event_listeners(events, stats):
    """Have `report_to_master` filled with what was counted since, and `worker_report` added."""

    def on_report_to_master(client_id, data):
        data["stats"] = stats.serialize_stats()
        data["stats_total"] = stats.total.serialize()
        data["errors"] = stats.serialize_errors()
        for row in [stats.total, *stats.entries.values()]:
            row.reset()
        stats.errors = {}

    def on_worker_report(client_id, data):
        stats.add_report(data)

    events.report_to_master.add_listener(on_report_to_master)
    events.worker_report.add_listener(on_worker_report)
