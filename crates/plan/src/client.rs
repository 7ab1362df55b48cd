//! Handling of responses in addition to counting them, like a browser without a screen.

use crate::Credentials;
use serde::{Deserialize, Serialize};

/// The users' handling of responses. By default they only count them, at no extra cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// The most redirects that users follow in a row, each as a request of its own; with 0 a
    /// redirect is counted as an ordinary response.
    #[serde(skip_serializing_if = "is_zero")]
    pub follow_redirects: u32,
    /// True if each user keeps its own cookies. Each user then also goes through the plan's
    /// requests on its own, from the first one on, unless their order is random.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// True if users request compressed bodies, and decode them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
    /// The credentials with which users answer digest challenges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Credentials>,
}

impl Client {
    /// True if all of these features are off.
    pub fn is_plain(&self) -> bool {
        *self == Client::default()
    }

    /// True if a response may lead to a further request: a redirect, or the answer to a challenge.
    pub fn goes_on(&self) -> bool {
        self.follow_redirects > 0 || self.digest.is_some()
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_asked_for_leaves_no_trace_in_files() {
        let written = |client: &Client| serde_json::to_string(client).expect("JSON");
        assert_eq!(written(&Client::default()), "{}");
        let client = Client {
            follow_redirects: 3,
            cookies: true,
            compressed: true,
            digest: Some("me:secret".parse().expect("credentials")),
        };
        let read: Client = serde_json::from_str(&written(&client)).expect("the same");
        assert_eq!(read, client);
    }
}
