"""A request whose connection the server drops: sent again or failed, as the client is that we
stand for."""

import json

import http_support
import pytest

# What goes out 200 times, one in twenty dropped: again until it gets a response, or never.
AGAIN = [200, 0, 210, 10]
ONCE = [200, 10, 200, 10]

CASES = [
    *(("requests", method, how, ONCE)
      for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH")
      for how in ("close", "reset")),
    *(("fast", method, how, AGAIN)
      for method in ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")
      for how in ("close", "reset")),
    *(("fast", method, how, ONCE) for method in ("POST", "PATCH") for how in ("close", "reset")),
]


def load(kind, method, how, ours):
    return json.loads(http_support.run_script("http_dropped.py", [kind, method, how], ours))


@pytest.mark.parametrize(("kind", "method", "how", "expected"), CASES)
def test_a_dropped_request(kind, method, how, expected):
    assert load(kind, method, how, True) == expected


@pytest.mark.skipif(
    not http_support.has_real_locust(), reason="Locust 2.47 is not installed beside us"
)
@pytest.mark.parametrize(("kind", "method", "how", "expected"), CASES)
def test_the_real_one_does_the_same(kind, method, how, expected):
    assert load(kind, method, how, False) == expected
