"""The package `locust`, compatible with Locust 2.47, on Loadline's engine.

Importing it makes Python's blocking modules cooperative, as locustfiles rely on: `time.sleep`,
`requests` or `socket` inside a task let the other users run.
"""

import os

if not os.getenv("LOCUST_SKIP_MONKEY_PATCH"):
    from gevent import monkey as _monkey

    _monkey.patch_all()

from .event import Events

events = Events()

from . import exception  # noqa: E402
from ._version import __version__  # noqa: E402
from .shape import LoadTestShape  # noqa: E402
from .user import wait_time  # noqa: E402
from .user.markov_taskset import MarkovTaskSet, transition, transitions  # noqa: E402
from .user.sequential_taskset import SequentialTaskSet  # noqa: E402
from .user.task import TaskSet, tag, task  # noqa: E402
from .user.users import HttpUser, User  # noqa: E402
from .user.wait_time import (  # noqa: E402
    between,
    constant,
    constant_pacing,
    constant_throughput,
    poisson,
)
from .util.deprecation import renamed  # noqa: E402
from .contrib.fasthttp import FastHttpUser  # noqa: E402
from .debug import run_single_user  # noqa: E402
from . import env, runners, stats  # noqa: E402, F401

if not os.getenv("LOCUST_SKIP_URLLIB3_PATCH"):
    # Connections of a pool wait in a queue whose lock is gevent's own, so that a greenlet that is
    # killed while it holds the lock cannot block all others.
    from gevent.queue import LifoQueue as _LifoQueue
    from urllib3.connectionpool import ConnectionPool as _ConnectionPool

    _ConnectionPool.QueueCls = _LifoQueue

Locust = renamed("Locust", "User")
HttpLocust = renamed("HttpLocust", "HttpUser")


def __getattr__(name):
    # As attributes these are there without an import of their own; few files ask for them.
    if name in ("clients", "html", "web"):
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "FastHttpUser",
    "HttpUser",
    "LoadTestShape",
    "MarkovTaskSet",
    "SequentialTaskSet",
    "TaskSet",
    "User",
    "between",
    "constant",
    "constant_pacing",
    "constant_throughput",
    "events",
    "poisson",
    "run_single_user",
    "tag",
    "task",
    "transition",
    "transitions",
    "wait_time",
]
