"""What `/swarm` and `/stop` do: a form starts a test, or changes the load of the one that runs."""

import logging
import math

import gevent

from locust.argument_parser import default_args_dict
from locust.log import greenlet_exception_logger
from locust.runners import ALL_RUNNING_STATES
from locust.util.timespan import parse_timespan

logger = logging.getLogger("locust.web")
log_death = greenlet_exception_logger(logger)

_SPANS = "Valid run_time formats are : 20, 20s, 3m, 2h, 1h20m, 3h30m10s, etc."
_WRONG_LOAD = "Missing or invalid user_count or spawn_rate from /swarm request"


class _Refused(Exception):
    """Why a form changes nothing."""


class _Load:
    """What a form asks for."""

    def __init__(self):
        self.user_count = None
        self.spawn_rate = None
        self.run_time = None

    def check(self):
        """Refuse what no test can have."""
        is_load = (
            self.user_count is not None
            and self.user_count >= 0
            and self.spawn_rate is not None
            and self.spawn_rate > 0
            and math.isfinite(self.spawn_rate)
        )
        if not is_load:
            raise _Refused(_WRONG_LOAD)


class Swarm:
    """Starts and stops the tests of a page."""

    def __init__(self, page):
        self._page = page
        self._environment = page.environment
        # The greenlet that starts users, and the one that waits for the end of the run time.
        self._starting = None
        self._timer = None
        self._own_options = None

    def begin(self, form):
        """Start a test, or change its load; returns what Locust answers."""
        try:
            answer = self._begin(form)
        except _Refused as e:
            logger.error(str(e))
            answer = {"success": False, "message": str(e)}
        return {**answer, "host": self._environment.host}

    def _begin(self, form):
        runner = self._environment.runner
        classes = self._choose(form) if self._page.userclass_picker_is_active else None
        load = _Load()
        for name in form:
            self._take(name, form, load)
        if runner is None:
            return {"success": False, "message": "No runner"}
        shape = self._environment.shape_class
        if shape:
            runner.start_shape()
            name = type(shape).__name__
            return {"success": True, "message": f"Swarming started using shape class '{name}'"}
        load.check()
        self._start(runner, load)
        return {
            "success": True,
            "message": "Swarming started",
            **({"run_time": load.run_time} if load.run_time else {}),
            **({"user_classes": sorted(classes)} if classes else {}),
        }

    def _start(self, runner, load):
        is_running = runner.state in ALL_RUNNING_STATES
        # A test whose listeners still prepare it is not in these states yet.
        is_new = not is_running and not self._starting
        self._stop_starting()
        if is_new or load.run_time:
            # A test whose load is changed ends when it was to end.
            self._cancel_timer()
        self._starting = gevent.spawn(runner.start, load.user_count, load.spawn_rate)
        self._starting.link_exception(log_death)
        if load.run_time:
            self._timer = gevent.spawn_later(load.run_time, self._end_in_time)
            self._timer.link_exception(log_death)

    def stop(self):
        """End the test."""
        self._stop_starting()
        self._cancel_timer()
        runner = self._environment.runner
        if runner is not None:
            if runner.state in ALL_RUNNING_STATES:
                self._page.notes.mark("Stopped")
            runner.stop()

    def _end_in_time(self):
        self._timer = None
        self._environment.runner.stop()

    def _stop_starting(self):
        if self._starting is not None:
            self._starting.kill()
            self._starting = None

    def _cancel_timer(self):
        if self._timer is not None:
            self._timer.kill(block=False)
            self._timer = None

    def _choose(self, form):
        """Use the classes and the shape that the form names; returns the names of the classes."""
        known = self._environment.available_user_classes
        if not known:
            raise _Refused("UserClass picker is active but there are no available UserClasses")
        names = form.all("user_classes") or self._present(known)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise _Refused(f"Unknown User(s): {', '.join(unknown)}")
        self._use_shape(form.first("shape_class", "Default"))
        self._use_classes([kind for name, kind in known.items() if name in names])
        return names

    def _present(self, known):
        """The names of the classes that go on where the form names none."""
        environment = self._environment
        if environment.runner is None or environment.runner.state not in ALL_RUNNING_STATES:
            return list(known)
        return [name for name, kind in known.items() if kind in environment.user_classes]

    def _use_classes(self, classes):
        environment = self._environment
        environment.user_classes = classes
        if environment.locustfile is None:
            environment.locustfile = ",".join(environment.user_classes_by_name)
        try:
            environment._check_user_classes()
        except ValueError as e:
            raise _Refused(str(e)) from e

    def _use_shape(self, name):
        environment = self._environment
        shapes = environment.available_shape_classes or {}
        if name != "Default" and name not in shapes:
            raise _Refused(f"Unknown shape: {name}")
        environment.shape_class = None if name == "Default" else shapes[name]
        if environment.shape_class:
            environment.shape_class.runner = environment.runner

    def _take(self, name, form, load):
        """Take one field of the form."""
        options = self._environment.parsed_options
        known = {} if options is None else vars(options)
        value = form.first(name)
        if name == "user_count":
            load.user_count = known["num_users"] = _number(name, value, int, "an integer")
        elif name == "spawn_rate":
            load.spawn_rate = known[name] = _number(name, value, float, "a number")
        elif name == "host":
            # A host is shown by pages of others, too.
            self._environment.host = known[name] = value.replace("<", "").replace(">", "")
        elif name == "user_classes":
            known[name] = form.all(name)
        elif name == "run_time":
            load.run_time = _span(value)
            if load.run_time is not None:
                known[name] = load.run_time
        elif name == "profile":
            self._environment.profile = known[name] = value or None
        elif name in known and name in self._options_of_locustfile():
            known[name] = _converted(name, form.all(name), known[name])

    def _options_of_locustfile(self):
        """The options that a locustfile added. No other one can be set: some name files."""
        if self._own_options is None:
            self._own_options = set(vars(self._environment.parsed_options)) - set(
                default_args_dict()
            )
        return self._own_options


def _number(name, text, kind, what):
    try:
        return kind(text)
    except ValueError:
        raise _Refused(f"Invalid {name} value: {text!r} (must be {what})") from None


def _span(text):
    if not text:
        return None
    try:
        return parse_timespan(text)
    except ValueError:
        raise _Refused(_SPANS) from None


def _converted(name, values, before):
    """The value of an option, of the type of the one before."""
    value = values[0]
    if isinstance(before, bool):
        return value == "true"
    if before is None:
        return value
    if isinstance(before, list):
        values = value.split(",") if "," in value else values
        if before and all(isinstance(one, int) for one in before):
            return [_number(name, one, int, "an integer") for one in values]
        return values
    try:
        return type(before)(value)
    except (TypeError, ValueError):
        kind = type(before).__name__
        raise _Refused(f"Invalid {name} value: {value!r} (must be {kind})") from None
