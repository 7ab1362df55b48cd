"""URLs of requests and the names under which they are counted."""

import re
from urllib.parse import unquote, urlsplit, urlunsplit

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_NEEDS_NO_QUOTING = re.compile(r"(?:[A-Za-z0-9/_.~,;:@=&+$!*'()?-]|%[0-9A-F]{2})*\Z").match


def join(base_url, path):
    """The URL that is asked for: `path` if it is absolute, else both put together."""
    return path if _ABSOLUTE.match(path) else base_url + path


def needs_no_quoting(url):
    """Whether requests would send these characters as they are (no fragment, no space, …)."""
    return _NEEDS_NO_QUOTING(url) is not None


def path_of(url):
    """Path and query of a prepared URL: the name of a request that has no other."""
    parts = urlsplit(url)
    path = parts.path or "/"
    return path + "?" + parts.query if parts.query else path


def add_query(url, query):
    """`url` with `query` (already encoded) behind its own; a fragment stays last."""
    if not query:
        return url
    address, mark, fragment = url.partition("#")
    glue = "&" if "?" in address else "?"
    return address + glue + query + mark + fragment


def split_credentials(base_url):
    """The URL without `user:password@`, and the pair (percent-decoded) or None."""
    parts = urlsplit(base_url or "")
    if not (parts.username and parts.password):
        return base_url, None
    host = parts.netloc.rpartition("@")[2]
    address = urlunsplit((parts.scheme, host, parts.path, parts.query, parts.fragment))
    return address, (unquote(parts.username), unquote(parts.password))
