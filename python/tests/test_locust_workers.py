"""`--master` and `--worker`: Locust's words for several machines, over a bus of the master's."""

import os
import re
import signal
import socket
import subprocess
import time

import pytest
from agents_support import free_port, until
from command_support import (
    NO_REAL,
    REAL,
    Ended,
    Server,
    await_line,
    begin,
    environment,
    kill,
    run,
    write,
)
from test_locust_agents import EVENTS, STEADY, headless, said, users_at_end, write_counted
from web_support import Page


@pytest.fixture
def server():
    with Server() as one:
        yield one


class Machines:
    """A master and its workers, each with a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.port = str(free_port())
        self.processes = []

    def __enter__(self):
        return self

    def master(self, arguments, **variables):
        words = ["--master", "--master-bind-port", self.port, *arguments]
        process = begin(words, self.folder, variables)
        self.processes.append(process)
        return process

    def worker(self, name, *arguments, **variables):
        place = self.folder / name
        place.mkdir()
        words = ["--worker", "--master-port", self.port, *arguments]
        process = begin(words, place, {"TMPDIR": str(place), **variables})
        self.processes.append(process)
        return process

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                kill(process)


def test_workers_have_the_users_of_a_master(server, tmp_path):
    write_counted(tmp_path)
    with Machines(tmp_path) as test:
        # One comes before the master does, and one has a locustfile of its own.
        workers = [test.worker("one", "-f", "-"),
                   test.worker("two", "-f", str(tmp_path / "locustfile.py"))]
        master = test.master(headless(server, 6, 4, "--expect-workers", "2", "--csv", "out"))
        ended = Ended(master, 60)
        assert ended.code == 0, ended.err
        assert re.search(r"_[0-9a-f]{32} \(index 1\) reported as ready. 2 workers connected\.",
                         ended.err), ended.err
        assert f"loadline locust --worker --master-host 127.0.0.1 --master-port {test.port} -f -" \
            in ended.err
        assert "Aggregated,60,0," in (tmp_path / "out_stats.csv").read_text()
        assert server.count() == 60
        for worker in workers:
            told = Ended(worker)
            assert told.code == 0, told.err
            assert told.lines()[-1].endswith("Shutting down (exit code 0)"), told.err
        # The file that the first one got is gone.
        assert os.listdir(tmp_path / "one") == []


def test_the_users_of_workers_that_leave_or_are_lost_are_started_on_others(server, tmp_path):
    write(tmp_path, STEADY)
    with Machines(tmp_path) as test:
        workers = [test.worker(name, "-f", "-") for name in ("one", "two", "three")]
        master = test.master(
            headless(server, 6, 12, "--expect-workers", "3", "--csv", "out"))
        history = tmp_path / "out_stats_history.csv"
        until(lambda: history.exists() and ",6,,Aggregated" in history.read_text(), "users")
        workers[0].send_signal(signal.SIGTERM)
        left = Ended(workers[0])
        assert left.code == 0, left.err
        workers[1].kill()
        ended = Ended(master, 60)
        assert ended.code == 2, ended.err
        assert re.search(r"Worker '\S+' \(index \d\) quit. 2 workers ready\.", ended.err), ended.err
        assert "Starting its 2 users anew on the others." in ended.err, ended.err
        assert "said nothing for 3 s and was ended: its" in ended.err, ended.err
        assert users_at_end(tmp_path) == 6


def test_a_worker_that_joins_during_a_test_gets_users_that_start_from_then_on(server, tmp_path):
    write(tmp_path, EVENTS)
    with Machines(tmp_path) as test:
        first = test.worker("one", "-f", "-")
        master = test.master(["--headless", "-u", "8", "-r", "1", "-t", "12", "--only-summary"])
        await_line(first, "said on_start red")
        late = test.worker("two", "-f", "-")
        ended = Ended(master, 60)
        assert ended.code == 0, ended.err
        assert 'All users spawned: {"Idle": 8} (8 total users)' in ended.err
        users = [said(Ended(one).out).count("on_start red") for one in (first, late)]
        assert sum(users) == 7 and min(users) > 0, users


def test_a_worker_may_be_several_processes(server, tmp_path):
    write_counted(tmp_path)
    with Machines(tmp_path) as test:
        worker = test.worker("both", "-f", "-", "--processes", "2")
        master = test.master(headless(server, 4, 3, "--expect-workers", "2"))
        ended = Ended(master, 60)
        assert ended.code == 0, ended.err
        assert "2 workers connected" in ended.err
        assert server.count() == 40
        assert Ended(worker).code == 0


def test_a_master_waits_for_workers_as_long_as_it_is_told(tmp_path):
    write(tmp_path, STEADY)
    port = str(free_port())
    ended = run(tmp_path, "--master", "--master-bind-port", port, "--headless",
                "--expect-workers", "2", "--expect-workers-max-wait", "1")
    assert ended.code == 1
    assert "Waiting for workers to be ready, 0 of 2 connected" in ended.err
    assert ended.lines()[-1].endswith("Gave up waiting for workers to connect"), ended.err
    # The bus has ended with it.
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(port))) != 0


def test_workers_of_other_machines_need_a_token(server, tmp_path):
    write(tmp_path, STEADY)
    with Machines(tmp_path) as test:
        master = test.master(headless(server, 2, 2, "--master-bind-host", "0.0.0.0"))
        token = await_line(master, r"Workers join by.*--master-token (\w{32}) -f -", "stderr")[1]
        stranger = Ended(test.worker("stranger", "-f", "-"))
        assert stranger.code == 1
        assert "give it the token that the master logs, as --master-token." in stranger.err
        worker = test.worker("known", "-f", "-", LOADLINE_MASTER_TOKEN=token)
        ended = Ended(master, 60)
        assert ended.code == 0, ended.err
        assert "1 workers connected" in ended.err and "2 workers" not in ended.err, ended.err
        assert Ended(worker).code == 0
    ended = run(tmp_path, "--worker", "--master-host", "10.0.0.1", "-f", "-")
    assert ended.code == 1
    assert "give the --master-token that it logs" in ended.err


# The begin of ZeroMQ's greeting, as a worker of Locust sends it.
GREETING = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL" + bytes(48)


def test_a_worker_of_locust_itself_is_named_with_what_to_do(server, tmp_path):
    write(tmp_path, STEADY)
    with Machines(tmp_path) as test:
        master = test.master(headless(server, 2, 2))
        until(lambda: _listens(test.port), "a bus")
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", int(test.port))) as knocking:
                knocking.sendall(GREETING)
                while knocking.recv(4096):
                    pass
        test.worker("one", "-f", "-")
        ended = Ended(master, 60)
        assert ended.code == 0, ended.err
        sentences = [line for line in ended.lines() if "speaks Locust's own protocol" in line]
        assert len(sentences) == 1, ended.err
        assert "'loadline locust --worker --master-host 127.0.0.1" in sentences[0]
        assert "'locust --master'" in sentences[0]


def test_a_worker_of_a_master_of_locust_itself_says_what_to_do(tmp_path):
    write(tmp_path, STEADY)
    with socket.create_server(("127.0.0.1", 0)) as master:
        port = str(master.getsockname()[1])
        worker = begin(["--worker", "--master-port", port, "-f", "-"], tmp_path)
        greeted = []
        while worker.poll() is None:
            master.settimeout(0.2)
            try:
                greeted.append(master.accept()[0])
                greeted[-1].sendall(GREETING)
            except TimeoutError:
                pass
        ended = Ended(worker)
        for one in greeted:
            one.close()
    assert ended.code == 1
    assert f"The master at 127.0.0.1:{port} speaks Locust's own protocol" in ended.lines()[-1]


@pytest.mark.skipif(not REAL, reason=NO_REAL)
def test_the_real_worker_is_recognised(server, tmp_path):
    write(tmp_path, STEADY)
    with Machines(tmp_path) as test:
        master = test.master(headless(server, 2, 2))
        until(lambda: _listens(test.port), "a bus")
        variables = environment()
        variables.pop("PYTHONPATH")
        real = subprocess.Popen(
            [REAL, "--worker", "--master-port", test.port, "-f", "locustfile.py"], cwd=tmp_path,
            env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(3)
            test.worker("one", "-f", "-")
            ended = Ended(master, 60)
        finally:
            real.kill()
            real.wait()
        assert ended.code == 0, ended.err
        assert ended.err.count("speaks Locust's own protocol") == 1, ended.err


def test_what_can_not_be_used_is_one_sentence(tmp_path):
    write(tmp_path, STEADY)
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    ended = run(tmp_path, "--master", "--master-bind-port", str(free_port()), "--headless",
                env={"PATH": str(nowhere)})
    assert ended.code == 2
    assert "apt-get install nats-server" in ended.lines()[-1], ended.err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run(tmp_path, "--master", "--master-bind-port", port, "--headless")
    assert ended.code == 2
    assert f"Port {port} is taken" in ended.lines()[-1], ended.err


def test_a_page_starts_tests_once_there_are_workers(server, tmp_path):
    write(tmp_path, STEADY)
    with Machines(tmp_path) as test:
        words = ["--master", "--master-bind-port", test.port, "-H", server.url]
        with Page(tmp_path, *words) as page:
            page.swarm(2)
            page.until(lambda: "before at least one worker" in page.said(), "no warning")
            test.worker("one", "-f", "-")
            page.until(lambda: "1 workers connected" in page.said(), "no worker")
            for _ in range(2):
                page.swarm(2)
                page.until_figures(lambda found: found["user_count"] == 2
                                   and found["total_rps"] > 0)
                page.post("/stop")
                page.until_figures(lambda found: found["state"] == "stopped")
            page.process.send_signal(signal.SIGINT)
            page.process.wait(timeout=20)


# Users who throw, and whose worker says so in its log soon.
TALKING = """
    import logging
    import locust.runners
    from locust import HttpUser, constant, task

    locust.runners.WORKER_LOG_REPORT_INTERVAL = 0.2

    class Visitor(HttpUser):
        wait_time = constant(0.1)

        def on_start(self):
            logging.getLogger("visitors").info("begins on %s", self.environment.runner.client_id)

        @task
        def front(self):
            self.client.get("/")

        @task
        def throws(self):
            raise ValueError("thrown")
"""


def assert_page_shows_workers(page, is_own):
    """The page shows log, exceptions, state and memory of two workers, while a test runs."""
    page.swarm(4)
    found = page.until_figures(lambda one: len(one["workers"]) == 2 and all(
        worker["state"] == "running" and worker["user_count"] == 2 for worker in one["workers"]))
    assert [sorted(one) for one in found["workers"]] == 2 * [
        ["cpu_usage", "id", "memory_usage", "state", "user_count"]]
    assert all(one["memory_usage"] > 1e6 for one in found["workers"]), found["workers"]
    ids = {one["id"] for one in found["workers"]}
    assert found["worker_count"] == 2 and page.get("/worker-count").json() == {"worker_count": 2}

    def logs():
        told = page.get("/logs").json()["workers"]
        return told if len(told) == 2 and all(
            any(f"begins on {one}" in line for line in told[one]) for one in told) else None

    told = page.until(logs, "no log of both workers")
    assert set(told) == ids
    has_begin = ["Starting Locust" in lines[0] for lines in told.values()]
    assert has_begin == [is_own] * 2, told
    rows = page.until(lambda: page.get("/exceptions").json()["exceptions"], "no exceptions")
    assert {row["msg"] for row in rows} == {"thrown"}
    page.until(lambda: {name for row in page.get("/exceptions").json()["exceptions"]
                        for name in row["nodes"].split(", ")} == ids, "nodes are others")
    assert '"is_distributed": true' in page.get("/").text


def test_the_page_of_a_master_shows_its_workers(server, tmp_path):
    write(tmp_path, TALKING)
    with Machines(tmp_path) as test:
        words = ["--master", "--master-bind-port", test.port, "-H", server.url]
        with Page(tmp_path, *words) as page:
            workers = [test.worker(name, "-f", str(tmp_path / "locustfile.py"))
                       for name in ("one", "two")]
            page.until(lambda: "2 workers connected" in page.said(), "no workers")
            page.until_figures(
                lambda one: [row["state"] for row in one["workers"]] == ["ready", "ready"])
            assert_page_shows_workers(page, is_own=True)
            workers[0].kill()
            found = page.until_figures(
                lambda one: {row["state"] for row in one["workers"]} == {"running", "missing"})
            assert found["worker_count"] == 1 and found["workers"][1]["state"] == "missing"
            page.until_figures(lambda one: one["user_count"] == 4)
            page.post("/stop")
            page.until_figures(
                lambda one: [row["state"] for row in one["workers"]] == ["ready", "missing"])
            page.swarm(1)
            page.until_figures(lambda one: [row["state"] for row in one["workers"]] == ["running"])
            page.process.send_signal(signal.SIGINT)
            page.process.wait(timeout=20)


def test_the_page_of_several_processes_shows_them(server, tmp_path):
    write(tmp_path, TALKING)
    with Page(tmp_path, "--processes", "2", "-H", server.url) as page:
        assert_page_shows_workers(page, is_own=False)
        assert page.end()[0] == 1, "tasks failed"


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0
