"""`HttpSession`: the client of `HttpUser`, a `requests.Session` whose requests the engine makes."""

import requests
from requests.auth import HTTPBasicAuth

from loadline.locust_http.requests_client import state
from loadline.locust_http.requests_client.compose import compose
from loadline.locust_http.requests_client.responses import Answer as ResponseContextManager
from loadline.locust_http.requests_client.responses import NativeAnswer
from loadline.locust_http.shared import engine as native
from loadline.locust_http.shared import names
from loadline.locust_http.shared.adapters import LocustHttpAdapter
from loadline.locust_http.shared.counting import CountedClient
from loadline.locust_http.shared.headers import REQUESTS_DEFAULTS

__all__ = [
    "HttpSession",
    "LocustHttpAdapter",
    "ResponseContextManager",
    "RestResponseContextManager",
]


class RestResponseContextManager(ResponseContextManager):
    """The type of what `rest()` gives: a response with the parsed body in `js`."""

    js: dict


class HttpSession(state.LazyState, CountedClient, native.Client, requests.Session):
    """Makes the requests of one user and counts them.

    `get`, `post` and the others are the engine's own; calls that need more of `requests` than
    the engine knows are composed in Python (`_compose`), and look the same to the script.
    """

    response_class = NativeAnswer
    head_stays = True  # `head` does not follow redirects
    _defines_send = True

    def __init__(self, base_url, request_event, user, *args, pool_manager=None, **kwargs):
        address, credentials = names.split_credentials(base_url)
        self._begin(address, request_event, user, "requests")
        self.pool_manager = pool_manager
        self.set_default_headers(REQUESTS_DEFAULTS)
        self._own_reasons()
        if credentials is not None:
            self.auth = HTTPBasicAuth(*credentials)

    def _compose(self, method, url, given):
        return compose(self, method, url, given)

    def send(self, request, **kwargs):
        """Send a prepared request by `requests`; as in a plain session, it is not counted."""
        return requests.Session.send(self, request, **kwargs)

    def close(self):
        """Close all connections."""
        native.Client.close(self)
        for adapter in (self._adapters or {}).values():
            adapter.close()
