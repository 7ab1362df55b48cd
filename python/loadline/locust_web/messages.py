"""Requests to the web page, and its answers."""

import json
from http import HTTPStatus
from urllib.parse import parse_qsl

JSON = "application/json"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

# What browsers are told with every answer: the address may have a token, and figures change.
_FIELDS = (
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)


def script_json(value):
    """JSON that may stand in a script of a page."""
    text = json.dumps(value, default=str)
    for letter in "<>&'":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


class Form:
    """Fields by their name, in the order in which they came; a name may have several values."""

    def __init__(self, pairs):
        self._values = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def __iter__(self):
        return iter(self._values)

    def first(self, name, otherwise=None):
        """The first value of a field."""
        return self._values.get(name, [otherwise])[0]

    def all(self, name):
        """All values of a field."""
        return self._values.get(name, [])


class Request:
    """A request, received as a whole."""

    def __init__(self, method, path, query="", content_type="", body=b""):
        self.method = method
        self.path = path
        self.query = Form(parse_qsl(query, keep_blank_values=True))
        self.body = body
        self._content_type = content_type

    @classmethod
    def of(cls, environ, body):
        """The request of a WSGI environment, whose body is read."""
        return cls(
            environ["REQUEST_METHOD"],
            environ.get("PATH_INFO") or "/",
            environ.get("QUERY_STRING", ""),
            environ.get("CONTENT_TYPE", ""),
            body,
        )

    def form(self):
        """The fields of a form, as browsers and other clients encode it."""
        if self._content_type.startswith("multipart/form-data"):
            return Form(self._parts())
        text = self.body.decode("utf-8", "replace")
        return Form(parse_qsl(text, keep_blank_values=True))

    def _parts(self):
        # Few clients send these, and the start of each test would wait for the import.
        import email.policy
        from email.parser import BytesParser

        head = f"Content-Type: {self._content_type}\r\n\r\n".encode("latin-1", "replace")
        whole = BytesParser(policy=email.policy.HTTP).parsebytes(head + self.body)
        for part in whole.iter_parts():
            name = part.get_param("name", header="content-disposition")
            value = part.get_payload(decode=True) or b""
            if name is not None:
                yield str(name), value.decode("utf-8", "replace")


class Answer:
    """An answer; `body` is text, bytes, or an iterable of bytes."""

    def __init__(self, body=b"", status=200, content_type=TEXT, fields=()):
        self.body = body.encode("utf-8") if isinstance(body, str) else body
        self.status = status
        self.fields = [("Content-Type", content_type), *map(_clean, fields)]

    @classmethod
    def json(cls, value, status=200):
        """An answer with a value as JSON."""
        return cls(json.dumps(value, default=str), status, JSON)

    @classmethod
    def redirect(cls, location, status=302, fields=()):
        """An answer that sends a browser elsewhere."""
        return cls(b"", status, fields=[("Location", location), *fields])

    def all_fields(self):
        """The fields, with those that every answer has."""
        fields = [*self.fields, *_FIELDS]
        if isinstance(self.body, bytes):
            fields.append(("Content-Length", str(len(self.body))))
        return fields

    def send(self, environ, start_response):
        """Answer as WSGI defines it."""
        start_response(f"{self.status} {HTTPStatus(self.status).phrase}", self.all_fields())
        if environ["REQUEST_METHOD"] == "HEAD":
            return []
        return [self.body] if isinstance(self.body, bytes) else self.body


def _clean(field):
    """A field whose value can't begin another one: names of files come from forms."""
    name, value = field
    printable = "".join(letter for letter in value if letter >= " ")
    return name, printable.encode("latin-1", "replace").decode("latin-1")
