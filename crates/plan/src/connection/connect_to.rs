//! `HOST:PORT:ADDR:PORT`, in the syntax of curl's option of the same name.

use super::ConnectTo;
use crate::Error;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use url::Host;

impl FromStr for ConnectTo {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).ok_or_else(|| Error::ConnectTo(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<ConnectTo> {
    let (host, rest) = split_host(text)?;
    let (port, rest) = rest.split_once(':')?;
    let (to_host, to_port) = split_host(rest)?;
    if is_short_address(to_host) {
        return None;
    }
    Some(ConnectTo {
        host: host.to_owned(),
        port: parse_port(port)?,
        to_host: to_host.to_owned(),
        to_port: parse_port(to_port)?,
    })
}

/// Splits off a host and the colon after it; removes the brackets of an IPv6 address.
fn split_host(text: &str) -> Option<(&str, &str)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once("]:")?,
        None => text.split_once(':')?,
    };
    let allowed = |c: char| !c.is_whitespace() && !matches!(c, '[' | ']' | '/' | '@');
    host.chars().all(allowed).then_some((host, rest))
}

/// True if resolvers would read a host as a shortened IPv4 address, such as 100 for 0.0.0.100.
fn is_short_address(host: &str) -> bool {
    let whole = host.parse::<Ipv4Addr>().is_ok();
    !whole && matches!(Host::parse(host), Ok(Host::Ipv4(_)))
}

/// Reads a port; `Some(None)` if the text is empty.
fn parse_port(text: &str) -> Option<Option<u16>> {
    if text.is_empty() {
        return Some(None);
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|&port| digits && port > 0)?;
    Some(Some(port))
}

impl fmt::Display for ConnectTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, &self.host, self.port)?;
        f.write_str(":")?;
        write_place(f, &self.to_host, self.to_port)
    }
}

fn write_place(f: &mut fmt::Formatter<'_>, host: &str, port: Option<u16>) -> fmt::Result {
    match host.contains(':') {
        true => write!(f, "[{host}]:")?,
        false => write!(f, "{host}:")?,
    }
    port.map_or(Ok(()), |port| write!(f, "{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_printed_alike() {
        for (text, host, port, to_host, to_port) in [
            (
                "example.com:443:127.0.0.1:8443",
                "example.com",
                Some(443),
                "127.0.0.1",
                Some(8443),
            ),
            (
                "[2001:db8::1]:80:[::1]:8080",
                "2001:db8::1",
                Some(80),
                "::1",
                Some(8080),
            ),
            ("::127.0.0.1:8080", "", None, "127.0.0.1", Some(8080)),
            ("example.com::other:", "example.com", None, "other", None),
            (":::", "", None, "", None),
        ] {
            let (host, to_host) = (host.to_owned(), to_host.to_owned());
            let place: ConnectTo = text.parse().expect("a place");
            assert_eq!(
                place,
                ConnectTo {
                    host,
                    port,
                    to_host,
                    to_port
                },
                "{text}"
            );
            assert_eq!(place.to_string(), text);
        }
    }

    #[test]
    fn what_names_no_place_is_refused() {
        for text in [
            "",
            "example.com",
            "example.com:443",
            "example.com:443:127.0.0.1",
            "example.com:x:127.0.0.1:80",
            "example.com:443:127.0.0.1:70000",
            "example.com:443:127.0.0.1:0",
            "example.com:443:127.0.0.1:+80",
            "example.com:443:::1:80",
            "[::1:443:a:80",
            "a b:80:c:80",
            "http://a:80:b:80",
        ] {
            assert_eq!(
                text.parse::<ConnectTo>(),
                Err(Error::ConnectTo(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn a_number_is_no_place_to_connect_to() {
        for text in ["a:1:100:2", "::0x7f.1:", "::127.1:80"] {
            assert!(text.parse::<ConnectTo>().is_err(), "{text}");
        }
        assert!("::127.0.0.1:".parse::<ConnectTo>().is_ok());
        assert!("a:1:b:2".parse::<ConnectTo>().is_ok());
    }
}
