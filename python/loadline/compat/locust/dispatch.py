"""Which users start and stop when: the order of classes, the workers they run on, the pace.

The order is a pure function of the weights. Classes with a `fixed_count` come first. After them
each step picks the class whose next user lowers the Kullback-Leibler divergence of the weights from
the users most; of equal ones the first by name.
"""

import itertools
import math
import time
from collections import defaultdict, deque

import gevent


def closest_to_weights(weighted):
    """Endless order of the keys of `weighted`, a list of (key, weight).

    The divergence is that of the weights from the counts, where a class has as many users as its
    weight before the first one starts. One more user of a class then lowers it by
    `weight * log((users + 1) / users)`, whatever the others do.
    """
    weighted = [(key, weight) for key, weight in weighted if weight > 0]
    if not weighted:
        raise ValueError("There are no users with weight > 0.")
    users = [float(weight) for _, weight in weighted]
    gains = [_gain(weight, weight) for _, weight in weighted]
    while True:
        best = gains.index(max(gains))
        key, weight = weighted[best]
        users[best] += 1
        gains[best] = _gain(weight, users[best])
        yield key


def _gain(weight, users):
    return -weight * math.log2(users / (users + 1.0))


def planned_counts(user_classes, total):
    """`{class name: count}` of the first `total` users."""
    counts = {kind.__name__: 0 for kind in user_classes}
    for name in itertools.islice(_class_order(user_classes, {}), total):
        counts[name] += 1
    return counts


def _class_order(user_classes, present):
    """The names of the next users, given how many of each class there are. Ends where none may."""
    ordered = sorted(user_classes, key=lambda kind: kind.__name__)
    missing = [
        (kind.__name__, kind.fixed_count - present.get(kind.__name__, 0))
        for kind in ordered
        if kind.fixed_count
    ]
    missing = [(name, count) for name, count in missing if count > 0]
    if missing:
        count = sum(count for _, count in missing)
        yield from itertools.islice(closest_to_weights(missing), count)
    weighted = [(kind.__name__, kind.weight) for kind in ordered if not kind.fixed_count]
    if weighted:
        yield from closest_to_weights(weighted)


class UsersDispatcher:
    """Yields, batch by batch, how many users of each class each worker shall have."""

    def __init__(self, worker_nodes, user_classes):
        self._workers = list(worker_nodes)
        self._sort_workers()
        self._user_classes = list(user_classes)
        self._weighted_order = None
        # The users in the order in which they were started: (worker id, class name).
        self._active = []
        # The classes of users that were lost with their worker: they come first.
        self._missing = deque()
        self._target = 0
        self._rate = 1.0
        self._batches = iter(())
        self.dispatch_in_progress = False
        self._next_worker = 0
        self._exhausted = False

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._batches)

    @property
    def user_count(self):
        """How many users have been handed out."""
        return len(self._active)

    @property
    def dispatched_users(self):
        """`{worker id: {class name: count}}` as it is now."""
        counts = {
            worker.id: {kind.__name__: 0 for kind in self._user_classes}
            for worker in self._workers
        }
        for worker_id, name in self._active:
            if worker_id in counts:
                counts[worker_id][name] = counts[worker_id].get(name, 0) + 1
        return counts

    def get_target_user_count(self):
        """How many users the current dispatch leads to."""
        return self._target

    def new_dispatch(self, target_user_count, spawn_rate, user_classes=None):
        """Go to another number of users from where we are, at `spawn_rate` users per second.

        ValueError if the number is negative or the rate is not above zero.
        """
        if target_user_count < 0:
            raise ValueError(f"target_user_count must be >= 0, got {target_user_count}")
        if spawn_rate <= 0:
            raise ValueError(f"spawn_rate must be > 0, got {spawn_rate}")
        if user_classes is not None and self._user_classes != list(user_classes):
            self._user_classes = list(user_classes)
            self._weighted_order = None
            self._missing.clear()
        self._target = target_user_count
        self._rate = spawn_rate
        self._batches = self._dispatch()

    def go_on(self):
        """Go to the same number of users again, from where we are."""
        self._batches = self._dispatch()

    def rebalance(self):
        """Hand users on until all workers have equally many, at the pace of the last dispatch.

        They end on one worker and start anew on another one.
        """
        self._batches = self._hand_on()

    def _hand_on(self):
        self.dispatch_in_progress = True
        try:
            batch = max(1, math.floor(self._rate))
            while self._move(batch):
                yield self.dispatched_users
                gevent.sleep(batch / self._rate)
        finally:
            self.dispatch_in_progress = False

    def _move(self, most):
        """Hand on at most so many users; returns how many."""
        places = {worker.id: [] for worker in self._workers}
        for place, (worker_id, _) in enumerate(self._active):
            places[worker_id].append(place)
        for moved in range(most):
            full = max(places, key=lambda one: len(places[one]), default=None)
            free = min(places, key=lambda one: len(places[one]), default=None)
            if full is None or len(places[full]) - len(places[free]) < 2:
                return moved
            # Those who came last go: they have done the least.
            place = places[full].pop()
            self._active[place] = (free, self._active[place][1])
            places[free].append(place)
        return most

    def _dispatch(self):
        self.dispatch_in_progress = True
        try:
            batch = max(1, math.floor(self._rate))
            due = time.perf_counter()
            names = self._names()
            while True:
                self._change_by(batch, names)
                yield self.dispatched_users
                if len(self._active) == self._target or self._exhausted:
                    return
                due += batch / self._rate
                gevent.sleep(max(0, due - time.perf_counter()))
        finally:
            self.dispatch_in_progress = False

    def _names(self):
        """What comes next: fixed users that are missing, then on with the weighted order."""
        present = defaultdict(int)
        for name in itertools.chain((name for _, name in self._active), self._missing):
            present[name] += 1
        fixed = [kind for kind in self._user_classes if kind.fixed_count]
        yield from _class_order(fixed, present)
        if self._weighted_order is None:
            weighted = [kind for kind in self._user_classes if not kind.fixed_count]
            self._weighted_order = _class_order(weighted, {})
        # Not `yield from`, which would end the order together with this dispatch.
        for name in self._weighted_order:
            yield name

    def _change_by(self, batch, names):
        self._exhausted = False
        while batch and len(self._active) > self._target:
            self._active.pop()
            batch -= 1
        while batch and len(self._active) < self._target and self._workers:
            name = self._missing.popleft() if self._missing else next(names, None)
            if name is None:
                self._exhausted = True
                return
            self._active.append((self._worker().id, name))
            batch -= 1

    def _worker(self):
        worker = self._workers[self._next_worker % len(self._workers)]
        self._next_worker += 1
        return worker

    def _sort_workers(self):
        """Spread over hosts: the first worker of each, then the second, …"""
        seen = defaultdict(int)
        order = {}
        for worker in sorted(self._workers, key=lambda one: one.id):
            host = worker.id.rsplit("_", 1)[0]
            order[worker.id] = (seen[host], worker.id)
            seen[host] += 1
        self._workers.sort(key=lambda one: order[one.id])

    def add_worker(self, worker_node):
        """One more worker, which gets its share of the users that come."""
        self._workers.append(worker_node)
        self._sort_workers()

    def remove_worker(self, worker_node):
        """A worker is gone, and its users with it; they are started anew before all others."""
        self._missing.extend(name for worker, name in self._active if worker == worker_node.id)
        self._workers = [one for one in self._workers if one.id != worker_node.id]
        self._active = [one for one in self._active if one[0] != worker_node.id]
