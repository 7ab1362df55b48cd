"""Loadline's own outputs beside Locust's: `--out loadline=FILE` saves the run.

The saved run has every request with its intended start, for `loadline report` and `compare`.
"""

import logging
import sys

from loadline import native

logger = logging.getLogger("locust.main")

_FORM = "--out takes loadline=FILE, such as --out loadline=run.run"


def file_of(options):
    """The file that --out names, or None; ends the process with a sentence if it has no meaning."""
    if not options.out:
        return None
    kind, _, path = options.out.partition("=")
    if kind != "loadline" or not path:
        _refuse(f"{_FORM}; '{options.out}' is something else.")
    if options.processes:
        _refuse("--out and --processes do not go together yet: leave one of them out.")
    return path


def _refuse(sentence):
    logger.error(sentence)
    sys.exit(2)


class SavedRun:
    """Records the first test of a process."""

    def __init__(self, path, environment, options):
        self._path = path
        self._environment = environment
        self._options = options
        self._recording = None
        # Whether a signal ends the test.
        self.interrupted = False
        environment.events.test_start.add_listener(self._begin)
        environment.events.test_stopping.add_listener(self._end)

    def _begin(self, **_kwargs):
        if self._recording is not None:
            return
        try:
            self._recording = native.Recording(
                self._path, self._host(), self._options.num_users, self._options.run_time
            )
            self._recording.begin()
        except (OSError, RuntimeError, ValueError) as e:
            logger.error("The run cannot be saved in '%s': %s", self._path, e)
            self._environment.process_exit_code = 1
            self._environment.runner.quit()

    def _host(self):
        hosts = [kind.host for kind in self._environment.user_classes if kind.host]
        return self._environment.host or (hosts[0] if hosts else "")

    def _end(self, **_kwargs):
        if self._recording is None:
            return
        try:
            self._recording.end(interrupted=self.interrupted)
        except (OSError, RuntimeError) as e:
            logger.error("The saved run '%s' is not whole: %s", self._path, e)
