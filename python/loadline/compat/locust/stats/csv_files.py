"""The statistics as CSV: rows, their history, failures and exceptions.

The files are written anew every second, a slice at a time so that users are not held up, and once
more when the test has ended, so they are complete to the last request.
"""

import csv
import time

import gevent

from .. import stats as tunables
from ..util.date import format_utc_timestamp
from .buckets import get_readable_percentiles
from .errors import StatsError
from .request_stats import sort_stats
from .slices import in_slices

_REQUESTS = [
    "Type",
    "Name",
    "Request Count",
    "Failure Count",
    "Median Response Time",
    "Average Response Time",
    "Min Response Time",
    "Max Response Time",
    "Average Content Size",
    "Requests/s",
    "Failures/s",
]
_FAILURES = ["Method", "Name", "Error", "Occurrences", "First Seen", "Last Seen"]
_EXCEPTIONS = ["Count", "Message", "Traceback", "Nodes"]
_HISTORY_BEGIN = ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s"]
_HISTORY_END = [
    "Total Request Count",
    "Total Failure Count",
    "Total Median Response Time",
    "Total Average Response Time",
    "Total Min Response Time",
    "Total Max Response Time",
    "Total Average Content Size",
]


class StatsCSV:
    """Writes tables to any CSV writer."""

    def __init__(self, environment, percentiles_to_report):
        self.environment = environment
        self.percentiles_to_report = percentiles_to_report
        self.percentiles_na = ["N/A"] * len(percentiles_to_report)
        self.requests_csv_columns = [*_REQUESTS, *get_readable_percentiles(percentiles_to_report)]
        self.failures_columns = _FAILURES
        self.exceptions_columns = _EXCEPTIONS

    def _percentile_fields(self, entry, use_current=False):
        if not entry.num_requests:
            return self.percentiles_na
        shares = self.percentiles_to_report
        if use_current and entry.use_response_times_cache:
            times = map(entry.get_current_response_time_percentile, shares)
        else:
            times = entry.get_response_time_percentiles(shares)
        return [int(time or 0) for time in times]

    def requests_csv(self, csv_writer):
        """The rows of the statistics, with a head."""
        csv_writer.writerow(self.requests_csv_columns)
        self._requests_data_rows(csv_writer, in_slices)

    def _requests_data_rows(self, csv_writer, pace=iter):
        stats = self.environment.stats.as_of_now()
        for entry in pace([*sort_stats(stats.entries), stats.total]):
            csv_writer.writerow(
                [
                    entry.method,
                    entry.name,
                    *_counts_and_times(entry),
                    entry.total_rps,
                    entry.total_fail_per_sec,
                    *self._percentile_fields(entry),
                ]
            )

    def failures_csv(self, csv_writer):
        """The failures, with a head."""
        csv_writer.writerow(self.failures_columns)
        self._failures_data_rows(csv_writer, in_slices)

    def _failures_data_rows(self, csv_writer, pace=iter):
        for failure in pace(sort_stats(self.environment.stats.errors)):
            csv_writer.writerow(
                [
                    failure.method,
                    failure.name,
                    StatsError.parse_error(failure.error),
                    failure.occurrences,
                    _moment(failure.first_seen),
                    _moment(failure.last_seen),
                ]
            )

    def exceptions_csv(self, csv_writer):
        """The exceptions of tasks, with a head."""
        csv_writer.writerow(self.exceptions_columns)
        self._exceptions_data_rows(csv_writer)

    def _exceptions_data_rows(self, csv_writer):
        if self.environment.runner is not None:
            for one in self.environment.runner.exceptions.values():
                csv_writer.writerow(
                    [one["count"], one["msg"], one["traceback"], ", ".join(one["nodes"])]
                )

    def close_files(self):
        """There are none."""


def _counts_and_times(entry):
    return [
        entry.num_requests,
        entry.num_failures,
        entry.median_response_time,
        entry.avg_response_time,
        entry.min_response_time or 0,
        entry.max_response_time,
        entry.avg_content_length,
    ]


def _moment(seconds):
    return "" if seconds is None else format_utc_timestamp(seconds)


class _Table:
    """A file whose rows are replaced each time."""

    def __init__(self, path, head):
        self.path = path
        self.head = head
        self.file = None
        self.writer = None
        self.begin = None

    def _open(self):
        """Replace the file of a former test only now that there is something to write."""
        if self.file is None:
            file = open(self.path, "w", encoding="utf-8", newline="")
            self.writer = csv.writer(file)
            self.writer.writerow(self.head)
            self.begin = file.tell()
            # Only now: until the head is written there is none.
            self.file = file

    def replace(self, write_rows, *arguments):
        """Write the head once, and the rows in place of those before."""
        self._open()
        self.file.seek(self.begin)
        write_rows(self.writer, *arguments)
        self.file.truncate()

    def append(self, write_rows, *arguments):
        """Write the head once, and the rows behind those before."""
        self._open()
        write_rows(self.writer, *arguments)


class StatsCSVFileWriter(StatsCSV):
    """Writes the four files while a test runs."""

    def __init__(self, environment, percentiles_to_report, base_filepath, full_history=False):
        super().__init__(environment, percentiles_to_report)
        self.base_filepath = base_filepath
        self.full_history = full_history
        shares = get_readable_percentiles(percentiles_to_report)
        self.stats_history_csv_columns = [*_HISTORY_BEGIN, *shares, *_HISTORY_END]
        self._requests = _Table(base_filepath + "_stats.csv", self.requests_csv_columns)
        self._history = _Table(self.stats_history_file_name(), self.stats_history_csv_columns)
        self._failures = _Table(base_filepath + "_failures.csv", self.failures_columns)
        self._exceptions = _Table(base_filepath + "_exceptions.csv", self.exceptions_columns)
        self._flushed = 0.0
        self._closed = False
        # The greenlet that writes every second.
        self._writing = None

    def __call__(self):
        self.stats_writer()

    def stats_history_file_name(self):
        """Where the history goes."""
        return self.base_filepath + "_stats_history.csv"

    def stats_writer(self):
        """Write all files every second, until they are closed."""
        self._writing = gevent.getcurrent()
        self._wait_for_begin()
        while not self._closed:
            now = time.time()
            self._write(now, in_slices)
            if now - self._flushed > tunables.CSV_STATS_FLUSH_INTERVAL_SEC:
                self._flush()
                self._flushed = now
            gevent.sleep(tunables.CSV_STATS_INTERVAL_SEC)

    def _wait_for_begin(self):
        runner, stats = self.environment.runner, self.environment.stats
        while runner is not None and not (runner.user_count or stats.num_requests):
            gevent.sleep(0.01)

    def _write(self, now, pace=iter):
        self._requests.replace(self._requests_data_rows, pace)
        self._history.append(self._stats_history_data_rows, now, pace)
        self._failures.replace(self._failures_data_rows, pace)
        self._exceptions.replace(self._exceptions_data_rows)

    def _stats_history_data_rows(self, csv_writer, now, pace=iter):
        stats = self.environment.stats
        runner = self.environment.runner
        entries = sort_stats(stats.entries) if self.full_history else []
        for entry in pace([*entries, stats.total]):
            csv_writer.writerow(
                [
                    int(now),
                    runner.user_count if runner is not None else 0,
                    entry.method or "",
                    entry.name,
                    f"{entry.current_rps:2f}",
                    f"{entry.current_fail_per_sec:2f}",
                    *self._percentile_fields(entry, use_current=self.full_history),
                    *_counts_and_times(entry),
                ]
            )

    def _flush(self):
        for table in self._tables():
            table.file.flush()

    def requests_flush(self):
        """Have what was written of requests in its file."""
        self._requests.file.flush()

    def stats_history_flush(self):
        """Have what was written of the history in its file."""
        self._history.file.flush()

    def failures_flush(self):
        """Have what was written of failures in its file."""
        self._failures.file.flush()

    def exceptions_flush(self):
        """Have what was written of exceptions in its file."""
        self._exceptions.file.flush()

    def _tables(self):
        return (self._requests, self._history, self._failures, self._exceptions)

    def close_files(self):
        """Write everything once more, and close the files."""
        if self._closed:
            return
        self._closed = True
        if self._writing not in (None, gevent.getcurrent()):
            # It may be in the middle of a table.
            self._writing.kill()
        self._write(time.time())
        for table in self._tables():
            table.file.close()
