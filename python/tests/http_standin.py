"""A stand-in for the engine's extension, for tests where that has not been built.

It is Python over sockets, as slow as may be, and keeps the agreement between the engine and the
sessions: which calls it takes itself, which it hands to `_compose`, what a response tells, and
that each request is counted exactly once.
"""

import errno
import gzip
import json
import re
import socket
import ssl
import time
import zlib
from http.client import (
    BadStatusLine,
    HTTPConnection,
    HTTPSConnection,
    IncompleteRead,
    RemoteDisconnected,
)
from http.cookiejar import Cookie, CookieJar
from urllib.parse import urljoin, urlsplit
from urllib.request import Request

PLAIN_URL = re.compile(r"(?:[A-Za-z0-9/_.~,;:@=&+$!*'()?\[\]-]|%[0-9A-Fa-f]{2})*\Z")
TAKEN = frozenset(
    "name catch_response context data json headers timeout allow_redirects insecure".split()
)
FAST_SUCCESSES = frozenset([*range(200, 209), 226, 301, 302, 303, 304, 307, 308])
_hook = None


def on_request(hook):
    """The function that is called with each counted response, or None."""
    global _hook
    _hook = hook


def hub_lag():
    """How long the hub was blocked: not known here."""
    return {"max_ms": 0.0, "total_ms": 0.0, "worst": ""}


class NativeError(Exception):
    """Why there is no response."""

    def __init__(self, kind, text="", number=None, **more):
        super().__init__(text)
        self.kind, self.text, self.errno = kind, text, number
        self.__dict__.update(more)


def __getattr__(name):
    if name == "Stats":  # the one for processes that only merge keeps the same counts
        from locust.stats.store import Store

        return type("Stats", (Store,), {"on_failure": None})
    raise AttributeError(name)


class Response:
    """What came back."""

    def header(self, name):
        """The first value of a header."""
        found = (v for k, v in self.headers_list if k.lower() == name)
        return next(found, None)

    def _report(self, outcome):
        if self.__dict__.get("_reported") or self._client._stats is None:
            return
        self._reported = True
        failed = self.native_error is not None or not self._client._is_success(self.status_code)
        error = self._client._failure(self) if outcome is None and failed else outcome
        error = None if error is True else error
        stats = self._client._stats
        stats.log(self._method, self._name, self.response_time_ms, self.length)
        if error is not None:
            stats.log_error(self._method, self._name, repr(error))
            if stats.on_failure:
                stats.on_failure(self._method, self._name, error)
        if _hook:
            _hook(self, error)


class Client:
    """A user's connections and cookies."""

    request_name = None
    _is_plain = True
    insecure = False
    network_timeout = connection_timeout = None
    max_redirects = 30

    def __init__(self, base_url, *, stats, flavour):
        self.base_url = base_url
        self._stats = stats
        self._flavour = flavour
        self._defaults = ()
        self._jar = CookieJar()

    def _is_success(self, status):
        return status < 400 if self._flavour == "requests" else status in FAST_SUCCESSES

    def set_default_headers(self, pairs):
        self._defaults = tuple(pairs)

    def cookies(self):
        return [
            (
                c.name,
                c.value,
                c.domain.removesuffix(".local").lstrip("."),
                c.path,
                c.secure,
                c.expires,
                False,
                not c.domain_specified,
            )
            for c in self._jar
        ]

    def set_cookie(self, name, value, domain, path, secure, expires, http_only, host_only):
        domain += ".local" if domain and "." not in domain else ""
        self._jar.set_cookie(
            Cookie(
                0,
                name,
                value,
                None,
                False,
                domain,
                not host_only,
                not host_only,
                path,
                True,
                secure,
                expires,
                expires is None,
                None,
                None,
                {},
            )
        )

    def clear_cookies(self, domain=None, path=None, name=None):
        for c in list(self._jar):
            same = domain is None or c.domain.lstrip(".") == domain.lstrip(".")
            if same and path in (None, c.path) and name in (None, c.name):
                self._jar.clear(c.domain, c.path, c.name)

    def close(self):
        pass

    def get(self, url, **kw):
        return Client.request(self, "GET", url, **kw)

    def options(self, url, **kw):
        return Client.request(self, "OPTIONS", url, **kw)

    def head(self, url, **kw):
        if self._flavour == "requests":
            kw.setdefault("allow_redirects", False)
        return Client.request(self, "HEAD", url, **kw)

    def delete(self, url, **kw):
        return Client.request(self, "DELETE", url, **kw)

    def post(self, url, data=None, json=None, **kw):
        return Client.request(self, "POST", url, data=data, json=json, **kw)

    def put(self, url, data=None, **kw):
        return Client.request(self, "PUT", url, data=data, **kw)

    def patch(self, url, data=None, **kw):
        return Client.request(self, "PATCH", url, data=data, **kw)

    def request(self, method, url, *positional, **kw):
        order = (
            ("name", "catch_response", "context")
            if self._flavour == "requests"
            else ("name", "data", "catch_response")
        )
        kw = {**dict(zip(order, positional)), **kw}
        full = url if re.match("https?://", url, re.I) else (self.base_url or "") + url
        if not self._takes(full, kw):
            return self._compose(method, url, kw)
        given = dict(kw.get("headers") or {})
        body = self._body(kw.get("data"), kw.get("json"), given)
        taken = {k.lower() for k in given}
        pairs = [p for p in self._defaults if p[0].lower() not in taken] + list(given.items())
        path = urlsplit(full)
        by_path = (path.path or "/") + ("?" + path.query if path.query else "")
        name = (
            kw.get("name") or self.request_name or (by_path if self._flavour == "requests" else url)
        )
        return (
            self.send(
                method,
                full,
                pairs,
                body,
                name=name,
                catch_response=kw.get("catch_response", False),
                context=kw.get("context") or {},
                allow_redirects=kw.get("allow_redirects", True),
                timeout=kw.get("timeout"),
                insecure=kw.get("insecure"),
            )
            if self._flavour == "fast"
            else Client.send(
                self,
                method,
                full,
                pairs,
                body,
                name=name,
                catch_response=kw.get("catch_response", False),
                context=kw.get("context") or {},
                allow_redirects=kw.get("allow_redirects", True),
                timeout=kw.get("timeout"),
                insecure=kw.get("insecure"),
            )
        )

    def _takes(self, full, kw):
        if not self._is_plain or any(v is not None and k not in TAKEN for k, v in kw.items()):
            return False
        if not isinstance(kw.get("data"), (str, bytes, type(None))):
            return False
        if not all(
            isinstance(k, str) and isinstance(v, str) for k, v in (kw.get("headers") or {}).items()
        ):
            return False
        if not isinstance(kw.get("timeout"), (int, float, type(None))):
            return False
        try:
            parts = urlsplit(full)
            usable = (
                parts.scheme.lower() in ("http", "https") and parts.hostname and (parts.port or 1)
            )
        except ValueError:
            return False
        return bool(usable and PLAIN_URL.match(full))

    def _body(self, data, as_json, given):
        fast = self._flavour == "fast"
        names = {k.lower() for k in given}
        if as_json is not None and not data:
            for name in ("Content-Type", "Accept") if fast else ("Content-Type",):
                if name.lower() not in names:
                    given[name] = "application/json"
            return json.dumps(as_json).encode()
        if data and fast and "content-type" not in names:
            given["Content-Type"] = (
                "text/plain; charset=utf-8" if isinstance(data, str) else "application/octet-stream"
            )
        return data.encode() if isinstance(data, str) else data or None

    def send(
        self,
        method,
        url,
        headers,
        body,
        *,
        name,
        catch_response,
        context,
        allow_redirects,
        timeout=None,
        max_redirects=None,
        insecure=None,
    ):
        limit = timeout if timeout is not None else self.network_timeout
        url = _with_path(url)
        response = self._begun(method, url, name, catch_response, context)
        began = time.perf_counter()
        try:
            self._follow(
                response,
                method,
                url,
                list(headers),
                body,
                allow_redirects,
                limit,
                max_redirects or self.max_redirects,
            )
        except NativeError as error:
            known = response._native
            known["native_error"] = error
            if error.kind != "incomplete" or self._flavour == "requests":
                known.update(status_code=0, content=None, url=None, history=[], _request_url=url)
        known = response._native
        known["response_time_ms"] = (time.perf_counter() - began) * 1000
        known["length"] = len(response.content or b"") if response.native_error is None else 0
        if not catch_response:
            response._report(None)
        return response

    def _begun(self, method, url, name, caught, context):
        response = self.response_class.__new__(self.response_class)
        response.__dict__["_native"] = dict(
            _client=self,
            _name=name,
            _method=method,
            _context=context,
            _caught=caught,
            _started=time.time(),
            _request_method=method,
            _request_url=url,
            _request_headers=(),
            _request_body=None,
            native_error=None,
            status_code=0,
            content=None,
            headers_list=[],
            reason=None,
            history=[],
            elapsed_ms=0.0,
            url=url,
            response_time_ms=0.0,
            length=0,
        )
        return response

    def _follow(self, response, method, url, headers, body, follow, limit, most):
        while True:
            self._once(response, method, url, headers, body, limit)
            code = response.status_code
            target = next((v for k, v in response.headers_list if k.lower() == "location"), None)
            if not follow or code not in (301, 302, 303, 307, 308) or target is None:
                return
            if len(response.history) >= most:
                raise NativeError("redirects", limit=most)
            hop = self._begun(response._method, url, response._name, False, None)
            hop.__dict__["_native"] = {**response._native, "history": []}
            response._native["history"] = [*response.history, hop]
            previous, url = url, urljoin(url, target)
            if code in (301, 302, 303):
                method = method if method == "HEAD" else "GET"
                body = None
                headers = [
                    h for h in headers if h[0].lower() not in ("content-type", "content-length")
                ]
            if urlsplit(previous).netloc != urlsplit(url).netloc:
                headers = [h for h in headers if h[0].lower() != "authorization"]

    def _once(self, response, method, url, headers, body, limit):
        headers = self._completed(method, url, headers, body)
        response._native.update(
            _request_method=method,
            _request_url=url,
            _request_headers=headers,
            _request_body=body,
            url=url,
        )
        began = time.perf_counter()
        try:
            answer = _exchange(method, url, headers, body, limit, self.insecure)
        finally:
            response._native["elapsed_ms"] = (time.perf_counter() - began) * 1000
        status, reason, pairs, raw, message, incomplete = answer
        self._jar.extract_cookies(_Info(message), Request(url))
        response._native.update(status_code=status, reason=reason, headers_list=pairs, content=raw)
        if incomplete is not None:
            raise incomplete
        if dict((k.lower(), v) for k, v in pairs).get("content-encoding") == "gzip":
            try:
                response._native["content"] = gzip.decompress(raw)
            except (OSError, zlib.error):
                raise NativeError(
                    "decode", "Error -3 while decompressing data: incorrect header check"
                ) from None

    def _completed(self, method, url, headers, body):
        names = {k.lower() for k, _ in headers}
        is_sized = (
            method in ("POST", "PUT", "PATCH")
            if self._flavour == "fast"
            else method.upper() not in ("GET", "HEAD")
        )
        if "content-length" not in names and (body or is_sized):
            headers = [*headers, ("Content-Length", str(len(body or b"")))]
        if "cookie" not in names:
            asked = Request(url)
            self._jar.add_cookie_header(asked)
            if asked.has_header("Cookie"):
                headers = [*headers, ("Cookie", asked.get_header("Cookie"))]
        return headers


def _read_only(name):
    return property(lambda self: self._native[name])


for _name in (
    "_client _name _method _context _caught _started _request_method _request_url "
    "_request_headers _request_body native_error status_code content headers_list reason "
    "history elapsed_ms url response_time_ms length".split()
):
    setattr(Response, _name, _read_only(_name))


def _with_path(url):
    parts = urlsplit(url)
    return url if parts.path else parts._replace(path="/").geturl()


class _Info:
    def __init__(self, message):
        self._message = message

    def info(self):
        return self._message


def _exchange(method, url, headers, body, limit, insecure):
    parts = urlsplit(url)
    connection = _connection(parts, limit, insecure)
    try:
        connection.connect()
    except socket.gaierror as e:
        raise NativeError("resolve", str(e), e.errno) from None
    except ssl.SSLError as e:
        raise NativeError("tls", str(e.args[1])) from None
    except TimeoutError:
        raise NativeError("connect_timeout", limit=limit) from None
    except OSError as e:
        raise NativeError("connect", str(e), e.errno) from None
    try:
        return _talk(connection, method, parts, headers, body)
    except TimeoutError:
        raise NativeError("timeout", limit=limit) from None
    except RemoteDisconnected:
        raise NativeError("closed") from None
    except BadStatusLine as e:
        raise NativeError("protocol", e.line) from None
    except ConnectionResetError as e:
        raise NativeError("reset", str(e), errno.ECONNRESET) from None
    finally:
        connection.close()


def _connection(parts, limit, insecure):
    if parts.scheme.lower() == "https":
        context = ssl._create_unverified_context() if insecure else ssl.create_default_context()
        return HTTPSConnection(parts.hostname, parts.port or 443, timeout=limit, context=context)
    return HTTPConnection(parts.hostname, parts.port or 80, timeout=limit)


def _talk(connection, method, parts, headers, body):
    target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    connection.putrequest(method.upper(), target, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    try:
        raw, incomplete = answer.read(), None
    except IncompleteRead as e:
        raw = e.partial
        incomplete = NativeError(
            "incomplete", received=len(raw), expected=len(raw) + (e.expected or 0)
        )
    return answer.status, answer.reason, answer.getheaders(), raw, answer.msg, incomplete
