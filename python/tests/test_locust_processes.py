"""Users spread over several processes: nothing is counted twice or lost, and losses are told."""

import os
import re
import signal
import time

from command_support import Ended, begin, run, write

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
        words = process.stdout.readline().split()
        if words[0] == "pid":
            pids.append(int(words[1]))
    victim = next(pid for pid in pids if pid != process.pid)
    time.sleep(0.5)
    os.kill(victim, signal.SIGKILL)
    ended = Ended(process)
    sentence = rf"Process \d \(pid {victim}\) was lost \(killed by signal 9\): its 2 users are gone"
    assert len(re.findall(sentence, ended.err)) == 2  # at once, and below the tables
    assert "--run-time limit reached" in ended.err
    assert ended.code == 1


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
    while process.stdout.readline().strip() != "spawning_complete":
        pass
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    ended = Ended(process)
    assert (ended.code, "was lost" in ended.err) == (0, False), ended.err
