"""Loadline's runner of locustfiles, apart from the names that Locust exports.

To change
- an option: its declaration `options.py`, its effect where it acts; the order of a command
  `command.py`; a line of `docs/guide/locust.md`
- processes: `processes.py`, their runners `compat/locust/runners/child.py` and `coordinator.py`
- Loadline's own outputs and checks: `outputs.py`, the record of a test `recording.py`, Locust's
  tables in it `report_tables.py`; whether files can be written `writable.py`; metrics for other
  programs `telemetry.py`
- changes of the number of users by the page of another program, and what it is told: `steering.py`
- users that are ended while they compute: `ending.py`
- trials of a search for a capacity: `trials.py`
"""

# It makes Python's blocking modules cooperative before others are imported.
import locust  # noqa: F401
