//! Compression of messages.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Compresses a message as gzip, at the level that costs least.
pub(crate) fn gzip(message: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(message);
    let compressed = written.and_then(|()| encoder.finish());
    compressed.expect("memory takes all that is written")
}
