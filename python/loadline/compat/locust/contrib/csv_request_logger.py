"""Writes each request as a line of a CSV file."""

import csv
import time

CSV_COLUMNS = (
    "timestamp",
    "request_type",
    "name",
    "response_time_ms",
    "response_length",
    "status_code",
    "exception",
)


def _status_code(response, exception):
    """The status of a response; 0 where there is none."""
    if exception is not None and response is None:
        return 0
    try:
        return int(response.status_code)
    except (AttributeError, TypeError, ValueError):
        return 0


class CsvRequestLogger:
    """Call `register(environment)` in an `init` listener: that empties the file.

    It is flushed whenever `flush_interval` rows are written, and closed when the test quits.
    """

    def __init__(self, filepath, *, flush_interval=1):
        self.filepath = filepath
        self.flush_interval = max(1, flush_interval)
        self._file = None
        self._writer = None
        self._pending = 0

    def register(self, environment):
        """Log the requests of a test, until it quits."""
        environment.events.request.add_listener(self._on_request)
        environment.events.quitting.add_listener(self._on_quitting)
        self._open()

    def _open(self):
        self.close()
        self._file = open(self.filepath, "w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(CSV_COLUMNS)
        self._file.flush()

    def _on_request(self, *, request_type, name, response_time, response_length=0, exception=None,
                    response=None, start_time=None, context=None, **_others):
        if self._writer is None:
            return
        self._writer.writerow(
            [
                round(time.time() if start_time is None else start_time, 6),
                request_type,
                name,
                "" if response_time is None else round(response_time, 2),
                response_length,
                _status_code(response, exception),
                "" if exception is None else str(exception),
            ]
        )
        self._pending += 1
        if self._pending >= self.flush_interval:
            self._file.flush()
            self._pending = 0

    def _on_quitting(self, **_kwargs):
        self.close()

    def close(self):
        """Write what is left and close the file. A second call does nothing."""
        if self._file is not None:
            self._file.close()
        self._file = self._writer = None
        self._pending = 0
