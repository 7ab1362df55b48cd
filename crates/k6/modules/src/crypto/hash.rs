//! Hashes and HMAC by k6's names for them.

use hmac::{Mac, SimpleHmac};
use md4::Md4;
use md5::Md5;
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::digest::core_api::BlockSizeUser;
use sha2::{Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

macro_rules! by_name {
    ($name:expr, $function:ident ( $($arg:expr),* )) => {
        match $name {
            "md4" => Some($function::<Md4>($($arg),*)),
            "md5" => Some($function::<Md5>($($arg),*)),
            "sha1" => Some($function::<Sha1>($($arg),*)),
            "sha256" => Some($function::<Sha256>($($arg),*)),
            "sha384" => Some($function::<Sha384>($($arg),*)),
            "sha512" => Some($function::<Sha512>($($arg),*)),
            "sha512_224" => Some($function::<Sha512_224>($($arg),*)),
            "sha512_256" => Some($function::<Sha512_256>($($arg),*)),
            "ripemd160" => Some($function::<Ripemd160>($($arg),*)),
            _ => None,
        }
    };
}

/// Returns the hash of the data; `None` if no algorithm has this name.
pub(super) fn digest(name: &str, data: &[u8]) -> Option<Vec<u8>> {
    by_name!(name, hashed(data))
}

/// Returns the HMAC of the data; `None` if no algorithm has this name.
pub(super) fn mac(name: &str, key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    by_name!(name, authenticated(key, data))
}

fn hashed<D: Digest>(data: &[u8]) -> Vec<u8> {
    D::digest(data).to_vec()
}

fn authenticated<D: Digest + BlockSizeUser>(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut mac = SimpleHmac::<D>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

/// Returns bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
