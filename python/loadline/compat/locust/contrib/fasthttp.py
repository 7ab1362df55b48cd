"""`FastHttpUser` and its client, which has none of the state of a `requests.Session`."""

import ssl

from loadline.locust_http.fast_client import fallback
from loadline.locust_http.fast_client.compose import compose
from loadline.locust_http.fast_client.responses import (
    ErrorResponse,
    FastRequest,
    FastResponse,
    NativeFastResponse,
    ResponseContextManager,
)
from loadline.locust_http.shared import engine as native
from loadline.locust_http.shared import headers, names
from loadline.locust_http.shared.cookies import ClientCookies
from loadline.locust_http.shared.counting import CountedClient
from loadline.locust_http.shared.failures import FAILURE_EXCEPTIONS, LocustBadStatusCode

from ..exception import StopTest
from ..user.users import RestMixin, User

__all__ = [
    "FAILURE_EXCEPTIONS",
    "ErrorResponse",
    "FastHttpSession",
    "FastHttpUser",
    "FastRequest",
    "FastResponse",
    "LocustBadStatusCode",
    "LocustUserAgent",
    "ResponseContextManager",
    "RestResponseContextManager",
    "insecure_ssl_context_factory",
]


class RestResponseContextManager(ResponseContextManager):
    """The type of what `rest()` gives: a response with the parsed body in `js`."""

    js: dict


def insecure_ssl_context_factory():
    """A TLS context that checks nothing."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class LocustUserAgent:
    """What `session.client` was in Locust: the connections of a session, to be closed by hand."""

    def __init__(self, session):
        self._session = session
        self.clientpool = self

    @property
    def cookiejar(self):
        """The session's cookies."""
        return self._session.cookiejar

    def close(self):
        """Close all connections; the next request opens one."""
        self._session._close()

    def urlopen(self, url, method="GET", headers=None, payload=None, **options):
        """Send a request that is not counted."""
        options = {**options, "data": payload, "headers": headers, "catch_response": True}
        return self._session._compose(method, url, options)


class FastHttpSession(CountedClient, native.Client):
    """Makes the requests of one user and counts them.

    `get`, `post` and the others are the engine's own; calls with other keywords are composed in
    Python (`_compose`).
    """

    response_class = NativeFastResponse
    head_stays = False
    _cookiejar = _requests = _own_headers = _proxies = None

    def __init__(
        self,
        base_url,
        request_event,
        user,
        insecure=True,
        client_pool=None,
        ssl_context_factory=None,
        *,
        network_timeout=60.0,
        connection_timeout=60.0,
        max_redirects=3,
        max_retries=0,
        concurrency=1,
        headers=None,
        proxy_host=None,
        proxy_port=None,
    ):
        address, credentials = names.split_credentials(base_url or "")
        self._begin(address, request_event, user, "fast")
        self.insecure = insecure
        self.ssl_context_factory = ssl_context_factory
        self.network_timeout = network_timeout
        self.connection_timeout = connection_timeout
        self.max_redirects = max_redirects
        self.max_retries = max_retries
        self._proxies = fallback.proxies_of(proxy_host, proxy_port)
        self._set_headers(headers, credentials)
        is_special = self._proxies or max_retries or ssl_context_factory is not None
        self._is_plain = not (self._is_foreign or is_special)

    def _set_headers(self, given, credentials):
        """The headers of all requests, shared by all users that change none of them."""
        if credentials is not None:
            given = {**(given or {}), "Authorization": _basic(credentials)}
        if given:
            self._own_headers = tuple(self._merged(headers.FAST_DEFAULTS, given))
        self.set_default_headers(self._own_headers or headers.FAST_DEFAULTS)

    @property
    def auth_header(self):
        """The Authorization of the credentials in the host, or None."""
        return headers.first(self._own_headers or (), "authorization")

    @property
    def cookiejar(self):
        """The session's cookies, as a jar."""
        if self._cookiejar is None:
            self._cookiejar = ClientCookies(self)
        return self._cookiejar

    @property
    def client(self):
        """The connections of this session."""
        return LocustUserAgent(self)

    def _close(self):
        native.Client.close(self)
        if self._requests is not None:
            self._requests.close()

    def _compose(self, method, url, given):
        return compose(self, method, url, given)

    def _all_headers(self, own):
        """The pairs of a composed request: those of each request, and its own in their place."""
        return self._merged(self._own_headers or headers.FAST_DEFAULTS, own)

    @staticmethod
    def _merged(defaults, own):
        taken = {name.lower() for name in own}
        kept = [pair for pair in defaults if pair[0].lower() not in taken]
        return kept + [(str(k), str(v)) for k, v in own.items()]

    def iter_lines(self, url, method="GET", **options):
        """The lines of a response as they come, as text."""
        response = self.request(method, url, stream=True, **options)
        yield from fallback.lines_of(response)


def _basic(credentials):
    return headers.basic(*credentials)


class FastHttpUser(RestMixin, User):
    """A user whose client is a `FastHttpSession`."""

    abstract = True

    network_timeout = 60.0
    connection_timeout = 60.0
    max_redirects = 30
    max_retries = 0
    insecure = True
    default_headers = None
    concurrency = 10
    proxy_host = None
    proxy_port = None
    client_pool = None
    ssl_context_factory = None

    def __init__(self, environment):
        super().__init__(environment)
        if self.host is None:
            raise StopTest(
                "You must specify the base host. Either in the host attribute in the User class, "
                "or on the command line using the --host option."
            )
        self.client = FastHttpSession(
            self.host,
            self.environment.events.request,
            self,
            insecure=self.insecure,
            client_pool=self.client_pool,
            ssl_context_factory=self.ssl_context_factory,
            network_timeout=self.network_timeout,
            connection_timeout=self.connection_timeout,
            max_redirects=self.max_redirects,
            max_retries=self.max_retries,
            concurrency=self.concurrency,
            headers=self.default_headers,
            proxy_host=self.proxy_host,
            proxy_port=self.proxy_port,
        )


class FastHttpLocust:
    """The old name of `FastHttpUser`: deriving from it says so."""

    def __init_subclass__(cls, **kwargs):
        raise ImportError(
            "The FastHttpLocust class has been renamed to FastHttpUser in version 1.0. "
            "For more info see: https://docs.locust.io/en/latest/changelog.html#changelog-1-0"
        )
