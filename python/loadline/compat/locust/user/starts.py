"""When users who pace themselves were to begin each task, for Loadline's own record of a run.

`constant_pacing` and `constant_throughput` give a user a schedule of its own: begin, begin +
pacing, begin + 2 · pacing … Waits and tables are Locust's: a start that falls due while the user
still waits for a response is skipped. The engine is told of the schedule, and records the first
request of each task from its intended start, and what was skipped as missed. Nothing here runs
unless a run is recorded.
"""

# Whether a run is recorded.
recorded = False


def enter(task_set):
    """A user enters a set of tasks; returns its client if a schedule says when the tasks begin."""
    user = task_set.user
    client = _client_of(user) if recorded else None
    if client is None:
        return None
    owner, rule = task_set.rule_of_waits()
    if _pacing_of(rule) is None:
        _end(user, client)
        return None
    if user._paced_by is not owner:
        _begin(user, client, owner, _pacing_of(rule))
    return client


def leave(task_set):
    """A user leaves a set of tasks."""
    user = task_set.user
    if user._paced_by is task_set.rule_of_waits()[0]:
        _end(user, _client_of(user))


def iteration_ended(owner, now, pacing):
    """A task has ended, and the user or set `owner` has said when the next one begins."""
    user = getattr(owner, "_user", owner)
    client = _client_of(user)
    if client is None or _pacing_of(owner.wait_time) is None:
        return
    if user._paced_by is owner:
        client._iteration_ended(now)
    else:
        # Back from a set that is paced otherwise.
        _begin(user, client, owner, pacing)


def _begin(user, client, owner, pacing):
    user._paced_by = owner
    client._pace(owner._cp_last_run + owner._cp_last_wait_time, pacing)


def _end(user, client):
    if user._paced_by is not None:
        user._paced_by = None
        client._end_pace()


def _pacing_of(rule):
    """The seconds between two starts, if the rule says so."""
    pacing = getattr(rule, "pacing", None)
    return pacing if pacing and pacing > 0 else None


def _client_of(user):
    client = getattr(user, "client", None)
    return client if hasattr(client, "_iteration_begins") else None
