//! A plan's script in a native run: what it is given, and when what it prints is shown.

use crate::invocation::{Format, Output, Sink};
use loadline_plan::{Body, Header, Plan, Request};
use loadline_script_lua::{Error, Figures, Options, Prints, Script};

/// Loads the script of a plan, if it has one: everything of it that comes before the load.
pub(crate) fn load(plan: &Plan, outputs: &[Output]) -> Result<Option<Script>, Error> {
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
        prints: prints(outputs),
        ..Options::new(request.url.as_str())
    };
    Script::load(&script.path, &options).map(Some)
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

/// A report that a program reads from stdout stays alone there.
fn prints(outputs: &[Output]) -> Prints {
    let for_programs = |output: &Output| output.to == Sink::Stdout && output.format != Format::Text;
    if outputs.iter().any(for_programs) {
        Prints::Stderr
    } else {
        Prints::Stdout
    }
}

/// Lets the script have its last word, after the report; or tells what it threw before.
pub(crate) fn finish(script: &Script, figures: &Figures) -> anyhow::Result<()> {
    match script.failure() {
        Some(error) => Err(error.into()),
        None => Ok(script.done(figures)?),
    }
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

    #[test]
    fn prints_stay_out_of_what_programs_read() {
        let output = |text: &str| text.parse::<Output>().expect("an output");
        assert_eq!(prints(&[output("text")]), Prints::Stdout);
        assert_eq!(
            prints(&[output("text"), output("json=file")]),
            Prints::Stdout
        );
        assert_eq!(prints(&[output("json")]), Prints::Stderr);
        assert_eq!(prints(&[output("csv=-")]), Prints::Stderr);
        assert_eq!(prints(&[]), Prints::Stdout);
    }
}
