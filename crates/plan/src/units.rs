//! Durations, counts and sizes as people write them.
