//! What makes a *user* of a series of requests: cookies, redirects, authentication, decompression,
//! bodies made of values, the proxies of the environment.
//!
//! Everything here is a rule on what a response says and what the next request has to say; nothing
//! sends, waits or reads a clock but the expiry of cookies. Whoever sends asks a
//! [`CookieJar`] for the cookies of a URL, [`follow`]s a redirect, answers a challenge with an
//! [`Authenticator`], and puts the body through a [`Decoder`].

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
