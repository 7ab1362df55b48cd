"""The record of a test that Loadline keeps beside Locust's statistics: a saved run.

Of a test in one process that process records and saves it. Of one in several each child records its
own part, and sends it to the parent, which saves them as one.
"""

import logging
import os
import time

import gevent

from loadline import native

from locust.argument_parser import is_started_from_page
from locust.user import starts

logger = logging.getLogger("locust.main")


_NO_HOST = "no host is given: add -H, such as -H http://127.0.0.1:8080"
_NO_HOST_ON_PAGE = (
    "The locustfile has no host: fill in the field Host, such as http://127.0.0.1:8080."
)
# Names a file that does not exist yet: a link to the record, while the test lasts.
RECORD = "LOADLINE_RECORD"


class _NoHost(ValueError):
    """Nobody said where requests go."""


class SavedRun:
    """Records the first test of a process in a file; with a page, each test.

    Where `keeps_all`, each further test has a file of its own, with its number in the name.
    """

    def __init__(self, path, environment, options, is_requested=True, keeps_all=False):
        # The file of the newest test.
        self.path = path
        # The instant at which its load began, in seconds since 1970.
        self._began = 0.0
        self._first_path = path
        self._keeps_all = keeps_all
        self._number = 0
        self._environment = environment
        self._options = options
        # Whether a test that can't be recorded is to end.
        self._is_requested = is_requested
        self._recording = None
        # The changes of the number of users since it began: the instant of each, in seconds.
        self._changes = []
        # The greenlet that waits for the file, once the test has ended.
        self._writing = None
        # Whether a user ends the test: its greenlet does not come back from a wait.
        self._by_user = False
        # Whether the file is there, whole.
        self.is_whole = False
        # Whether a signal ends the test.
        self.interrupted = False
        environment.events.test_start.add_listener(self._begin)
        environment.events.test_stopping.add_listener(self._close)
        environment.events.test_stop.add_listener(self._end)
        environment.events.load_changed.add_listener(self._change)

    def _begin(self, **_kwargs):
        options = self._options
        if self._recording is not None:
            if options.headless:
                return
            self.finish()
            self.write_changes()
            self.write_notes()
            self._recording = self._writing = None
            self.is_whole = False
        self._changes = []
        self._number += 1
        self.path = self._path_of_test()
        try:
            self._recording = self._new_recording()
        except (OSError, RuntimeError, ValueError) as e:
            self._refuse(e)
        else:
            self._link()

    def _new_recording(self):
        """A recording that has begun."""
        recording = self._recording_of_run()
        recording.begin()
        self._began = time.time()
        starts.recorded = True
        return recording

    def _recording_of_run(self):
        options = self._options
        host = self._host()
        if not host:
            raise _NoHost(_NO_HOST)
        return native.Recording(
            self.path,
            host,
            options.num_users or 1,
            options.run_time,
            paced=self._paces(),
            checks=options.check or [],
            script=options.locustfile,
            stats=self._environment.stats.native,
        )

    def _paces(self):
        return any(_is_paced(kind) for kind in self._environment.user_classes)

    def _link(self):
        """Show the file to whoever asked for the record of this test."""
        place = os.environ.get(RECORD)
        if not place:
            return
        try:
            os.symlink(os.path.abspath(self.path), place)
        except OSError as e:
            logger.debug("The record is not linked: %s", e)

    def _path_of_test(self):
        if self._number == 1 or not self._keeps_all:
            return self._first_path
        name, kind = os.path.splitext(self._first_path)
        return f"{name}-{self._number}{kind}"

    def _refuse(self, error):
        if not self._is_requested:
            logger.debug("The run is not recorded: %s", error)
            return
        if isinstance(error, _NoHost) and is_started_from_page():
            logger.error(_NO_HOST_ON_PAGE)
        else:
            logger.error("The run cannot be saved in '%s': %s", self.path, error)
        self._environment.process_exit_code = 1
        self._environment.runner.quit()

    def _host(self):
        hosts = [kind.host for kind in self._environment.user_classes if kind.host]
        return self._environment.host or (hosts[0] if hosts else "")

    def _close(self, **_kwargs):
        if self._recording is None or self._writing is not None:
            return
        self._recording.wind_down()
        self._by_user = gevent.getcurrent() in self._environment.runner.user_greenlets
        # Users who may finish their tasks go on, and are counted.
        if not self._environment.stop_timeout:
            starts.recorded = False
            self._recording.close(interrupted=self.interrupted)

    def _end(self, **_kwargs):
        if self._recording is None or self._writing is not None:
            return
        starts.recorded = False
        self._recording.close(interrupted=self.interrupted)
        self._writing = gevent.spawn(self._write)
        if not self._by_user:
            self.finish()

    def finish(self):
        """Wait until what was recorded is in the file."""
        if self._writing is not None:
            self._writing.join()

    def _write(self):
        try:
            self._end_recording()
            self.is_whole = True
        except (OSError, RuntimeError) as e:
            logger.error("The saved run '%s' is not whole: %s", self.path, e)

    def _end_recording(self):
        self._recording.end()

    def _change(self, user_count, **_kwargs):
        if self._writing is None:
            self._changes.append((time.time() - self._began, user_count))

    def changed_s(self):
        """The instant of the latest change of the number of users, in seconds from the begin of the
        load; 0 without one."""
        return self._changes[-1][0] if self._changes else 0.0

    def write_changes(self):
        """Add the changes of the number of users to the file, once that is whole."""
        if not (self.is_whole and self._changes):
            return
        try:
            native.append_changes(self.path, self._changes)
        except OSError as e:
            logger.error("Changes of the load are missing in '%s': %s", self.path, e)

    def write_notes(self):
        """Add what was written on the newest test to its file, once that is whole."""
        page = self._environment.web_ui
        notes = page.notes.written_on(self._number) if page else []
        if not (self.is_whole and notes):
            return
        try:
            native.append_notes(self.path, [(one.at - self._began, one.text) for one in notes])
        except OSError as e:
            logger.error("Notes are missing in '%s': %s", self.path, e)


    def write_exit_code(self, code):
        """Add the exit code of Locust's own rules to the file, where that is not 0."""
        # What is no number ends a process with 1.
        if not code:
            return
        try:
            native.append_exit_code(self.path, code if isinstance(code, int) else 1)
        except (OSError, OverflowError) as e:
            logger.error("The exit code is missing in '%s': %s", self.path, e)


class SavedParts(SavedRun):
    """Records each test whose users are in child processes: their reports are one run."""

    def _new_recording(self):
        runner = self._environment.runner
        # Losses of earlier tests are none of this one.
        self._lost_before = len(runner.lost)
        recording = runner.record_parts(self._recording_of_run().of_parts)
        self._began = time.time() + (recording.begin_ns - time.monotonic_ns()) / 1e9
        return recording

    def _close(self, **_kwargs):
        """The children end what they record themselves."""

    _end = _close

    def finish(self):
        """Wait until what the children have recorded is in the file."""
        if self._recording is not None and self._writing is None:
            self._writing = gevent.spawn(self._write)
        super().finish()

    def _end_recording(self):
        lost = self._environment.runner.lost[self._lost_before:]
        self._recording.end(self.interrupted, " ".join(lost) or None)


class RecordedPart(SavedRun):
    """Records what a child process has of each test that its parent records."""

    def __init__(self, path, environment, options, is_requested, line):
        super().__init__(path, environment, options, is_requested)
        self._line = line

    def _begin(self, **_kwargs):
        if self._environment.runner.part is None:
            return
        super()._begin()

    def _new_recording(self):
        number, count, begin_ns = self._environment.runner.part
        recording = native.Recording.part(
            self._line,
            number,
            count,
            begin_ns,
            paced=self._paces(),
            stats=self._environment.stats.native,
        )
        recording.begin()
        starts.recorded = True
        return recording

    def _link(self):
        """It is the parent that has the file."""


def _is_paced(kind):
    """Whether users of a class, or a set of tasks in it, begin their tasks by a schedule."""
    if getattr(getattr(kind, "wait_time", None), "pacing", None):
        return True
    tasks = getattr(kind, "tasks", None) or []
    return any(_is_paced(one) for one in tasks if isinstance(one, type))
