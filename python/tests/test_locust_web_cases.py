"""What a program finds at the endpoints of its page, case by case as Locust's own tests of its page
have them: statuses, keys, texts and files."""

import csv
import io

# First, as it makes `import locust` mean ours, and has gevent patch what requests imports.
from command_support import PACKAGES

import gevent
import locust
import pytest
import requests
from locust.argument_parser import parse_options
from locust.env import Environment
from locust.exception import StopUser
from locust.log import setup_logging
from locust.stats import StatsCSVFileWriter, PERCENTILES_TO_REPORT

assert locust.__file__.startswith(PACKAGES)


class First(locust.User):
    wait_time = locust.constant(1)
    host = "http://first.example"

    @locust.task
    def nothing(self):
        pass


class Second(locust.User):
    wait_time = locust.constant(1)
    host = "http://second.example"

    @locust.task
    def nothing(self):
        pass


class Thrower(locust.User):
    wait_time = locust.constant(60)

    @locust.task
    def throw(self):
        raise ValueError("thrown, by a task")


class Two(locust.LoadTestShape):
    def tick(self):
        return 2, 100


class Served:
    """A page of an environment with these classes, and whoever asks it."""

    def __init__(self, *classes, options=None, **more):
        known = {one.__name__: one for one in classes}
        self.environment = Environment(
            user_classes=list(classes), available_user_classes=known,
            parsed_options=options or parse_options([]), **more)
        self.runner = self.environment.create_local_runner()
        self.stats = self.environment.stats
        self.page = None

    def open(self, **more):
        self.page = self.environment.create_web_ui("127.0.0.1", 0, **more)
        return self

    def get(self, path):
        return requests.get(self.page.url + path, timeout=20)

    def post(self, path, form=None):
        return requests.post(self.page.url + path, data=form, timeout=20)

    def swarm(self, **form):
        return self.post("/swarm", {"user_count": 1, "spawn_rate": 100, **form}).json()

    def rows(self, path):
        answer = self.get(path)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/csv")
        return list(csv.reader(io.StringIO(answer.text)))


@pytest.fixture
def serve():
    opened = []

    def served(*classes, page=None, **more):
        made = Served(*classes, **more).open(**(page or {}))
        opened.append(made)
        return made

    yield served
    for one in opened:
        one.runner.quit()
        one.page.stop()


def test_without_a_test_there_are_an_aggregated_row_and_no_errors(serve):
    told = serve(First).get("/stats/requests").json()
    assert [one["name"] for one in told["stats"]] == ["Aggregated"]
    assert (told["errors"], told["state"], told["fail_ratio"]) == ([], "ready", 0.0)


def test_a_row_has_its_counts_and_sums_are_those_of_all(serve):
    served = serve(First)
    served.stats.log_request("GET", "/a", 120, 5612)
    served.stats.log_request("POST", "/b", 240, 10)
    served.stats.log_error("POST", "/b", Exception("odd"))
    told = served.get("/stats/requests").json()
    rows = {(one["method"], one["name"]): one for one in told["stats"]}
    assert rows["GET", "/a"]["avg_content_length"] == 5612
    assert rows["GET", "/a"]["avg_response_time"] == 120
    assert rows["POST", "/b"]["num_failures"] == 1
    assert told["stats"][-1]["num_requests"] == 2
    [error] = told["errors"]
    assert (error["method"], error["name"], error["occurrences"]) == ("POST", "/b", 1)


def test_the_files_have_a_row_for_each_entry(serve):
    served = serve(First)
    served.stats.log_request("GET", "/a,b", 120, 5612)
    served.stats.log_error("GET", "/a,b", Exception("odd"))
    rows = served.rows("/stats/requests/csv")
    assert rows[0][:4] == ["Type", "Name", "Request Count", "Failure Count"]
    assert [row[:4] for row in rows[1:]] == [
        ["GET", "/a,b", "1", "1"], ["", "Aggregated", "1", "1"]]
    head, row = served.rows("/stats/failures/csv")
    assert head == ["Method", "Name", "Error", "Occurrences", "First Seen", "Last Seen"]
    assert row[:4] == ["GET", "/a,b", "Exception('odd')", "1"]


def test_exceptions_are_rows_with_a_traceback_until_all_is_reset(serve):
    served = serve(Thrower)
    served.swarm(user_count=2)
    with gevent.Timeout(20):
        while sum(one["count"] for one in served.runner.exceptions.values()) < 2:
            gevent.sleep(0.02)
    [row] = served.get("/exceptions").json()["exceptions"]
    assert (row["count"], row["msg"], row["nodes"]) == (2, "thrown, by a task", "local")
    assert 'raise ValueError("thrown, by a task")' in row["traceback"]
    head, row = served.rows("/exceptions/csv")
    assert head == ["Count", "Message", "Traceback", "Nodes"]
    assert (row[0], row[1], row[3]) == ("2", "thrown, by a task", "local")
    assert "thrown, by a task" in served.get("/stats/report").text
    assert served.post("/stats/reset").text == "ok"
    assert served.get("/exceptions").json() == {"exceptions": []}


def test_a_reset_keeps_names_out_and_counts_anew(serve):
    served = serve(First)
    served.stats.log_request("GET", "/a", 120, 1)
    served.stats.log_error("GET", "/a", Exception("odd"))
    assert served.post("/stats/reset").status_code == 200
    told = served.get("/stats/requests").json()
    assert told["stats"][-1]["num_requests"] == 0
    assert told["errors"] == []
    served.stats.log_request("GET", "/a", 7, 1)
    served.page.routes.remembered.clear_cache()
    told = served.get("/stats/requests").json()
    assert told["stats"][0]["max_response_time"] == 7


def test_all_classes_start_where_the_form_names_none(serve):
    served = serve(First, Second, page={"userclass_picker_is_active": True})
    assert served.swarm(user_count=4)["user_classes"] == ["First", "Second"]
    gevent.sleep(0.2)
    assert served.runner.user_classes_count == {"First": 2, "Second": 2}


def test_without_classes_a_picker_has_nothing_to_offer(serve):
    served = serve(page={"userclass_picker_is_active": True})
    assert served.swarm() == {
        "success": False, "host": None,
        "message": "UserClass picker is active but there are no available UserClasses",
    }


def test_a_shape_that_is_not_there_is_named(serve):
    served = serve(First, page={"userclass_picker_is_active": True},
                   available_shape_classes={"Two": Two()})
    told = served.swarm(shape_class="Three")
    assert (told["success"], told["message"]) == (False, "Unknown shape: Three")
    told = served.swarm(shape_class="Two")
    assert told["message"] == "Swarming started using shape class 'Two'"


@pytest.mark.parametrize("run_time, seconds", [("1s", 1), ("1m30s", 90), ("20", 20)])
def test_a_run_time_is_read_and_told(serve, run_time, seconds):
    assert serve(First).swarm(run_time=run_time)["run_time"] == seconds


def test_a_wrong_run_time_starts_nothing(serve):
    served = serve(First)
    told = served.swarm(run_time="bad")
    assert not told["success"]
    assert told["message"].startswith("Valid run_time formats are : 20, 20s, 3m, 2h, 1h20m")
    assert served.runner.state == "ready"


def test_the_host_is_that_of_the_environment_or_of_the_only_class(serve):
    def host(*classes, **more):
        served = serve(*classes, **more)
        served.get("/")
        return served.page.template_args["host"]

    assert host(First) == "http://first.example"
    assert not host(First, Second)
    assert host(First, Second, host="http://given.example") == "http://given.example"


def test_the_report_of_no_test_and_its_file(serve):
    served = serve(First, host="http://given.example")
    page = served.get("/stats/report")
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")
    assert "Content-Disposition" not in page.headers
    file = served.get("/stats/report?download=1")
    assert "attachment" in file.headers["Content-Disposition"]
    assert "http://given.example" in file.text


def test_the_lines_of_the_log_are_told(serve):
    setup_logging("INFO")
    served = serve(First)
    import logging

    logging.getLogger("locust.cases").info("a line of the log")
    told = served.get("/logs").json()
    assert any("a line of the log" in line for line in told["master"])
    assert told["workers"] == {}


def test_the_full_history_is_a_file_where_it_is_written(serve, tmp_path):
    options = parse_options(["--csv", str(tmp_path / "a"), "--csv-full-history"])
    served = serve(First, options=options)
    writer = StatsCSVFileWriter(
        served.environment, PERCENTILES_TO_REPORT, str(tmp_path / "a"), full_history=True)
    served.page.stats_csv_writer = writer
    writing = gevent.spawn(writer.stats_writer)
    served.stats.log_request("GET", "/a", 120, 1)
    with gevent.Timeout(20):
        while True:
            gevent.sleep(0.2)
            answer = served.get("/stats/requests_full_history/csv")
            if answer.status_code == 200 and "/a" in answer.text:
                break
    writing.kill(block=False)
    assert answer.text.startswith("Timestamp,User Count,Type,Name,Requests/s")
    assert "_requests_full_history.csv" in answer.headers["Content-Disposition"]


def test_a_class_changes_its_weight_and_tasks(serve):
    served = serve(First, Second)
    change = '{"user_class_name": "First", "weight": 7, "host": "http://other.example"}'
    before = First.weight, First.host
    try:
        answer = served.post("/user", change)
        assert (answer.status_code, answer.json()) == (201, {})
        assert (First.weight, First.host) == (7, "http://other.example")
    finally:
        First.weight, First.host = before


def test_users_that_stop_themselves_leave_the_page(serve):
    class Leaver(locust.User):
        @locust.task
        def leave(self):
            raise StopUser()

    served = serve(Leaver)
    served.swarm(user_count=3)
    with gevent.Timeout(20):
        while served.runner.user_count:
            gevent.sleep(0.02)
    assert served.get("/stats/requests").json()["user_count"] == 0
