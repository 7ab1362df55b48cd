"""Requests of the fast client that real `requests` sends over gevent's sockets: streams of
unknown length, hooks, proxies, client certificates. Counted like all others."""

import time
from functools import cached_property

import gevent
import requests
from urllib3.exceptions import HTTPError as PoolError

from ..shared import failures, headers
from ..shared.adapters import ContextAdapter
from .responses import FastHeaders, FastRequest, ResponseContextManager


class StreamedFastResponse(ResponseContextManager):
    """A response whose body is read from the connection when the script asks for it."""

    native_error = property(lambda self: None if self._response is not None else self._error)

    def __init__(self, session, meta, response, error, caught):
        self.client = session
        self._meta = meta
        self._caught = caught
        self._response = response
        self._error = error
        meta["response"] = self

    def _count(self, outcome):
        self._is_counted = True
        meta = self._meta
        if outcome is None:
            outcome = meta["exception"] or self._own_failure()
        meta["exception"] = None if outcome is True else outcome
        self.request_event.fire(**meta)

    @property
    def error(self):
        """The exception that this response is counted as, or None."""
        if self._error is not None or self.status_code in failures.FAST_SUCCESSES:
            return self._error
        return failures.LocustBadStatusCode(self.url, self.status_code)

    @property
    def status_code(self):
        """The status, 0 without a response."""
        return self._response.status_code if self._response is not None else 0

    @property
    def content(self):
        """All of the body that has not been read yet."""
        return self._response.content if self._response is not None else None

    @cached_property
    def headers(self):
        """The headers, None without a response."""
        if self._response is None:
            return None
        return FastHeaders(self._response.raw.headers.items())

    @property
    def url(self):
        """The URL that answered."""
        return self._response.url if self._response is not None else self._meta["url"]

    @property
    def history(self):
        """The redirects on the way."""
        return self._response.history if self._response is not None else []

    @property
    def elapsed(self):
        """From the sending of the request to the headers of the response."""
        return self._response.elapsed if self._response is not None else None

    @cached_property
    def request(self):
        """The request as it was sent."""
        sent = self._response.request if self._response is not None else None
        if sent is None:
            return FastRequest(self._meta["url"], self._meta["request_type"])
        return FastRequest(sent.url, sent.method, FastHeaders(sent.headers.items()), sent.body)

    @property
    def stream(self):
        """What reads from the connection."""
        return self._response.raw

    def read(self, n=None):
        """The next `n` bytes of the body, or all of the rest."""
        return self.stream.read(n, decode_content=True) if n else self.content

    def readline(self):
        """The next line of the body."""
        return self.stream.readline()

    def iter_content(self, chunk_size=1024, decode_content=True):
        """The body in pieces, as they come; as text where it has a charset."""
        charset = self._charset() if decode_content else None
        for piece in self._response.iter_content(chunk_size):
            yield piece.decode(charset, errors="replace") if charset else piece

    def release(self):
        """Give the connection back."""
        if self._response is not None:
            self._response.close()

    def isclosed(self):
        """Whether all of the body has been read."""
        return self._response is None or self._response.raw.closed


def perform(session, method, address, own_headers, body, call, options):
    """Send the request by `requests`, and count it."""
    meta = _meta(session, method, address, options)
    began = time.perf_counter()
    response, error = _send_by_session(session, method, address, own_headers, body, call, options)
    meta["response_time"] = (time.perf_counter() - began) * 1000
    if response is not None:
        meta["response_length"] = _length(response, call)
    return _finish(session, meta, response, error, options)


def report_unsent(session, method, address, options, error):
    """Count a call that could not be sent."""
    meta = _meta(session, method, address, options)
    return _finish(session, meta, None, error, options)


def _send_by_session(session, method, address, own_headers, body, call, options):
    try:
        response = session_of(session, call).request(
            method,
            address,
            headers=_decodable(session._all_headers(own_headers)),
            data=body,
            allow_redirects=options["allow_redirects"],
            **_options(session, call),
        )
        if not call.get("stream"):
            response.content
        return response, None
    except (requests.RequestException, PoolError) as error:
        return None, _in_words_of_fast(error, address, session)
    except gevent.Timeout as error:  # the script's own, around the call
        return None, failures.RetriesExceeded(address, session.max_retries, original=error)


def _decodable(pairs):
    """The headers, asking for no encoding that this Python has no decoder for."""
    asked = ("Accept-Encoding", headers.ENCODINGS)
    return {k: headers.DECODABLE if (k, v) == asked else v for k, v in pairs}


def _options(session, call):
    passed = {k: call[k] for k in ("timeout", "cert", "proxies", "hooks") if k in call}
    passed.setdefault("timeout", (session.connection_timeout, session.network_timeout))
    passed["verify"] = call.get("verify", not session.insecure)
    passed["stream"] = True
    if session._proxies:
        passed.setdefault("proxies", session._proxies)
    return passed


def session_of(session, call):
    """The `requests.Session` behind a fast session, made at its first use."""
    inner = session._requests
    if inner is None:
        inner = session._requests = requests.Session()
        inner.trust_env = False
        inner.headers.clear()
        inner.cookies = session.cookiejar
        inner.max_redirects = session.max_redirects
        if session.ssl_context_factory is not None:
            context = session.ssl_context_factory()
            inner.mount("https://", ContextAdapter(context, session.insecure))
    return inner


def _in_words_of_fast(error, address, session):
    if isinstance(error, requests.Timeout):
        timed_out = TimeoutError("timed out")
        return failures.RetriesExceeded(address, session.max_retries, original=timed_out)
    if isinstance(error, requests.TooManyRedirects):
        text = "Redirection limit reached (%d)" % session.max_redirects
        return failures.RetriesExceeded(address, text)
    cause = failures.counted(error)
    if isinstance(cause, ConnectionResetError):
        return failures.HTTPConnectionClosed("connection closed.")
    return cause


def _meta(session, method, address, options):
    return {
        "request_type": method,
        "name": options["name"],
        "context": {**session._user_context(), **options["context"]},
        "response": None,
        "exception": None,
        "start_time": time.time(),
        "url": address,
        "response_length": 0,
        "response_time": 0.0,
    }


def _length(response, call):
    if call.get("stream"):
        return int(response.headers.get("content-length") or 0)
    return len(response.content or b"")


def _finish(session, meta, response, error, options):
    answer = StreamedFastResponse(session, meta, response, error, options["catch_response"])
    if not options["catch_response"]:
        answer._count(None)
    return answer


def lines_of(response):
    """The lines of a streamed body as text, as they come."""
    if response._response is None:
        return
    charset = response._charset() or "utf-8"
    for line in response._response.iter_lines():
        yield line.decode(charset, errors="replace")


def proxies_of(host, port):
    """The proxy for all requests, as `requests` wants it, or None."""
    if not host:
        return None
    address = f"http://{host}:{port or 80}"
    return {"http": address, "https": address}
