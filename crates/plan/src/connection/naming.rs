//! Names and addresses of composed requests: addresses that replace the resolver's, blocked hosts
//! and addresses, and the choice between several addresses.
//!
//! A *pattern* of hosts is a name, or `*.` and a name: the latter matches all names below that
//! name, at any depth, but not the name itself. Case does not matter.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// Rules for host names, in addition to the resolver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    /// Hosts with fixed addresses. A rule with a port takes precedence over one without, an exact
    /// name over a pattern, and a longer pattern over a shorter one.
    pub hosts: Vec<HostRule>,
    /// Patterns of blocked hosts: no requests are sent to them.
    pub blocked_hosts: Vec<String>,
    /// Blocked addresses: no requests are sent to them.
    pub blocked_ranges: Vec<IpRange>,
    /// The choice of an address for each connection.
    pub selection: Selection,
    /// The IP versions of a name's addresses that may be used.
    pub policy: AddressPolicy,
    /// The time for which the addresses of a name are cached; the whole run if `None`.
    pub ttl: Option<Duration>,
}

/// A rule that gives hosts a fixed address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRule {
    /// A pattern of hosts.
    pub pattern: String,
    /// The port to which the rule applies; any if `None`.
    pub port: Option<u16>,
    /// The address to connect to.
    pub to: IpAddr,
    /// The port to connect to; the URL's if `None`.
    pub to_port: Option<u16>,
}

/// The choice between several addresses of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Each address in turn.
    #[default]
    RoundRobin,
    /// The first address.
    First,
    /// An address drawn at random for each connection.
    Random,
}

/// The IP versions of a name's addresses that may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressPolicy {
    /// All addresses.
    #[default]
    Any,
    /// IPv4 addresses if there are any, else IPv6.
    PreferV4,
    /// IPv6 addresses if there are any, else IPv4.
    PreferV6,
    /// IPv4 addresses only.
    OnlyV4,
    /// IPv6 addresses only.
    OnlyV6,
}

/// A range of addresses that share their first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpRange {
    /// The first address of the range.
    first: IpAddr,
    /// The number of shared bits.
    bits: u8,
}

impl Naming {
    /// Returns the pattern that blocks a host, if there is one.
    pub fn blocks_host(&self, host: &str) -> Option<&str> {
        let mut patterns = self.blocked_hosts.iter();
        let found = patterns.find(|pattern| matches(pattern, host));
        found.map(String::as_str)
    }

    /// Returns the range that blocks an address, if there is one.
    pub fn blocks_address(&self, address: IpAddr) -> Option<IpRange> {
        let mut ranges = self.blocked_ranges.iter().copied();
        ranges.find(|range| range.contains(address))
    }

    /// Returns the rule of highest precedence for a host and port, if there is one.
    pub fn rule(&self, host: &str, port: u16) -> Option<&HostRule> {
        let fits = |rule: &&HostRule| {
            rule.port.is_none_or(|own| own == port) && matches(&rule.pattern, host)
        };
        let rank = |rule: &&HostRule| {
            let is_exact = !rule.pattern.starts_with("*.");
            (rule.port.is_some(), is_exact, rule.pattern.len())
        };
        self.hosts.iter().filter(fits).max_by_key(rank)
    }
}

/// True if a pattern matches a host.
fn matches(pattern: &str, host: &str) -> bool {
    let Some(domain) = pattern.strip_prefix('*') else {
        return pattern.eq_ignore_ascii_case(host);
    };
    // The domain of `*.a` is `.a`, with its dot; at least one byte must precede it.
    let at = host.len().checked_sub(domain.len()).filter(|at| *at > 0);
    let end = at.and_then(|at| host.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(domain))
}

impl IpRange {
    /// Reads an address and a number of bits, as `10.1.0.0/16`; `None` for anything else. A range
    /// of IPv4 addresses mapped to IPv6 is read as that of the IPv4 addresses.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let bits: u8 = bits.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if bits > most {
            return None;
        }
        let (address, bits) = match (address.to_canonical(), bits.checked_sub(MAPPED_PREFIX)) {
            (canonical, Some(bits)) if canonical != address => (canonical, bits),
            _ => (address, bits),
        };
        Some(IpRange {
            first: first_of(address, bits),
            bits,
        })
    }

    /// True if the range contains an address. An IPv4 address mapped to IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && first_of(address, self.bits) == self.first
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

/// The bits in front of an IPv4 address that is mapped to IPv6 (RFC 4291, section 2.5.5.2).
const MAPPED_PREFIX: u8 = 96;

/// Returns the address with all but its first bits set to zero.
fn first_of(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &str, port: Option<u16>, last: u8) -> HostRule {
        HostRule {
            pattern: pattern.to_owned(),
            port,
            to: [127, 0, 0, last].into(),
            to_port: None,
        }
    }

    #[test]
    fn the_closest_rule_decides_where_a_host_is() {
        let naming = Naming {
            hosts: vec![
                rule("*.w.test", None, 4),
                rule("x.w.test", None, 5),
                rule("*.d.w.test", None, 6),
                rule("UP.test", None, 7),
                rule("q.w.test", Some(83), 11),
                rule("*.p.test", Some(82), 8),
                rule("z.p.test", None, 9),
            ],
            ..Naming::default()
        };
        for (host, port, expected) in [
            ("y.w.test", 1, Some(4)),
            ("X.w.test", 1, Some(5)),
            ("y.d.w.test", 1, Some(6)),
            ("up.test", 1, Some(7)),
            ("q.w.test", 83, Some(11)),
            ("q.w.test", 84, Some(4)),
            ("z.p.test", 82, Some(8)),
            ("z.p.test", 83, Some(9)),
            ("w.test", 1, None),
            ("aw.test", 1, None),
        ] {
            let found = naming.rule(host, port).map(|rule| rule.to);
            let expected = expected.map(|last| IpAddr::from([127, 0, 0, last]));
            assert_eq!(found, expected, "{host}:{port}");
        }
    }

    #[test]
    fn a_pattern_blocks_what_is_below_a_name_and_not_the_name() {
        let naming = Naming {
            blocked_hosts: vec!["bl.test".to_owned(), "*.bw.test".to_owned()],
            ..Naming::default()
        };
        assert_eq!(naming.blocks_host("BL.test"), Some("bl.test"));
        assert_eq!(naming.blocks_host("z.z.bw.test"), Some("*.bw.test"));
        for host in ["bw.test", "abw.test", "x.bl.test", "", "test"] {
            assert_eq!(naming.blocks_host(host), None, "{host}");
        }
    }

    #[test]
    fn a_range_has_the_addresses_with_its_first_bits() {
        let range = |text| IpRange::parse(text).expect("a range");
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        let small = range("127.0.1.7/24");
        assert_eq!(small.to_string(), "127.0.1.0/24");
        assert!(small.contains(ip("127.0.1.255")) && small.contains(ip("::ffff:127.0.1.1")));
        assert!(!small.contains(ip("127.0.2.0")) && !small.contains(ip("::1")));
        assert!(range("0.0.0.0/0").contains(ip("255.1.2.3")));
        assert!(!range("0.0.0.0/0").contains(ip("::1")));
        assert_eq!(range("::ffff:10.1.2.3/112").to_string(), "10.1.0.0/16");
        assert!(range("::ffff:10.1.2.3/112").contains(ip("10.1.255.1")));
        assert_eq!(range("::ffff:0:0/64").to_string(), "::/64");
        assert!(range("fe80::/10").contains(ip("febf::1")));
        assert!(range("::1/128").contains(ip("::1")));
        for text in [
            "",
            "127.0.0.1",
            "127.0.0.1/33",
            "::/129",
            "a/8",
            "1.2.3.4/-1",
        ] {
            assert_eq!(IpRange::parse(text), None, "{text}");
        }
        let naming = Naming {
            blocked_ranges: vec![small],
            ..Naming::default()
        };
        assert_eq!(naming.blocks_address(ip("127.0.1.9")), Some(small));
        assert_eq!(naming.blocks_address(ip("127.0.3.9")), None);
    }
}
