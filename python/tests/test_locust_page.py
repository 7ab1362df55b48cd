"""A locustfile whose test is shown on Loadline's live page while it runs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from agents_support import free_port
from browser_support import BROWSER, Tab
from command_support import Server, begin, changes_of, native_command, write
from page_support import SECONDS, Page, open_page, rest_of

VISITORS = """
    import logging

    from locust import FastHttpUser, constant, task

    class Visitor(FastHttpUser):
        wait_time = constant(0.02)

        @task
        def front(self):
            self.client.get("/")
            logging.info("front was visited")
            print("front is printed", 7)
"""
NOTES = [{"at_s": 0.5, "text": "deployed"}, {"at_s": 1.5, "text": "looked at"}]


def saved_notes(path):
    """The notes in a saved run."""
    told = subprocess.run(
        [native_command(), "report", path, "--allow-invalid", "-o", "json"],
        capture_output=True, text=True, check=True)
    return json.loads(told.stdout)["summary"]["notes"]


@contextlib.contextmanager
def running(arguments, folder):
    """The native command, which is ended in any case."""
    variables = {"LOADLINE_PYTHON": sys.executable}
    process = begin(arguments, folder, variables, [native_command()])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_test_is_shown_while_it_runs_and_stopped_from_its_page(tmp_path):
    write(tmp_path, VISITORS)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "2", "-r", "2", "-t", "1h", "-H",
             server.url, "--only-summary"], tmp_path) as process:
        page = open_page(process, "The live page is at")
        state = page.await_that(lambda state: state["figures"]["answered"] > 10)
        assert state["phase"] == "running"
        assert (state["load"]["can_pause"], state["load"]["levels"]) == (False, ["users"])
        assert any("front was visited" in line for line in state["log"]), state["log"]
        assert "front is printed 7" in state["log"]
        assert page.ask("api/v1/pause", {})[0] == 422
        status, told = page.ask("api/v1/stop", {})
        assert (status, told["message"]) == (
            200, "The test stops: its users are ended at once, or after its stop timeout.")
        assert "front is printed 7\n" in rest_of(process), "the terminal has it as well"
        process.wait(SECONDS)
    assert not list(tmp_path.glob("*.run"))


FAILING = """
    from locust import FastHttpUser, constant, task

    class Visitor(FastHttpUser):
        wait_time = constant(0.02)

        @task
        def both(self):
            self.client.get("/missing", name="lost")
            with self.client.get("/", name="odd", catch_response=True) as response:
                response.failure("not what was wanted")
"""


def test_what_errors_and_failures_say_is_on_the_page(tmp_path):
    write(tmp_path, FAILING)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "1", "-t", "1h", "-H", server.url,
             "--only-summary"], tmp_path) as process:
        page = open_page(process, "The live page is at")
        state = page.await_that(
            lambda state: len((state["page"] or {}).get("error_responses", [])) == 2)
        lost, odd = state["page"]["error_responses"]
        assert (lost["name"].split()[-1], lost["status"]) == ("lost", 404)
        assert (odd["name"].split()[-1], odd["status"], len(odd["body"])) == ("odd", 200, 60)
        assert (lost["is_rejected"], odd["is_rejected"]) == (False, True)
        assert page.ask("api/v1/stop", {})[0] == 200
        process.wait(SECONDS)


RAISING = """
    from locust import FastHttpUser, constant, task

    class Visitor(FastHttpUser):
        wait_time = constant(0.02)

        @task
        def buy(self):
            self.client.get("/")
            raise KeyError("no basket, token=hunter2")
"""


def raised(state):
    """The exceptions that the page shows."""
    return (state["page"] or {}).get("exceptions", [])


def test_exceptions_of_tasks_are_on_the_page(tmp_path):
    write(tmp_path, RAISING)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "1", "-t", "1h", "-H", server.url,
             "--only-summary"], tmp_path) as process:
        page = open_page(process, "The live page is at")
        state = page.await_that(lambda state: sum(row["count"] for row in raised(state)) > 3)
        [row] = state["page"]["exceptions"]
        assert (row["kind"], row["message"]) == ("KeyError", "'no basket, token=****")
        assert 'raise KeyError("no basket' in row["trace"].splitlines()[-1]
        assert "hunter2" not in row["trace"]
        assert page.ask("api/v1/stop", {})[0] == 200
        process.wait(SECONDS)


def test_a_locustfile_is_started_from_the_page(tmp_path):
    write(tmp_path, VISITORS)
    with Server() as server, running(["web", "--listen", "127.0.0.1:0"], tmp_path) as process:
        page = open_page(process, "Start runs at")
        name = next(tmp_path.glob("*.py")).name
        assert page.ask("api/v1/offer")[1]["files"] == [{"name": name, "kind": "locust"}]
        new = {"target": name, "users": "2", "spawn_rate": "2", "duration": "3s",
               "host": server.url}
        assert page.ask("api/v1/start", new)[0] == 200
        assert page.ask("api/v1/start", new)[0] == 409
        page.await_that(lambda state: state["figures"]["answered"] > 10)
        assert page.ask("api/v1/note", {"at_s": 0.5, "text": "deployed"})[0] == 200
        page.await_that(lambda state: "deployed" in str(state["page"]["notes"]))
        state = page.await_that(lambda state: state["can_start"])
        assert page.ask("api/v1/note", {"at_s": 1.5, "text": "looked at"})[0] == 200
        assert "looked at" in str(page.ask("api/v1/state")[1]["page"]["notes"])
        assert page.report()["summary"]["notes"] == NOTES
        assert (state["phase"], state["problem"]) == ("ended", None)
        assert page.ask("api/v1/runs")[1][0]["name"] == "run-1.run"
        assert any("front was visited" in line for line in state["log"]), state["log"]
        process.terminate()
        assert process.wait(SECONDS) == 0
    assert saved_notes(tmp_path / "run-1.run") == NOTES
    assert os.path.exists(tmp_path / "run-1.run")


COMPUTING = """
    import time

    from locust import FastHttpUser, task

    class Visitor(FastHttpUser):
        @task
        def front(self):
            self.client.get("/")
            until = time.monotonic() + 60
            while time.monotonic() < until:
                pass

        def on_stop(self):
            print("a user ends")
"""


def test_users_who_compute_are_ended_at_once_and_the_page_says_that_they_are(tmp_path):
    write(tmp_path, COMPUTING)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "2", "-r", "2", "-t", "1h", "-H",
             server.url, "--only-summary"], tmp_path) as process:
        page = open_page(process, "The live page is at")
        page.await_that(lambda state: state["phase"] == "running")
        until = time.monotonic() + SECONDS
        while not server.count():
            assert time.monotonic() < until, "no user runs"
            time.sleep(0.05)
        began = time.monotonic()
        assert page.ask("api/v1/stop", {})[0] == 200
        assert page.ask("api/v1/state")[1]["phase"] == "ending"
        assert "a user ends" in rest_of(process)
        assert process.wait(SECONDS) == 0
        assert time.monotonic() - began < 20


OPTIONS = VISITORS + """
    from locust import events

    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--basket")
        parser.add_argument("--fast", action="store_true")

    @events.test_start.add_listener
    def say(environment, **kwargs):
        known = environment.parsed_options
        print("basket", known.basket, known.fast)
"""


def test_options_that_a_locustfile_adds_are_given_on_the_page(tmp_path):
    write(tmp_path, OPTIONS)
    with Server() as server, running(["web", "--listen", "127.0.0.1:0"], tmp_path) as process:
        page = open_page(process, "Start runs at")
        new = {"target": next(tmp_path.glob("*.py")).name, "duration": "2s", "host": server.url}
        for name in ("html=a.html", "csv=a", "htm=a.html", "config=a"):
            assert page.ask("api/v1/start", {**new, "options": [name]})[0] == 200
            state = page.await_that(lambda state: state["can_start"])
            told = name.partition("=")[0]
            assert "error:" in state["problem"] and told in state["problem"], state["problem"]
        options = ["basket=a b", "fast"]
        assert page.ask("api/v1/start", {**new, "options": options})[0] == 200
        state = page.await_that(lambda state: state["can_start"])
        assert state["problem"] is None
        assert "basket a b True" in state["log"], state["log"]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".py", ".run"]


COUNTING = """
    from locust import FastHttpUser, constant, task

    counted = set()

    class Visitor(FastHttpUser):
        wait_time = constant(0.02)

        @task
        def front(self):
            self.client.get("/")

        def on_start(self):
            counted.add(self)
            print("users", len(counted))

        def on_stop(self):
            counted.discard(self)
            print("users", len(counted))
"""


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
def test_the_number_of_users_is_changed_from_the_page(tmp_path, processes):
    write(tmp_path, COUNTING)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "4", "-r", "4", "-t", "1h", "-H",
             server.url, "--only-summary", "--out", "loadline=a.run", *processes],
            tmp_path) as process:
        page = open_page(process, "The live page is at")
        state = page.await_that(lambda state: state["figures"]["answered"] > 10)
        load = state["load"]
        assert (load["levels"], load["spawns"], load["users"]) == (["users"], True, 4)
        for body, status in (
                ({"percent": 50}, 422), ({"users": 1, "spawn_rate": 0}, 422), ({"rate": 5}, 422),
                ({"spawn_rate": 5}, 400), ({"users": 10 ** 9}, 422), ({"users": -1}, 400)):
            assert page.ask("api/v1/level", body)[0] == status, body
        status, told = page.ask("api/v1/level", {"users": 8, "spawn_rate": 2})
        assert (status, told["message"]) == (200, "The load goes to 8 users, 2 each second.")
        begun = told["from_s"]
        state = page.await_that(lambda state: state["load"]["level"] == "8 users")
        [change] = [row for row in state["page"]["notes"] if row["text"].startswith("Load")]
        assert change["text"] == "Load changed to 8 users"
        # The first two start at once, the last two a second later.
        assert 0.9 < begun - change["at_s"] < 1.1
        if not processes:
            page.await_that(lambda state: "users 8" in state["log"])
        assert page.ask("api/v1/level", {"users": 2})[1]["message"].endswith("2 each second.")
        page.await_that(lambda state: state["load"]["level"] == "2 users")
        if not processes:
            page.await_that(lambda state: "users 2" in state["log"][-3:])
        assert page.ask("api/v1/stop", {})[0] == 200
        rest_of(process)
        process.wait(SECONDS)
    assert changes_of(tmp_path / "a.run") == [8, 2]


CHANGED_ELSEWHERE = VISITORS + """
    import os

    import gevent
    from locust import events

    @events.test_start.add_listener
    def begin(environment, **kwargs):
        gevent.spawn(follow, environment.runner)

    def follow(runner):
        for users in (7, 3):
            while not os.path.exists(f"go to {users}"):
                gevent.sleep(0.02)
            runner.start(users, 10)
"""
TYPED = "document.querySelector('section.controls input[type=number]')"
SLIDER = "document.querySelector('section.controls input[type=range]')"


def now_has(users):
    """Whether the page's lever is at so many users."""
    return lambda state: state["load"]["now"] == {"unit": "users", "number": users}


def test_the_lever_of_the_page_follows_changes_of_the_locustfile(tmp_path):
    write(tmp_path, CHANGED_ELSEWHERE)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "2", "-r", "2", "-t", "1h", "-H",
             server.url, "--only-summary", "--out", "loadline=a.run"], tmp_path) as process:
        page = open_page(process, "The live page is at")
        state = page.await_that(lambda state: state["figures"]["answered"] > 10)
        assert state["load"]["now"] is None
        (tmp_path / "go to 7").touch()
        state = page.await_that(now_has(7))
        assert state["load"]["level"] == "7 users"
        assert "Load changed to 7 users" in str(state["page"]["notes"])
        if BROWSER is not None:
            follow_in_browser(tmp_path, page)
        else:
            (tmp_path / "go to 3").touch()
        page.await_that(now_has(3))
        assert page.ask("api/v1/stop", {})[0] == 200
        rest_of(process)
        process.wait(SECONDS)
    assert changes_of(tmp_path / "a.run")[:2] == [7, 3]


def follow_in_browser(folder, page):
    """The lever is at 7 users, then at 3; what is typed meanwhile stays."""
    with Tab(folder / "profile", page.address) as tab:
        tab.await_that(f"{TYPED}?.value === '7' && {SLIDER}.value === '7'")
        (folder / "go to 3").touch()
        tab.await_that(f"{TYPED}.value === '3' && {SLIDER}.value === '3'")
        tab.value(f"{TYPED}.value = '5'; "
                  f"{TYPED}.dispatchEvent(new Event('input', {{ bubbles: true }}))")
        tab.await_that(f"{SLIDER}.value === '5'")
        assert page.ask("api/v1/level", {"users": 4})[0] == 200
        tab.await_that("document.querySelector('p.phase').textContent.includes('4 users')")
        assert tab.value(f"{TYPED}.value") == "5"
        assert page.ask("api/v1/level", {"users": 3})[0] == 200
        assert tab.errors == []


def test_the_lever_follows_locusts_own_page_and_each_page_says_what_it_is(tmp_path):
    write(tmp_path, VISITORS)
    port = free_port()
    locusts = Page(f"http://127.0.0.1:{port}/")
    with Server() as server, running(
            ["--web=0", "locust", "--web-port", str(port), "-H", server.url], tmp_path) as process:
        page = open_page(process, "The live page is at")
        until_served(locusts)
        _, state = page.ask("api/v1/state")
        assert (state["phase"], state["load"]["spawns"]) == ("preparing", True)
        for users in (2, 6):
            form = f"user_count={users}&spawn_rate=10".encode()
            with urllib.request.urlopen(locusts.address + "swarm", form, SECONDS) as answer:
                assert json.load(answer)["success"]
            page.await_that(lambda state: state["figures"]["answered"] > 10)
        assert page.await_that(now_has(6))["load"]["users"] == 2
        assert any("Loadline's live page shows the first one" in line
                   for line in locusts.ask("logs")[1]["master"])


def until_served(page):
    """Wait until somebody answers."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            return page.ask("stats/requests")
        except OSError:
            assert time.monotonic() < until, "no page"
            time.sleep(0.05)


@pytest.mark.parametrize("change, rate, seconds", [
    (0, 5, 0), (1, 5, 0), (4, 2, 1), (10, 10, 0), (3, 0.5, 4), (10, 2.5, 3.2),
])
def test_the_time_that_a_change_takes_is_that_of_the_dispatcher(change, rate, seconds):
    from loadline.locust_runner.steering import seconds_to_reach

    assert seconds_to_reach(change, rate) == pytest.approx(seconds)


SHAPED = VISITORS + """
    from locust import LoadTestShape

    class Steps(LoadTestShape):
        def tick(self):
            return 2, 2
"""


def test_a_shape_keeps_its_users_and_the_page_says_why(tmp_path):
    write(tmp_path, SHAPED)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-H", server.url, "--only-summary"],
            tmp_path) as process:
        page = open_page(process, "The live page is at")
        page.await_that(lambda state: state["figures"]["answered"] > 10)
        status, told = page.ask("api/v1/level", {"users": 5})
        assert (status, told["message"]) == (
            422, "The load stays as it is: its users are set by a class of shapes.")
        assert page.ask("api/v1/stop", {})[0] == 200
        process.wait(SECONDS)


@pytest.mark.parametrize("locustfile, form, says", [
    (VISITORS + "    this is no Python", {}, "Could not load the locustfile"),
    (VISITORS + "    import missing_package", {}, "No module named 'missing_package'"),
    ("import locust\n", {}, "No User class found!"),
    (VISITORS, {"classes": ["Other"]}, "Unknown User(s): Other"),
    (VISITORS, {"users": "many"}, "argument -u/--users: invalid int value: 'many'"),
    (VISITORS, {"checks": ["p99<soon"]}, "The check cannot be read"),
    (VISITORS, {"host": None}, "The locustfile has no host: fill in the field Host, such as"),
])
def test_why_a_locustfile_does_not_start_is_on_the_page(tmp_path, locustfile, form, says):
    write(tmp_path, locustfile)
    new = {"target": next(tmp_path.glob("*.py")).name, "duration": "2s",
           "host": "http://127.0.0.1:1", **form}
    with running(["web", "--listen", "127.0.0.1:0"], tmp_path) as process:
        page = open_page(process, "Start runs at")
        assert page.ask("api/v1/start", new)[0] == 200
        state = page.await_that(lambda state: state["can_start"])
        assert says.lower() in (state["problem"] or "").lower(), state["problem"]
        assert state["phase"] == "idle"


BUSY = """
    import os

    from locust import FastHttpUser, task

    class Visitor(FastHttpUser):
        @task
        def front(self):
            self.client.get("/")
            os.symlink(str(os.getpid()), "process")
            while True:
                pass
"""


def is_running(pid):
    """Whether a process is there, and has not ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_test_that_lets_nothing_else_run_ends_with_the_program_of_its_page(tmp_path, number):
    write(tmp_path, BUSY)
    with Server() as server, running(["web", "--listen", "127.0.0.1:0"], tmp_path) as process:
        page = open_page(process, "Start runs at")
        new = {"target": next(tmp_path.glob("*.py")).name, "host": server.url}
        assert page.ask("api/v1/start", new)[0] == 200
        until = time.monotonic() + SECONDS
        while not os.path.lexists(tmp_path / "process"):
            assert time.monotonic() < until, "no user runs"
            time.sleep(0.05)
        pid = os.readlink(tmp_path / "process")
        assert is_running(pid)
        process.send_signal(number)
        assert process.wait(SECONDS) == (0 if number == signal.SIGINT else -number)
        until = time.monotonic() + SECONDS
        while is_running(pid):
            assert time.monotonic() < until, "it goes on"
            time.sleep(0.05)


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
def test_a_note_is_in_the_file_of_the_test_that_it_was_written_on(tmp_path, processes):
    write(tmp_path, VISITORS)
    with Server() as server, running(
            ["--web=0", "locust", "--headless", "-u", "2", "-r", "2", "-t", "2s", "-H",
             server.url, "--only-summary", "--out", "loadline=a.run", *processes],
            tmp_path) as process:
        page = open_page(process, "The live page is at")
        page.await_that(lambda state: state["figures"]["answered"] > 10)
        for note in NOTES:
            assert page.ask("api/v1/note", note)[0] == 200
        rest_of(process)
        process.wait(SECONDS)
    assert saved_notes(tmp_path / "a.run") == NOTES
