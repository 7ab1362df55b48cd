"""Who may send requests: everybody on this machine, and else whoever has the token or a login.

The rules are those of Loadline's live page. A page in a browser can send requests to this machine
under a name of its own (DNS rebinding), so `Host` must be a name of this machine. A browser says
which page changes something, so `Origin`, where it is sent, must be the page itself.
"""

import hmac
import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import gevent

from .loopback import is_loopback
from .messages import Answer

# The pause before a wrong token is refused: tokens can't be tried at speed.
_DENIAL_SECONDS = 0.3
_TOKEN_BYTES = 16

_FOREIGN_HOST = (
    "The Host field names another machine: ask localhost, or the address that the page was started "
    "with (--web-host, --web-host-display-name).\n"
)
_FOREIGN_ORIGIN = (
    "A page of another origin can't ask here: open the page of this server itself.\n"
)
_NO_TOKEN = "Open the address that loadline printed: it has the token.\n"


class Access:
    """The rules of a server at this address."""

    def __init__(self, host, has_login, display_name=None):
        # Beyond loopback, where no login asks for more.
        self.token = None
        if not is_loopback(host) and not has_login:
            self.token = secrets.token_hex(_TOKEN_BYTES)
        names = (host, socket.gethostname(), _host_of_url(display_name))
        self._own = {name.lower() for name in names if name}

    @property
    def query(self):
        """What follows the address of the page: the token, if there is one."""
        return f"?token={self.token}" if self.token else ""

    def ruling(self, environ):
        """The answer to a request that may not pass as it is; None if it may."""
        via_loopback = is_loopback(environ.get("REMOTE_ADDR", ""))
        if not self._is_named(environ.get("HTTP_HOST"), via_loopback):
            return Answer(_FOREIGN_HOST, 403)
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and not _is_own_origin(origin, environ.get("HTTP_HOST", "")):
            return Answer(_FOREIGN_ORIGIN, 403)
        if self.token is None:
            return None
        return self._welcome(environ) or self._refusal(environ)

    def _is_named(self, named, via_loopback):
        if named is None:
            # HTTP/1.0: it comes from no page.
            return True
        host = _host_of(named).lower()
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return host == "localhost" or host in self._own
        return address.is_loopback or not via_loopback or host in self._own

    def _welcome(self, environ):
        """With the token in its address, a browser gets a cookie, and comes again without it."""
        pairs = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        given = [value for name, value in pairs if name == "token"]
        if not given or not self._is_token(given[0]):
            return None
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        # A path that begins with two slashes would name another host.
        path = "/" + quote(environ.get("PATH_INFO", "").lstrip("/"), encoding="latin-1")
        cookie = f"{_cookie_name(environ)}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        location = path + (f"?{rest}" if rest else "")
        return Answer.redirect(location, 303, [("Set-Cookie", cookie)])

    def _refusal(self, environ):
        scheme, _, bearer = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        given = [bearer.strip()] if scheme.lower() == "bearer" else []
        if any(map(self._is_token, [*given, *_cookies(environ)])):
            return None
        gevent.sleep(_DENIAL_SECONDS)
        return Answer(_NO_TOKEN, 401)

    def _is_token(self, given):
        return hmac.compare_digest(given.encode("utf-8"), self.token.encode("utf-8"))


def _cookie_name(environ):
    # Browsers share cookies between the ports of a host.
    return f"loadline-{environ['SERVER_PORT']}"


def _cookies(environ):
    try:
        cookies = SimpleCookie(environ.get("HTTP_COOKIE", ""))
    except CookieError:
        return
    name = _cookie_name(environ)
    if name in cookies:
        yield cookies[name].value


def _host_of(authority):
    host, colon, port = authority.rpartition(":")
    if not colon or not (port.isdecimal() or not port):
        host = authority
    return host.strip("[]")


def _host_of_url(url):
    if not url:
        return None
    return _host_of(urlsplit(url).netloc or url.partition("/")[0])


def _is_own_origin(origin, host):
    scheme, _, authority = origin.partition("://")
    return scheme in ("http", "https") and authority.lower() == host.lower()
