//! Resolution of names, and trial connections to addresses: `wrk.lookup` and `wrk.connect`.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The system's file with the names of ports: a name, `port/protocol`, other names, a comment.
const SERVICES: &str = "/etc/services";

/// The error for a name that has no address, or a service that has no port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no address is known for {host}:{service} ({reason}); correct the name or the service.")]
pub struct LookupError {
    /// The name to resolve.
    pub host: String,
    /// The port or its name.
    pub service: String,
    /// The message of the resolver.
    pub reason: String,
}

/// Returns all addresses of a host, with the port of the service. Blocks on the system's resolver.
pub(crate) fn look_up(host: &str, service: &str) -> Result<Vec<SocketAddr>, LookupError> {
    let unknown = |reason: String| LookupError {
        host: host.to_owned(),
        service: service.to_owned(),
        reason,
    };
    let port = port(service).ok_or_else(|| unknown("the service is not known".to_owned()))?;
    let found = loadline_reactor::look_up(host, port);
    let found = found.map_err(|error| unknown(error.to_string()))?;
    if found.is_empty() {
        return Err(unknown("the name has no address".to_owned()));
    }
    Ok(found)
}

/// Opens a TCP connection and closes it again.
pub(crate) fn try_connect(address: &SocketAddr, timeout: Duration) -> io::Result<()> {
    TcpStream::connect_timeout(address, timeout).map(drop)
}

fn port(service: &str) -> Option<u16> {
    match service {
        "http" => Some(80),
        "https" => Some(443),
        service => service.parse().ok().or_else(|| {
            let services = fs::read_to_string(SERVICES).ok()?;
            named_port(&services, service)
        }),
    }
}

fn named_port(services: &str, name: &str) -> Option<u16> {
    services.lines().find_map(|line| {
        let line = line.split('#').next()?;
        let mut words = line.split_whitespace();
        let (first, place) = (words.next()?, words.next()?);
        let port = place.strip_suffix("/tcp")?;
        (first == name || words.any(|other| other == name)).then(|| port.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_service_is_a_port_or_the_name_of_one() {
        assert_eq!(port("8080"), Some(8080));
        assert_eq!((port("http"), port("https")), (Some(80), Some(443)));
        assert_eq!(port("no such service"), None);
        let services = "ftp 21/tcp\ndomain 53/udp\ndomain 53/tcp dns # names\n# off 1/tcp\n";
        assert_eq!(named_port(services, "ftp"), Some(21));
        assert_eq!(named_port(services, "dns"), Some(53));
        assert_eq!(named_port(services, "off"), None);
        assert_eq!(named_port(services, "names"), None);
    }

    #[test]
    fn an_address_is_its_own_name() {
        let found = look_up("127.0.0.1", "8080").unwrap();
        assert_eq!(found, ["127.0.0.1:8080".parse().unwrap()]);
        let found = look_up("::1", "http").unwrap();
        assert_eq!(found, ["[::1]:80".parse().unwrap()]);
    }

    #[test]
    fn what_is_not_known_is_told_with_its_names() {
        let error = look_up("127.0.0.1", "nonsense").unwrap_err();
        assert_eq!(
            (error.host.as_str(), error.service.as_str()),
            ("127.0.0.1", "nonsense")
        );
        assert!(error.to_string().contains("127.0.0.1:nonsense"), "{error}");
    }

    #[test]
    fn an_address_answers_or_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let timeout = Duration::from_secs(10);
        assert!(try_connect(&address, timeout).is_ok());
        drop(listener);
        assert!(try_connect(&address, timeout).is_err());
    }
}
