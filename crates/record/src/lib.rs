//! What happened: exchange outcomes, histograms, snapshots, lossless merge, the saved run.

mod exchange;

pub use exchange::{ErrorKind, Exchange, Outcome};
