"""Agents that a test of a locustfile loses, and that are back before its end."""

import re
import signal
import time

import pytest
from agents_support import Bus, until
from command_support import Ended, Server, write

STEADY = """
    from locust import HttpUser, constant, task

    class Steady(HttpUser):
        wait_time = constant(0.05)

        @task
        def one(self):
            self.client.get("/")
"""

BACK = r"Agent web-2 is back after \d+\.\d seconds, and has no users of this test\."


@pytest.fixture
def bus():
    with Bus() as one:
        yield one


@pytest.fixture
def server():
    with Server() as one:
        yield one


def test_an_agent_that_is_back_has_no_users_of_the_test_and_is_named(bus, server, tmp_path):
    agents = [bus.agent(name) for name in ("web-1", "web-2")]
    write(tmp_path, STEADY)
    out = tmp_path / "err.txt"
    words = ["--headless", "-u", "4", "-r", "4", "-t", "120", "-H", server.url, "--only-summary",
             "--logfile", str(out)]
    process = bus.begin(2, words, tmp_path)

    def has_said(text):
        return out.exists() and re.search(text, out.read_text())

    until(lambda: has_said("All users spawned"), "users", 60)
    time.sleep(1)
    agents[1].send_signal(signal.SIGSTOP)
    until(lambda: has_said("Agent web-2 said nothing for 3 s and was ended"), "a loss", 60)
    assert not has_said(BACK)
    agents[1].send_signal(signal.SIGCONT)
    until(lambda: has_said(BACK), "a return", 60)
    process.send_signal(signal.SIGINT)
    ended = Ended(process, 60)
    assert ended.code == 2, ended.err
    # At once, and below the tables.
    assert len(re.findall(BACK, out.read_text())) == 2, out.read_text()
