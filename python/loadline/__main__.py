"""`python -m loadline …`: the command of Locust, on Loadline's engine.

The folder with our package `locust` comes first on the path of this process alone, so a real Locust
beside it is neither replaced nor mixed in.
"""

import gc
import importlib
import os
import sys

_OLDEST = (3, 10)


def main():
    """Run the command."""
    run("locust.main")


def _refuse(sentence):
    sys.stderr.write(sentence + "\n")
    sys.exit(1)


def run(module, refuse=_refuse):
    """Check what is needed, and run the `main` of a module of our package `locust`.

    `refuse` ends the process with a sentence.
    """
    if sys.version_info < _OLDEST:
        refuse("Python %d.%d is too old: run Loadline with Python 3.10 or newer." %
               sys.version_info[:2])
    for package in ("gevent", "configargparse"):
        try:
            __import__(package)
        except ImportError as e:
            refuse("The Python package %s is missing (%s): pip install 'loadline[locust]'" %
                   (package, e))
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "compat"))
    sys.argv[0] = "locust"
    from loadline import native

    try:
        # Nothing of what is imported is ever garbage: no collection looks at it.
        gc.disable()
        imported = importlib.import_module(module)
        native.load()
        gc.freeze()
        gc.enable()
        imported.main()
    except native.MissingExtension as e:
        refuse(str(e))


if __name__ == "__main__":
    main()
