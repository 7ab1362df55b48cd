//! Lua as one of the languages of scripts.

use crate::error::Error;
use crate::options::Options;
use crate::packed::unpack;
use crate::samples::Figures;
use crate::script::Script;
use loadline_engine::Launch;
use loadline_plan::{Body, Header, Plan, Request};
use loadline_record::Summary;
use loadline_script::{Language, LoadError, LoadSender, OnError, Prints, ScriptError};
use std::ops::Range;
use std::path::Path;

/// Lua, with the interface of wrk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lua;

impl Language for Lua {
    fn name(&self) -> &'static str {
        "Lua"
    }

    fn knows(&self, path: &Path) -> bool {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("lua"))
    }

    fn load(
        &self,
        plan: &Plan,
        prints: Prints,
        place: LoadSender,
    ) -> Result<Box<dyn loadline_script::Script>, LoadError> {
        let (Some(script), [request]) = (&plan.script, plan.requests.as_slice()) else {
            return Err(LoadError::new("a script in Lua takes one URL"));
        };
        let options = Options {
            args: script.args.clone(),
            prints,
            is_elsewhere: place == LoadSender::Elsewhere,
            ..options(plan, request)
        };
        match Script::load(&script.path, &options) {
            Ok(script) => Ok(Box::new(script)),
            Err(error) => Err(LoadError::new(error)),
        }
    }

    fn unpack(&self, packed: &str, workers: Range<u32>) -> Result<Launch, LoadError> {
        let script = unpack(packed, workers).map_err(LoadError::new)?;
        Ok(Launch::scenario(script.raising_scenarios()))
    }
}

/// Returns the options of a script for a plan's request.
fn options(plan: &Plan, request: &Request) -> Options {
    let connection = &plan.connection;
    Options {
        method: request.method.clone(),
        headers: headers(request, connection.keepalive),
        body: match &request.body {
            Body::None => None,
            Body::Bytes(bytes) => Some(bytes.to_vec()),
        },
        threads: plan.threads,
        resolve: connection.unix_socket.is_none() && connection.connect_to.is_empty(),
        connect_timeout: connection.connect_timeout,
        may_exit: false,
        max_metrics: plan.max_series,
        tags: plan
            .part
            .as_ref()
            .map(|part| part.series_tags())
            .unwrap_or_default(),
        ..Options::new(request.url.as_str())
    }
}

impl loadline_script::Script for Script {
    fn names_requests(&self) -> bool {
        Script::names_requests(self)
    }

    fn launch(&self) -> Launch {
        Launch::scenario(self.scenarios())
    }

    fn pack(&self) -> Result<String, LoadError> {
        Script::pack(self).map_err(LoadError::new)
    }

    fn raise(&self, error: ScriptError) {
        Script::raise(self, error.into());
    }

    fn on_error(&self, act: OnError) {
        Script::on_error(self, act);
    }

    fn failure(&self) -> Option<ScriptError> {
        Script::failure(self).map(Into::into)
    }

    fn flush(&self) {
        Script::flush(self);
    }

    fn conclude(&self, summary: &Summary) -> Result<(), ScriptError> {
        match self.done(&Figures::of(summary)) {
            Err(Error::Script(error)) => Err(error.into()),
            // `done` has no other kind of failure.
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Returns the initial headers of the script's table. The script expects `Host` in this case only.
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
