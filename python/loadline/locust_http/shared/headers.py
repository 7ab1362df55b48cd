"""Headers: what sessions send by default, `session.headers`, and the headers of a response."""

import base64
import functools

from requests.structures import CaseInsensitiveDict
from requests.utils import default_headers, default_user_agent, get_encoding_from_headers

ENCODINGS = "gzip, deflate, br"
REQUESTS_DEFAULTS = (
    ("User-Agent", default_user_agent()),
    ("Accept-Encoding", ENCODINGS),
    ("Accept", "*/*"),
    ("Connection", "keep-alive"),
)
FAST_DEFAULTS = (
    ("User-Agent", "python/gevent-http-client-2.6.1"),
    ("Accept-Encoding", ENCODINGS),
)
_OF_REQUESTS = default_headers()["Accept-Encoding"]
# What real `requests` can decode here: brotli is no dependency of it.
DECODABLE = ENCODINGS if "br" in _OF_REQUESTS else _OF_REQUESTS


class SessionHeaders(CaseInsensitiveDict):
    """`session.headers`: each change is told to the client, whose plain calls send them."""

    def __init__(self, data, changed):
        self._changed = _ignore
        super().__init__(data)
        self._changed = changed

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        self._changed()

    def __delitem__(self, name):
        super().__delitem__(name)
        self._changed()

    def copy(self):
        """An ordinary dict of the same headers: no change of it is told to anybody."""
        return CaseInsensitiveDict(self._store.values())

    def __reduce__(self):
        return CaseInsensitiveDict, (list(self._store.values()),)


def _ignore():
    """Nobody listens while the first headers are put in."""


def as_text(headers):
    """The pairs to send: all of them str, those without a value left out."""
    return tuple((_text(k), _text(v)) for k, v in headers.items() if v is not None)


def is_text(value):
    """Whether the engine can send this value (None: the header is left out)."""
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return value is None or (isinstance(value, str) and "\n" not in value and "\r" not in value)


def _text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


def basic(user, password):
    """The value of Authorization for a user and a password, in requests' encoding."""
    pair = b":".join(_latin(part) for part in (user, password))
    return "Basic " + base64.b64encode(pair).decode("ascii")


def _latin(part):
    if isinstance(part, bytes):
        return part
    return str(part).encode("latin-1" if _fits_latin(part) else "utf-8")


def _fits_latin(part):
    return all(ord(c) < 256 for c in str(part))


def joined(pairs):
    """Headers of a response as requests has them: a repeated one is joined by commas."""
    headers = CaseInsensitiveDict()
    for name, value in pairs:
        headers[name] = headers[name] + ", " + value if name in headers else value
    return headers


@functools.lru_cache(maxsize=256)
def charset_of(content_type):
    """The charset of a Content-Type, by requests' rules, or None."""
    return get_encoding_from_headers({"content-type": content_type}) if content_type else None


def first(pairs, wanted):
    """The value of the first header of that (lower-case) name, or None."""
    for name, value in pairs:
        if name.lower() == wanted:
            return value
    return None
