"""The task loop, task sets, tags and wait times, in this process."""

import command_support  # noqa: F401
import gevent
import pytest
from locust import (
    MarkovTaskSet,
    SequentialTaskSet,
    TaskSet,
    User,
    between,
    constant,
    constant_pacing,
    constant_throughput,
    poisson,
    tag,
    task,
    transition,
    transitions,
)
from locust.env import Environment
from locust.exception import (
    InterruptTaskSet,
    MissingWaitTimeError,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopTest,
    StopUser,
)
from locust.user import markov_taskset
from locust.user.inspectuser import _get_task_ratio
from locust.user.task import filter_tasks_by_tags

PAUSE = 0.02


class Log(list):
    """What a user did, and how long it waited before each entry."""


def life(kind, **environment):
    """Run one user of a class to its end; returns what it noted."""
    env = Environment(**environment)
    user = kind(env)
    user.seen = Log()
    with gevent.Timeout(5):
        user.run()
    return user.seen


def noting(name):
    def note(self):
        user = getattr(self, "user", self)
        user.seen.append(name)
    return note


class Noting(User):
    """A user that notes its beginning and end."""

    abstract = True
    on_start = noting("start")
    on_stop = noting("stop")


def steps(*actions):
    """A task that does one action after the other: None, or raises it."""
    def one(self):
        user = getattr(self, "user", self)
        user.step = getattr(user, "step", -1) + 1
        user.seen.append(user.step)
        action = actions[user.step] if user.step < len(actions) else StopUser()
        if action is not None:
            raise action
    return one


def test_a_user_ends_by_stop_user():
    class A(Noting):
        tasks = [steps(None, None)]

    assert life(A) == ["start", 0, 1, 2, "stop"]


def test_errors_are_told_and_the_user_goes_on():
    told = []

    class A(Noting):
        tasks = [steps(ValueError("x"), RescheduleTask(), RescheduleTaskImmediately())]

    env = Environment()
    env.events.user_error.add_listener(lambda **kwargs: told.append(kwargs))
    user = A(env)
    user.seen = Log()
    user.run()
    assert user.seen == ["start", 0, 1, 2, 3, "stop"]
    assert [str(one["exception"]) for one in told] == ["x"]
    assert set(told[0]) == {"user_instance", "exception", "tb"}


def test_errors_are_raised_where_they_are_not_to_be_caught():
    class A(Noting):
        tasks = [steps(ValueError("x"))]

    with pytest.raises(ValueError, match="x"):
        life(A, catch_exceptions=False)


def test_an_error_in_on_start_ends_the_user_without_on_stop():
    class A(Noting):
        def on_start(self):
            raise ValueError("x")

        tasks = [steps()]

    assert life(A) == []


def test_a_nested_set_is_left_by_interrupt():
    class Inner(TaskSet):
        on_start = noting("inner start")
        on_stop = noting("inner stop")
        tasks = [steps(None, InterruptTaskSet(), InterruptTaskSet(False))]

    class A(Noting):
        tasks = [Inner]

    assert life(A) == [
        "start", "inner start", 0, 1, "inner stop", "inner start", 2, "inner stop",
        "inner start", 3, "inner stop", "stop",
    ]


def test_only_interrupt_without_reschedule_waits_in_the_parent():
    waits = []

    class Inner(TaskSet):
        tasks = [steps(InterruptTaskSet(), InterruptTaskSet(False))]

    class A(Noting):
        tasks = [Inner]

        def wait_time(self):
            waits.append(self.step)
            return 0

    life(A)
    assert waits == [1]


def test_interrupt_of_the_users_own_tasks_takes_the_next_one():
    class A(Noting):
        tasks = [steps(InterruptTaskSet(), InterruptTaskSet(False))]

    assert life(A) == ["start", 0, 1, 2, "stop"]


def test_on_stop_of_a_set_may_fail(caplog):
    class Inner(TaskSet):
        tasks = [steps()]

        def on_stop(self):
            raise ValueError("x")

    class A(Noting):
        tasks = [Inner]

    assert life(A) == ["start", 0, "stop"]
    said = [one.name for one in caplog.records if "exception in on_stop" in one.message]
    assert said == ["root"]


def test_a_killed_user_leaves_its_sets():
    class Inner(TaskSet):
        on_stop = noting("inner stop")

        @task
        def sleep(self):
            gevent.sleep(10)

    class A(Noting):
        tasks = [Inner]

    user = A(Environment())
    user.seen = Log()
    greenlet = gevent.spawn(user.run)
    gevent.sleep(0.01)
    greenlet.kill()
    assert user.seen == ["start", "inner stop", "stop"]


@pytest.mark.parametrize("raised", [StopUser, StopTest, gevent.GreenletExit])
def test_on_stop_of_a_set_is_called_once_whatever_it_raises(raised):
    class Inner(TaskSet):
        tasks = [steps(InterruptTaskSet())]

        def on_stop(self):
            self.user.seen.append("inner stop")
            raise raised()

    class A(Noting):
        tasks = [Inner]

    assert life(A) == ["start", 0, "inner stop", "stop"]


def test_a_set_that_was_not_entered_is_not_left():
    class Inner(TaskSet):
        tasks = [steps()]

        def on_start(self):
            self.user.seen.append("inner start")
            if self.user.seen.count("inner start") < 3:
                self.interrupt(reschedule=self.user.seen.count("inner start") == 1)

        on_stop = noting("inner stop")

    class A(Noting):
        tasks = [Inner]

    assert life(A) == [
        "start", "inner start", "inner start", "inner start", 0, "inner stop", "stop",
    ]


@pytest.mark.parametrize("in_task", [
    None, RescheduleTask(), ValueError("x"),
])
@pytest.mark.parametrize("in_wait", [InterruptTaskSet(), InterruptTaskSet(False), StopUser()])
def test_a_wait_that_ends_a_set_finds_its_on_stop(in_task, in_wait):
    class Inner(TaskSet):
        tasks = [steps(in_task)]
        on_stop = noting("inner stop")

        def wait_time(self):
            raise in_wait

    class A(Noting):
        tasks = [Inner]

    gone_on = [] if isinstance(in_wait, StopUser) else [1, "inner stop"]
    assert life(A) == ["start", 0, "inner stop", *gone_on, "stop"]


def test_a_user_killed_in_the_wait_behind_an_error_leaves_its_sets():
    class Inner(TaskSet):
        wait_time = constant(10)
        tasks = [steps(ValueError("x"))]
        on_stop = noting("inner stop")

    class A(Noting):
        tasks = [Inner]

    user = A(Environment())
    user.seen = Log()
    greenlet = gevent.spawn(user.run)
    gevent.sleep(0.01)
    greenlet.kill()
    assert user.seen == ["start", 0, "inner stop", "stop"]


def test_a_wait_that_fails_ends_the_user():
    class A(Noting):
        tasks = [steps(None)]

        def wait_time(self):
            raise KeyError("no wait")

    with pytest.raises(KeyError, match="no wait"):
        life(A)


def test_the_queue_of_tasks_is_used_as_a_deque():
    queue = TaskSet(User(Environment()))._task_queue
    queue.append(2)
    queue.appendleft(1)
    assert (queue.popleft(), queue.popleft(), len(queue)) == (1, 2, 0)


def test_scheduled_tasks_come_first():
    class Inner(TaskSet):
        @task
        def drawn(self):
            self.user.seen.append("drawn")
            if len(self.user.seen) > 3:
                raise StopUser()
            self.schedule_task(self.bound)
            self.schedule_task(Inner.given, first=True)

        def bound(self):
            self.user.seen.append("bound")

        def given(self):
            self.user.seen.append("given")

    class A(User):
        tasks = [Inner]

    assert life(A) == ["drawn", "given", "bound", "drawn"]


@pytest.mark.parametrize("tasks, expected", [
    ([1, 2], [1, 2]),
    ([(1, 2), 3], [1, 1, 3]),
    ({1: 2, 3: 1}, [1, 1, 3]),
])
def test_tasks_are_repeated_by_their_weight(tasks, expected):
    kind = type("A", (User,), {"tasks": tasks})
    assert kind.tasks == expected


def test_shares_of_tasks_are_of_their_set_or_of_all():
    class Inner(TaskSet):
        def third(self):
            pass

        tasks = [third]

    def one(user):
        pass

    tasks = [one, one, one, Inner]
    assert _get_task_ratio(tasks, True, 0.5) == {
        "one": {"ratio": 0.375}, "Inner": {"ratio": 0.125, "tasks": {"third": {"ratio": 0.125}}}}
    assert _get_task_ratio(tasks, False, 0.5) == {
        "one": {"ratio": 0.75}, "Inner": {"ratio": 0.25, "tasks": {"third": {"ratio": 1.0}}}}


def test_methods_come_after_inherited_tasks_and_the_attribute():
    class Base(User):
        tasks = [1]

    class A(Base):
        tasks = [2]

        @task(2)
        def three(self):
            pass

    assert A.tasks == [1, 2, A.three, A.three]


def test_no_tasks_end_the_user_with_a_sentence(caplog):
    class A(Noting):
        task = [1]

    assert life(A) == ["start"]
    said = [(one.name, one.message.splitlines()[0]) for one in caplog.records]
    assert said == [("locust.user.task", (
        "No tasks defined on A, but you have set a 'task' attribute on your class - maybe you "
        "meant to set 'tasks'? Use the @task decorator or set the 'tasks' attribute of the User "
        "(or mark it as abstract = True if you only intend to subclass it)"))]


def test_a_class_without_tasks_is_named_before_it_is_used(caplog):
    class Empty(User):
        pass

    class Full(User):
        tasks = [steps()]

    environment = Environment(user_classes=[Empty, Full])
    for _ in range(2):
        environment._filter_tasks_by_tags()
    assert [one.message for one in caplog.records] == [
        "Empty had no tasks left after filtering, instantiating it will fail!"]


def test_names_that_are_no_tasks():
    with pytest.raises(Exception, match="must not override it or register it as a task"):
        @task
        def run(self):
            pass


class Tagged(TaskSet):
    @tag("a")
    @task
    def one(self):
        pass

    @tag("b", "a")
    @task
    def two(self):
        pass

    @task
    def three(self):
        pass

    @tag("c")
    @task
    class Deep(TaskSet):
        @task
        def four(self):
            pass


@pytest.mark.parametrize("tags, exclude, names", [
    ({"a"}, None, ["one", "two"]),
    ({"b"}, None, ["two"]),
    (None, {"b"}, ["one", "three", "Deep"]),
    ({"a"}, {"b"}, ["one"]),
    ({"c"}, None, ["Deep"]),
    (None, {"c"}, ["one", "two", "three"]),
    ({"none"}, None, []),
])
def test_tags(tags, exclude, names):
    kind = type("A", (User,), {"tasks": list(Tagged.tasks)})
    deep = list(Tagged.Deep.tasks)
    try:
        filter_tasks_by_tags(kind, tags, exclude)
        assert [one.__name__ for one in kind.tasks] == names
    finally:
        Tagged.Deep.tasks = deep


def test_a_tag_needs_a_name():
    with pytest.raises(ValueError, match="No tag name was supplied"):
        tag()


def test_sequential_tasks_keep_their_order():
    class Inner(SequentialTaskSet):
        @task(2)
        def one(self):
            self.user.seen.append("one")

        tasks = [noting("two")]

        @task
        def three(self):
            self.user.seen.append("three")
            if len(self.user.seen) > 6:
                raise StopUser()

    class A(User):
        tasks = [Inner]

    assert life(A) == ["one", "one", "two", "three"] * 2


def test_sequential_tasks_are_a_list_or_a_dict():
    with pytest.raises(ValueError, match="can only be set to list or dict"):
        type("S", (SequentialTaskSet,), {"tasks": {1, 2}})


def test_markov_tasks_follow_their_transitions():
    class Chain(MarkovTaskSet):
        @transition("two")
        def one(self):
            self.user.seen.append("one")

        @transitions({"three": 2})
        def two(self):
            self.user.seen.append("two")

        @transitions(["one", ("one", 3)])
        def three(self):
            self.user.seen.append("three")
            if len(self.user.seen) > 5:
                raise StopUser()

    class A(User):
        tasks = [Chain]

    assert Chain.three.transitions == ["one"] * 4
    assert life(A) == ["one", "two", "three"] * 2


def chain(**members):
    return type("M", (MarkovTaskSet,), members)


def leading_to(name):
    @transition(name)
    def a(self):
        pass

    return a


def plain(self):
    pass


def test_markov_chains_are_checked():
    with pytest.raises(markov_taskset.NoMarkovTasksError, match="No Markov tasks defined"):
        chain()
    with pytest.raises(markov_taskset.InvalidTransitionError, match="Transition to b from a"):
        chain(a=leading_to("b"))
    with pytest.raises(markov_taskset.NonMarkovTaskTransitionError, match="M.b cannot be used"):
        chain(a=leading_to("b"), b=plain)
    with pytest.raises(markov_taskset.MarkovTaskTagError, match="Tags are unsupported"):
        chain(a=tag("q")(leading_to("a")))
    assert chain(abstract=True).tasks == []


class Instance:
    """Something with a wait time."""

    _cp_last_run = 0.0
    _cp_last_wait_time = 0


def test_wait_times(monkeypatch):
    assert constant(3)(None) == 3
    assert all(1 <= between(1, 2)(None) <= 2 for _ in range(100))
    waits = [poisson(10)(None) for _ in range(5000)]
    assert 0.09 < sum(waits) / 5000 < 0.11


def test_pacing_does_not_catch_up(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("locust.user.wait_time.time.perf_counter", lambda: now[0])
    instance, wait, starts = Instance(), constant_pacing(1), []
    for duration in (0.01, 0.01, 1.4, 0.01):
        starts.append(round(now[0], 2))
        now[0] += duration
        now[0] += wait(instance)
    assert starts == [0.0, 1.0, 2.0, 3.4]


@pytest.mark.parametrize("function", [constant_throughput, poisson])
def test_rates_are_positive(function):
    with pytest.raises(ValueError, match=r"\(\) requires a positive rate, got: 0"):
        function(0)


def test_a_missing_wait_time_is_named():
    class A(User):
        wait_time = None
        tasks = [plain]

    with pytest.raises(MissingWaitTimeError):
        TaskSet(A(Environment())).wait_time()


def test_a_user_without_waits_lets_others_run():
    turns = []

    class A(User):
        @task
        def one(self):
            turns.append(self)
            if len(turns) >= 100:
                raise StopUser()

    users = [A(Environment()) for _ in range(2)]
    gevent.joinall([gevent.spawn(user.run) for user in users], timeout=5)
    assert 10 < turns.count(users[0]) < 90


def test_json_and_fullname():
    class A(User):
        @task
        def one(self):
            pass

    assert A.json() == {"host": None, "weight": 1, "fixed_count": 0, "tasks": ["one"]}
    assert A.fullname() == f"{__name__}.test_json_and_fullname.A"


def test_renamed_classes_say_so():
    import locust

    with pytest.raises(ImportError, match="The HttpLocust class has been renamed to HttpUser"):
        type("A", (locust.HttpLocust,), {})
