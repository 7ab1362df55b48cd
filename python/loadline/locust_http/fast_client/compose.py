"""Calls of `FastHttpSession` that a plain native call cannot express.

The keywords of `requests` mean here what they mean there: `timeout`, `verify`, `cert`, `cookies`,
`proxies` and `hooks` too, which Locust itself would send to the server as data.
"""

import socket
from urllib.parse import urlsplit

from requests.utils import requote_uri

from ..shared import cookies, failures, headers, names
from . import bodies, fallback

_KNOWN = frozenset(
    "name data catch_response stream headers auth json allow_redirects context params files "
    "max_retries max_redirects debug_stream timeout verify cert cookies proxies hooks".split()
)
_REWRITTEN = frozenset(("params", "auth", "files"))
_QUICK = _REWRITTEN | frozenset(
    "name data catch_response headers json allow_redirects context timeout".split()
)


def compose(session, method, url, given):
    """Perform a request with whatever was given for it; returns its response."""
    unknown = given.keys() - _KNOWN
    if unknown:
        raise TypeError(
            f"FastHttpSession.request() got an unexpected keyword argument {min(unknown)!r}"
        )
    call = {k: v for k, v in given.items() if v is not None}
    options = _options(session, url, call)
    own_headers, body = _headers_and_body(session, call)
    address = _address(session, url, call)
    if session._is_plain and _is_rewritten(call) and (body is None or type(body) is bytes):
        return _send_plainly(session, method, address, own_headers, body, call, options)
    if not urlsplit(address).hostname:
        error = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return fallback.report_unsent(session, method, address, options, error)
    _add_cookies(session, call, own_headers, address)
    if _needs_requests(session, call, body, address):
        return fallback.perform(session, method, address, own_headers, body, call, options)
    return _send(session, method, address, own_headers, body, call, options)


def _is_rewritten(call):
    """Whether a plain call can say it now, but could not say it as it was given."""
    return call.keys() <= _QUICK and (
        not call.keys().isdisjoint(_REWRITTEN) or isinstance(call.get("data"), dict)
    )


def _send_plainly(session, method, address, own_headers, body, call, options):
    if own_headers:
        options["headers"] = own_headers
    if body is not None:
        options["data"] = body
    if "timeout" in call:
        options["timeout"] = call["timeout"]
    return session._native_request(method, address, **options)


def _options(session, url, call):
    return {
        "name": call.get("name") or session.request_name or url,
        "catch_response": bool(call.get("catch_response", False)),
        "context": call.get("context") or {},
        "allow_redirects": call.get("allow_redirects", True),
    }


def _headers_and_body(session, call):
    own_headers = {str(k): _value(v) for k, v in (call.get("headers") or {}).items()}
    body = bodies.encode(call.get("data"), call.get("json"), call.get("files"), own_headers)
    if "auth" in call:
        own_headers["Authorization"] = _authorization(call["auth"])
    return own_headers, body


def _value(value):
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _authorization(auth):
    if isinstance(auth, (tuple, list)) and len(auth) == 2:
        return headers.basic(*auth)
    raise TypeError("auth of FastHttpUser must be a pair (user, password): use HttpUser for others")


def _address(session, url, call):
    address = names.join(session.base_url or "", url)
    params = call.get("params")
    if params:
        address = names.add_query(address, bodies.query(params))
    address = address if names.needs_no_quoting(address) else requote_uri(address)
    urlsplit(address).port  # ValueError if it is none
    return address


def _add_cookies(session, call, own_headers, address):
    if call.get("cookies"):
        value = cookies.with_own(session.cookiejar, call["cookies"], address)
        if value:
            own_headers["Cookie"] = value


def _needs_requests(session, call, body, address):
    if not (body is None or isinstance(body, bytes)):
        return True
    if call.get("stream") or call.get("hooks") or call.get("proxies") or session._proxies:
        return True
    if address[:6].lower() != "https:":
        return False
    checks = call.get("verify", True)
    return session.ssl_context_factory is not None or "cert" in call or not _is_bool(checks)


def _is_bool(it):
    return isinstance(it, bool)


def _send(session, method, address, own_headers, body, call, options):
    options["timeout"] = limit_of(call.get("timeout"))
    options["max_redirects"] = call.get("max_redirects", session.max_redirects)
    if address[:6].lower() == "https:" and call.get("verify") is session.insecure:
        options["insecure"] = not session.insecure
    pairs = session._all_headers(own_headers)
    retries = call.get("max_retries", session.max_retries)
    if not retries:
        return session._native_send(method, address, pairs, body, **options)
    return _try_again(session, (method, address, pairs, body), options, retries)


def limit_of(timeout):
    """How long the engine waits for an answer, from requests' number or pair."""
    return timeout[1] if isinstance(timeout, (tuple, list)) else timeout


def _try_again(session, request, options, retries):
    """Send until something else than a timeout happens; the last try is counted."""
    caught = options["catch_response"]
    options["catch_response"] = True
    for _ in range(retries + 1):
        response = session._native_send(*request, **options)
        failure = response.native_error
        if failure is None or failures.kind_of(failure) not in failures.TIMEOUTS:
            break
    if not caught:
        response._count(None)
    return response
