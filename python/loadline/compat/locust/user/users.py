"""Simulated users: the base class, the one with an HTTP client, and `rest()`."""

import logging
import time
import traceback

from gevent import Greenlet, GreenletExit

from ..exception import StopTest, StopUser
from ..util.deprecation import check_for_deprecated_task_set_attribute
from .rest import RestMixin
from .task import (
    LOCUST_STATE_RUNNING,
    LOCUST_STATE_STOPPING,
    LOCUST_STATE_WAITING,
    DefaultTaskSet,
    NoTasksError,
    get_tasks_from_base_classes,
)
from .task import logger as task_logger
from .wait_time import constant

logger = logging.getLogger(__name__)

_NO_HOST = (
    "You must specify the base host. Either in the host attribute in the User class, or on the "
    "command line using the --host option."
)
_NO_HOST_ON_PAGE = (
    "You must specify the base host: fill in the field Host of the page, or set the host attribute "
    "in the User class."
)


class UserMeta(type):
    """Collects the tasks of a class body, and makes `abstract` false unless it says otherwise."""

    def __new__(mcs, name, bases, attributes):
        attributes["tasks"] = get_tasks_from_base_classes(bases, attributes)
        attributes.setdefault("abstract", False)
        kind = super().__new__(mcs, name, bases, attributes)
        check_for_deprecated_task_set_attribute(attributes)
        return kind


class User(metaclass=UserMeta):
    """One simulated user without a client: subclasses say what it does."""

    # The base URL; that of the command line replaces it.
    host = None
    min_wait = None
    max_wait = None
    wait_function = None
    # Seconds to wait after each task.
    wait_time = constant(0)
    tasks = []
    # The share of this class among the users, and a number that is started before any share.
    weight = 1
    fixed_count = 0
    abstract = True

    # Assigned once the user runs.
    _state = None
    _greenlet = None
    _group = None
    _taskset_instance = None
    # Whose rule says when the user begins its tasks, where that is recorded: its own or a set's.
    _paced_by = None

    def __init__(self, environment):
        super().__init__()
        self.environment = environment
        self._cp_last_run = time.perf_counter()
        self._cp_last_wait_time = 0
        # Instances share the keys that they have had since they were made; a user that got these
        # when it runs would have a dict of its own.
        self._state = None
        self._greenlet = None
        self._group = None
        self._taskset_instance = None

    def on_start(self):
        """Called when the user starts."""

    def on_stop(self):
        """Called when the user ends."""

    def run(self):
        """All of the user's life. Not to be overridden."""
        self._state = LOCUST_STATE_RUNNING
        self._taskset_instance = DefaultTaskSet(self)
        try:
            if self._begin():
                self._taskset_instance.run()
        except (GreenletExit, StopUser):
            self._call_on_stop()
        except NoTasksError as e:
            self._report(e, task_logger)
        except StopTest as e:
            self._call_on_stop()
            self._end_test(e)
        except SystemExit as e:
            self._end_process(e)

    def _begin(self):
        try:
            self.on_start()
        except (StopTest, StopUser):
            raise
        except Exception as e:
            self._report(e)
            return False
        return True

    def _call_on_stop(self):
        self.on_stop()

    def _report(self, error, said_by=logger):
        said_by.error("%s\n%s", error, traceback.format_exc())
        self.environment.events.user_error.fire(
            user_instance=self, exception=error, tb=error.__traceback__
        )

    def _end_test(self, why):
        runner = self.environment.runner
        if runner is not None:
            runner.end_test(why)

    def _end_process(self, why):
        """A task called sys.exit(): end the run in an orderly way, with that exit code."""
        if self.environment.runner is None:
            raise why
        code = why.code
        self.environment.process_exit_code = code if isinstance(code, int) else bool(code) * 1
        logger.info("sys.exit(%s) in a task ends the test", code)
        self.environment.runner.quit()

    def wait(self):
        """Sleep as long as `wait_time` says. The user may be ended meanwhile."""
        self._taskset_instance.wait()

    def start(self, group):
        """Run in a greenlet of `group`."""
        self._greenlet = _UserGreenlet(None, self)
        self._group = group
        group.start(self._greenlet)
        return self._greenlet

    def stop(self, force=False):
        """End the user if it waits, or by force (True); else ask it to end after its task."""
        if force or self._state in (LOCUST_STATE_WAITING, None):
            self._group.killone(self._greenlet)
            return True
        self._state = LOCUST_STATE_STOPPING
        return False

    def request_end(self):
        """End the user now if it waits, else after its task; returns at once."""
        if self._state == LOCUST_STATE_RUNNING:
            self._state = LOCUST_STATE_STOPPING
        elif self._state != LOCUST_STATE_STOPPING:
            self._greenlet.kill(block=False)

    @property
    def group(self):
        """The greenlets that this user belongs to."""
        return self._group

    @property
    def greenlet(self):
        """The greenlet that this user runs in."""
        return self._greenlet

    def context(self):
        """What the `context` of each request event has of this user."""
        return {}

    @classmethod
    def json(cls):
        """What the class picker shows of the class."""
        return {
            "host": cls.host,
            "weight": cls.weight,
            "fixed_count": cls.fixed_count,
            "tasks": [one.__name__ for one in cls.tasks],
        }

    @classmethod
    def fullname(cls):
        """Module and name of the class."""
        qualname = cls.__qualname__.split(".")
        return ".".join([cls.__module__, *[part for part in qualname if part != "<locals>"]])


class _UserGreenlet(Greenlet):
    """Runs a user, its argument. There are thousands of them, so it keeps little.

    What it runs is the class's, since an attribute of its own would make a dict for each, and it
    does not remember the frames of who started it, which are the same for all.
    """

    __slots__ = ()

    spawning_stack_limit = 0

    @staticmethod
    def _run(user):
        user.run()


class HttpUser(RestMixin, User):
    """A user whose `client` keeps connections and cookies as a `requests.Session` does."""

    abstract = True
    # A urllib3.PoolManager that users of the class share, for what `requests` itself sends.
    pool_manager = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        require_host(self)
        self.client = _http_session()(
            base_url=self.host,
            request_event=self.environment.events.request,
            user=self,
            pool_manager=self.pool_manager,
        )
        self.client.trust_env = False


class MissingHost(StopTest):
    """Nobody said where requests go, so the test cannot begin."""

    exit_code = 1


def require_host(user):
    """End the test if nobody said where requests go."""
    if user.host is None:
        raise MissingHost(_NO_HOST_ON_PAGE if _has_page(user.environment) else _NO_HOST)


def _has_page(environment):
    """Whether the test is started on a page, be it one of another process."""
    options = getattr(environment, "parsed_options", None)
    is_served_elsewhere = not getattr(options, "headless", True)
    return getattr(environment, "web_ui", None) is not None or is_served_elsewhere


_session_class = None


def _http_session():
    global _session_class
    if _session_class is None:
        from ..clients import HttpSession

        _session_class = HttpSession
    return _session_class


def __getattr__(name):
    if name == "PytestUser":
        from .pytest_user import PytestUser

        return PytestUser
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
