"""The report as one page without scripts: Locust's tables, and its plots as SVG.

It stands in for Loadline's own page where there is none: for programs that ask for it, and where
the native command is missing or the test has no host.
"""

import re
from html import escape

from loadline.locust_runner.report_tables import tables_of
from loadline.locust_web.messages import script_json

from . import stats as stats_module
from .runners import STATE_STOPPED, STATE_STOPPING
from .stats import sort_stats
from .user.inspectuser import get_ratio
from .util.date import format_duration, format_utc_timestamp

PERCENTILES_FOR_HTML_REPORT = [0.50, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]

# So many names with failures stand at the head of a page.
_NAMED = 3
_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; background: #fff; }
body.dark { color: #ddd; background: #1b1b1b; }
a { color: inherit; }
table { border-collapse: collapse; margin: 0 0 2em; }
td { white-space: pre-wrap; }
th, td { padding: .3em .7em; text-align: right; border-bottom: 1px solid #8884; }
th.text, td.text { text-align: left; }
tr.total { font-weight: 600; }
svg { max-width: 60em; width: 100%; display: block; margin: 0 0 1.5em; }
div.table { overflow-x: auto; }
i { display: inline-block; width: 1em; border-top: 3px solid; vertical-align: middle; }
@media screen and (max-width: 60em) { body { margin: 1em; } }
@media print { body, body.dark { color: #222; background: #fff; } }
"""


def get_html_report(environment, show_download_link=True, theme=""):
    """The page of a test, as it is now."""
    stats = environment.stats
    parts = [
        f"<h1>Locust Test Report</h1>{_download(show_download_link)}",
        _head(environment),
        _tables(tables_of(environment, PERCENTILES_FOR_HTML_REPORT)),
        _section("Charts", _charts(stats)),
    ]
    data = script_json(template_args(environment, show_download_link))
    return (
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        f"<title>Locust Test Report</title><style>{_STYLE}</style></head>"
        f"<body class=\"{escape(theme)}\"><main id=\"root\">{''.join(parts)}</main>"
        f"<script id=\"templateArgs\" type=\"application/json\">{data}</script></body></html>\n"
    )


def template_args(environment, show_download_link=True):
    """The report as data, by the names that Locust's own page has for it: for programs."""
    stats, runner = environment.stats, environment.runner
    begin, end = stats.start_time, stats.last_request_timestamp or stats.start_time
    rows = [*sort_stats(stats.entries), stats.total]
    return {
        "is_report": True,
        "requests_statistics": [row.to_dict() for row in rows],
        "failures_statistics": [one.serialize() for one in sort_stats(stats.errors)],
        "exceptions_statistics": [
            {**one, "nodes": ", ".join(one["nodes"])}
            for one in (runner.exceptions.values() if runner else [])
        ],
        "response_time_statistics": [_times(row) for row in rows],
        "start_time": format_utc_timestamp(begin),
        "end_time": format_utc_timestamp(end),
        "duration": format_duration(begin, end),
        "host": _host(environment) or "None",
        "history": stats.history,
        "show_download_link": show_download_link,
        "locustfile": str(environment.locustfile),
        "tasks": _tasks(environment),
        "percentiles_to_chart": stats_module.PERCENTILES_TO_CHART,
        "profile": str(environment.profile) if environment.profile else None,
    }


def _times(row):
    shares = PERCENTILES_FOR_HTML_REPORT
    times = {str(share): row.get_response_time_percentile(share) for share in shares}
    return {"name": row.name, "method": row.method or "", **times}


def _tasks(environment):
    """The shares of tasks: by the users that there are, or were when the test was stopped."""
    runner, classes = environment.runner, environment.user_classes
    counts = runner.user_classes_count if runner else {}
    if runner and runner.state in (STATE_STOPPED, STATE_STOPPING):
        counts = runner.final_user_classes_count
    return {
        "per_class": get_ratio(classes, counts, False),
        "total": get_ratio(classes, counts, True),
    }


def save_html_report(environment, path):
    """Write the page of a test that has ended."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(get_html_report(environment, show_download_link=False))


def process_html_filename(options):
    """Replace {u}, {r} and {t} in the name by users, spawn rate and run time, where known."""
    for mark, value in (("{u}", options.num_users), ("{r}", options.spawn_rate),
                        ("{t}", options.run_time)):
        if value is not None:
            text = str(int(value) if float(value).is_integer() else value)
            options.html_file = options.html_file.replace(mark, text)


def _download(shown):
    return "<p><a href=\"?download=1\">Download the report</a></p>" if shown else ""


def added_tables(environment):
    """What Loadline's own page shows beside its figures: the head of the report, and its tables."""
    head = {
        "title": "Test",
        "columns": [{"name": "Property"}, {"name": "Value"}],
        "rows": [[name, str(value)] for name, value in _facts(environment)],
    }
    tables = tables_of(environment, PERCENTILES_FOR_HTML_REPORT)
    return {
        "title": "Locust's report",
        "verdicts": [_failed(environment.stats)],
        "tables": [head, *tables],
    }


def _failed(stats):
    """What Locust counts as failed, which a locustfile may say of any response."""
    total = stats.total
    share = 100 * total.num_failures / max(total.num_requests, 1)
    note = f"{total.num_failures} of {total.num_requests} requests, as the locustfile counts"
    failed = [one for one in sort_stats(stats.entries) if one.num_failures]
    named = [f"{' '.join(filter(None, (one.method, one.name)))} {one.num_failures}"
             for one in failed[:_NAMED]]
    if named:
        more = len(failed) - len(named)
        note += ": " + ", ".join(named) + (f" and {more} more" if more else "")
    return {
        "name": "Failed",
        "figure": f"{share:.2f} %",
        "note": note,
        "is_bad": total.num_failures > 0,
    }


def _head(environment):
    facts = _facts(environment)
    return "".join(f"<p><b>{name}:</b> {escape(str(value))}</p>" for name, value in facts)


def _facts(environment):
    """What is said above the tables: names and values."""
    stats = environment.stats
    begin, end = stats.start_time, stats.last_request_timestamp or stats.start_time
    rows = [
        ("Profile", environment.profile),
        ("During", f"{format_utc_timestamp(begin)} – {format_utc_timestamp(end)} "
                   f"({format_duration(begin, end)})"),
        ("Target Host", _host(environment)),
        ("Script", environment.locustfile),
    ]
    return [(name, value) for name, value in rows if value]


def _host(environment):
    """Where the requests go, without a user and a password: pages are passed on."""
    hosts = {kind.host for kind in environment.user_classes if kind.host}
    hosts = [environment.host] if environment.host else sorted(hosts)
    return re.sub(r"://[^/?#,]*@", "://****:****@", ", ".join(hosts))


def _section(title, body):
    return f"<h2>{title}</h2>{body}"


def _tables(tables):
    return "".join(_section(escape(one["title"]), _table(one)) for one in tables)


def _table(table):
    kinds = ["" if column["is_number"] else " class=\"text\"" for column in table["columns"]]
    head = "".join(
        f"<th{kind}>{escape(column['name'])}</th>"
        for kind, column in zip(kinds, table["columns"])
    )
    last = len(table["rows"]) - 1
    body = "".join(
        f"<tr{' class=total' if table['has_total'] and i == last else ''}>"
        + "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row))
        + "</tr>"
        for i, row in enumerate(table["rows"])
    )
    title = escape(table["title"])
    return (
        f"<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


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
        f"<i style=\"border-color:{_COLOURS[i % len(_COLOURS)]}\"></i> {escape(name)}"
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
