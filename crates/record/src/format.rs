//! The version of the saved run's format, which its summary and its lines carry.

/// The version of the format that this program writes. It reads those before it too.
///
/// In version 1 answers counted for the rate only if they were begun in the window, and nothing was
/// known of the ages of what was unfinished. In version 2 the users of a plan were called
/// connections.
pub const FORMAT_VERSION: u64 = 3;

/// Whether responses are counted in files of this version as they are now.
pub fn counts_alike(format: u64) -> bool {
    format >= 2
}

/// Whether this program reads files of this version.
pub(crate) fn is_read(format: u64) -> bool {
    (1..=FORMAT_VERSION).contains(&format)
}
