"""The extension module: the engine, its clients and its statistics.

`load()` gives the module; where it is missing, one sentence says what to do. Names of the module
can be read from here as well (`native.Client`).
"""

_MISSING = (
    "The extension of Loadline is missing: pip install 'loadline[locust]', or run "
    "'make build' in a clone. Reason: {reason}"
)

_module = None


class MissingExtension(ImportError):
    """The engine's extension module cannot be loaded."""


def load():
    """The extension module."""
    global _module
    if _module is None:
        try:
            from loadline import _native
        except ImportError as e:
            raise MissingExtension(_MISSING.format(reason=e)) from e
        _module = _native
    return _module


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(load(), name)
