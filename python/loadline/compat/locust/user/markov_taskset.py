"""A set in which each task says with what weight which task follows it."""

import logging
import random

from .task import TaskSet, TaskSetMeta

logger = logging.getLogger(__name__)


class NoMarkovTasksError(Exception):
    """The class has no task with a transition."""


class InvalidTransitionError(Exception):
    """A transition names something that the class does not have."""


class NonMarkovTaskTransitionError(Exception):
    """A transition leads to a method that has no transitions of its own."""


class MarkovTaskTagError(Exception):
    """A task has tags, which could make the chain end."""


def transition(func_name, weight=1):
    """After this task, `func_name` may follow, with that weight."""
    return transitions({func_name: weight})


def transitions(weights):
    """Several transitions: a dict of weights, or a list of names and (name, weight) pairs."""

    def decorate(func):
        known = getattr(func, "transitions", [])
        func.transitions = known + _repeated(weights)
        return func

    return decorate


def _repeated(weights):
    pairs = weights.items() if isinstance(weights, dict) else weights
    names = []
    for one in pairs:
        name, weight = one if isinstance(one, tuple) else (one, 1)
        names += [name] * weight
    return names


def is_markov_task(candidate):
    """Whether something in a class body is a task with transitions."""
    return hasattr(candidate, "transitions")


def get_markov_tasks(class_dict):
    """The tasks with transitions, in the order of their definition."""
    return [member for member in class_dict.values() if is_markov_task(member)]


def validate_markov_chain(tasks, class_dict, classname):
    """Raise what is wrong with a chain; tasks that nothing leads to are only warned of."""
    if not tasks:
        raise NoMarkovTasksError(
            f"No Markov tasks defined in class {classname}. Use the @transition(s) decorators to "
            "define some."
        )
    for one in tasks:
        _validate_targets(one, class_dict, classname)
    _warn_of_unreachable(tasks, class_dict, classname)
    _refuse_tags(tasks, classname)


def _validate_targets(one, class_dict, classname):
    for target in one.transitions:
        if target not in class_dict:
            raise InvalidTransitionError(
                f"Transition to {target} from {one.__name__} is invalid since no such element "
                f"exists on class {classname}"
            )
        if not is_markov_task(class_dict[target]):
            raise NonMarkovTaskTransitionError(
                f"{classname}.{target} cannot be used as a target for a transition since it does "
                f"not define any transitions of its own.Used as a transition from {one.__name__}."
            )


def _warn_of_unreachable(tasks, class_dict, classname):
    reached, open_names = set(), [tasks[0].__name__]
    while open_names:
        name = open_names.pop()
        if name not in reached:
            reached.add(name)
            open_names += class_dict[name].transitions
    missed = {one.__name__ for one in tasks} - reached
    if missed:
        logging.warning(
            f"The following markov tasks are unreachable in class {classname}: {missed}"
        )


def _refuse_tags(tasks, classname):
    for one in tasks:
        if getattr(one, "locust_tag_set", None):
            raise MarkovTaskTagError(
                "Tags are unsupported for MarkovTaskSet since they can make the markov chain "
                f"invalid. Tags detected on {classname}.{one.__name__}: {one.locust_tag_set}"
            )


class MarkovTaskSetMeta(TaskSetMeta):
    """Checks the chain of each class that is not abstract."""

    def __new__(mcs, name, bases, attributes):
        attributes.setdefault("abstract", False)
        members = {}
        for base in reversed(bases):
            for kind in reversed(base.__mro__):
                members.update(vars(kind))
        members.update(attributes)
        if not attributes["abstract"]:
            tasks = get_markov_tasks(members)
            validate_markov_chain(tasks, members, name)
            attributes["current"] = tasks[0]
        attributes["tasks"] = []
        return type.__new__(mcs, name, bases, attributes)


class MarkovTaskSet(TaskSet, metaclass=MarkovTaskSetMeta):
    """Starts with the first task of the class; each task draws the one that follows it."""

    abstract = True
    current = None

    def get_next_task(self):
        """The task whose turn it is; then draw the one after it."""
        one = self.current
        self.current = getattr(type(self), random.choice(one.transitions))
        return one
