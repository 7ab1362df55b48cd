"""Names of old versions, whose use says what they are called now."""

import warnings


def check_for_deprecated_task_set_attribute(class_dict):
    """Warn of an attribute `task_set` in a class body."""
    if "task_set" in class_dict:
        warnings.warn(
            "Usage of User.task_set is deprecated since version 1.0. Set the tasks attribute "
            "instead (tasks = [TaskSet])",
            DeprecationWarning,
            stacklevel=4,
        )


class _RefusesSubclasses(type):
    def __new__(mcs, name, bases, attributes):
        for base in bases:
            if isinstance(base, mcs):
                raise ImportError(
                    f"The {base.__name__} class has been renamed to {base.now} in version 1.0. "
                    "For more info see: "
                    "https://docs.locust.io/en/latest/changelog.html#changelog-1-0"
                )
        return super().__new__(mcs, name, bases, attributes)


def renamed(old, new):
    """A class `old` whose subclasses raise ImportError with the name `new`."""
    return _RefusesSubclasses(old, (), {"now": new})
