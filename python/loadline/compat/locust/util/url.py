"""What counts as a URL where a path could stand too."""

from urllib.parse import urlparse


def is_url(url):
    """Whether `url` is one of http:// or https:// that names a host."""
    try:
        parts = urlparse(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
