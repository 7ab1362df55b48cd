"""What runners of several processes have in common."""

from .base import Runner


class DistributedRunner(Runner):
    """One of several processes that run a test together."""
