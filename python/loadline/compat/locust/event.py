"""Events: lists of functions that a locustfile adds, called when something happens.

`request` is special: the engine counts its samples itself. Its listeners are called for each
sample only where there are any, and whoever fires the event by hand counts a sample too.
"""

import logging
import time
import traceback
import weakref
from contextlib import contextmanager

from . import log
from .exception import (
    InterruptTaskSet,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopTest,
    StopUser,
)

_FLOW = (StopUser, StopTest, InterruptTaskSet, RescheduleTask, RescheduleTaskImmediately)


class EventHook:
    """The listeners of one event."""

    def __init__(self):
        self._handlers = []

    def add_listener(self, handler):
        """Call `handler` when the event happens; returns it, so this is a decorator too."""
        self._handlers.append(handler)
        return handler

    def remove_listener(self, handler):
        """Undo `add_listener`; ValueError if it was never added."""
        self._handlers.remove(handler)

    def fire(self, *, reverse=False, **kwargs):
        """Call all listeners. An ordinary exception is logged, and the others are still called."""
        handlers = reversed(self._handlers) if reverse else self._handlers
        for handler in list(handlers):
            _call(handler, kwargs)

    @contextmanager
    def measure(self, request_type, name, response_length=0, context=None):
        """Fire this event for the block: its time, and the exception that ended it, if any.

        The block gets the dict of the event's arguments and may change it.
        """
        meta = {
            "request_type": request_type,
            "name": name,
            "response_length": response_length,
            "context": context or {},
            "exception": None,
            "start_time": time.time(),
        }
        began = time.perf_counter()
        try:
            yield meta
        except Exception as e:
            meta["exception"] = e
        finally:
            meta["response_time"] = (time.perf_counter() - began) * 1000
            self.fire(**meta)


def _call(handler, kwargs):
    try:
        handler(**kwargs)
    except _FLOW:
        raise
    except Exception:
        logging.error("Uncaught exception in event handler: \n%s", traceback.format_exc())
        log.mark_unhandled_exception()


class RequestHook(EventHook):
    """The `request` event. `sinks` are the statistics that count what is fired by hand."""

    def __init__(self):
        super().__init__()
        self.sinks = []

    @property
    def has_listeners(self):
        """Whether anybody wants to hear of each sample."""
        return bool(self._handlers)

    def add_listener(self, handler):
        """As for every event; the engine then tells of each of its samples."""
        super().add_listener(handler)
        _listening.add(self)
        _notify_engine()
        return handler

    def remove_listener(self, handler):
        """As for every event; without listeners the engine calls nothing."""
        super().remove_listener(handler)
        if not self._handlers:
            _listening.discard(self)
            _notify_engine()

    def fire(self, *, reverse=False, **kwargs):
        """Count a sample that the engine has not seen, and call the listeners."""
        for count in self.sinks:
            _call(count, kwargs)
        self.notify(reverse=reverse, **kwargs)

    def notify(self, *, reverse=False, **kwargs):
        """Call the listeners for a sample that is counted already."""
        super().fire(reverse=reverse, **kwargs)


def _deliver(response, exception):
    meta = dict(response.request_meta)
    meta["response"] = response
    meta["exception"] = exception
    response.request_event.notify(**meta)


# The `request` events of this process that have listeners; each environment may have its own.
_listening = weakref.WeakSet()


def _notify_engine():
    from loadline import native

    native.load().on_request(_deliver if _listening else None)


class DeprecatedEventHook(EventHook):
    """An event that is no longer fired; adding a listener says what to use instead."""

    def __init__(self, message):
        super().__init__()
        self.message = message

    def add_listener(self, handler):
        """Add it nevertheless, with a warning in the log."""
        logging.warning(self.message)
        return super().add_listener(handler)


class Events:
    """All events. Subclasses add their own by annotating names with `EventHook`."""

    request: RequestHook
    user_error: EventHook
    report_to_master: EventHook
    worker_report: EventHook
    worker_connect: EventHook
    spawning_complete: EventHook
    quitting: EventHook
    quit: EventHook
    init: EventHook
    init_command_line_parser: EventHook
    test_start: EventHook
    test_stopping: EventHook
    test_stop: EventHook
    reset_stats: EventHook
    cpu_warning: EventHook
    heartbeat_sent: EventHook
    heartbeat_received: EventHook
    usage_monitor: EventHook
    # Ours: a test that runs goes to another number of users, and it is no step of its shape.
    load_changed: EventHook

    def __init__(self):
        for kind in reversed(type(self).__mro__):
            for name, annotation in vars(kind).get("__annotations__", {}).items():
                if _is_hook(annotation) and not hasattr(self, name):
                    setattr(self, name, RequestHook() if name == "request" else EventHook())


def _is_hook(annotation):
    if isinstance(annotation, str):
        return annotation.split(".")[-1] in ("EventHook", "RequestHook")
    return isinstance(annotation, type) and issubclass(annotation, EventHook)
