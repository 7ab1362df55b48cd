"""`catch_response`: the with-block in which a task itself says how a request went.

A response that is not caught is counted as soon as it is there. A caught one is counted once,
when its block ends; a block that ends by an exception of its own counts nothing.
"""

from locust.exception import CatchResponseError, LocustError, ResponseError

NOT_CAUGHT = "In order to use a with-block for requests, you must also pass catch_response=True"
NO_BLOCK = (
    "Tried to set status on a request that has not yet been made. "
    "Make sure you use a with-block, like this:\n\n"
    "with self.client.request(..., catch_response=True) as response:\n"
    "    response.{0}"
)


class Caught:
    """The with-block of a response, and `success()` and `failure()` in it.

    Its class needs `_caught` (was catch_response given?), `_report(outcome)`, `_started_meta()`
    (what is known of the request as the event's dict) and `request_event`.
    """

    _caught = False
    _entered = False
    _is_foreign = False  # counted by an event of its own, not by the engine
    _is_counted = False
    _manual = None  # what the task said last: None, True, or an exception
    _meta = None  # the dict of `request_meta`, once somebody has asked for it

    def __enter__(self):
        if not self._is_caught():
            self._refuse_block()
        else:
            self._entered = True
        return self

    def __exit__(self, kind, value, trace):
        if not self._entered:
            return False
        outcome = self._manual
        if outcome is None and kind is not None:
            if not issubclass(kind, ResponseError):
                return False
            outcome, kind = value, None
        if self._meta is None and not self._is_foreign:
            self._report(outcome)  # nothing was looked at, so nothing was edited
        elif not self._is_counted:
            self._count(outcome)
        self._is_counted = True
        return kind is None

    def _is_caught(self):
        """Whether its count is left to a block (one of a foreign event may be counted by now)."""
        return self._caught and (self._entered or not self._is_counted)

    def _refuse_block(self):
        raise LocustError(NOT_CAUGHT)

    def success(self):
        """Count the request as a success, whatever its status."""
        self._require_block("success()")
        self._manual = True

    def failure(self, exc):
        """Count the request as a failure with this exception or text."""
        self._require_block("failure(...)")
        self._manual = exc if isinstance(exc, Exception) else CatchResponseError(exc)

    def _require_block(self, method):
        if not self._entered:
            raise LocustError(NO_BLOCK.format(method))

    @property
    def request_meta(self):
        """What the `request` event says of this request; edited in the block, it is reported so."""
        if self._meta is None:
            self._meta = self._started_meta()
        return self._meta

    def _count(self, outcome):
        """Count the request: natively, or through the event if its facts were edited."""
        if not (self._is_foreign or self._is_edited()):
            return self._report(outcome)
        self._is_counted = True
        edited = self.request_meta
        if outcome is None and edited["exception"] is None:
            outcome = self._own_failure()
        if outcome is not None:
            edited["exception"] = None if outcome is True else outcome
        self.request_event.fire(**edited)

    def _is_edited(self):
        if self._meta is None:
            return False
        known = self._started_meta()
        known["start_time"] = self._meta.get("start_time")  # of the clock, so it may differ a bit
        return self._meta != known
