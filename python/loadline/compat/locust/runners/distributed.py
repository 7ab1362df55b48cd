"""Runners of several machines. They are not there yet: making one says so."""

from .base import Runner

NOT_YET = (
    "Running on several machines (--master, --worker) is not there yet: use --processes to use "
    "all cores of this one."
)


class DistributedRunner(Runner):
    """One of several processes that run a test together."""


class MasterRunner(DistributedRunner):
    """Tells workers what to do."""

    def __init__(self, environment, master_bind_host="*", master_bind_port=5557):
        raise NotImplementedError(NOT_YET)


class WorkerRunner(DistributedRunner):
    """Does what a master tells it."""

    def __init__(self, environment, master_host, master_port):
        raise NotImplementedError(NOT_YET)
