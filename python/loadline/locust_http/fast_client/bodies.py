"""Bodies and queries of the fast client, whose rules are not those of `requests`."""

import json

from requests.models import RequestEncodingMixin

from ..shared import names

FORM = "application/x-www-form-urlencoded; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
BYTES = "application/octet-stream"


def encode(data, as_json, files, own_headers):
    """The body to send: bytes, or what yields them; sets its Content-Type unless given."""
    if files:
        return _multipart(data, files, own_headers)
    if as_json is not None and not data:
        _default(own_headers, "Content-Type", "application/json")
        _default(own_headers, "Accept", "application/json")
        return json.dumps(as_json).encode()
    if data is None or data == "" or data == b"":
        return None
    return _of_data(data, own_headers)


def _of_data(data, own_headers):
    if isinstance(data, dict):
        _default(own_headers, "Content-Type", FORM)
        return names.form_encoded(data).encode()
    if isinstance(data, str):
        _default(own_headers, "Content-Type", TEXT)
        return data.encode("utf-8")
    _default(own_headers, "Content-Type", BYTES)
    return bytes(data) if isinstance(data, (bytes, bytearray, memoryview)) else _pieces(data)


def _pieces(data):
    if isinstance(data, (list, tuple)):
        raise TypeError("data must be a dict, text, bytes, a file or an iterator of bytes")
    return data if hasattr(data, "read") else iter(data)


def _multipart(data, files, own_headers):
    body, kind = RequestEncodingMixin._encode_files(files, data or {})
    _default(own_headers, "Content-Type", kind)
    return body


def _default(own_headers, name, value):
    if name.lower() not in {n.lower() for n in own_headers}:
        own_headers[name] = value


def query(params):
    """The query of `params`: a dict or pairs (None leaves one out), or text that is used as is."""
    if isinstance(params, bytes):
        return params.decode("ascii")
    if isinstance(params, str):
        return params
    pairs = params.items() if hasattr(params, "items") else params
    quoted = names.form_quoted
    return "&".join(f"{quoted(k)}={quoted(v)}" for k, values in pairs for v in _values(values))


def _values(given):
    if type(given) is str or type(given) is int:
        return (given,)
    if given is None:
        return ()
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        return (given,)
    return tuple(v for v in given if v is not None)
