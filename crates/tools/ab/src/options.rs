//! The options of an ab command line: every flag is read, and no file but the body's is opened.

use super::target::Target;
use std::time::Duration;

/// The options of an ab command line.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// Messages for stderr about invalid flags that do not end the run.
    pub(super) complaint: String,
    /// `-n`: the number of requests.
    pub(super) requests: u32,
    /// `-c`: the number of requests at a time.
    pub(super) concurrency: u32,
    /// `-t`: the maximum duration of the run.
    pub(super) time_limit: Option<Duration>,
    /// `-s`: the timeout of a request; `None` for no limit.
    pub(super) timeout: Option<Duration>,
    /// `-b`: the size of the socket's buffers in bytes.
    pub(super) socket_buffer: Option<u32>,
    /// `-B`: the local address.
    pub(super) bind: Option<String>,
    /// The method: GET, or the one set by `-i`, `-p`, `-u` or `-m`.
    pub(super) method: String,
    /// `-p`, `-u`: the body.
    pub(super) body: Option<Vec<u8>>,
    /// `-T`: the type of the body.
    pub(super) content_type: String,
    /// `-v`: the verbosity.
    pub(super) verbosity: i64,
    /// `-w`, `-x`, `-y`, `-z`: the HTML report.
    pub(super) html: Option<Html>,
    /// `-C`: the value of the cookie.
    pub(super) cookie: Option<String>,
    /// `-A`: each `user:password`.
    pub(super) users: Vec<String>,
    /// `-P`: each `user:password` for the proxy.
    pub(super) proxy_users: Vec<String>,
    /// `-H`: header lines.
    pub(super) headers: Vec<String>,
    /// `-X`: host and port of the proxy; port 0 if none was given.
    pub(super) proxy: Option<(String, u16)>,
    /// `-k`: connections are kept alive.
    pub(super) keepalive: bool,
    /// Without `-d`: the table of percentages is printed.
    pub(super) percentiles: bool,
    /// Without `-S`: deviations, medians and warnings are printed.
    pub(super) confidence: bool,
    /// Without `-q`: progress is printed on stderr.
    pub(super) progress: bool,
    /// `-l`: bodies may differ in length.
    pub(super) variable_length: bool,
    /// `-r`: the run continues after failures to receive.
    pub(super) goes_on: bool,
    /// `-g`: the file for the times of each request.
    pub(super) gnuplot: Option<String>,
    /// `-e`: the file for the percentages.
    pub(super) csv: Option<String>,
    /// Without `-I`: the server's name is sent in TLS.
    pub(super) sni: bool,
    /// `-Z`: ciphers by OpenSSL's names.
    pub(super) ciphers: Option<String>,
    /// `-f`: the version of TLS.
    pub(super) protocol: Protocol,
    /// `-E`: the client's certificate and key.
    pub(super) certificate: Option<String>,
    /// The destination of requests.
    pub(super) target: Target,
}

/// The attributes of the HTML of `-w`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Html {
    /// `-x`: the attributes of the table.
    pub(super) table: String,
    /// `-y`: the attributes of rows.
    pub(super) row: String,
    /// `-z`: the attributes of cells.
    pub(super) cell: String,
}

impl Default for Html {
    fn default() -> Self {
        Html {
            table: String::new(),
            row: String::new(),
            cell: "bgcolor=white".to_owned(),
        }
    }
}

/// The versions of TLS of `-f`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protocol {
    /// All supported versions.
    #[default]
    All,
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
    /// A version that is no longer supported, by its name.
    Gone(&'static str),
}

impl Protocol {
    /// Returns the protocol with this name; `before` for one that ab does not know.
    pub(super) fn named(name: &str, before: Self) -> Self {
        let name = name.to_ascii_uppercase();
        [
            ("ALL", Protocol::All),
            ("SSL3", Protocol::Gone("SSL3")),
            ("TLS1.1", Protocol::Gone("TLS1.1")),
            ("TLS1.2", Protocol::Tls12),
            ("TLS1.3", Protocol::Tls13),
            ("TLS1", Protocol::Gone("TLS1")),
        ]
        .into_iter()
        .find(|(known, _)| name.starts_with(known))
        .map_or(before, |(_, protocol)| protocol)
    }
}

impl Options {
    /// Returns the number of requests between two lines of progress; `None` for no progress.
    pub(super) fn progress_every(&self) -> Option<u32> {
        (self.progress && self.requests > 150).then(|| (self.requests / 10).max(100))
    }

    /// Returns the server name to send in TLS, if any; an address is never sent.
    pub(super) fn tls_server_name(&self) -> Option<String> {
        let own = self.headers.iter().find_map(|line| value_of(line, "host"));
        let name = own.map_or(self.target.host.as_str(), |host| {
            host.rsplit_once(':').map_or(host, |(name, _)| name)
        });
        let is_address = name
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok();
        (self.target.tls && self.sni && !is_address && !name.is_empty()).then(|| name.to_owned())
    }
}

/// Returns the value of a header line, if it has this name.
pub(super) fn value_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (given, value) = line.split_once(':')?;
    given.eq_ignore_ascii_case(name).then(|| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_known_by_the_start_of_their_name() {
        let named = |name| Protocol::named(name, Protocol::Tls13);
        assert_eq!(named("tls1.2"), Protocol::Tls12);
        assert_eq!(named("TLS1"), Protocol::Gone("TLS1"));
        assert_eq!(named("all"), Protocol::All);
        for unknown in ["FOO", "", "SSL2"] {
            assert_eq!(named(unknown), Protocol::Tls13, "{unknown}");
        }
    }
}
