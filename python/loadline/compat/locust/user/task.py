"""Tasks, sets of tasks, and the loop that runs them.

The loop is on the path of every request, so it looks up once what cannot change, waits only where
there is a wait, and yields to the other users by itself only if a whole task did not.
"""

import logging
import random
import time
import traceback

from gevent import GreenletExit

from ..exception import (
    InterruptTaskSet,
    MissingWaitTimeError,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopTest,
    StopUser,
)
from . import starts
from .turns import Turns

logger = logging.getLogger(__name__)

LOCUST_STATE_RUNNING, LOCUST_STATE_WAITING, LOCUST_STATE_STOPPING = (
    "running",
    "waiting",
    "stopping",
)

_RUN_IS_FINAL = (
    "User.run() is a method used internally by Locust, and you must not override it or register "
    "it as a task"
)
_STARTS_ARE_NO_TASKS = (
    "You have tagged your on_stop/start function with @task. This will make the method get called "
    "both as a task AND on stop/start."
)


class NoTasksError(Exception):
    """A set, or a user, has nothing to run; asking again would not help."""


def task(weight=1):
    """Make a method, or a nested TaskSet, a task; `@task(3)` is drawn three times as often."""

    def decorate(func):
        if func.__name__ in ("on_stop", "on_start"):
            logging.warning(_STARTS_ARE_NO_TASKS)
        if func.__name__ == "run":
            raise Exception(_RUN_IS_FINAL)
        func.locust_task_weight = weight
        return func

    if callable(weight):
        func, weight = weight, 1
        return decorate(func)
    return decorate


def tag(*tags):
    """Give a task, or all tasks of a TaskSet, names that --tags and --exclude-tags select by."""
    if not tags or not all(isinstance(name, str) for name in tags):
        raise ValueError("No tag name was supplied")

    def decorate(tagged):
        for one in tagged.tasks if hasattr(tagged, "tasks") else [tagged]:
            if hasattr(one, "tasks"):
                decorate(one)
            else:
                one.locust_tag_set = getattr(one, "locust_tag_set", set()) | set(tags)
        return tagged

    return decorate


def get_tasks_from_base_classes(bases, class_dict):
    """All tasks of a class body, each as often as its weight: inherited, `tasks`, methods."""
    found = [inherited for base in bases for inherited in getattr(base, "tasks", None) or []]
    found += weighted_tasks(class_dict.get("tasks") or [])
    for member in class_dict.values():
        weight = getattr(member, "locust_task_weight", None)
        if weight is not None:
            found += [member] * weight
    return found


def weighted_tasks(tasks):
    """The flat list that a `tasks` attribute means: a list, pairs with counts, or a dict."""
    pairs = tasks.items() if isinstance(tasks, dict) else tasks
    found = []
    for one in pairs:
        found += [one[0]] * one[1] if isinstance(one, tuple) else [one]
    return found


def is_task_set(candidate):
    """Whether a task is a class of tasks rather than a function."""
    return isinstance(candidate, type) and issubclass(candidate, TaskSet)


def filter_tasks_by_tags(task_holder, tags=None, exclude_tags=None):
    """Leave only the tasks of a class, and of the sets in it, that the tags select."""
    kept, checked = [], {}
    for one in task_holder.tasks:
        if one not in checked:
            checked[one] = _passes(one, tags, exclude_tags)
        if checked[one]:
            kept.append(one)
    task_holder.tasks = kept
    if not kept:
        logging.warning(
            "%s had no tasks left after filtering, instantiating it will fail!",
            task_holder.__name__,
        )


def _passes(one, tags, exclude_tags):
    if hasattr(one, "tasks"):
        filter_tasks_by_tags(one, tags, exclude_tags)
        return bool(one.tasks)
    own = getattr(one, "locust_tag_set", set())
    return (tags is None or bool(own & tags)) and (exclude_tags is None or not own & exclude_tags)


class _Queue(list):
    """The methods of a deque that a queue of tasks needs, in a tenth of its memory."""

    __slots__ = ()

    def popleft(self):
        """The first one, which is in the queue no more."""
        return self.pop(0)

    def appendleft(self, one):
        """Put one before all others."""
        self.insert(0, one)


def _resume_parent(interrupt):
    """A set is left: its parent takes its next task, at once or after its wait."""
    kind = RescheduleTaskImmediately if interrupt.reschedule else RescheduleTask
    raise kind(interrupt.reschedule) from interrupt


def _log_failed_stop():
    # Locust says this in its root log.
    logging.error("Uncaught exception in on_stop: \n%s", traceback.format_exc())


class TaskSetMeta(type):
    """Collects the tasks of a class body."""

    def __new__(mcs, name, bases, attributes):
        attributes["tasks"] = get_tasks_from_base_classes(bases, attributes)
        return super().__new__(mcs, name, bases, attributes)


class TaskSet(metaclass=TaskSetMeta):
    """Tasks that a user runs one after the other, each drawn at random."""

    tasks = []
    min_wait = None
    max_wait = None
    wait_function = None

    def __init__(self, parent):
        self._task_queue = _Queue()
        self._parent = parent
        self._user = parent.user if isinstance(parent, TaskSet) else parent
        if not self.min_wait:
            self.min_wait = self._user.min_wait
        if not self.max_wait:
            self.max_wait = self._user.max_wait
        if not self.wait_function:
            self.wait_function = self._user.wait_function
        self._cp_last_run = time.perf_counter()
        self._cp_last_wait_time = 0

    @property
    def user(self):
        """The user that runs these tasks."""
        return self._user

    @property
    def parent(self):
        """The set that this one is nested in, or the user."""
        return self._parent

    @property
    def client(self):
        """The user's client."""
        return self._user.client

    def on_start(self):
        """Called when a user enters the set."""

    def on_stop(self):
        """Called when a user leaves the set, or dies in it."""

    def run(self):
        """Run tasks until the set is interrupted or the user ends. Not to be overridden."""
        self._enter()
        try:
            self._loop()
        finally:
            if starts.recorded:
                starts.leave(self)

    def _enter(self):
        try:
            self.on_start()
        except InterruptTaskSet as e:
            # The set was not entered, so there is nothing that on_stop would undo.
            _resume_parent(e)

    def _loop(self):
        user, queue, turns = self._user, self._task_queue, Turns()
        execute, pause = self._loop_parts()
        owes_pause = False
        while True:
            try:
                if owes_pause:
                    pause(turns)
                    owes_pause = False
                one = queue.popleft() if queue else self._draw()
                if user._state == LOCUST_STATE_STOPPING:
                    raise StopUser()
                try:
                    execute(one)
                except RescheduleTaskImmediately:
                    turns.end()
                except RescheduleTask:
                    pause(turns)
                else:
                    pause(turns)
            except InterruptTaskSet as e:
                owes_pause = self._leave_on(e) and not owes_pause
            except (StopUser, StopTest, GreenletExit):
                self._end()
                raise
            except NoTasksError:
                raise
            except Exception as e:
                if owes_pause:
                    # It is the wait that fails, and would again.
                    raise
                self._report(e)
                # Not here: who ends the user meanwhile is to find `on_stop` called.
                owes_pause = True

    def _loop_parts(self):
        """How to execute and wait: short cuts, unless a subclass has its own ways."""
        kind = type(self)
        execute = self.execute_task
        if kind.execute_next_task is not TaskSet.execute_next_task:
            def execute(one):
                self._task_queue.appendleft(one)
                self.execute_next_task()
        pause = self._pause if kind.wait is TaskSet.wait else self._pause_by_wait
        client = starts.enter(self)
        if client is None:
            return execute, pause

        def pause_until_start(turns):
            pause(turns)
            client._iteration_begins()

        return execute, pause_until_start

    def _draw(self):
        """The next task where none is scheduled."""
        return self.get_next_task()

    def _leave_on(self, interrupt):
        """End this set; where there is nothing to leave, return whether a wait was asked for."""
        try:
            self.on_stop()
        except (StopUser, StopTest, GreenletExit):
            raise
        except Exception:
            _log_failed_stop()
        _resume_parent(interrupt)

    def _end(self):
        """The user ends in this set: whatever `on_stop` raises does not keep it."""
        try:
            self.on_stop()
        except Exception:
            _log_failed_stop()

    def _report(self, error):
        environment = self._user.environment
        environment.events.user_error.fire(
            user_instance=self, exception=error, tb=error.__traceback__
        )
        if not environment.catch_exceptions:
            raise error
        logger.error("%s\n%s", error, traceback.format_exc())

    def execute_next_task(self):
        """Run the first task of the queue."""
        self.execute_task(self._task_queue.popleft())

    def execute_task(self, task):
        """Run one task: a method, a function that takes this set, or a nested set."""
        if is_task_set(task):
            task(self).run()
        elif hasattr(task, "__self__") and task.__self__ == self:
            task()
        else:
            task(self)

    def schedule_task(self, task_callable, first=False):
        """Put a task at the end of the queue, or at its front."""
        if first:
            self._task_queue.appendleft(task_callable)
        else:
            self._task_queue.append(task_callable)

    def get_next_task(self):
        """Draw the next task."""
        if not self.tasks:
            raise NoTasksError(no_tasks_message(self))
        return random.choice(self.tasks)

    def rule_of_waits(self):
        """Whose rule says how long to wait after a task, the set's or the user's, and that rule."""
        if type(self).wait_time is not TaskSet.wait_time:
            return self, self.wait_time
        return self._user, self._user.wait_time

    def wait_time(self):
        """Seconds to wait after a task: the set's own rule, or else the user's."""
        if self.user.wait_time:
            return self.user.wait_time()
        if self.min_wait is not None and self.max_wait is not None:
            return random.randint(self.min_wait, self.max_wait) / 1000.0
        raise MissingWaitTimeError(
            "You must define a wait_time method on either the "
            f"{type(self.user).__name__} or {type(self).__name__} class"
        )

    def wait(self):
        """Sleep as long as `wait_time` says. The user may be ended meanwhile."""
        self._pause(Turns())

    def _pause(self, turns):
        user, seconds = self._user, self.wait_time()
        state = user._state
        if not seconds and state == LOCUST_STATE_RUNNING:
            turns.end()
            return
        if state == LOCUST_STATE_STOPPING:
            raise StopUser()
        user._state = LOCUST_STATE_WAITING
        self._sleep(seconds)
        if user._state == LOCUST_STATE_STOPPING:
            raise StopUser()
        user._state = LOCUST_STATE_RUNNING

    def _pause_by_wait(self, _turns):
        self.wait()

    def _sleep(self, seconds):
        _engine_sleep(seconds)

    def interrupt(self, reschedule=True):
        """Leave this set; see `InterruptTaskSet`."""
        raise InterruptTaskSet(reschedule)


def no_tasks_message(holder):
    """What to say of a class without tasks."""
    is_set, name = isinstance(holder, TaskSet), type(holder).__name__
    hint = "."
    if getattr(holder, "task", None):
        where = "" if is_set else " on your class"
        hint = f", but you have set a 'task' attribute{where} - maybe you meant to set 'tasks'?"
    if is_set:
        what = "use the @task decorator or set the 'tasks' attribute of the TaskSet"
    else:
        what = (
            "Use the @task decorator or set the 'tasks' attribute of the User (or mark it as "
            "abstract = True if you only intend to subclass it)"
        )
    return f"No tasks defined on {name}{hint} {what}"


def _engine_sleep(seconds):
    from loadline import native

    global _engine_sleep
    _engine_sleep = native.load().sleep
    _engine_sleep(seconds)


class DefaultTaskSet(TaskSet):
    """The root: runs the tasks of the user itself, which get the user as their argument."""

    def get_next_task(self):
        """Draw one of the user's tasks."""
        if not self.user.tasks:
            raise NoTasksError(no_tasks_message(self.user))
        return random.choice(self.user.tasks)

    def _draw(self):
        tasks = self._user.tasks
        if len(tasks) == 1:
            return tasks[0]
        return random.choice(tasks) if tasks else self.get_next_task()

    def execute_task(self, task):
        """Run a task with the user as its argument."""
        if isinstance(task, type) and is_task_set(task):
            task(self._user).run()
        else:
            task(self._user)

    def rule_of_waits(self):
        """The user's rule."""
        return self._user, self._user.wait_time

    def wait_time(self):
        """The user's rule."""
        user = self._user
        return user.wait_time() if user.wait_time else super().wait_time()

    def _leave_on(self, interrupt):
        """There is nothing above the user's own tasks to go back to: take the next one."""
        return not interrupt.reschedule
