//! The bodies of a plan's requests in the message to a child: each once, however many requests have
//! it, and in a third of the characters of a list of numbers.

use base64::prelude::{BASE64_STANDARD, Engine};
use loadline_plan::{Body, Content, Plan, Request};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;

/// The bodies that were taken out of a plan.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Bodies {
    /// The bodies, in Base64.
    contents: Vec<String>,
    /// The index of the body of each request of the plan, then of each of its scenarios; `None` for
    /// a request without one.
    of_requests: Vec<Option<usize>>,
}

impl Bodies {
    /// Takes the bodies out of a plan.
    pub(crate) fn take(plan: &mut Plan) -> Bodies {
        let mut bodies = Bodies::default();
        let mut known: HashMap<(*const u8, usize), usize> = HashMap::new();
        let mut taken = Vec::new();
        for request in requests(plan) {
            let index = match std::mem::take(&mut request.body) {
                Body::None => None,
                Body::Bytes(content) => {
                    let place = (content.as_ptr(), content.len());
                    let index = *known.entry(place).or_insert_with(|| {
                        bodies.contents.push(BASE64_STANDARD.encode(&*content));
                        bodies.contents.len() - 1
                    });
                    // Keep the content, so that no other content can have the same address.
                    taken.push(content);
                    Some(index)
                }
            };
            bodies.of_requests.push(index);
        }
        bodies
    }

    /// Puts the bodies back into the plan from which they were taken.
    ///
    /// # Errors
    /// If they are not of this plan.
    pub(crate) fn put_into(self, plan: &mut Plan) -> io::Result<()> {
        let wrong = || io::Error::other("the bodies of the plan can't be read");
        let decode = |text: String| {
            let bytes = BASE64_STANDARD.decode(text).map_err(|_| wrong())?;
            Ok(Content::from(bytes))
        };
        let contents = self.contents.into_iter().map(decode);
        let contents: Vec<Content> = contents.collect::<io::Result<_>>()?;
        for (request, index) in requests(plan).zip(self.of_requests) {
            if let Some(index) = index {
                let content = contents.get(index).ok_or_else(wrong)?;
                request.body = Body::Bytes(content.clone());
            }
        }
        Ok(())
    }
}

/// Returns the requests of a plan, then those of each of its scenarios.
fn requests(plan: &mut Plan) -> impl Iterator<Item = &mut Request> {
    let scenarios = plan.scenarios.iter_mut();
    let theirs = scenarios.flat_map(|scenario| &mut scenario.requests);
    plan.requests.iter_mut().chain(theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: Body) -> Request {
        Request {
            method: "POST".to_owned(),
            url: "http://a/".parse().expect("a URL"),
            headers: Vec::new(),
            body,
            weight: 1,
            name: None,
        }
    }

    #[test]
    fn a_body_that_many_requests_have_goes_to_a_child_once() {
        let shared = Content::from(vec![0xff; 3_000]);
        let mut bodies = vec![Body::None, Body::Bytes(Vec::new().into())];
        bodies.extend(vec![Body::Bytes(shared); 50]);
        let plan = Plan {
            requests: bodies.into_iter().map(request).collect(),
            ..Plan::default()
        };
        let mut sent = plan.clone();
        let taken = Bodies::take(&mut sent);
        assert!(sent.requests.iter().all(|one| one.body == Body::None));
        let text = serde_json::to_string(&taken).expect("JSON");
        assert!(text.len() < 4_400, "{}", text.len());
        let taken: Bodies = serde_json::from_str(&text).expect("what was written");
        taken.put_into(&mut sent).expect("bodies of this plan");
        assert_eq!(sent, plan);
    }
}
