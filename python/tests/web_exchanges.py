"""A test of one locustfile by its page, step by step: what each endpoint answers.

The same steps are made with our command and with the real Locust. What no two runs have in common,
times and counts, is replaced by what kind of value it is.
"""

import json
import re

LOCUSTFILE = """
    from locust import HttpUser, LoadTestShape, constant, events, task

    @events.init_command_line_parser.add_listener
    def add(parser):
        parser.add_argument("--plain", default="a", help="some text")
        parser.add_argument("--hidden", default="b", include_in_web_ui=False)
        parser.add_argument("--secret", default="c", is_secret=True)
        parser.add_argument("--number", type=int, default=3)
        parser.add_argument("--choice", choices=["x", "y"], default="x")

    class Visitor(HttpUser):
        wait_time = constant(0.02)

        @task(3)
        def front(self):
            self.client.get("/")

        @task
        def missing(self):
            self.client.get("/missing")

    class Thrower(HttpUser):
        fixed_count = 1
        wait_time = constant(0.1)

        @task
        def throw(self):
            raise ValueError("thrown")
"""

# Forms that start nothing.
WRONG_FORMS = (
    {"user_count": "x", "spawn_rate": "1"},
    {"user_count": "1", "spawn_rate": "fast"},
    {"user_count": "1", "spawn_rate": "1", "run_time": "soon"},
    {"user_count": "1"},
    {"spawn_rate": "1"},
    {"user_count": "-1", "spawn_rate": "1"},
    {"user_count": "1", "spawn_rate": "0"},
    {"user_count": "1", "spawn_rate": "inf"},
    {"user_count": "1", "spawn_rate": "nan"},
    {},
)


def exchanges(page, target):
    """All steps with their answers, as plain data; `target` is the host of the test."""
    told = {"at first": _args(page), "figures at first": _shape(page.figures())}
    for path in ("/swarm", "/stop", "/stats/reset", "/user"):
        told[f"GET {path}"] = page.get(path).status_code
    for path in ("/nothing", "/stats/requests_full_history/csv"):
        told[f"GET {path}"] = page.get(path).status_code
    told["history"] = page.get("/stats/requests_full_history/csv").text
    for form in WRONG_FORMS:
        told[f"swarm {form}"] = _answer(page.post("/swarm", form))
    told["workers"] = _answer(page.get("/worker-count"))
    told["login"] = _answer(page.get("/login", allow_redirects=False))
    told.update(_of_test(page, target))
    return json.loads(json.dumps(told).replace(target, "TARGET"))


def _of_test(page, target):
    form = {"user_count": "3", "spawn_rate": "100", "host": f"<{target}>", "profile": "p",
            "number": "7", "choice": "y", "plain": "b"}
    told = {"swarm": _answer(page.post("/swarm", form))}
    page.until_figures(_has_everything)
    told["running"] = _args(page)
    figures = page.figures()
    told["figures"] = _shape(figures)
    told["names"] = [[one["method"], one["name"]] for one in figures["stats"]]
    told["failures"] = [[one["method"], one["name"], one["error"]] for one in figures["errors"]]
    told["standing"] = [figures["state"], figures["user_count"]]
    told["tasks"] = _answer(page.get("/tasks"))
    told["exceptions"] = _shape(page.get("/exceptions").json())
    told["logs"] = _shape(page.get("/logs").json())
    told.update(_files(page))
    change = {"user_class_name": "Visitor", "weight": 2, "tasks": ["front"]}
    told["class"] = _answer(page.post("/user", json.dumps(change)))
    told["edit"] = _answer(page.post("/swarm", {"user_count": "5", "spawn_rate": "100"}))
    page.until_figures(lambda one: one["user_count"] == 5)
    page.until_state("running")
    told["reset"] = _answer(page.post("/stats/reset"))
    told["stop"] = _answer(page.post("/stop"))
    page.until_state("stopped")
    told["stopped"] = _args(page)
    again = {"user_count": "2", "spawn_rate": "100", "run_time": "1s"}
    told["again"] = _answer(page.post("/swarm", again))
    page.until_state("running")
    page.until_state("stopped")
    return told


def _has_everything(figures):
    return figures["state"] == "running" and len(figures["stats"]) == 3 and figures["errors"]


def _files(page):
    told = {}
    for path in ("/stats/requests/csv", "/stats/failures/csv", "/exceptions/csv"):
        answer = page.get(path)
        told[path] = {**_file(answer), "head": answer.text.splitlines()[0]}
    told["report"] = _file(page.get("/stats/report"))
    told["saved report"] = _file(page.get("/stats/report?download=1&theme=dark"))
    return told


def _file(answer):
    name = answer.headers.get("Content-Disposition", "")
    return {
        "status": answer.status_code,
        "type": answer.headers["Content-Type"],
        "name": re.sub(r"\d{4}-\d\d-\d\d-\d\dh\d\d", "TIME", name),
    }


def _answer(answer):
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    told = {"status": answer.status_code}
    if "Location" in answer.headers:
        return {**told, "location": answer.headers["Location"]}
    return {**told, "type": kind, "body": answer.json() if "json" in kind else answer.text}


def _args(page):
    """What the page knows; figures by their kind."""
    told = page.template_args()
    shaped = {"history": _shape([]), "user_count": _shape(told["user_count"])}
    return {**told, **shaped}


def _shape(value):
    """What kind of value it is; of lists the first item's."""
    if isinstance(value, dict):
        return {name: _shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    if value is None or isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return type(value).__name__
