"""One user in the calling greenlet, with a line for each request: for a debugger."""

import inspect
import os
from datetime import datetime, timezone

import locust

from . import argument_parser
from .env import Environment
from .exception import StopUser
from .log import setup_logging

_BODY_SHOWN = 5000


class PrintListener:
    """Prints each request as a line of columns separated by tabs."""

    def __init__(
        self,
        env,
        include_length=False,
        include_time=False,
        include_context=False,
        include_payload=False,
    ):
        self.include_length = include_length
        self.include_time = include_time
        self.include_context = include_context
        self.include_payload = include_payload
        env.events.request.add_listener(self.on_request)
        print()
        self._print_row("time", "type", "name", "resp_ms", "length", "exception", "context",
                        "payload")

    def on_request(self, request_type, name, response_time, response_length=0, exception=None,
                   context=None, start_time=None, response=None, **_others):
        """Print one request."""
        self._print_row(
            _iso(start_time) if start_time else "",
            request_type,
            name,
            "None" if response_time is None else str(round(response_time)),
            str(response_length),
            _readable(exception) if exception else "",
            str(context or ""),
            _payload(response),
        )

    def _print_row(self, moment, kind, name, time, length, error, context, payload):
        columns = [moment.ljust(24)] if self.include_time else []
        columns += [kind, name.ljust(50), time.ljust(7)]
        columns += [length.ljust(6)] if self.include_length else []
        columns += [error.ljust(9)]
        columns += [context] if self.include_context else []
        columns += [payload] if self.include_payload else []
        print("\t".join(columns))


def _iso(seconds):
    return str(datetime.fromtimestamp(seconds, timezone.utc))


def _readable(exception):
    if hasattr(exception, "readable"):
        return exception.readable()
    return repr(exception)


def _payload(response):
    request = getattr(response, "request", None)
    body = getattr(request, "body", None) or ""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    return str(body)[:_BODY_SHOWN]


def run_single_user(
    user_class,
    include_length=False,
    include_time=False,
    include_context=False,
    include_payload=False,
    loglevel="WARNING",
):
    """Run one user until it ends. May be called several times."""
    global _env

    if loglevel:
        setup_logging(loglevel)
    if _env is None:
        _env = _environment_of(user_class)
        PrintListener(_env, include_length, include_time, include_context, include_payload)
        _env.events.init.fire(environment=_env, runner=None, web_ui=None)
    _env.user_classes = [user_class]
    _env._tasks_filtered = False
    _env._filter_tasks_by_tags()
    _env.events.test_start.fire(environment=_env)
    if _env.host:
        user_class.host = _env.host
    _env.single_user_instance = user_class(_env)
    try:
        _env.single_user_instance.run()
    except StopUser:
        pass


# The environment of the process, which all calls share. Made at the first one.
_env = None


def _environment_of(user_class):
    options = argument_parser.get_parser().parse_args()
    return Environment(
        events=locust.events,
        host=options.host,
        parsed_options=options,
        locustfile=os.path.basename(inspect.getsourcefile(user_class) or ""),
    )
