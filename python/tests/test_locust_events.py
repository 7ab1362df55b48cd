"""Events: order, exceptions, samples that are fired by hand."""

import socket
import weakref

import command_support  # noqa: F401
import pytest
from locust import User, constant, log
from locust.env import Environment
from locust.event import DeprecatedEventHook, EventHook, Events
from locust.exception import InterruptTaskSet, RescheduleTask, StopTest, StopUser


@pytest.fixture(autouse=True)
def nothing_unhandled(monkeypatch):
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)


def test_listeners_are_called_in_order_or_in_reverse():
    hook, seen = EventHook(), []
    for name in ("a", "b"):
        hook.add_listener(lambda name=name, **kwargs: seen.append((name, kwargs)))
    hook.fire(x=1)
    hook.fire(reverse=True, x=2)
    assert seen == [("a", {"x": 1}), ("b", {"x": 1}), ("b", {"x": 2}), ("a", {"x": 2})]


def test_a_listener_can_be_removed():
    hook = EventHook()
    listener = hook.add_listener(lambda **kwargs: pytest.fail("called"))
    hook.remove_listener(listener)
    hook.fire()


def test_exceptions_are_logged_and_the_others_are_called(caplog):
    hook, seen = EventHook(), []

    @hook.add_listener
    def fail(**kwargs):
        raise ValueError("x")

    hook.add_listener(lambda **kwargs: seen.append(1))
    hook.fire()
    assert seen == [1]
    assert "Uncaught exception in event handler" in caplog.text
    assert log.unhandled_greenlet_exception


@pytest.mark.parametrize("kind", [StopUser, StopTest, RescheduleTask, InterruptTaskSet])
def test_what_steers_tasks_passes(kind):
    hook = EventHook()

    @hook.add_listener
    def steer(**kwargs):
        raise kind()

    with pytest.raises(kind):
        hook.fire()


def test_measure_fires_the_time_and_the_exception():
    hook, seen = EventHook(), []
    hook.add_listener(lambda **kwargs: seen.append(kwargs))
    with hook.measure("X", "name", 5, {"c": 1}) as meta:
        meta["response_length"] = 7
    with hook.measure("X", "name"):
        raise ValueError("x")
    first, second = seen
    assert (first["request_type"], first["name"], first["response_length"]) == ("X", "name", 7)
    assert (first["context"], first["exception"]) == ({"c": 1}, None)
    assert first["response_time"] >= 0 < first["start_time"]
    assert (repr(second["exception"]), second["context"]) == ("ValueError('x')", {})


def test_subclasses_add_events():
    class Mine(Events):
        mine: EventHook

    assert isinstance(Mine().mine, EventHook)
    assert isinstance(Mine().request, EventHook)
    assert not hasattr(Events(), "mine")


def test_samples_that_are_fired_are_counted_and_told():
    env = Environment()
    env.create_local_runner()
    seen = []
    env.events.request.add_listener(lambda **kwargs: seen.append(kwargs["name"]))
    env.events.request.fire(request_type="X", name="a", response_time=3, response_length=5)
    env.events.request.fire(
        request_type="X", name="a", response_time=None, response_length=0,
        exception=ValueError("x"), other=1,
    )
    row = env.stats.get("a", "X")
    assert seen == ["a", "a"]
    assert (row.num_requests, row.num_failures, row.num_none_requests) == (2, 1, 1)
    assert [error.to_name() for error in env.stats.errors.values()] == ["X a: ValueError('x')"]
    env.runner.quit()


def test_notify_counts_nothing():
    env = Environment()
    env.create_local_runner()
    env.events.request.notify(request_type="X", name="a", response_time=3, response_length=5)
    assert env.stats.num_requests == 0
    env.runner.quit()


def test_the_engine_tells_as_long_as_one_environment_listens(monkeypatch):
    from loadline import native

    told = []
    monkeypatch.setattr("locust.event._listening", weakref.WeakSet())
    monkeypatch.setattr(native.load(), "on_request", lambda hook: told.append(hook is not None))
    first, second = Environment().events.request, Environment().events.request
    listeners = [hook.add_listener(lambda **kwargs: None) for hook in (first, second)]
    first.remove_listener(listeners[0])
    second.remove_listener(listeners[1])
    assert told == [True, True, True, False]


def test_old_events_say_what_to_use(caplog):
    DeprecatedEventHook("use request").add_listener(lambda **kwargs: None)
    assert "use request" in caplog.text


def test_environments_are_checked():
    import locust

    class A(locust.User):
        pass

    class Weightless(locust.User):
        weight = 0

    other = type("A", (locust.User,), {})
    with pytest.raises(ValueError, match="have the same class name: .*A, .*A"):
        Environment(user_classes=[A, other])
    with pytest.raises(ValueError, match="There are no users with weight > 0."):
        Environment(user_classes=[Weightless])
    with pytest.raises(ValueError, match="shape_class should be instance of LoadTestShape"):
        Environment(shape_class=locust.LoadTestShape)
    assert Environment(user_classes=[A, Weightless]).user_classes == [A]


def test_a_sample_that_cannot_be_counted_is_logged_and_told_to_the_listeners(caplog):
    environment, heard = Environment(), []
    environment.create_local_runner()
    environment.events.request.add_listener(lambda **sample: heard.append(sample["name"]))
    environment.events.request.fire(
        request_type="GET", name="n", response_time="late", response_length=0, exception=None
    )
    assert heard == ["n"]
    assert "Uncaught exception in event handler" in caplog.text
    assert log.unhandled_greenlet_exception


def test_no_user_is_left_when_the_end_of_a_test_is_told(caplog):
    class Idle(User):
        wait_time = constant(1)
        tasks = [lambda user: None]

    environment, left = Environment(user_classes=[Idle]), []
    runner = environment.create_local_runner()
    caplog.set_level("DEBUG", "locust.runners")
    environment.events.test_stop.add_listener(lambda **_: left.append(runner.user_count))
    runner.start(3, spawn_rate=10, wait=True)
    runner.stop_users({"Idle": 1})
    assert runner.user_count == 2
    runner.stop()
    assert left == [0] and runner.user_classes_count == {"Idle": 0}
    assert 'Spawning additional {"Idle": 3} ({"Idle": 0} already running)...' in caplog.messages
    assert runner.cpu_log_warning() is runner.cpu_warning_emitted
    assert runner.client_id.startswith(f"{socket.gethostname()}_")
