//! k6's metrics.
