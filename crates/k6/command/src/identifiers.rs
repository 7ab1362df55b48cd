//! The identifiers that k6 gives to groups and checks.

use md5::{Digest, Md5};

/// Returns the MD5 of a text in hexadecimal digits.
pub(super) fn md5_hex(text: &str) -> String {
    let digest = Md5::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
