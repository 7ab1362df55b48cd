"""The native command `loadline`, which judges saved runs and writes reports of them."""

import os
import shutil
import subprocess
import sys

from loadline import native

# Names the command, where it is not to be looked for. The command that starts Python sets it.
VARIABLE = "LOADLINE_PROGRAM"

MISSING = (
    "the command loadline is not there: pip install 'loadline[locust]', run 'make build' in a "
    f"clone, or name the command in {VARIABLE}."
)


class MissingCommand(Exception):
    """There is no native command of this version; the text says what to do."""


def find():
    """The path of the command: the one that is named, the one beside Python, or that of PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        return _of_this_version(named)
    beside = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "loadline")
    for path in (beside, shutil.which("loadline")):
        if path and os.access(path, os.X_OK):
            return _of_this_version(path)
    raise MissingCommand(MISSING)


def _of_this_version(path):
    try:
        told = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise MissingCommand(f"{path} can't be run ({e}); {MISSING}") from e
    version = told.stdout.strip().rpartition(" ")[2]
    if version != native.load().__version__:
        raise MissingCommand(
            f"{path} is of version {version or 'unknown'} and this package of "
            f"{native.load().__version__}; {MISSING}"
        )
    return path


class Reported:
    """What the command said of a saved run."""

    def __init__(self, ended):
        self.code = ended.returncode
        # The lines of the report, and what was said beside it.
        self.lines = ended.stdout.splitlines()
        self.said = ended.stderr.strip().splitlines()


def report(path, saved_run, outputs, tables=None, allow_invalid=False):
    """Report a saved run: to `outputs`, each KIND=FILE, and shortly as text."""
    words = [path, "report", saved_run, "-o", "text", "--short", "--color", "never"]
    for output in outputs:
        words += ["-o", output]
    if allow_invalid:
        words.append("--allow-invalid")
    if tables:
        words += ["--tables", tables]
    return Reported(subprocess.run(words, capture_output=True, text=True))
