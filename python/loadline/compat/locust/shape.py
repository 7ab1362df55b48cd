"""A load whose number of users is a function of time, written by the user."""

import time
from abc import ABC, ABCMeta, abstractmethod


class LoadTestShapeMeta(ABCMeta):
    """Makes `abstract` false in each subclass that does not say otherwise."""

    def __new__(mcs, name, bases, attributes):
        attributes.setdefault("abstract", False)
        return super().__new__(mcs, name, bases, attributes)


class LoadTestShape(ABC, metaclass=LoadTestShapeMeta):
    """Subclasses define `tick`, which is called about once per second."""

    abstract = True
    # Whether -u, -r and -t mean something to this shape, so that they are not warned of.
    use_common_options = False
    # The runner that the shape drives; set before the first tick.
    runner = None

    def __init__(self):
        self.start_time = time.perf_counter()

    def reset_time(self):
        """Begin to count `get_run_time` from now."""
        self.start_time = time.perf_counter()

    def get_run_time(self):
        """Seconds since the shape began."""
        return time.perf_counter() - self.start_time

    def get_current_user_count(self):
        """How many users there are now."""
        return self.runner.user_count if self.runner else 0

    @abstractmethod
    def tick(self):
        """`(users, spawn_rate)` or `(users, spawn_rate, classes)`; None ends the test."""
