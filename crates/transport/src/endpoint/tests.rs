use super::*;
use std::net::IpAddr;
use std::path::PathBuf;

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn resolved(text: &str, connection: &Connection) -> Endpoint {
    Endpoint::resolve(&url(text), connection).expect("an address")
}

fn only(version: IpVersion) -> Connection {
    Connection {
        ip_version: version,
        ..Connection::default()
    }
}

/// Creates settings with these rules.
fn redirected(rules: &[&str]) -> Connection {
    let connect_to = rules.iter().map(|rule| rule.parse().expect("a rule"));
    Connection {
        connect_to: connect_to.collect(),
        ..Connection::default()
    }
}

fn at(address: &str) -> Vec<Address> {
    vec![Address::Ip(address.parse().expect("an address"))]
}

#[test]
fn addresses_are_taken_as_they_are() {
    for (text, tls, host, address) in [
        ("http://127.0.0.1/", false, "127.0.0.1", "127.0.0.1:80"),
        ("https://127.0.0.1/", true, "127.0.0.1", "127.0.0.1:443"),
        (
            "http://192.0.2.7:8080/a",
            false,
            "192.0.2.7",
            "192.0.2.7:8080",
        ),
        ("http://[::1]/", false, "::1", "[::1]:80"),
        (
            "https://[2001:db8::1]:8443/",
            true,
            "2001:db8::1",
            "[2001:db8::1]:8443",
        ),
        ("http://0x7f.1/", false, "127.0.0.1", "127.0.0.1:80"),
    ] {
        let endpoint = resolved(text, &Connection::default());
        let addresses = at(address);
        let port = url(text).port_or_known_default().expect("a port");
        assert_eq!(
            endpoint,
            Endpoint {
                tls,
                host: host.to_owned(),
                port,
                addresses,
                resolve_time: None,
                tunnel: None,
            }
        );
    }
}

#[test]
fn names_are_resolved_and_timed() {
    let endpoint = resolved("http://localhost:81/", &Connection::default());
    assert_eq!((endpoint.host.as_str(), endpoint.port), ("localhost", 81));
    assert!(endpoint.resolve_time.is_some());
    assert!(!endpoint.addresses.is_empty());
    for (index, address) in endpoint.addresses.iter().enumerate() {
        let Address::Ip(ip) = address else {
            panic!("{address}")
        };
        assert!(ip.ip().is_loopback() && ip.port() == 81);
        assert!(!endpoint.addresses[..index].contains(address));
    }
}

/// The addresses of `localhost` depend on the machine, so each version is tested separately.
#[test]
fn names_have_only_addresses_of_the_version_wanted() {
    let name = url("http://localhost/");
    let all = resolved("http://localhost/", &Connection::default()).addresses;
    for (version, told, is_wanted) in [
        (
            IpVersion::V4,
            "IPv4",
            IpAddr::is_ipv4 as fn(&IpAddr) -> bool,
        ),
        (IpVersion::V6, "IPv6", IpAddr::is_ipv6),
    ] {
        let of_version = |address: &&Address| match address {
            Address::Ip(address) => is_wanted(&address.ip()),
            Address::Unix(_) => false,
        };
        let mut expected: Vec<_> = all.iter().filter(of_version).cloned().collect();
        if expected.is_empty() {
            let loopback = ["127.0.0.1:80", "[::1]:80"][usize::from(version == IpVersion::V6)];
            expected = at(loopback);
        }
        let endpoint = Endpoint::resolve(&name, &only(version)).expect("an address");
        assert_eq!(endpoint.addresses, expected);
        let other = ["http://[::1]/", "http://127.0.0.1/"][usize::from(version == IpVersion::V6)];
        match Endpoint::resolve(&url(other), &only(version)) {
            Err(ResolveError::NoneOfVersion { version, .. }) => assert_eq!(version, told),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn each_address_is_taken_once_in_the_resolvers_order() {
    let address = |text: &str| -> SocketAddr { text.parse().expect("an address") };
    let [a, b, six] = ["192.0.2.2:80", "192.0.2.1:80", "[::1]:80"].map(address);
    let all = vec![a, six, a, b, six, b];
    for (version, expected) in [
        (IpVersion::Any, vec![a, six, b]),
        (IpVersion::V4, vec![a, b]),
        (IpVersion::V6, vec![six]),
    ] {
        let expected: Vec<_> = expected.into_iter().map(Address::Ip).collect();
        assert_eq!(of_version(all.clone(), version), expected);
    }
}

#[test]
fn addresses_of_the_other_version_are_refused() {
    for (text, version) in [
        ("http://127.0.0.1/", IpVersion::V6),
        ("http://[::1]/", IpVersion::V4),
    ] {
        let error = Endpoint::resolve(&url(text), &only(version)).expect_err("none");
        assert!(matches!(error, ResolveError::NoneOfVersion { .. }));
    }
    let error = Endpoint::resolve(&url("http://[::1]/"), &only(IpVersion::V4));
    insta::assert_snapshot!(error.expect_err("none"), @"the host `::1` has no IPv4 address: leave \
                                                        the IP version open or use another host");
}

#[test]
fn names_that_nobody_knows_are_told() {
    let unknown = url("http://nowhere.invalid/");
    let error = Endpoint::resolve(&unknown, &Connection::default()).expect_err("no address");
    let ResolveError::Unknown { host, reason } = &error else {
        panic!("{error}")
    };
    assert_eq!(host, "nowhere.invalid");
    assert!(!reason.is_empty());
    // The reason is the resolver's text, and depends on it.
    let text = error.to_string().replace(reason, "…");
    insta::assert_snapshot!(text, @"no address is known for the host `nowhere.invalid` (…): \
                                    correct the name or the resolver's configuration");
}

#[test]
fn the_first_rule_that_matches_says_where_to_connect() {
    for (rules, expected) in [
        (&["shop.example:80:127.0.0.1:8080"][..], "127.0.0.1:8080"),
        (&["SHOP.example:80:127.0.0.1:8080"], "127.0.0.1:8080"),
        (&[":80:127.0.0.1:8080"], "127.0.0.1:8080"),
        (&["shop.example::127.0.0.1:8080"], "127.0.0.1:8080"),
        (&["::127.0.0.1:8080"], "127.0.0.1:8080"),
        (&["shop.example:80:127.0.0.1:"], "127.0.0.1:80"),
        (&["::[::1]:8080"], "[::1]:8080"),
        (
            &["shop.example:81:127.0.0.2:1", "::127.0.0.1:2"],
            "127.0.0.1:2",
        ),
        (
            &["bank.example:80:127.0.0.2:1", "::127.0.0.1:2"],
            "127.0.0.1:2",
        ),
        (
            &["::127.0.0.1:2", "shop.example:80:127.0.0.2:1"],
            "127.0.0.1:2",
        ),
    ] {
        let endpoint = resolved("http://shop.example/", &redirected(rules));
        assert_eq!(endpoint.addresses, at(expected), "{rules:?}");
        assert_eq!(
            (endpoint.host.as_str(), endpoint.port),
            ("shop.example", 80)
        );
        assert_eq!(endpoint.resolve_time, None);
    }
}

#[test]
fn a_rule_may_keep_the_host() {
    for (text, rule, expected) in [
        ("http://127.0.0.1/", ":80::8080", "127.0.0.1:8080"),
        ("http://[::1]/", "[::1]:80::8080", "[::1]:8080"),
        ("http://127.0.0.1/", "127.0.0.1:80::", "127.0.0.1:80"),
        ("http://127.0.0.1/", "127.0.0.2:80::8080", "127.0.0.1:80"),
    ] {
        let endpoint = resolved(text, &redirected(&[rule]));
        assert_eq!(endpoint.addresses, at(expected), "{rule}");
    }
}

#[test]
fn a_rule_that_leads_nowhere_names_where_it_leads() {
    let connection = redirected(&["::nowhere.invalid:"]);
    let error = Endpoint::resolve(&url("http://127.0.0.1/"), &connection);
    let Err(ResolveError::Unknown { host, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(host, "nowhere.invalid");
}

#[test]
fn a_unix_socket_needs_no_name() {
    let path = PathBuf::from("/run/server.sock");
    let connection = Connection {
        unix_socket: Some(path.clone()),
        ..Connection::default()
    };
    let endpoint = resolved("https://nowhere.invalid/", &connection);
    assert_eq!(
        endpoint,
        Endpoint {
            tls: true,
            host: "nowhere.invalid".to_owned(),
            port: 443,
            addresses: vec![Address::Unix(path)],
            resolve_time: None,
            tunnel: None,
        }
    );
}

#[test]
fn an_endpoint_serves_its_origin() {
    let rules = redirected(&["::127.0.0.1:1"]);
    let endpoint = resolved("http://shop.example/a", &rules);
    for text in [
        "http://shop.example",
        "http://SHOP.example:80/b?c",
        "http://me:secret@shop.example/",
    ] {
        assert!(endpoint.serves(&url(text)), "{text}");
    }
    for text in [
        "https://shop.example/",
        "https://shop.example:80/",
        "http://shop.example:81/",
        "http://www.shop.example/",
        "http://127.0.0.1:1/",
    ] {
        assert!(!endpoint.serves(&url(text)), "{text}");
    }
    let six = resolved("https://[::1]/", &Connection::default());
    assert!(six.serves(&url("https://[0:0::1]:443/")));
}

#[test]
fn a_policy_leaves_addresses_of_one_version_or_the_other() {
    let v4: SocketAddr = "127.0.0.1:1".parse().expect("an address");
    let v6: SocketAddr = "[::1]:1".parse().expect("an address");
    for (policy, of_both, of_v6) in [
        (AddressPolicy::Any, vec![v6, v4], vec![v6]),
        (AddressPolicy::PreferV4, vec![v4], vec![v6]),
        (AddressPolicy::PreferV6, vec![v6], vec![v6]),
        (AddressPolicy::OnlyV4, vec![v4], vec![]),
        (AddressPolicy::OnlyV6, vec![v6], vec![v6]),
    ] {
        assert_eq!(allowed(vec![v6, v4], policy), of_both, "{policy:?}");
        assert_eq!(allowed(vec![v6], policy), of_v6, "{policy:?}");
    }
}

#[test]
fn localhost_is_loopback_of_either_version() {
    let v4: SocketAddr = "127.0.0.1:80".parse().expect("an address");
    let v6: SocketAddr = "[::1]:80".parse().expect("an address");
    for (host, found, version, expected) in [
        ("localhost", vec![v4], IpVersion::V6, vec![v4, v6]),
        ("app.LOCALHOST.", vec![v6], IpVersion::V4, vec![v6, v4]),
        ("localhost", vec![v4, v6], IpVersion::V6, vec![v4, v6]),
        ("localhost", vec![v4], IpVersion::Any, vec![v4]),
        ("a.example", vec![v4], IpVersion::V6, vec![v4]),
    ] {
        assert_eq!(with_loopback(host, 80, found, version), expected, "{host}");
    }
    let endpoint = resolved("http://localhost/", &only(IpVersion::V6));
    assert_eq!(endpoint.addresses, at("[::1]:80"));
}

#[test]
fn an_address_with_a_zone_is_connected_to_by_a_rule() {
    let rule = redirected(&["::[fe80::1%lo]:"]);
    let endpoint = resolved("http://name:81/", &rule);
    let [Address::Ip(SocketAddr::V6(address))] = endpoint.addresses[..] else {
        panic!("{endpoint:?}");
    };
    assert_eq!(
        (address.ip().to_string().as_str(), address.port()),
        ("fe80::1", 81)
    );
    assert!(address.scope_id() > 0, "{address}");
}
