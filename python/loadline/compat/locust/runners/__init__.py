"""Runners: what starts and stops users.

The constants here may be assigned by a locustfile, so everybody reads them from this module at the
moment of use.
"""

STATE_INIT, STATE_SPAWNING, STATE_RUNNING, STATE_CLEANUP = (
    "ready",
    "spawning",
    "running",
    "cleanup",
)
STATE_STOPPING, STATE_STOPPED, STATE_MISSING = "stopping", "stopped", "missing"
ALL_RUNNING_STATES = (STATE_SPAWNING, STATE_RUNNING, STATE_CLEANUP)

WORKER_REPORT_INTERVAL = 3.0
WORKER_LOG_REPORT_INTERVAL = 10
CPU_MONITOR_INTERVAL = 10.0
CPU_WARNING_THRESHOLD = 90
HEARTBEAT_INTERVAL = 1
HEARTBEAT_LIVENESS = 3
HEARTBEAT_DEAD_INTERNAL = -60
MASTER_HEARTBEAT_TIMEOUT = 60
FALLBACK_INTERVAL = 5
CONNECT_TIMEOUT = 5
CONNECT_RETRY_COUNT = 60

from .base import Runner  # noqa: E402
from .child import WorkerRunner  # noqa: E402
from .coordinator import MasterRunner  # noqa: E402
from .distributed import DistributedRunner  # noqa: E402
from .local import LocalRunner  # noqa: E402
from .nodes import WorkerNode, WorkerNodes  # noqa: E402

__all__ = [
    "DistributedRunner",
    "LocalRunner",
    "MasterRunner",
    "Runner",
    "WorkerNode",
    "WorkerNodes",
    "WorkerRunner",
]
