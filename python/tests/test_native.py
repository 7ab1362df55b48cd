"""The engine's extension below gevent: waits, kills, threads, forks, counts."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from gevent import monkey

monkey.patch_all()  # as the command does, before anything imports ssl

import gevent
import pytest
from gevent.pool import Pool
from gevent.server import StreamServer

FOLDER = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(FOLDER))

native = pytest.importorskip("loadline._native", reason="the extension is not built")


def _answer(path, head, body):
    if path == b"/redirect":
        return b"302 Found", [b"Location: /", b"Set-Cookie: a=b; Path=/"], b""
    if path == b"/500":
        return b"500 Internal Server Error", [], b"no"
    if path == b"/echo":
        return b"200 OK", [], head + b"\r\n\r\n" + body
    if path == b"/slow":
        gevent.sleep(2)
    return b"200 OK", [b"X-A: b"], b"ok"


def _serve(socket, _address):
    stream = socket.makefile("rwb", buffering=0)
    while True:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = stream.readline()
            if not byte:
                return
            head += byte
        lengths = [line for line in head.lower().split(b"\r\n") if b"content-length:" in line]
        body = stream.read(int(lengths[0].split(b":")[1])) if lengths else b""
        path = head.split()[1]
        status, fields, answer = _answer(path, head.strip(), body)
        fields = [*fields, b"Content-Length: %d" % len(answer)]
        stream.write(b"HTTP/1.1 " + status + b"\r\n" + b"\r\n".join(fields) + b"\r\n\r\n" + answer)


@pytest.fixture(scope="module")
def url():
    server = StreamServer(("127.0.0.1", 0), _serve)
    server.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.stop()


@pytest.fixture(autouse=True)
def _no_hook_of_other_tests():
    native.on_request(None)  # there is one for the whole process


class Client(native.Client):
    """A client whose failures are plain."""

    def __init__(self, url, stats, flavour="requests"):
        native.Client.__init__(self, url, stats=stats, flavour=flavour)
        self.set_default_headers([("User-Agent", "test")])
        self.composed = []

    def _failure(self, response):
        return response.native_error or ValueError(response.status_code)

    def _compose(self, method, url, given):
        self.composed.append((method, url, given))


@pytest.fixture
def stats():
    return native.Stats()


@pytest.fixture
def client(url, stats):
    return Client(url, stats)


def _counts(stats):
    return {(e.method, e.name): (e.num_requests, e.num_failures) for e in stats.entries()}


def test_a_plain_call_is_sent_and_counted(client, stats):
    response = client.get("/")
    assert (response.status_code, response.content, response.reason) == (200, b"ok", "OK")
    assert response.headers_list == [("X-A", "b"), ("Content-Length", "2")]
    assert _counts(stats) == {("GET", "/"): (1, 0)}
    entry = stats.entry("GET", "/")
    assert entry.total_content_length == 2
    assert 0 < entry.total_response_time == response.response_time_ms


def test_names_bodies_and_headers(client, stats):
    client.get("/echo", name="named")
    client.request_name = "all"
    sent = client.post("/echo", json={"a": [1]}, headers={"X-B": "c"}).content
    client.request_name = None
    assert b"X-B: c\r\nContent-Type: application/json\r\nContent-Length: 10" in sent
    assert sent.endswith(b'{"a": [1]}')
    assert set(_counts(stats)) == {("GET", "named"), ("POST", "all")}


def test_what_is_not_plain_is_left_to_python(client, stats):
    client.get("/", files={"a": 1})
    client.get("/a b")
    client.get("/", headers={"a": 1})
    client.get("http:///nowhere")
    client.request("get", "/")
    assert [call[:2] for call in client.composed] == [
        ("GET", "/"),
        ("GET", "/a b"),
        ("GET", "/"),
        ("GET", "http:///nowhere"),
        ("get", "/"),
    ]
    assert client.composed[0][2] == {"files": {"a": 1}}
    assert _counts(stats) == {}


def test_places_of_arguments_are_those_of_the_client(url, stats):
    fast = Client(url, stats, "fast")
    sent = fast.request("POST", "/echo", "n", "text", False, False, {"X": "y"}).content
    assert b"X: y\r\nContent-Type: text/plain; charset=utf-8" in sent
    plain = Client(url, stats)
    caught = plain.request("GET", "/", None, True, {"k": 1})
    assert (caught._caught, caught._context) == (True, {"k": 1})
    with pytest.raises(TypeError):
        plain.request("GET", "/", None, True, {}, "too much")


def test_redirects_and_cookies(client):
    response = client.get("/redirect")
    assert (response.status_code, response.content) == (200, b"ok")
    assert [earlier.status_code for earlier in response.history] == [302]
    assert [row[:2] for row in client.cookies()] == [("a", "b")]
    assert b"Cookie: a=b" in client.get("/echo").content
    client.set_cookie("x", "y")
    assert b"Cookie: a=b; x=y" in client.get("/echo").content
    client.clear_cookies()
    assert b"Cookie" not in client.get("/echo").content
    assert client.get("/redirect", allow_redirects=False).status_code == 302


def test_failures_are_counted_and_told(client, url, stats):
    told = []
    stats.on_failure = lambda method, name, error: told.append((method, name, str(error)))
    client.get("/500")
    refused = Client("http://127.0.0.1:1", stats).get("/")
    assert (refused.status_code, refused.content) == (0, None)
    assert (refused.native_error.kind, refused.native_error.errno) == ("connect", 111)
    late = client.get("/slow", timeout=0.05)
    assert (late.native_error.kind, late.native_error.limit) == ("timeout", 0.05)
    assert told[0] == ("GET", "/500", "500")
    assert _counts(stats) == {
        ("GET", "/500"): (1, 1),
        ("GET", "/"): (1, 1),
        ("GET", "/slow"): (1, 1),
    }


def test_a_caught_response_is_counted_once_as_it_is_told(client, stats):
    heard = []
    native.on_request(lambda response, error: heard.append((response.status_code, error)))
    try:
        caught = client.get("/500", catch_response=True)
        assert _counts(stats) == {}
        caught._report(True)
        caught._report(None)
        client.get("/", catch_response=True)._report(ValueError("wrong"))
    finally:
        native.on_request(None)
    client.get("/")
    assert _counts(stats) == {("GET", "/500"): (1, 0), ("GET", "/"): (2, 1)}
    assert [(status, str(error)) for status, error in heard] == [(500, "None"), (200, "wrong")]


def test_several_greenlets_share_a_client(client, stats):
    responses = Pool(8).map(client.get, ["/"] * 200)
    assert {response.status_code for response in responses} == {200}
    assert stats.total().num_requests == 200


def test_a_timeout_of_gevents_gives_a_request_up(client, url, stats):
    with pytest.raises(gevent.Timeout), gevent.Timeout(0.05):
        client.get("/slow")
    assert client.get("/").status_code == 200
    fast = Client(url, stats, "fast")
    with gevent.Timeout(0.05) as timeout:
        given_up = fast.get("/slow")
    assert given_up.native_error.kind == "interrupted"
    assert given_up.native_error.cause is timeout
    assert stats.entry("GET", "/slow").num_requests == 1


def test_ten_thousand_killed_greenlets_leave_nothing_behind(client, stats):
    def open_files():
        return len(os.listdir("/proc/self/fd"))

    client.get("/")
    before = open_files()
    for _ in range(100):
        greenlets = [gevent.spawn(client.get, "/slow") for _ in range(100)]
        gevent.sleep(0)
        gevent.killall(greenlets)
    deadline = time.monotonic() + 20
    while open_files() > before + 5 and time.monotonic() < deadline:
        gevent.sleep(0.05)
    assert open_files() <= before + 5
    assert stats.total().num_requests == 1
    assert client.get("/").status_code == 200


def test_calls_that_can_not_wait_are_refused(client, stats):
    said = gevent.get_hub().threadpool.apply(_refusal, (client,))
    assert "came from another one: start the work with gevent.spawn" in said
    refused = []
    gevent.get_hub().loop.run_callback(lambda: refused.append(_refusal(client)))
    gevent.sleep(0.01)
    assert "the event loop itself can't wait" in refused[0]
    assert stats.total().num_requests == 0


def _refusal(client):
    try:
        client.get("/")
    except RuntimeError as e:
        return str(e)


def test_pauses_are_on_time_and_can_be_killed():
    begun = time.perf_counter()
    native.sleep(0.02)
    assert time.perf_counter() - begun >= 0.02
    sleeper = gevent.spawn(native.sleep, 100)
    gevent.sleep(0)
    sleeper.kill()
    assert sleeper.dead
    with pytest.raises(ValueError):
        native.sleep(float("nan"))


def test_a_blocked_hub_is_found_with_its_line(client):
    client.get("/")
    gevent.sleep(0.05)
    before = native.hub_lag()["times"]
    end = time.perf_counter() + 0.3
    while time.perf_counter() < end:
        pass
    gevent.sleep(0.1)
    lag = native.hub_lag()
    assert lag["times"] == before + 1
    assert lag["max_ms"] > 150
    assert "in test_a_blocked_hub_is_found_with_its_line" in lag["last"]


def test_a_child_has_an_engine_of_its_own(client):
    client.get("/")
    for _ in range(2):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if client.get("/", timeout=10).status_code == 200 else 2
            finally:
                os._exit(code)
        _, status = gevent.os.waitpid(child, 0)
        assert status == 0
    assert client.get("/").status_code == 200


def test_times_are_rounded_as_locust_does(stats):
    for ms in [0.4, 2.5, 3.5, 99.4, 105, 115, 995, 9950, 12345.6]:
        stats.log("GET", "r", ms, 0)
    times = stats.entry("GET", "r").response_times
    assert list(times) == [0, 2, 4, 99, 100, 120, 1000, 10000, 12000]
    stats.bucket = lambda ms: round(ms, 1)
    stats.log("GET", "own", 0.44, 0)
    assert stats.entry("GET", "own").response_times == {0.4: 1}


def test_entries_add_up_reset_and_clear(stats):
    stats.log("GET", "a", None, 5)
    stats.log("GET", "a", 10, 5)
    stats.log_error("GET", "a", "why")
    entry, total = stats.entry("GET", "a"), stats.total()
    assert (entry.num_requests, entry.num_none_requests, entry.num_failures) == (2, 1, 1)
    fields = [name for name in dir(entry) if not name.startswith("_")]
    report = {name: getattr(entry, name) for name in fields if not callable(getattr(entry, name))}
    other = native.Stats().entry("GET", "a")
    other.add(report)
    other.add(json.loads(json.dumps({**report, "response_times": {}})))
    assert (other.num_requests, other.total_response_time) == (4, 20)
    assert (other.min_response_time, other.response_times) == (10, {10: 1})
    stats.reset()
    assert (entry.num_requests, total.num_requests) == (0, 0)
    stats.clear()
    assert stats.entries() == []


def test_a_part_that_sends_nothing_is_lost_in_the_saved_run(tmp_path):
    path, lines = tmp_path / "a.run", [("process 0", native.ReportLine()),
                                       ("process 1", native.ReportLine())]
    for _, line in lines:
        line.keep_receiving()
    recording = native.Recording(str(path), "http://127.0.0.1:9", 2).of_parts(lines)
    assert recording.begin_ns <= time.monotonic_ns()
    recording.end()
    last = path.read_text().splitlines()[-1]
    assert re.search(r"process \d sent no further reports: the last that it told is the "
                     r"interval up to 0\.0 s, and 50% of the load is lost", last), last


def test_a_line_has_one_end_in_a_process():
    line = native.ReportLine()
    line.keep_receiving()
    with pytest.raises(RuntimeError, match="this end of the line is closed"):
        native.Recording.part(line, 0, 1, time.monotonic_ns()).begin()
    with pytest.raises(ValueError, match="a run of 2 processes has no worker 2"):
        native.Recording.part(line, 2, 2, time.monotonic_ns())


def test_a_recording_is_a_saved_run_of_all_that_was_sent(url, tmp_path):
    script = tmp_path / "record.py"
    script.write_text(_RECORD)
    path = tmp_path / "out.run"
    told = subprocess.run(
        [sys.executable, str(script), str(path)],
        env={**os.environ, "PYTHONPATH": str(FOLDER)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.returncode == 0, told.stderr
    header, *intervals, summary = map(json.loads, path.read_text().splitlines())
    assert header["plan"]["load"]["users"] == 2
    assert len(intervals) >= 1
    counts = [interval["counts"] for interval in intervals]
    assert sum(count["answered"] for count in counts) == 20
    assert summary["ended"] == "duration"


_RECORD = """
import sys
import gevent
from gevent.server import StreamServer
from loadline import _native as native

def serve(socket, _):
    while socket.recv(4096):
        socket.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")

server = StreamServer(("127.0.0.1", 0), serve)
server.start()
url = f"http://127.0.0.1:{server.server_port}"
recording = native.Recording(sys.argv[1], url, 2, 1.5)
recording.begin()
clients = [native.Client(url) for _ in range(2)]
for client in clients:
    native.Client.__init__(client, url, flavour="fast")
    for _ in range(10):
        client.get("/a")
gevent.sleep(1.2)
recording.end()
assert clients[0].get("/").status_code == 200
"""
