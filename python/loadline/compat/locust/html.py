"""The report as one page that needs nothing else: Locust's tables, and its plots as SVG."""

from html import escape

from . import stats as stats_module
from .stats import sort_stats
from .user.inspectuser import get_ratio
from .util.date import format_duration, format_utc_timestamp

PERCENTILES_FOR_HTML_REPORT = [0.50, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; background: #fff; }
body.dark { color: #ddd; background: #1b1b1b; }
table { border-collapse: collapse; margin: 0 0 2em; }
th, td { padding: .3em .7em; text-align: right; border-bottom: 1px solid #8884; }
th.text, td.text { text-align: left; }
pre { white-space: pre-wrap; margin: 0; text-align: left; }
tr.total { font-weight: 600; }
svg { max-width: 60em; display: block; margin: 0 0 1.5em; }
"""

_REQUEST_COLUMNS = ("Type", "Name", "# Requests", "# Fails", "Average (ms)", "Min (ms)",
                    "Max (ms)", "Average size (bytes)", "RPS", "Failures/s")


def get_html_report(environment, show_download_link=True, theme=""):
    """The page of a test, as it is now."""
    stats = environment.stats
    parts = [
        f"<h1>Locust Test Report</h1>{_download(show_download_link)}",
        _head(environment),
        _section("Request Statistics", _requests(stats)),
        _section("Response Time Statistics", _percentiles(stats)),
        _section("Failures Statistics", _failures(stats)),
        _exceptions(environment),
        _section("Charts", _charts(stats)),
        _ratios(environment),
    ]
    return (
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        f"<title>Locust Test Report</title><style>{_STYLE}</style></head>"
        f"<body class=\"{escape(theme)}\">{''.join(parts)}</body></html>\n"
    )


def save_html_report(environment, path):
    """Write the page of a test that has ended."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(get_html_report(environment, show_download_link=False))


def process_html_filename(options):
    """Replace {u}, {r} and {t} in the name by users, spawn rate and run time."""
    for mark, value in (("{u}", options.num_users), ("{r}", options.spawn_rate),
                        ("{t}", options.run_time)):
        options.html_file = options.html_file.replace(mark, str(value))


def _download(shown):
    return "<p><a href=\"?download=1\">Download the report</a></p>" if shown else ""


def _head(environment):
    stats = environment.stats
    begin, end = stats.start_time, stats.last_request_timestamp or stats.start_time
    rows = [
        ("Profile", environment.profile),
        ("During", f"{format_utc_timestamp(begin)} – {format_utc_timestamp(end)} "
                   f"({format_duration(begin, end)})"),
        ("Target Host", _host(environment)),
        ("Script", environment.locustfile),
    ]
    return "".join(f"<p><b>{name}:</b> {escape(str(value))}</p>" for name, value in rows if value)


def _host(environment):
    if environment.host:
        return environment.host
    hosts = {kind.host for kind in environment.user_classes if kind.host}
    return ", ".join(sorted(hosts))


def _section(title, body):
    return f"<h2>{title}</h2>{body}"


def _table(columns, rows, texts):
    """Rows of cells; the first `texts` columns are text, the last row is a total if marked."""
    def cell(tag, i, value):
        kind = " class=\"text\"" if i < texts else ""
        return f"<{tag}{kind}>{value}</{tag}>"

    head = "".join(cell("th", i, escape(name)) for i, name in enumerate(columns))
    body = "".join(
        f"<tr{' class=total' if total else ''}>"
        + "".join(cell("td", i, escape(str(value))) for i, value in enumerate(row))
        + "</tr>"
        for row, total in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _entries(stats):
    return [(entry, False) for entry in sort_stats(stats.entries)] + [(stats.total, True)]


def _requests(stats):
    rows = [
        (
            (
                one.method,
                one.name,
                one.num_requests,
                one.num_failures,
                round(one.avg_response_time, 2),
                round(one.min_response_time or 0, 2),
                round(one.max_response_time, 2),
                round(one.avg_content_length, 2),
                f"{one.total_rps:.2f}",
                f"{one.total_fail_per_sec:.2f}",
            ),
            total,
        )
        for one, total in _entries(stats)
    ]
    return _table(_REQUEST_COLUMNS, rows, texts=2)


def _percentiles(stats):
    shares = PERCENTILES_FOR_HTML_REPORT
    columns = ["Method", "Name", *(f"{share * 100:g}%ile (ms)" for share in shares)]
    rows = [
        ((one.method, one.name, *(one.get_response_time_percentile(p) for p in shares)), total)
        for one, total in _entries(stats)
    ]
    return _table(columns, rows, texts=2)


def _failures(stats):
    rows = [
        ((one.method, one.name, one.parse_error(one.error), one.occurrences), False)
        for one in sort_stats(stats.errors)
    ]
    return _table(("Method", "Name", "Message", "# Failures"), rows, texts=3)


def _exceptions(environment):
    known = environment.runner.exceptions.values() if environment.runner else []
    if not known:
        return ""
    rows = [((one["count"], one["msg"], one["traceback"]), False) for one in known]
    table = _table(("# Occurrences", "Message", "Traceback"), rows, texts=3)
    return _section("Exceptions Statistics", table)


def _charts(stats):
    shares = stats_module.PERCENTILES_TO_CHART
    plots = (
        ("Total Requests per Second", {"RPS": "current_rps", "Failures/s": "current_fail_per_sec"}),
        (
            "Response Times (ms)",
            {f"{share * 100:g}th percentile": f"response_time_percentile_{share}"
             for share in shares},
        ),
        ("Number of Users", {"Number of Users": "user_count"}),
    )
    return "".join(_plot(title, lines, stats.history) for title, lines in plots)


_COLOURS = ("#2a9d5c", "#d1495b", "#2f6fbf", "#c98a1b", "#7b52ab", "#3aa6a6")
_WIDTH, _HEIGHT = 900, 220


def _plot(title, lines, history):
    series = {name: [point[key][1] for point in history] for name, key in lines.items()}
    top = max((value for values in series.values() for value in values), default=0) or 1
    drawn = "".join(
        f"<polyline fill=\"none\" stroke=\"{_COLOURS[i % len(_COLOURS)]}\" stroke-width=\"2\" "
        f"points=\"{_points(values, top)}\"><title>{escape(name)}</title></polyline>"
        for i, (name, values) in enumerate(series.items())
    )
    legend = " · ".join(
        f"<span style=\"color:{_COLOURS[i % len(_COLOURS)]}\">{escape(name)}</span>"
        for i, name in enumerate(series)
    )
    return (
        f"<h3>{escape(title)}</h3><p>{legend}; top {top:g}</p>"
        f"<svg viewBox=\"0 0 {_WIDTH} {_HEIGHT}\" role=\"img\" aria-label=\"{escape(title)}\">"
        f"<rect width=\"{_WIDTH}\" height=\"{_HEIGHT}\" fill=\"none\" stroke=\"#8888\"/>"
        f"{drawn}</svg>"
    )


def _points(values, top):
    step = _WIDTH / max(len(values) - 1, 1)
    return " ".join(
        f"{i * step:.1f},{_HEIGHT - value / top * (_HEIGHT - 4):.1f}"
        for i, value in enumerate(values)
    )


def _ratios(environment):
    counts = {kind.__name__: kind.weight for kind in environment.user_classes}
    if environment.runner and environment.runner.target_user_classes_count:
        counts = environment.runner.target_user_classes_count
    parts = []
    for title, total in (("Ratio Per Class", False), ("Total Ratio", True)):
        shares = get_ratio(environment.user_classes, counts, total)
        parts.append(f"<h3>{title}</h3>{_ratio_list(shares)}")
    return _section("Final ratio", "".join(parts))


def _ratio_list(shares):
    items = "".join(
        f"<li>{share['ratio'] * 100:.1f}% {escape(name)}{_ratio_list(share.get('tasks', {}))}</li>"
        for name, share in shares.items()
    )
    return f"<ul>{items}</ul>" if items else ""
