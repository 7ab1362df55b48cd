"""The statistics as JSON."""

import json


def print_stats_json(stats):
    """All rows on stdout."""
    print(json.dumps(stats.serialize_stats(), indent=4))


def json_name(path):
    """The name of the file: it gets `.json` unless it ends so already."""
    return path if path.endswith(".json") else path + ".json"


def save_stats_json(stats, path):
    """All rows in a file of the name that `json_name` returns."""
    with open(json_name(path), "w", encoding="utf-8") as file:
        json.dump(stats.serialize_stats(), file, indent=4)
