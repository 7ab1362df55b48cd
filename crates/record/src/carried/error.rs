//! The errors of records that were received.

/// The reason why something that was received is no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarryError {
    /// A distribution has counts that no run can have.
    #[error("its times can't be read")]
    Times,
    /// A name is invalid, or was not sent.
    #[error("its names can't be read")]
    Names,
    /// A metric of a script is invalid.
    #[error("its metrics can't be read")]
    Metrics,
}
