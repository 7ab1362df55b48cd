"""Counts in Locust's words and in Loadline's own outputs, of the same test: to the last request.

What each user does follows a seed: requests that are answered, missing, refused by the machine,
or judged by the locustfile, with both clients, in one process and in two.
"""

import json

import pytest
from command_support import native_command, write
from test_locust_outputs import visit

DRAWN = """
    import random

    from locust import FastHttpUser, HttpUser, constant

    SEED, CLOSED = {seed}, "http://127.0.0.1:1/"

    def plain(client, path, name):
        client.get(path, name=name)

    def disliked(client, path, name):
        with client.get(path, name=name, catch_response=True) as response:
            response.failure("not liked")

    def forgiven(client, path, name):
        with client.get(path, name=name, catch_response=True) as response:
            response.success()

    def undecided(client, path, name):
        with client.get(path, name=name, catch_response=True):
            pass

    def draw(user):
        # The users of both clients draw the same.
        drawn = random.Random(SEED)
        for _ in range(60):
            what = drawn.choice([plain, plain, disliked, forgiven, undecided])
            path = drawn.choice(["/", "/", "/missing", CLOSED])
            # What had no response is no success in our own outputs, whatever the locustfile says.
            what = plain if what is forgiven and path == CLOSED else what
            what(user.client, path, f"{{what.__name__}} {{drawn.randrange(3)}}")
        user.stop()

    class Slow(HttpUser):
        tasks = [draw]
        wait_time = constant(0)
        fixed_count = 1

    class Fast(FastHttpUser):
        tasks = [draw]
        wait_time = constant(0)
        fixed_count = 1
"""


@pytest.mark.parametrize("seed", range(4))
def test_counts_in_locusts_words_and_in_ours_agree_to_the_last_request(tmp_path, seed):
    native_command()
    write(tmp_path, DRAWN.format(seed=seed))
    processes = ["--processes", "2"] if seed % 2 else []
    ended = visit(tmp_path, "--out", "json=a.json", "--json-file", "tables", *processes, users=2,
                  seconds=6)
    assert ended.code == 1, ended.err
    summary = json.loads((tmp_path / "a.json").read_text())["summary"]
    tables = json.loads((tmp_path / "tables.json").read_text())
    theirs = {row["name"]: (row["num_requests"], row["num_failures"]) for row in tables}
    assert sum(requests for requests, _ in theirs.values()) == 2 * 60

    def of(counts):
        failed, rejected = counts.get("failed", 0), counts.get("rejected", 0)
        return counts["answered"] + failed, failed + rejected

    ours = {row["name"].removeprefix("GET "): of(row) for row in summary["names"]}
    assert ours == theirs
    totals = [sum(column) for column in zip(*theirs.values(), strict=True)]
    assert of(summary) == tuple(totals)
    assert summary["failed"] > 0 and summary["rejected"] > 0
