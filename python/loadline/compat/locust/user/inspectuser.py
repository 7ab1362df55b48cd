"""How often each task runs, by the weights of classes and tasks."""

import json
from collections import Counter

from ..dispatch import planned_counts
from .task import is_task_set


def print_task_ratio(user_classes, num_users, total):
    """Print the shares of tasks within their class, or of all tasks."""
    _print_level(get_ratio(user_classes, _user_counts(user_classes, num_users), total), 0)


def print_task_ratio_json(user_classes, num_users):
    """Print both kinds of shares as JSON."""
    counts = _user_counts(user_classes, num_users)
    shares = {
        "per_class": get_ratio(user_classes, counts, False),
        "total": get_ratio(user_classes, counts, True),
    }
    print(json.dumps(shares, indent=4))


def get_ratio(user_classes, user_spawned, total):
    """`{class: {"ratio": …, "tasks": {…}}}` for the given number of users of each class."""
    all_users = sum(user_spawned.values()) or 1
    shares = {}
    for kind in user_classes:
        share = user_spawned.get(kind.__name__, 0) / all_users
        shares[kind.__name__] = {
            "ratio": share,
            "tasks": _get_task_ratio(kind.tasks, total, share),
        }
    return shares


def _get_task_ratio(tasks, total, parent_ratio):
    """Shares of tasks: of their own set, or of all tasks if `total`."""
    shares = {}
    for one, count in Counter(tasks).items():
        share = (parent_ratio if total else 1.0) * count / len(tasks)
        shares[one.__name__] = {"ratio": share}
        if is_task_set(one):
            shares[one.__name__]["tasks"] = _get_task_ratio(one.tasks, total, share)
    return shares


def _user_counts(user_classes, num_users):
    """How many users of each class there would be: without a number the weights themselves."""
    total = num_users or sum(kind.fixed_count for kind in user_classes)
    if not total:
        return {kind.__name__: kind.weight for kind in user_classes}
    return planned_counts(user_classes, total)


def _print_level(shares, level):
    indent = "  " * level
    for name, share in shares.items():
        percent = f"{share['ratio'] * 100:.1f}"
        print(" %-10s %-50s" % (indent + percent, indent + name))
        _print_level(share.get("tasks", {}), level + 1)
