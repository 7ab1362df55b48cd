"""What failed requests are called: exceptions whose texts group failures in the reports.

The engine says what kind of failure it was; each of the two clients has its own words for it.
For `requests` there are two: the exception of the response (`error`) and, innermost in it, the
one that is counted.
"""

import os
import socket
import ssl
import zlib
from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected
from urllib.parse import urlsplit

import gevent
import requests
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3 import exceptions as pool_errors
from urllib3.connection import HTTPConnection

WRAPPERS = (
    requests.ConnectionError,
    pool_errors.MaxRetryError,
    pool_errors.NewConnectionError,
    pool_errors.ProtocolError,
)
RAISED = (
    requests.exceptions.MissingSchema,
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidURL,
)


# ---- requests ------------------------------------------------------------------------------


def of_status(response, name):
    """The HTTPError of a status of 400 and more (None below), with the name in place of a URL."""
    status = response.status_code
    if status < 400 or status >= 600:
        return None
    side = "Client" if status < 500 else "Server"
    text = f"{status} {side} Error: {response.reason} for url: {name}"
    return requests.HTTPError(text, response=response)


def counted(error):
    """What is counted for an exception of requests: of one of the connection, its cause."""
    if not isinstance(error, requests.ConnectionError):
        return error
    while isinstance(error, WRAPPERS) and error.__context__ is not None:
        error = error.__context__
    return error


def for_requests(native, url, request=None):
    """The pair (exception of the response, exception to count) for a failure of the engine."""
    make = _REQUESTS.get(kind_of(native), _unknown)
    error, cause = make(native, url)
    error.request = request
    return error, cause


def _refused(native, url):
    cause = os_error(native)
    reason = pool_errors.NewConnectionError(
        _connection(url), f"Failed to establish a new connection: {cause}"
    )
    return requests.ConnectionError(_exhausted(url, reason)), cause


def _unresolved(native, url):
    host = urlsplit(url).hostname
    cause = resolve_error(native)
    reason = pool_errors.NameResolutionError(host, _connection(url), cause)
    return requests.ConnectionError(_exhausted(url, reason)), cause


def _connect_timeout(native, url):
    host = urlsplit(url).hostname
    text = f"Connection to {host} timed out. (connect timeout={_limit(native)})"
    reason = pool_errors.ConnectTimeoutError(_connection(url), text)
    return requests.ConnectTimeout(_exhausted(url, reason)), reason


def _read_timeout(native, url):
    text = f"Read timed out. (read timeout={_limit(native)})"
    error = requests.ReadTimeout(pool_errors.ReadTimeoutError(_pool(url), None, text))
    return error, error


def _closed(native, url):
    cause = RemoteDisconnected("Remote end closed connection without response")
    return _aborted(cause)


def _reset(native, url):
    return _aborted(ConnectionResetError(104, os.strerror(104)))


def _no_http(native, url):
    return _aborted(BadStatusLine(_first_line(native.text)))


def _first_line(text):
    """The line that is no HTTP, as the engine quotes it, or all of its words."""
    quoted = text.partition("\u201c")[2].rpartition("\u201d")[0]
    if not quoted:
        return text
    line = quoted.encode("latin-1", "backslashreplace").decode("unicode_escape")
    return line.splitlines(keepends=True)[0]


def _aborted(cause):
    return requests.ConnectionError(pool_errors.ProtocolError("Connection aborted.", cause)), cause


def _incomplete(native, url):
    if getattr(native, "received", None) is None:
        error = requests.exceptions.ChunkedEncodingError(pool_errors.ProtocolError(native.text))
        return error, error
    cause = _IncompleteBody(native)
    text = f"Connection broken: {cause!r}"
    error = requests.exceptions.ChunkedEncodingError(pool_errors.ProtocolError(text, cause))
    return error, error


class _IncompleteBody(IncompleteRead):
    """As http.client has it, but from figures instead of the bytes."""

    def __init__(self, native):
        expected = getattr(native, "expected", None)
        super().__init__(b"", expected and expected - native.received)
        self._received = native.received

    def __repr__(self):
        more = "" if self.expected is None else ", %d more expected" % self.expected
        return "IncompleteRead(%d bytes read%s)" % (self._received, more)

    __str__ = __repr__


def _undecoded(native, url):
    coding = getattr(native, "coding", None) or "gzip"
    text = f"Received response with content-encoding: {coding}, but failed to decode it."
    reason = pool_errors.DecodeError(text, decode_error(native))
    error = requests.exceptions.ContentDecodingError(reason)
    return error, error


def _tls(native, url):
    cause = ssl.SSLError(1, native.text)
    reason = pool_errors.SSLError(cause)
    return requests.exceptions.SSLError(_exhausted(url, reason)), reason


def _redirects(native, url):
    error = requests.TooManyRedirects("Exceeded %d redirects." % (_limit(native) or 30))
    return error, error


def _misdirected(native, url):
    error = requests.exceptions.InvalidURL(native.text)
    return error, error


def _unknown(native, url):
    error = requests.ConnectionError(native.text)
    return error, error


_REQUESTS = {
    "resolve": _unresolved,
    "connect": _refused,
    "connect_timeout": _connect_timeout,
    "tls": _tls,
    "timeout": _read_timeout,
    "closed": _closed,
    "reset": _reset,
    "protocol": _no_http,
    "incomplete": _incomplete,
    "decode": _undecoded,
    "redirects": _redirects,
    "redirect": _misdirected,
}


def _exhausted(url, reason):
    parts = urlsplit(url)
    path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    return pool_errors.MaxRetryError(_pool(url), path, reason)


def _pool(url):
    """A pool as the texts of urllib3 name it; it never connects."""
    parts = urlsplit(url)
    kind = HTTPSConnectionPool if parts.scheme.lower() == "https" else HTTPConnectionPool
    return kind(parts.hostname or "", port=_port(parts))


def _connection(url):
    parts = urlsplit(url)
    return HTTPConnection(parts.hostname or "", port=_port(parts))


def _port(parts):
    return parts.port or (443 if parts.scheme.lower() == "https" else 80)


# ---- the fast client -----------------------------------------------------------------------


class LocustBadStatusCode(Exception):
    """The status is none of those that count as a success."""

    def __init__(self, url=None, code=0):
        super().__init__(url, code)
        self.url = url
        self.code = code

    def __repr__(self):
        return f"LocustBadStatusCode(code={self.code})"

    def __str__(self):
        return f"URL {self.url}: code={self.code}"


class HTTPConnectionClosed(Exception):
    """The server ended the connection before it answered."""


class HTTPParseError(Exception):
    """What came is not HTTP."""


class RetriesExceeded(Exception):
    """All tries of a request failed, or it was sent elsewhere too often."""

    def __init__(self, *args, original=None):
        super().__init__(*args)
        self.original = original

    def __repr__(self):
        inner = ", ".join(repr(a) for a in self.args)
        if self.original is not None:
            inner += f", original={self.original}"
        return f"RetriesExceeded({inner})"

    __str__ = __repr__


FAST_SUCCESSES = frozenset([*range(200, 209), 226, 301, 302, 303, 304, 307, 308])
FAILURE_EXCEPTIONS = (
    RetriesExceeded,
    ConnectionError,
    ConnectionRefusedError,
    ConnectionResetError,
    socket.error,
    ssl.SSLError,
    gevent.Timeout,
    HTTPConnectionClosed,
    HTTPParseError,
    zlib.error,
)


def for_fast(native, url, retries=0):
    """The exception of a failure of the engine, as the fast client calls it."""
    kind = kind_of(native)
    if kind in TIMEOUTS:
        return RetriesExceeded(url, retries, original=TimeoutError("timed out"))
    if kind == "interrupted":
        return RetriesExceeded(url, retries, original=native.cause)
    make = _FAST.get(kind)
    return make(native, url) if make else ConnectionError(native.text)


_FAST = {
    "resolve": lambda native, url: resolve_error(native),
    "connect": lambda native, url: os_error(native),
    "tls": lambda native, url: ssl.SSLError(1, native.text),
    "closed": lambda native, url: HTTPConnectionClosed("connection closed."),
    "reset": lambda native, url: HTTPConnectionClosed("connection closed."),
    "protocol": lambda native, url: HTTPParseError("Expected HTTP/, RTSP/ or ICE/", 8),
    "incomplete": lambda native, url: HTTPParseError("Incomplete response."),
    "decode": lambda native, url: decode_error(native),
    "redirects": lambda native, url: RetriesExceeded(
        url, "Redirection limit reached (%s)" % (_limit(native) or 30)
    ),
    "redirect": lambda native, url: RetriesExceeded(url, native.text),
}


# ---- both ----------------------------------------------------------------------------------


TIMEOUTS = frozenset(("timeout", "connect_timeout"))
_RENAMED = {"content": "decode", "write": "reset"}


def kind_of(native):
    """The kind of a failure, finer than the engine's where the clients have more words for it."""
    kind = native.kind
    if kind == "connect" and not native.errno and "timeout" in native.text:
        return "connect_timeout"
    if kind == "read":
        return _of_reading(native)
    return _RENAMED.get(kind, kind)


def _of_reading(native):
    if native.errno:
        return "reset"
    return "closed" if "before a response began" in native.text else "incomplete"


def os_error(native):
    """The OSError of its number: ConnectionRefusedError(111, …) and the like."""
    number = getattr(native, "errno", None)
    return OSError(number, os.strerror(number)) if number else ConnectionError(native.text)


def resolve_error(native):
    """The error of a name that has no address."""
    number = getattr(native, "errno", None) or socket.EAI_NONAME
    if number == socket.EAI_NONAME:
        return socket.gaierror(number, "Name or service not known")
    return socket.gaierror(number, native.text)


def decode_error(native):
    """The error of a body that is not what its Content-Encoding says."""
    text = getattr(native, "text", "") or ""
    return zlib.error(text or "Error -3 while decompressing data: incorrect header check")


def _limit(native):
    """The limit that was passed (seconds, or a count), as its texts print it."""
    limit = getattr(native, "limit", None)
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit
