"""All that belongs to one test: its classes, options, events, statistics and runner."""

import logging
from operator import methodcaller

from .dispatch import UsersDispatcher
from .event import Events
from .exception import RunnerAlreadyExistsError
from .shape import LoadTestShape
from .stats import RequestStats
from .user.task import filter_tasks_by_tags

logger = logging.getLogger(__name__)


class Environment:
    """One test. Without a command: make one, then `create_local_runner()` and start it."""

    def __init__(
        self,
        *,
        user_classes=None,
        shape_class=None,
        tags=None,
        locustfile=None,
        exclude_tags=None,
        events=None,
        host=None,
        reset_stats=False,
        stop_timeout=None,
        catch_exceptions=True,
        parsed_options=None,
        parsed_locustfiles=None,
        available_user_classes=None,
        available_shape_classes=None,
        available_user_tasks=None,
        dispatcher_class=UsersDispatcher,
        profile=None,
    ):
        self.runner = None
        self.web_ui = None
        self.process_exit_code = None
        self.worker_logs = {}
        self._tasks_filtered = False
        self.user_classes = user_classes or []
        self.shape_class = shape_class
        self.tags = tags
        self.exclude_tags = exclude_tags
        self.locustfile = locustfile
        self.events = events or Events()
        self.host = host
        self.reset_stats = reset_stats
        self.stop_timeout = stop_timeout or 0.0
        self.catch_exceptions = catch_exceptions
        self.parsed_options = parsed_options
        self.parsed_locustfiles = parsed_locustfiles
        self.available_user_classes = available_user_classes
        self.available_shape_classes = available_shape_classes
        self.available_user_tasks = available_user_tasks
        self.dispatcher_class = dispatcher_class
        self.profile = profile
        self.stats = RequestStats()
        self._take_options(parsed_options)
        self._check_user_classes()
        self._check_shape()

    def _take_options(self, options):
        if options is None:
            return
        self.tags = self.tags or getattr(options, "tags", None)
        self.exclude_tags = self.exclude_tags or getattr(options, "exclude_tags", None)
        self.stop_timeout = getattr(options, "stop_timeout", None) or self.stop_timeout

    def _check_user_classes(self):
        if self.user_classes:
            if not any(kind.weight > 0 or kind.fixed_count for kind in self.user_classes):
                raise ValueError("There are no users with weight > 0.")
            self._drop_weightless()
        names = [kind.__name__ for kind in self.user_classes]
        doubles = [kind for kind in self.user_classes if names.count(kind.__name__) > 1]
        if doubles:
            raise ValueError(
                "The following user classes have the same class name: "
                + ", ".join(map(methodcaller("fullname"), doubles))
            )

    def _drop_weightless(self):
        for kind in list(self.user_classes):
            if kind.weight == 0 and not kind.fixed_count:
                self.user_classes = [one for one in self.user_classes if one is not kind]

    def _check_shape(self):
        if self.shape_class is not None and not isinstance(self.shape_class, LoadTestShape):
            raise ValueError(
                "shape_class should be instance of LoadTestShape or subclass LoadTestShape, "
                f"but got: {self.shape_class}"
            )

    @property
    def user_classes_by_name(self):
        """The classes of this test by their names."""
        return {kind.__name__: kind for kind in self.user_classes}

    def create_local_runner(self):
        """A runner whose users run in this process."""
        from .runners import LocalRunner

        return self._create_runner(LocalRunner)

    def create_master_runner(self, master_bind_host="", master_bind_port=5557, master_token=None):
        """A runner whose users are in workers, which join it at this address.

        Without a host, workers on this machine alone can. Beyond it they need the token, which is
        that of LOADLINE_MASTER_TOKEN, or a new one, if none is given.
        """
        from .runners import MasterRunner

        return self._create_runner(
            MasterRunner,
            master_bind_host=master_bind_host,
            master_bind_port=master_bind_port,
            master_token=master_token,
        )

    def create_worker_runner(self, master_host, master_port, master_token=None):
        """A runner that has users for the master at this address, which it waits for."""
        from .runners import WorkerRunner

        return self._create_runner(
            WorkerRunner,
            master_host=master_host,
            master_port=master_port,
            master_token=master_token,
        )

    def _create_runner(self, kind, **kwargs):
        if self.runner is not None:
            raise RunnerAlreadyExistsError(f"Environment.runner already exists ({self.runner})")
        self.runner = kind(self, **kwargs)
        if self.shape_class:
            self.shape_class.runner = self.runner
        return self.runner

    def create_web_ui(self, host="", port=8089, **kwargs):
        """The web page; without a host it is served to this machine alone."""
        from .web import WebUI

        self.web_ui = WebUI(self, host, port, **kwargs)
        return self.web_ui

    def update_user_class(self, user_settings):
        """Assign attributes of classes, from one dict or a list of them, in all processes."""
        for settings in user_settings if isinstance(user_settings, list) else [user_settings]:
            self._update_one(dict(settings))
        if self.runner is not None:
            self.runner.send_user_settings(user_settings)

    def _update_one(self, settings):
        name = settings.pop("user_class_name")
        kind = (self.available_user_classes or self.user_classes_by_name)[name]
        for attribute, value in settings.items():
            if attribute == "tasks":
                known = (self.available_user_tasks or {}).get(name) or kind.tasks
                value = [one for one in known if one.__name__ in value]
            setattr(kind, attribute, value)

    def update_worker_logs(self, worker_log_report):
        """Keep the lines of the log that a worker sent: `{"worker_id": …, "logs": […]}`."""
        worker = worker_log_report.get("worker_id")
        if worker:
            self.worker_logs[worker] = worker_log_report.get("logs", [])

    def assign_equal_weights(self):
        """Make all classes and all of their tasks, those of nested sets too, equally frequent."""
        for kind in self.user_classes:
            kind.weight = 1
            kind.tasks = list(dict.fromkeys(_flat(kind.tasks)))

    def _filter_tasks_by_tags(self):
        """Leave only the tasks that the tags select, and say which classes have none. Once."""
        if self._tasks_filtered:
            return
        self._tasks_filtered = True
        tags = set(self.tags) if self.tags else None
        exclude = set(self.exclude_tags) if self.exclude_tags else None
        for kind in self.user_classes:
            filter_tasks_by_tags(kind, tags, exclude)


def _flat(tasks):
    for one in tasks:
        if hasattr(one, "tasks"):
            yield from _flat(one.tasks)
        else:
            yield one
