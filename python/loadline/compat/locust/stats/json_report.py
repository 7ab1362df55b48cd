"""The statistics as JSON."""

import json


def print_stats_json(stats):
    """All rows on stdout."""
    print(json.dumps(stats.serialize_stats(), indent=4))


def save_stats_json(stats, path):
    """All rows in a file; its name gets `.json` unless it ends so already."""
    name = path if path.endswith(".json") else path + ".json"
    with open(name, "w", encoding="utf-8") as file:
        json.dump(stats.serialize_stats(), file, indent=4)
