"""Functions `test_…` as users: fixtures are made once, the function is called again and again."""

import inspect

from ..exception import StopTest
from .users import User, _http_session, require_host


class PytestUser(User):
    """A user whose only task is a test function."""

    abstract = True
    function = None

    def __init__(self, environment):
        super().__init__(environment)
        require_host(self)
        names = inspect.signature(type(self).function).parameters
        self.arguments = {name: self._fixture(name) for name in names}

    def _fixture(self, name):
        events = self.environment.events
        if name == "session":
            return _http_session()(self.host, events.request, self)
        if name == "fastsession":
            from ..contrib.fasthttp import FastHttpSession

            return FastHttpSession(self.host, events.request, self)
        raise StopTest(
            f"The fixture '{name}' of {type(self).__name__} is unknown: use 'session' or "
            "'fastsession'."
        )


def user_class_of(function):
    """A class of users, named as the function."""

    def call(user):
        try:
            function(**user.arguments)
        except _request_errors():
            # Counted already; the function begins anew.
            pass

    call.__name__ = function.__name__
    attributes = {
        "function": staticmethod(function),
        "tasks": [call],
        "abstract": False,
        "__module__": function.__module__,
    }
    return type(User)(function.__name__, (PytestUser,), attributes)


def _request_errors():
    from requests import RequestException

    from ..contrib.fasthttp import FAILURE_EXCEPTIONS
    from ..exception import ResponseError

    return (RequestException, ResponseError, *FAILURE_EXCEPTIONS)
