"""Notes on the tests of a page: on an instant, by whoever watches, or on a change of the load.

The page marks them in its charts. Those that were written are in the saved run of their test as
well, as notes of Loadline's live page are.
"""

import math
import time
from typing import NamedTuple

# As many, and as long, as a run of Loadline keeps.
_MOST = 200
_LONGEST = 500

_NO_TEST = "No test has been started: a note is on an instant of one."
_TOO_MANY = f"A test keeps {_MOST} notes, and has them all."
_EMPTY = "Write some text: a note is one line of at most 500 characters."
_NO_INSTANT = "'at' is the instant of a note, in seconds since 1970; leave it out for now."


class Refused(ValueError):
    """Why a note is not kept."""


class Note(NamedTuple):
    """A text on an instant, in seconds since 1970."""

    at: float
    text: str
    is_written: bool


class Notes:
    """The notes on all tests of a process, in the order in which they came."""

    def __init__(self, events, clock=time.time):
        self._clock = clock
        self._notes = []
        # The instants at which tests began.
        self._begun = []
        events.test_start.add_listener(self._begin)
        events.reset_stats.add_listener(self._reset)
        events.load_changed.add_listener(self._change)

    def _begin(self, **_kwargs):
        self._begun.append(self._clock())
        if len(self._begun) > 1:
            self.mark(f"Test {len(self._begun)} started")

    def _reset(self, **_kwargs):
        self.mark("Counted anew")

    def _change(self, user_count, **_kwargs):
        self.mark(f"Load changed to {user_count} user{'' if user_count == 1 else 's'}")

    def mark(self, text):
        """Note what was done to a test."""
        if self._begun:
            self._notes.append(Note(self._clock(), text, False))

    def write(self, text, at=None):
        """Keep a note, on now if there is no instant; Refused says why it is not kept."""
        text = "".join(letter if letter.isprintable() else " " for letter in str(text or ""))
        text = text.strip()[:_LONGEST]
        if not text:
            raise Refused(_EMPTY)
        if not self._begun:
            raise Refused(_NO_TEST)
        now = self._clock()
        at = now if at in (None, "") else _instant(at)
        note = Note(min(max(at, self._begun[0]), now), text, True)
        if len(self.written_on(self._test_of(note.at))) >= _MOST:
            raise Refused(_TOO_MANY)
        self._notes.append(note)
        return note

    def _test_of(self, at):
        """The number of the test on which a note on an instant is; the first is 1."""
        return max(1, sum(begun <= at for begun in self._begun))

    def written_on(self, test):
        """What was written on a test, in the order of the instants."""
        written = (one for one in self._notes if one.is_written)
        return sorted(one for one in written if self._test_of(one.at) == test)

    def as_data(self):
        """All notes for the page, in the order of their instants."""
        return [one._asdict() for one in sorted(self._notes)]


def _instant(given):
    try:
        at = float(given)
    except (TypeError, ValueError):
        raise Refused(_NO_INSTANT) from None
    if not math.isfinite(at):
        raise Refused(_NO_INSTANT)
    return at
