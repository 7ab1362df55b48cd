//! An arrival: one intended start of an open load.

/// One intended start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The number among the arrivals of all stripes, from 0. After each change of a random load it
    /// begins at 0 again.
    pub index: u64,
    /// The instant in nanoseconds from the run's start.
    pub at_ns: u64,
}
