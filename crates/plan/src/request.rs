//! The requests of a plan.

mod content;
mod defaults;
mod header;

pub use content::Content;
pub use defaults::RequestDefaults;
pub use header::{HeaderProblem, parse_method};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use url::Url;

/// One HTTP request of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The method, as sent.
    pub method: String,
    /// The absolute `http` or `https` URL, with a host.
    pub url: Url,
    /// Header fields in the order in which they are sent, with duplicates. The wire adds `Host` and
    /// `Content-Length` where they are missing, and nothing else.
    pub headers: Vec<Header>,
    /// The body, sent after the head.
    pub body: Body,
    /// The weight of this request relative to the other requests, at least 1.
    pub weight: u32,
    /// The name of its rows in reports; method and URL if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Request {
    /// Returns the name of the series that counts the request: its own name, or its URL, preceded
    /// by the method if that is not GET.
    pub fn series_name(&self) -> Cow<'_, str> {
        self.series_name_of(self.url.as_str())
    }

    /// Returns the name of the series that counts the request if its URL is this one.
    pub(crate) fn series_name_of<'a>(&'a self, url: &'a str) -> Cow<'a, str> {
        match &self.name {
            Some(name) => Cow::Borrowed(name),
            None if self.method == "GET" => Cow::Borrowed(shortened(url)),
            None => Cow::Owned(format!("{} {}", self.method, shortened(url))),
        }
    }
}

/// Returns at most the first 1 024 bytes of a URL, for use as a name.
fn shortened(url: &str) -> &str {
    const MOST: usize = 1_024;
    url.get(..MOST).unwrap_or(url)
}

/// One header field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The field's name as sent.
    pub name: String,
    /// The field's value as sent.
    pub value: String,
}

/// A request's body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// No body, and no `Content-Length`, except for POST, PUT and PATCH, which send 0.
    #[default]
    None,
    /// These bytes. A long body appears in saved runs as a length and a hash.
    Bytes(Content),
}

/// The order in which users take the requests of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The k-th iteration of a worker takes request k, cyclically; weights repeat a request.
    #[default]
    Sequential,
    /// Each iteration draws a request by weight, from the seed.
    Random,
}
