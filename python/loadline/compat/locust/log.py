"""Logging as Locust does it: `[time] HOST/LEVEL/logger: message` on stderr, tables as bare lines.

The last 500 records are kept in memory for whoever shows them.
"""

import logging
import logging.config
import os
import re
import socket
import sys
from collections import deque

HOSTNAME = re.sub(r"\..*", "", socket.gethostname())

# Whether a greenlet or a listener of an event ended with an exception that nothing handled: the
# run then ends with exit code 2. Assigned by those that notice it.
unhandled_greenlet_exception = False

_KEPT_RECORDS = 500
# The file of the lines that a live page shows, which the program that serves it names.
_PAGE_LOG = "LOADLINE_PAGE_LOG"


class LogReader(logging.Handler):
    """Keeps the newest formatted records."""

    def __init__(self):
        super().__init__()
        self.logs = deque(maxlen=_KEPT_RECORDS)
        # How many there were, with those that are not kept any more.
        self.count = 0

    def emit(self, record):
        """Keep one record."""
        self.logs.append(self.format(record))
        self.count += 1


class _Shown:
    """A stream whose text is in a file, too; whole lines of it, as others write there as well."""

    def __init__(self, stream, file):
        self._stream = stream
        self._file = file

    def write(self, text):
        """Write into both; what the file does not take is on the stream alone."""
        written = self._stream.write(text)
        try:
            self._file.write(text)
        except (OSError, ValueError):
            pass
        return written

    def writelines(self, lines):
        """Write each of these texts."""
        for text in lines:
            self.write(text)

    def __getattr__(self, name):
        return getattr(self._stream, name)


def show_prints():
    """Have what is printed in the file of the lines that a live page shows, if there is one."""
    path = os.environ.get(_PAGE_LOG)
    if not path or sys.stdout is None:
        return
    try:
        file = open(path, "a", buffering=1, encoding="utf-8", errors="replace")
    except OSError:
        return
    sys.stdout = _Shown(sys.stdout, file)


def setup_logging(loglevel, logfile=None):
    """Send the log to stderr, or to `logfile`; the tables always go to stderr.

    Makes the folders of the file. OSError if it can't be written.
    """
    loglevel = loglevel.upper()
    if logfile:
        os.makedirs(os.path.dirname(os.path.abspath(logfile)), exist_ok=True)
        open(logfile, "a").close()  # where logging opens it, its error names no reason
    output = "file" if logfile else "console"
    shown = [output, "log_reader"]
    if os.environ.get(_PAGE_LOG):
        shown.append("page")
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "default": {
                    "format": f"[%(asctime)s] {HOSTNAME}/%(levelname)s/%(name)s: %(message)s"
                },
                "plain": {"format": "%(message)s"},
            },
            "handlers": _handlers(logfile),
            "loggers": {
                "locust": {
                    "handlers": shown,
                    "level": loglevel,
                    "propagate": False,
                },
                "locust.stats_logger": {
                    "handlers": ["console_plain", "log_reader"],
                    "level": "INFO",
                    "propagate": False,
                },
            },
            "root": {"handlers": shown, "level": loglevel},
        }
    )


def _handlers(logfile):
    handlers = {
        "console": {"class": "logging.StreamHandler", "formatter": "default"},
        "console_plain": {"class": "logging.StreamHandler", "formatter": "plain"},
        "log_reader": {"class": "locust.log.LogReader", "formatter": "default"},
    }
    if logfile:
        handlers["file"] = {
            "class": "logging.FileHandler",
            "filename": logfile,
            "formatter": "default",
        }
    page_log = os.environ.get(_PAGE_LOG)
    if page_log:
        handlers["page"] = {
            "class": "logging.FileHandler",
            "filename": page_log,
            "formatter": "default",
        }
    return handlers


def _reader():
    handlers = logging.getLogger("root").handlers
    return next((one for one in handlers if isinstance(one, LogReader)), None)


def get_logs():
    """The newest records of the log, oldest first."""
    reader = _reader()
    return list(reader.logs) if reader else []


def new_lines(seen):
    """The records behind the first `seen` ones that are still kept, and how many there were."""
    reader = _reader()
    if reader is None:
        return [], seen
    count = reader.count
    return list(reader.logs)[seen - count:] if count > seen else [], count


def forget_lines():
    """Keep no record of before, as those of the process that this one was forked from."""
    reader = _reader()
    if reader is not None:
        reader.logs.clear()
        reader.count = 0


def mark_unhandled_exception():
    """Remember that something ended with an exception that nobody handled."""
    global unhandled_greenlet_exception
    unhandled_greenlet_exception = True


def greenlet_exception_logger(logger, level=logging.CRITICAL):
    """A function for `link_exception` that logs why a greenlet died."""

    def log_exception(greenlet):
        if greenlet.exc_info[0] is SystemExit:
            logger.log(
                min(logging.INFO, level),
                "sys.exit(%s) called (use log level DEBUG for callstack)" % greenlet.exc_info[1],
            )
            logger.log(logging.DEBUG, "Unhandled exception in greenlet: %s", greenlet,
                       exc_info=greenlet.exc_info)
            return
        logger.log(level, "Unhandled exception in greenlet: %s", greenlet,
                   exc_info=greenlet.exc_info)
        mark_unhandled_exception()

    return log_exception
