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
    if loglevel:
        setup_logging(loglevel)
    environment = _environment_of(user_class)
    if "printer" not in _known:
        _known["printer"] = PrintListener(
            environment, include_length, include_time, include_context, include_payload
        )
    try:
        user_class(environment).run()
    except StopUser:
        pass


# The environment and the printer of the process, which all calls share.
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
