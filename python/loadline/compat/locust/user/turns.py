"""Who ran last, so that a user who never waits does not starve the others.

A turn is one pass of a task loop. When a turn ends and no other loop has begun one since, and the
event loop has not gone round, the task did not switch to another greenlet: only then the loop
yields by itself.
"""

import gevent

_newest = None


class Turns:
    """The turns of one task loop."""

    __slots__ = ("loop", "seen")

    def __init__(self):
        self.loop = gevent.get_hub().loop
        self.seen = None

    def end(self):
        """Let others run, if nobody could since the last call."""
        global _newest
        if _newest is not self:
            _newest = self
            self.seen = None
            return
        rounds = self.loop.iteration
        if self.seen is None or self.seen != rounds:
            self.seen = rounds
            return
        gevent.sleep(0)
