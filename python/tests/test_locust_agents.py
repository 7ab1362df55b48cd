"""Users on agents: locustfiles travel, nothing is counted twice or lost, and losses are told."""

import json
import os
import re
import signal
import stat
import statistics
import sys
import time

import pytest
from agents_support import Bus, folders_of_parts, until
from command_support import Ended, Server, await_line, changes_of, report_of, write
from page_support import open_page, rest_of

from loadline import native

# Users that stop after ten requests, with a module and a file beside the locustfile.
COUNTED = """
    import os
    from locust import HttpUser, constant, task
    from locust.exception import StopUser
    from parts.paths import PATHS

    with open(os.path.join(os.path.dirname(__file__), "data", "names.txt")) as file:
        NAMES = file.read().split()

    class Visitor(HttpUser):
        wait_time = constant(0.01)
        done = 0

        @task
        def one(self):
            self.client.get(PATHS[self.done % 2], name=NAMES[self.done % 2])
            self.done += 1
            if self.done == 10:
                raise StopUser()
"""


@pytest.fixture
def bus():
    with Bus() as one:
        yield one


@pytest.fixture
def server():
    with Server() as one:
        yield one


def write_counted(folder):
    write(folder, COUNTED)
    (folder / "parts").mkdir()
    (folder / "data").mkdir()
    write(folder, "", "parts/__init__.py")
    write(folder, "PATHS = ['/a', '/b']", "parts/paths.py")
    write(folder, "first second", "data/names.txt")


def headless(server, users, seconds, *more):
    return ["--headless", "-u", str(users), "-r", str(users), "-t", str(seconds),
            "-H", server.url, "--only-summary", *more]


def test_the_report_counts_what_the_server_counted(bus, server, tmp_path):
    place = tmp_path / "places"
    place.mkdir()
    for name in ("web-1", "web-2"):
        bus.agent(name, TMPDIR=str(place))
    folder = tmp_path / "test"
    folder.mkdir()
    write_counted(folder)
    process = bus.begin(2, headless(server, 6, 5, "--csv", "out", "--out", "loadline=one.run"),
                        folder)
    until(lambda: len(folders_of_parts(place)) == 2, "folders")
    modes = [stat.S_IMODE(os.stat(place / name).st_mode) for name in folders_of_parts(place)]
    assert modes == [0o700, 0o700]
    ended = Ended(process, 60)
    assert ended.code == 0, ended.err
    assert "The users are on 2 agents: web-1, web-2." in ended.err
    assert 'All users spawned: {"Visitor": 6} (6 total users)' in ended.err
    assert re.search(r"GET +first +30 ", ended.err), ended.err
    assert re.search(r"GET +second +30 ", ended.err), ended.err
    assert "Aggregated,60,0," in (folder / "out_stats.csv").read_text()
    summary = report_of(folder / "one.run")["summary"]
    assert (summary["sent"], summary["answered"]) == (60, 60)
    assert server.count() == 60
    until(lambda: not folders_of_parts(place), "end of the folders")
    until(lambda: [row for row in bus.states() if "free" in row][1:], "free agents")


EVENTS = """
    import os, sys
    from locust import User, constant, events, task

    def say(text):
        print(f"said {text}", flush=True)

    class Idle(User):
        wait_time = constant(0.1)

        def on_start(self):
            say(f"on_start {self.environment.parsed_options.colour}")

        def on_stop(self):
            say("on_stop")

        @task
        def nothing(self):
            pass

    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--colour", default="red")

    for name in ("init", "test_start", "spawning_complete", "test_stop", "quitting", "quit"):
        def listen(name=name):
            getattr(events, name).add_listener(lambda **kwargs: say(name))
        listen()

    def answer(environment, msg, **kwargs):
        assert msg.data == {"n": [1, None, b"x"]}, msg.data
        environment.runner.send_message("up", {"from": environment.runner.client_id})

    @events.init.add_listener
    def register(environment, runner, **kwargs):
        say(f"{type(runner).__mro__[1].__name__}-{getattr(runner, 'worker_index', '')}")
        if hasattr(runner, "clients"):
            runner.register_message("up", lambda environment, msg, **kwargs: say(msg.data["from"]))
        else:
            runner.register_message("down", answer)

    @events.test_start.add_listener
    def send(environment, **kwargs):
        if hasattr(environment.runner, "clients"):
            environment.runner.send_message("down", {"n": [1, None, b"x"]})
"""


def said(text):
    return re.findall(r"^said (.*)$", text, re.M)


def test_events_options_and_messages_are_those_of_locust(bus, server, tmp_path):
    for name in ("web-1", "web-2"):
        bus.agent(name)
    write(tmp_path, EVENTS)
    ended = bus.run(2, headless(server, 4, 3, "--colour", "blue"), tmp_path)
    assert ended.code == 0, ended.err
    events = ["init", "test_start", "spawning_complete", "test_stop", "quitting", "quit"]
    here = said(ended.out)
    assert sorted(here) == sorted([*events, "MasterRunner-", "web-1", "web-2"]), here
    for number, name in enumerate(("web-1", "web-2")):
        users = ["on_start blue"] * 2 + ["on_stop"] * 2
        there = said(bus.said_by(name))
        assert sorted(there) == sorted([*events, *users, f"WorkerRunner-{number}"]), there


FAILING = """
    import datetime
    from locust import HttpUser, constant, events, task
    from locust.exception import StopUser

    class Failing(HttpUser):
        wait_time = constant(0.01)
        done = 0

        @task
        def one(self):
            self.done += 1
            if self.done > 5:
                raise StopUser()
            with self.client.get("/", catch_response=True) as response:
                response.failure(ValueError("odd"))
            raise KeyError("in a task")

    WHEN = {"when": datetime.datetime(2020, 1, 2), "set": {1, (2, b"x")}}

    @events.report_to_master.add_listener
    def add(client_id, data):
        data["mine"] = WHEN

    @events.worker_report.add_listener
    def take(client_id, data):
        assert data["mine"] == WHEN
        print(f"said {client_id}", flush=True)
"""


def test_failures_and_exceptions_of_all_agents_are_one_row(bus, server, tmp_path):
    for name in ("web-1", "web-2"):
        bus.agent(name)
    write(tmp_path, FAILING)
    outputs = ["--csv", "out", "--out", "loadline=a.run"]
    ended = bus.run(2, headless(server, 4, 3, *outputs), tmp_path)
    assert ended.code == 1, ended.err
    [row] = report_of(tmp_path / "a.run")["summary"]["exceptions"]
    assert (row["count"], row["kind"]) == (20, "KeyError")
    assert 'File "locustfile.py", line' in row["trace"], row
    assert row["parts"] == ["agent web-1", "agent web-2"]
    assert re.search(r"^20 +GET /: ValueError\('odd'\)", ended.err, re.M), ended.err
    rows = (tmp_path / "out_exceptions.csv").read_text().replace("\r", "")
    assert "\n20,'in a task'," in rows, rows
    assert 'File ""locustfile.py"", line' in rows, rows
    assert {"web-1", "web-2"} <= set(said(ended.out)), ended.out


STEADY = """
    from locust import HttpUser, constant, task

    class Steady(HttpUser):
        wait_time = constant(0.05)

        @task
        def one(self):
            self.client.get("/")
"""


def until_requests(server):
    """Wait until users run: each makes 20 requests a second."""
    until(lambda: server.count() >= 60, "users", 60)


def users_at_end(folder):
    """The number of users before all of them were ended, which may itself take a second."""
    rows = (folder / "out_stats_history.csv").read_text().splitlines()[1:]
    counts = [int(row.split(",")[1]) for row in rows]
    assert counts[-1] == 0
    return statistics.mode([count for count in counts if count][-4:])


def test_the_users_of_a_lost_agent_are_started_on_the_others(bus, server, tmp_path):
    agents = [bus.agent(name) for name in ("web-1", "web-2", "web-3")]
    write(tmp_path, STEADY)
    process = bus.begin(3, headless(server, 6, 12, "--csv", "out", "--out", "loadline=one.run"),
                        tmp_path)
    until_requests(server)
    agents[1].kill()
    ended = Ended(process, 60)
    assert ended.code == 2, ended.err
    loss = r"Agent web-2 said nothing for 3 s and was ended: its 2 users are gone, and what they"
    assert len(re.findall(loss, ended.err)) == 2, ended.err  # at once, and below the tables
    assert "Starting its 2 users anew on the others." in ended.err
    assert "--run-time limit reached" in ended.err
    assert users_at_end(tmp_path) == 6
    row = re.search(r"Aggregated +(\d+) +0\(0.00%\)", ended.err)
    # What the lost agent had done since its last report is missing: less than five seconds of it.
    missing = server.count() - int(row[1])
    assert 0 <= missing <= 2 * 20 * 5, missing
    summary = report_of(tmp_path / "one.run")["summary"]
    assert summary["sent"] == summary["answered"] + summary["failed"] + \
        summary.get("unfinished", {}).get("in_flight", 0), summary


def test_the_users_of_a_lost_agent_may_stay_lost(bus, server, tmp_path):
    agents = [bus.agent(name) for name in ("web-1", "web-2")]
    write(tmp_path, STEADY)
    process = bus.begin(2, headless(server, 4, 9, "--csv", "out"), tmp_path,
                        ["--on-loss", "keep"])
    until_requests(server)
    agents[1].send_signal(signal.SIGSTOP)
    ended = Ended(process, 60)
    agents[1].send_signal(signal.SIGCONT)
    assert ended.code == 2, ended.err
    assert "Agent web-2 said nothing for 3 s and was ended: its 2 users are gone" in ended.err
    assert "anew on the others" not in ended.err
    assert users_at_end(tmp_path) == 2


def test_an_agent_that_comes_later_gets_its_share_of_the_users(bus, server, tmp_path):
    for name in ("web-1", "web-2"):
        bus.agent(name)
    write(tmp_path, STEADY)
    # Without a timeout, a user that is stopped leaves the request that it is in.
    options = headless(server, 6, 12, "--csv", "out", "--stop-timeout", "5")
    process = bus.begin(2, options, tmp_path, ["--elastic"])
    time.sleep(4)
    late = bus.agent("web-3")
    ended = Ended(process, 60)
    assert ended.code == 0, ended.err
    assert "web-3 (index 2) reported as ready. 3 workers connected." in ended.err
    assert "is busy with run" not in ended.err
    assert users_at_end(tmp_path) == 6
    row = re.search(r"Aggregated +(\d+) +0\(0.00%\)", ended.err)
    assert int(row[1]) == server.count()
    assert late.poll() is None
    write(tmp_path, EVENTS)
    process = bus.begin(3, headless(server, 6, 8), tmp_path, ["--elastic"])
    time.sleep(3)
    bus.agent("web-4")
    ended = Ended(process, 60)
    assert ended.code == 0, ended.err
    # Six users on three agents are one or two each on four, whichever of them came last.
    last = re.search(r"(web-\d) \(index 3\) reported as ready. 4 workers connected.", ended.err)[1]
    names = [f"web-{number}" for number in (1, 2, 3, 4)]
    starts = {name: said(bus.said_by(name)).count("on_start red") for name in names}
    assert starts == {name: 1 if name == last else 2 for name in names}, starts


def test_agents_do_not_join_a_test_that_is_recorded(bus, server, tmp_path):
    bus.agent("web-1")
    write(tmp_path, STEADY)
    process = bus.begin(1, headless(server, 2, 2, "--out", "loadline=one.run"), tmp_path,
                        ["--elastic"])
    ended = Ended(process, 60)
    assert ended.code == 2
    assert "leave out --elastic, or --out, --check and --html." in ended.lines()[-1], ended.err
    assert server.count() == 0


def test_users_on_agents_are_changed_from_the_page(bus, server, tmp_path):
    for name in ("web-1", "web-2"):
        bus.agent(name)
    write(tmp_path, STEADY)
    process = bus.begin(2, headless(server, 2, 600, "--out", "loadline=one.run"), tmp_path,
                        ["--web=0"])
    try:
        page = open_page(process, "The live page is at")
        page.await_that(lambda state: state["figures"]["answered"] > 10)
        for users, rate in ((8, 3), (3, None)):
            change = {"users": users} if rate is None else {"users": users, "spawn_rate": rate}
            status, told = page.ask("api/v1/level", change)
            assert (status, told["message"]) == (
                200, f"The load goes to {users} users, 3 each second.")
            spawned = f"({users} total users)"
            page.await_that(lambda state: any(spawned in line for line in state["log"]))
        assert page.ask("api/v1/stop", {})[0] == 200
        rest_of(process)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert changes_of(tmp_path / "one.run") == [8, 3]


def test_each_agent_is_on_the_page_with_its_responses_and_who_is_lost_says_nothing(
        bus, server, tmp_path):
    for name in ("web-2", "web-1"):
        bus.agent(name)
    write(tmp_path, STEADY)
    process = bus.begin(2, headless(server, 4, 600), tmp_path, ["--web=0"])
    try:
        page = open_page(process, "The live page is at")
        state = page.await_that(lambda state: len(state["figures"]["agents"]) == 2
                                and state["figures"]["answered"] > 50)
        agents = state["figures"]["agents"]
        assert [one["name"] for one in agents] == ["web-1", "web-2"]
        assert all(one["answered"] > 0 and one["rate_per_s"] > 0 for one in agents), agents
        assert sum(one["answered"] for one in agents) == state["figures"]["answered"]
        # What is known of each is its responses.
        assert [one["failed"] for one in agents] == [None, None]
        assert page.ask("api/v1/agents")[1][0]["name"] == "web-1"
        bus.agents["web-2"].kill()
        page.await_that(lambda state: [one["is_silent"] for one in state["figures"]["agents"]]
                        == [False, True])
        assert page.ask("api/v1/stop", {})[0] == 200
        rest_of(process)
        assert process.wait(60) == 2
    finally:
        process.kill()
        process.wait()


def test_an_interrupt_ends_the_test_on_all_agents(bus, server, tmp_path):
    for name in ("web-1", "web-2"):
        bus.agent(name)
    write(tmp_path, EVENTS)
    arguments = [word for word in headless(server, 4, 60) if word not in ("-t", "60")]
    process = bus.begin(2, arguments, tmp_path)
    await_line(process, "said spawning_complete")
    process.send_signal(signal.SIGINT)
    ended = Ended(process)
    assert (ended.code, "was lost" in ended.err) == (0, False), ended.err
    assert said(bus.said_by("web-1")).count("on_stop") == 2
    until(lambda: "free" in "".join(bus.states()), "free agent")


def test_an_agent_without_the_package_says_what_to_install(bus, server, tmp_path):
    write(tmp_path, STEADY)
    for name, python, reason in [
        ("none", str(tmp_path / "nowhere"), "Python 3.10 or newer, and there is no"),
        ("bare", sys._base_executable, "Loadline's package for Python, and"),
    ]:
        agent = bus.agent(name, python, PYTHONPATH="")
        ended = bus.run(1, headless(server, 2, 2), tmp_path)
        assert ended.code == 2
        assert len(ended.lines()) == 2, ended.err  # beside that Locust starts
        assert f"agent {name} can't begin a part: locustfiles need {reason}" in ended.err
        assert "pip install 'loadline[locust]'" in ended.err
        agent.kill()


def test_a_locustfile_that_an_agent_can_not_load_is_told(bus, server, tmp_path):
    bus.agent("web-1")
    write(tmp_path, "import os\nos.environ['ONLY_THERE']\n" + STEADY.replace("\n    ", "\n"))
    ended = bus.run(1, headless(server, 2, 2), tmp_path, ONLY_THERE="yes")
    assert ended.code == 2, ended.err
    assert re.search(r"Agent web-1: Could not load the locustfile 'locustfile.py': KeyError: "
                     r"'ONLY_THERE' at line 2", ended.err), ended.err


HOSTILE = [
    ({"../escaped.py": "eA=="}, "The file '../escaped.py' of the test would lie outside of"),
    ({"/tmp/loadline-escaped.py": "eA=="}, "The file '/tmp/loadline-escaped.py' of the test"),
    ({"a": "eA==", "a/b": "eA=="}, "The file 'a/b' of the test would lie in another file"),
    ({f"f{number}": "" for number in range(100_000)}, "The test comes with 100000 files"),
    ({"locustfile.py": "?"}, "The file 'locustfile.py' of the test is not in base64"),
]


def test_files_that_no_test_has_are_refused_and_leave_nothing(bus, tmp_path):
    place = tmp_path / "places"
    place.mkdir()
    agent = bus.agent("web-1", TMPDIR=str(place))
    extension = native.load()
    for files, sentence in HOSTILE:
        fleet = native.Agents(json.dumps({
            "bus": {"url": bus.url}, "agents": "1", "timeout": {"secs": 30, "nanos": 0},
        }))
        (part,) = fleet.gather()
        job = {"version": extension.__version__, "files": files, "locustfiles": ["locustfile.py"],
               "words": [], "records": False}
        descriptor, line = part.begin(json.dumps(job), json.dumps({"index": 0, "client_id": "w"}))
        until(part.ending, "end of the part", 60)
        os.close(descriptor)
        line.close()
        assert part.ending().startswith(sentence), part.ending()
        until(lambda: not os.listdir(place), "end of the folder")
    assert sorted(os.listdir(tmp_path)) == ["places"]
    assert not os.path.exists("/tmp/loadline-escaped.py")
    assert agent.poll() is None
    until(lambda: "free" in "".join(bus.states()), "free agent")


def test_options_that_contradict_agents_are_refused(bus, server, tmp_path):
    write(tmp_path, STEADY)
    for more, sentence in [
        (["--processes", "2"], "Each agent has one process"),
        (["--master"], "--agents makes this the master"),
    ]:
        ended = bus.run(1, headless(server, 2, 2, *more), tmp_path)
        assert ended.code in (1, 2), ended.err
        assert sentence in ended.err, ended.err
    ended = bus.run(1, headless(server, 2, 2), tmp_path)
    assert ended.code == 2
    assert "--agents 1: 0 of the 0 agents on the bus can take part" in ended.err
