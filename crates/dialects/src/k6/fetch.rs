//! Single requests of the command itself: modules that a script imports from the web, and what
//! `pause`, `status` and their like ask of a running test.
//!
//! They go through the engine, as the requests of users do: one client knows proxies, TLS,
//! redirects and encodings, and no second one has to.

use super::go_words;
use loadline_engine::{
    Behaviour, ComposeError, Composed, Iteration, Observer, Run, Scenario, Session, StartError,
};
use loadline_metrics::SeriesId;
use loadline_plan::{Body, Client, Load, Plan, Request, Shape};
use loadline_reactor::Host;
use loadline_record::{Exchange, Outcome};
use loadline_runner::{Commands, Setup, Source, Wants, Workload};
use loadline_wire::Sink;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use url::Url;

/// How long a request may take, as in k6.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How many redirects are followed.
const MOST_REDIRECTS: u32 = 10;
/// The longest response that is kept.
const MOST_BYTES: usize = 64 << 20;

/// A request of the command.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The method.
    pub(super) method: &'static str,
    /// Where it goes.
    pub(super) url: Url,
    /// JSON that goes with it.
    pub(super) json: Option<String>,
}

/// A whole response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    /// Its status.
    pub(super) status: u16,
    /// Its body, decoded.
    pub(super) body: Vec<u8>,
}

/// Sends a request and waits for its response, redirects followed.
///
/// # Errors
/// Why there is no response.
pub(super) fn fetch(asked: Asked, commands: &Commands) -> Result<Fetched, String> {
    let plan = plan(&asked);
    let (tell, told) = channel();
    let users = Users {
        asked: Arc::new(asked),
        tell,
    };
    loadline_runner::conduct(&Setup::of(&plan), &users, commands, &mut [])
        .map_err(|error| error.to_string())?;
    let response = told.try_iter().next();
    response.unwrap_or_else(|| Err("interrupted".to_owned()))
}

/// One request of one user.
fn plan(asked: &Asked) -> Plan {
    let mut plan = Plan {
        requests: vec![Request {
            method: asked.method.to_owned(),
            url: asked.url.clone(),
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
    asked: Arc<Asked>,
    tell: Sender<Result<Fetched, String>>,
}

impl Workload for Users {
    fn start(&self, plan: Plan, wants: Wants) -> Result<Box<dyn Source>, StartError> {
        let (asked, tell) = (Arc::clone(&self.asked), self.tell.clone());
        let run = Run::start_scenario(plan, wants.detail(), move |_| User {
            asked: Arc::clone(&asked),
            tell: tell.clone(),
        })?;
        Ok(Box::new(run))
    }
}

#[derive(Clone)]
struct User {
    asked: Arc<Asked>,
    tell: Sender<Result<Fetched, String>>,
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
        let asked = Arc::clone(&self.asked);
        let headers: &[(&str, &str)] = match &asked.json {
            Some(_) => &[("Content-Type", "application/json")],
            None => &[],
        };
        let request = Composed {
            method: asked.method,
            url: &asked.url,
            headers,
            body: asked.json.as_deref().map(str::as_bytes),
            series: SeriesId::default(),
            timeout: None,
            resend: loadline_engine::Resend::default(),
        };
        let mut kept = Kept::default();
        let session = Session::new(&client());
        let sent = session.request(iteration.requester(), request, &mut kept);
        let fetched = match sent.await {
            Ok(_) => kept.end.unwrap_or_else(|| Err("cut off".to_owned())),
            Err(error) => Err(ComposeError::to_string(&error)),
        };
        // Nobody waits any more if the run was ended.
        let _ = self.tell.send(fetched);
    }
}

/// Keeps the last response.
#[derive(Default)]
struct Kept {
    body: Vec<u8>,
    problem: String,
    end: Option<Result<Fetched, String>>,
}

impl Sink for Kept {
    const WANTS_HEAD: bool = false;
    const WANTS_BODY: bool = true;

    fn body(&mut self, part: &[u8]) {
        let room = MOST_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
    }
}

impl Observer for Kept {
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
