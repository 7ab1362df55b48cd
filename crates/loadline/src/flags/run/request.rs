//! The flags of requests and their destination.

pub(crate) use super::target_word::TargetWord;

use crate::flags::choice::choice;
use clap::{Args, ValueHint};
use loadline_plan::{
    BaseUrl, Credentials, Error, FormField, Header, ListedRequest, Order, parse_method, parse_part,
    parse_small_count, parse_url_list,
};
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

/// What is sent, and where to.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Request")]
pub(crate) struct RequestFlags {
    /// The target: URLs, or a plan file (*.toml) with the whole run
    ///
    /// A URL without a scheme is http. The keys of a plan file are the long names of these flags,
    /// and `url`; flags on the command line override them.
    #[arg(id = "url", value_name = "URL|PLAN.toml", help_heading = None,
        value_hint = ValueHint::Url)]
    pub(crate) places: Vec<TargetWord>,

    /// The request method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_parser = parse_method)]
    pub(crate) method: Option<String>,

    /// A header field: 'Name: value', or 'Name;' for an empty one (repeatable)
    ///
    /// Order and duplicates are kept.
    #[arg(short = 'H', long, value_name = "LINE")]
    pub(crate) header: Vec<Header>,

    /// The body: a text, @FILE, or - for stdin
    #[arg(short, long, value_name = "TEXT|@FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) body: Option<BodySource>,

    /// A field of a multipart/form-data body: name=value or name=@FILE (repeatable)
    #[arg(short = 'F', long, value_name = "NAME=VALUE")]
    pub(crate) form: Vec<FormField>,

    /// User and password for basic authentication
    #[arg(short, long, value_name = "USER:PASSWORD")]
    pub(crate) user: Option<Credentials>,

    /// Send --user in answer to the server's digest challenge, not as basic authentication
    ///
    /// The first request of each user is answered with the challenge and sent again; later
    /// requests are signed in advance.
    #[arg(long)]
    pub(crate) digest: bool,

    /// Follow redirects, at most N in a row; each is a request of its own
    ///
    /// A redirect further than that, or to nothing that is http, is counted as an error.
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_small_count)]
    pub(crate) follow_redirects: u32,

    /// Keep the cookies of each user (RFC 6265)
    ///
    /// Each user then goes through the URLs by itself, from the first one on, so that a list can
    /// begin with a login.
    #[arg(long)]
    pub(crate) cookies: bool,

    /// Ask for compressed bodies and decode them (gzip, deflate, br, zstd)
    #[arg(long)]
    pub(crate) compressed: bool,

    /// Read the URLs from a file, or from stdin (-): one per line, or JSON Lines
    ///
    /// A line of JSON has the key url, and optionally method, headers, body, weight and name. A
    /// plan file can hold such lines itself, under the key `urls_inline`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) urls: Option<PathBuf>,

    /// The beginning of the relative URLs (/login) in --urls
    ///
    /// A line that begins with / or ? is appended to it, so that one list serves several servers.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) base_url: Option<BaseUrl>,

    /// The lines of a URL list, for plan files
    #[arg(long, value_name = "LINES", hide = true)]
    pub(crate) urls_inline: Option<UrlLines>,

    /// Make the requests with a Lua script, written as for wrk or wrk2
    ///
    /// It may define setup(thread), init(args), request(), response(status, headers, body),
    /// delay() and done(summary, latency, requests). The method, headers and body given here are
    /// the initial values of its table `wrk`. See docs/guide/scripts.md.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) script: Option<PathBuf>,

    /// An argument for the script's init(args) (repeatable)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) script_arg: Vec<String>,

    /// The order in which several URLs are requested
    #[arg(long, value_name = "ORDER", default_value = "sequential", value_parser = choice(&[
        ("sequential", Order::Sequential),
        ("random", Order::Random),
    ]))]
    pub(crate) urls_order: Order,

    /// Send the header traceparent: each request is a trace of its own, and 1 in K is sampled
    ///
    /// K is 1 by default. The identifiers follow from --seed. Those of the slowest requests are in
    /// the report, and go to exporters with their histograms. See docs/guide/traces.md.
    #[arg(long, value_name = "1/K", num_args = 0..=1, require_equals = true,
        default_missing_value = "1/1", value_parser = parse_part)]
    pub(crate) traceparent: Option<NonZeroU32>,

    /// The most names that get rows of their own in reports
    ///
    /// A request's name is the key name of its line in --urls, or else its URL. URLs beyond this
    /// number are counted together, as (other).
    #[arg(long, value_name = "N", default_value = "2000", value_parser = parse_small_count)]
    pub(crate) max_series: u32,
}

/// The source of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodySource {
    /// This file's content.
    File(PathBuf),
    /// All of stdin.
    Stdin,
    /// This text.
    Text(String),
}

impl FromStr for BodySource {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match (text, text.strip_prefix('@')) {
            ("-" | "@-", _) => Self::Stdin,
            (_, Some(path)) => Self::File(path.into()),
            (_, None) => Self::Text(text.to_owned()),
        })
    }
}

/// The text of a URL list that is part of a plan file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlLines(String);

impl UrlLines {
    /// Its requests; what is relative begins with this base.
    ///
    /// # Errors
    /// The sentence about the first line that can't be read. It names the line as one of the list:
    /// in a plan file, the list itself stands on a line.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "only a line of the list has a number"
    )]
    pub(crate) fn requests(&self, base: Option<&BaseUrl>) -> Result<Vec<ListedRequest>, String> {
        parse_url_list(&self.0, base).map_err(|error| match error {
            Error::UrlListLine { .. } => format!("in its {error}"),
            other => other.to_string(),
        })
    }
}

impl FromStr for UrlLines {
    type Err = String;

    /// Reads the list as if it had a base, which is known once all flags are.
    fn from_str(text: &str) -> Result<Self, String> {
        let lines = UrlLines(text.to_owned());
        let base: Option<BaseUrl> = "http://localhost".parse().ok();
        lines.requests(base.as_ref())?;
        Ok(lines)
    }
}
