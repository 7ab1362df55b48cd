"""Whether files can be written, found out before a test whose results they are to hold.

Nothing is left behind: a file that was not there is not there afterwards, and one of an earlier
test keeps what is in it. Only the process that leads a test asks, before it has any children.
"""

import errno
import logging
import os
import sys

logger = logging.getLogger("locust.main")

# The exit codes of a file of Locust's own that can't be written, and of one of Loadline's.
_LOCUSTS = 1
_LOADLINES = 2


def ensure_writable(path):
    """End the process as Locust's options do if this file can't be written; makes its folder."""
    try:
        _probe(path)
    except OSError as e:
        log_unwritable(path, e)
        sys.exit(_LOCUSTS)


def ensure_output(path):
    """End the process as a run of Loadline's own does if this output can't be written; makes its
    folder."""
    try:
        _probe(path)
    except OSError as e:
        logger.error(f"{path} can't be written: {e.strerror} (os error {e.errno}).")
        sys.exit(_LOADLINES)


def make_folder_of(path):
    """Make the folder that files are to be in; ends the process if nothing can be written there."""
    try:
        _make_folder(path)
    except OSError as e:
        log_unwritable(path, e)
        sys.exit(_LOCUSTS)


def log_unwritable(path, error):
    """Say that a file can't be written, and why."""
    logger.error(f"'{path}' cannot be written: {error}. Name another file.")


def _make_folder(path):
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)


def _probe(path):
    _make_folder(path)
    # What a link names is what will be written, and removed again here.
    file = os.path.realpath(path)
    if os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file)):
        # To open a pipe would wait for whoever reads it.
        return
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except FileExistsError:
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND))
    else:
        os.unlink(file)
