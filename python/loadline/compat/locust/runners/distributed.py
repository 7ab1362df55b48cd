"""Runners of several processes. The command makes them; a program of one's own can't yet."""

from .base import Runner

_NOT_YET = (
    "A program of your own can't have users in other processes yet: use the command, loadline "
    "locust --processes N, or --master with --worker."
)


class DistributedRunner(Runner):
    """One of several processes that run a test together."""


class MasterRunner(DistributedRunner):
    """Tells workers what to do."""

    def __init__(self, environment, master_bind_host="*", master_bind_port=5557):
        raise NotImplementedError(_NOT_YET)


class WorkerRunner(DistributedRunner):
    """Does what a master tells it."""

    def __init__(self, environment, master_host, master_port):
        raise NotImplementedError(_NOT_YET)
