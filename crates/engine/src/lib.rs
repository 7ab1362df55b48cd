//! Workers, users, pacing, timeouts, shutdown: runs a plan and hands over snapshots.
