"""`loadline capacity --users -f`: how many of its users a service carries.

The service is `loadline serve` with one counter, so that its capacity is known. The command is the
one in LOADLINE_PROGRAM, or what is built in this clone.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from command_support import PACKAGES, Ended, await_line, environment, write

TARGET = os.path.join(os.path.dirname(PACKAGES), "target")
BUILT = [os.path.join(TARGET, kind, "loadline") for kind in ("release", "debug")]
PROGRAM = os.environ.get("LOADLINE_PROGRAM") or next(filter(os.path.exists, BUILT), None)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the native command is not built")

QUICK = ("-d", "1s", "--warmup", "1s", "--trials", "3", "--precision", "10%", "--budget", "75s")

WAITING = """
    from locust import HttpUser, constant, tag, task


    class Visitor(HttpUser):
        wait_time = constant(0.5)

        @tag("plain")
        @task
        def look(self):
            self.client.get("/")


    class Other(HttpUser):
        @task
        def fail(self):
            self.client.get("/?status=500")
"""


def begin(folder, *arguments, env=None):
    """Start the native command."""
    return subprocess.Popen(
        [PROGRAM, *arguments],
        cwd=folder,
        env={**environment(), "LOADLINE_PYTHON": sys.executable, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def search(folder, *arguments, seconds=180, env=None):
    """Run a search to its end."""
    command = ("capacity", "--users", *QUICK, "--no-progress", *arguments)
    return Ended(begin(folder, *command, env=env), seconds)


class Service:
    """A service that responds to so many requests a second, one at a time."""

    def __init__(self, per_s):
        self._per_s = per_s

    def __enter__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        words = [PROGRAM, "serve", "--listen", f"127.0.0.1:{port}", "--counters", "1", "--limit"]
        self._process = subprocess.Popen([*words, str(self._per_s)], stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the service does not listen")

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()


def test_users_who_wait_are_found_up_to_where_they_lose_their_pace(tmp_path):
    write(tmp_path, WAITING)
    saved = tmp_path / "search.run"
    page = tmp_path / "page.svg"
    with Service(40) as service:
        ended = search(
            tmp_path, "-f", "locustfile.py", "-H", service.url, "-o", "json",
            "--save", str(saved), "--svg", str(page), "--", "Visitor",
        )
    report = json.loads(ended.out)
    # A user makes a request each 0.525 s at best, so 21 users ask for all that there is. At 24 or
    # more each would have to wait for more than a ninth of that. Half as many need no luck.
    assert 10 <= report["answer"]["level"] <= 24, (report["answer"], ended.err)
    assert ended.code == 0, ended.err
    assert page.read_text().startswith("<svg")
    shown = Ended(begin(tmp_path, "report", str(saved), "-o", "json"))
    assert json.loads(shown.out)["answer"] == report["answer"]
    trial = Ended(begin(tmp_path, "report", str(saved), "--run", "2"))
    assert trial.out.startswith(f"script locustfile.py at {service.url}"), trial.out


def test_with_checks_users_may_lose_their_pace(tmp_path):
    write(tmp_path, WAITING)
    with Service(40) as service:
        ended = search(
            tmp_path, "-f", "locustfile.py", "-H", service.url, "-o", "json", "--max-users", "60",
            "--check", "p99<800ms", "--", "Visitor", "-T", "plain",
        )
    # With U users a response takes U / 40 - 0.5 s, which is 0.8 s with 52.
    assert 28 <= json.loads(ended.out)["answer"]["level"] <= 56, (ended.out, ended.err)


def test_a_failure_of_the_locustfile_is_one_of_the_search(tmp_path):
    write(tmp_path, """
        from locust import FastHttpUser, constant, task

        class Doubter(FastHttpUser):
            wait_time = constant(0.05)

            @task
            def doubt(self):
                with self.client.get("/", catch_response=True) as response:
                    response.failure("too good to be true")
    """)
    with Service(1000) as service:
        ended = search(tmp_path, "-f", "locustfile.py", "-H", service.url)
    assert ended.code == 1, ended.err
    assert "errors<0.1% fails even at 1 user" in ended.out


def test_ctrl_c_ends_the_search_with_what_is_known(tmp_path):
    write(tmp_path, WAITING)
    with Service(1000) as service:
        process = begin(tmp_path, "capacity", "--users", "-f", "locustfile.py", "-H", service.url,
                        "--", "Visitor")
        await_line(process, "trial   2", "stderr")
        process.send_signal(signal.SIGINT)
        ended = Ended(process)
    assert ended.code == 130, ended.err
    assert "interrupted" in ended.err and "load line: " in ended.out


def test_a_locustfile_that_ends_its_test_ends_the_search(tmp_path):
    write(tmp_path, """
        from locust import FastHttpUser, constant, task

        class Quitter(FastHttpUser):
            wait_time = constant(0.5)

            @task
            def quit(self):
                self.client.get("/")
                self.environment.runner.quit()
    """)
    with Service(1000) as service:
        ended = search(tmp_path, "-f", "locustfile.py", "-H", service.url)
    assert ended.code == 2
    assert "The locustfile ended the test: a search needs users who go on." in ended.err


HOST = ("-H", "http://127.0.0.1:9")

REFUSALS = [
    (("-f", "missing.py", *HOST), "Could not find 'missing.py'."),
    (("-f", "broken.py", *HOST), "Could not load the locustfile"),
    (("-f", "empty.py", *HOST), "No User class found!"),
    (("-f", "locustfile.py"), "No host is given: add -H"),
    (("-f", "locustfile.py", *HOST, "--", "Nobody"), "Unknown User(s): Nobody"),
    (("-f", "locustfile.py", *HOST, "--", "--processes", "2"), "in one process"),
    (("-f", "locustfile.py", *HOST, "--", "--nonsense"), "unrecognized arguments: --nonsense"),
]


@pytest.mark.parametrize("words, sentence", REFUSALS)
def test_what_the_locustfile_lacks_is_said_in_a_sentence(tmp_path, words, sentence):
    write(tmp_path, WAITING)
    write(tmp_path, "raise ValueError('no')", name="broken.py")
    write(tmp_path, "import os", name="empty.py")
    ended = search(tmp_path, *words, seconds=30)
    assert ended.code == 2
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_without_python_a_sentence_says_what_to_install(tmp_path):
    write(tmp_path, WAITING)
    env = {"LOADLINE_PYTHON": str(tmp_path / "python3")}
    ended = search(tmp_path, "-f", "locustfile.py", *HOST, env=env, seconds=30)
    assert ended.code == 2
    assert "locustfiles need Python 3.10 or newer" in ended.err
