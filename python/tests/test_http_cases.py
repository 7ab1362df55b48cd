"""Both clients in each case of http_cases.py, against what the real Locust 2.47 did there.

http_locust.json is the real one's record; where the real one is installed beside us, it is asked
again. Where ours does something else on purpose, DIFFERENT says what and why.
"""

import importlib.util
import json

import pytest

import http_support

RECORD = http_support.HERE / "http_locust.json"

BAD_GZIP = (
    "ContentDecodingError(DecodeError('Received response with content-encoding: gzip, but failed "
    "to decode it.', error('the body is no valid gzip')))"
)

HEAD = {"status": 200, "content": "", "error": None, "history": []}
HEAD["url"] = "http://127.0.0.1:PORT/gzip"

# (kind, case) -> why, and what ours shows instead of the record's.
DIFFERENT = {
    ("http", "bad_gzip"): (
        "what is wrong with the body is said in the engine's words",
        lambda real: real["events"][0].__setitem__(3, BAD_GZIP),
    ),
    ("fast", "short_body"): (
        "a body that breaks off is no response, as for HttpUser",
        lambda real: real["seen"].update(error="HTTPParseError", status=0, content=None),
    ),
    ("fast", "head"): (
        "a response to HEAD has no body that could be badly compressed",
        lambda real: real.update(seen=HEAD, events=[["HEAD", "/gzip", 0, None, {}, HEAD["url"]]]),
    ),
    ("fast", "params"): (
        "the URL of the event is the one that was asked for, with its query",
        lambda real: real["events"][0].__setitem__(
            5, "http://127.0.0.1:PORT/echo?x=1&a=1&a=2&c=d+e"
        ),
    ),
    ("fast", "params_as_text"): (
        "the URL of the event is the one that was asked for, with its query",
        lambda real: real["events"][0].__setitem__(5, "http://127.0.0.1:PORT/echo?x=1&q=1"),
    ),
    ("fast", "block_with_params"): (
        "the URL of the event is the one that was asked for, with its query",
        lambda real: real["events"][0].__setitem__(5, "http://127.0.0.1:PORT/echo?a=1"),
    ),
    ("fast", "nothing_on_error"): (
        "a request without a response is not ok",
        lambda real: real["seen"].__setitem__(4, False),
    ),
    ("fast", "iterating_content"): (
        "pieces of a stream are given as they come, not held until they are full",
        lambda real: real.update(seen=["line 0\n", "line 1\n", "line 2\n"]),
    ),
}


@pytest.fixture(scope="module")
def port():
    with http_support.service() as port:
        yield port


@pytest.fixture(scope="module")
def ours(port):
    return {k: json.loads(http_support.run_cases(k, port, ours=True)) for k in ("http", "fast")}


RECORDED = json.loads(RECORD.read_text())
ALL = [(kind, name) for kind, cases in RECORDED.items() for name in cases]


@pytest.mark.parametrize("kind, name", ALL)
def test_case(kind, name, ours):
    expected = json.loads(json.dumps(RECORDED[kind][name]))
    if (kind, name) in DIFFERENT:
        DIFFERENT[kind, name][1](expected)
    if name == "post_pieces" and importlib.util.find_spec("brotli") is None:
        ask_for_no_brotli(expected)
    assert ours[kind][name] == expected


def ask_for_no_brotli(expected):
    """What is sent piece by piece is sent by requests, which asks only for what it can decode."""
    headers = expected["seen"]["headers"]
    headers[[name for name, _ in headers].index("accept-encoding")][1] = "gzip, deflate"
    expected["events"][0][2] -= len(", br")


def test_no_case_is_forgotten(ours):
    assert {k: set(v) for k, v in ours.items()} == {k: set(v) for k, v in RECORDED.items()}


@pytest.mark.skipif(
    not http_support.has_real_locust(), reason="Locust 2.47 is not installed beside us"
)
@pytest.mark.parametrize("kind", ["http", "fast"])
def test_record_is_what_locust_does(kind, port):
    real = json.loads(http_support.run_cases(kind, port, ours=False))
    assert real == RECORDED[kind]
