"""The exceptions of Locust's interface.

Those that steer the task loop (`InterruptTaskSet`, `RescheduleTask`, `StopUser`, …) are no errors:
a task raises them to say what happens next.
"""


class LocustError(Exception):
    """Something in a locustfile is used in a way that cannot work."""


class ResponseError(Exception):
    """Raised in a `catch_response` block: the request counts as a failure with this error."""


class CatchResponseError(Exception):
    """What `failure("text")` makes of its text."""


class MissingWaitTimeError(LocustError):
    """Neither the task set nor its user says how long to wait between tasks."""


class InterruptTaskSet(Exception):
    """Leave the task set; its parent goes on at once, or after its wait if not `reschedule`."""

    def __init__(self, reschedule=True):
        super().__init__(reschedule)
        self.reschedule = reschedule


class StopTest(Exception):
    """End the whole test."""


class StopUser(Exception):
    """End this user; it is not replaced."""


class RescheduleTask(Exception):
    """Give up the task and go on as if it had ended: wait, then the next one."""


class RescheduleTaskImmediately(Exception):
    """Give up the task and begin the next one without waiting."""


class RPCError(Exception):
    """Something went wrong between the processes of a run."""


class RPCSendError(RPCError):
    """A message to another process of the run could not be sent."""


class RPCReceiveError(RPCError):
    """A message of another process of the run could not be read; `addr` is who sent it."""

    def __init__(self, *args, addr=None):
        super().__init__(*args)
        self.addr = addr


class AuthCredentialsError(ValueError):
    """The user name and password of the web page were not given as they must be."""


class RunnerAlreadyExistsError(Exception):
    """An environment has one runner; a second one was asked for."""
