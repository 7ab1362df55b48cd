"""Statistics of requests: Locust's figures, tables and files, over counts that the engine keeps.

The constants here may be assigned by a locustfile, so everybody reads them from this module at the
moment of use.
"""

import os
import signal
from collections import namedtuple


def _name_width():
    """What is left for a name beside the other columns of a terminal; 80 without one."""
    try:
        return max(min(os.get_terminal_size()[0] - 80, 80), 0)
    except OSError:
        return None


STATS_NAME_WIDTH = 80 if _name_width() is None else _name_width()
STATS_TYPE_WIDTH = 8
# Whether the tables follow the width of the terminal while it changes.
STATS_AUTORESIZE = True

# Seconds between two tables, two points of the report's plots, two writes of the CSV files and two
# flushes of them.
CONSOLE_STATS_INTERVAL_SEC = 2
HISTORY_STATS_INTERVAL_SEC = 5
CSV_STATS_INTERVAL_SEC = 1
CSV_STATS_FLUSH_INTERVAL_SEC = 5

# Seconds that a *current* percentile looks back.
CURRENT_RESPONSE_TIME_PERCENTILE_WINDOW = 10

PERCENTILES_TO_REPORT = [0.50, 0.66, 0.75, 0.80, 0.90, 0.95, 0.98, 0.99, 0.999, 0.9999, 1.0]
PERCENTILES_TO_STATISTICS = [0.95, 0.99]
PERCENTILES_TO_CHART = [0.5, 0.95]

CachedResponseTimes = namedtuple(
    "CachedResponseTimes", ["response_times", "num_requests", "num_none_requests"]
)


def resize_handler(signum, frame):
    """Follow the terminal's new width."""
    global STATS_NAME_WIDTH
    width = _name_width()
    if STATS_AUTORESIZE and width is not None:
        STATS_NAME_WIDTH = width


try:
    signal.signal(signal.SIGWINCH, resize_handler)
except (AttributeError, ValueError):
    pass  # no such signal here, or not the main thread


from .buckets import (  # noqa: E402
    bucket_response_time,
    calculate_response_time_percentile,
    diff_response_time_dicts,
    get_readable_percentiles,
)
from .checks import validate_stats_configuration  # noqa: E402
from .csv_files import StatsCSV, StatsCSVFileWriter  # noqa: E402
from .entry import StatsEntry, avg  # noqa: E402
from .errors import StatsError  # noqa: E402
from .history import stats_history, update_stats_history  # noqa: E402
from .json_report import print_stats_json, save_stats_json  # noqa: E402
from .request_stats import (  # noqa: E402
    EntriesDict,
    RequestStats,
    setup_distributed_stats_event_listeners,
    sort_stats,
)
from .tables import (  # noqa: E402
    console_logger,
    get_error_report_summary,
    get_percentile_stats_summary,
    get_stats_summary,
    print_error_report,
    print_percentile_stats,
    print_stats,
    stats_printer,
)

__all__ = [
    "EntriesDict",
    "RequestStats",
    "StatsCSV",
    "StatsCSVFileWriter",
    "StatsEntry",
    "StatsError",
    "avg",
    "bucket_response_time",
    "calculate_response_time_percentile",
    "console_logger",
    "diff_response_time_dicts",
    "get_error_report_summary",
    "get_percentile_stats_summary",
    "get_readable_percentiles",
    "get_stats_summary",
    "print_error_report",
    "print_percentile_stats",
    "print_stats",
    "print_stats_json",
    "save_stats_json",
    "setup_distributed_stats_event_listeners",
    "sort_stats",
    "stats_history",
    "stats_printer",
    "update_stats_history",
    "validate_stats_configuration",
]
