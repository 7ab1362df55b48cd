"""Loadline's own outputs beside Locust's: saved runs, pages and checks, also of processes."""

import json
import os
import re
import signal
import subprocess
import time

import pytest
from command_support import (
    Ended,
    Server,
    await_line,
    begin,
    changes_of,
    native_command,
    report_of,
    run,
    write,
)

# Two seconds are no multiple of the waits: requests that are in flight at the end of a run leave
# its checks undecided.
VISITORS = """
    from locust import FastHttpUser, HttpUser, constant, task

    class Fast(FastHttpUser):
        wait_time = constant(0.053)

        @task
        def front(self):
            self.client.get("/", name="<b>front</b> & \\u2028")

    class Slow(HttpUser):
        wait_time = constant(0.053)

        @task
        def back(self):
            self.client.get("/back")
"""


def visit(folder, *arguments, users=4, seconds=2, env=None):
    """Run the visitors against a server of their own."""
    with Server() as server:
        return Ended(begin(
            ["--headless", "-u", str(users), "-r", str(users), "-t", str(seconds), "-H",
             server.url, "--only-summary", "--allow-invalid", *arguments], folder, env))


def data_of(page):
    """What a page of Loadline's shows, as data."""
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
    assert found, page[:500]
    return json.loads(found[1])


@pytest.fixture(scope="module")
def pages():
    """Whether the native command writes pages; a build without them leaves these tests out."""
    told = subprocess.run([native_command(), "report", "/dev/null", "--html", "/dev/null/x"],
                          capture_output=True, text=True)
    if "built without its HTML report" in told.stderr:
        pytest.skip("the native command was built without its HTML report")


def test_several_outputs_and_checks_that_pass(tmp_path):
    native_command()
    write(tmp_path, VISITORS)
    ended = visit(tmp_path, "--out", "loadline=a.run", "--out", "json=new/a.json", "--out",
                  "csv=a.csv", "--check", "errors<1%", "--check", "p50{name:GET /back}<10s")
    assert ended.code == 0, ended.err
    result = json.loads((tmp_path / "new/a.json").read_text())
    assert [check["outcome"] for check in result["summary"]["checks"]] == ["kept", "kept"]
    assert result["summary"]["sent"] > 50
    assert (tmp_path / "a.csv").read_text().count("\n") >= 3
    assert report_of(tmp_path / "a.run")["summary"] == result["summary"]
    assert "all 2 passed" in ended.err


@pytest.mark.parametrize("stopping", [[], ["--stop-timeout", "2"]])
def test_the_record_has_what_the_tables_have(tmp_path, stopping):
    users = 8
    write(tmp_path, VISITORS)
    ended = visit(tmp_path, "--out", "json=a.json", "--json-file", "tables", *stopping, users=users)
    assert ended.code == 0, ended.err
    result = json.loads((tmp_path / "a.json").read_text())
    summary = result["summary"]
    tables = json.loads((tmp_path / "tables.json").read_text())
    counted = sum(row["num_requests"] for row in tables)
    assert summary["failed"] == 0
    # A user may end while it waits for a response, or before it has taken it.
    assert summary["answered"] - users <= counted <= summary["answered"]
    assert summary["sent"] - users <= counted
    # Between two tasks they wait by themselves: that is no work of Loadline's.
    assert "waited for Loadline" not in json.dumps(result)


PICKY = """
    from locust import FastHttpUser, HttpUser, constant

    def judge(user):
        for number in range(40):
            with user.client.get("/", name="judged", catch_response=True) as response:
                if number % 4 == 0:
                    response.failure("not liked")
            with user.client.get("/missing", name="forgiven", catch_response=True) as response:
                response.success()
            user.client.get("/missing" if number % 5 == 0 else "/", name="plain")
        user.stop()

    class Slow(HttpUser):
        tasks = [judge]
        wait_time = constant(0)
        fixed_count = 1

    class Fast(FastHttpUser):
        tasks = [judge]
        wait_time = constant(0)
        fixed_count = 1
"""


@pytest.mark.parametrize("processes", [[], ["--processes", "1"], ["--processes", "2"]])
def test_failures_of_the_locustfile_are_those_of_the_record_to_the_last_request(
        tmp_path, processes):
    native_command()
    write(tmp_path, PICKY)
    ended = visit(tmp_path, "--out", "json=a.json", "--out", "csv=a.csv", "--json-file", "tables",
                  "--check", "errors<1%", *processes, users=2, seconds=5)
    assert ended.code == 1, ended.err
    summary = json.loads((tmp_path / "a.json").read_text())["summary"]
    tables = json.loads((tmp_path / "tables.json").read_text())
    assert summary["failed"] == 0
    assert summary["rejected"] == sum(row["num_failures"] for row in tables) == 2 * (10 + 8)
    assert summary["answered"] == sum(row["num_requests"] for row in tables) == 2 * 120
    theirs = {row["name"]: row["num_failures"] for row in tables}
    ours = {row["name"].removeprefix("GET "): row.get("rejected", 0) for row in summary["names"]}
    assert ours == theirs
    assert summary["checks"][0]["outcome"] == "broken"


SAMPLES = """
    from locust import FastHttpUser, constant

    def call(user):
        user.client.get("/", name="front")
        fire = user.environment.events.request.fire
        for number in range(50):
            fire(request_type="rpc", name="buy", response_time=number + 1, response_length=3,
                 exception=ValueError("odd") if number % 2 else None)
        fire(request_type="rpc", name="look", response_time=None, response_length=0,
             exception=None)
        user.stop()

    class Caller(FastHttpUser):
        tasks = [call]
        wait_time = constant(0)
"""


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
def test_samples_of_other_clients_are_metrics_of_the_record(tmp_path, processes):
    native_command()
    write(tmp_path, SAMPLES)
    checks = ["metric:event_response_time.max{request:buy}<=50", "metric:event_failed.share<0.4"]
    ended = visit(tmp_path, "--out", "json=a.json", "--json-file", "tables", "--check", checks[0],
                  "--check", checks[1], *processes, users=2, seconds=3)
    assert ended.code == 1, ended.err
    summary = json.loads((tmp_path / "a.json").read_text())["summary"]
    tables = json.loads((tmp_path / "tables.json").read_text())
    counted = {row["name"]: (row["num_requests"], row["num_failures"]) for row in tables}
    assert counted == {"front": (2, 0), "buy": (100, 50), "look": (2, 0)}
    assert (summary["answered"], summary.get("rejected", 0)) == (2, 0)
    found = {(one["name"], one["tags"]["request"]): one for one in summary["metrics"]}
    assert set(found) == {("event_response_time", "buy"), ("event_failed", "buy"),
                          ("event_failed", "look")}
    times, failed = found["event_response_time", "buy"], found["event_failed", "buy"]
    assert (times["count"], times["min"], times["max"], times["unit"]) == (100, 1.0, 50.0, "ms")
    assert times["tags"] == {"method": "rpc", "request": "buy"}
    assert (failed["count"], failed["share"]) == (100, 0.5)
    looked = found["event_failed", "look"]
    assert (looked["count"], looked["share"]) == (2, 0)
    assert [check["outcome"] for check in summary["checks"]] == ["kept", "broken", "broken"]
    assert summary["checks"][2]["text"] == "exit code of locust: value==0"


ENDS = """
    from locust import FastHttpUser, constant, events

    @events.quitting.add_listener
    def judge(environment, **kwargs):
        environment.process_exit_code = {code}

    class Visitor(FastHttpUser):
        wait_time = constant(0.05)

        def on_start(self):
            self.client.get("/missing")

        def do(self):
            self.client.get("/")

        tasks = [do]
"""


@pytest.mark.parametrize("code, arguments, theirs, ours", [
    (None, [], 1, 1), (None, ["--processes", "2"], 1, 1),
    (None, ["--exit-code-on-error", "0"], 0, 0), (0, [], 0, 0), (7, [], 7, 1),
])
def test_the_report_of_a_saved_run_ends_as_its_test_did(tmp_path, code, arguments, theirs, ours):
    native_command()
    write(tmp_path, ENDS.format(code=code))
    ended = visit(tmp_path, "--out", "loadline=a.run", "--html", "page.html", *arguments, users=2)
    assert ended.code == theirs, ended.err
    told = subprocess.run(
        [native_command(), "report", "--allow-invalid", str(tmp_path / "a.run")],
        capture_output=True, text=True)
    assert told.returncode == ours, told.stderr
    if ours:
        assert f"exit code of locust: value==0 ({theirs})" in told.stderr
        assert "exit code of locust" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("check, code", [("p50<1us", 1), ("rate>1000000", 1)])
def test_a_check_that_fails_sets_the_exit_code(tmp_path, check, code):
    native_command()
    write(tmp_path, VISITORS)
    ended = visit(tmp_path, "--check", check)
    assert ended.code == code, ended.err
    assert f"Shutting down (exit code {code})" in ended.err
    assert check in ended.err
    assert os.listdir(tmp_path) == ["locustfile.py"]


@pytest.mark.parametrize("check, code", [("errors<1%", 0), ("p50<1us", 1)])
def test_the_report_of_a_saved_run_ends_as_its_checks_did(tmp_path, check, code):
    native_command()
    write(tmp_path, VISITORS)
    ended = visit(tmp_path, "--out", "loadline=a.run", "--check", check)
    assert ended.code == code, ended.err
    told = subprocess.run([native_command(), "report", "--allow-invalid", tmp_path / "a.run"],
                          capture_output=True, text=True)
    assert told.returncode == code, told.stderr


@pytest.mark.parametrize("check, code", [("errors<1%", 0), ("p50<1us", 1)])
def test_a_test_that_is_interrupted_ends_as_its_checks_do_and_so_does_its_report(
        tmp_path, check, code):
    native_command()
    write(tmp_path, VISITORS)
    with Server() as server:
        process = begin(["--headless", "-u", "4", "-r", "4", "-H", server.url, "--only-summary",
                         "--allow-invalid", "--out", "loadline=a.run", "--check", check], tmp_path)
        while server.count() < 40:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        ended = Ended(process)
    assert ended.code == code, ended.err
    told = subprocess.run([native_command(), "report", "--allow-invalid", tmp_path / "a.run"],
                          capture_output=True, text=True)
    assert told.returncode == code, told.stderr


def test_failures_of_the_test_come_before_checks(tmp_path):
    native_command()
    write(tmp_path, VISITORS.replace('"/back"', '"/missing"'))
    ended = visit(tmp_path, "--check", "errors<1%", "--exit-code-on-error", "7")
    assert ended.code == 7, ended.err


@pytest.mark.parametrize("arguments, code, sentence", [
    (["--check", "speed<1"], 2, "The check cannot be read: `speed<1` is not a check: `speed` is"),
    (["--out", "xml=a"], 2, "'xml=a' is something else."),
    (["--out", "html=-"], 2, "'html=-' is something else."),
    (["--out", "loadline=a", "--out", "loadline=b"], 2, "name one file"),
])
def test_what_cannot_be_done_is_said_before_the_test(tmp_path, arguments, code, sentence):
    write(tmp_path, VISITORS)
    ended = run(tmp_path, "--headless", "-t", "5", *arguments)
    assert (ended.code, sentence in ended.err) == (code, True), ended.err
    assert "Ramping" not in ended.err


@pytest.mark.parametrize("arguments", [["--check", "errors<1%"], ["--out", "html=a.html"]])
def test_without_the_native_command_one_sentence_says_so(tmp_path, arguments):
    write(tmp_path, VISITORS)
    ended = run(tmp_path, "--headless", "-t", "5", *arguments, env={"LOADLINE_PROGRAM": "/nowhere"})
    assert ended.code == 2
    assert "with a report need the native command: /nowhere can't be run" in ended.err
    assert "Ramping" not in ended.err


def test_the_page_has_loadlines_figures_and_locusts_tables(tmp_path, pages):
    write(tmp_path, VISITORS.replace('"/back"', '"/missing"'))
    ended = visit(tmp_path, "--html", "{u}-{r}-{t}.html", "--profile", "</script>")
    assert ended.code == 1, ended.err
    page = (tmp_path / "4-4-2.html").read_text()
    data = data_of(page)
    assert data["kind"] == "run" and data["percentiles"]
    added = data["added"]
    assert added["title"] == "Locust's report"
    tables = {table["title"]: table for table in added["tables"]}
    assert list(tables) == ["Test", "Request Statistics", "Response Time Statistics",
                            "Failures Statistics", "Final ratio"]
    assert ["Profile", "</script>"] in tables["Test"]["rows"]
    rows = {row[1]: row for row in tables["Request Statistics"]["rows"]}
    assert set(rows) == {"<b>front</b> & \u2028", "/missing", "Aggregated"}
    assert int(rows["/missing"][3]) == int(rows["/missing"][2]) > 10
    assert tables["Request Statistics"]["has_total"]
    assert ["Fast", "50.0%", "50.0%"] in tables["Final ratio"]["rows"]
    # What the locustfile counts as failed stands at the head, and nothing there says otherwise.
    failed = {one["name"]: one for one in data["headlines"]}["Failed"]
    total = tables["Request Statistics"]["rows"][-1]
    assert failed["note"].startswith(f"{total[3]} of {total[2]} requests, as the locustfile counts")
    assert "GET /missing" in failed["note"] and failed["tone"] == "bad"
    assert data["validity"]["tone"] != "good"
    assert not any(" failed" in fact["text"] for fact in data["facts"])
    assert ["\u2003front", "100.0%", "50.0%"] in tables["Final ratio"]["rows"]
    # What stands in a name is never markup.
    assert "<b>front" not in page and "</script>\"" not in page


def test_a_test_without_a_host_has_the_simple_page(tmp_path):
    write(tmp_path, """
        from locust import User, constant, task

        class Own(User):
            wait_time = constant(0.1)

            @task
            def one(self):
                self.environment.events.request.fire(
                    request_type="X", name="one", response_time=5, response_length=1,
                    exception=None)
    """)
    ended = run(tmp_path, "--headless", "-t", "1", "--html", "a.html")
    assert ended.code == 0, ended.err
    assert "<h2>Request Statistics</h2>" in (tmp_path / "a.html").read_text()


def test_without_the_native_command_the_page_is_the_simple_one(tmp_path):
    write(tmp_path, VISITORS)
    ended = visit(tmp_path, "--html", "a.html", env={"LOADLINE_PROGRAM": "/nowhere"})
    assert ended.code == 0, ended.err
    assert "--html writes a page without Loadline's figures" in ended.err
    page = (tmp_path / "a.html").read_text()
    assert "<h2>Final ratio</h2>" in page
    # The only script is data.
    only = '<script id="templateArgs" type="application/json">'
    assert re.findall("<script[^>]*>", page) == [only]
    assert "&lt;b&gt;front&lt;/b&gt;" in page


def test_several_processes_save_one_run_without_loss(tmp_path):
    native_command()
    write(tmp_path, VISITORS)
    ended = visit(tmp_path, "--processes", "2", "--out", "loadline=a.run", "--check", "errors<1%",
                  "--csv", "all", seconds=3)
    assert ended.code == 0, ended.err
    result = report_of(tmp_path / "a.run")
    counts = result["summary"]
    # At the end each user may have one more request in one of the counts.
    table = (tmp_path / "all_stats.csv").read_text().splitlines()
    of_locust = int(re.search(r",Aggregated,(\d+),", table[-1])[1])
    assert abs(counts["answered"] - of_locust) <= 4, (counts, of_locust)
    assert counts["sent"] > 100
    assert result["plan"]["threads"] == 2 and len(result["summary"]["generator"]["workers"]) == 2
    assert result["summary"]["parts"] == 1
    assert len(result["summary"]["names"]) == 2


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
def test_changes_by_keys_are_in_the_saved_run(tmp_path, processes):
    native_command()
    write(tmp_path, VISITORS)
    terminal, stdin = os.openpty()
    keys = ["W", "s"]
    with Server() as server:
        process = begin(["--headless", "-u", "2", "-r", "2", "-H", server.url, "--only-summary",
                         "--out", "loadline=a.run", *processes], tmp_path, stdin=stdin)
        answers = "All users spawned|can't spawn more right now|can't stop right now"
        while True:
            is_done = await_line(process, answers, "stderr")[0] == "All users spawned"
            if is_done and not keys:
                process.send_signal(signal.SIGINT)
                break
            if is_done:
                key = keys.pop(0)
            # Else the last change has just been made, and was not known yet.
            os.write(terminal, key.encode())
        ended = Ended(process)
    for descriptor in (terminal, stdin):
        os.close(descriptor)
    assert ended.code == 0, ended.err
    assert changes_of(tmp_path / "a.run") == [12, 11]


def test_steps_of_a_shape_are_no_changes_of_its_load(tmp_path):
    native_command()
    write(tmp_path, VISITORS + """
    from locust import LoadTestShape

    class Steps(LoadTestShape):
        def tick(self):
            second = int(self.get_run_time())
            return (2 + second, 100) if second < 3 else None
""")
    with Server() as server:
        ended = run(tmp_path, "--headless", "-H", server.url, "--only-summary", "--out",
                    "loadline=a.run")
    assert "Shape test updating to 4 users" in ended.err, ended.err
    assert (ended.code, changes_of(tmp_path / "a.run")) == (0, [])


@pytest.mark.parametrize("number, text", [
    (signal.SIGKILL, "was lost (killed by signal 9)"),
    (signal.SIGSTOP, "was stopped, said nothing for 3 s and was ended"),
])
def test_a_lost_process_is_told_in_the_saved_run(tmp_path, number, text):
    native_command()
    write(tmp_path, VISITORS + """

    from locust import events
    import os

    @events.test_start.add_listener
    def tell(environment, **kwargs):
        if getattr(environment.runner, "worker_index", None) == 1:
            os.write(1, f"{os.getpid()}\\n".encode())
    """)
    with Server() as server:
        process = begin(
            ["--headless", "-u", "4", "-r", "4", "-t", "8", "-H", server.url, "--only-summary",
             "--processes", "2", "--out", "loadline=a.run"], tmp_path)
        lost = int(await_line(process, r"\d+")[0])
        time.sleep(3.2)
        os.kill(lost, number)
        ended = Ended(process)
    assert ended.code == 2 and text in ended.err
    result = report_of(tmp_path / "a.run")
    warnings = json.dumps(result["summary"]["warnings"])
    assert text in warnings, warnings
    # The seconds that the lost process had told of are there.
    with_both, with_one = result["intervals"][1]["sent"], result["intervals"][-2]["sent"]
    assert with_both > with_one > 0


TWICE = """
    import gevent
    from locust import FastHttpUser, constant

    def call(user):
        for pause in (0, 1.2, 1.2):
            gevent.sleep(pause)
            for number in range(20):
                user.client.get("/missing" if number % 4 == 0 else "/", name="front")
                user.environment.events.request.fire(
                    request_type="rpc", name="buy", response_time=number + 1, response_length=3,
                    exception=ValueError("odd") if number % 2 else None)
        user.stop()

    class Caller(FastHttpUser):
        tasks = [call]
        wait_time = constant(0)
"""


def test_the_intervals_of_several_processes_are_those_of_one_run(tmp_path):
    native_command()
    write(tmp_path, TWICE)
    ended = visit(tmp_path, "--processes", "3", "--out", "loadline=a.run", "--json-file", "tables",
                  users=5, seconds=7)
    assert ended.code == 1, ended.err
    tables = json.loads((tmp_path / "tables.json").read_text())
    counted = {row["name"]: (row["num_requests"], row["num_failures"]) for row in tables}
    assert counted == {"front": (300, 75), "buy": (300, 150)}
    result = report_of(tmp_path / "a.run")
    summary, intervals = result["summary"], result["intervals"]
    for count, all_of_them in (("sent", 300), ("answered", 300), ("rejected", 75)):
        assert summary[count] == all_of_them
        assert sum(one.get(count, 0) for one in intervals) == all_of_them
    assert [worker["worker"] for worker in summary["generator"]["workers"]] == [0, 1, 2]
    [buy] = [one for one in summary["metrics"] if one["name"] == "event_failed"]
    assert (buy["count"], buy["share"]) == (300, 0.5)


def test_the_record_of_several_processes_is_written_while_they_run(tmp_path):
    write(tmp_path, VISITORS)
    place = tmp_path / "shown.run"
    with Server() as server:
        process = begin(
            ["--headless", "-u", "2", "-r", "2", "-H", server.url, "--only-summary",
             "--processes", "2"], tmp_path, env={"LOADLINE_RECORD": str(place)})
        lines = []
        while len(lines) < 4:  # the last one may not be whole
            time.sleep(0.05)
            lines = place.read_text().split("\n") if place.exists() else []
        process.send_signal(signal.SIGINT)
        ended = Ended(process)
    assert ended.code == 0, ended.err
    header, *intervals = map(json.loads, lines[:3])
    assert header["plan"]["threads"] == 2
    assert sum(one["counts"]["sent"] for one in intervals) > 10


def test_a_test_without_a_run_time_has_no_planned_end(tmp_path):
    native_command()
    write(tmp_path, VISITORS)
    with Server() as server:
        process = begin(["--headless", "-H", server.url, "--out", "loadline=a.run"], tmp_path)
        while not (tmp_path / "a.run").exists():
            time.sleep(0.02)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        Ended(process)
    result = report_of(tmp_path / "a.run")
    assert result["plan"]["duration"] is None
    told = subprocess.run([native_command(), "report", str(tmp_path / "a.run")],
                          capture_output=True, text=True)
    assert "without a planned end" in told.stdout
    assert "year" not in told.stdout
