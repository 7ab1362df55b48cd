"""Counts in Locust's words and in Loadline's own outputs, of the same test: to the last request.

What each user does is drawn: requests that are answered, missing, refused by the machine, or judged
by the locustfile, with both clients, in one process and in two.
"""

import json
import tempfile
from pathlib import Path

from command_support import native_command, write
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_locust_outputs import visit

CLOSED = "http://127.0.0.1:1/"

# How a user judges a response, its path, and the number of its name. What had no response is no
# success in our own outputs, whatever the locustfile says.
VISIT = st.tuples(
    st.sampled_from(["plain", "disliked", "forgiven", "undecided"]),
    st.sampled_from(["/", "/missing", CLOSED]),
    st.integers(0, 2),
).filter(lambda one: one[:2] != ("forgiven", CLOSED))

DRAWN = """
    from locust import FastHttpUser, HttpUser, constant

    VISITS = {visits}

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

    def make_visits(user):
        for judgement, path, number in VISITS:
            globals()[judgement](user.client, path, f"{{judgement}} {{number}}")
        user.stop()

    class Slow(HttpUser):
        tasks = [make_visits]
        wait_time = constant(0)
        fixed_count = 1

    class Fast(FastHttpUser):
        tasks = [make_visits]
        wait_time = constant(0)
        fixed_count = 1
"""

# What users do is drawn anew each time, and made smaller if the counts differ.
FEW = settings(max_examples=4, deadline=None, database=None, print_blob=False,
               phases=[Phase.generate, Phase.shrink])


@FEW
@given(visits=st.lists(VISIT, min_size=1, max_size=60), on_processes=st.booleans())
def test_counts_in_locusts_words_and_in_ours_agree_to_the_last_request(visits, on_processes):
    native_command()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        summary, tables = visited(folder, visits, on_processes)
    theirs = {row["name"]: (row["num_requests"], row["num_failures"]) for row in tables}
    assert sum(requests for requests, _ in theirs.values()) == 2 * len(visits)

    def of(counts):
        failed, rejected = counts.get("failed", 0), counts.get("rejected", 0)
        return counts["answered"] + failed, failed + rejected

    totals = [sum(column) for column in zip(*theirs.values(), strict=True)]
    assert of(summary) == tuple(totals)
    # Where all requests have one name there are no rows by name.
    if len(theirs) > 1:
        ours = {row["name"].removeprefix("GET "): of(row) for row in summary["names"]}
        assert ours == theirs


def test_drawn_users_have_failures_of_the_network_and_rejected_responses(tmp_path):
    native_command()
    visits = [("plain", "/", 0), ("plain", CLOSED, 0), ("disliked", "/", 1)]
    summary, _ = visited(tmp_path, visits, False)
    assert (summary["failed"], summary["rejected"]) == (2, 2)


def visited(folder, visits, on_processes):
    """Make these visits with a user of each client: our summary, and Locust's tables."""
    write(folder, DRAWN.format(visits=visits))
    processes = ["--processes", "2"] if on_processes else []
    ended = visit(folder, "--out", "json=a.json", "--json-file", "tables", *processes, users=2,
                  seconds=6)
    summary = json.loads((folder / "a.json").read_text())["summary"]
    tables = json.loads((folder / "tables.json").read_text())
    has_failed = any(row["num_failures"] for row in tables)
    assert ended.code == int(has_failed), ended.err
    return summary, tables
