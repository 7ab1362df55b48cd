//! wrk's own example scripts, each run by the real wrk and by ours: what arrives at the server, and
//! what is printed.

use crate::rig::{CommandOutput, beside_others, command, serve_with};
use crate::scripts::listener;
use crate::specs::Request;
use crate::wrk::{real_wrk, shape};
use std::collections::BTreeSet;
use std::path::Path;

/// Where Debian's wrk has its example scripts.
const EXAMPLES: &str = "/usr/share/doc/wrk/examples/scripts";
/// More than arrive in a second.
const MOST_REQUESTS: u64 = 1_000_000;

/// The result of a script.
struct Run {
    said: CommandOutput,
    requests: Vec<Request>,
}

impl Run {
    /// With `HOST` for the server's host and port, which differ from run to run.
    fn new(said: CommandOutput, host: &str, requests: impl Iterator<Item = Request>) -> Self {
        Run {
            said: CommandOutput {
                stdout: said.stdout.replace(host, "HOST"),
                ..said
            },
            requests: requests.collect(),
        }
    }

    fn distinct(&self) -> BTreeSet<&Request> {
        self.requests.iter().collect()
    }
}

/// Runs one against a server of its own, which keeps what arrives.
fn against_server(run: impl Fn(&str) -> Option<CommandOutput>) -> Option<Run> {
    let server = serve_with(|config| config.keep = MOST_REQUESTS);
    let host = server.addr().to_string();
    let said = run(&format!("http://{host}/"))?;
    let kept = server.kept();
    let requests = kept.iter().map(|bytes| {
        let text = String::from_utf8_lossy(bytes).replace(&host, "HOST");
        Request::sent(&text)
    });
    Some(Run::new(said, &host, requests))
}

/// As [`against_server`], where answers have the token that a script asks for.
fn against_listener(run: impl Fn(&str) -> Option<CommandOutput>) -> Option<Run> {
    let (url, seen) = listener();
    let said = run(&url)?;
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let requests = seen.try_iter().map(|seen| {
        let fields = seen.headers.iter();
        let fields = fields.map(|(name, value)| format!("{name}: {value}").replace(host, "HOST"));
        Request::new(&seen.line, fields, &seen.body)
    });
    Some(Run::new(said, host, requests))
}

/// The real run of an example and ours, both of a second unless the flags say else.
fn both(
    name: &str,
    flags: &[&str],
    against: impl Fn(&dyn Fn(&str) -> Option<CommandOutput>) -> Option<Run>,
) -> Option<(Run, Run)> {
    let script = format!("{EXAMPLES}/{name}.lua");
    if !Path::new(&script).exists() {
        // Whoever has no wrk has the scripts of the specifications.
        return None;
    }
    let words = |url: &str| -> Vec<String> {
        let words = ["-d1"].into_iter().chain(flags.iter().copied());
        let words = words.chain(["-s", &script, url]);
        words.map(str::to_owned).collect()
    };
    let _beside_others = beside_others();
    let real = against(&|url| {
        let words = words(url);
        real_wrk(&words.iter().map(String::as_str).collect::<Vec<_>>())
    })?;
    let ours = against(&|url| {
        let output = command(&["wrk"]).args(words(url)).output();
        Some(output.expect("the command starts").into())
    })?;
    assert_eq!(ours.said.code, real.said.code, "{name}");
    assert_eq!(ours.said.stderr, real.said.stderr, "{name}");
    Some((real, ours))
}

/// What both print looks alike: the report, and what the script says before and behind it.
fn assert_prints_alike(name: &str, real: &Run, ours: &Run) {
    let (theirs, ours) = (&real.said.stdout, &ours.said.stdout);
    assert_eq!(shape(ours), shape(theirs), "{name}:\n{ours}\n{theirs}");
}

#[test]
fn scripts_of_one_request_send_the_same_one() {
    for (name, flags) in [
        ("addr", &["-t2", "-c4"][..]),
        ("post", &["-t1", "-c4"]),
        ("report", &["-t1", "-c4"]),
        ("setup", &["-t2", "-c4"]),
        ("delay", &["-t1", "-c4"]),
    ] {
        let Some((real, ours)) = both(name, flags, |run| against_server(run)) else {
            return;
        };
        assert_eq!(real.distinct().len(), 1, "{name}");
        assert_eq!(ours.distinct(), real.distinct(), "{name}");
        assert_prints_alike(name, &real, &ours);
    }
}

#[test]
fn scripts_with_an_order_keep_it() {
    for name in ["counter", "pipeline"] {
        let Some((real, ours)) = both(name, &["-t1", "-c1"], |run| against_server(run)) else {
            return;
        };
        assert_same_course(name, &real, &ours);
    }
}

#[test]
fn a_token_goes_the_same_way() {
    let Some((real, ours)) = both("auth", &["-t1", "-c1"], |run| against_listener(run)) else {
        return;
    };
    assert_eq!(ours.distinct(), real.distinct());
    assert_eq!(real.distinct().len(), 2, "without the token and with it");
    assert_same_course("auth", &real, &ours);
}

/// As far as both came, they sent the same requests, one after the other.
fn assert_same_course(name: &str, real: &Run, ours: &Run) {
    let length = real.requests.len().min(ours.requests.len());
    assert!(length >= 10, "{name}: {length} requests");
    let differs = (0..length).find(|&place| real.requests[place] != ours.requests[place]);
    assert_eq!(differs, None, "{name}: {:?}", &ours.requests[..10]);
    assert_prints_alike(name, real, ours);
}

#[test]
fn a_thread_is_stopped_after_as_many_answers() {
    // Time enough for a hundred answers, of which the real one takes all.
    let flags = ["-d3", "-t1", "-c1"];
    let Some((real, ours)) = both("stop", &flags, |run| against_server(run)) else {
        return;
    };
    assert_eq!(ours.distinct(), real.distinct());
    assert_eq!((ours.requests.len(), real.requests.len()), (100, 100));
}
