//! The network interface that leads to an address.

use crate::proc::{Proc, parse, text};
use procfs_core::net::{RouteEntries, RouteEntry};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// The interface for traffic within the host.
const LOOPBACK: &str = "lo";
/// Flags of a route (route(8)): it is up; it refuses.
const UP: u32 = 0x1;
const REJECT: u32 = 0x200;
/// The port of the address; any will do, because nothing is sent to it.
const ANY_PORT: u16 = 9;

/// True if an address belongs to this host.
///
/// Connects a datagram socket to the address, which sends nothing: the kernel then reports the
/// source address that it would use, and for an address of its own that is the same address.
pub fn is_local(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let sends_from = || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect((address, ANY_PORT))?;
        socket.local_addr()
    };
    let canonical = address.to_canonical();
    canonical.is_loopback() || sends_from().is_ok_and(|from| from.ip().to_canonical() == canonical)
}

/// Returns the interface that leads to an address by the main routing table; `None` if no route is
/// known.
pub(crate) fn interface_to(proc: &Proc, address: IpAddr) -> Option<String> {
    if is_local(address) {
        return Some(LOOPBACK.to_owned());
    }
    match address.to_canonical() {
        IpAddr::V4(address) => interface_to_v4(proc, address),
        IpAddr::V6(address) => interface_to_v6(proc, address),
    }
}

/// Returns the interface of the default route; the loopback interface if there is none.
pub(crate) fn default_interface(proc: &Proc) -> String {
    let four = || interface_to_v4(proc, Ipv4Addr::UNSPECIFIED);
    let six = || interface_to_v6(proc, Ipv6Addr::UNSPECIFIED);
    four().or_else(six).unwrap_or(LOOPBACK.to_owned())
}

fn interface_to_v4(proc: &Proc, address: Ipv4Addr) -> Option<String> {
    let RouteEntries(routes) = parse(&proc.path("net/route")).ok()?;
    let leads = |route: &RouteEntry| {
        let flags = u32::from(route.flags);
        let same = route.mask.to_bits() & address.to_bits() == route.destination.to_bits();
        same && flags & UP != 0 && flags & REJECT == 0
    };
    let routes = routes.into_iter().filter(leads);
    let best = routes.min_by_key(|route| (32 - route.mask.to_bits().count_ones(), route.metrics));
    best.map(|route| route.iface)
}

/// A line of `net/ipv6_route`.
struct RouteV6 {
    destination: u128,
    prefix: u32,
    metric: u32,
    flags: u32,
    interface: String,
}

fn interface_to_v6(proc: &Proc, address: Ipv6Addr) -> Option<String> {
    let routes = text(&proc.path("net/ipv6_route")).ok()?;
    let routes = routes.lines().filter_map(RouteV6::parse);
    let routes = routes.filter(|route| route.leads_to(address));
    let best = routes.min_by_key(|route| (128 - route.prefix, route.metric));
    best.map(|route| route.interface)
}

impl RouteV6 {
    /// Parses the fields: destination and its prefix, source and its prefix, next hop, metric, two
    /// counts, flags, and the interface; all but the last in hexadecimal.
    fn parse(line: &str) -> Option<RouteV6> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        Some(RouteV6 {
            destination: u128::from_str_radix(fields.first()?, 16).ok()?,
            prefix: number(1).filter(|prefix| *prefix <= 128)?,
            metric: number(5)?,
            flags: number(8)?,
            interface: (*fields.get(9)?).to_owned(),
        })
    }

    fn leads_to(&self, address: Ipv6Addr) -> bool {
        let mask = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
        let same = (address.to_bits() ^ self.destination) & mask == 0;
        same && self.flags & UP != 0 && self.flags & REJECT == 0 && self.interface != LOOPBACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn routed() -> Fixture {
        let fixture = Fixture::new();
        fixture.write(
            "net/route",
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
             wan0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
             lan0\t000010AC\t00000000\t0001\t0\t0\t0\t0000F0FF\t0\t0\t0\n\
             old0\t000010AC\t00000000\t0001\t0\t0\t9\t0000F0FF\t0\t0\t0\n",
        );
        let zeros = "0".repeat(32);
        let net = format!("20010db8{}", "0".repeat(24));
        fixture.write(
            "net/ipv6_route",
            &format!(
                "{net} 20 {zeros} 00 {zeros} 00000100 00000001 00000000 00000001 lan0\n\
                 {zeros} 00 {zeros} 00 {net} 00000400 00000001 00000000 00000003 wan0\n\
                 {zeros} 00 {zeros} 00 {zeros} ffffffff 00000001 00000000 00200200 lo\n"
            ),
        );
        fixture
    }

    #[test]
    fn the_longest_prefix_leads_and_then_the_lowest_metric() {
        let fixture = routed();
        let to = |address: &str| interface_to_v4(&fixture.proc(), address.parse().unwrap());
        assert_eq!(to("172.16.3.4").as_deref(), Some("lan0"));
        assert_eq!(to("192.0.2.200").as_deref(), Some("wan0"));
    }

    #[test]
    fn the_same_for_version_six() {
        let fixture = routed();
        let to = |address: &str| interface_to_v6(&fixture.proc(), address.parse().unwrap());
        assert_eq!(to("2001:db8::7").as_deref(), Some("lan0"));
        assert_eq!(to("2a00::1").as_deref(), Some("wan0"));
    }

    #[test]
    fn what_stays_on_the_host_takes_the_loopback() {
        let fixture = routed();
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            let address: IpAddr = address.parse().unwrap();
            assert!(is_local(address), "{address}");
            let interface = interface_to(&fixture.proc(), address);
            assert_eq!(interface.as_deref(), Some("lo"), "{address}");
        }
        assert!(!is_local("192.0.2.77".parse().unwrap()));
    }

    #[test]
    fn without_a_route_there_is_no_interface() {
        let fixture = Fixture::new();
        let to = interface_to_v4(&fixture.proc(), Ipv4Addr::new(192, 0, 2, 1));
        assert_eq!(to, None);
        assert_eq!(default_interface(&fixture.proc()), "lo");
        assert_eq!(default_interface(&routed().proc()), "wan0");
    }
}
