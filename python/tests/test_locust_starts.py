"""Users who pace themselves are timed from their intended starts in a saved run, and missed starts
count, while Locust's own tables stay as they are."""

import os
import re
import signal
import time

import pytest
from command_support import Ended, Server, begin, report_of, write

USERS = 10
PER_SECOND = 20
SECONDS = 10

PACED = """
    from locust import FastHttpUser, HttpUser, constant_throughput, task

    class Paced({kind}):
        wait_time = constant_throughput(20)

        @task
        def front(self):
            self.client.get("/")
"""


def stalled(folder, users, seconds, at):
    """Run the locustfile of a folder against a server that stalls for a second; also returns for
    how many seconds it did."""
    with Server() as server:
        process = begin(
            ["--headless", "-u", str(users), "-r", str(users), "-t", str(seconds), "-H",
             server.url, "--only-summary", "--out", "loadline=a.run"], folder)
        until_it_begins(folder)
        time.sleep(at)
        begun = time.monotonic()
        os.kill(server.process.pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(server.process.pid, signal.SIGCONT)
        length = time.monotonic() - begun
        return Ended(process), length


def until_it_begins(folder):
    """Wait for the file that a test is recorded in."""
    while not (folder / "a.run").exists():
        time.sleep(0.02)


def counts(result):
    return {"missed": 0, **result["summary"]}


@pytest.mark.parametrize("kind", ["FastHttpUser", "HttpUser"])
def test_a_stall_is_seen_from_the_intended_starts(tmp_path, kind):
    write(tmp_path, PACED.format(kind=kind))
    ended, length = stalled(tmp_path, USERS, SECONDS, at=5)
    result = report_of(tmp_path / "a.run")
    # A tenth of all starts waits from 0 to 1 s: the 99th percentile of all is 900 ms.
    # The users start in waves, so it is the time of a wave on either side of that.
    p99_s = result["summary"]["response_time_us"]["p99"] / 1e6
    assert abs(p99_s - (length - 0.01 * SECONDS)) < 1 / PER_SECOND + 0.01
    # Locust sees the stall in one request of each user.
    row = re.search(r"^ +Aggregated(.*)$", ended.err.split("percentiles (approximated)")[1], re.M)
    locust_p99_ms = int(row[1].split()[7])
    assert locust_p99_ms < 400, ended.err
    # All starts fell due, whether they were made or not.
    total = counts(result)
    assert total["planned"] == total["sent"] + total["missed"] + result["summary"]["unfinished"][
        "unsent"]
    assert abs(total["planned"] - USERS * PER_SECOND * SECONDS) < 2 * USERS * PER_SECOND
    assert abs(total["missed"] - USERS * (PER_SECOND - 1)) < USERS * 4
    kinds = [one["kind"] for one in result["summary"]["validity"]["findings"]]
    assert "missed" in kinds and "unsent" not in kinds


# What a user does by itself is not the target's doing: no start is missed, and none is late.
WORKING = """
    import gevent
    from locust import FastHttpUser, TaskSet, constant, constant_pacing, task

    class Working(FastHttpUser):
        wait_time = constant_pacing(0.05)

        @task
        def slow_script(self):
            self.client.get("/")
            gevent.sleep(0.3)

    class Nested(FastHttpUser):
        wait_time = constant_pacing(0.05)

        @task
        class Set(TaskSet):
            wait_time = constant(0.2)
            done = 0

            @task
            def one(self):
                self.client.get("/nested")
                self.done += 1
                if self.done == 3:
                    self.interrupt()

    class Failing(FastHttpUser):
        wait_time = constant_pacing(0.2)

        @task
        def one(self):
            self.client.get("/failing")
            raise KeyError("in a task")

    class Own(FastHttpUser):
        def wait_time(self):
            return 0.1

        @task
        def one(self):
            self.client.get("/own")
"""


def test_what_users_do_by_themselves_delays_no_start(tmp_path):
    write(tmp_path, WORKING)
    with Server() as server:
        ended = Ended(begin(
            ["--headless", "-u", "4", "-r", "4", "-t", "3", "-H", server.url, "--only-summary",
             "--out", "loadline=a.run"], tmp_path))
    assert ended.code == 1, ended.err
    result = report_of(tmp_path / "a.run")
    assert counts(result)["sent"] > 30 and counts(result)["missed"] == 0
    # A start that was counted as late would have waited for 200 ms and more.
    assert result["summary"]["response_time_us"]["p90"] < 100_000


TASK_SETS = """
    from locust import FastHttpUser, SequentialTaskSet, TaskSet, constant_pacing, task

    class First(FastHttpUser):
        @task
        class Set(SequentialTaskSet):
            wait_time = constant_pacing(0.1)

            @task
            def several(self):
                self.client.get("/first")
                self.client.get("/later")
"""


def test_a_set_may_have_the_pace_and_its_first_request_the_start(tmp_path):
    write(tmp_path, TASK_SETS)
    ended, _ = stalled(tmp_path, 4, 5, at=2)
    assert ended.code == 0, ended.err
    result = report_of(tmp_path / "a.run")
    # In the stall each of four users misses nine starts or so, and makes one late.
    assert 4 * 6 <= counts(result)["missed"] <= 4 * 10
    names = {row["name"]: row for row in result["summary"]["names"]}
    assert {"GET /first", "GET /later"} <= set(names)
    assert names["GET /first"]["answered"] == pytest.approx(names["GET /later"]["answered"], abs=4)


def test_a_run_that_ends_in_a_stall_tells_the_ages_of_what_was_due(tmp_path):
    write(tmp_path, PACED.format(kind="FastHttpUser"))
    with Server() as server:
        process = begin(
            ["--headless", "-u", "5", "-r", "5", "-t", "4", "-H", server.url, "--only-summary",
             "--out", "loadline=a.run"], tmp_path)
        until_it_begins(tmp_path)
        time.sleep(2)
        os.kill(server.process.pid, signal.SIGSTOP)
        Ended(process)
    result = report_of(tmp_path / "a.run")
    unfinished = result["summary"]["unfinished"]
    assert unfinished["in_flight"] == 5
    # More than a second of the starts of five users, with twenty a second.
    assert unfinished["unsent"] > 5 * 15, unfinished
    assert unfinished["by_target"] == unfinished["unsent"]
    total = counts(result)
    assert total["planned"] == total["sent"] + total["missed"] + unfinished["unsent"]


def test_a_run_without_pacing_is_a_closed_load(tmp_path):
    write(tmp_path, """
        from locust import FastHttpUser, between, task

        class Plain(FastHttpUser):
            wait_time = between(0.05, 0.1)

            @task
            def one(self):
                self.client.get("/")
    """)
    with Server() as server:
        Ended(begin(["--headless", "-t", "2", "-H", server.url, "--out", "loadline=a.run"],
                    tmp_path))
    result = report_of(tmp_path / "a.run")
    assert result["plan"]["load"]["shape"] == "closed"
    assert counts(result)["planned"] == counts(result)["sent"]
