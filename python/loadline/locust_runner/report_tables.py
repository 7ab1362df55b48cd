"""Locust's tables of a test, as data: for the page that Loadline writes, and for the simple one.

A table is `{"title", "columns": [{"name", "is_number"}], "rows", "has_total"}`; its cells are
text.
"""

from locust.stats import sort_stats
from locust.stats.slices import in_slices
from locust.user.inspectuser import get_ratio

_INDENT = "\u2003"


def tables_of(environment, shares):
    """All tables, in the order of Locust's report, with these percentiles; none without rows."""
    stats = environment.stats.as_of_now()
    tables = [
        _requests(stats),
        _percentiles(stats, shares),
        _failures(stats),
        _exceptions(environment.runner),
        _ratios(environment),
    ]
    return [one for one in tables if one["rows"]]


def _table(title, texts, numbers, rows, has_total=False):
    columns = [{"name": name, "is_number": False} for name in texts]
    columns += [{"name": name, "is_number": True} for name in numbers]
    rows = [[str(cell) for cell in row] for row in rows]
    return {"title": title, "columns": columns, "rows": rows, "has_total": has_total}


def _entries(stats):
    return in_slices([*sort_stats(stats.entries), stats.total])


def _names(entry):
    return entry.method or "", entry.name


def _requests(stats):
    numbers = ("# Requests", "# Fails", "Average (ms)", "Min (ms)", "Max (ms)",
               "Average size (bytes)", "RPS", "Failures/s")
    rows = [
        (
            *_names(one),
            one.num_requests,
            one.num_failures,
            round(one.avg_response_time, 2),
            round(one.min_response_time or 0, 2),
            round(one.max_response_time, 2),
            round(one.avg_content_length, 2),
            f"{one.total_rps:.2f}",
            f"{one.total_fail_per_sec:.2f}",
        )
        for one in _entries(stats)
    ]
    return _table("Request Statistics", ("Type", "Name"), numbers, rows, has_total=True)


def _percentiles(stats, shares):
    numbers = [f"{share * 100:g}%ile (ms)" for share in shares]
    rows = [
        (*_names(one), *one.get_response_time_percentiles(shares))
        for one in _entries(stats)
    ]
    return _table("Response Time Statistics", ("Method", "Name"), numbers, rows, has_total=True)


def _failures(stats):
    rows = [
        (one.method, one.name, one.parse_error(one.error), one.occurrences)
        for one in sort_stats(stats.errors)
    ]
    return _table("Failures Statistics", ("Method", "Name", "Message"), ("# Failures",), rows)


def _exceptions(runner):
    known = runner.exceptions.values() if runner else []
    rows = [(one["msg"], one["traceback"], one["count"]) for one in known]
    return _table("Exceptions Statistics", ("Message", "Traceback"), ("# Occurrences",), rows)


def _ratios(environment):
    counts = {kind.__name__: kind.weight for kind in environment.user_classes}
    if environment.runner and environment.runner.target_user_classes_count:
        counts = environment.runner.target_user_classes_count
    of_class, of_all = (
        list(_levels(get_ratio(environment.user_classes, counts, total)))
        for total in (False, True)
    )
    rows = [(name, share, total) for (name, share), (_, total) in zip(of_class, of_all)]
    return _table("Final ratio", ("Task",), ("Ratio Per Class", "Total Ratio"), rows)


def _levels(shares, level=0):
    for name, share in shares.items():
        yield _INDENT * level + name, f"{share['ratio'] * 100:.1f}%"
        yield from _levels(share.get("tasks", {}), level + 1)
