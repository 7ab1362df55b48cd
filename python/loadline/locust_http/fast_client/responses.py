"""What a request of `FastHttpSession` returns, and the request in it."""

import io
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property

from charset_normalizer import detect

from locust.exception import LocustError

from ..shared import engine as native
from ..shared import failures, json_bodies
from ..shared.caught import Caught
from ..shared.headers import charset_of

NOT_CAUGHT = (
    "If you want to change the state of the request, you must pass catch_response=True. See "
    "http://docs.locust.io/en/stable/writing-a-locustfile.html#validating-responses"
)


class FastHeaders(Mapping):
    """Headers whose names are found in any case; one that is repeated is a list."""

    def __init__(self, pairs):
        self._pairs = list(pairs)

    def __getitem__(self, name):
        found = self.getlist(name)
        if not found:
            raise KeyError(name)
        return found[0] if len(found) == 1 else found

    def getlist(self, name):
        """All values of that name."""
        return [v for k, v in self._pairs if k.lower() == name.lower()]

    def __contains__(self, name):
        return any(k.lower() == name.lower() for k, _ in self._pairs)

    def __iter__(self):
        return iter(dict.fromkeys(k.lower() for k, _ in self._pairs))

    def __len__(self):
        return len({k.lower() for k, _ in self._pairs})

    def items(self):
        """The pairs as they came."""
        return list(self._pairs)

    def __str__(self):
        return "\n".join("{}: {}".format(*pair) for pair in self._pairs)

    def __repr__(self):
        return f"Headers({dict(self._pairs)!r})"


class FastRequest:
    """A request as it was sent."""

    def __init__(self, url, method="GET", headers=None, payload=None, params=None):
        self.url = self.full_url = str(url)
        self.method = method
        self.headers = headers if headers is not None else FastHeaders(())
        self.payload = payload

    body = data = property(lambda self: self.payload)

    def get_method(self):
        """The method."""
        return self.method

    def get_full_url(self):
        """The URL."""
        return self.url

    def has_header(self, name):
        """Whether that header was sent."""
        return name in self.headers

    def get_header(self, name, default=None):
        """The value of a header."""
        return self.headers.get(name, default)

    def header_items(self):
        """All headers as pairs."""
        return list(self.headers.items())


class FastResponse(Caught):
    """A response of the fast client.

    A subclass gives `status_code`, `content`, `headers`, `url` and the like.
    """

    encoding = None
    client = None

    @property
    def request_event(self):
        """The event that tells listeners of this request."""
        return self.client.request_event

    def _refuse_block(self):
        """A with-block without catch_response changes nothing, so it is allowed."""

    def _require_block(self, method):
        if not self._is_caught():
            raise LocustError(NOT_CAUGHT)
        super()._require_block(method)

    @property
    def text(self):
        """The body as text: by the charset of the headers, else by what it looks like."""
        content = self.content
        if content is None:
            return None
        encoding = self.encoding or self._charset()
        if encoding is None:
            encoding = "ascii" if content.isascii() else detect(content)["encoding"]
        try:
            return str(content, encoding or "utf-8", errors="replace")
        except LookupError:
            return str(content, errors="replace")

    def _charset(self):
        return charset_of(self.headers.get("content-type"))

    def json(self):
        """The body read as JSON."""
        content = self.content
        if content is None:
            raise TypeError("there is no body to read as JSON: the request got no response")
        try:
            return json_bodies.read(content)
        except UnicodeDecodeError:
            return json_bodies.read(self.text.encode())

    @property
    def ok(self):
        """Whether the status counts as a success."""
        return self.error is None

    @property
    def status(self):
        """The status as text."""
        return str(self.status_code)

    def info(self):
        """The headers."""
        return self.headers

    def raise_for_status(self):
        """Raise what the task called a failure, or the error of this response."""
        if self._manual is True:
            return
        if self._manual is not None:
            raise self._manual
        if self.error is not None:
            raise self.error

    def _own_failure(self):
        return self.error

    # ---- the body as a stream

    @cached_property
    def stream(self):
        """The body to be read piece by piece."""
        return io.BytesIO(self.content or b"")

    data = property(lambda self: self.content)

    def read(self, n=None):
        """The next `n` bytes of the body, or all of the rest."""
        return self.stream.read(-1 if n is None else n)

    def readline(self):
        """The next line of the body."""
        return self.stream.readline()

    def iter_content(self, chunk_size=1024, decode_content=True):
        """The body in pieces; as text where it has a charset."""
        charset = self._charset() if decode_content else None
        while piece := self.read(chunk_size):
            yield piece.decode(charset, errors="replace") if charset else piece

    def release(self):
        """Give the connection back; the engine has done so."""

    def isclosed(self):
        """Whether all of the body has been read."""
        return True


class ResponseContextManager(FastResponse):
    """A response in whose with-block a task says how the request went."""


class _OfFailed(type):
    """Makes each response without an answer an instance."""

    def __instancecheck__(cls, it):
        return isinstance(it, FastResponse) and getattr(it, "native_error", None) is not None


class ErrorResponse(FastResponse, metaclass=_OfFailed):
    """A request that got no response: `status_code` is 0, `error` says why."""

    status_code = 0
    content = text = headers = url = None
    native_error = None

    def __init__(self, request, error):
        self.request = request
        self.error = error


class NativeFastResponse(native.Response, ResponseContextManager):
    """A response of the engine."""

    client = property(lambda self: self._client)

    @cached_property
    def error(self):
        """The exception that this response is counted as, or None."""
        if self.native_error is not None:
            return failures.for_fast(self.native_error, self._start_url(), self._client.max_retries)
        if self.status_code not in failures.FAST_SUCCESSES:
            return failures.LocustBadStatusCode(self.url, self.status_code)
        return None

    def _started_meta(self):
        return {
            "request_type": self._method,
            "name": self._name,
            "context": {**self._client._user_context(), **(self._context or {})},
            "response": self,
            "exception": None,
            "start_time": self._started,
            "url": self._start_url(),
            "response_length": self.length,
            "response_time": self.response_time_ms,
        }

    def _start_url(self):
        """The URL of the first request of the chain."""
        earlier = super().history
        return earlier[0].url if earlier else self._request_url

    @cached_property
    def history(self):
        """The redirects that led to this response."""
        return [] if self.native_error is not None else super().history

    @cached_property
    def _own_charset(self):
        return charset_of(self.header("content-type"))

    def _charset(self):
        return self._own_charset

    @cached_property
    def headers(self):
        """The headers, None without a response."""
        if self.native_error is not None and not self.status_code:
            return None
        return FastHeaders(self.headers_list or ())

    @cached_property
    def url(self):
        """The URL that answered."""
        return super().url or self._request_url

    @cached_property
    def elapsed(self):
        """From the sending of the request to the headers of the response."""
        return timedelta(milliseconds=self.elapsed_ms or 0)

    @cached_property
    def request(self):
        """The request that led to this response."""
        pairs = self._request_headers or ()
        return FastRequest(
            self._request_url, self._method, FastHeaders(pairs), _readable(self._request_body)
        )


def _readable(body):
    """A body as text if it is some: scripts print it or read it as JSON."""
    try:
        return body.decode("utf-8") if isinstance(body, bytes) else body
    except UnicodeDecodeError:
        return body
