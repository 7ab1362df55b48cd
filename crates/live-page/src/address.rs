//! Where the page is served.

use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::str::FromStr;

/// Where the page is served if nothing is said: only programs of this machine reach it.
pub const ADDRESS: &str = "127.0.0.1:5623";

/// An address to serve at: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    host: String,
    port: u16,
}

/// Why nothing can be served there.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// It is no address.
    #[error("{0:?} is no address: give a port such as 5623, or ADDRESS:PORT")]
    Unreadable(String),
    /// Its host is not known.
    #[error("the page can't be served at {place}: {problem}; give an address of this machine.")]
    Unknown {
        /// The address.
        place: String,
        /// What the system says.
        problem: std::io::Error,
    },
    /// Another program listens there.
    #[error(
        "the page can't be served at {0}: another program listens there; give another port, or 0 \
         for a free one."
    )]
    Taken(String),
    /// It can't be listened at for another reason.
    #[error("the page can't be served at {place}: {problem}; give another address.")]
    Refused {
        /// The address.
        place: String,
        /// What the system says.
        problem: std::io::Error,
    },
}

impl FromStr for ListenAddress {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let unreadable = || ListenError::Unreadable(text.to_owned());
        let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
        let is_bare_v6 = host.contains(':') && !host.starts_with('[');
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_host = |letter: char| letter.is_ascii_alphanumeric() || ".-_:%".contains(letter);
        if is_bare_v6 || !host.chars().all(is_host) {
            return Err(unreadable());
        }
        Ok(ListenAddress {
            host: if host.is_empty() { "127.0.0.1" } else { host }.to_owned(),
            port: port.parse().map_err(|_| unreadable())?,
        })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl ListenAddress {
    /// Listens there.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    pub(crate) fn listen(&self) -> Result<TcpListener, ListenError> {
        let places = loadline_reactor::look_up(&self.host, self.port);
        let places = places.map_err(|problem| ListenError::Unknown {
            place: self.to_string(),
            problem,
        })?;
        TcpListener::bind(&places[..]).map_err(|problem| {
            let place = self.to_string();
            match problem.kind() {
                std::io::ErrorKind::AddrInUse => ListenError::Taken(place),
                _ => ListenError::Refused { place, problem },
            }
        })
    }

    /// Returns the address of a page that is served at `bound`, as a user of this machine opens it.
    pub(crate) fn url(&self, scheme: &str, bound: SocketAddr) -> String {
        let host = match bound.ip() {
            ip if ip.is_unspecified() => machine_name(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        format!("{scheme}://{host}:{}/", bound.port())
    }
}

/// The name of this machine, by which others may know it.
fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" | "(none)" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_port_or_an_address_with_one() {
        for (text, shown) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:0", "[::1]:0"),
            ("bench-1.example:80", "bench-1.example:80"),
        ] {
            assert_eq!(
                text.parse::<ListenAddress>().unwrap().to_string(),
                shown,
                "{text}"
            );
        }
        for text in [
            "",
            "localhost",
            "1:65536",
            "::1:80",
            "http://a:80",
            "a b:80",
            "a:",
        ] {
            let said = text.parse::<ListenAddress>().unwrap_err().to_string();
            assert!(said.contains("give a port such as 5623"), "{said}");
        }
        assert_eq!(
            ADDRESS.parse::<ListenAddress>().unwrap().to_string(),
            ADDRESS
        );
    }

    #[test]
    fn a_taken_port_is_told() {
        let first = "0".parse::<ListenAddress>().unwrap().listen().unwrap();
        let bound = first.local_addr().unwrap();
        let again = bound.to_string().parse::<ListenAddress>().unwrap();
        let said = again.listen().unwrap_err().to_string();
        assert!(
            said.contains("another program listens there; give another port"),
            "{said}"
        );
        assert_eq!(again.url("http", bound), format!("http://{bound}/"));
    }
}
