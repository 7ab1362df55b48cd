"""`session.cookies`: a cookie jar of Python's kind that shows and changes the client's own.

The engine keeps the cookies of a client. Only where a script asks for them is this view made;
it holds nothing itself, so it never disagrees with what is sent.
"""

from email.message import Message
from http.cookiejar import Cookie, CookieJar

from requests.cookies import (
    MockRequest,
    MockResponse,
    RequestsCookieJar,
    cookiejar_from_dict,
    merge_cookies,
)

from . import engine as native


class ClientCookies(RequestsCookieJar):
    """The cookies of one client."""

    def __init__(self, client, policy_changed=None):
        self._client = client
        self._policy_changed = policy_changed
        super().__init__()

    @property
    def _cookies(self):
        """The cookies as Python's jars keep them: by domain, path and name."""
        jar = {}
        for row in native.Client.cookies(self._client):
            cookie = _from_native(row)
            jar.setdefault(cookie.domain, {}).setdefault(cookie.path, {})[cookie.name] = cookie
        return jar

    @_cookies.setter
    def _cookies(self, jar):
        """Python's jars begin with an empty dict; nothing is lost by not keeping it."""

    def set_cookie(self, cookie, *args, **kwargs):
        """Put one cookie into the client."""
        self._client.set_cookie(*_to_native(cookie, self._client.base_url))

    def clear(self, domain=None, path=None, name=None):
        """Remove all cookies, or those of a domain, of a path in it, or one of them."""
        if domain is not None:
            self._require(domain, path, name)
            domain = _domain(domain, self._client.base_url)
        self._client.clear_cookies(domain, path, name)

    def _require(self, domain, path, name):
        found = self._cookies[domain]
        if path is not None:
            found = found[path]
        if name is not None:
            found[name]

    def set_policy(self, policy):
        """Decide from now on which cookies are kept; `requests` does so, not the engine."""
        super().set_policy(policy)
        if self._policy_changed is not None:
            self._policy_changed()

    def clear_expired_cookies(self):
        """The engine drops them by itself."""

    def clear_session_cookies(self):
        """Remove the cookies that end with the session."""
        for cookie in list(self):
            if cookie.discard:
                self.clear(cookie.domain, cookie.path, cookie.name)

    def copy(self):
        """An ordinary jar with the same cookies."""
        jar = RequestsCookieJar()
        jar.set_policy(self.get_policy())
        jar.update(self)
        return jar

    def __reduce__(self):
        return _plain_jar, (list(self),)

    def __deepcopy__(self, memo):
        return self.copy()


def _plain_jar(cookies):
    jar = RequestsCookieJar()
    for cookie in cookies:
        jar.set_cookie(cookie)
    return jar


def replace(view, cookies):
    """Make `cookies` (a dict or a jar) the content of the client."""
    view.clear()
    given = list(cookiejar_from_dict(cookies) if isinstance(cookies, dict) else cookies)
    for cookie in given:
        view.set_cookie(cookie)


def with_own(view, cookies, url):
    """The value of the header Cookie: the client's cookies and those of this call."""
    if not isinstance(cookies, CookieJar):
        # From a dict `merge_cookies` takes no name that the jar has already.
        cookies = cookiejar_from_dict(cookies)
    jar = merge_cookies(merge_cookies(RequestsCookieJar(), view), cookies)
    request = MockRequest(_UrlRequest(url))
    jar.add_cookie_header(request)
    return request.get_new_headers().get("Cookie")


class _UrlRequest:
    """What a jar wants to know of a request."""

    def __init__(self, url):
        self.url = url
        self.headers = {}


def of_response(pairs, url):
    """The cookies that a response sets, as a jar."""
    jar = RequestsCookieJar()
    message = Message()
    for name, value in pairs:
        if name.lower() == "set-cookie":
            message[name] = value
    if message:
        jar.extract_cookies(MockResponse(message), MockRequest(_UrlRequest(url)))
    return jar


def _from_native(row):
    name, value, domain, path, secure, expires, http_only, host_only = row
    specified = bool(domain) and not host_only
    if domain and "." not in domain:
        domain += ".local"  # what Python's jars call a host without a dot
    return Cookie(
        version=0,
        name=name,
        value=value,
        port=None,
        port_specified=False,
        domain="." + domain.lstrip(".") if specified else domain,
        domain_specified=specified,
        domain_initial_dot=specified,
        path=path or "/",
        path_specified=True,
        secure=secure,
        expires=expires,
        discard=expires is None,
        comment=None,
        comment_url=None,
        rest={"HttpOnly": None} if http_only else {},
    )


def _to_native(cookie, base_url):
    domain = _domain(cookie.domain or "", base_url)
    rest = {name.lower() for name in cookie._rest}
    return (
        cookie.name,
        cookie.value or "",
        domain,
        cookie.path or "/",
        bool(cookie.secure),
        None if cookie.expires is None else int(cookie.expires),
        "httponly" in rest,
        not (cookie.domain or "").startswith("."),
    )


def _domain(domain, base_url):
    """`domain` as the engine has it: without a leading dot, and without the `.local` that
    Python's jars put behind a host without a dot."""
    domain = domain.lstrip(".")
    short = domain.removesuffix(".local")
    invented = short != domain and "." not in short and domain not in (base_url or "")
    return short if invented else domain
