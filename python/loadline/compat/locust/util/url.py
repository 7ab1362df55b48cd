"""What counts as a URL where a path could stand too."""

from urllib.parse import urlparse


def is_url(url):
    """Whether `url` begins with http:// or https://."""
    return urlparse(url).scheme in ("http", "https")
