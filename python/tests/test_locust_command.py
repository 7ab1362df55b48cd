"""The command as a process: texts, exit codes, signals and files."""

import csv
import json
import os
import re
import signal
import sys
import tempfile
import time

import pytest
from command_support import (
    NO_REAL,
    REAL,
    Ended,
    Server,
    await_line,
    begin,
    run,
    run_real,
    write,
)

from loadline.locust_runner import writable

real_only = pytest.mark.skipif(REAL is None, reason=NO_REAL)

# A user that counts samples by hand, so that its counts are exact.
COUNTING = """
    from locust import User, task, constant, events
    from locust.exception import CatchResponseError, StopUser

    class Counting(User):
        wait_time = constant(0.01)
        done = 0

        def sample(self, name, time, error=None):
            self.environment.events.request.fire(
                request_type="X", name=name, response_time=time, response_length=10,
                exception=error)

        @task
        def one(self):
            self.sample("good", 5)
            self.sample("good", 7)
            self.sample("bad", 150, CatchResponseError("bad thing"))
            self.done += 1
            if self.done == 10:
                self.environment.runner.quit()
"""


def test_tables_counts_and_exit_code(tmp_path):
    write(tmp_path, COUNTING)
    ended = run(tmp_path, "--headless", "--csv", "out/run", "--json-file", "out/run", "--html",
                "out/{u}_{r}_{t}.html")
    assert ended.code == 1
    rows = [line for line in ended.lines() if line.startswith("X ")]
    assert re.match(r"X +bad +10 +10\(100.00%\) \| +150 +150 +150 +150 \|", rows[-4])
    assert re.match(r"X +good +20 +0\(0.00%\) \| +6 +5 +7 +7 \|", rows[-3])
    assert "10                 X bad: bad thing" in ended.err
    assert "Shutting down (exit code 1)" in ended.err
    with open(tmp_path / "out/run_stats.csv", newline="") as file:
        table = list(csv.reader(file))
    assert [(row[1], row[2], row[3]) for row in table[1:]] == [
        ("bad", "10", "10"), ("good", "20", "0"), ("Aggregated", "30", "10")]
    with open(tmp_path / "out/run.json") as file:
        counts = {row["name"]: row["num_requests"] for row in json.load(file)}
    assert counts == {"good": 20, "bad": 10}
    page = (tmp_path / "out/1_1_{t}.html").read_text()
    for title in ("Request Statistics", "Response Time Statistics", "Failures Statistics",
                  "Charts", "Final ratio"):
        assert f"<h2>{title}</h2>" in page
    assert "<td>10</td>" in page and "bad thing" in page


def test_json_on_stdout_leaves_the_tables_alone(tmp_path):
    write(tmp_path, COUNTING)
    ended = run(tmp_path, "--headless", "--json", "--only-summary")
    assert [row["num_requests"] for row in json.loads(ended.out)] == [20, 10]
    assert re.search(r"X +good +20 +0\(0.00%\)", ended.err)


def test_exit_code_on_error_can_be_chosen(tmp_path):
    write(tmp_path, COUNTING)
    assert run(tmp_path, "--headless", "--exit-code-on-error", "7").code == 7


def test_the_locustfile_decides_the_exit_code(tmp_path):
    write(tmp_path, COUNTING + """
    @events.quitting.add_listener
    def decide(environment, **kwargs):
        environment.process_exit_code = 0 if environment.stats.total.fail_ratio < 0.5 else 9
    """)
    assert run(tmp_path, "--headless").code == 0


IDLE = """
    from locust import User, task, constant, events

    class Idle(User):
        wait_time = constant(0.1)

        def on_stop(self):
            print("on_stop", flush=True)

        @task
        def nothing(self):
            pass
"""
EVENTS = IDLE + """
    for name in ("init", "test_start", "spawning_complete", "test_stopping", "test_stop",
                 "quitting", "quit"):
        def listen(name=name):
            getattr(events, name).add_listener(lambda **kwargs: print(name, flush=True))
        listen()
"""


def test_events_in_their_order(tmp_path):
    write(tmp_path, EVENTS)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert ended.code == 0
    assert ended.out.split() == ["init", "test_start", "spawning_complete", "test_stopping",
                                 "on_stop", "test_stop", "quitting", "quit"]


@pytest.mark.parametrize("number, line", [(signal.SIGTERM, "Got SIGTERM signal"),
                                          (signal.SIGHUP, "Got SIGHUP signal"),
                                          (signal.SIGINT, None)])
def test_a_signal_ends_the_test_in_order(tmp_path, number, line):
    write(tmp_path, EVENTS)
    # Whoever runs the tests may ignore hangups, and so would what they start.
    earlier = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        process = begin(["--headless"], tmp_path)
    finally:
        signal.signal(signal.SIGHUP, earlier)
    await_line(process, "spawning_complete")
    time.sleep(0.2)
    process.send_signal(number)
    ended = Ended(process)
    assert ended.code == 0
    assert ended.out.split() == ["quitting", "test_stopping", "on_stop", "test_stop", "quit"]
    assert [one.partition("locust.main: ")[2] for one in ended.lines() if "Got SIG" in one] == (
        [line] if line else [])
    assert "Aggregated" in ended.err


CLEANING_UP = """
    import time

    from locust import TaskSet, User, events, task

    def compute(seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass

    def clean_up(self):
        compute(1.2)
        print(type(self).__name__, flush=True)

    class Steps(TaskSet):
        on_stop = clean_up

        @task
        def one(self):
            {task}

    class Computing(User):
        tasks = [Steps]
        on_stop = clean_up

    events.spawning_complete.add_listener(lambda **kwargs: print("complete", flush=True))
"""


@pytest.mark.parametrize("task", ["time.sleep(60)", "time.sleep(0.5); compute(60)"])
def test_what_users_compute_at_their_end_is_finished(tmp_path, task):
    write(tmp_path, CLEANING_UP.format(task=task))
    process = begin(["--headless", "-u", "2", "-r", "2"], tmp_path)
    await_line(process, "complete")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    ended = Ended(process)
    assert (ended.code, ended.out.splitlines()) == (0, ["Steps", "Computing"] * 2), ended.err


def test_who_ignores_hangups_goes_on(tmp_path):
    write(tmp_path, EVENTS)
    command = ["nohup", sys.executable, "-m", "loadline"]
    process = begin(["--headless", "-t", "2"], tmp_path, command=command)
    await_line(process, "spawning_complete")
    process.send_signal(signal.SIGHUP)
    ended = Ended(process)
    assert (ended.code, "--run-time limit reached" in ended.err) == (0, True)


def test_run_time_is_exact(tmp_path):
    write(tmp_path, IDLE)
    ended = run(tmp_path, "--headless", "-t", "1s")
    begun = next(line for line in ended.lines() if "Run time limit set to 1 seconds" in line)
    over = next(line for line in ended.lines() if "--run-time limit reached" in line)
    assert moment(over) - moment(begun) >= 1.0


def moment(line):
    clock = re.match(r"\[\S+ (\d+):(\d+):(\d+),(\d+)\]", line).groups()
    hours, minutes, seconds, milliseconds = map(int, clock)
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


@pytest.mark.parametrize("text, arguments, code, sentence", [
    ("import os", ["--headless"], 1, "No User class found!"),
    ("raise ValueError('x')", ["--headless"], 1, "ValueError: x at line 1"),
    ("def (", ["--headless"], 1, "SyntaxError: invalid syntax"),
    ("raise BaseException('x')", ["--headless"], 1, "BaseException: x at line 1"),
    ("raise GeneratorExit()", ["--headless"], 1, "Correct it, or run with --loglevel DEBUG"),
    (IDLE, ["--headless", "Other"], 1, "Unknown User(s): Other"),
    (IDLE, ["--headless", "-t", "5x"], 2, "argument -t/--run-time: Invalid time span format."),
    (IDLE, ["--headless", "-r", "0"], 2, "argument -r/--spawn-rate: must be > 0"),
    (IDLE, ["--headless", "-r", "inf"], 2, "must be a finite number"),
    (IDLE, ["--headless", "-u", "x"], 2, "argument -u/--users: invalid int value: 'x'"),
    (IDLE, ["--headlezz"], 2, "Did you mean '--headless'?"),
    (IDLE, ["--csv-full-history"], 2, "'--csv-full-history' requires '--csv'."),
    (IDLE, ["--autoquit", "3"], 1, "--autoquit is only meaningful in combination with --autostart"),
    (IDLE, ["--slave"], 2, "The --slave parameter has been renamed --worker"),
    (IDLE, ["--expect-slaves"], 2, "has been renamed --expect-workers"),
    (IDLE, ["--legacy-ui"], 2, "--legacy-ui is no longer supported"),
    (IDLE, ["--web-auth", "a:b"], 2, "has been replaced with --web-login"),
    (IDLE, ["--headless", "--processes", "-3"], 1, "Invalid --processes count -3"),
    (IDLE, ["--master", "--processes", "2"], 1, "--master cannot be combined with --processes"),
    (IDLE, ["--master", "--worker"], 255, "--master argument cannot be combined with --worker"),
    (IDLE, ["--worker", "--master-host", "10.0.0.1"], 1, "give the --master-token that it logs"),
    (IDLE, ["--web-base-path", "x"], 1, "the url path must start with a slash"),
    (IDLE, ["--tls-cert", "a"], 1, "TLS needs both a certificate and its key"),
    (IDLE, ["--tls-cert", "a", "--tls-key", "b", "--web-port", "0"], 1,
     "can't be served at 127.0.0.1:0"),
    (IDLE, ["--web-host", "203.0.113.1"], 1, "Check --web-host, --tls-cert and --tls-key."),
    (IDLE, ["--headless", "--html", "locustfile.py/a.html"], 1, "cannot be written"),
    (IDLE, ["--headless", "--json-file", "locustfile.py/a"], 1, "Name another file."),
    (IDLE, ["--headless", "--csv", "/proc/x"], 1, "'/proc/x_stats.csv' cannot be written"),
    (IDLE, ["--headless", "--out", "xml=x"], 2, "--out takes KIND=FILE"),
    (IDLE, ["-f", "none.py"], 1, "Could not find 'none.py'."),
    (IDLE, ["-f", "-"], 1, "Only a worker gets its locustfile from a master"),
    (IDLE, ["--headless", "--config-users", "{"], 2, "parsing your JSON"),
    (IDLE, ["--headless", "--config-users", '{"user_class_name": "No"}'], 255, "not present"),
])
def test_bad_input_is_one_sentence(tmp_path, text, arguments, code, sentence):
    write(tmp_path, text)
    before = {"out_stats.csv": "kept"}
    write(tmp_path, "kept", "out_stats.csv")
    has_own = {"--csv-full-history", "--csv"} & set(arguments)
    ended = run(tmp_path, *([] if has_own else ["--csv", "out"]), *arguments)
    assert (ended.code, ended.err.count(sentence)) == (code, 1), ended.err
    assert "Traceback" not in ended.err
    assert (tmp_path / "out_stats.csv").read_text() == before["out_stats.csv"]


@pytest.mark.parametrize("words", [["--nats", "nats://127.0.0.1"], ["--agents=2"],
                                   ["--agents-timeout", "2s"], ["--elastic"]])
def test_a_flag_of_the_command_among_locusts_words_is_told_its_place(tmp_path, words):
    write(tmp_path, IDLE)
    ended = run(tmp_path, "--headless", "-t", "1", *words)
    name = words[0].partition("=")[0]
    sentence = f"{name} is a flag of Loadline's own: write it before Locust's words, as in loadline"
    assert (ended.code, ended.err.count(sentence)) == (2, 1), ended.err
    assert "Did you mean" not in ended.err


def test_two_classes_of_one_name(tmp_path):
    write(tmp_path, IDLE, "one.py")
    write(tmp_path, IDLE, "two.py")
    ended = run(tmp_path, "-f", "one.py,two.py", "--headless")
    assert ended.code == 1
    assert "Duplicate user class names: Idle is defined in both" in ended.err


def test_a_missing_host_is_an_error_and_writes_nothing(tmp_path):
    write(tmp_path, """
    from locust import HttpUser, task

    class A(HttpUser):
        @task
        def one(self):
            self.client.get("/")
    """)
    write(tmp_path, "kept", "out_stats.csv")
    ended = run(tmp_path, "--headless", "-t", "5", "--csv", "out")
    assert ended.code == 1
    assert ended.err.count("You must specify the base host.") == 1
    assert "Traceback" not in ended.err
    assert (tmp_path / "out_stats.csv").read_text() == "kept"


def test_settings_of_lower_rank_give_way(tmp_path):
    write(tmp_path, IDLE + """
    @events.init.add_listener
    def tell(environment, **kwargs):
        options = environment.parsed_options
        print(options.num_users, options.spawn_rate, options.stop_timeout, options.host,
              options.my_option, flush=True)

    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--my-option", default="a", env_var="MY_OPTION", is_secret=True)
    """)
    write(tmp_path, "users = 1\nspawn-rate = 1\nstop-timeout = 1s\nhost = http://1\nheadless\n",
          "locust.conf")
    write(tmp_path, "spawn-rate = 2\nstop-timeout = 2\nhost = http://2\n", "mine.conf")
    ended = run(tmp_path, "--config", "mine.conf", "-t", "1", "-H", "http://4",
                env={"LOCUST_STOP_TIMEOUT": "3s", "LOCUST_HOST": "http://3", "MY_OPTION": "b"})
    assert ended.out.split()[:5] == ["1", "2.0", "3", "http://4", "b"]


def test_settings_of_pyproject(tmp_path):
    write(tmp_path, IDLE)
    write(tmp_path, '[tool.locust]\nheadless = true\nrun-time = "1s"\ntags = ["x"]\n',
          "pyproject.toml")
    ended = run(tmp_path)
    assert "Run time limit set to 1 seconds" in ended.err
    assert "Idle had no tasks left after filtering" in ended.err


def test_classes_tags_and_weights(tmp_path):
    write(tmp_path, """
    from locust import User, task, tag

    class A(User):
        weight = 3

        @tag("x")
        @task(3)
        def one(self): pass

        @task
        def two(self): pass

    class B(User):
        @task
        def three(self): pass
    """)
    shares = json.loads(run(tmp_path, "--show-task-ratio-json").out)
    assert shares["total"]["A"] == {"ratio": 0.75, "tasks": {"one": {"ratio": 0.5625},
                                                             "two": {"ratio": 0.1875}}}
    assert run(tmp_path, "--list").out == "Available Users:\n    A\n    B\n"
    ended = run(tmp_path, "--headless", "-u", "4", "-r", "4", "-t", "1", "--equal-weights")
    assert 'All users spawned: {"A": 2, "B": 2} (4 total users)' in ended.err
    ended = run(tmp_path, "--headless", "-u", "4", "-r", "4", "-t", "1", "--config-users",
                '[{"user_class_name": "A", "fixed_count": 1}]')
    assert 'All users spawned: {"A": 1, "B": 3} (4 total users)' in ended.err


def test_a_shape_drives_the_load(tmp_path):
    write(tmp_path, IDLE + """
    from locust import LoadTestShape

    class Steps(LoadTestShape):
        def tick(self):
            print(self.runner.shape_last_tick, flush=True)
            return {0: (2, 10), 1: (4, 10, [Idle])}.get(int(self.get_run_time()))
    """)
    ended = run(tmp_path, "--headless", "-u", "7")
    assert ended.code == 0
    told = [line.split(": ", 1)[1] for line in ended.lines() if "locust." in line]
    wanted = ["Shape test starting.", "Shape worker starting",
              "Shape test updating to 2 users at 10.00 spawn rate",
              "Ramping to 2 users at a rate of 10.00 per second",
              'All users spawned: {"Idle": 2} (2 total users)',
              "Shape test updating to 4 users at 10.00 spawn rate", "Shape test stopping",
              "Shape test completed, shutting down",
              "The following option(s) will be ignored: --users"]
    assert [line for line in wanted if line not in told] == []
    assert ended.out.splitlines()[:3] == [
        "None", "(2, 10)", "(4, 10, [<class 'locustfile.Idle'>])"]


LASTING = IDLE + """
    from locust import LoadTestShape

    class Other(Idle):
        weight = 2

    class Lasting(LoadTestShape):
        def tick(self):
            return (2, 10, [Idle]) if self.get_run_time() < 2.5 else None
"""


@pytest.mark.parametrize("common", [False, True])
def test_a_shape_runs_to_its_end_whatever_the_run_time(tmp_path, common):
    write(tmp_path, LASTING + f"        use_common_options = {common}\n")
    ended = run(tmp_path, "--headless", "-t", "1")
    told = [line.split(": ", 1)[1] for line in ended.lines() if "locust." in line]
    assert ("The following option(s) will be ignored: --run-time" in told) is not common
    for line in ("Run time limit set to 1 seconds", "--run-time limit reached, shutting down"):
        assert line not in told
    assert told.index("Shape test stopping") < told.index("Shape test completed, shutting down")
    begun, over = (next(line for line in ended.lines() if text in line)
                   for text in ("Shape worker starting", "Shape test stopping"))
    assert moment(over) - moment(begun) >= 2.5


def test_ctrl_c_during_a_shape_is_said(tmp_path):
    write(tmp_path, LASTING.replace("2.5", "60") + """
    events.spawning_complete.add_listener(lambda **kwargs: print("complete", flush=True))
    """)
    process = begin(["--headless"], tmp_path)
    await_line(process, "complete")
    process.send_signal(signal.SIGINT)
    ended = Ended(process)
    assert ended.code == 0
    told = [line.split("/", 1)[1] for line in ended.lines() if "/INFO/" in line]
    first = told.index("INFO/root: Exiting due to CTRL+C interruption")
    assert told[first + 1] == "INFO/locust.main: Shape test completed, shutting down"
    # Classes without users are among those that are counted.
    assert 'All users spawned: {"Idle": 2, "Other": 0} (2 total users)' in ended.err


SLOW = """
    import gevent
    from locust import User, task

    class Slow(User):
        @task
        def one(self):
            gevent.sleep(2)
            print("finished", flush=True)
"""


def test_the_stop_timeout_lets_tasks_finish(tmp_path):
    write(tmp_path, SLOW)
    assert run(tmp_path, "--headless", "-t", "1").out == ""
    assert run(tmp_path, "--headless", "-t", "1", "-s", "5").out == "finished\n"


def test_after_the_stop_timeout_users_are_killed(tmp_path):
    write(tmp_path, SLOW.replace("sleep(2)", "sleep(20)"))
    ended = run(tmp_path, "--headless", "-t", "1", "-s", "1")
    assert "Not all users finished their tasks & terminated in 1 seconds." in ended.err
    assert ended.code == 0


@pytest.mark.parametrize("raised, code", [("StopTest('enough')", 0), ("SystemExit(5)", 5)])
def test_a_task_can_end_the_test(tmp_path, raised, code):
    write(tmp_path, f"""
    from locust import User, task
    from locust.exception import StopTest

    class A(User):
        @task
        def one(self):
            raise {raised}
    """)
    ended = run(tmp_path, "--headless", "-t", "20")
    assert (ended.code, "Shutting down" in ended.err) == (code, True)


def test_a_failing_listener_is_exit_code_two(tmp_path):
    write(tmp_path, IDLE + """
    @events.test_start.add_listener
    def fail(**kwargs):
        raise ValueError("in a listener")
    """)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert ended.code == 2
    assert "Uncaught exception in event handler" in ended.err


def test_a_failing_init_listener_ends_before_the_test(tmp_path):
    write(tmp_path, IDLE + """
    @events.init.add_listener
    def fail(**kwargs):
        raise ValueError("in a listener")
    """)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert (ended.code, "Ramping" in ended.err) == (1, False)


def test_the_log_can_go_to_a_file(tmp_path):
    write(tmp_path, IDLE)
    ended = run(tmp_path, "--headless", "-t", "1", "--logfile", "log.txt", "-L", "warning")
    assert "Ramping" not in (tmp_path / "log.txt").read_text() + ended.err
    assert "Aggregated" in ended.err
    run(tmp_path, "--headless", "-t", "1", "--logfile", "log.txt")
    assert re.search(r"^\[\d{4}-\d\d-\d\d [\d:]+,\d{3}\] \S+/INFO/locust.runners: Ramping to 1",
                     (tmp_path / "log.txt").read_text(), re.MULTILINE)


def test_modules_are_attributes_of_the_package(tmp_path):
    write(tmp_path, IDLE + """
    import locust
    locust.html.PERCENTILES_FOR_HTML_REPORT = [0.5]
    print(locust.web.HOST_IS_REQUIRED, locust.clients.HttpSession.__name__,
          hasattr(locust, "nothing"))
    """)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert (ended.code, ended.out) == (0, "False HttpSession False\non_stop\n")


def test_an_error_in_on_stop_of_a_user_shows_in_the_exit_code(tmp_path):
    write(tmp_path, IDLE + """
        def on_stop(self):
            raise ValueError("x")
    """)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert (ended.code, "Unhandled exception in greenlet" in ended.err) == (2, True)


def test_the_folders_of_the_log_are_made(tmp_path):
    write(tmp_path, IDLE)
    assert run(tmp_path, "--headless", "-t", "1", "--logfile", "logs/one/log.txt").code == 0
    assert "Ramping to 1" in (tmp_path / "logs" / "one" / "log.txt").read_text()


def test_a_log_that_cannot_be_written_is_refused_in_a_sentence(tmp_path):
    write(tmp_path, IDLE)
    ended = run(tmp_path, "--headless", "-t", "1", "--logfile", "locustfile.py/log.txt")
    assert ended.code == 1
    assert ended.err.startswith("The log can't be written: ") and ended.err.count("\n") == 1


def test_a_session_of_one_user(tmp_path):
    with Server() as server:
        path = write(tmp_path, f"""
        import loadline; loadline.use_locust()
        from locust import HttpUser, run_single_user, task
        from locust.exception import StopUser

        class A(HttpUser):
            host = "{server.url}"

            @task
            def one(self):
                self.client.get("/missing")
                raise StopUser()

        run_single_user(A)
        run_single_user(A)
        from locust import debug
        print(type(debug._env.single_user_instance).__name__)
        """, "one.py")
        ended = Ended(begin([path], tmp_path, command=[sys.executable]))
    lines = ended.out.splitlines()
    assert lines[:2] == ["", "\t".join(["type", "name".ljust(50), "resp_ms", "exception"])]
    assert [line.split("\t")[:2] for line in lines if line.startswith("GET")] == [
        ["GET", "/missing".ljust(50)]] * 2
    assert "404 Client Error" in lines[2]
    assert lines[-1] == "A"


def test_functions_of_pytest_become_users(tmp_path):
    write(tmp_path, """
    def test_thing(session):
        session.get("/missing").raise_for_status()
        print("never", flush=True)

    def test_other(fastsession):
        fastsession.get("/other")
    """)
    with Server() as server:
        ended = run(tmp_path, "--headless", "-u", "2", "-r", "9", "-t", "1", "-H", server.url)
    assert ended.out == ""
    assert re.search(r"GET +/other +\d+ +0\(0.00%\)", ended.err)
    assert re.search(r"GET +/missing +(\d+) +\1\(100.00%\)", ended.err)


MIXED = """
    from locust import FastHttpUser, HttpUser, constant, task

    class Requests(HttpUser):
        wait_time = constant(0.1)
        done = 0

        @task
        def one(self):
            self.client.get("/")
            self.client.get("/missing")
            self.client.get("/a?b=1&c=d e", name="named")
            with self.client.get("/b", catch_response=True) as response:
                response.failure("bad thing")
            self.done += 1
            if self.done == 5:
                self.environment.runner.quit()
"""


@real_only
def test_the_same_counts_names_and_failures_as_the_real_one(tmp_path):
    write(tmp_path, MIXED)
    found = {}
    for name, runs in (("ours", run), ("real", run_real)):
        with Server() as server:
            ended = runs(tmp_path, "--headless", "-H", server.url, "--csv", name, "--json")
        report = ended.lines()[ended.lines().index("Error report"):]
        rows = [(row["method"], row["name"], row["num_requests"], row["num_failures"],
                 row["total_content_length"]) for row in json.loads(ended.out)]
        found[name] = [ended.code, sorted(report), rows, heads(tmp_path, name)]
    assert found["ours"] == found["real"]


def heads(folder, name):
    lines = []
    for table in ("stats", "stats_history", "failures", "exceptions"):
        with open(folder / f"{name}_{table}.csv", newline="") as file:
            lines.append(file.readline())
    return lines


def test_rest_makes_failures_of_assertions(tmp_path):
    path = write(tmp_path, """
    from locust import FastHttpUser, HttpUser, task

    class Checks:
        @task
        def one(self):
            with self.rest("GET", "/js") as response:
                assert response.js, "no json,"
            with self.rest("GET", "/js") as response:
                raise ValueError("in the block")
            with self.rest_("GET", "/js") as response:
                assert False
            self.environment.runner.quit()

    class A(Checks, HttpUser):
        tasks = [Checks.one]

    class B(Checks, FastHttpUser):
        tasks = [Checks.one]
    """)
    for kind in "AB":
        with Server() as server:
            ended = run(tmp_path, kind, "--headless", "-H", server.url, "--csv", "out")
        with open(tmp_path / "out_failures.csv", newline="") as file:
            texts = sorted(row[2] for row in csv.reader(file) if row[0] == "GET")
        body = "x" * 60
        assert texts == [
            "CatchResponseError('Assertion failed')",
            f"CatchResponseError('ValueError: in the block at {path}:10 in one. "
            f"Response was {body}')",
            f"CatchResponseError('no json, response was {body}')",
        ], ended.err
        assert "GET /js?_=...: Assertion failed" in ended.err


@real_only
@pytest.mark.parametrize("arguments", [["--list"], ["--show-task-ratio"],
                                       ["--show-task-ratio-json", "-u", "10"]])
def test_the_same_output_as_the_real_one(tmp_path, arguments):
    write(tmp_path, IDLE + MIXED + """
    class Fixed(Idle):
        fixed_count = 2
    """)
    assert run(tmp_path, *arguments).out == run_real(tmp_path, *arguments).out


def test_a_real_locust_beside_is_not_mixed_in(tmp_path):
    write(tmp_path, IDLE + """
    import sys
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "locust" and "loadline" not in str(module.__file__):
            print("mixed in:", name, flush=True)
    """)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert "mixed in" not in ended.out


def test_a_file_of_the_name_locust_does_not_hide_the_package(tmp_path):
    write(tmp_path, IDLE, "locust.py")
    ended = run(tmp_path, "-f", "locust.py", "--headless", "-t", "1")
    assert (ended.code, "All users spawned" in ended.err) == (0, True)


@pytest.mark.parametrize("option, file", [("--html", "/dev/full"), ("--json-file", "a/full"),
                                          ("--csv", "a/full")])
def test_a_report_that_cannot_be_written_is_said_in_a_sentence(tmp_path, option, file):
    (tmp_path / "a").mkdir()
    for name in ("full.json", "full_stats.csv"):
        (tmp_path / "a" / name).symlink_to("/dev/full")
    write(tmp_path, COUNTING.replace("self.sample(\"bad\"", "0 and self.sample(\"bad\""))
    ended = run(tmp_path, "--headless", option, file)
    assert ended.code == 1
    assert ended.err.count("No space left on device. Name another file.") == 1, ended.err
    assert f"'{file}' cannot be written" in ended.err
    assert "Traceback" not in ended.err
    assert "Aggregated" in ended.err


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
@pytest.mark.parametrize("option, file, code, sentence", [
    ("--out", "loadline=/proc/x.run", 2,
     "/proc/x.run can't be written: No such file or directory (os error 2)."),
    ("--out", "json=folder", 2, "folder can't be written: Is a directory (os error 21)."),
    ("--html", "/proc/x.html", 1, "'/proc/x.html' cannot be written: "),
    ("--html", "/proc/{u}.html", 1, "'/proc/{u}.html' cannot be written: "),
    ("--json-file", "/proc/x", 1, "'/proc/x.json' cannot be written: "),
])
def test_a_file_that_cannot_be_written_is_refused_before_the_test(
        tmp_path, option, file, code, sentence, processes):
    (tmp_path / "folder").mkdir()
    write(tmp_path, IDLE)
    ended = run(tmp_path, "--headless", "-t", "60", option, file, *processes)
    assert (ended.code, ended.err.count(sentence)) == (code, 1), ended.err
    assert "Spawning" not in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("ensure, code, sentence", [
    (writable.ensure_output, 2, "{file} can't be written: Permission denied (os error 13)."),
    (writable.ensure_writable, 1, "'{file}' cannot be written: [Errno 13] Permission denied: "
                                  "'{folder}'. Name another file."),
])
def test_a_folder_without_permission_is_said(
        tmp_path, monkeypatch, caplog, ensure, code, sentence):
    # Whoever runs the tests may be allowed to write anywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)
    file = tmp_path / "a.run"
    with pytest.raises(SystemExit) as ended:
        ensure(str(file))
    assert ended.value.code == code
    assert caplog.messages == [sentence.format(file=file, folder=tmp_path)]


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
def test_a_test_that_is_refused_leaves_files_as_they_were(tmp_path, processes):
    write(tmp_path, IDLE)
    write(tmp_path, "kept", "earlier.run")
    (tmp_path / "link.html").symlink_to("linked.html")
    ended = run(tmp_path, "--headless", "--out", "loadline=earlier.run", "--out", "html=new.html",
                "--html", "link.html", "--json-file", "/proc/x", *processes)
    assert ended.code == 1
    assert (tmp_path / "earlier.run").read_text() == "kept"
    assert not (tmp_path / "new.html").exists()
    assert (tmp_path / "link.html").is_symlink()
    assert not (tmp_path / "linked.html").exists()


def test_the_name_of_a_page_has_the_numbers_as_they_were_given(tmp_path):
    write(tmp_path, IDLE)
    run(tmp_path, "--headless", "--html", "r_{u}_{r}_{t}.html", "-u", "11", "-r", "5", "-t", "1s")
    assert (tmp_path / "r_11_5_1.html").exists(), os.listdir(tmp_path)
    run(tmp_path, "--headless", "--html", "s_{u}/{r}_{t}.html", "-u", "2", "-r", "2.5", "-t", "1s")
    assert (tmp_path / "s_2" / "2.5_1.html").exists(), os.listdir(tmp_path)


SENT_AND_NOT_COUNTED = """
    from locust import FastHttpUser, HttpUser, constant, task

    class Steps:
        wait_time = constant(0)
        done = 0

        @task
        def one(self):
            self.client.get("/counted")
            try:
                with self.client.get("/raised", catch_response=True):
                    raise KeyError("in the block")
            except KeyError:
                pass
            with self.client.get("/old", catch_response=True) as response:
                response.request_meta["name"] = "/new"
            self.done += 1
            if self.done == 2:
                self.environment.runner.quit()

    class A(Steps, HttpUser):
        tasks = [Steps.one]

    class B(Steps, FastHttpUser):
        tasks = [Steps.one]
"""


@pytest.mark.parametrize("kind", "AB")
def test_what_was_sent_and_not_counted_has_no_row(tmp_path, kind):
    write(tmp_path, SENT_AND_NOT_COUNTED)
    with Server() as server:
        ended = run(tmp_path, kind, "--headless", "-H", server.url, "--csv", "out", "--json",
                    "--only-summary")
    rows = {(row["name"], row["num_requests"]) for row in json.loads(ended.out)}
    assert rows == {("/counted", 2), ("/new", 2)}
    with open(tmp_path / "out_stats.csv", newline="") as file:
        names = [row[1] for row in csv.reader(file)]
    assert names == ["Name", "/counted", "/new", "Aggregated"]
    assert "/raised" not in ended.err and "/old" not in ended.err


def test_a_user_without_its_super_init_is_named(tmp_path):
    write(tmp_path, IDLE + """
        def __init__(self, environment):
            pass
    """)
    ended = run(tmp_path, "--headless", "-t", "1")
    assert ended.code == 2
    sentence = ("Attribute 'environment' is missing on user Idle. Perhaps you defined your own "
                "__init__ and forgot to call the base constructor? "
                "(super().__init__(*args, **kwargs))")
    assert sentence in ended.err


def test_users_who_wait_for_their_turn_are_told_of(tmp_path):
    write(tmp_path, """
    import time
    from gevent import monkey
    from locust import User, constant, task

    block = monkey.get_original("time", "sleep")

    class A(User):
        wait_time = constant(0.1)

        @task
        def one(self):
            block(0.3)
    """)
    ended = run(tmp_path, "--headless", "-t", "2", "--only-summary")
    said = [line for line in ended.lines() if "WARNING/locust.runners" in line]
    assert len(said) == 1, ended.err
    assert re.search(r"Users waited for their turn at some point during the test, up to \d+ ms, at "
                     r"worst at locustfile.py:13 in one: block\(0.3\)", said[0])


def test_a_host_of_another_scheme_is_refused_as_requests_does(tmp_path):
    write(tmp_path, """
    import requests
    from locust import HttpUser, constant, task

    class A(HttpUser):
        host = "telnet://127.0.0.1"
        wait_time = constant(10)

        @task
        def one(self):
            try:
                self.client.get("/")
            except requests.exceptions.InvalidSchema as e:
                print(e, flush=True)
            self.environment.runner.quit()
    """)
    ended = run(tmp_path, "--headless", "--json", "--only-summary")
    assert ended.out.splitlines() == [
        "No connection adapters were found for 'telnet://127.0.0.1/'", "[]"]


LOGGED = COUNTING + """
    from locust.contrib.csv_request_logger import CsvRequestLogger

    logger = CsvRequestLogger("requests.csv")
    events.init.add_listener(lambda environment, **kwargs: logger.register(environment))
"""


@pytest.mark.parametrize("words, code", [(["--list"], 0), (["--version"], 0), (["--headlezz"], 2)])
def test_requests_of_the_test_before_stay_until_one_begins(tmp_path, words, code):
    write(tmp_path, LOGGED)
    write(tmp_path, "kept", "requests.csv")
    assert run(tmp_path, *words).code == code
    assert (tmp_path / "requests.csv").read_text() == "kept"


def test_requests_in_csv_as_they_come(tmp_path):
    write(tmp_path, LOGGED + """
    @events.quit.add_listener
    def tell(**kwargs):
        print(logger._file, len(open("requests.csv").readlines()))
    """)
    assert run(tmp_path, "--headless").out == "None 31\n"
    with open(tmp_path / "requests.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["timestamp", "request_type", "name", "response_time_ms", "response_length",
                       "status_code", "exception"]
    assert len(rows) == 31
    assert [row[1:] for row in rows[1:4]] == [
        ["X", "good", "5", "10", "0", ""], ["X", "good", "7", "10", "0", ""],
        ["X", "bad", "150", "10", "0", "bad thing"]]


def test_rows_of_requests_are_written_by_the_number():
    from types import SimpleNamespace

    from locust.contrib.csv_request_logger import CSV_COLUMNS, CsvRequestLogger, _status_code
    from locust.env import Environment

    assert len(CSV_COLUMNS) == 7
    answers = [(None, None), (None, ValueError()), (SimpleNamespace(status_code="404"), None),
               (SimpleNamespace(status_code=None), None), (object(), None)]
    assert [_status_code(*one) for one in answers] == [0, 0, 404, 0, 0]
    environment = Environment()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "requests.csv")
        one = CsvRequestLogger(path, flush_interval=3)
        assert not os.path.exists(path)
        one.register(environment)
        seen = []
        for _ in range(7):
            environment.events.request.fire(
                request_type="X", name="one", response_time=1.239, response_length=0,
                start_time=5.1234567)
            seen.append(len(open(path).readlines()))
        assert seen == [1, 1, 4, 4, 4, 7, 7]
        environment.events.quitting.fire(environment=environment)
        rows = open(path).read().splitlines()
        assert (len(rows), rows[1]) == (8, "5.123457,X,one,1.24,0,0,")
        one.close()


def test_a_run_is_saved(tmp_path):
    write(tmp_path, MIXED)
    with Server() as server:
        ended = run(tmp_path, "--headless", "-H", server.url, "--out", "loadline=saved.run")
    assert "saved" not in ended.err
    assert (tmp_path / "saved.run").stat().st_size > 100


def test_without_the_extension_one_sentence(tmp_path):
    program = (
        "import sys, runpy; sys.modules['loadline._native'] = None; "
        "sys.argv = ['loadline']; runpy.run_module('loadline', run_name='__main__')"
    )
    ended = Ended(begin([program], tmp_path, command=[sys.executable, "-c"]))
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert "The extension of Loadline is missing: pip install 'loadline[locust]'" in ended.err


def test_without_gevent_one_sentence(tmp_path):
    write(tmp_path, "raise ImportError('no gevent here')", "gevent.py")
    ended = run(tmp_path, "--headless")
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert ended.err == ("The Python package gevent is missing (no gevent here): "
                         "pip install 'loadline[locust]'\n")


def test_an_old_python_is_refused(tmp_path):
    program = (
        "import sys, runpy; sys.version_info = (3, 9, 1); "
        "sys.argv = ['loadline']; runpy.run_module('loadline', run_name='__main__')"
    )
    ended = Ended(begin([program], tmp_path, command=[sys.executable, "-c"]))
    assert (ended.code, ended.err) == (
        1, "Python 3.9 is too old: run Loadline with Python 3.10 or newer.\n")


def test_environment_as_a_library(tmp_path):
    path = write(tmp_path, """
    import gevent, loadline
    loadline.use_locust()
    from locust import User, constant, task
    from locust.env import Environment
    from locust.exception import RunnerAlreadyExistsError
    from locust.stats import stats_history, stats_printer

    class A(User):
        wait_time = constant(0.01)

        @task
        def one(self):
            self.environment.events.request.fire(
                request_type="X", name="one", response_time=1, response_length=1)

    env = Environment(user_classes=[A])
    runner = env.create_local_runner()
    try:
        env.create_local_runner()
    except RunnerAlreadyExistsError as e:
        print("refused")
    gevent.spawn(stats_history, runner)
    runner.start(3, spawn_rate=10)
    gevent.spawn_later(1, runner.quit)
    runner.greenlet.join()
    print(env.stats.total.num_requests > 20, env.stats.get("one", "X").num_requests > 20,
          runner.user_count, runner.state, len(env.stats.history))
    """, "library.py")
    ended = Ended(begin([path], tmp_path, command=[sys.executable]))
    assert ended.out == "refused\nTrue True 0 stopped 1\n", ended.err
    assert os.path.exists(path)
