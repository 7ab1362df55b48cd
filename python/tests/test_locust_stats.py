"""Locust's figures and tables: each expectation was seen with Locust 2.47."""

import command_support  # noqa: F401
import gevent
import pytest
from locust import stats
from locust.exception import CatchResponseError
from locust.stats import RequestStats, StatsEntry, StatsError
from locust.util.date import format_duration
from locust.util.rounding import proper_round
from locust.util.timespan import parse_timespan
from locust.util.url import is_url


@pytest.fixture
def request_stats():
    return RequestStats()


@pytest.mark.parametrize(
    "time, bucket",
    [(0.4, 0), (2.5, 2), (3.5, 4), (99.4, 99), (99.5, 100), (104.9, 100), (105, 100), (115, 120),
     (995, 1000), (9950, 10000), (10500, 10000), (11500, 12000)],
)
def test_buckets(time, bucket, request_stats):
    assert stats.bucket_response_time(time) == bucket
    request_stats.log_request("GET", "/", time, 0)
    assert dict(request_stats.get("/", "GET").response_times) == {bucket: 1}


def test_a_replaced_bucket_function_is_used(request_stats, monkeypatch):
    monkeypatch.setattr(stats, "bucket_response_time", lambda time: round(time, 1))
    request_stats.use_custom_buckets()
    request_stats.log_request("GET", "/", 1.26, 0)
    assert dict(request_stats.get("/", "GET").response_times) == {1.3: 1}


def test_percentile_is_the_element_at_the_share_of_the_count():
    times = {1: 1, 5: 1}
    assert stats.calculate_response_time_percentile(times, 2, 0.5) == 5
    assert stats.calculate_response_time_percentile(times, 2, 0.49) == 1
    assert stats.calculate_response_time_percentile(times, 2, 1.0) == 5
    assert stats.calculate_response_time_percentile({}, 0, 0.5) == 0
    many = {value: 1 for value in range(100)}
    for share in (0.0, 0.1, 0.5, 0.95, 0.99, 1.0):
        wanted = sorted(many)[min(int(100 * share), 99)]
        assert stats.calculate_response_time_percentile(many, 100, share) == wanted


def test_figures_of_a_row(request_stats):
    for time in (1.0, 5.0):
        request_stats.log_request("GET", "/", time, 10)
    row = request_stats.get("/", "GET")
    assert (row.num_requests, row.avg_response_time, row.median_response_time) == (2, 3.0, 5)
    assert (row.min_response_time, row.max_response_time) == (1.0, 5.0)
    assert (row.avg_content_length, row.fail_ratio, row.current_rps) == (10.0, 0.0, 0.0)
    assert row.get_current_response_time_percentile(0.5) is None


def test_a_request_without_time_counts_in_no_time(request_stats):
    request_stats.log_request("GET", "/", None, 10)
    row = request_stats.get("/", "GET")
    assert (row.num_requests, row.num_none_requests) == (1, 1)
    assert (row.avg_response_time, row.median_response_time, row.min_response_time) == (0, 0, None)


def test_median_lies_between_minimum_and_maximum(request_stats):
    request_stats.log_request("GET", "/", 152.4, 0)
    row = request_stats.get("/", "GET")
    assert row.median_response_time == 152.4
    assert row.get_response_time_percentile(0.5) == 150


def test_failures_without_requests_have_ratio_one(request_stats):
    request_stats.log_error("GET", "/", "text")
    assert request_stats.get("/", "GET").fail_ratio == 1.0


def entry_with(seconds, start=0, last=None):
    owner = RequestStats()
    owner.total.start_time = start
    owner.total.last_request_timestamp = last
    row = StatsEntry(owner, "/", "GET")
    row.num_reqs_per_sec = seconds
    row.num_requests = sum(seconds.values())
    return row


@pytest.mark.parametrize(
    "start, last, expected",
    [
        (0, 100.9, sum(range(88, 98)) / 10),  # the ten whole seconds 88 to 97
        (95, 100.0, (95 + 96 + 97) / 3),
        (98, 100.0, 0.0),  # only seconds that are too new
    ],
)
def test_current_rate_leaves_the_newest_seconds_out(start, last, expected):
    row = entry_with({second: second for second in range(80, 101)}, start, last)
    assert row.current_rps == pytest.approx(expected)


def test_total_rate_is_that_of_the_whole_run():
    assert entry_with({100: 50}, start=90.0, last=100.0).total_rps == 5.0


def test_current_percentile_looks_back_ten_seconds(monkeypatch):
    row = entry_with({})
    row.use_response_times_cache = True
    row.response_times_cache = {}
    row.response_times = {1: 5, 9: 5}
    row.num_requests = 10
    row.response_times_cache[990] = stats.CachedResponseTimes({1: 5}, 5, 0)
    monkeypatch.setattr("locust.stats.entry.time.time", lambda: 1000.0)
    assert row.get_current_response_time_percentile(0.5) == 9


def test_the_first_requests_of_a_row_are_among_its_newest(request_stats, monkeypatch):
    request_stats.log_request("GET", "/", 7, 0)
    row = request_stats.get("/", "GET")
    began = int(row.start_time)
    for second in range(began, began + 3):
        request_stats.remember_second(second)
    monkeypatch.setattr("locust.stats.entry.time.time", lambda: began + 3.0)
    assert row.get_current_response_time_percentile(0.5) == 7


ERRORS = [
    (ValueError("x at <Foo object at 0x7f12ab>"), "ValueError('x at <Foo object at 0x....>')",
     "GET /none: ValueError('x at <Foo object at 0x7f12ab>')",
     "3d40f8d71cd13a2b29047433de77046045f5b13a1742e256d6959020bf90d732"),
    ("text", "text", "GET /none: text",
     "56ee1b162f77c1a88642f82d8418fda145ef932776ee386356f43e1e726dc635"),
    (None, "None", "GET /none: None", None),
    (CatchResponseError("quo'te"), 'CatchResponseError("quo\'te")', "GET /none: quo'te", None),
    ("CatchResponseError('bad thing')", "CatchResponseError('bad thing')", "GET /none: bad thing",
     None),
]


@pytest.mark.parametrize("error, text, name, _key", ERRORS)
def test_texts_of_failures(error, text, name, _key):
    failure = StatsError("GET", "/none", error)
    assert StatsError.parse_error(error) == text
    assert failure.to_name() == name
    assert failure.serialize()["error"] == text


def test_equal_texts_are_one_row(request_stats):
    for _ in range(3):
        request_stats.log_error("GET", "/", ValueError("x"))
    request_stats.log_error("GET", "/", ValueError("y"))
    assert sorted(error.occurrences for error in request_stats.errors.values()) == [1, 3]
    assert request_stats.num_failures == 4


def test_serialising_changes_nothing(request_stats):
    request_stats.log_request("GET", "/", 3.0, 10)
    assert request_stats.serialize_stats() == request_stats.serialize_stats()
    row = request_stats.serialize_stats()[0]
    assert list(row) == [
        "name", "method", "last_request_timestamp", "start_time", "num_requests",
        "num_none_requests", "num_failures", "total_response_time", "max_response_time",
        "min_response_time", "total_content_length", "response_times", "num_reqs_per_sec",
        "num_fail_per_sec",
    ]
    assert row["num_requests"] == 1


def test_reports_of_processes_are_added():
    merged = RequestStats()
    for time in (1.0, 200.0):
        one = RequestStats()
        one.log_request("GET", "/", time, 10)
        one.log_error("GET", "/", ValueError("x"))
        merged.add_report({
            "stats": one.serialize_stats(),
            "stats_total": one.total.serialize(),
            "errors": one.serialize_errors(),
        })
    row = merged.get("/", "GET")
    assert (row.num_requests, row.num_failures, row.min_response_time) == (2, 2, 1.0)
    assert (row.max_response_time, dict(row.response_times)) == (200.0, {1: 1, 200: 1})
    assert [error.occurrences for error in merged.errors.values()] == [2]
    assert merged.total.num_requests == 2


def test_reset_keeps_rows_and_clear_forgets_them(request_stats):
    request_stats.log_request("GET", "/", 1.0, 1)
    request_stats.reset_all()
    assert [key for key in request_stats.entries] == [("/", "GET")]
    assert request_stats.num_requests == 0
    request_stats.clear_all()
    assert dict(request_stats.entries) == {}
    request_stats.log_request("GET", "/", 1.0, 1)
    assert request_stats.num_requests == 1 == request_stats.get("/", "GET").num_requests


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setattr(stats, "STATS_NAME_WIDTH", 80)


def test_tables_to_the_letter(request_stats, wide):
    for time in (1.0, 5.0):
        request_stats.log_request("GET", "/", time, 10)
    request_stats.log_request("GET", "/none", None, 10)
    for error, *_ in ERRORS[:4]:
        request_stats.log_error("GET", "/none", error)
    rule = ("--------|" + "-" * 76 + "|-------|-------------|-------|-------|-------|-------|"
            "--------|-----------")
    assert stats.get_stats_summary(request_stats) == [
        "Type     Name" + " " * 74 + "# reqs      # fails |    Avg     Min     Max    Med |   req/s"
        "  failures/s",
        rule,
        "GET      /" + " " * 82 + "2     0(0.00%) |      3       1       5      5 |    0.00"
        "        0.00",
        "GET      /none" + " " * 78 + "1   4(400.00%) |      0       0       0      0 |    0.00"
        "        0.00",
        rule,
        "         Aggregated" + " " * 73 + "3   4(133.33%) |      3       1       5      5 |    "
        "0.00        0.00",
    ]
    rule = "--------|" + "-" * 80 + "|--------|" + "|".join(["------"] * 11)
    assert stats.get_percentile_stats_summary(request_stats) == [
        "Response time percentiles (approximated)",
        "Type     Name" + " " * 82 + "50%    66%    75%    80%    90%    95%    98%    99%  99.9%"
        " 99.99%   100% # reqs",
        rule,
        "GET      /" + " " * 87 + "5" + "      5" * 10 + "      2",
        rule,
        "         Aggregated" + " " * 78 + "5" + "      5" * 10 + "      3",
    ]
    assert stats.get_error_report_summary(request_stats)[:4] == [
        "Error report",
        "# occurrences      Error" + " " * 95,
        "-" * 18 + "|" + "-" * 141,
        "1" + " " * 18 + "GET /none: ValueError('x at <Foo object at 0x7f12ab>')".ljust(100),
    ]


def test_the_head_of_percentiles():
    shares = [0.5, 0.999, 0.9999, 1.0, 0.123456789]
    assert stats.get_readable_percentiles(shares) == ["50%", "99.9%", "99.99%", "100%",
                                                      "12.345679%"]


def test_no_percentiles_of_nothing(request_stats):
    with pytest.raises(ValueError, match="no successful requests"):
        request_stats.get("/", "GET").percentile()


@pytest.mark.parametrize("shares, sentence", [
    ([0.1] * 7, "should be a maximum of 6 parameters"),
    ([1.5], "0 < percentile < 1"),
    (["a"], "0 < percentile < 1"),
])
def test_percentiles_that_cannot_be_are_refused(shares, sentence, monkeypatch, capsys):
    monkeypatch.setattr(stats, "PERCENTILES_TO_CHART", shares)
    with pytest.raises(SystemExit) as ended:
        stats.validate_stats_configuration()
    assert ended.value.code == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("text, seconds", [
    ("20", 20), ("20s", 20), ("3m", 180), ("2h", 7200), ("1h20m", 4800), ("3h30m10s", 12610),
    ("0s", 0),
])
def test_time_spans(text, seconds):
    assert parse_timespan(text) == seconds


@pytest.mark.parametrize("text", ["", "5x", "1m1", "-3", "20s1m"])
def test_no_time_spans(text):
    with pytest.raises(ValueError, match="Invalid time span format"):
        parse_timespan(text)


@pytest.mark.parametrize("text, expected", [
    ("http://a", True), ("https://a:1/b", True), ("HTTP://a", True), ("ftp://a", False),
    ("http://", False), ("a/b", False), ("http://[a", False),
])
def test_urls(text, expected):
    assert is_url(text) is expected


def test_rounding_and_durations():
    assert [proper_round(x, 2) for x in (2.675, 1.005, 0.125, 3)] == [2.68, 1.01, 0.13, 3.0]
    assert [format_duration(0, x) for x in (0.4, 61, 3661, 86400 * 2 + 7201)] == [
        "0 seconds", "1 minute and 1 second", "1 hour, 1 minute and 1 second",
        "2 days, 2 hours and 1 second",
    ]


class Counting:
    """A store that counts how many rows it hands out."""

    def __init__(self, store):
        self._store = store
        self.handed_out = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def entries(self, first=0):
        rows = self._store.entries(first)
        self.handed_out += len(rows)
        return rows


def with_names(request_stats, count):
    request_stats.native = Counting(request_stats.native)
    for number in range(count):
        request_stats.log_request("GET", f"/{number}", 1.0, 10)
    return request_stats


@pytest.mark.parametrize("table", [
    stats.get_stats_summary, stats.get_percentile_stats_summary, stats.get_error_report_summary,
    lambda all_of_them: all_of_them.serialize_stats(),
    lambda all_of_them: all_of_them.remember_second(1),
    lambda all_of_them: all_of_them.as_of_now(),
])
def test_a_table_takes_each_row_once(request_stats, table):
    with_names(request_stats, 300)
    table(request_stats)
    assert request_stats.native.handed_out <= 300
    before = request_stats.native.handed_out
    request_stats.log_request("GET", "/new", 1.0, 10)
    table(request_stats)
    assert request_stats.native.handed_out - before <= 301 - before


def test_one_row_is_found_without_the_others(request_stats):
    with_names(request_stats, 300)
    for number in range(300):
        assert request_stats.get(f"/{number}", "GET").num_requests == 1
    assert request_stats.native.handed_out == 0
    assert len(request_stats.entries) == 300


def test_a_table_is_printed_while_others_run(request_stats, monkeypatch):
    # So many that they take several slices of time on a fast machine.
    rows = 8000
    with_names(request_stats, rows)
    printed, turns = [], []
    monkeypatch.setattr(stats.console_logger, "info", printed.append)

    def run():
        while True:
            # Later requests are not in the table that is being printed.
            request_stats.log_request("GET", "/0", 1.0, 10)
            turns.append(len(printed))
            gevent.sleep(0)

    others = gevent.spawn(run)
    printer = gevent.spawn(stats.stats_printer(request_stats))
    while "" not in printed:
        gevent.sleep(0.01)
    gevent.killall([others, printer])
    lines = printed[:printed.index("")]
    assert len(lines) == rows + 4
    # Those who ran meanwhile did so between its lines, often.
    assert len({turn for turn in turns if 2 < turn < rows}) >= 10
    counts = [int(line.split()[2]) for line in lines[2:-2]]
    assert int(lines[-1].split()[1]) == sum(counts)


def test_a_row_can_be_written_to(request_stats):
    request_stats.log_request("GET", "/x", 5, 10)
    for row in (request_stats.get("/x", "GET"), request_stats.total):
        row.log(12, 100)
        row.log(None, 1)
        row.log_error(ValueError("x"))
        assert (row.num_requests, row.num_none_requests, row.num_failures) == (3, 1, 1)
        assert (row.max_response_time, row.total_content_length) == (12, 111)
        assert dict(row.response_times) == {5: 1, 12: 1}
        assert row.last_request_timestamp >= row.start_time
        assert list(row.num_fail_per_sec.values()) == [1]


@pytest.mark.parametrize("field, value", [
    ("num_requests", 7), ("num_none_requests", 2), ("num_failures", 3),
    ("total_response_time", 70.5), ("total_content_length", 9), ("min_response_time", None),
    ("min_response_time", 1.5), ("max_response_time", 80.0), ("response_times", {7: 2, 1.5: 1}),
    ("num_reqs_per_sec", {100: 7}), ("num_fail_per_sec", {100: 3}), ("start_time", 90.0),
    ("last_request_timestamp", 101.5), ("last_request_timestamp", None),
])
def test_each_field_of_a_row_can_be_assigned(request_stats, field, value):
    request_stats.log_request("GET", "/x", 5, 10)
    for row in (request_stats.get("/x", "GET"), request_stats.total):
        setattr(row, field, value)
        assert getattr(row, field) == value


def test_a_row_that_is_counted_into_by_hand_remembers_its_seconds(request_stats):
    row = request_stats.get("/x", "GET")
    row.log(11, 1)
    known = len(row.response_times_cache)
    row.last_request_timestamp -= 1
    row.log(666, 1)
    assert len(row.response_times_cache) == known + 1
    before = row.response_times_cache[int(row.last_request_timestamp) - 1]
    assert before == stats.CachedResponseTimes({11: 1}, 1, 0)


def test_a_row_whose_times_are_unknown_has_a_text(wide):
    row = StatsEntry(RequestStats(), "/", "GET")
    row.num_requests, row.num_failures = 10, 5
    assert str(row).split()[2:8] == ["10", "5(50.00%)", "|", "0", "0", "0"]


def test_the_text_of_a_row_is_its_row_of_the_table(request_stats, wide):
    request_stats.log_request("GET", "/x", 5, 10)
    row = request_stats.get("/x", "GET")
    assert str(row) == row.to_string() == stats.get_stats_summary(request_stats)[2]


def test_a_row_of_its_own_bucket_function(request_stats, monkeypatch):
    monkeypatch.setattr(stats, "bucket_response_time", lambda time: round(time, 1))
    row = request_stats.get("/x", "GET")
    row.log(1.26, 0)
    assert dict(row.response_times) == {1.3: 1}


def test_a_row_that_is_asked_for_is_there(request_stats):
    assert request_stats.get("/x", "GET").num_requests == 0
    assert list(request_stats.entries) == [("/x", "GET")]
    request_stats.clear_all()
    assert list(request_stats.entries) == []


def test_events_of_processes_carry_the_counts():
    from locust.env import Environment
    from locust.stats import setup_distributed_stats_event_listeners

    ends = []
    for _ in range(2):
        environment = Environment()
        setup_distributed_stats_event_listeners(environment.events, environment.stats)
        ends.append(environment)
    worker, master = ends
    for times in (1, 2):
        worker.stats.log_request("GET", "/", 5, 10)
        worker.stats.log_error("GET", "/", "bad")
        data = {}
        worker.events.report_to_master.fire(client_id="w", data=data)
        assert worker.stats.num_requests == 0
        master.events.worker_report.fire(client_id="w", data=data)
        row = master.stats.get("/", "GET")
        assert (row.num_requests, row.num_failures, master.stats.num_requests) == (times,) * 3
        assert [one.occurrences for one in master.stats.errors.values()] == [times]
