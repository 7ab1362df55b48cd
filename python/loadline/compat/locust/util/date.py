"""Points in time as Locust's files write them."""

from datetime import datetime, timezone


def format_utc_timestamp(unix_timestamp):
    """`2026-01-31T12:00:00Z`."""
    moment = datetime.fromtimestamp(int(unix_timestamp), timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def format_safe_timestamp(unix_timestamp):
    """A local time that may stand in a file's name."""
    return datetime.fromtimestamp(int(unix_timestamp)).strftime("%Y-%m-%d-%Hh%M")


def format_duration(start_time, end_time):
    """The span between two times in words, such as `1 minute and 5 seconds`."""
    seconds = max(0, int(end_time) - int(start_time))
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    amounts = (("day", days), ("hour", hours), ("minute", minutes), ("second", seconds))
    words = [f"{n} {unit}{'' if n == 1 else 's'}" for unit, n in amounts if n]
    if not words:
        return "0 seconds"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
