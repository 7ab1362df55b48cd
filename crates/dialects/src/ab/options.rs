//! What an ab command line says, every flag read and no file opened but the body's.

use super::target::Target;
use std::time::Duration;

/// What an ab command line says.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// What is to be said on stderr of the flags, though the run goes on.
    pub(super) complaint: String,
    /// `-n`: requests to make.
    pub(super) requests: u32,
    /// `-c`: requests at a time.
    pub(super) concurrency: u32,
    /// `-t`: the most the run may last.
    pub(super) time_limit: Option<Duration>,
    /// `-s`: the most a request may take; `None` for no limit.
    pub(super) timeout: Option<Duration>,
    /// `-b`: bytes in the socket's buffers.
    pub(super) socket_buffer: Option<u32>,
    /// `-B`: the local address.
    pub(super) bind: Option<String>,
    /// The method: GET, or what `-i`, `-p`, `-u` or `-m` say.
    pub(super) method: String,
    /// `-p`, `-u`: what is sent behind the head.
    pub(super) body: Option<Vec<u8>>,
    /// `-T`: what the body is.
    pub(super) content_type: String,
    /// `-v`.
    pub(super) verbosity: i64,
    /// `-w`, `-x`, `-y`, `-z`.
    pub(super) html: Option<Html>,
    /// `-C`: the value of the cookie.
    pub(super) cookie: Option<String>,
    /// `-A`: each `user:password`.
    pub(super) users: Vec<String>,
    /// `-P`: each `user:password` for the proxy.
    pub(super) proxy_users: Vec<String>,
    /// `-H`: lines of the head.
    pub(super) headers: Vec<String>,
    /// `-X`: host and port of the proxy; port 0 if none was given.
    pub(super) proxy: Option<(String, u16)>,
    /// `-k`.
    pub(super) keepalive: bool,
    /// Without `-d`: the table of percentages.
    pub(super) percentiles: bool,
    /// Without `-S`: deviations, medians and warnings.
    pub(super) confidence: bool,
    /// Without `-q`: progress on stderr.
    pub(super) progress: bool,
    /// `-l`: bodies may differ in length.
    pub(super) variable_length: bool,
    /// `-r`: go on after failures to receive.
    pub(super) goes_on: bool,
    /// `-g`: where the times of each request are written.
    pub(super) gnuplot: Option<String>,
    /// `-e`: where the percentages are written.
    pub(super) csv: Option<String>,
    /// Without `-I`: the server's name is told in TLS.
    pub(super) sni: bool,
    /// `-Z`: ciphers by OpenSSL's names.
    pub(super) ciphers: Option<String>,
    /// `-f`.
    pub(super) protocol: Protocol,
    /// `-E`: the client's certificate and key.
    pub(super) certificate: Option<String>,
    /// Where requests go.
    pub(super) target: Target,
}

/// Attributes of the HTML that `-w` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Html {
    /// `-x`: of the table.
    pub(super) table: String,
    /// `-y`: of rows.
    pub(super) row: String,
    /// `-z`: of cells.
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

/// `-f`: versions of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protocol {
    /// All that are supported.
    #[default]
    All,
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
    /// One that is not supported any more, by its name.
    Gone(&'static str),
}

impl Protocol {
    /// The protocol of this name; one that ab does not know changes nothing.
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
    /// After how many requests there is a line of progress; `None` for no progress.
    pub(super) fn progress_every(&self) -> Option<u32> {
        (self.progress && self.requests > 150).then(|| (self.requests / 10).max(100))
    }

    /// Whether the server is told its name in TLS: never an address.
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

/// The value of a header line, if it has this name.
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
