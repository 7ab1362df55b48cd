//! HTTP/2 on bytes (RFC 9113): header compression.

// The connection that uses it is not written.
#![allow(dead_code, unused_imports)]

mod hpack;

pub use self::hpack::InvalidBlock;
