"""What both clients share: where their requests are counted, and under which name."""

from contextlib import contextmanager

from . import engine as native
from .overriding import follow_overridden_request, replace_on


class CountedClient:
    """A native client whose requests are counted by the engine.

    A session that was given an event of its own (not that of the test) is counted by that event
    alone: the engine then counts nothing, and each response tells the event.
    """

    _is_foreign = False

    def _begin(self, address, request_event, user, flavour):
        self.request_event = request_event
        self.user = user
        statistics = _statistics(request_event, user)
        native.Client.__init__(self, address, stats=statistics, flavour=flavour)
        if statistics is None:
            self._is_foreign = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        follow_overridden_request(cls)

    def __setattr__(self, name, value):
        if name == "request":
            replace_on(self, value)
        else:
            super().__setattr__(name, value)

    def _user_context(self):
        """What the user says of all its requests."""
        return self.user.context() if self.user is not None else {}

    def _failure(self, response):
        """The exception that the engine counts for a failed response."""
        return response._own_failure()

    def _native_request(self, method, url, **options):
        return native.Client.request(self, method, url, **options)

    def _native_send(self, method, url, pairs, body, **options):
        if not self._is_foreign:
            return native.Client.send(self, method, url, pairs, body, **options)
        caught = options["catch_response"]
        options["catch_response"] = True
        response = native.Client.send(self, method, url, pairs, body, **options)
        response._is_foreign = True
        if not caught:
            response._count(None)
        return response

    @contextmanager
    def rename_request(self, name):
        """Count the requests of the block under `name`."""
        self.request_name = name
        try:
            yield
        finally:
            self.request_name = None


def _statistics(request_event, user):
    """The store that the engine counts in, or None if the event is not that of the test."""
    environment = getattr(user, "environment", None)
    if environment is None or environment.events.request is not request_event:
        return None
    return environment.stats.native
