"""One user in the calling greenlet, with a line for each request: for a debugger."""

import inspect
import json
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
        self._print_row("type", "name", "resp_ms", "exception", "length", "context", "payload",
                        moment="time")

    def on_request(self, request_type, name, response_time, response_length=0, exception=None,
                   context=None, start_time=None, response=None, **_others):
        """Print one request."""
        moment = _iso(start_time) if start_time else ""
        self._print_row(
            request_type,
            name,
            "None" if response_time is None else str(round(response_time)),
            str(_readable(exception) if exception else ""),
            str(response_length),
            json.dumps(context or {}, default=str),
            _payload(response),
            moment=moment,
        )

    def _print_row(self, kind, name, time, error, length, context, payload, moment):
        columns = [moment.ljust(30)] if self.include_time else []
        columns += [kind, name.ljust(50), time.ljust(9), error.ljust(50)]
        columns += [length] if self.include_length else []
        columns += [context] if self.include_context else []
        columns += [payload] if self.include_payload else []
        print("\t".join(columns))


def _iso(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


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
    if loglevel:
        setup_logging(loglevel)
    environment = _environment_of(user_class)
    printer = PrintListener(
        environment, include_length, include_time, include_context, include_payload
    )
    try:
        user_class(environment).run()
    except StopUser:
        pass
    finally:
        environment.events.request.remove_listener(printer.on_request)


_known = {}


def _environment_of(user_class):
    """The environment of the process; made at the first call."""
    if "environment" not in _known:
        options = argument_parser.get_parser().parse_args()
        environment = Environment(
            events=locust.events,
            host=options.host,
            parsed_options=options,
            locustfile=os.path.basename(inspect.getsourcefile(user_class) or ""),
        )
        _known["environment"] = environment
        locust.events.init.fire(environment=environment, runner=None, web_ui=None)
        locust.events.test_start.fire(environment=environment)
    environment = _known["environment"]
    if environment.host:
        user_class.host = environment.host
    return environment
