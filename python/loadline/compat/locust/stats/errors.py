"""Failures, grouped by their text."""

import hashlib
import re
import time

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+>")
_TEXT_OF_CATCH = re.compile(r"""^CatchResponseError\((['"])(.*)\1\)$""", re.DOTALL)


class StatsError:
    """One kind of failure of one method and name, and how often it occurred."""

    def __init__(self, method, name, error, occurrences=0, first_seen=None, last_seen=None):
        self.method = method
        self.name = name
        self.error = error
        self.occurrences = occurrences
        self.first_seen = first_seen
        self.last_seen = last_seen

    @classmethod
    def parse_error(cls, error):
        """The text that failures are grouped by, without addresses of objects."""
        text = error if isinstance(error, str) else repr(error)
        return _ADDRESS.sub("0x....>", text)

    @classmethod
    def create_key(cls, method, name, error):
        """The key of a failure in `RequestStats.errors`."""
        text = f"{method}.{name}.{cls.parse_error(error)!r}"
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    def occurred(self):
        """Count it once more, now."""
        now = time.time()
        self.occurrences += 1
        self.first_seen = self.first_seen or now
        self.last_seen = now

    def add(self, report):
        """Add the occurrences that another process reports."""
        self.occurrences += report["occurrences"]
        seen = [t for t in (self.first_seen, report["first_seen"]) if t is not None]
        self.first_seen = min(seen, default=None)
        seen = [t for t in (self.last_seen, report["last_seen"]) if t is not None]
        self.last_seen = max(seen, default=None)

    def to_name(self):
        """Method, name and text, as the error report prints them."""
        return f"{self.method} {self.name}: {self._text()}"

    def _text(self):
        if type(self.error).__name__ == "CatchResponseError":
            return str(self.error)
        text = self.error if isinstance(self.error, str) else repr(self.error)
        caught = _TEXT_OF_CATCH.match(text)
        return caught.group(2) if caught else text

    def serialize(self):
        """As plain data, for other processes and for the web page."""
        return {
            "method": self.method,
            "name": self.name,
            "error": self.parse_error(self.error),
            "occurrences": self.occurrences,
            "first_seen": self.first_seen,
            "last_seen": self.last_seen,
        }

    to_dict = serialize

    @classmethod
    def unserialize(cls, data):
        """What `serialize` was called on."""
        return cls(**data)
