//! What users do with responses beside counting them, as a browser without a screen does.

use crate::Credentials;
use serde::{Deserialize, Serialize};

/// What users do with responses. By default nothing, which costs nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// How many redirects in a row they follow, each a request of its own; 0 leaves a redirect as
    /// the response that it is.
    #[serde(skip_serializing_if = "is_zero")]
    pub follow_redirects: u32,
    /// Whether each keeps cookies of its own. Then each also goes through the plan's requests by
    /// itself, from the first one on, as long as their order is not random.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// Whether they ask for compressed bodies, and decode them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,
    /// Who answers the servers' digest challenges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Credentials>,
}

impl Client {
    /// Whether they do none of it.
    pub fn is_plain(&self) -> bool {
        *self == Client::default()
    }

    /// Whether one of their requests may lead to another one.
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
