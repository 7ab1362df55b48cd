"""The web page: Locust's endpoints beside the real Locust's, and what a test does behind them."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from command_support import Server, await_line, changes_of, native_command, report_of, write
from web_exchanges import LOCUSTFILE, exchanges
from web_support import Page, open_locust, real_locust

# What the real Locust 2.47 answered; GENERATE=1 writes it, where that one is at hand.
RECORD = pathlib.Path(__file__).parent / "web_locust.json"

VISITOR = """
    from locust import HttpUser, LoadTestShape, User, constant, events, task

    class Visitor(HttpUser):
        wait_time = constant(0.05)

        @task
        def front(self):
            self.client.get("/")
"""
PREPARES = """
    import time

    @events.test_start.add_listener
    def prepare(environment, **kwargs):
        time.sleep(0.5)
"""


@pytest.fixture
def server():
    with Server() as started:
        yield started


def test_every_endpoint_answers_as_locust_does(tmp_path, server):
    write(tmp_path, LOCUSTFILE)
    with Page(tmp_path) as page:
        ours = exchanges(page, server.url)
    if real_locust():
        with open_locust(tmp_path) as page:
            real = exchanges(page, server.url)
        if os.environ.get("GENERATE"):
            RECORD.write_text(json.dumps(real, indent=1, sort_keys=True) + "\n")
        assert ours == real
    recorded = json.loads(RECORD.read_text())
    assert ours == recorded


def test_a_test_is_started_changed_stopped_and_started_again(tmp_path, server):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url) as page:
        assert page.figures()["state"] == "ready"
        assert page.swarm(4)["success"]
        first = page.until_figures(lambda one: one["stats"][-1]["num_requests"] > 20)
        assert [one["name"] for one in first["stats"]] == ["/", "Aggregated"]
        assert first["user_count"] == 4
        for users in (7, 1):
            page.swarm(users)
            page.until_figures(lambda one: one["user_count"] == users)
        assert page.post("/stop").json() == {"success": True, "message": "Test stopped"}
        stopped = page.figures()
        assert (stopped["state"], stopped["user_count"]) == ("stopped", 0)
        before = stopped["stats"][-1]["num_requests"]
        assert before > 20
        page.swarm(2, run_time="1s")
        page.until_state("running")
        page.until_state("stopped")
        again = page.until_figures(lambda one: one["state"] == "stopped")
        assert 2 <= again["stats"][-1]["num_requests"] < before
        code, _ = page.end()
    assert code == 0
    assert re.search(r"GET +/ +\d+ +0\(0.00%\)", page.said())
    assert "Shutting down (exit code 0)" in page.said()


# These tests last longer than the page keeps figures, which is 2 s.
def test_a_change_of_the_load_leaves_the_run_time_alone(tmp_path, server):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url) as page:
        page.swarm(1, run_time="5s")
        page.swarm(2)
        page.until_figures(lambda one: one["user_count"] == 2)
        page.until_state("stopped")


def test_a_change_of_the_load_before_the_test_runs_leaves_the_run_time_alone(tmp_path, server):
    write(tmp_path, VISITOR + PREPARES)
    with Page(tmp_path, "-H", server.url) as page:
        page.swarm(1, run_time="5s")
        page.swarm(2)
        page.until_figures(lambda one: one["user_count"] == 2)
        page.until_state("stopped")


@pytest.mark.parametrize("words", [[], ["--processes", "2"]])
def test_users_that_start_after_a_change_of_the_host_go_there(tmp_path, server, words):
    write(tmp_path, VISITOR)
    with Server() as other, Page(tmp_path, "-H", server.url, *words) as page:
        page.swarm(2)
        page.until_figures(lambda one: one["stats"][-1]["num_requests"] > 4)
        assert other.count() == 0
        assert page.swarm(4, host=other.url)["host"] == other.url
        page.until(lambda: other.count() > 4, "the other host gets nothing")
        assert page.template_args()["host"] == other.url


@pytest.mark.parametrize("words", [[], ["--processes", "2"]])
def test_a_missing_host_is_said_by_the_field_that_lacks_it(tmp_path, words):
    write(tmp_path, VISITOR)
    with Page(tmp_path, *words) as page:
        page.swarm(1)
        page.until(lambda: "fill in the field Host of the page" in page.said(), "nothing is said")
        assert "command line" not in page.said()


def test_failures_and_exceptions_are_shown_and_in_the_exit_code(tmp_path, server):
    write(tmp_path, LOCUSTFILE)
    with Page(tmp_path, "-H", server.url) as page:
        page.swarm(2)
        told = page.until_figures(lambda one: one["errors"])
        assert told["errors"][0]["name"] == "/missing"
        assert 0 < told["fail_ratio"] < 1
        rows = page.get("/exceptions").json()["exceptions"]
        assert (rows[0]["msg"], rows[0]["nodes"]) == ("thrown", "local")
        assert "in throw" in rows[0]["traceback"]
        assert "ValueError: thrown" in "".join(page.get("/logs").json()["master"])
        assert "thrown" in page.get("/exceptions/csv").text
        assert "Failures Statistics" in page.get("/stats/report").text
        assert page.post("/stats/reset").text == "ok"
        page.until_figures(lambda one: one["errors"])
        code, _ = page.end()
    assert code == 1


OPTIONS = VISITOR + """
    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--words", default="a b", help="some text")
        parser.add_argument("--number", type=int, default=3)
        parser.add_argument("--several", is_multiple=True, choices=["x", "y", "z"], default=["x"])
        parser.add_argument("--flag", action="store_true")
        parser.add_argument("--secret", is_secret=True, default="s")

    @events.test_start.add_listener
    def say(environment, **kwargs):
        known = environment.parsed_options
        print(known.words, known.number, known.several, known.flag, known.secret,
              known.html_file, environment.host, environment.profile, flush=True)
"""


def test_options_of_a_locustfile_are_fields_of_the_form(tmp_path, server):
    write(tmp_path, OPTIONS)
    with Page(tmp_path) as page:
        known = page.template_args()["extra_options"]
        assert known["secret"]["is_secret"] and known["several"]["choices"] == ["x", "y", "z"]
        wrong = page.swarm(1, number="seven", host=server.url)
        assert (wrong["success"], wrong["message"]) == (
            False, "Invalid number value: 'seven' (must be int)")
        assert page.figures()["state"] == "ready"
        page.swarm(1, host=server.url, words="c", number="7", several=["y", "z"], flag="true",
                   profile="night", html_file="written.html")
        assert await_line(page.process, ".*")[0] == (
            f"c 7 ['y', 'z'] True s None {server.url} night")
        page.end()
    # Only what the locustfile added can be set: other options name files.
    assert not (tmp_path / "written.html").exists()


CLASSES = VISITOR + """
    class Other(Visitor):
        weight = 3

        @task
        def other(self):
            self.client.get("/other")

    class Up(LoadTestShape):
        def tick(self):
            return (2, 10) if self.get_run_time() < 1.5 else None
"""


def test_classes_and_shapes_are_picked(tmp_path, server):
    write(tmp_path, CLASSES)
    with Page(tmp_path, "-H", server.url, "--class-picker") as page:
        told = page.template_args()
        assert told["available_user_classes"] == ["Other", "Visitor"]
        assert told["available_shape_classes"] == ["Default", "Up"]
        assert told["available_user_tasks"]["Other"] == ["front", "other"]
        unknown = page.swarm(1, user_classes="Nobody")
        assert unknown["message"] == "Unknown User(s): Nobody"
        assert page.swarm(2, user_classes=["Visitor"])["user_classes"] == ["Visitor"]
        page.until_figures(lambda one: one["user_count"] == 2)
        assert list(page.get("/tasks").json()["total"]) == ["Visitor"]
        page.post("/stop")
        shaped = page.swarm(9, shape_class="Up")
        assert shaped["message"] == "Swarming started using shape class 'Up'"
        page.until_figures(lambda one: one["user_count"] == 2)
        assert set(page.get("/tasks").json()["total"]) == {"Other", "Visitor"}
        page.until_state("stopped")
        assert page.swarm(1)["message"] == "Swarming started"
        page.end()


def test_attributes_of_a_class_are_changed(tmp_path, server):
    write(tmp_path, CLASSES)
    with Page(tmp_path, "-H", server.url, "--class-picker") as page:
        change = {"user_class_name": "Other", "weight": 1, "tasks": ["other"]}
        answer = page.post("/user", json.dumps(change))
        assert (answer.status_code, answer.json()) == (201, {})
        page.swarm(2, user_classes=["Other"])
        told = page.until_figures(lambda one: one["stats"][-1]["num_requests"] > 4)
        assert [one["name"] for one in told["stats"]] == ["/other", "Aggregated"]
        for wrong in ('{"user_class_name": "Nobody"}', "{", "[1]"):
            assert page.post("/user", wrong).status_code == 400
        page.end()


def test_autostart_and_autoquit(tmp_path, server):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url, "--autostart", "-u", "2", "-t", "1", "--autoquit",
              "2") as page:
        page.until_state("stopped")
        code, _ = page.ended()
    assert code == 0
    said = page.said()
    assert said.index("--run-time limit reached, stopping test") < said.index(
        "--autoquit time reached, shutting down")


def test_autostart_alone_leaves_the_page(tmp_path, server):
    write(tmp_path, CLASSES)
    with Page(tmp_path, "-H", server.url, "--autostart") as page:
        page.until_state("stopped")
        page.until(lambda: "leaving web ui running" in page.said(), "the end is not told")
        assert "Shape test completed, stopping test" in page.said()
        assert page.get("/").status_code == 200
        page.end()


def test_a_task_that_quits_ends_the_test_and_leaves_the_page(tmp_path, server):
    write(tmp_path, VISITOR + """
        @task
        def quit(self):
            if self.environment.stats.total.num_requests > 5:
                self.environment.runner.quit()
    """)
    with Page(tmp_path, "-H", server.url) as page:
        for _ in range(2):
            page.swarm(2)
            page.until_state("running")
            page.until_state("stopped")
        assert page.end()[0] == 0


EVENTS = VISITOR + """
    for name in ("init", "test_start", "spawning_complete", "test_stopping", "test_stop",
                 "reset_stats", "quitting", "quit"):
        def listen(name=name):
            getattr(events, name).add_listener(lambda **kwargs: print(name, flush=True))
        listen()

    @events.init.add_listener
    def say(environment, web_ui, **kwargs):
        same = environment.web_ui is web_ui
        print(type(web_ui).__name__, same, web_ui.greenlet, flush=True)
"""


def test_events_in_their_order(tmp_path, server):
    write(tmp_path, EVENTS)
    with Page(tmp_path, "-H", server.url) as page:
        for _ in range(2):
            page.swarm(1)
            page.until_state("running")
            page.post("/stop")
        page.post("/stats/reset")
        code, out = page.end(signal.SIGTERM)
    test = ["test_start", "spawning_complete", "test_stopping", "test_stop"]
    assert out.splitlines() == ["init", "WebUI True None", *test, *test, "reset_stats", "quitting",
                                "quit"]
    assert code == 0 and "Got SIGTERM signal" in page.said()


def test_several_processes_have_a_page(tmp_path, server):
    write(tmp_path, CLASSES + """
    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--path", default="/")

    class Asking(HttpUser):
        wait_time = constant(0.05)

        @task
        def front(self):
            self.client.get(self.environment.parsed_options.path)
    """)
    with Page(tmp_path, "--class-picker", "--processes", "2") as page:
        assert page.get("/worker-count").json() == {"worker_count": 2}
        assert page.template_args()["is_distributed"]
        change = {"user_class_name": "Asking", "tasks": ["front"]}
        assert page.post("/user", json.dumps(change)).status_code == 201
        for path in ("/one", "/two"):
            page.swarm(4, host=server.url, user_classes=["Asking"], path=path)
            told = page.until_figures(
                lambda one: one["user_count"] == 4 and len(one["stats"]) == 2)
            assert told["stats"][0]["name"] == path
            assert [one["user_count"] for one in told["workers"]] == [2, 2]
            page.swarm(2)
            page.until_figures(lambda one: one["user_count"] == 2)
            page.post("/stop")
        assert page.end()[0] == 0


def test_files_of_a_test_of_the_page(tmp_path, server):
    native_command()
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url, "--csv", "out/run", "--csv-full-history", "--html",
              "page.html", "--out", "loadline=a.run") as page:
        assert page.get("/stats/requests_full_history/csv").status_code == 404
        for users in (1, 3):
            page.swarm(users, run_time="2s")
            page.until_state("running")
            page.until_state("stopped")
        page.until(lambda: _history(page) > 4, "no history")
        counted = page.figures()["stats"][-1]["num_requests"]
        assert page.end()[0] == 0
    assert "Request Statistics" in (tmp_path / "page.html").read_text()
    # Each test is saved; the tables are those of the last.
    first, second = (report_of(tmp_path / name) for name in ("a.run", "a-2.run"))
    assert second["summary"]["sent"] >= counted > first["summary"]["answered"] > 10


def test_each_test_of_several_processes_is_saved(tmp_path, server):
    native_command()
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url, "--processes", "2", "--out", "loadline=a.run") as page:
        for users in (2, 4):
            page.swarm(users, run_time="2s")
            page.until_state("running")
            page.swarm(users + 1)
            page.until_state("stopped")
        assert page.end()[0] == 0
    assert [changes_of(tmp_path / name) for name in ("a.run", "a-2.run")] == [[3], [5]]
    first, second = (report_of(tmp_path / name) for name in ("a.run", "a-2.run"))
    assert second["summary"]["answered"] > first["summary"]["answered"] > 10
    for run in (first, second):
        assert len(run["summary"]["generator"]["workers"]) == 2
        assert sum(one["sent"] for one in run["intervals"]) == run["summary"]["sent"]


def _history(page):
    answer = page.get("/stats/requests_full_history/csv")
    return len(answer.text.splitlines()) if answer.status_code == 200 else 0


def test_below_a_path(tmp_path):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "--web-base-path", "/load") as page:
        assert page.url().endswith(f":{page.port}/load")
        assert page.get("/load", allow_redirects=False).headers["Location"] == "/load/"
        assert "templateArgs" in page.get("/load/").text
        for name in ("page.css", "page.js", "forms.js", "charts.js"):
            assert page.get(f"/load/assets/{name}").status_code == 200
        assert page.get("/load/assets/../__init__.py").status_code == 404
        assert page.get("/load/assets/..%2ffigures.py").status_code == 404
        assert page.get("/").status_code == 404
        login = page.get("/load/login", allow_redirects=False)
        assert (login.status_code, login.headers["Location"]) == (302, "/load/")


def test_the_page_asks_nobody_else(tmp_path):
    write(tmp_path, VISITOR)
    with Page(tmp_path) as page:
        answer = page.get("/")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy
        nonce = re.search(r"'nonce-(\w+)'", policy)[1]
        assert answer.text.count(f'nonce="{nonce}"') == answer.text.count("<script nonce") == 1
        for name in ("page.css", "page.js", "forms.js", "charts.js"):
            text = page.get(f"/assets/{name}").text
            links = set(re.findall(r"https?://[^\s\"'`]+", answer.text + text))
            assert links <= {"http://www.w3.org/2000/svg"}


def test_only_this_machine_is_served_and_the_log_says_how_to_open_it(tmp_path):
    write(tmp_path, VISITOR)
    with Page(tmp_path) as page:
        assert page.url() == f"http://127.0.0.1:{page.port}"
        assert "--web-host 0.0.0.0 opens it to others" in page.said()
        port = f"{page.port:04X}"
        listening = [line.split()[1] for line in pathlib.Path("/proc/net/tcp").read_text()
                     .splitlines() if f":{port} " in line and " 0A " in line]
        assert listening == [f"0100007F:{port}"]


def test_beyond_this_machine_the_token_is_needed(tmp_path):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "--web-host", "*") as page:
        token = re.search(r"\?token=([0-9a-f]{32})$", page.url())[1]
        assert page.get("/").status_code == 401
        assert page.post("/stop", headers={"Authorization": "Bearer x"}).status_code == 401
        assert page.get("/?token=0").status_code == 401
        bearer = {"Authorization": f"Bearer {token}"}
        assert page.post("/stop", headers=bearer).status_code == 200
        welcome = page.get(f"/?tab=logs&token={token}", allow_redirects=False)
        assert (welcome.status_code, welcome.headers["Location"]) == (303, "/?tab=logs")
        assert "HttpOnly; SameSite=Strict" in welcome.headers["Set-Cookie"]
        assert page.get("/").status_code == 200  # the session keeps the cookie
        elsewhere = page.get(f"//evil.example/?token={token}", allow_redirects=False)
        assert elsewhere.headers["Location"] == "/evil.example/"


@pytest.mark.parametrize("path, fields, body, status", [
    ("/stop", {"Host": "evil.example"}, "", 403),
    ("/stop", {"Host": "203.0.113.7"}, "", 403),
    ("/stop", {"Origin": "http://evil.example"}, "", 403),
    ("/stop", {"Origin": "null"}, "", 403),
    ("/swarm", {}, "x" * 1_000_001, 413),
    ("/swarm", {"Content-Length": "-1"}, "", 400),
    ("/stop", {"Origin": "http://127.0.0.1:PORT"}, "", 200),
    ("/stop", {"Host": "localhost:PORT", "Origin": "http://localhost:PORT"}, "", 200),
])
def test_requests_of_others_change_nothing(tmp_path, path, fields, body, status):
    write(tmp_path, VISITOR)
    with Page(tmp_path) as page:
        fields = {name: text.replace("PORT", str(page.port)) for name, text in fields.items()}
        assert page.post(path, body, headers=fields).status_code == status
        assert page.figures()["state"] == "ready"


def test_a_multipart_form_starts_a_test(tmp_path, server):
    write(tmp_path, VISITOR)
    with Page(tmp_path) as page:
        fields = {"user_count": "1", "spawn_rate": "1", "host": server.url}
        answer = page.post("/swarm", files={name: (None, one) for name, one in fields.items()})
        assert answer.json() == {"success": True, "message": "Swarming started",
                                 "host": server.url}
        page.end()


def test_a_taken_port_is_one_sentence(tmp_path):
    write(tmp_path, VISITOR)
    with Page(tmp_path) as page:
        with pytest.raises(AssertionError) as found:
            with Page(tmp_path, "--web-port", str(page.port)):
                pass
        assert re.search(r"can't be served at 127.0.0.1:\d+: Address already in use.*\. "
                         "Choose another port with --web-port.", str(found.value))
        assert "Traceback" not in str(found.value)


def test_the_page_with_tls(tmp_path):
    write(tmp_path, VISITOR)
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=a -keyout k -out c"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    with Page(tmp_path, "--tls-cert", "c", "--tls-key", "k") as page:
        assert page.url().startswith("https://127.0.0.1:")
        page.base = page.base.replace("http:", "https:")
        page.session.verify = False
        with pytest.warns(Warning):
            assert page.get("/stats/requests").json()["state"] == "ready"


FLASK = VISITOR + """
    import sys

    @events.init.add_listener
    def add(environment, web_ui, **kwargs):
        BEFORE
        from flask import jsonify, render_template, request

        @web_ui.app.route("/mine")
        @web_ui.auth_required_if_enabled
        def mine():
            return "mine"

        @web_ui.app.after_request
        def more(response):
            if request.path == "/stats/requests":
                rows = [{"name": "row", "value": 17}]
                more = {**response.json, "extended_stats": [{"key": "mine", "data": rows}]}
                response.set_data(jsonify(more).get_data())
            return response

        @web_ui.app.route("/extend")
        def extend():
            web_ui.update_template_args()
            columns = [{"key": "name", "title": "Name"}, {"key": "value", "title": "Value"}]
            return render_template("index.html", template_args={
                **web_ui.template_args,
                "extended_tabs": [{"key": "mine", "title": "My own"}],
                "extended_tables": [{"key": "mine", "structure": columns}],
                "extended_csv_files": [{"href": "/mine", "title": "My file"}],
            })
"""


def test_without_flask_a_sentence_names_it(tmp_path):
    write(tmp_path, FLASK.replace("BEFORE", "sys.modules['flask'] = None; web_ui.app"))
    with pytest.raises(AssertionError) as found:
        with Page(tmp_path):
            pass
    assert "environment.web_ui.app needs the Python package flask" in str(found.value)
    assert "pip install flask" in str(found.value)


def test_routes_that_a_locustfile_adds(tmp_path, server):
    pytest.importorskip("flask")
    write(tmp_path, FLASK.replace("BEFORE", "pass"))
    with Page(tmp_path, "-H", server.url) as page:
        assert page.get("/mine").text == "mine"
        assert page.figures()["extended_stats"][0]["key"] == "mine"
        assert "templateArgs" in page.get("/").text
        assert page.get("/assets/page.js").status_code == 200
        assert page.swarm(2)["message"] == "Swarming started"
        page.until_figures(lambda one: one["user_count"] == 2)
        assert page.get("/stop").status_code == 405
        assert page.post("/stop").json()["message"] == "Test stopped"
        assert page.post("/user", '{"user_class_name": "Visitor"}').status_code == 201
        page.end()


LOGIN = VISITOR + """
    from flask import Blueprint, redirect, request, session, url_for
    from flask_login import UserMixin, login_user

    class Somebody(UserMixin):
        def get_id(self):
            return "somebody"

    @events.init.add_listener
    def add(environment, web_ui, **kwargs):
        web_ui.login_manager.user_loader(lambda _name: Somebody())
        web_ui.app.config["SECRET_KEY"] = "secret"
        web_ui.auth_args = {"username_password_callback": "/login_submit"}
        auth = Blueprint("auth", "auth")

        @auth.route("/login_submit", methods=["POST"])
        def submit():
            if request.form.get("password") == "right":
                login_user(Somebody())
                return redirect(url_for("locust.index"))
            session["auth_error"] = "Invalid username or password"
            return redirect(url_for("locust.login"))

        web_ui.app.register_blueprint(auth)
"""


def test_a_login_is_asked_for(tmp_path):
    pytest.importorskip("flask_login")
    write(tmp_path, LOGIN)
    with Page(tmp_path, "--web-login", "--web-host", "0.0.0.0") as page:
        assert "token" not in page.url()
        asked = page.get("/")
        assert asked.url.startswith(page.base + "/login")
        assert "/login_submit" in asked.text
        assert page.get("/stats/requests", allow_redirects=False).status_code == 302
        assert page.post("/stop", allow_redirects=False).status_code == 302
        wrong = page.post("/login_submit", {"username": "a", "password": "wrong"})
        assert "Invalid username or password" in wrong.text
        right = page.post("/login_submit", {"username": "a", "password": "right"})
        assert "templateArgs" in right.text
        assert page.post("/stop").json()["success"]


OWN_FORM = LOGIN.replace('{"username_password_callback": "/login_submit"}', """{
            "custom_form": {
                "inputs": [
                    {"label": "Your name", "name": "user", "is_required": True},
                    {"label": "Team", "name": "team", "choices": ["red", "blue"],
                     "default_value": "blue"},
                    {"label": "Rights", "name": "rights", "choices": ["read", "write"],
                     "is_multiple": True, "default_value": ["read", "write"]},
                    {"label": "Admin", "name": "admin", "default_value": True},
                    {"label": "Age", "name": "age", "type": "number", "default_value": 7},
                    {"label": "Secret", "name": "password", "is_secret": True},
                ],
                "callback_url": "/login_submit",
                "submit_button_text": "Let me in",
            },
            "auth_providers": [
                {"label": "Elsewhere", "callback_url": "/login/elsewhere",
                 "icon_url": "https://icons.example/a.png"},
                {"label": "Here", "callback_url": "/login/here",
                 "icon_url": "data:image/gif;base64,R0lGODlhAQABAAAAACw="},
            ],
        }""").replace('if request.form.get("password") == "right":', """
            told = [request.form.get(name) for name in ("user", "team", "admin", "age")]
            right = [["anna", "blue", "on", "7"], ["read", "write"], "right"]
            if [told, request.form.getlist("rights"), request.form.get("password")] == right:
""")


def test_a_login_has_a_form_of_its_own(tmp_path):
    pytest.importorskip("flask_login")
    write(tmp_path, OWN_FORM)
    form = {"user": "anna", "team": "blue", "rights": ["read", "write"], "admin": "on", "age": "7"}
    with Page(tmp_path, "--web-login") as page:
        assert "Let me in" in page.get("/login").text
        wrong = page.post("/login_submit", {**form, "password": "wrong"})
        assert "Invalid username or password" in wrong.text
        right = page.post("/login_submit", {**form, "password": "right"})
        assert "templateArgs" in right.text


def test_figures_are_the_same_for_all_who_ask_within_two_seconds(tmp_path, server):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url) as page:
        page.swarm(2)
        page.until_figures(lambda one: one["stats"][-1]["num_requests"] > 5)
        time.sleep(2.1)
        texts = {page.get("/stats/requests").text for _ in range(5)}
        assert len(texts) == 1
        page.end()


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)


def test_notes_are_in_the_charts_and_in_the_file_of_their_test(tmp_path, server):
    write(tmp_path, VISITOR)
    with Page(tmp_path, "-H", server.url, "--out", "loadline=a.run") as page:
        def note(text, **more):
            return page.post("/loadline/note", {"text": text, **more})

        early = note("early")
        assert (early.status_code, "No test" in early.text) == (422, True)
        page.swarm(2)
        page.until_state("running")
        kept = note(" deployed\n")
        assert (kept.status_code, kept.json()["text"]) == (201, "deployed")
        for refused in (note(" "), note("a", at="soon"), note("a", at="nan")):
            assert refused.status_code == 422, refused.text
        page.swarm(3)
        assert page.post("/stop").json()["success"]
        note("late")
        page.swarm(1)
        page.until_state("running")
        assert note("again", at="9e9").status_code == 201, "the future is now"
        told = page.get("/loadline/notes").json()["notes"]
        if BROWSER:
            drawn = drawn_by_browser(tmp_path, f"{page.base}/?tab=charts")
            assert drawn.count('<line class="note"') == 3 * len(told), drawn
            assert "<title>deployed</title>" in drawn
        code, _ = page.end()
    assert code == 0, page.said()
    assert [one["text"] for one in told] == [
        "deployed", "Load changed to 3 users", "Stopped", "late", "Test 2 started", "again"]
    texts = {name: [one["text"] for one in report_of(tmp_path / name)["summary"]["notes"]]
             for name in ("a.run", "a-2.run")}
    assert texts == {"a.run": ["deployed", "late"], "a-2.run": ["again"]}
    assert changes_of(tmp_path / "a.run") == [3]
    assert changes_of(tmp_path / "a-2.run") == []


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
@pytest.mark.parametrize("tab, words", [
    ("stats", ["# Requests", "95%ile (ms)", "/missing", "Aggregated"]),
    ("charts", ["Total Requests per Second", "95th percentile", "<polyline"]),
    ("failures", ["# Failures", "404 Client Error"]),
    ("exceptions", ["thrown", "in throw"]),
    ("ratios", ["Ratio Per Class", "75.0 % front"]),
    ("logViewer", ["All users spawned"]),
    ("reports", ["Download requests CSV"]),
])
def test_a_browser_draws_the_page(tmp_path, server, tab, words):
    write(tmp_path, LOCUSTFILE)
    with Page(tmp_path, "-H", server.url, "--autostart", "-u", "3", "-r", "10") as page:
        page.until_figures(lambda one: one["errors"])
        drawn = drawn_by_browser(tmp_path, f"{page.base}/?tab={tab}")
        page.end()
    for word in [*words, "Stop", server.url]:
        assert word in drawn, drawn


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_a_browser_draws_the_form(tmp_path):
    write(tmp_path, LOCUSTFILE + """
    class Up(LoadTestShape):
        def tick(self):
            return None
    """)
    with Page(tmp_path, "--class-picker") as page:
        drawn = drawn_by_browser(tmp_path, page.base + "/")
        page.end()
    for word in ('name="user_count"', 'name="spawn_rate"', 'name="host"', 'name="run_time"',
                 'name="user_classes"', 'name="shape_class"', 'name="plain"', 'type="password"',
                 'name="choice"', "Start a test"):
        assert word in drawn, drawn
    assert 'name="hidden"' not in drawn


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_a_browser_draws_what_a_locustfile_adds(tmp_path, server):
    pytest.importorskip("flask")
    write(tmp_path, FLASK.replace("BEFORE", "pass"))
    with Page(tmp_path, "-H", server.url, "--autostart") as page:
        page.until_figures(lambda one: len(one["stats"]) > 1)
        for tab, words in (("mine", ["My own", "Value", "17"]), ("reports", ["My file"])):
            drawn = drawn_by_browser(tmp_path, f"{page.base}/extend?tab={tab}")
            for word in words:
                assert word in drawn, drawn
        page.end()


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_a_browser_draws_the_form_of_a_login(tmp_path):
    pytest.importorskip("flask_login")
    write(tmp_path, OWN_FORM)
    with Page(tmp_path, "--web-login") as page:
        drawn = drawn_by_browser(tmp_path, f"{page.base}/login")
    for word in ('name="user" autocomplete="off" type="text" required', ">red<", ">blue<",
                 'name="rights" multiple', 'type="checkbox" name="admin"', 'type="number"',
                 'type="password"', ">Let me in<", 'href="/login/elsewhere"',
                 'src="data:image/gif'):
        assert word in drawn, drawn
    assert "icons.example" not in drawn.partition("<body>")[2]


def drawn_by_browser(folder, url):
    """What a browser makes of a page, which must have no error of a script."""
    words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
             "--virtual-time-budget=6000", "--enable-logging=stderr", "--dump-dom", url]
    told = subprocess.run([BROWSER, *words], capture_output=True, text=True, timeout=60)
    wrong = [line for line in told.stderr.splitlines() if ":CONSOLE" in line]
    assert wrong == []
    return told.stdout
