"""Calls of `HttpSession` that a plain native call cannot express.

Most are prepared here by requests' own rules and sent by the engine; a few need `requests`
itself to send them (hooks, mounted adapters, streams, proxies, …): those go to `fallback`.
"""

import re

import requests
from requests.exceptions import InvalidSchema
from requests.models import RequestEncodingMixin
from requests.sessions import merge_setting
from requests.structures import CaseInsensitiveDict
from requests.utils import check_header_validity, to_native_string

from ..shared import cookies, headers, names
from . import fallback, state

_KNOWN = frozenset(
    "name catch_response context data json params headers cookies files auth timeout "
    "allow_redirects proxies hooks stream verify cert".split()
)
SMALL_FILE = 1 << 20  # longer ones are sent by `requests` piece by piece
_NATIVE_STATE = state.AUTH | state.PARAMS | state.FOREIGN_EVENT | state.ODD_HEADERS
_DEFAULTS = CaseInsensitiveDict(headers.REQUESTS_DEFAULTS)
_HAS_PATH = re.compile(r"https?://[A-Za-z0-9.-]+(?::[1-5]?[0-9]{1,4})?/(?!.*/\.)").match
_IS_HTTP = re.compile(r"https?://", re.IGNORECASE).match
_SCALARS = frozenset((str, int, float, bool))
_QUICK = frozenset(
    "name catch_response context data json params headers auth timeout allow_redirects".split()
)


def compose(session, method, url, given):
    """Perform a request with whatever was given for it; returns its response."""
    if not given.keys() <= _KNOWN:
        _refuse_unknown(given)
    call = {k: v for k, v in given.items() if v is not None}
    number = len(call)
    url = names.join(session.base_url or "", url)
    if session._is_plain and _is_quick(session, url, call):
        answer = _quick(session, method, url, call, number)
        if answer is not None:
            return answer
    return _thorough(session, method, url, call)


def _refuse_unknown(given):
    unknown = next(k for k in given if k not in _KNOWN)
    raise TypeError(f"Session.request() got an unexpected keyword argument {unknown!r}")


# ---- quick: a form, a query, a user and password: rewritten as a plain call


def _is_quick(session, url, call):
    """Whether nothing is given that takes more; what says nothing is taken out."""
    if call.keys() <= _QUICK:
        return True
    for name in call.keys() - _QUICK:
        if name == "verify":
            says_nothing = not _is_tls(url) or call[name] is not session.insecure
            says_nothing = says_nothing and isinstance(call[name], bool)
        else:
            says_nothing = not call[name]
        if not says_nothing:
            return False
        del call[name]
    return True


def _quick(session, method, url, call, given):
    """The same request as a plain call, or None if it takes more than that.

    `given` is how much was given: a call that comes back as it was would come back for ever.
    """
    asked, rewritten, own_headers = url, dict(call), dict(call.get("headers") or ())
    if not names.needs_no_quoting(url):
        url = names.quoted(url)
    for name, rewrite in _REWRITES:
        if name in call:
            url = url and rewrite(url, rewritten, own_headers)
    if url is None or not all([type(v) is str for v in own_headers.values()]):
        return None
    if own_headers:
        rewritten["headers"] = own_headers
    if url == asked and rewritten == call and len(call) == given:
        return None
    return session._native_request(method, url, **rewritten)


def _rewrite_query(url, call, own_headers):
    params = call.pop("params", None)
    if not params:
        return url
    query = _encoded(params)
    if isinstance(query, bytes) or not names.needs_no_quoting(query):
        return None
    return names.add_query(url, query)


def _encoded(fields):
    """Names and values as a query has them."""
    if type(fields) is dict and all(type(v) in _SCALARS for v in fields.values()):
        return names.form_encoded(fields)
    return RequestEncodingMixin._encode_params(fields)


def _rewrite_form(url, call, own_headers):
    data = call.get("data")
    if data is None or isinstance(data, (str, bytes)):
        return url
    if not isinstance(data, (dict, list, tuple)):
        return None
    call.pop("data")
    if data:
        call.pop("json", None)
        call["data"] = _encoded(data)
        _default(own_headers, "Content-Type", "application/x-www-form-urlencoded")
    return url


def _rewrite_auth(url, call, own_headers):
    auth = call.pop("auth", None)
    if auth is None:
        return url
    pair = state._basic_pair(auth)
    if pair is None:
        return None
    for name in [n for n in own_headers if n.lower() == "authorization"]:
        del own_headers[name]
    own_headers["Authorization"] = headers.basic(*pair)
    return url


def _rewrite_timeout(url, call, own_headers):
    limit = call.get("timeout")
    return url if not isinstance(limit, tuple) and _is_limit(limit) else None


_REWRITES = (
    ("params", _rewrite_query),
    ("data", _rewrite_form),
    ("auth", _rewrite_auth),
    ("timeout", _rewrite_timeout),
)


def _default(own_headers, name, value):
    if name.lower() not in {n.lower() for n in own_headers}:
        own_headers[name] = value


# ---- thorough: prepared by requests


def _thorough(session, method, url, call):
    options = _options(method, call)
    if _needs_requests(session, url, call):
        return fallback.perform(session, method, url, call, options)
    try:
        prepared = _prepare(session, method, url, call)
        if not _IS_HTTP(prepared.url):
            raise InvalidSchema(f"No connection adapters were found for {prepared.url!r}")
    except requests.RequestException as error:
        return fallback.report_unsent(session, method, url, options, error)
    _read_small_file(prepared)
    if prepared.hooks.get("response") or _is_streamed(prepared.body):
        return fallback.perform(session, method, url, call, options)
    return _send(session, method, prepared, call, options)


def _options(method, call):
    return {
        "name": call.get("name"),
        "catch_response": bool(call.get("catch_response", False)),
        "context": call.get("context") or {},
        "allow_redirects": call.get("allow_redirects", method.upper() != "HEAD"),
    }


def _needs_requests(session, url, call):
    if session._reasons & ~_NATIVE_STATE and _state_needs_requests(session, url):
        return True
    if call.get("stream") or call.get("hooks") or call.get("proxies"):
        return True
    if not _is_limit(call.get("timeout")):
        return True
    return _is_tls(url) and ("cert" in call or not _knows_verify(call))


def _is_limit(timeout):
    """Whether the engine can keep to it; `requests` takes the rest, or says what is wrong."""
    parts = timeout if isinstance(timeout, tuple) and len(timeout) == 2 else (timeout,)
    return all(one is None or (isinstance(one, (int, float)) and one > 0) for one in parts)


def _state_needs_requests(session, url):
    reasons = session._reasons
    if reasons & (state.POLICY | state.STREAM | state.PATCHED | state.POOL):
        return True
    if reasons & state.ENVIRONMENT and state.environment_has_settings_for(url):
        return True
    if reasons & state.HOOKS and any(session.hooks.values()):
        return True
    if reasons & state.PROXIES and session.proxies:
        return True
    if reasons & state.MOUNTED and _is_mounted(session, url):
        return True
    return _is_tls(url) and bool(reasons & (state.CERT | state.VERIFY))


def _is_mounted(session, url):
    try:
        return session.get_adapter(url) is not session._own_adapter
    except requests.exceptions.InvalidSchema:
        return True


def _is_tls(url):
    return url[:6].lower() == "https:"


def _knows_verify(call):
    return isinstance(call.get("verify", True), bool)


def _read_small_file(prepared):
    """Take the content of a short file, so that the engine can send it."""
    length = int(prepared.headers.get("Content-Length") or 0)
    if hasattr(prepared.body, "read") and 0 < length <= SMALL_FILE:
        content = prepared.body.read()
        prepared.body = content.encode() if isinstance(content, str) else content
        prepared.headers["Content-Length"] = str(len(prepared.body))


def _is_streamed(body):
    return not (body is None or isinstance(body, (str, bytes)))


def _prepare(session, method, url, call):
    """As `Session.prepare_request`, but the engine adds the session's cookies."""
    prepared = requests.PreparedRequest()
    prepared.prepare_method(method)
    _prepare_url(prepared, url, merge_setting(call.get("params"), session._params))
    prepared.headers = _prepared_headers(session, call.get("headers"))
    prepared.prepare_body(call.get("data"), call.get("files"), call.get("json"))
    prepared.prepare_auth(merge_setting(call.get("auth"), session._auth), url)
    if call.get("cookies") and "Cookie" not in prepared.headers:
        value = cookies.with_own(session.cookies, call["cookies"], prepared.url)
        if value:
            prepared.headers["Cookie"] = value
    return prepared


def _prepare_url(prepared, url, params):
    """What is usual goes out as it is; `requests` looks at the rest."""
    if params or not (_HAS_PATH(url) and names.needs_no_quoting(url)):
        prepared.prepare_url(url, params)
    else:
        prepared.url = url


def _prepared_headers(session, own):
    touched = session._headers
    merged = CaseInsensitiveDict()
    merged._store = (_DEFAULTS if touched is None else touched)._store.copy()
    for name, value in (own or {}).items():
        if value is None:
            merged.pop(name, None)
        else:
            check_header_validity((name, value))
            merged[to_native_string(name)] = value
    if session._reasons & state.ODD_HEADERS:
        for pair in merged.items():
            check_header_validity(pair)
    for name in [n for n, v in merged.items() if v is None]:
        del merged[name]
    return merged


def _send(session, method, prepared, call, options):
    body = prepared.body
    limit = call.get("timeout")
    options["name"] = options["name"] or session.request_name or prepared.path_url
    if _is_tls(prepared.url) and call.get("verify") is session.insecure:
        options["insecure"] = not session.insecure
    return session._native_send(
        method,
        prepared.url,
        headers.as_text(prepared.headers),
        body.encode("utf-8") if isinstance(body, str) else body,
        max_redirects=session.max_redirects,
        timeout=limit[1] if isinstance(limit, tuple) else limit,
        **options,
    )
