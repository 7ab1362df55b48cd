//! The version of the saved run's format, which the summary and the lines of a file contain.

/// The version of the format that this program writes. It reads earlier versions, too.
///
/// In version 1 responses counted for the rate only if they were begun in the window, and the ages
/// of unfinished requests were not recorded. In version 2 the users of a plan were called
/// connections.
pub const FORMAT_VERSION: u64 = 3;

/// True if files of this version count responses in the current way.
pub fn counts_alike(format: u64) -> bool {
    format >= 2
}

/// True if this program reads files of this version.
pub(crate) fn is_read(format: u64) -> bool {
    (1..=FORMAT_VERSION).contains(&format)
}
