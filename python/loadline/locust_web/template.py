"""What the page knows when it is opened, and the files that it is made of.

The files are templates of the same form as Locust's: a page of Locust's own build (`--build-path`)
is served as well, and a locustfile may render ours by Flask.
"""

import html
import mimetypes
import os
import re
import secrets

from locust import __version__, stats
from locust.contrib.fasthttp import FastHttpUser
from locust.runners import MasterRunner
from locust.user.users import HttpUser

from .messages import HTML, Answer, script_json

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")

# The page runs its own scripts alone, asks this server alone, and stands in no frame.
_POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_PLACE = re.compile(r"\{\{\s*(\w+)\s*(?:\|\s*(\w+)[^}]*)?\}\}")


def rendered(file, folder, **values):
    """An answer with a page: each `{{ name }}` in it replaced by a value, `|tojson` as JSON."""
    own = not folder
    nonce = secrets.token_hex(8)
    with open(os.path.join(folder or FOLDER, file), encoding="utf-8") as source:
        text = source.read()
    page = _PLACE.sub(lambda found: _value(found, {**values, "nonce": nonce}), text)
    policy = [("Content-Security-Policy", _POLICY.format(nonce=nonce))] if own else []
    return Answer(page, 200, HTML, policy)


def _value(found, values):
    value = values.get(found[1], "")
    return script_json(value) if found[2] == "tojson" else html.escape(str(value))


def asset(name, folder):
    """An answer with a file of the page, from `folder` first; None if there is none."""
    if "\0" in name:
        return None
    for place in (folder and os.path.join(folder, "assets"), FOLDER):
        path = place and os.path.realpath(os.path.join(place, name))
        if path and os.path.isfile(path) and path.startswith(os.path.realpath(place) + os.sep):
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            with open(path, "rb") as file:
                return Answer(file.read(), 200, kind)
    return None


def template_args(page):
    """What the page knows of the test, by Locust's names."""
    environment = page.environment
    runner, options = environment.runner, environment.parsed_options
    numbers = runner.stats
    return {
        **_of_host(environment),
        **_of_classes(environment),
        **_of_shape(page),
        "locustfile": environment.locustfile,
        "state": runner.state,
        "is_distributed": isinstance(runner, MasterRunner),
        "worker_count": runner.worker_count if isinstance(runner, MasterRunner) else 0,
        "user_count": runner.user_count,
        "version": __version__,
        "history": numbers.history if numbers.num_requests > 0 else [],
        "num_users": options and options.num_users,
        "spawn_rate": options and options.spawn_rate,
        "run_time": options and options.run_time,
        "stats_history_enabled": options and options.stats_history_enabled,
        "tasks": "{}",
        "extra_options": page.extra_options,
        "show_userclass_picker": page.userclass_picker_is_active,
        "percentiles_to_chart": stats.PERCENTILES_TO_CHART,
        "percentiles_to_statistics": stats.PERCENTILES_TO_STATISTICS,
        "is_host_required": page.is_host_required,
        "profile": environment.profile,
    }


def _of_host(environment):
    """Where requests go, and whether the page is to warn."""
    classes = environment.runner.user_classes
    host, overrides, is_missing = environment.host, False, False
    if not host and classes:
        hosts = {kind.host for kind in classes}
        if len(hosts) == 1:
            host = hosts.pop()
            is_missing = not host
        else:
            # A host that is typed in replaces that of all classes.
            overrides = True
            clients = (HttpUser, FastHttpUser)
            is_missing = not all(kind.host for kind in classes if issubclass(kind, clients))
    elif not host:
        is_missing = True
    return {
        "host": host or "",
        "override_host_warning": overrides,
        "missing_host_warning": is_missing,
    }


def _of_classes(environment):
    classes = environment.available_user_classes
    tasks = environment.available_user_tasks
    return {
        "available_user_classes": sorted(classes) if classes else None,
        "users": {name: kind.json() for name, kind in classes.items()} if classes else None,
        "available_user_tasks": {
            name: [one.__name__ for one in known or []] for name, known in tasks.items()
        } if tasks else None,
    }


def _of_shape(page):
    shape = page.environment.shape_class
    reads_options = shape and shape.use_common_options
    return {
        "available_shape_classes": [
            "Default", *sorted(page.environment.available_shape_classes or {})
        ],
        "hide_common_options": shape
        and not (page.userclass_picker_is_active or reads_options),
        "shape_use_common_options": reads_options,
    }
