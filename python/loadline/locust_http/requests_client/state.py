"""The state that a `requests.Session` has, made when it is first touched.

A user who only calls `get` and `post` has none of it: the engine knows the default headers and
keeps the cookies. Each property tells the client whether its plain calls can still express what
the session says; where they cannot, `_plainness` has the reason and calls are composed in Python.
"""

import functools
import os
from collections import OrderedDict
from urllib.request import getproxies_environment

import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPBasicAuth
from requests.cookies import RequestsCookieJar
from requests.hooks import default_hooks
from requests.utils import get_environ_proxies, get_netrc_auth

from ..shared import cookies, headers

# Reasons why a call is composed in Python: bits of `_reasons`.
AUTH = 1
CERT = 2
ENVIRONMENT = 4
HOOKS = 8
MOUNTED = 16
PARAMS = 32
POLICY = 64
PROXIES = 128
STREAM = 256
VERIFY = 512
FOREIGN_EVENT = 1024
PATCHED = 2048
POOL = 4096
ODD_HEADERS = 8192

_SEND = requests.Session.send
_GET_ADAPTER = requests.Session.get_adapter
_ADAPTER_SEND = HTTPAdapter.send


class LazyState:
    """The attributes of `requests.Session`, for a class that is a native client too."""

    _reasons = 0
    _headers = _cookies = _auth = _proxies = _hooks = _params = _adapters = _cert = None
    _verify = True
    _stream = False
    _trust_env = True

    def _because(self, reason, holds):
        """Remember whether `reason` forbids plain calls."""
        reasons = self._reasons | reason if holds else self._reasons & ~reason
        if reasons != self._reasons:
            self._reasons = reasons
            self._is_plain = not reasons

    # ---- headers and auth: plain calls know them

    @property
    def headers(self):
        """The headers of each request: a dict whose changes count from the next call on."""
        if self._headers is None:
            self._headers = headers.SessionHeaders(headers.REQUESTS_DEFAULTS, self._pass_headers_on)
        return self._headers

    @headers.setter
    def headers(self, given):
        self._headers = headers.SessionHeaders(given or {}, self._pass_headers_on)
        self._pass_headers_on()

    def _pass_headers_on(self):
        sent = self._headers
        is_odd = sent is not None and not all(map(headers.is_text, sent.values()))
        self._because(ODD_HEADERS, is_odd)
        if is_odd:
            return  # requests says what is wrong with it, when a request is made
        pairs = headers.REQUESTS_DEFAULTS if sent is None else headers.as_text(sent)
        pair = _basic_pair(self._auth)
        if pair is not None:
            pairs = tuple(p for p in pairs if p[0].lower() != "authorization")
            pairs += (("Authorization", headers.basic(*pair)),)
        self.set_default_headers(pairs)

    @property
    def auth(self):
        """(user, password), an AuthBase, a callable, or None."""
        return self._auth

    @auth.setter
    def auth(self, given):
        self._auth = given
        self._because(AUTH, given is not None and _basic_pair(given) is None)
        self._pass_headers_on()

    # ---- cookies: the engine keeps them

    @property
    def cookies(self):
        """The session's cookies, as a jar."""
        if self._cookies is None:
            self._cookies = cookies.ClientCookies(self, self._policy_changed)
        return self._cookies

    @cookies.setter
    def cookies(self, given):
        if given is not self._cookies:
            cookies.replace(self.cookies, given if given is not None else RequestsCookieJar())

    def _policy_changed(self):
        self._because(POLICY, True)

    # ---- what only composed calls know

    @property
    def params(self):
        """The query that each request has."""
        if self._params is None:
            self.params = {}
        return self._params

    @params.setter
    def params(self, given):
        self._params = given
        self._because(PARAMS, True)

    @property
    def hooks(self):
        """Functions to call with each response."""
        if self._hooks is None:
            self.hooks = default_hooks()
        return self._hooks

    @hooks.setter
    def hooks(self, given):
        self._hooks = given
        self._because(HOOKS, True)

    @property
    def proxies(self):
        """The proxy of each scheme."""
        if self._proxies is None:
            self.proxies = {}
        return self._proxies

    @proxies.setter
    def proxies(self, given):
        self._proxies = given
        self._because(PROXIES, True)

    @property
    def adapters(self):
        """What sends requests of each prefix, where `requests` itself sends them."""
        if self._adapters is None:
            self._adapters = self._default_adapters()
        return self._adapters

    @adapters.setter
    def adapters(self, given):
        self._adapters = given
        self._because(MOUNTED, True)

    def _default_adapters(self):
        from ..shared.adapters import LocustHttpAdapter

        adapter = LocustHttpAdapter(pool_manager=self.pool_manager)
        self._own_adapter = adapter
        return OrderedDict([("https://", adapter), ("http://", adapter)])

    def mount(self, prefix, adapter):
        """Send requests whose URL begins with `prefix` by this adapter of `requests`."""
        requests.Session.mount(self, prefix, adapter)
        self._because(MOUNTED, True)

    @property
    def verify(self):
        """Whether certificates are checked, or the file of those to trust."""
        return self._verify

    @verify.setter
    def verify(self, given):
        self._verify = given
        self.insecure = given is False
        self._because(VERIFY, not isinstance(given, bool))

    @property
    def cert(self):
        """The client's certificate: a file, or a pair of certificate and key."""
        return self._cert

    @cert.setter
    def cert(self, given):
        self._cert = given
        self._because(CERT, given is not None)

    @property
    def stream(self):
        """Whether bodies are left to be read by the script."""
        return self._stream

    @stream.setter
    def stream(self, given):
        self._stream = given
        self._because(STREAM, bool(given))

    @property
    def trust_env(self):
        """Whether proxies, .netrc and CA files of the environment count."""
        return self._trust_env

    @trust_env.setter
    def trust_env(self, given):
        self._trust_env = given
        self._because(ENVIRONMENT, bool(given) and environment_matters())

    def _own_reasons(self):
        """The reasons that hold from the start for this session."""
        self._because(FOREIGN_EVENT, self._is_foreign)
        self._because(POOL, self.pool_manager is not None)
        if self._trust_env:
            self._because(ENVIRONMENT, environment_matters())
        self._because(PATCHED, is_patched(type(self)))


def _basic_pair(auth):
    """User and password, if that is all there is to it."""
    if isinstance(auth, tuple) and len(auth) == 2:
        return auth
    if type(auth) is HTTPBasicAuth:
        return auth.username, auth.password
    return None


@functools.lru_cache(maxsize=1)
def environment_matters():
    """Whether the environment says something that `requests` would heed for some URL."""
    return _own_authorities() or bool(getproxies_environment()) or _has_netrc()


def environment_has_settings_for(url):
    """Whether it says something that `requests` would heed for this URL."""
    if _own_authorities() and url[:6].lower() == "https:":
        return True
    return bool(get_environ_proxies(url)) or get_netrc_auth(url) is not None


def _own_authorities():
    return bool(os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE"))


def _has_netrc():
    files = [os.environ.get("NETRC"), "~/.netrc", "~/_netrc"]
    return any(f and os.path.exists(os.path.expanduser(f)) for f in files)


def is_patched(kind):
    """Whether somebody (a tracer, a mock) put its own `send` into requests or into this class."""
    return (
        requests.Session.send is not _SEND
        or requests.Session.get_adapter is not _GET_ADAPTER
        or HTTPAdapter.send is not _ADAPTER_SEND
        or any("send" in c.__dict__ for c in kind.__mro__[: _depth_of_session(kind)])
    )


def _depth_of_session(kind):
    """How many classes of the order stand before the one that defines the sessions' own send."""
    return next(i for i, c in enumerate(kind.__mro__) if c.__dict__.get("_defines_send"))
