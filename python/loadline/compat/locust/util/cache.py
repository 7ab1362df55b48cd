"""Remembers the last result of a function for a while."""

import functools
import time


def memoize(timeout, dynamic_timeout=False):
    """Call the function at most every `timeout` seconds; twice that where it is slower itself."""

    def decorate(func):
        state = {"expires": 0.0, "value": None, "timeout": timeout}

        @functools.wraps(func)
        def cached(*args, **kwargs):
            if time.time() >= state["expires"]:
                began = time.time()
                state["value"] = func(*args, **kwargs)
                took = time.time() - began
                if dynamic_timeout and took > state["timeout"]:
                    state["timeout"] *= 2
                state["expires"] = time.time() + state["timeout"]
            return state["value"]

        def clear_cache():
            state["expires"] = 0.0

        cached.clear_cache = clear_cache
        return cached

    return decorate
