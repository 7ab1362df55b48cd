"""Loads locustfiles: Python files whose classes are users and shapes."""

import importlib.machinery
import importlib.util
import inspect
import os
import sys

from ..shape import LoadTestShape
from ..user import User


def is_user_class(item):
    """Whether something in a locustfile is a class of users."""
    return bool(inspect.isclass(item) and issubclass(item, User) and item.abstract is False)


def is_shape_class(item):
    """Whether something in a locustfile is a shape."""
    return bool(
        inspect.isclass(item)
        and issubclass(item, LoadTestShape)
        and item.__dict__.get("abstract") is False
    )


def load_locustfile(path):
    """`({name: user class}, [shape, …])` of all that the file's namespace has."""
    members = vars(_import(path))
    users = {name: item for name, item in members.items() if is_user_class(item)}
    shapes = [item() for item in members.values() if is_shape_class(item)]
    return {kind.__name__: kind for kind in users.values()}, shapes


def load_locustfile_pytest(path):
    """`{name: user class}` of the functions `test_…` of a file."""
    from ..user.pytest_user import user_class_of

    members = vars(_import(path))
    return {
        name: user_class_of(item)
        for name, item in members.items()
        if name.startswith("test_") and inspect.isfunction(item)
    }


def _import(path):
    folder = os.path.dirname(os.path.abspath(path))
    for place in (folder, os.getcwd()):
        if place not in sys.path:
            # Behind our own package, which a file beside the locustfile must not replace.
            sys.path.insert(_after_ours(), place)
    name = os.path.splitext(os.path.basename(path))[0]
    if name == "locust":
        name = "locustfile"
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    known = sys.modules.get(name)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        if known is not None:
            sys.modules[name] = known
        else:
            del sys.modules[name]
        raise
    return module


def _after_ours():
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return sys.path.index(ours) + 1 if ours in sys.path else 0
