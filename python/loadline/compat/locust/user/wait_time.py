"""How long users wait between two tasks."""

import random
import time

from . import starts


def between(min_wait, max_wait):
    """A uniformly drawn time between two numbers of seconds."""
    return lambda instance: min_wait + random.random() * (max_wait - min_wait)


def constant(wait_time):
    """Always that many seconds."""
    return lambda instance: wait_time


def constant_pacing(wait_time):
    """Begin a task every `wait_time` seconds; a task that takes longer is not caught up with."""

    def wait_time_func(self):
        now = time.perf_counter()
        run_time = now - self._cp_last_run - self._cp_last_wait_time
        self._cp_last_wait_time = max(0, wait_time - run_time)
        self._cp_last_run = now
        if starts.recorded:
            starts.iteration_ended(self, now, wait_time)
        return self._cp_last_wait_time

    wait_time_func.pacing = wait_time
    return wait_time_func


def constant_throughput(task_runs_per_second):
    """Begin that many tasks per second and user, as long as they are fast enough."""
    _refuse_no_rate("constant_throughput", task_runs_per_second)
    return constant_pacing(1 / task_runs_per_second)


def poisson(task_runs_per_second):
    """Exponentially distributed waits with a mean of 1 / rate seconds."""
    _refuse_no_rate("poisson", task_runs_per_second)
    return lambda instance: random.expovariate(task_runs_per_second)


def _refuse_no_rate(function, rate):
    if rate <= 0:
        raise ValueError(f"{function}() requires a positive rate, got: {rate}")
