"""Spans of time as Locust writes them: `20`, `20s`, `1h20m`."""

import re

_SPAN = re.compile(r"(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>\d+)s)?")
_MESSAGE = "Invalid time span format. Valid formats: 20, 20s, 3m, 2h, 1h20m, 3h30m10s, etc."


def parse_timespan(time_str):
    """Whole seconds of a span; ValueError says which forms there are."""
    if not time_str:
        raise ValueError(_MESSAGE)
    if re.fullmatch(r"\d+", time_str):
        return int(time_str)
    match = _SPAN.fullmatch(time_str)
    if not match or not any(match.groups()):
        raise ValueError(_MESSAGE)
    hours, minutes, seconds = (int(group or 0) for group in match.groups())
    return hours * 3600 + minutes * 60 + seconds
