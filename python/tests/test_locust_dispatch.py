"""The order in which users start: sequences that were seen with Locust 2.47."""

import command_support  # noqa: F401
import pytest
from locust import User
from locust.dispatch import UsersDispatcher, planned_counts
from locust.runners import WorkerNode


def classes(weights, fixed=()):
    return [
        type(name, (User,), {"weight": weight, "fixed_count": dict(fixed).get(name, 0)})
        for name, weight in weights.items()
    ]


def changes(dispatcher, before):
    """One letter for each start, a small one for each stop."""
    letters = ""
    for batch in dispatcher:
        for name, count in batch["w"].items():
            difference = count - before.get(name, 0)
            letters += name * difference if difference > 0 else name.lower() * -difference
        before.update(batch["w"])
    return letters


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr("locust.dispatch.gevent.sleep", lambda seconds: None)


@pytest.mark.parametrize(
    "weights, expected",
    [
        ({"A": 3, "B": 1}, "ABAAABAAABAA"),
        ({"A": 1, "B": 1}, "ABABABAB"),
        ({"A": 5, "B": 1}, "AABAAAAABAAA"),
        ({"A": 1, "B": 2, "C": 3}, "CBACBCCBACBC"),
        ({"A": 10, "B": 1, "C": 1}, "AAAABCAAAAAAAAAAABCAAAAAAAAAABCAAAAAAAAAA"),
        (
            {"A": 7, "B": 3, "C": 2.5, "D": 0.7},
            "ABCAABACDAABACABAACBAAACBAADBCAABACAABACABAACBADAACBAABCAABA",
        ),
        ({"A": 1.3, "B": 1.1, "C": 0}, "ABABABABABABAABABABABABAABABAB"),
        ({"A": 1, "B": 1, "C": 97}, "C" * 43 + "AB" + "C" * 25),
        ({"A": 3, "B": 3, "C": 3}, "ABCABCABC"),
    ],
)
def test_each_start_brings_the_shares_closest_to_the_weights(weights, expected):
    dispatcher = UsersDispatcher([WorkerNode("w")], classes(weights))
    dispatcher.new_dispatch(len(expected), 1)
    assert changes(dispatcher, {}) == expected


def test_users_of_a_fixed_count_start_first():
    kinds = classes({"A": 2, "B": 1, "C": 1, "D": 1}, {"B": 3, "C": 2})
    dispatcher = UsersDispatcher([WorkerNode("w")], kinds)
    dispatcher.new_dispatch(20, 1)
    assert changes(dispatcher, {}) == "BCBCBADAADAADAADAADA"


def test_only_fixed_counts_end_where_they_are_reached():
    dispatcher = UsersDispatcher([WorkerNode("w")], classes({"B": 1, "C": 1}, {"B": 3, "C": 2}))
    dispatcher.new_dispatch(10, 1)
    assert changes(dispatcher, {}) == "BCBCB"


def test_stops_are_in_reverse_order_and_later_starts_go_on_with_the_order():
    dispatcher = UsersDispatcher([WorkerNode("w")], classes({"A": 2, "B": 1, "C": 1, "D": 1}))
    counts, parts = {}, []
    for target in (20, 5, 12, 3, 9):
        dispatcher.new_dispatch(target, 1)
        parts.append(changes(dispatcher, counts))
    expected = ["ABCDAABCDAABCDAABCDA", "adcbaadcbaadcba", "ABCDAAB", "baadcbaad", "CDAABC"]
    assert parts == expected


def test_fixed_users_that_were_stopped_start_again_first():
    kinds = classes({"A": 2, "B": 1, "C": 1, "D": 1}, {"B": 3, "C": 2})
    dispatcher = UsersDispatcher([WorkerNode("w")], kinds)
    counts, parts = {}, []
    for target in (20, 5, 2, 12, 0, 9):
        dispatcher.new_dispatch(target, 1)
        parts.append(changes(dispatcher, counts))
    assert parts[1:] == ["adaadaadaadaada", "bcb", "BCBADAADAA", "aadaadabcbcb", "BCBCBDAAD"]


@pytest.mark.parametrize("rate, expected", [(2, [2, 4, 5]), (0.5, [1, 2, 3, 4, 5]), (9, [5])])
def test_a_batch_has_the_whole_part_of_the_rate(rate, expected):
    dispatcher = UsersDispatcher([WorkerNode("w")], classes({"A": 1}))
    dispatcher.new_dispatch(5, rate)
    assert [batch["w"]["A"] for batch in dispatcher] == expected


def test_workers_take_turns():
    workers = [WorkerNode("host_1"), WorkerNode("host_2")]
    dispatcher = UsersDispatcher(workers, classes({"A": 1}))
    dispatcher.new_dispatch(5, 10)
    assert list(dispatcher) == [{"host_1": {"A": 3}, "host_2": {"A": 2}}]


def test_no_weight_is_refused():
    with pytest.raises(ValueError, match="There are no users with weight > 0."):
        planned_counts(classes({"A": 0}), 1)


@pytest.mark.parametrize(
    "users, rate, text",
    [(1, 0, "spawn_rate must be > 0, got 0"), (-1, 1, "target_user_count must be >= 0, got -1")],
)
def test_a_load_that_is_none_is_refused(users, rate, text):
    dispatcher = UsersDispatcher([WorkerNode("w")], classes({"A": 1}))
    with pytest.raises(ValueError, match=text):
        dispatcher.new_dispatch(users, rate)


def shares(counts):
    """The users of each worker, and those of each class."""
    classes = {}
    for of_worker in counts.values():
        for name, count in of_worker.items():
            classes[name] = classes.get(name, 0) + count
    return {worker: sum(users.values()) for worker, users in counts.items()}, classes


@pytest.mark.parametrize("users", range(1, 30))
def test_workers_that_come_get_their_share_and_no_user_is_lost_or_added(users):
    kinds = classes({"A": 3, "B": 2, "C": 1}, {"C": 2})
    dispatcher = UsersDispatcher([WorkerNode("w1"), WorkerNode("w2")], kinds)
    dispatcher.new_dispatch(users, 3)
    *_, before = dispatcher
    for name in ("w3", "w4", "w5"):
        dispatcher.add_worker(WorkerNode(name))
        moved, last = 0, dispatcher.dispatched_users
        dispatcher.rebalance()
        for counts in dispatcher:
            step = sum(abs(counts[worker][kind] - last[worker][kind])
                       for worker in counts for kind in counts[worker]) // 2
            assert step <= 3
            moved, last = moved + step, counts
        per_worker, per_class = shares(dispatcher.dispatched_users)
        assert per_class == shares(before)[1]
        assert max(per_worker.values()) - min(per_worker.values()) <= 1, per_worker
        assert moved == per_worker[name]
    dispatcher.rebalance()
    assert list(dispatcher) == []
