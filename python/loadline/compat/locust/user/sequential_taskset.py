"""A set whose tasks run in the order of their declaration, over and over."""

import logging

from .task import TaskSet, TaskSetMeta, weighted_tasks

logger = logging.getLogger(__name__)


class SequentialTaskSetMeta(TaskSetMeta):
    """Keeps the order of the class body, with `tasks` where it is declared."""

    def __new__(mcs, name, bases, attributes):
        found = [inherited for base in bases for inherited in getattr(base, "tasks", None) or []]
        for member_name, member in attributes.items():
            weight = getattr(member, "locust_task_weight", None)
            if weight is not None:
                found += [member] * weight
            elif member_name == "tasks":
                found += _declared(member)
        attributes["tasks"] = found
        return type.__new__(mcs, name, bases, attributes)


def _declared(tasks):
    if not isinstance(tasks, (list, dict)):
        raise ValueError("The 'tasks' attribute can only be set to list or dict")
    return weighted_tasks(tasks)


class SequentialTaskSet(TaskSet, metaclass=SequentialTaskSetMeta):
    """Runs its tasks one after the other; after the last one the first again."""

    def __init__(self, parent):
        super().__init__(parent)
        self._position = 0

    def get_next_task(self):
        """The task that follows the one before."""
        if not self.tasks:
            return super().get_next_task()
        one = self.tasks[self._position % len(self.tasks)]
        self._position += 1
        return one
