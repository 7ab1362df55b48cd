"""A load of all kinds of calls through both clients: every request is counted, once."""

import json

import http_support

http_support.use_ours()

import http_load  # noqa: E402
import pytest  # noqa: E402

TOTAL = http_load.USERS * http_load.CALLS_OF_A_USER
FAILING = 4  # of the twelve kinds of calls: missing, refused by task, nobody there, closed


@pytest.fixture(scope="module")
def port():
    with http_support.service() as port:
        yield port


def load(port, ours, *arguments):
    return json.loads(http_support.run_script("http_load.py", [port, *arguments], ours))


@pytest.mark.parametrize("arguments", [[], ["listen"]])
def test_every_request_is_counted_once(port, arguments):
    report = load(port, True, *arguments)
    failures = TOTAL * FAILING // len(http_load.CALLS)
    statistics = report["statistics"]
    assert statistics["total"] == [TOTAL, failures]
    assert sum(e[0] for e in statistics["entries"].values()) == TOTAL
    assert sum(f[3] for f in statistics["failures"]) == failures
    assert report["events"] == ([TOTAL, failures] if arguments else None)


@pytest.mark.skipif(
    not http_support.has_real_locust(), reason="Locust 2.47 is not installed beside us"
)
def test_the_real_one_counts_the_same(port):
    assert load(port, True, "listen") == load(port, False, "listen")
