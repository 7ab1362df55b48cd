"""The server of the page: gevent's, with bounds on what a client can hold."""

import logging
import ssl
from io import BytesIO

import gevent
from gevent import pywsgi
from gevent.pool import Pool

from .messages import Answer

logger = logging.getLogger("locust.web")

_MOST_CONNECTIONS = 256
_MOST_BODY_BYTES = 1_000_000
# Seconds in which the head of a request, or its body, must have come, that a connection may be
# idle, and that a client may take nothing of an answer.
_TIMEOUT = 30

_TOO_LONG = "The body is longer than this server takes.\n"
_CUT_OFF = "The body did not come as a whole: send it again.\n"


class _Handler(pywsgi.WSGIHandler):
    def handle(self):
        """Serve one connection."""
        self.socket.settimeout(_TIMEOUT)
        super().handle()

    def read_request(self, raw_requestline):
        """Read the head of a request."""
        with gevent.Timeout(_TIMEOUT, ValueError("the head of the request did not come")):
            return super().read_request(raw_requestline)


class Server(pywsgi.WSGIServer):
    """Serves an application at an address; with TLS if there is a certificate with its key."""

    handler_class = _Handler

    def __init__(self, address, application, tls_cert=None, tls_key=None):
        tls = {"ssl_context": _context(tls_cert, tls_key)} if tls_cert and tls_key else {}
        super().__init__(
            address,
            application,
            log=None,
            # What clients send wrong is no error of the test.
            error_log=pywsgi.LoggingLogAdapter(logger, level=logging.DEBUG),
            spawn=Pool(_MOST_CONNECTIONS),
            **tls,
        )

    def wrap_socket_and_handle(self, client_socket, address):
        """Begin TLS on a connection."""
        client_socket.settimeout(_TIMEOUT)
        try:
            super().wrap_socket_and_handle(client_socket, address)
        except OSError as e:
            logger.debug("A connection from %s ended: %s", address, e)


def _context(certificate, key):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context


def receive(environ):
    """Read the body of a request: the body, or None and why it is refused."""
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return None, Answer(_CUT_OFF, 400)
    try:
        with gevent.Timeout(_TIMEOUT, OSError("too slow")):
            body = environ["wsgi.input"].read(_MOST_BODY_BYTES + 1)
    except OSError:
        return None, Answer(_CUT_OFF, 400)
    if len(body) > _MOST_BODY_BYTES:
        return None, Answer(_TOO_LONG, 413)
    if len(body) < length:
        return None, Answer(_CUT_OFF, 400)
    # For an application that reads it itself.
    environ["wsgi.input"] = BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return body, None


def drop(environ):
    """Leave what was not read of a request's body unread: the connection is to be closed."""
    stream = environ["wsgi.input"]
    stream.chunked_input = False
    stream.content_length = stream.position
