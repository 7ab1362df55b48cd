//! What one user sends.

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
    /// Header fields in the order they are sent, duplicates kept. The wire adds `Host` and
    /// `Content-Length` where they are missing, and nothing else.
    pub headers: Vec<Header>,
    /// What is sent after the head.
    pub body: Body,
    /// How often this request is sent relative to the other requests, at least 1.
    pub weight: u32,
    /// What its rows in reports are called; its method and URL if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Request {
    /// The name of the series that counts it: its own, or its URL, with the method before it if
    /// that is not GET.
    pub fn series_name(&self) -> Cow<'_, str> {
        self.series_name_of(self.url.as_str())
    }

    /// The name of the series that counts it if it goes to this URL.
    pub(crate) fn series_name_of<'a>(&'a self, url: &'a str) -> Cow<'a, str> {
        match &self.name {
            Some(name) => Cow::Borrowed(name),
            None if self.method == "GET" => Cow::Borrowed(shortened(url)),
            None => Cow::Owned(format!("{} {}", self.method, shortened(url))),
        }
    }
}

/// The beginning of a URL that is too long for a name.
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
    /// No body; and no `Content-Length`, but for POST, PUT and PATCH, which say 0.
    #[default]
    None,
    /// These bytes. Shown in saved runs as a length and a hash if long.
    Bytes(Content),
}

/// In which order users take the requests of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The k-th iteration of a worker takes request k, round and round; weights repeat a request.
    #[default]
    Sequential,
    /// Each iteration draws one by weight, from the seed.
    Random,
}
