"""The points of the report's plots, taken while a test runs."""

import time

import gevent

from .. import stats as tunables
from ..util.date import format_utc_timestamp
from ..util.rounding import proper_round


def update_stats_history(runner, timestamp=None):
    """Add the point of now."""
    stats = runner.stats
    moment = timestamp or format_utc_timestamp(time.time())
    total = stats.total
    figures = {
        f"response_time_percentile_{share}": total.get_current_response_time_percentile(share) or 0
        for share in tunables.PERCENTILES_TO_CHART
    }
    figures["current_rps"] = total.current_rps or 0
    figures["current_fail_per_sec"] = total.current_fail_per_sec or 0
    figures["total_avg_response_time"] = proper_round(total.avg_response_time, digits=2)
    figures["user_count"] = runner.user_count or 0
    point = {name: [moment, value] for name, value in figures.items()}
    stats.history.append({**point, "time": moment})


def stats_history(runner):
    """Add a point every few seconds while a test runs. Does not return."""
    while runner.stats.use_response_times_cache:
        if runner.state not in ("ready", "stopped"):
            update_stats_history(runner)
            gevent.sleep(tunables.HISTORY_STATS_INTERVAL_SEC)
        else:
            gevent.sleep(0.1)
