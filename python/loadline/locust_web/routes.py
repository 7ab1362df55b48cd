"""The endpoints of Locust's web interface, with its paths, statuses, keys and messages."""

import csv
import json
import logging
import os
import time
from io import StringIO
from typing import NamedTuple

import gevent

from locust import stats
from locust.html import get_html_report
from locust.log import get_logs
from locust.runners import MasterRunner
from locust.user.inspectuser import get_ratio
from locust.util.date import format_safe_timestamp

from .figures import Remembered, as_json, figures
from .messages import HTML, JSON, Answer
from .notes import Refused
from .template import asset, rendered

logger = logging.getLogger("locust.web")

# Seconds for which figures are remembered.
_REMEMBERED_SECONDS = 2.0
_CHUNK = 65536
_ASSETS = "/assets/"
_NO_HISTORY = "Error: Server was not started with option to generate full history."
_NO_RUNNER = "Error: Locust Environment does not have any runner"
_REPORT_POLICY = ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")


class Route(NamedTuple):
    """A path, the name of what answers it (Flask knows it by that one too), and its method."""

    path: str
    name: str
    method: str = "GET"
    # Whether everybody may ask, where there is a login.
    is_public: bool = False


ROUTES = (
    Route("/", "index"),
    Route("/swarm", "swarm", "POST"),
    Route("/stop", "stop", "POST"),
    Route("/stats/reset", "reset_stats", "POST"),
    Route("/stats/report", "stats_report"),
    Route("/stats/requests", "request_stats"),
    Route("/stats/requests/csv", "request_stats_csv"),
    Route("/stats/requests_full_history/csv", "request_stats_full_history_csv"),
    Route("/stats/failures/csv", "failures_stats_csv"),
    Route("/exceptions", "exceptions"),
    Route("/exceptions/csv", "exceptions_csv"),
    Route("/tasks", "tasks"),
    Route("/logs", "logs"),
    Route("/login", "login", is_public=True),
    Route("/user", "update_user", "POST"),
    Route("/worker-count", "get_worker_count"),
    # Loadline's own.
    Route("/loadline/notes", "notes"),
    Route("/loadline/note", "write_note", "POST"),
)
_ROUTES = {route.path: route for route in ROUTES}


class Routes:
    """Answers the requests to a page."""

    def __init__(self, page):
        self._page = page
        self._environment = page.environment
        self.remembered = Remembered(lambda: as_json(figures(page.environment)),
                                     _REMEMBERED_SECONDS)

    def answer(self, request):
        """Answer a request."""
        path = request.path
        base = self._page.web_base_path
        if base and path == base:
            return Answer.redirect(base + "/", 308)
        if not path.startswith(base + "/"):
            return _missing(path)
        path = path[len(base):]
        if path.startswith(_ASSETS):
            return self.send_assets(path[len(_ASSETS):])
        route = _ROUTES.get(path)
        if route is None:
            return _missing(path)
        if request.method not in (route.method, "HEAD" if route.method == "GET" else None):
            allowed = "GET, HEAD" if route.method == "GET" else route.method
            return Answer(f"{path} takes {allowed} only.\n", 405, fields=[("Allow", allowed)])
        return self.respond(route, request)

    def respond(self, route, request):
        """Have a request answered by the function of its route."""
        try:
            return getattr(self, route.name)(request)
        except Exception as e:
            logger.error(
                f"UI got request for {request.method} {request.path}, but it resulted in a 500: "
                f"{type(e).__name__}"
            )
            logger.debug("Where it happened:", exc_info=True)
            return Answer(str(e), 500)

    def send_assets(self, name):
        """A file of the page."""
        return asset(name, self._page.build_path) or _missing(_ASSETS + name)

    def index(self, _request):
        """The page."""
        if not self._environment.runner:
            return Answer(_NO_RUNNER, 500)
        self._page.update_template_args()
        return rendered(
            "index.html", self._page.build_path, template_args=self._page.template_args
        )

    def login(self, _request):
        """The page with the login; without one, the page itself."""
        if not self._page.web_login:
            return Answer.redirect(self._page.web_base_path + "/")
        arguments = self._page.auth_args
        title = arguments.get("title", "Locust")
        return rendered(
            "auth.html", self._page.build_path, auth_args=arguments, auth_title=title
        )

    def swarm(self, request):
        """Start a test, or change its load."""
        try:
            return Answer.json(self._page.swarm.begin(request.form()))
        finally:
            self.remembered.clear_cache()

    def stop(self, _request):
        """End the test."""
        self._page.swarm.stop()
        self.remembered.clear_cache()
        return Answer.json({"success": True, "message": "Test stopped"})

    def reset_stats(self, _request):
        """Begin to count anew."""
        runner = self._environment.runner
        self._environment.events.reset_stats.fire()
        if runner is not None:
            runner.stats.reset_all()
            runner.exceptions = {}
        self.remembered.clear_cache()
        return Answer("ok", 200, HTML)

    def stats_report(self, request):
        """The report, to be seen or to be saved."""
        is_download = bool(request.query.first("download"))
        report = get_html_report(
            self._environment,
            show_download_link=not is_download,
            theme=request.query.first("theme", ""),
        )
        fields = [_REPORT_POLICY]
        if is_download:
            fields.append(("Content-Disposition", f"attachment;filename={self._file_name()}.html"))
        return Answer(report, 200, HTML, fields)

    def request_stats(self, _request):
        """The figures."""
        return Answer(self.remembered(), 200, JSON)

    def request_stats_csv(self, _request):
        """The rows of the figures as a file."""
        return self._csv("requests", self._page.stats_csv_writer.requests_csv)

    def failures_stats_csv(self, _request):
        """The failures as a file."""
        return self._csv("failures", self._page.stats_csv_writer.failures_csv)

    def exceptions_csv(self, _request):
        """The exceptions of tasks as a file."""
        return self._csv("exceptions", self._page.stats_csv_writer.exceptions_csv)

    def _csv(self, kind, write):
        text = StringIO()
        write(csv.writer(text))
        return Answer(text.getvalue(), 200, "text/csv", [self._attachment(kind)])

    def request_stats_full_history_csv(self, _request):
        """The file of --csv with the figures of every second."""
        options, writer = self._environment.parsed_options, self._page.stats_csv_writer
        has_history = options and options.stats_history_enabled
        if not (has_history and isinstance(writer, stats.StatsCSVFileWriter)):
            return Answer(_NO_HISTORY, 404, HTML)
        try:
            file = open(writer.stats_history_file_name(), "rb")
        except FileNotFoundError:
            return Answer("The history begins with the first test.\n", 404)
        length = os.fstat(file.fileno()).st_size
        fields = [self._attachment("requests_full_history"), ("Content-Length", str(length))]
        return Answer(_chunks(file, length), 200, "text/csv; charset=utf-8", fields)

    def _attachment(self, kind):
        return "Content-Disposition", f"attachment;filename={self._file_name()}_{kind}.csv"

    def _file_name(self):
        environment = self._environment
        host = f"_{environment.host}" if environment.host else ""
        began = format_safe_timestamp(environment.stats.start_time)
        return f"Locust_{began}_{environment.locustfile}{host}"

    def exceptions(self, _request):
        """The exceptions of tasks."""
        runner = self._environment.runner
        rows = list(runner.exceptions.values()) if runner is not None else []
        return Answer.json({
            "exceptions": [
                {
                    "count": one["count"],
                    "msg": one["msg"],
                    "traceback": one["traceback"],
                    "nodes": ", ".join(one["nodes"]),
                }
                for one in rows
            ]
        })

    def tasks(self, _request):
        """How often each task runs, by the users that there are."""
        runner, classes = self._environment.runner, self._environment.user_classes
        counts = {} if runner is None else runner.user_classes_count
        return Answer.json({
            "per_class": get_ratio(classes, counts, False),
            "total": get_ratio(classes, counts, True),
        })

    def logs(self, _request):
        """The newest lines of the log."""
        return Answer.json({"master": get_logs(), "workers": self._environment.worker_logs})

    def update_user(self, request):
        """Change attributes of a class, from the next start of users on."""
        try:
            self._environment.update_user_class(json.loads(request.body))
        except (TypeError, ValueError) as e:
            return Answer(f"Send attributes of a class as JSON: {e}\n", 400)
        except KeyError as e:
            return Answer(f"There is no such class: {e}. Name one as user_class_name.\n", 400)
        return Answer.json({}, 201)

    def notes(self, _request):
        """The notes on the tests so far."""
        # The clock of a browser may be another one.
        return Answer.json({"now": time.time(), "notes": self._page.notes.as_data()})

    def write_note(self, request):
        """Keep a note on an instant of a test."""
        form = request.form()
        try:
            note = self._page.notes.write(form.first("text"), form.first("at"))
        except Refused as e:
            return Answer(f"{e}\n", 422)
        return Answer.json(note._asdict(), 201)

    def get_worker_count(self, _request):
        """How many processes have users, beside this one."""
        runner = self._environment.runner
        count = runner.worker_count if isinstance(runner, MasterRunner) else 0
        return Answer.json({"worker_count": count})


def _missing(path):
    return Answer(f"There is no {path} here.\n", 404)


def _chunks(file, length):
    """The first bytes of a file, a piece at a time while users run."""
    with file:
        while length > 0:
            chunk = file.read(min(_CHUNK, length))
            if not chunk:
                return
            length -= len(chunk)
            yield chunk
            gevent.sleep(0)
