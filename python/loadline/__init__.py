"""Loadline from Python: the runner of locustfiles.

`python -m loadline -f locustfile.py --headless …` takes Locust's arguments. In a script of your
own, `loadline.use_locust()` makes `import locust` mean the compatible package.
"""

import os
import sys


def use_locust():
    """Let `import locust` find Loadline's package from now on; returns it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compat")
    loaded = sys.modules.get("locust")
    if loaded is not None and not str(getattr(loaded, "__file__", "")).startswith(folder):
        raise ImportError(
            "Another package locust is loaded already: call loadline.use_locust() before anything "
            "imports locust."
        )
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import locust

    return locust
