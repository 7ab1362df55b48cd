"""Loadline's own outputs beside Locust's: `--out`, `--check`, and the page of `--html`.

All of them are made of a saved run. The extension records it, the native command judges it and
writes its reports.
"""

import json
import logging
import os
import sys
import tempfile
import time

from loadline import command, native

from locust.html import added_tables, save_html_report

from .recording import RECORD, RecordedPart, SavedParts, SavedRun

logger = logging.getLogger("locust.main")

_KINDS = ("loadline", "html", "json", "csv", "text", "sqlite")
_FORM = (
    "--out takes KIND=FILE, such as --out loadline=run.run or --out html=run.html; kinds are "
    + ", ".join(_KINDS)
)
# What the command returns where it could not report.
_FAILED = 2


def _refuse(sentence):
    logger.error(sentence)
    sys.exit(2)


def _parsed(text):
    kind, _, path = text.partition("=")
    if kind not in _KINDS or not path or path == "-":
        _refuse(f"{_FORM}; '{text}' is something else.")
    return kind, path


def _is_new(path, began):
    """Whether a file was written since then, as far as a file system's clock tells."""
    try:
        return os.path.getmtime(path) >= began - 0.1
    except OSError:
        return False


class Outputs:
    """What is made of the record of a test. Ends the process if what is asked has no meaning."""

    def __init__(self, options):
        self._options = options
        wanted = [_parsed(text) for text in options.out or []]
        saved = [path for kind, path in wanted if kind == "loadline"]
        if len(saved) > 1:
            _refuse("--out loadline=FILE saves the run once: name one file.")
        self._saved = saved[0] if saved else None
        self._reports = [f"{kind}={path}" for kind, path in wanted if kind != "loadline"]
        self._check_checks()
        self._command = self._find_command()
        self._run = None
        self._folder = None
        # Whether the users are in other processes.
        self.of_parts = bool(options.processes)
        is_shown = bool(os.environ.get(RECORD))
        if self._is_requested or is_shown or (options.html_file and self._command):
            self._folder = tempfile.TemporaryDirectory(prefix="loadline-")

    @property
    def files(self):
        """The files that --out names."""
        reports = [one.partition("=")[2] for one in self._reports]
        return [self._saved, *reports] if self._saved else reports

    @property
    def records(self):
        """Whether the test is recorded."""
        return self._folder is not None

    @property
    def _is_requested(self):
        """Whether the run is to be recorded even if that is all that can't be done."""
        return bool(self._saved or self._reports or self._options.check)

    def _check_checks(self):
        for text in self._options.check or []:
            try:
                native.ensure_check(text)
            except ValueError as e:
                _refuse(f"The check cannot be read: {e}")

    def _find_command(self):
        options = self._options
        if not (self._reports or options.check or options.html_file):
            return None
        try:
            return command.find()
        except command.MissingCommand as e:
            if self._reports or options.check:
                _refuse(f"--check and --out with a report need the native command: {e}")
            logger.warning(f"--html writes a page without Loadline's figures, as {e}")
            return None

    def record(self, environment):
        """Record the test, whose users are in this process or in its children."""
        if self._folder is None:
            return
        keeps_all = self._saved is not None
        kind = SavedParts if self.of_parts else SavedRun
        self._run = kind(self._path_of_run(), environment, self._options, self._is_requested,
                         keeps_all)

    def record_part(self, environment, line):
        """Record what this process, one of several, has of the test."""
        if self._folder is not None:
            self._run = RecordedPart(self._path_of_run(), environment, self._options,
                                     self._is_requested, line)

    def finish_part(self):
        """Wait until what this process has recorded is where it is to be."""
        if self._run is not None:
            self._run.finish()

    def changed_s(self):
        """The instant of the latest change of the number of users, in seconds from the begin of the
        load; 0 if none is recorded."""
        return self._run.changed_s() if self._run is not None else 0.0

    def interrupt(self):
        """A signal ends the test."""
        if self._run is not None:
            self._run.interrupted = True

    def _path_of_run(self):
        return self._saved or self._path("one.run")

    def _path(self, name):
        return os.path.join(self._folder.name, name)

    def finish(self, environment, code):
        """Write all that was asked for; returns the exit code of the checks, 0 if they passed.

        The record has the exit code of Locust's own rules, where that is not 0.
        """
        try:
            return self._finish(environment, code)
        finally:
            if self._folder is not None:
                self._folder.cleanup()

    def _finish(self, environment, code):
        run = self._saved_run()
        if run is not None:
            self._run.write_exit_code(code)
        if run is None or self._command is None:
            self._save_simple_page(environment)
            return 1 if run is None and self._is_requested else 0
        reports = list(self._reports)
        if self._options.html_file and f"html={self._options.html_file}" not in reports:
            reports.append(f"html={self._options.html_file}")
        if not reports and not self._options.check:
            return 0
        return self._report(environment, run, reports)

    def _saved_run(self):
        """The file with the whole run; None if there is none."""
        self.finish_part()
        if self._run is None or not self._run.is_whole:
            return None
        self._run.write_changes()
        self._run.write_notes()
        return self._run.path

    def _report(self, environment, run, reports):
        tables = self._path("tables.json")
        with open(tables, "w", encoding="utf-8") as file:
            json.dump(added_tables(environment), file)
        began = time.time()
        told = command.report(
            self._command, run, reports, tables, self._options.allow_invalid
        )
        missing = [one for one in reports if not _is_new(one.partition("=")[2], began)]
        if self._options.check or missing:
            for line in told.lines + told.said:
                logger.log(logging.ERROR if missing else logging.INFO, line)
        page = f"html={self._options.html_file}"
        if page in missing:
            missing.remove(page)
            self._save_simple_page(environment)
        if self._options.check:
            return told.code
        return _FAILED if missing else 0

    def _save_simple_page(self, environment):
        if self._options.html_file:
            save_html_report(environment, self._options.html_file)
