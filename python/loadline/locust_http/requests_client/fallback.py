"""Requests that real `requests` sends, over gevent's sockets: slower, and counted all the same."""

import time
from contextlib import contextmanager

import requests

from ..shared import failures, headers, names
from .responses import FallbackAnswer

_PASSED_ON = frozenset(
    "data json params headers cookies files auth timeout proxies hooks stream verify cert".split()
)


def perform(session, method, url, call, options):
    """Send the call by `requests`, and count it."""
    passed = {k: v for k, v in call.items() if k in _PASSED_ON}
    passed["allow_redirects"] = options["allow_redirects"]
    meta = _begin(session, method, url, options)
    began = time.perf_counter()
    try:
        with _decodable(session):
            response = requests.Session.request(session, method, url, **passed)
        error = None
    except requests.RequestException as failure:
        response, error = _nothing(failure), failure
    meta["response_time"] = (time.perf_counter() - began) * 1000
    return _finish(session, meta, response, error, options, _streams(session, call))


def report_unsent(session, method, url, options, error):
    """Count a call that could not even be prepared."""
    meta = _begin(session, method, url, options)
    meta["response_time"] = 0.0
    return _finish(session, meta, _nothing(error), error, options, False)


def _begin(session, method, url, options):
    return {
        "request_type": method,
        "response_time": None,
        "name": options["name"] or session.request_name,
        "context": {**session._user_context(), **options["context"]},
        "response": None,
        "exception": None,
        "start_time": time.time(),
        "url": url,
        "response_length": 0,
    }


def _streams(session, call):
    return call.get("stream", session.stream)


@contextmanager
def _decodable(session):
    """Ask for no encoding that this Python has no decoder for."""
    sent = session.headers
    is_asked = sent.get("Accept-Encoding") == headers.ENCODINGS != headers.DECODABLE
    if is_asked:
        sent._store["accept-encoding"] = ("Accept-Encoding", headers.DECODABLE)
    try:
        yield
    finally:
        if is_asked:
            sent._store["accept-encoding"] = ("Accept-Encoding", headers.ENCODINGS)


def _nothing(error):
    """The response of a request that has none."""
    response = requests.Response()
    response.status_code = 0
    response._content = None
    response.request = getattr(error, "request", None)
    return response


def _finish(session, meta, response, error, options, streams):
    response.__class__ = FallbackAnswer
    _describe(meta, response, error, streams)
    response._begin(session, meta, options["catch_response"])
    if error is not None:
        response.error = error
        if isinstance(error, failures.RAISED):
            raise error
        meta["exception"] = failures.counted(error)
    if not options["catch_response"]:
        response._report(None)
    return response


def _describe(meta, response, error, streams):
    """Fill in what only the response says: URL, name and length."""
    first = response.history[0].request if response.history else response.request
    if first is not None and first.url:
        meta["url"] = first.url
    if not meta["name"]:
        meta["name"] = names.path_of(meta["url"])
    if streams:
        meta["response_length"] = int(response.headers.get("content-length") or 0)
    elif error is None:
        meta["response_length"] = len(response.content or b"")
