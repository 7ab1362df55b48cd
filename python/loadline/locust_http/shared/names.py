"""URLs of requests and the names under which they are counted."""

import re
from urllib.parse import quote, quote_plus, unquote, urlsplit, urlunsplit

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_USUAL = "/_.~,;:@=&+$!*'()?-"
_UNUSUAL = re.compile(r"[^A-Za-z0-9/_.~,;:@=&+$!*'()?%-]").search
_NEEDS_NO_FORM_QUOTING = re.compile(r"[A-Za-z0-9_.~-]*\Z").match
_NO_ESCAPE = re.compile(r"%(?![0-9A-F]{2})").search


def join(base_url, path):
    """The URL that is asked for: `path` if it is absolute, else both put together."""
    return path if _ABSOLUTE.match(path) else base_url + path


def needs_no_quoting(url):
    """Whether requests would send these characters as they are (no fragment, no space, …)."""
    return _UNUSUAL(url) is None and ("%" not in url or _NO_ESCAPE(url) is None)


def quoted(url):
    """`url` with what is unusual in its path and query as escapes, as requests sends it.

    None where that takes more than this: a fragment, escapes, dots, a host that is not ASCII.
    """
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if "%" in path or "#" in path or "/." in url or not slash or _UNUSUAL(host):
        return None
    return f"{scheme}://{host}/{quote(path, safe=_USUAL)}"


def form_quoted(value):
    """A name or value as forms and queries have it."""
    text = value if type(value) is str or isinstance(value, bytes) else str(value)
    if type(text) is str and _NEEDS_NO_FORM_QUOTING(text):
        return text
    return quote_plus(text)


def form_encoded(fields):
    """A dict of single values as a form or a query."""
    return "&".join([f"{form_quoted(k)}={form_quoted(v)}" for k, v in fields.items()])


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
