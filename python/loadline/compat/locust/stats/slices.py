"""Work that would hold up the users, done a slice at a time while they run."""

import time

import gevent

# Seconds that a slice takes, and that the users have at least before the next one.
_SLICE = 0.002
_PAUSE = 0.002


def in_slices(items):
    """The items one after the other; whenever a slice is over the users have their turn."""
    over = time.perf_counter() + _SLICE
    for item in items:
        yield item
        if time.perf_counter() > over:
            gevent.sleep(_PAUSE)
            over = time.perf_counter() + _SLICE
