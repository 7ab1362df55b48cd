"""The page of an environment that a program made, and the rules of its server."""

import re

# First, as it makes `import locust` mean ours, and has gevent patch what requests imports.
from command_support import PACKAGES

import gevent
import locust
import pytest
import requests
from locust.env import Environment
from locust.web import CannotServe, WebUI

from loadline.locust_web.access import Access, is_loopback
from loadline.locust_web.figures import Remembered
from loadline.locust_web.messages import Answer, Request

assert locust.__file__.startswith(PACKAGES)


class Idle(locust.User):
    wait_time = locust.constant(1)

    @locust.task
    def nothing(self):
        pass


@pytest.fixture
def environment():
    made = Environment(user_classes=[Idle])
    made.create_local_runner()
    yield made
    made.runner.quit()


@pytest.fixture
def page(environment):
    made = environment.create_web_ui("127.0.0.1", 0)
    yield made
    made.stop()


def get(page, path):
    return requests.get(page.url + path, timeout=20)


def test_a_program_has_a_page(environment, page):
    assert environment.web_ui is page
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", page.url)
    assert get(page, "/").status_code == 200
    form = {"user_count": 2, "spawn_rate": 100}
    answer = requests.post(page.url + "/swarm", data=form, timeout=20).json()
    assert answer == {"success": True, "message": "Swarming started", "host": None}
    gevent.sleep(0.2)
    assert environment.runner.user_count == 2
    environment.runner.quit()
    assert environment.runner.state == "stopped"
    assert get(page, "/stats/requests").status_code == 200


def test_without_a_runner_there_is_no_page():
    page = WebUI(Environment(), "127.0.0.1", 0)
    answer = get(page, "/")
    assert (answer.status_code, answer.text) == (
        500, "Error: Locust Environment does not have any runner")
    assert get(page, "/stats/requests").json()["state"] == "missing"
    no_runner = requests.post(page.url + "/swarm", data={"user_count": 1}, timeout=20).json()
    assert no_runner == {"success": False, "message": "No runner", "host": None}
    page.stop()


def test_figures_are_rounded_cut_and_remembered(environment, page):
    stats = environment.stats
    stats.log_request("GET", "/<html>", 1.39764125, 2)
    stats.log_request("GET", "/<html>", 999.9764125, 1000)
    stats.log_error("GET", "/<html>", Exception("odd"))
    told = get(page, "/stats/requests").json()
    first, total = told["stats"]
    assert (first["name"], total["name"]) == ("/<html>", "Aggregated")
    assert (first["min_response_time"], first["max_response_time"]) == (1, 1000)
    assert told["errors"][0]["error"] == "Exception('odd')"
    assert told["fail_ratio"] == 0.5
    for number in range(600):
        stats.log_request("GET", f"/{number:03}", 1, 1)
    assert len(get(page, "/stats/requests").json()["stats"]) == 2
    page.routes.remembered.clear_cache()
    told = get(page, "/stats/requests").json()
    assert len(told["stats"]) == 501
    assert told["stats"][-1]["num_requests"] == 602


def test_what_is_remembered_is_made_once_for_all_who_ask():
    made = []

    def make():
        gevent.sleep(0.05)
        made.append(len(made))
        return made[-1]

    remembered = Remembered(make, 60)
    asking = [gevent.spawn(remembered) for _ in range(5)]
    gevent.joinall(asking)
    assert [one.value for one in asking] == [0] * 5
    late = gevent.spawn(remembered)
    remembered.clear_cache()
    gevent.joinall([late])
    late = gevent.spawn(remembered)
    gevent.sleep(0.01)
    remembered.clear_cache()  # while it is made: what is made is as old as what was forgotten
    late.join()
    assert remembered() == late.value + 1


def test_an_address_that_is_no_use():
    with pytest.raises(CannotServe, match="203.0.113.1:1: .*Check --web-host"):
        WebUI(Environment(), "203.0.113.1", 1)


def test_the_login_manager_is_there_with_a_login_only(page):
    with pytest.raises(AttributeError, match="only available with --web-login"):
        page.login_manager


@pytest.mark.parametrize("host, expected", [
    ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("::ffff:127.0.0.1", True),
    ("localhost", True), ("0.0.0.0", False), ("::", False), ("192.0.2.1", False), ("bench", False),
])
def test_what_is_loopback(host, expected):
    assert is_loopback(host) is expected


def status(access, **fields):
    environ = {"REMOTE_ADDR": "127.0.0.1", "SERVER_PORT": "8089", "PATH_INFO": "/", **fields}
    ruling = access.ruling(environ)
    return ruling and ruling.status


@pytest.mark.parametrize("remote, host, expected", [
    ("127.0.0.1", "localhost", None),
    ("127.0.0.1", "LocalHost:8089", None),
    ("127.0.0.1", "127.9.9.9:1", None),
    ("::1", "[::1]:8089", None),
    ("127.0.0.1", "shown.example:8089", None),
    ("127.0.0.1", "evil.example", 403),
    ("127.0.0.1", "localhost.evil.example", 403),
    ("127.0.0.1", "192.0.2.1", 403),
    ("127.0.0.1", "", 403),
    ("192.0.2.9", "192.0.2.1:8089", None),
    ("192.0.2.9", "[2001:db8::1]", None),
    ("192.0.2.9", "evil.example", 403),
])
def test_which_names_the_server_has(remote, host, expected):
    access = Access("127.0.0.1", False, "http://Shown.example:80/x")
    assert status(access, REMOTE_ADDR=remote, HTTP_HOST=host) == expected


@pytest.mark.parametrize("fields, expected", [
    ({}, 401),
    ({"QUERY_STRING": "token="}, 401),
    ({"QUERY_STRING": "tokens=T"}, 401),
    ({"QUERY_STRING": "token=T"}, 303),
    ({"HTTP_COOKIE": "a=b; loadline-8089=T"}, None),
    ({"HTTP_COOKIE": "loadline-8090=T"}, 401),
    ({"HTTP_COOKIE": "loadline-8089=U"}, 401),
    ({"HTTP_COOKIE": "\x00;="}, 401),
    ({"HTTP_AUTHORIZATION": "bearer T"}, None),
    ({"HTTP_AUTHORIZATION": "Bearer"}, 401),
    ({"HTTP_AUTHORIZATION": "Basic T"}, 401),
    ({"HTTP_AUTHORIZATION": "Bearer \u00e9"}, 401),
])
def test_the_token(fields, expected):
    access = Access("0.0.0.0", False)
    assert re.fullmatch("[0-9a-f]{32}", access.token)
    fields = {name: re.sub("T$", access.token, text) for name, text in fields.items()}
    assert status(access, HTTP_HOST="localhost", **fields) == expected


def test_a_login_or_loopback_needs_no_token():
    assert Access("0.0.0.0", True).token is None
    assert Access("127.0.0.1", False).query == ""


def test_fields_of_a_form_in_their_order():
    form = Request("POST", "/", body="b=1&a=%C3%A9&b=2&c=".encode()).form()
    assert list(form) == ["b", "a", "c"]
    assert (form.first("a"), form.all("b"), form.first("c")) == ("é", ["1", "2"], "")
    assert (form.first("d", "x"), form.all("d")) == ("x", [])
    body = ('--B\r\nContent-Disposition: form-data; name="a"\r\n\r\né\r\n'
            '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n2\r\n--B--\r\n').encode()
    form = Request("POST", "/", content_type="multipart/form-data; boundary=B", body=body).form()
    assert form.all("a") == ["é", "2"]


def test_a_field_can_not_begin_another_one():
    answer = Answer("", fields=[("Content-Disposition", "a\r\nSet-Cookie: b=\u20ac")])
    assert ("Content-Disposition", "aSet-Cookie: b=?") in answer.all_fields()
