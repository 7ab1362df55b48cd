//! HTTP/1.1 on bytes: a request writer that owns no socket and reads no clock.

mod excerpt;
mod request;

pub use crate::excerpt::Excerpt;
pub use crate::request::{InvalidRequest, RequestHead, Version, write_request};
