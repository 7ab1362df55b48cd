//! Features of a *user*, in addition to a series of requests: cookies, redirects, authentication,
//! decompression, bodies made from values, the proxies of the environment.
//!
//! The crate implements rules about responses and the requests that follow them; nothing sends,
//! waits or reads a clock except for the expiry of cookies. The sender gets the cookies of a URL
//! from a [`CookieJar`], [`follow`]s a redirect, answers a challenge with an [`Authenticator`], and
//! decodes the body with a [`Decoder`].

mod authentication;
mod body;
mod cookies;
mod decoder;
mod proxies;
mod redirect;

pub use authentication::{Authenticator, ChallengeProblem};
pub use body::{TypedBody, form, json};
pub use cookies::{CookieJar, ShownCookie};
pub use decoder::{ACCEPT_ENCODING, ContentCoding, DecodeError, Decoder, LONGEST_DECODED};
pub use proxies::{EnvironmentProxies, NoProxyUrl};
pub use redirect::{NextRequest, RedirectProblem, follow, is_redirect, keeps_credentials};
