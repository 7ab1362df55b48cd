"""What a request of `HttpSession` returns: a `requests.Response`, read from the engine's as asked.

`Answer` has what both kinds share, those of the engine and those of the `requests` fallback.
"""

import io
import json
from datetime import timedelta
from functools import cached_property

import requests
from requests.cookies import RequestsCookieJar
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPHeaderDict, HTTPResponse

from ..shared import cookies, failures, headers, json_bodies
from ..shared import engine as native
from ..shared.caught import Caught


class Answer(Caught, requests.Response):
    """A `requests.Response` in whose with-block a task says how the request went."""

    error = None
    client = None  # the session that asked

    @property
    def request_event(self):
        """The event that tells listeners of this request."""
        return self.client.request_event

    def raise_for_status(self):
        """Raise what the task called a failure, or the error, or an HTTPError of the status."""
        if self._manual is True:
            return
        if self._manual is not None:
            raise self._manual
        if self.error is not None:
            raise self.error
        super().raise_for_status()

    def _own_failure(self):
        """The failure that the response itself is, or None."""
        if self.error is not None:
            return failures.counted(self.error)
        return failures.of_status(self, self.request_meta["name"])


class FallbackAnswer(Answer):
    """A response of real `requests` (its class is put in place of the one it had)."""

    def _begin(self, client, meta, caught):
        self.client = client
        self._meta = meta
        self._caught = caught
        meta["response"] = self

    def _count(self, outcome):
        self._report(outcome)

    def _report(self, outcome):
        meta = self._meta
        if outcome is None:
            outcome = meta["exception"] or self._own_failure()
        meta["exception"] = None if outcome is True else outcome
        self.request_event.fire(**meta)


def _plain_response(state):
    response = requests.Response()
    response.__setstate__(state)
    return response


class NativeAnswer(native.Response, Answer):
    """A response of the engine. What `requests` would have stored is made when it is read."""

    __init__ = object.__init__  # that of requests would make all of it at once
    _content_consumed = True
    connection = None

    client = property(lambda self: self._client)
    _content = property(lambda self: self.content)

    def __reduce__(self):
        # A copy has no session that could count it: it is a plain response of requests.
        return _plain_response, (requests.Response.__getstate__(self),)

    @cached_property
    def error(self):
        """The exception of `requests` for a request without a response, or None."""
        return self._errors[0]

    @cached_property
    def _errors(self):
        if self.native_error is None:
            return None, None
        return failures.for_requests(self.native_error, self._start_url(), self.request)

    def _own_failure(self):
        if self.native_error is not None:
            return self._errors[1]
        name = self._name if self._meta is None else self._meta["name"]
        return failures.of_status(self, name)

    def _started_meta(self):
        return {
            "request_type": self._method,
            "response_time": self.response_time_ms,
            "name": self._name,
            "context": {**self._client._user_context(), **(self._context or {})},
            "response": self,
            "exception": None,
            "start_time": self._started,
            "url": self._start_url(),
            "response_length": self.length,
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
    def url(self):
        """The URL that answered, None without a response."""
        return None if self.native_error is not None else super().url

    @cached_property
    def headers(self):
        """The headers; their names are found in any case."""
        return headers.joined(self.headers_list or ())

    @cached_property
    def encoding(self):
        """The charset of Content-Type, or what its kind of content has by default; assignable."""
        return headers.charset_of(self.header("content-type"))

    @property
    def text(self):
        """The body as text: by `encoding`, or by what the bytes look like."""
        content = self.content
        if not content:
            return ""
        encoding = self.encoding
        if encoding is None:
            encoding = "ascii" if content.isascii() else self.apparent_encoding
        try:
            return str(content, encoding, errors="replace")
        except (LookupError, TypeError):
            return str(content, errors="replace")

    def json(self, **kwargs):
        """The body read as JSON; requests' JSONDecodeError if it is none."""
        try:
            if not kwargs:
                return json_bodies.read(self.content or b"")
            return json.loads(self.content or b"", **kwargs)
        except ValueError:
            return super(native.Response, self).json(**kwargs)

    @cached_property
    def cookies(self):
        """The cookies that this response set."""
        if not self.headers_list:
            return RequestsCookieJar()
        return cookies.of_response(self.headers_list, self.url)

    @cached_property
    def elapsed(self):
        """From the sending of the request to the headers of the response."""
        return timedelta(milliseconds=self.elapsed_ms or 0)

    @cached_property
    def request(self):
        """The request that led to this response, as `requests` prepares one."""
        prepared = requests.PreparedRequest()
        prepared.method = self._request_method.upper()
        prepared.url = self._request_url
        prepared.headers = CaseInsensitiveDict(self._request_headers or ())
        prepared.body = self._request_body
        prepared.hooks = {"response": []}
        prepared._cookies = RequestsCookieJar()
        return prepared

    @cached_property
    def raw(self):
        """The body once more, as a stream of urllib3."""
        return HTTPResponse(
            body=io.BytesIO(self.content or b""),
            headers=HTTPHeaderDict(self.headers_list or ()),
            status=self.status_code,
            reason=self.reason,
            preload_content=False,
            decode_content=False,
        )

    @property
    def _next(self):
        """The request that a redirect asks for, if redirects are not followed."""
        if not self.is_redirect:
            return None
        steps = self._client.resolve_redirects(self._plain(), self.request, yield_requests=True)
        return next(steps, None)

    def _plain(self):
        """A response of `requests` itself with the same content."""
        plain = requests.Response()
        plain._content, plain._content_consumed = self.content, True
        for name in ("status_code", "headers", "url", "reason", "request", "raw"):
            setattr(plain, name, getattr(self, name))
        return plain

    def close(self):
        """Nothing is open: the engine has read the whole body."""
