//! Single requests of the command itself: modules that a script imports from the web, and requests
//! of `pause`, `status` and the like to a running test.
//!
//! They are sent by the engine, like the requests of users, so that proxies, TLS, redirects and
//! encodings need no second client.

use super::go_words;
use loadline_engine::{
    Behaviour, ComposeError, Composed, Iteration, Observer, Run, Scenario, Session, StartError,
};
use loadline_metrics::SeriesId;
use loadline_plan::{Body, Client, EnvironmentProxies, Load, Plan, Request, Shape};
use loadline_reactor::Host;
use loadline_record::{Exchange, Outcome};
use loadline_runner::{Commands, Interests, Setup, Source, Workload};
use loadline_wire::Sink;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use url::Url;

/// The timeout of a request, as in k6.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of redirects.
const MOST_REDIRECTS: u32 = 10;
/// The maximum size of a response, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// A request of the command.
#[derive(Clone, Debug)]
pub(super) struct CommandRequest {
    /// The method.
    pub(super) method: &'static str,
    /// The URL.
    pub(super) url: Url,
    /// The JSON body, if there is one.
    pub(super) json: Option<String>,
}

/// A whole response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    /// The status.
    pub(super) status: u16,
    /// The decoded body.
    pub(super) body: Vec<u8>,
}

/// Sends a request, through these proxies if it must, follows redirects, and waits for the
/// response.
///
/// # Errors
/// The reason why there is no response.
pub(super) fn fetch(
    request: CommandRequest,
    proxies: Option<&EnvironmentProxies>,
    commands: &Commands,
) -> Result<Fetched, String> {
    let mut plan = plan(&request);
    plan.connection.environment_proxies = proxies.cloned().map(Box::new);
    let (sender, responses) = channel();
    let users = Users {
        request: Arc::new(request),
        sender,
    };
    loadline_runner::conduct(&Setup::of(&plan), &users, commands, &mut [])
        .map_err(|error| error.to_string())?;
    let response = responses.try_iter().next();
    response.unwrap_or_else(|| Err("interrupted".to_owned()))
}

/// Returns the plan of one request of one user.
fn plan(request: &CommandRequest) -> Plan {
    let mut plan = Plan {
        requests: vec![Request {
            method: request.method.to_owned(),
            url: request.url.clone(),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            name: None,
        }],
        client: client(),
        load: Load {
            users: 1,
            max_users: 1,
            shape: Shape::Closed,
        },
        threads: 1,
        duration: None,
        request_limit: Some(1),
        ..Plan::default()
    };
    plan.connection.timeout = TIMEOUT;
    plan.connection.drain = TIMEOUT;
    plan.connection.ahead = false;
    plan
}

fn client() -> Client {
    Client {
        follow_redirects: MOST_REDIRECTS,
        compressed: true,
        ..Client::default()
    }
}

struct Users {
    request: Arc<CommandRequest>,
    sender: Sender<Result<Fetched, String>>,
}

impl Workload for Users {
    fn start(&self, plan: Plan, interests: Interests) -> Result<Box<dyn Source>, StartError> {
        let (request, sender) = (Arc::clone(&self.request), self.sender.clone());
        let run = Run::start_scenario(plan, interests.detail(), move |_| User {
            request: Arc::clone(&request),
            sender: sender.clone(),
        })?;
        Ok(Box::new(run))
    }
}

#[derive(Clone)]
struct User {
    request: Arc<CommandRequest>,
    sender: Sender<Result<Fetched, String>>,
}

impl<H: Host> Scenario<H> for User {
    const COMPOSES: bool = true;

    type Behaviour = User;

    fn user(&mut self) -> User {
        self.clone()
    }
}

impl<H: Host> Behaviour<H> for User {
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let request = Arc::clone(&self.request);
        let headers: &[(&str, &str)] = match &request.json {
            Some(_) => &[("Content-Type", "application/json")],
            None => &[],
        };
        let request = Composed {
            method: request.method,
            url: &request.url,
            headers,
            body: request.json.as_deref().map(str::as_bytes),
            series: SeriesId::default(),
            timeout: None,
            resend: loadline_engine::Resend::default(),
        };
        let mut kept = LastResponse::default();
        let session = Session::new(&client());
        let sent = session.request(iteration.requester(), request, &mut kept);
        let fetched = match sent.await {
            Ok(_) => kept.end.unwrap_or_else(|| Err("cut off".to_owned())),
            Err(error) => Err(ComposeError::to_string(&error)),
        };
        // There is no receiver any more if the run was ended.
        let _ = self.sender.send(fetched);
    }
}

/// Stores the last response.
#[derive(Default)]
struct LastResponse {
    body: Vec<u8>,
    problem: String,
    end: Option<Result<Fetched, String>>,
}

impl Sink for LastResponse {
    const NEEDS_HEAD: bool = false;
    const NEEDS_BODY: bool = true;

    fn body(&mut self, part: &[u8]) {
        let room = MOST_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
    }
}

impl Observer for LastResponse {
    fn failed(&mut self, reason: &str, _: Option<i32>) {
        self.problem = reason.to_owned();
    }

    fn ended(&mut self, exchange: &Exchange) {
        let body = std::mem::take(&mut self.body);
        self.end = Some(match exchange.outcome {
            Outcome::Answered { status } => Ok(Fetched { status, body }),
            Outcome::Failed(kind) if self.problem.is_empty() => Err(kind.name().to_owned()),
            Outcome::Failed(_) => Err(go_words::network(&self.problem)),
        });
    }
}
