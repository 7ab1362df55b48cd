"""Writes each request as a line of a CSV file."""

import csv
import time

import gevent

_COLUMNS = [
    "timestamp",
    "request_type",
    "name",
    "response_time_ms",
    "response_length",
    "status_code",
    "exception",
]


class CsvRequestLogger:
    """Call `register(environment)` in an `init` listener; the file is flushed every interval."""

    def __init__(self, filepath, *, flush_interval=1):
        self.filepath = filepath
        self.flush_interval = flush_interval
        self._file = open(filepath, "w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(_COLUMNS)
        self._flusher = None
        self._environment = None

    def register(self, environment):
        """Log the requests of a test, until it quits."""
        self._environment = environment
        environment.events.request.add_listener(self._on_request)
        environment.events.quit.add_listener(self._on_quit)
        self._flusher = gevent.spawn(self._flush_for_ever)

    def _on_request(self, request_type, name, response_time, response_length=0, response=None,
                    exception=None, start_time=None, **_others):
        self._writer.writerow(
            [
                f"{time.time() if start_time is None else start_time:.6f}",
                request_type,
                name,
                "" if response_time is None else round(response_time, 2),
                response_length,
                getattr(response, "status_code", "") if response is not None else "",
                "" if exception is None else str(exception),
            ]
        )

    def _on_quit(self, **_kwargs):
        self.close()

    def _flush_for_ever(self):
        while True:
            gevent.sleep(self.flush_interval)
            self._file.flush()

    def close(self):
        """Write what is left and close the file. A second call does nothing."""
        if self._file.closed:
            return
        if self._flusher is not None:
            self._flusher.kill(block=False)
        if self._environment is not None:
            self._environment.events.request.remove_listener(self._on_request)
        self._file.close()
