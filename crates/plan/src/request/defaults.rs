//! Completes a line of a list of URLs with the defaults for all requests.

use super::{Body, Header, Request};
use crate::{Credentials, ListedRequest};

/// Defaults for all requests; a line of a list may override them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestDefaults {
    /// The method; if `None`, POST for a request with a body and GET for others.
    pub method: Option<String>,
    /// Header fields of each request that does not set a field of the same name itself.
    pub headers: Vec<Header>,
    /// The body of requests without one of their own.
    pub body: Body,
    /// The credentials; they override those in a URL, and a header `Authorization` overrides them.
    pub credentials: Option<Credentials>,
}

impl RequestDefaults {
    /// Returns the request that is sent for a line of a list.
    pub fn complete(&self, listed: ListedRequest) -> Request {
        let body = listed
            .body
            .map_or_else(|| self.body.clone(), |text| Body::Bytes(text.into()));
        let credentials = self
            .credentials
            .as_ref()
            .or(listed.target.credentials.as_ref());
        let headers = self.headers_with(listed.headers, credentials);
        let method = listed.method.or_else(|| self.method.clone());
        Request {
            method: method.unwrap_or_else(|| default_method(&body).to_owned()),
            url: listed.target.url,
            headers,
            body,
            weight: listed.weight,
            name: listed.name,
        }
    }

    /// Returns the fields of all requests, then the request's own, then `Authorization` if that is
    /// still missing.
    fn headers_with(&self, own: Vec<Header>, credentials: Option<&Credentials>) -> Vec<Header> {
        let is_replaced = |header: &&Header| own.iter().any(|other| other.is(&header.name));
        let mut headers: Vec<_> = self
            .headers
            .iter()
            .filter(|header| !is_replaced(header))
            .cloned()
            .collect();
        headers.extend(own);
        if let Some(credentials) = credentials
            && !headers.iter().any(|header| header.is("Authorization"))
        {
            headers.push(credentials.to_header());
        }
        headers
    }
}

fn default_method(body: &Body) -> &'static str {
    match body {
        Body::None => "GET",
        Body::Bytes(_) => "POST",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&str]) -> Vec<Header> {
        lines
            .iter()
            .map(|line| line.parse().expect("a header"))
            .collect()
    }

    fn listed(url: &str) -> ListedRequest {
        ListedRequest::new(url.parse().expect("a URL"))
    }

    #[test]
    fn a_request_without_a_word_is_a_plain_get() {
        let request = RequestDefaults::default().complete(listed("127.0.0.1:8080"));
        assert_eq!(request.method, "GET");
        assert_eq!(request.url.as_str(), "http://127.0.0.1:8080/");
        assert_eq!(
            (request.headers, request.body, request.weight),
            (vec![], Body::None, 1)
        );
    }

    #[test]
    fn a_body_makes_it_a_post_unless_a_method_is_given() {
        let body = Body::Bytes(b"x".to_vec().into());
        let posts = RequestDefaults {
            body: body.clone(),
            ..Default::default()
        };
        assert_eq!(posts.complete(listed("a")).method, "POST");
        let puts = RequestDefaults {
            method: Some("PUT".into()),
            ..posts
        };
        assert_eq!(puts.complete(listed("a")).method, "PUT");
        let own = ListedRequest {
            method: Some("PATCH".into()),
            body: Some("y".into()),
            ..listed("a")
        };
        let request = puts.complete(own);
        assert_eq!(
            (request.method.as_str(), request.body),
            ("PATCH", Body::Bytes(b"y".to_vec().into()))
        );
    }

    #[test]
    fn own_headers_replace_those_of_all_requests() {
        let defaults = RequestDefaults {
            headers: headers(&["Accept: a/b", "X-All: 1", "X-All: 2", "X-Own: all"]),
            ..Default::default()
        };
        let own = ListedRequest {
            headers: headers(&["x-own: 1", "x-own: 2"]),
            ..listed("a")
        };
        assert_eq!(
            defaults.complete(own).headers,
            headers(&[
                "Accept: a/b",
                "X-All: 1",
                "X-All: 2",
                "x-own: 1",
                "x-own: 2"
            ])
        );
    }

    #[test]
    fn who_asks_is_taken_from_the_nearest() {
        let authorization = |defaults: &RequestDefaults, listed| {
            let headers = defaults.complete(listed).headers;
            headers
                .into_iter()
                .map(|header| header.value)
                .collect::<Vec<_>>()
        };
        let nobody = RequestDefaults::default();
        assert_eq!(
            authorization(&nobody, listed("http://me:secret@a")),
            ["Basic bWU6c2VjcmV0"]
        );
        let you = RequestDefaults {
            credentials: Some("you:1".parse().expect("a user")),
            ..nobody
        };
        assert_eq!(
            authorization(&you, listed("http://me:secret@a")),
            ["Basic eW91OjE="]
        );
        let own = ListedRequest {
            headers: headers(&["authorization: Bearer 1"]),
            ..listed("a")
        };
        assert_eq!(authorization(&you, own), ["Bearer 1"]);
    }
}
