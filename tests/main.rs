//! Runs the real command. One binary, so that its parts are built once; one module per subject.

#![allow(
    clippy::unwrap_used,
    reason = "what a test takes for granted, helpers included"
)]

/// ApacheBench's words, compared with the real ab.
mod ab;
/// Runs on agents of a bus.
mod agents;
/// Counts in the words of other tools and in ours, of the same responses.
mod agreement;
/// A browser that opens what a run serves.
#[cfg(feature = "html")]
mod browser;
/// The search for the load line, against a server of known capacity.
mod capacity;
/// What a pipeline is told, and the workflow files of the guide.
mod ci;
/// Circles of files that import each other.
mod circles;
/// Saved runs compared.
mod compare;
/// The ways to a server: TLS, Unix sockets, other addresses, none at all.
mod connections;
/// What the command says before it does anything: help, and every kind of refusal. Each file in
/// `cli/` is a conversation, compared word for word.
mod conversations;
/// What a machine can carry, and that runs record it.
mod doctor;
/// Links between the documents.
mod documents;
/// A server that drops requests: its own book beside ours and that of other tools.
mod dropped;
/// wrk's example scripts, beside the real wrk.
mod examples;
/// Metrics that are sent to other programs while a run lasts.
mod exporters;
/// Every fault of the test server, with exact counts on both sides.
mod faults;
/// HTTP/2 against the test server with its faults, nginx and nghttpd.
mod http2;
/// Ctrl-C, and runs that are killed.
mod interrupts;
/// k6's words, compared with the real k6.
#[cfg(feature = "k6")]
mod k6;
/// Files of the user's: none is lost unasked, and no report is half a one.
mod kept;
/// Keys on a terminal, which change the load.
mod keys;
/// The live page: what it tells, what steers the run, who is refused.
#[cfg(feature = "html")]
mod live_page;
/// The live view on a terminal.
mod live_view;
/// Rows, checks and logs by name.
mod names;
/// `scripts/need`, with package managers that only write down how they are called.
mod need;
/// Interoperability with nginx.
mod nginx;
/// oha's words, compared with the real oha.
mod oha;
/// Against the TLS server of OpenSSL, with certificates as it makes them.
mod openssl;
/// What comes out of a run: reports, the saved run, the log, checks and exit codes.
mod outputs;
/// The HTML report in a browser, and plots as files.
#[cfg(feature = "html")]
mod page;
/// Regular expressions that read other tools' reports.
mod parsers;
/// A run on several processes, and what is left when one is lost.
mod processes;
/// Through proxies.
mod proxies;
/// A run that is compared with a baseline and kept in a history.
mod regressions;
/// Runs made again and again, and what differs among them.
mod repeats;
/// What the other modules share: running the command, and servers.
mod rig;
/// Several loads at once, from plan files.
mod scenarios;
/// Whether the JSON that the command prints fits its schema.
mod schemas;
/// Scripts where a command takes a URL.
mod script_commands;
/// Lua scripts: what they make the server see, what they print, and how they fail.
mod scripts;
/// What is kept of a run has none of its secrets.
mod secrets;
/// Users that look at responses: cookies, redirects, compressed bodies.
mod sessions;
/// The source itself: which crate depends on which.
mod source;
/// Executable specifications: pages with scripts, and what comes of them.
mod specs;
/// Requests in five parts, by the kernel's clock on both ends.
mod split;
/// SQLite databases: the log and the report, read by other programs.
mod sqlite;
/// The stall oracle: a frozen server gives percentiles that are known beforehand.
mod stall;
/// A generator that is starved on purpose, and one that is not.
mod starved;
/// Studies: many runs of many tools from one file.
mod study;
/// Requests without a response at the end of a run, and checks that can't be decided.
mod unfinished;
/// Runs that end when they know enough, and what they leave out at their beginning.
mod until;
/// Two targets that take turns.
mod versus;
/// Watching, beside a run and alone.
mod watch;
/// Whether the machine was left to a test while it measured.
mod witness;
/// wrk and wrk2 as spoken here, beside the real wrk.
mod wrk;
