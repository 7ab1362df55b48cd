"""A small load of both clients with all kinds of calls; prints what the statistics say of it.

`python http_load.py PORT [listen]`, with whatever `locust` is first on the path.
"""

import json
import sys

import gevent
from locust import FastHttpUser, HttpUser, constant
from locust.env import Environment
from locust.exception import StopUser

USERS = 20
CALLS_OF_A_USER = 60


def plain(c, i):
    c.get("/echo")


def missing(c, i):
    c.get("/status/404")


def forgiven(c, i):
    with c.get("/status/500", catch_response=True) as response:
        response.success()


def refused_by_task(c, i):
    with c.get(f"/echo?i={i}", name="/echo?i=[i]", catch_response=True) as response:
        response.failure("not " + response.json()["method"])


def sent_json(c, i):
    c.post("/echo", json={"i": i}, name="post json")


def sent_form(c, i):
    c.post("/echo", data={"i": i}, name="post form")


def with_params(c, i):
    c.get("/echo", params={"i": i}, name="params")


def redirected(c, i):
    c.get("/redirect/2")


def cookies_set(c, i):
    c.get("/set-cookie/a/b")


def nobody_there(c, i):
    c.get("http://127.0.0.1:1/")


def closed(c, i):
    c.get("/close")


def streamed(c, i):
    list(c.get("/lines/3", stream=True).iter_content(100))


CALLS = [plain, missing, forgiven, refused_by_task, sent_json, sent_form, with_params]
CALLS += [redirected, cookies_set, nobody_there, closed, streamed]


def next_call(user):
    """The task: one call after another, then the user ends."""
    user.done = getattr(user, "done", 0) + 1
    CALLS[user.done % len(CALLS)](user.client, user.done)
    if user.done >= CALLS_OF_A_USER:
        raise StopUser()


def run(port, listens):
    host = f"http://127.0.0.1:{port}"
    shared = {"host": host, "tasks": [next_call], "wait_time": constant(0)}
    kinds = [type("Http", (HttpUser,), dict(shared)), type("Fast", (FastHttpUser,), dict(shared))]
    environment = Environment(user_classes=kinds)
    heard = []
    if listens:
        environment.events.request.add_listener(lambda exception, **_: heard.append(exception))
    runner = environment.create_local_runner()
    with gevent.Timeout(60):
        runner.start(USERS, spawn_rate=USERS)
        runner.spawning_greenlet.join()
        while runner.user_count > 0:
            gevent.sleep(0.05)
    runner.quit()
    report = json.dumps(seen(environment.stats), sort_keys=True).replace(str(port), "PORT")
    events = [len(heard), sum(e is not None for e in heard)] if listens else None
    print(json.dumps({"events": events, "statistics": json.loads(report)}))


def seen(stats):
    """What the statistics say: requests, failures and bytes of each entry, and the failures."""
    entries = {
        f"{method} {name}": [e.num_requests, e.num_failures, e.total_content_length]
        for (name, method), e in stats.entries.items()
    }
    failures = sorted(
        [e.method, e.name, str(e.error), e.occurrences] for e in stats.errors.values()
    )
    total = [stats.total.num_requests, stats.total.num_failures]
    return {"entries": entries, "failures": failures, "total": total}


if __name__ == "__main__":
    run(int(sys.argv[1]), "listen" in sys.argv)
