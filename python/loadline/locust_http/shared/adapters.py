"""How real `requests` connects where it is used: over gevent's sockets."""

import ssl

from requests.adapters import HTTPAdapter


class LocustHttpAdapter(HTTPAdapter):
    """An adapter whose pool of connections may be shared between users (`pool_manager`)."""

    def __init__(self, pool_manager=None, *args, **kwargs):
        self.poolmanager = pool_manager
        super().__init__(*args, **kwargs)

    def init_poolmanager(self, *args, **kwargs):
        """Make a pool of its own unless one was given."""
        if self.poolmanager is None:
            super().init_poolmanager(*args, **kwargs)


class ContextAdapter(HTTPAdapter):
    """An adapter for one TLS context, such as one with a client certificate."""

    def __init__(self, context, insecure):
        self._context = context
        if insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        super().__init__()

    def init_poolmanager(self, *args, **kwargs):
        """The pool of that context."""
        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)
