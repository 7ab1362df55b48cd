//! `--debug`: one request and its response, in the debug format of Rust's HTTP types.

use super::message::Message;
use super::options::{Options, Version};
use super::outcome::Output;
use http::{HeaderMap, HeaderName, HeaderValue};
use loadline_engine::{
    Batch, Behaviour, Iteration, Observer, Part, Resend, Run, Scenario, StartError,
};
use loadline_metrics::SeriesId;
use loadline_plan::Plan;
use loadline_reactor::Host;
use loadline_record::{Exchange, Outcome};
use loadline_runner::{Commands, Interests, Setup, Source, Workload};
use loadline_wire::Sink;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use url::Url;

/// The maximum size of a printed body, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// The output for a request.
#[derive(Debug)]
pub(super) struct Printed {
    /// The request, with its response if there is one.
    pub(super) text: String,
    /// The reason why there is no response.
    pub(super) problem: Option<String>,
}

/// Sends the request for a URL once, and returns the text of both.
///
/// # Errors
/// If it can't be sent this way.
pub(super) fn exchange(
    options: &Options,
    url: &Url,
    plan: &Plan,
    commands: &Commands,
) -> Result<Printed, Output> {
    if options.version == Version::Http2 {
        return Err(Output::refusal(
            "--debug shows requests over HTTP/1.1 only; leave out --http2.",
        ));
    }
    let body = options.bodies.get(0);
    let message = Message::new(options, url, body, false).map_err(Output::error)?;
    let request = printed_request(options, url, &message, body);
    let (sender, results) = channel();
    let users = Users {
        message: Arc::new(message),
        sender,
    };
    let ran = loadline_runner::conduct(&Setup::of(plan), &users, commands, &mut []);
    let response = match ran {
        Err(error) => Err(error.to_string()),
        Ok(_) => results
            .try_iter()
            .next()
            .unwrap_or_else(|| Err("interrupted".to_owned())),
    };
    Ok(match response {
        Ok(response) => Printed {
            text: request + &response,
            problem: None,
        },
        Err(problem) => Printed {
            text: request,
            problem: Some(problem),
        },
    })
}

/// The body of a request.
#[derive(Debug)]
#[expect(dead_code, reason = "it is printed")]
struct Full {
    data: Option<bytes::Bytes>,
}

fn printed_request(options: &Options, url: &Url, message: &Message, body: &[u8]) -> String {
    let version = match options.version {
        Version::Http10 => http::Version::HTTP_10,
        Version::Http11 | Version::Http2 => http::Version::HTTP_11,
    };
    let mut request = http::Request::new(Full {
        data: (!body.is_empty()).then(|| bytes::Bytes::copy_from_slice(body)),
    });
    *request.version_mut() = version;
    *request.method_mut() = options.method.parse().unwrap_or_default();
    *request.uri_mut() = options.target_of(url).parse().unwrap_or_default();
    let text = String::from_utf8_lossy(&message.bytes);
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    for (name, value) in head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
    {
        append(request.headers_mut(), name.as_bytes(), value.as_bytes());
    }
    // The header is added when the request is sent.
    request.headers_mut().remove(http::header::CONTENT_LENGTH);
    printed(&request)
}

fn printed(value: &impl Debug) -> String {
    format!("{value:#?}\n")
}

fn append(headers: &mut HeaderMap, name: &[u8], value: &[u8]) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
        headers.append(name, value);
    }
}

struct Users {
    message: Arc<Message>,
    sender: Sender<Result<String, String>>,
}

impl Workload for Users {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let (message, sender) = (Arc::clone(&self.message), self.sender.clone());
        let run = Run::start_scenario(plan, interests.detail(), move |_| User {
            message: Arc::clone(&message),
            sender: sender.clone(),
        })?;
        Ok(Box::new(run))
    }
}

#[derive(Clone)]
struct User {
    message: Arc<Message>,
    sender: Sender<Result<String, String>>,
}

impl<H: Host> Scenario<H> for User {
    type Behaviour = User;

    fn user(&mut self) -> User {
        self.clone()
    }
}

impl<H: Host> Behaviour<H> for User {
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let part = Part {
            end: self.message.size(),
            expect: self.message.expect,
            series: SeriesId::default(),
            request: None,
        };
        let batch = Batch {
            endpoint: 0,
            bytes: &self.message.bytes,
            tail: &self.message.body,
            http2: None,
            parts: &[part],
            resend: Resend::Never,
        };
        let mut watch = Watch::default();
        iteration.requester().send(batch, &mut watch).await;
        if let Some(end) = watch.end {
            let _ = self.sender.send(end);
        }
    }
}

/// Stores a whole response.
#[derive(Default)]
struct Watch {
    is_old: bool,
    headers: HeaderMap,
    body: Vec<u8>,
    problem: String,
    end: Option<Result<String, String>>,
}

impl Sink for Watch {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn head(&mut self, bytes: &[u8]) {
        self.is_old = bytes.starts_with(b"HTTP/1.0");
        self.headers.clear();
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        append(&mut self.headers, name, value);
    }

    fn body(&mut self, part: &[u8]) {
        let room = MOST_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
    }
}

impl Observer for Watch {
    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.problem = match os_error {
            Some(number) => io::Error::from_raw_os_error(number).to_string(),
            None => reason.to_owned(),
        };
    }

    fn ended(&mut self, exchange: &Exchange) {
        self.end = Some(match exchange.outcome {
            Outcome::Failed(kind) if self.problem.is_empty() => Err(kind.name().to_owned()),
            Outcome::Failed(_) => Err(std::mem::take(&mut self.problem)),
            Outcome::Answered { status } => Ok(self.printed_response(status)),
        });
    }
}

impl Watch {
    fn printed_response(&mut self, status: u16) -> String {
        let body = bytes::Bytes::from(std::mem::take(&mut self.body));
        let mut response = http::Response::new(body);
        *response.version_mut() = match self.is_old {
            true => http::Version::HTTP_10,
            false => http::Version::HTTP_11,
        };
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
        *response.headers_mut() = std::mem::take(&mut self.headers);
        printed(&response)
    }
}
