//! Name resolution by the system's resolver, which blocks.
//!
//! `localhost` and the names below it resolve to loopback unless the system's list of hosts
//! contains them, and no other machine is queried for them (RFC 6761, section 6.3): the command
//! runs in containers and roots without such a list.
//!
//! A statically linked command contains the C library's look-ups in files and by DNS. The other
//! sources in the system's `nsswitch.conf` are libraries, made for another version of the C library
//! than the one in the command: loading one may end the process, so they are not used.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

/// The system's list of hosts: on each line an address, its names, a comment.
const HOSTS: &str = "/etc/hosts";

/// Returns the addresses of a host, which may be an address itself, in the resolver's order. Blocks
/// until the system's resolver has responded.
///
/// # Errors
/// The resolver's error, if it knows no address.
pub fn look_up(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    if is_localhost(name) && !fs::read_to_string(HOSTS).is_ok_and(|list| has(&list, name)) {
        return Ok(loopback(port));
    }
    #[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
    crate::kernel::resolve_by_files_and_dns_only();
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the system"
    )]
    let found = (name, port).to_socket_addrs();
    found.map(Iterator::collect)
}

/// True if this name always belongs to this machine (RFC 6761, section 6.3).
pub fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// True if a list of hosts contains a name in exactly this spelling: resolvers don't find
/// `localhost.` in it.
fn has(list: &str, name: &str) -> bool {
    let names = list.lines().flat_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        line.split_whitespace().skip(1)
    });
    names
        .into_iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the loopback addresses of this machine. IPv4 comes first: most test servers listen
/// there.
fn loopback(port: u16) -> Vec<SocketAddr> {
    let all = [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        IpAddr::from(Ipv6Addr::LOCALHOST),
    ];
    let is_ours = |address: &IpAddr| UdpSocket::bind((*address, 0)).is_ok();
    let ours = all.into_iter().filter(is_ours);
    ours.map(|address| SocketAddr::new(address, port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_its_own_name() {
        for text in ["192.0.2.1", "2001:db8::1"] {
            let found = look_up(text, 80).unwrap();
            assert_eq!(found, [SocketAddr::new(text.parse().unwrap(), 80)]);
        }
    }

    #[test]
    fn localhost_and_what_is_below_it_are_loopback_without_being_asked_for() {
        for name in ["localhost", "LocalHost.", "app.localhost", "a.b.localhost."] {
            assert!(is_localhost(name), "{name}");
            let found = look_up(name, 8080).unwrap();
            assert!(!found.is_empty(), "{name}");
            for address in found {
                assert!(address.ip().is_loopback(), "{name}: {address}");
                assert_eq!(address.port(), 8080);
            }
        }
        // No list of hosts contains this name.
        let found = look_up("no-such-name-anywhere.localhost", 80).unwrap();
        assert_eq!(found, loopback(80));
        assert_eq!(found[0], SocketAddr::from(([127, 0, 0, 1], 80)));
        for name in ["", "localhost.example", "mylocalhost", "127.0.0.1"] {
            assert!(!is_localhost(name), "{name}");
        }
    }

    #[test]
    fn a_list_of_hosts_has_its_names_and_not_its_comments() {
        let list = "127.0.0.1\tvm localhost\n::1 ip6-LOOPBACK # six\n\n# 127.0.0.1 off\nodd\n";
        for name in ["vm", "localhost", "Ip6-loopback"] {
            assert!(has(list, name), "{name}");
        }
        for name in [
            "127.0.0.1",
            "::1",
            "six",
            "off",
            "odd",
            "local",
            "localhost.",
        ] {
            assert!(!has(list, name), "{name}");
        }
    }
}
