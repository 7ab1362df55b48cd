"""For tests without the built extension: `loadline._native` is the stand-in of the tests.

Only on the path of processes that tests start.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        module.sleep = _sleep


def _sleep(seconds):
    import gevent

    gevent.sleep(seconds)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "loadline._native":
            return None
        place = os.path.join(_FOLDER, "http_standin.py")
        return importlib.util.spec_from_file_location(name, place, loader=_Loader(name, place))


sys.meta_path.insert(0, _Finder())
