//! Features of a *user*, in addition to a series of requests: cookies, redirects, authentication,
//! decompression, bodies made from values.
//!
//! The crate implements rules about responses and the requests that follow them; nothing sends,
//! waits or reads a clock except for the expiry of cookies. The sender gets the cookies of a URL
//! from a [`CookieJar`], [`follow`]s a redirect, answers a challenge with an [`Authenticator`], and
//! decodes the body with a [`Decoder`].
//!
//! ## To change
//!
//! - cookies: their rules and a user's jar `cookies.rs`; the bounded store `cookies/shelf.rs`; the
//!   form for scripts `cookies/outside.rs`
//! - redirects, and the fields that are removed on the way: `follow` in `redirect.rs`
//! - basic and digest authentication: `authentication.rs`
//! - a content coding: `decoder.rs`
//! - bodies made from values: `body.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod authentication;
mod body;
mod cookies;
mod decoder;
mod redirect;

pub use authentication::{Authenticator, ChallengeProblem};
pub use body::{TypedBody, form, json};
pub use cookies::{CookieJar, ShownCookie};
pub use decoder::{ACCEPT_ENCODING, ContentCoding, DecodeError, Decoder, LONGEST_DECODED};
pub use redirect::{NextRequest, RedirectProblem, follow, is_redirect, keeps_credentials};
