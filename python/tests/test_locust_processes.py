"""Users spread over several processes: nothing is counted twice or lost, and losses are told."""

import os
import re
import signal
import time

import pytest
from command_support import Ended, Server, await_line, begin, report_of, run, write

COUNTED = """
    import os
    from locust import User, task, constant, events
    from locust.exception import StopUser

    class Counted(User):
        wait_time = constant(0.001)
        done = 0

        @task
        def one(self):
            self.done += 1
            self.environment.events.request.fire(
                request_type="X", name="one", response_time=self.done, response_length=1,
                exception=ValueError("odd") if self.done % 2 else None)
            if self.done == 50:
                raise StopUser()
            if self.done == 25:
                raise KeyError("in a task")
"""


def test_the_sum_of_all_processes_is_exact(tmp_path):
    write(tmp_path, COUNTED)
    ended = run(tmp_path, "--headless", "--processes", "2", "-u", "5", "-r", "5", "-t", "3",
                "--csv", "out", "--only-summary")
    assert ended.code == 1
    assert re.search(r"X +one +250 +125\(50.00%\) \| +25 +1 +50 +26 \|", ended.err), ended.err
    assert "125                X one: ValueError('odd')" in ended.err
    assert 'All users spawned: {"Counted": 5} (5 total users)' in ended.err
    rows = (tmp_path / "out_exceptions.csv").read_text()
    assert "\n5,'in a task'," in rows.replace("\r", "")
    assert "process_0, process_1" in rows or "process_1, process_0" in rows


RECORDED = """
    from locust import HttpUser, task, constant
    from locust.exception import StopUser

    class Recorded(HttpUser):
        wait_time = constant(0.01)
        done = 0

        @task
        def one(self):
            self.done += 1
            if self.done > 3:
                raise StopUser()
            self.client.get("/")
            raise KeyError(f"basket {self.done}")
"""


@pytest.mark.parametrize("processes", [[], ["--processes", "2"]])
def test_exceptions_of_all_processes_are_one_row_of_the_saved_run(tmp_path, processes):
    write(tmp_path, RECORDED)
    with Server() as server:
        ended = run(tmp_path, "--headless", *processes, "-u", "4", "-r", "4", "-t", "3",
                    "--only-summary", "-H", server.url, "--out", "loadline=a.run")
    assert ended.code == 1, ended.err
    [row] = report_of(tmp_path / "a.run")["summary"]["exceptions"]
    assert (row["kind"], row["count"]) == ("KeyError", 12)
    assert row["message"] == "'basket 1'"
    assert row["trace"].splitlines()[-1] == '    raise KeyError(f"basket {self.done}")'
    assert row.get("parts", []) == (
        ["process 1 of 2", "process 2 of 2"] if processes else [])


EVENTS = """
    import os
    from locust import User, task, constant, events

    def say(text):
        os.write(1, f"{text}\\n".encode())

    class Idle(User):
        wait_time = constant(0.1)

        @task
        def nothing(self):
            pass

    for name in ("init", "test_start", "spawning_complete", "test_stop", "quitting", "quit"):
        def listen(name=name):
            getattr(events, name).add_listener(lambda **kwargs: say(name))
        listen()

    @events.init.add_listener
    def tell(runner, **kwargs):
        say(f"{type(runner).__mro__[1].__name__}-{getattr(runner, 'worker_index', '')}")
"""


def test_events_happen_in_each_process(tmp_path):
    write(tmp_path, EVENTS)
    words = run(tmp_path, "--headless", "--processes", "2", "-t", "1").out.split()
    for name in ("init", "test_start", "spawning_complete", "test_stop", "quitting", "quit"):
        assert words.count(name) == 3, name
    assert sorted(word for word in words if "-" in word) == [
        "MasterRunner-", "WorkerRunner-0", "WorkerRunner-1"]


def test_a_killed_process_is_told_and_the_rest_goes_on(tmp_path):
    write(tmp_path, EVENTS + """
    @events.spawning_complete.add_listener
    def tell_pid(**kwargs):
        say(f"pid {os.getpid()}")
    """)
    process = begin(["--headless", "--processes", "2", "-u", "4", "-r", "4", "-t", "4"], tmp_path)
    pids = []
    while len(pids) < 3:
        pids.append(int(await_line(process, r"^pid (\d+)$")[1]))
    victim = next(pid for pid in pids if pid != process.pid)
    time.sleep(0.5)
    os.kill(victim, signal.SIGKILL)
    ended = Ended(process)
    sentence = rf"Process \d \(pid {victim}\) was lost \(killed by signal 9\): its 2 users are gone"
    assert len(re.findall(sentence, ended.err)) == 2  # at once, and below the tables
    assert "--run-time limit reached" in ended.err
    assert ended.code == 2


def test_a_task_ends_the_test_in_all_processes(tmp_path):
    write(tmp_path, """
    import sys
    from locust import User, task

    class A(User):
        @task
        def one(self):
            sys.exit(5)
    """)
    ended = run(tmp_path, "--headless", "--processes", "2", "-u", "2", "-r", "2", "-t", "20")
    assert ended.code == 5


def test_messages_between_processes(tmp_path):
    write(tmp_path, EVENTS.split("for name in")[0] + """
    @events.init.add_listener
    def register(environment, runner, **kwargs):
        if hasattr(runner, "clients"):
            runner.register_message("up", lambda environment, msg, **kw: say(msg.data))
        else:
            def answer(environment, msg, **kw):
                environment.runner.send_message("up", f"up-{msg.data}")
            runner.register_message("down", answer)

    @events.spawning_complete.add_listener
    def send(**kwargs):
        from locust import env
        runner = RUNNERS[0]
        if hasattr(runner, "clients"):
            runner.send_message("down", {"n": 1})

    RUNNERS = []
    events.init.add_listener(lambda runner, **kwargs: RUNNERS.append(runner))
    """)
    ended = run(tmp_path, "--headless", "--processes", "2", "-u", "2", "-r", "2", "-t", "2")
    assert ended.out.splitlines() == ["up-{'n': 1}"] * 2, ended.err


def test_interrupt_of_the_whole_group(tmp_path):
    write(tmp_path, EVENTS)
    process = begin(["--headless", "--processes", "2", "-u", "4", "-r", "4"], tmp_path)
    await_line(process, "spawning_complete")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    ended = Ended(process)
    assert (ended.code, "was lost" in ended.err) == (0, False), ended.err


def running(tmp_path, text, *words, users=4, sign=("spawning_complete", 3)):
    """A test on two processes that have said a word so often, and the pids of its processes."""
    write(tmp_path, EVENTS + """
    from gevent import monkey

    @events.init.add_listener
    def tell_pid(**kwargs):
        say(f"pid {os.getpid()}")
""" + text)
    process = begin(["--headless", "--processes", "2", "-u", str(users), "-r", str(users), *words,
                     "--only-summary"], tmp_path)
    pids, signs = [], 0
    while len(pids) < 3 or signs < sign[1]:
        words = await_line(process, ".*")[0].split()
        pids += map(int, words[1:2])
        signs += words[0] == sign[0]
    return process, [pid for pid in pids if pid != process.pid]


def is_there(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def assert_gone(pids):
    """They end with the command, so what is waited for is the kernel alone."""
    due = time.monotonic() + 10
    while any(map(is_there, pids)):
        assert time.monotonic() < due, "a process of the test was left behind"
        time.sleep(0.05)


def test_a_stopped_process_is_ended_and_named(tmp_path):
    process, children = running(tmp_path, "", "-t", "6")
    victim = children[0]
    os.kill(victim, signal.SIGSTOP)
    ended = Ended(process)
    sentence = (rf"Process \d \(pid {victim}\) was stopped, said nothing for 3 s and was ended: "
                r"its 2 users are gone, and what they did in the last \d+\.\d seconds of it is not "
                "in the report.")
    assert len(re.findall(sentence, ended.err)) == 2, ended.err
    assert "--run-time limit reached" in ended.err
    assert ended.code == 2
    assert_gone(children)


COMPUTING = """
    class Computing(User):
        @task
        def compute(self):
            if {condition}:
                say("computing")
                while True:
                    pass
            else:
                import time
                time.sleep(0.1)
    del Idle
"""
ONE_OF_THEM = "self.environment.runner.worker_index == 1"


def test_processes_that_compute_are_not_left_behind(tmp_path):
    process, children = running(tmp_path, COMPUTING.format(condition="True"), "-t", "1",
                                sign=("computing", 2))
    ended = Ended(process)
    assert len(re.findall(r"Process \d \(pid \d+\) let no other user run, said nothing for \d+ s "
                          "and was ended", ended.err)) == 4, ended.err
    assert ended.code == 2
    assert_gone(children)


def test_a_signal_ends_processes_that_compute(tmp_path):
    process, children = running(tmp_path, COMPUTING.format(condition=ONE_OF_THEM),
                                sign=("computing", 1))
    process.send_signal(signal.SIGTERM)
    ended = Ended(process)
    assert re.search(r"Process 1 \(pid \d+\) let no other user run", ended.err), ended.err
    assert "Process 0" not in ended.err
    assert ended.code == 2
    assert_gone(children)


def test_processes_that_compute_end_with_a_killed_command(tmp_path):
    process, children = running(tmp_path, COMPUTING.format(condition="True"),
                                sign=("computing", 2))
    process.kill()
    Ended(process)
    assert_gone(children)


def test_a_task_that_comes_back_is_no_loss(tmp_path):
    process, children = running(tmp_path, """
    class Blocking(Idle):
        def on_start(self):
            say("blocks")
            monkey.get_original("time", "sleep")(4)
    del Idle
    """, "-t", "6", users=2, sign=("blocks", 2))
    ended = Ended(process)
    assert re.search(r"Process \d \(pid \d+\) has said nothing for 3 s: one of its", ended.err)
    assert (ended.code, "was ended" in ended.err) == (0, False), ended.err
    assert_gone(children)


def test_a_stopped_command_does_not_blame_its_processes(tmp_path):
    process, children = running(tmp_path, "", "-t", "6")
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(4)
    os.kill(process.pid, signal.SIGCONT)
    ended = Ended(process)
    assert (ended.code, "said nothing" in ended.err) == (0, False), ended.err


@pytest.mark.parametrize("in_task, on_stop, code", [
    ("raise BaseException('x')", "pass", 2),
    ("pass", "raise ValueError('x')", 2),
    ("raise ValueError('x')", "pass", 1),
    ("raise SystemExit(7)", "pass", 7),
    ("self.environment.process_exit_code = 5", "pass", 5),
    ("pass", "pass", 0),
])
@pytest.mark.parametrize("more", [[], ["--processes", "2"]])
def test_exit_codes_of_processes_are_the_commands(tmp_path, in_task, on_stop, code, more):
    write(tmp_path, f"""
    from locust import User, constant, task

    class A(User):
        wait_time = constant(0.1)

        @task
        def one(self):
            {in_task}

        def on_stop(self):
            {on_stop}
    """)
    ended = run(tmp_path, "--headless", "-u", "2", "-r", "2", "-t", "1", "--only-summary", *more)
    assert ended.code == code, ended.err


def test_the_names_of_messages_are_free(tmp_path):
    write(tmp_path, EVENTS.split("for name in")[0] + """
    @events.init.add_listener
    def register(environment, runner, **kwargs):
        if hasattr(runner, "clients"):
            for name in ("users", "stopped", "user_error", "ended"):
                runner.register_message(name, lambda environment, msg, **kw: say(
                    f"{msg.type} {msg.data} {msg.node_id}"))

    @events.spawning_complete.add_listener
    def send(**kwargs):
        runner = RUNNERS[0]
        if getattr(runner, "worker_index", None) == 0:
            for name in ("users", "stopped", "user_error", "ended"):
                runner.send_message(name, {"code": 9})

    RUNNERS = []
    events.init.add_listener(lambda runner, **kwargs: RUNNERS.append(runner))
    """)
    ended = run(tmp_path, "--headless", "--processes", "2", "-u", "2", "-r", "2", "-t", "1")
    assert sorted(ended.out.splitlines()) == [
        f"{name} {{'code': 9}} process_0" for name in ("ended", "stopped", "user_error", "users")]
    assert ended.code == 0, ended.err
