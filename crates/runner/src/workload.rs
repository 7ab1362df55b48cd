//! Workloads: what the users of a run do. The one place that knows of script languages.

use crate::error::RunError;
use crate::observer::Wants;
use crate::source::Source;
use loadline_engine::{Run, StartError};
use loadline_plan::{Body, Header, Plan, Request};
use loadline_record::Summary;
use loadline_script_lua::{self as lua, Figures, Options, Script};
use std::path::Path;

pub use loadline_script_lua::Prints;

/// What the users of a run do: the plan's requests, or what a script says.
pub trait Workload {
    /// Begins the load of this plan. Blocks until its connections are up.
    ///
    /// # Errors
    /// Those of [`Run::start`].
    fn start(&self, plan: Plan, wants: Wants) -> Result<Box<dyn Source>, StartError>;

    /// Why it gave up while the load lasted, if it did.
    fn failure(&self) -> Option<RunError> {
        None
    }

    /// Brings what it printed so far to its reader, before something else is printed there.
    fn flush(&self) {}

    /// Lets it conclude, behind the report of its run.
    ///
    /// # Errors
    /// Why it gave up, or can't conclude.
    fn conclude(&self, _summary: &Summary) -> Result<(), RunError> {
        Ok(())
    }
}

/// The workload of a plan. A script is loaded here: all of it that comes before the load. What it
/// prints goes where `prints` says.
///
/// # Errors
/// If the script can't be loaded.
pub fn workload(plan: &Plan, prints: Prints) -> Result<Box<dyn Workload>, RunError> {
    Ok(match load(plan, prints)? {
        Some(script) => Box::new(script),
        None => Box::new(Requests),
    })
}

/// The requests of the plan.
struct Requests;

impl Workload for Requests {
    fn start(&self, plan: Plan, wants: Wants) -> Result<Box<dyn Source>, StartError> {
        Ok(Box::new(Run::start(plan, wants.detail())?))
    }
}

/// What a Lua script says.
#[derive(Debug)]
pub struct ScriptWorkload(Script);

impl ScriptWorkload {
    /// Loads a script: all of it that comes before the load.
    ///
    /// # Errors
    /// Those of [`Script::load`].
    pub fn load(path: &Path, options: &Options) -> Result<ScriptWorkload, lua::Error> {
        Script::load(path, options).map(ScriptWorkload)
    }

    /// What was tolerated when it was loaded: an error for each state, in order.
    pub fn complaints(&self) -> &[lua::Error] {
        self.0.complaints()
    }

    /// The error that it raised while the load lasted, if it did.
    pub fn error(&self) -> Option<lua::ScriptError> {
        self.0.failure()
    }

    /// Lets it conclude on these figures, behind the report of its run.
    ///
    /// # Errors
    /// If it raises an error.
    pub fn done(&self, figures: &Figures) -> Result<(), lua::Error> {
        self.0.done(figures)
    }
}

impl Workload for ScriptWorkload {
    /// The run ends when the script raises an error.
    fn start(&self, plan: Plan, wants: Wants) -> Result<Box<dyn Source>, StartError> {
        let run = Run::start_scenario(plan, wants.detail(), self.0.scenarios())?;
        self.0.watch(run.handle());
        Ok(Box::new(run))
    }

    fn failure(&self) -> Option<RunError> {
        self.error().map(Into::into)
    }

    fn flush(&self) {
        self.0.flush();
    }

    fn conclude(&self, summary: &Summary) -> Result<(), RunError> {
        match self.failure() {
            Some(error) => Err(error),
            None => Ok(self.done(&Figures::of(summary))?),
        }
    }
}

/// Loads the script of a plan, if it has one.
fn load(plan: &Plan, prints: Prints) -> Result<Option<ScriptWorkload>, RunError> {
    let (Some(script), [request]) = (&plan.script, plan.requests.as_slice()) else {
        return Ok(None);
    };
    let connection = &plan.connection;
    let body = match &request.body {
        Body::None => None,
        Body::Bytes(bytes) => Some(bytes.clone()),
    };
    let options = Options {
        args: script.args.clone(),
        method: request.method.clone(),
        headers: headers(request, connection.keepalive),
        body,
        threads: plan.threads,
        resolve: connection.unix_socket.is_none() && connection.connect_to.is_empty(),
        connect_timeout: connection.connect_timeout,
        prints,
        ..Options::new(request.url.as_str())
    };
    Ok(Some(ScriptWorkload::load(&script.path, &options)?))
}

/// The headers that the script's table begins with. The script looks for `Host` in this case only.
fn headers(request: &Request, keepalive: bool) -> Vec<(String, String)> {
    let name = |header: &Header| match header.is("host") {
        true => "Host".to_owned(),
        false => header.name.clone(),
    };
    let given = request.headers.iter();
    let mut headers: Vec<_> = given
        .map(|header| (name(header), header.value.clone()))
        .collect();
    if !keepalive && !request.headers.iter().any(|header| header.is("connection")) {
        headers.push(("Connection".to_owned(), "close".to_owned()));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_plan::{ListedRequest, RequestDefaults};

    fn request(lines: &[&str]) -> Request {
        let listed = ListedRequest::new("127.0.0.1:8080".parse().expect("a URL"));
        let defaults = RequestDefaults {
            headers: lines
                .iter()
                .map(|line| line.parse().expect("a header"))
                .collect(),
            ..RequestDefaults::default()
        };
        defaults.complete(listed)
    }

    fn pairs<'a>(pairs: &[(&'a str, &'a str)]) -> Vec<(String, String)> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(own).collect()
    }

    #[test]
    fn a_script_finds_the_host_in_its_own_case() {
        let request = request(&["host: a", "x: 1"]);
        assert_eq!(headers(&request, true), pairs(&[("Host", "a"), ("x", "1")]));
    }

    #[test]
    fn connections_that_are_to_close_say_so() {
        assert_eq!(
            headers(&request(&[]), false),
            pairs(&[("Connection", "close")])
        );
        let own = request(&["connection: upgrade"]);
        assert_eq!(headers(&own, false), pairs(&[("connection", "upgrade")]));
    }
}
