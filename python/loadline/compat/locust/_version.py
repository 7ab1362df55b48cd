"""The version of Locust that this package is compatible with."""

__version__ = version = "2.47.0"
__version_tuple__ = version_tuple = (2, 47, 0)
