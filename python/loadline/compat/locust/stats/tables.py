"""The tables of the console."""

import logging

import gevent

from .. import stats as tunables
from .buckets import get_readable_percentiles
from .request_stats import sort_stats
from .slices import in_slices

# Prints bare lines, whatever the log's format is.
console_logger = logging.getLogger("locust.stats_logger")

_AFTER_NAME = (7, 13, 7, 7, 7, 7, 8, 11)


def _widths():
    return tunables.STATS_TYPE_WIDTH, tunables.STATS_NAME_WIDTH


def entry_row(entry, current):
    """Counts, times and rates of one row."""
    kind, name = _widths()
    rps = entry.current_rps if current else entry.total_rps
    failing = entry.current_fail_per_sec if current else entry.total_fail_per_sec
    return f"%-{kind}s %-{name - kind + 4}s %7d %12s |%7d %7d %7d%7d | %7.2f %11.2f" % (
        entry.method,
        entry.name,
        entry.num_requests,
        "%d(%.2f%%)" % (entry.num_failures, entry.fail_ratio * 100),
        entry.avg_response_time,
        entry.min_response_time or 0,
        entry.max_response_time,
        entry.median_response_time or 0,
        rps or 0,
        failing or 0,
    )


def percentile_row(entry):
    """The percentiles of one row."""
    kind, name = _widths()
    times = map(int, entry.get_response_time_percentiles(tunables.PERCENTILES_TO_REPORT))
    shares = len(tunables.PERCENTILES_TO_REPORT)
    row = f"%-{kind}s %-{name}s %8d " + " ".join(["%6d"] * shares)
    return row % (entry.method, entry.name, *times, entry.num_requests)


def get_stats_summary(stats, current=True):
    """The lines of the table of counts."""
    return list(_stats_lines(stats, current))


def _stats_lines(stats, current):
    kind, name = _widths()
    head = f"%-{kind}s %-{name - kind + 4}s %7s %12s |%7s %7s %7s%7s | %7s %11s" % (
        "Type", "Name", "# reqs", "# fails", "Avg", "Min", "Max", "Med", "req/s", "failures/s",
    )
    rule = "|".join("-" * width for width in (kind, name - kind + 4, *_AFTER_NAME))
    yield from (head, rule)
    for row in sort_stats(stats.entries):
        yield row.to_string(current=current)
    yield from (rule, stats.total.to_string(current=current))


def get_percentile_stats_summary(stats):
    """The lines of the table of percentiles."""
    kind, name = _widths()
    shares = get_readable_percentiles(tunables.PERCENTILES_TO_REPORT)
    head = f"%-{kind}s %-{name}s %8s " + " ".join(["%6s"] * len(shares))
    rule = "|".join("-" * width for width in (kind, name, 8, *[6] * len(shares)))
    rows = [row.percentile() for row in sort_stats(stats.entries) if row.response_times]
    total = [stats.total.percentile()] if stats.total.response_times else []
    return [
        "Response time percentiles (approximated)",
        head % ("Type", "Name", *shares, "# reqs"),
        rule,
        *rows,
        rule,
        *total,
    ]


def get_error_report_summary(stats):
    """The lines of the table of failures."""
    rule = f"{'-' * 18}|{'-' * (80 + tunables.STATS_NAME_WIDTH - 19)}"
    rows = ["%-18i %-100s" % (one.occurrences, one.to_name()) for one in stats.errors.values()]
    return ["Error report", f"{'# occurrences':18} {'Error':100}", rule, *rows, rule, ""]


def print_stats(stats, current=True):
    """Print the table of counts."""
    _print(get_stats_summary(stats, current))
    console_logger.info("")


def print_percentile_stats(stats):
    """Print the table of percentiles."""
    _print(get_percentile_stats_summary(stats))
    console_logger.info("")


def print_error_report(stats):
    """Print the table of failures, if there are any."""
    if stats.errors:
        _print(get_error_report_summary(stats))


def _print(lines):
    for line in lines:
        console_logger.info(line)


def stats_printer(stats):
    """A function that prints the table of counts again and again, while the users run."""

    def print_for_ever():
        while True:
            _print(in_slices(_stats_lines(stats.as_of_now(), current=True)))
            console_logger.info("")
            gevent.sleep(tunables.CONSOLE_STATS_INTERVAL_SEC)

    return print_for_ever
