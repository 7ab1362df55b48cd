"""What a runner knows of the processes that its users run in."""

from collections.abc import MutableMapping

from .. import runners as states


class WorkerNode:
    """One process with users."""

    def __init__(self, id, state=None, heartbeat_liveness=None):
        self.id = id
        self.state = state or states.STATE_INIT
        self.user_count = 0
        self.heartbeat = heartbeat_liveness or states.HEARTBEAT_LIVENESS
        self.cpu_usage = 0
        self.cpu_warning_emitted = False
        self.memory_usage = 0
        # How many users of each class it has been told to have.
        self.user_classes_count = {}


class WorkerNodes(MutableMapping):
    """Workers by their id."""

    def __init__(self):
        self._workers = {}

    def _in(self, state):
        return [worker for worker in self._workers.values() if worker.state == state]

    def get_by_state(self, state):
        """Those in one state."""
        return self._in(state)

    @property
    def all(self):
        """Those that are there."""
        return [one for one in self._workers.values() if one.state != states.STATE_MISSING]

    @property
    def ready(self):
        """Those that wait for work."""
        return self._in(states.STATE_INIT)

    @property
    def spawning(self):
        """Those that start users."""
        return self._in(states.STATE_SPAWNING)

    @property
    def running(self):
        """Those whose users are all started."""
        return self._in(states.STATE_RUNNING)

    @property
    def missing(self):
        """Those that have not been heard of."""
        return self._in(states.STATE_MISSING)

    def __setitem__(self, key, worker):
        self._workers[key] = worker

    def __delitem__(self, key):
        del self._workers[key]

    def __getitem__(self, key):
        return self._workers[key]

    def __len__(self):
        return len(self._workers)

    def __iter__(self):
        return iter(list(self._workers))
