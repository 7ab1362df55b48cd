"""Masters and workers of programs of one's own: Locust as a library, over a bus of the master's."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import textwrap

import gevent
import pytest
from agents_support import free_port, until
from command_support import Ended, Server, begin, environment, kill, report_of, run, write

import locust
from locust import User, constant, task
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

TOKEN = "LOADLINE_MASTER_TOKEN"

# Users that stop after ten requests, and throw once.
USERS = """
    import loadline
    loadline.use_locust()
    from locust import HttpUser, constant, task
    from locust.exception import StopUser

    class Visitor(HttpUser):
        wait_time = constant(0.01)
        done = 0

        @task
        def one(self):
            self.done += 1
            self.client.get("/missing" if self.done == 3 else "/")
            if self.done == 5:
                raise ValueError("thrown")
            if self.done == 10:
                raise StopUser()
"""

MASTER = """
    import json, sys, gevent
    from visitors import Visitor
    from locust import stats
    from locust.env import Environment
    from locust.log import setup_logging

    setup_logging("INFO")
    port, host, workers, users = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    environment = Environment(user_classes=[Visitor], host=host)
    runner = environment.create_master_runner("127.0.0.1", port)
    page = environment.create_web_ui("127.0.0.1", 0)
    environment.events.init.fire(environment=environment, runner=runner, web_ui=page)
    gevent.spawn(stats.stats_history, runner)
    while len(runner.clients.ready) < workers:
        gevent.sleep(0.05)
    runner.start(users, spawn_rate=100)
    gevent.spawn_later(4, runner.quit)
    runner.greenlet.join()
    page.stop()
    print(json.dumps({
        "requests": environment.stats.total.num_requests,
        "failures": [[one.name, one.occurrences] for one in environment.stats.errors.values()],
        "exceptions": [[one["msg"], one["count"], len(one["nodes"])]
                       for one in runner.exceptions.values()],
        "state": runner.state,
        "lost": runner.lost,
    }))
"""

WORKER = """
    import sys
    from visitors import Visitor
    from locust.env import Environment

    environment = Environment(user_classes=[Visitor])
    runner = environment.create_worker_runner("127.0.0.1", int(sys.argv[1]))
    print(f"joined as {runner.worker_index}", flush=True)
    runner.greenlet.join()
    print(f"left as {runner.state}")
"""


@pytest.fixture
def server():
    with Server() as one:
        yield one


class Programs:
    """Processes of Python that end with the block, each with its words."""

    def __init__(self, folder):
        self.folder = folder
        self.port = str(free_port())
        self._processes = []
        write(folder, USERS, "visitors.py")
        write(folder, MASTER, "master.py")
        write(folder, WORKER, "worker.py")

    def __enter__(self):
        return self

    def begin(self, name, *arguments, **variables):
        process = begin([f"{name}.py", self.port, *arguments], self.folder, variables,
                        [sys.executable])
        self._processes.append(process)
        return process

    def command(self, *arguments):
        process = begin(arguments, self.folder)
        self._processes.append(process)
        return process

    def __exit__(self, *_):
        for process in self._processes:
            if process.poll() is None:
                kill(process)


def test_a_master_adds_what_its_workers_count(server, tmp_path):
    with Programs(tmp_path) as programs:
        # One comes before its master.
        workers = [programs.begin("worker"), programs.begin("worker")]
        master = Ended(programs.begin("master", server.url, "2", "4"), 60)
        assert master.code == 0, master.err
        assert figures_of(master) == {
            "requests": 40, "failures": [["/missing", 4]], "exceptions": [["thrown", 4, 2]],
            "state": "stopped", "lost": []}
        assert server.count() == 40
        said = [Ended(one) for one in workers]
        assert sorted(one.out for one in said) == [
            f"joined as {index}\nleft as stopped\n" for index in (0, 1)]
        assert [one.code for one in said] == [0, 0]
        sentence = f"Workers join by: create_worker_runner('127.0.0.1', {programs.port})"
        assert sentence in master.err


def figures_of(master):
    """What a master program prints at its end."""
    return json.loads(master.out.splitlines()[-1])


def test_a_command_s_worker_joins_a_program_s_master_with_a_locustfile_of_its_own(server, tmp_path):
    with Programs(tmp_path) as programs:
        master = programs.begin("master", server.url, "1", "2")
        port = ["--worker", "--master-port", programs.port]
        without = Ended(programs.command(*port, "-f", "-"))
        assert without.code == 1
        worker = programs.command(*port, "-f", "visitors.py")
        ended = Ended(master, 60)
        assert figures_of(ended)["requests"] == 20, ended.err
        assert "which has no locustfile to send: join it by 'loadline locust --worker -f FILE'" \
            in ended.err
        assert Ended(worker).code == 0


def test_a_program_s_worker_joins_a_command_s_master_that_records_the_test(server, tmp_path):
    with Programs(tmp_path) as programs:
        words = ["--master", "--master-bind-port", programs.port, "-f", "visitors.py", "--headless",
                 "-u", "2", "-r", "10", "-t", "3", "-H", server.url, "--only-summary",
                 "--out", "loadline=one.run"]
        master = programs.command(*words)
        worker = Ended(programs.begin("worker"), 60)
        ended = Ended(master, 60)
        assert re.search(r"Aggregated +20 +2\(10.00%\)", ended.err), ended.err
        assert worker.code == 0, worker.err
        assert report_of(tmp_path / "one.run")["summary"]["sent"] == 20


class Sleeper(User):
    """Does nothing but wait."""

    wait_time = constant(60)

    @task
    def wait_on(self):
        """Nothing."""


class Dreamer(Sleeper):
    """Another class."""


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(locust.runners, "CONNECT_TIMEOUT", 0.2)
    monkeypatch.setattr(locust.runners, "CONNECT_RETRY_COUNT", 2)
    monkeypatch.delenv(TOKEN, raising=False)


@pytest.fixture
def master(impatient):
    runner = Environment(user_classes=[Sleeper]).create_master_runner(master_bind_port=0)
    yield runner
    while JOINED:
        JOINED.pop().quit()
    runner.quit()


# The workers of the test that lasts: one that outlived it would look for its master for ever.
JOINED = []


def joined(master, *classes):
    """A worker of a master in this process, until the test ends."""
    environment = Environment(user_classes=list(classes or [Sleeper]))
    JOINED.append(environment.create_worker_runner("127.0.0.1", master.master_bind_port))
    return JOINED[-1]


def await_that(holds, what):
    """Wait until something holds, while the loop runs."""
    with gevent.Timeout(20, AssertionError(f"no {what}")):
        while not holds():
            gevent.sleep(0.02)


def test_one_process_may_have_a_master_and_workers_for_several_tests(master):
    workers = [joined(master), joined(master)]
    assert isinstance(master, MasterRunner) and isinstance(workers[0], WorkerRunner)
    assert [one.worker_index for one in workers] == [0, 1]
    assert master.worker_count == 2
    await_that(lambda: len(master.clients.ready) == 2, "workers that are ready")
    assert {one.client_id for one in workers} == {node.id for node in master.clients.ready}
    got = []
    workers[1].register_message("hello", lambda environment, msg, **_: got.append(msg.data))
    for _ in range(2):
        master.start(4, spawn_rate=100, wait=True)
        await_that(lambda: [one.user_count for one in workers] == [2, 2], "users of both")
        master.stop()
        assert master.state == "stopped" and master.user_count == 0
        assert [one.user_count for one in workers] == [0, 0]
    master.send_message("hello", {"who": "all"}, workers[1].client_id)
    await_that(lambda: got == [{"who": "all"}], "message")
    master.quit()
    for one in workers:
        one.greenlet.join(10)
        assert one.state == "stopped" and not len(one.greenlet)


def test_the_users_of_a_worker_that_leaves_are_started_on_the_others(master, caplog):
    first, second = joined(master), joined(master)
    master.start(4, spawn_rate=100, wait=True)
    await_that(lambda: master.state == "running", "running test")
    with caplog.at_level("INFO"):
        first.quit()
        await_that(lambda: second.user_count == 4, "users of the other one")
    assert first.user_count == 0 and master.worker_count == 1
    assert f"Worker '{first.client_id}' (index 0) quit. 1 workers ready." in caplog.text
    assert "Starting its 2 users anew on the others." in caplog.text
    assert master.lost == []


def test_a_worker_that_has_left_has_left_the_bus(master):
    def rounds(count):
        for _ in range(count):
            worker = joined(master)
            await_that(lambda: worker.worker_index in [one.index for one in master.clients.ready],
                       "worker that is ready")
            worker.quit()
            worker.greenlet.join(10)
            await_that(lambda: master.worker_count == 0, "end of the worker")

    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    def await_only_the_master():
        await_that(lambda: threads_of("bus writer") == 1, "connection of the master alone")

    # Connections of other tests may still be closing.
    await_only_the_master()
    # What is opened once is open from the first round on.
    rounds(1)
    await_only_the_master()
    before = descriptors()
    rounds(3)
    await_only_the_master()
    await_that(lambda: descriptors() <= before, f"{before} descriptors, but {descriptors()}")


def threads_of(name):
    """The number of this process's threads of that name."""
    return sum(name_of(thread) == name for thread in os.listdir("/proc/self/task"))


def name_of(thread):
    """The name of a thread of this process; none if it has ended meanwhile."""
    try:
        return pathlib.Path(f"/proc/self/task/{thread}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_a_master_without_workers_says_so(master, caplog):
    master.start(1, spawn_rate=1)
    assert "before at least one worker processes has connected" in caplog.text
    assert master.state == "ready"


def test_a_worker_without_a_class_of_the_master_says_so_to_both(master, caplog):
    worker = joined(master, Dreamer)
    master.start(2, spawn_rate=100)
    await_that(lambda: master.exceptions, "sentence")
    sentence = (f"{worker.client_id} has no user class Sleeper: give the master and its workers "
                "the same classes.")
    assert [one["msg"] for one in master.exceptions.values()] == [sentence]
    assert worker.user_count == 0


def test_a_master_beyond_this_machine_has_a_token_that_its_own_processes_have(impatient, tmp_path):
    runner = Environment(user_classes=[Sleeper]).create_master_runner("*", 0)
    try:
        token, port = runner.master_token, runner.master_bind_port
        assert re.fullmatch("[0-9a-f]{32}", token) and os.environ[TOKEN] == token
        joined(runner)
        program = """
            import sys, loadline
            loadline.use_locust()
            from locust import User
            from locust.env import Environment
            runner = Environment(user_classes=[]).create_worker_runner("127.0.0.1", sys.argv[1])
            runner.greenlet.join()
        """
        own = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(port)],
                               env=environment())
        await_that(lambda: runner.worker_count == 2, "worker of another process")
        runner.quit()
        assert own.wait(20) == 0
    finally:
        runner.quit()
        del os.environ[TOKEN]


def test_who_has_no_token_or_a_wrong_one_is_refused_at_once(impatient):
    runner = Environment(user_classes=[Sleeper]).create_master_runner("0.0.0.0", 0, "abc")
    try:
        port = runner.master_bind_port
        for wrong in ("wrong", None):
            os.environ.pop(TOKEN, None)
            with pytest.raises(ConnectionError, match="refuses this worker: give it the token"):
                Environment(user_classes=[Sleeper]).create_worker_runner("127.0.0.1", port, wrong)
        ended = run("/", "--worker", "--master-port", str(port), "-f", "-")
        assert ended.code == 1
        assert "give it the token that the master logs, as --master-token." in ended.lines()[-1]
    finally:
        runner.quit()


def test_what_can_not_be_joined_or_opened_is_one_sentence(impatient, monkeypatch, caplog):
    from loadline.locust_runner.bus_server import CannotServe

    def worker(*place):
        return Environment(user_classes=[Sleeper]).create_worker_runner(*place)

    with pytest.raises(ConnectionError, match="A master on another machine has a token"):
        worker("10.0.0.1", 5557)
    with pytest.raises(ConnectionError, match="There is no master"):
        worker("127.0.0.1", free_port())
    assert "retry 2/2" in caplog.text
    environment_of_master = Environment(user_classes=[Sleeper])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=f"Port {port} is taken"):
            environment_of_master.create_master_runner("127.0.0.1", port)
    assert environment_of_master.runner is None
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CannotServe, match="apt-get install nats-server"):
        environment_of_master.create_master_runner("127.0.0.1", free_port())


def test_a_master_program_that_just_ends_takes_its_bus_along(tmp_path):
    port = free_port()
    program = f"""
        import loadline
        loadline.use_locust()
        from locust import User
        from locust.env import Environment
        Environment(user_classes=[]).create_master_runner("127.0.0.1", {port})
        print("over")
    """
    write(tmp_path, program, "program.py")
    ended = Ended(begin(["program.py"], tmp_path, {"TMPDIR": str(tmp_path)}, [sys.executable]))
    assert (ended.code, ended.out, ended.err) == (0, "over\n", "")
    until(lambda: not _listens(port), "end of the bus")
    assert [one for one in os.listdir(tmp_path) if one.startswith("loadline-bus")] == []


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
