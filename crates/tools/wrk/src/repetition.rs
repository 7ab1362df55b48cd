//! One repeated request, whose target is sent as typed.
//!
//! A plan contains URLs, which are normalised; wrk sends the typed text. So its request is written
//! here, and the plan's request only gives connections their destination.

use super::Arguments;
use loadline_engine::{Batch, Behaviour, Iteration, Part, Resend, Scenario};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_wire::{Expect, InvalidRequest, RequestHead, Version, write_request};
use std::sync::Arc;

const METHOD: &str = "GET";

/// The behaviour of all users of a command without a script; clones share the request.
#[derive(Clone, Debug)]
pub struct Repetition {
    pub(super) request: Arc<Vec<u8>>,
}

impl Arguments {
    /// Returns the request that is repeated if there is no script.
    ///
    /// # Errors
    /// If it would be parsed differently from what was typed.
    pub fn repetition(&self) -> Result<Repetition, InvalidRequest> {
        let headers: Vec<(&str, &str)> = self
            .headers
            .iter()
            .filter(|field| !field.is("Content-Length"))
            .map(|field| (field.name.as_str(), field.value.as_str()))
            .collect();
        let head = RequestHead {
            method: METHOD,
            target: &self.target.path,
            host: &self.target.authority,
            headers: &headers,
            body: None,
            keepalive: true,
            version: Version::Http11,
        };
        let mut request = Vec::new();
        write_request(&head, &mut request)?;
        Ok(Repetition {
            request: Arc::new(request),
        })
    }
}

impl<H: Host> Scenario<H> for Repetition {
    type Behaviour = Repeater;

    fn user(&mut self) -> Repeater {
        Repeater {
            part: Part {
                end: self.request.len(),
                expect: Expect::for_method(METHOD),
                series: SeriesId::default(),
                request: None,
            },
            request: Arc::clone(&self.request),
        }
    }
}

/// One user of a [`Repetition`].
#[derive(Debug)]
pub struct Repeater {
    request: Arc<Vec<u8>>,
    part: Part,
}

impl<H: Host> Behaviour<H> for Repeater {
    fn is_prompt(&self) -> bool {
        true
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let batch = Batch {
            endpoint: 0,
            bytes: &self.request,
            tail: &[],
            http2: None,
            parts: std::slice::from_ref(&self.part),
            resend: Resend::default(),
        };
        iteration.requester().send(batch, &mut ()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tool;
    use super::*;

    fn request(line: &str) -> String {
        let words = line.split(',').map(Into::into);
        let arguments = Arguments::parse(Tool::Wrk, words).expect("a good line");
        let repetition = arguments.repetition().expect("a request");
        String::from_utf8(repetition.request.to_vec()).expect("text")
    }

    #[test]
    fn targets_and_hosts_are_those_that_were_typed() {
        for (url, target, host) in [
            ("http://h/a/../b/./c//d", "/a/../b/./c//d", "h"),
            ("http://h:80/%7e?x=%20&y#part", "/%7e?x=%20&y", "h:80"),
            ("http://H?x=1", "/?x=1", "H"),
            ("https://me:secret@[::1]:8443", "/", "[::1]:8443"),
        ] {
            let expected = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(request(url), expected, "{url}");
        }
    }

    #[test]
    fn fields_stand_in_the_order_given_and_a_length_without_a_body_is_left_out() {
        assert_eq!(
            request("-H,Host: b,-H,content-length: 5,-H,A: c,http://h/"),
            "GET / HTTP/1.1\r\nHost: b\r\nA: c\r\n\r\n"
        );
    }
}
