//! Handshakes that succeed, and handshakes that fail with a reason.

use super::authority::{Authority, BOTH, Issued};
use super::servers::{TlsStream, echo_bytes, nobody, serve, serve_tls, tls_output};
use super::*;
use crate::{Complaint, Dial, DialError, DialPhase, complaint, is_tls_error};
use loadline_plan::Identity;
use loadline_reactor::KernelSocket;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, IsCa,
    date_time_ymd,
};
use rustls::version::{TLS12, TLS13};
use rustls::{HandshakeKind, ProtocolVersion, ServerConfig};
use std::io::{Read, Write};
use std::net::TcpStream;

type Dialled = Result<(Connection<KernelSocket>, Dial), DialError>;

/// Dials once.
async fn dial(kernel: &Kernel, endpoint: Endpoint, tls: Tls) -> (Dialler<Kernel>, Dialled) {
    let dialler = dialler(kernel, endpoint, &with_tls(tls));
    let dialled = dialler.dial(0, u64::MAX).await;
    (dialler, dialled)
}

/// Dials once, expects a failure in the handshake, and returns the error's text.
fn dial_in_vain(endpoint: Endpoint, tls: Tls) -> String {
    let (_, dialled) = on_kernel(async |kernel| dial(&kernel, endpoint, tls).await);
    let error = dialled.expect_err("a failure");
    assert_eq!(error.phase, DialPhase::Tls, "{error}");
    let text = error.to_string();
    let place = format!(
        "TLS handshake with {}: ",
        error.address.as_ref().expect("an address")
    );
    text.strip_prefix(&place).expect("the place").to_owned()
}

/// Reads a byte, responds with a byte, and returns the result of the handshake.
fn agree(stream: &mut TlsStream) -> Agreed {
    stream.read_exact(&mut [0]).expect("a request");
    stream.write_all(b"!").expect("a client");
    let tls = &stream.conn;
    Agreed {
        version: tls.protocol_version(),
        kind: tls.handshake_kind(),
        name: tls.server_name().map(str::to_owned),
        protocol: tls.alpn_protocol().map(<[u8]>::to_vec),
        client: tls.peer_certificates().map(|chain| chain[0].to_vec()),
    }
}

#[derive(Debug)]
struct Agreed {
    version: Option<ProtocolVersion>,
    kind: Option<HandshakeKind>,
    name: Option<String>,
    protocol: Option<Vec<u8>>,
    client: Option<Vec<u8>>,
}

/// Dials as often as the server serves, each time for one exchange of a byte.
async fn exchange(kernel: &Kernel, endpoint: Endpoint, tls: Tls, times: usize) {
    let dialler = dialler(kernel, endpoint, &with_tls(tls));
    for _ in 0..times {
        let (mut connection, dial) = dialler.dial(0, u64::MAX).await.expect("a connection");
        assert!(dial.tls_ns.is_some_and(|tls_ns| tls_ns > 0));
        assert!(!connection.can_discard());
        connection.send_all(b"?").await.expect("sent");
        let answer = receive(&mut connection, &dialler.scratch).await;
        assert_eq!(answer.expect("an answer"), b"!");
    }
}

fn agreed(config: ServerConfig, host: &str, tls: Tls, times: usize) -> Vec<Agreed> {
    let server = serve_tls(config, times, agree);
    let endpoint = securely(host, server.address);
    on_kernel(async |kernel| exchange(&kernel, endpoint, tls, times).await);
    server.finish()
}

/// Expects the server's handshake to fail, and returns the error's text.
fn refused(stream: &mut TlsStream) -> String {
    let error = stream.read_exact(&mut [0]).expect_err("no handshake");
    error.to_string()
}

fn refused_by_client(config: ServerConfig, host: &str, tls: Tls) -> (String, String) {
    let server = serve_tls(config, 1, refused);
    let text = dial_in_vain(securely(host, server.address), tls);
    (text, server.found())
}

#[test]
fn both_versions_are_spoken_and_the_name_is_told() {
    let authority = Authority::new();
    let issued = authority.issue(&["shop.example"]);
    for (version, number) in [
        (&TLS12, ProtocolVersion::TLSv1_2),
        (&TLS13, ProtocolVersion::TLSv1_3),
    ] {
        let config = authority.server(&issued, &[version]);
        let agreed = agreed(config, "shop.example", authority.trusted(), 1);
        assert_eq!(agreed[0].version, Some(number));
        assert_eq!(agreed[0].name.as_deref(), Some("shop.example"));
    }
}

#[test]
fn an_address_is_not_told_as_a_name() {
    let authority = Authority::new();
    for ip in ["127.0.0.1", "::1"] {
        let config = authority.server(&authority.issue(&[ip]), &BOTH);
        let agreed = agreed(config, ip, authority.trusted(), 1);
        assert_eq!(agreed[0].name, None);
    }
}

#[test]
fn sessions_are_resumed() {
    let authority = Authority::new();
    let issued = authority.issue(&["localhost"]);
    for version in [&TLS12, &TLS13] {
        let mut config = authority.server(&issued, &[version]);
        config.ticketer = rustls::crypto::ring::Ticketer::new().expect("a ticketer");
        let agreed = agreed(config, "localhost", authority.trusted(), 3);
        let kinds: Vec<_> = agreed.iter().map(|agreed| agreed.kind).collect();
        let resumed = Some(HandshakeKind::Resumed);
        assert_eq!(kinds, [Some(HandshakeKind::Full), resumed, resumed]);
    }
}

#[test]
fn workers_resume_no_sessions_of_each_other() {
    let authority = Authority::new();
    let config = authority.server(&authority.issue(&["localhost"]), &BOTH);
    let server = serve_tls(config, 2, agree);
    let endpoint = securely("localhost", server.address);
    let settings = with_tls(authority.trusted());
    let setup = TlsSetup::read(&settings.tls).expect("usable settings");
    on_kernel(async |kernel| {
        for _ in 0..2 {
            let endpoints = vec![endpoint.clone()];
            let dialler = Dialler::new(kernel.clone(), endpoints, &settings, Some(&setup), 0);
            let (mut connection, _) = dialler.dial(0, u64::MAX).await.expect("a connection");
            connection.send_all(b"?").await.expect("sent");
            let answer = receive(&mut connection, &dialler.scratch).await;
            assert_eq!(answer.expect("an answer"), b"!");
        }
    });
    let kinds = server.finish().into_iter().map(|agreed| agreed.kind);
    assert!(kinds.eq([Some(HandshakeKind::Full); 2]));
}

#[test]
fn http_1_1_is_agreed_on() {
    let authority = Authority::new();
    let issued = authority.issue(&["localhost"]);
    for (offered, chosen) in [
        (vec![], None),
        (
            vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Some(b"http/1.1".to_vec()),
        ),
    ] {
        let mut config = authority.server(&issued, &BOTH);
        config.alpn_protocols = offered;
        let agreed = agreed(config, "localhost", authority.trusted(), 1);
        assert_eq!(agreed[0].protocol, chosen);
    }
}

#[test]
fn a_server_that_speaks_only_http_2_says_so() {
    let authority = Authority::new();
    let mut config = authority.server(&authority.issue(&["localhost"]), &BOTH);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let (text, _) = refused_by_client(config, "localhost", authority.trusted());
    assert_eq!(
        text,
        "the server supports none of the offered versions of HTTP"
    );
}

/// The authority has another name, or the same name with another key, as if it had been created
/// anew.
#[test]
fn an_authority_that_is_not_trusted_is_refused_and_told() {
    let authority = Authority::new();
    let issued = authority.issue(&["localhost"]);
    for other in [Authority::named("another authority"), Authority::new()] {
        let config = authority.server(&issued, &BOTH);
        let (text, _) = refused_by_client(config, "localhost", other.trusted());
        assert_eq!(text, "no trusted authority signed the server's certificate");
    }
}

/// A server with a self-signed certificate, as test servers have.
#[test]
fn a_certificate_that_signs_itself_is_refused_or_trusted() {
    let (authority, other) = (Authority::new(), Authority::named("another authority"));
    let issued = authority.issue_self_signed(&["localhost"]);
    let config = || authority.server(&issued, &BOTH);
    let (text, told) = refused_by_client(config(), "localhost", other.trusted());
    assert_eq!(text, "no trusted authority signed the server's certificate");
    assert!(told.contains("UnknownCA"), "{told}");
    let tls = Tls {
        cacert: Some(authority.file("own.pem", issued.certificate.pem())),
        ..Tls::default()
    };
    assert_eq!(agreed(config(), "localhost", tls, 1).len(), 1);
}

/// Certificates that are made in a hurry are often an authority's.
#[test]
fn a_servers_certificate_that_is_an_authoritys_is_named() {
    let authority = Authority::new();
    let issued = authority.issue_with(&["localhost"], |params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    let config = authority.server(&issued, &BOTH);
    let (text, _) = refused_by_client(config, "localhost", authority.trusted());
    insta::assert_snapshot!(text, @"the server's certificate is that of an authority, not of a \
                                    server (make one with CA:FALSE, give this one with --cacert, \
                                    or use --insecure)");
}

/// A certificate for clients only is not valid for a server, even if it is trusted itself.
#[test]
fn an_authoritys_certificate_that_is_for_clients_is_not_trusted_as_a_servers() {
    let authority = Authority::new();
    let make = |usages: Vec<ExtendedKeyUsagePurpose>| {
        authority.issue_self_signed_with(&["localhost"], |params| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.extended_key_usages = usages;
        })
    };
    let trusting = |issued: &Issued| Tls {
        cacert: Some(authority.file("own.pem", issued.certificate.pem())),
        ..Tls::default()
    };
    use ExtendedKeyUsagePurpose::{Any, ClientAuth, ServerAuth};
    for usages in [vec![ServerAuth], vec![ClientAuth, ServerAuth], vec![Any]] {
        let own = make(usages);
        let config = authority.server(&own, &BOTH);
        assert_eq!(agreed(config, "localhost", trusting(&own), 1).len(), 1);
    }
    let own = make(vec![ClientAuth]);
    let config = authority.server(&own, &BOTH);
    let (text, _) = refused_by_client(config, "localhost", trusting(&own));
    assert!(text.contains("certificate is not accepted"), "{text}");
}

/// Such a certificate is made by `openssl req -x509`, and given to other clients as trusted.
#[test]
fn an_authoritys_certificate_that_is_named_itself_is_trusted_as_a_servers() {
    let authority = Authority::new();
    let make = |change: fn(&mut CertificateParams)| {
        authority.issue_self_signed_with(&["localhost"], |params| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            change(params);
        })
    };
    let trusting = |issued: &Issued| Tls {
        cacert: Some(authority.file("own.pem", issued.certificate.pem())),
        ..Tls::default()
    };
    let (own, other) = (make(|_| ()), make(|_| ()));
    let old = make(|params| params.not_after = date_time_ymd(1999, 1, 1));
    for version in [&TLS12, &TLS13] {
        let config = || authority.server(&own, &[version]);
        assert_eq!(agreed(config(), "localhost", trusting(&own), 2).len(), 2);
        let (text, _) = refused_by_client(config(), "bank.example", trusting(&own));
        assert_eq!(
            text,
            "the server's certificate is for localhost, not for bank.example"
        );
        let (text, _) = refused_by_client(config(), "localhost", trusting(&other));
        assert!(
            text.starts_with("the server's certificate is that of an authority"),
            "{text}"
        );
        let config = authority.server(&old, &[version]);
        let (text, _) = refused_by_client(config, "localhost", trusting(&old));
        assert_eq!(text, "the server's certificate has expired");
    }
}

#[test]
fn another_name_is_refused_and_told() {
    let authority = Authority::new();
    let config = authority.server(&authority.issue(&["shop.example", "127.0.0.1"]), &BOTH);
    let (text, told) = refused_by_client(config, "bank.example", authority.trusted());
    insta::assert_snapshot!(text, @"the server's certificate is for shop.example, 127.0.0.1, not \
                                    for bank.example");
    assert!(told.contains("BadCertificate"), "{told}");
    let config = authority.server(&authority.issue(&[]), &BOTH);
    let (text, _) = refused_by_client(config, "bank.example", authority.trusted());
    insta::assert_snapshot!(text, @"the server's certificate has no subjectAltName, so it is not \
                                    for bank.example");
}

#[test]
fn certificates_out_of_their_time_are_refused() {
    let authority = Authority::new();
    for (from, to, expected) in [
        (1999, 2001, "the server's certificate has expired"),
        (
            3000,
            3001,
            "the server's certificate is not valid yet by this machine's clock",
        ),
    ] {
        let issued = authority.issue_with(&["localhost"], |params| {
            params.not_before = date_time_ymd(from, 1, 1);
            params.not_after = date_time_ymd(to, 1, 1);
        });
        let config = authority.server(&issued, &BOTH);
        let (text, _) = refused_by_client(config, "localhost", authority.trusted());
        assert_eq!(text, expected);
    }
}

#[test]
fn an_insecure_client_takes_any_certificate() {
    let authority = Authority::new();
    let unreadable = authority.issue_with(&["elsewhere.example"], |params| {
        let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![5, 0]);
        extension.set_criticality(true);
        params.custom_extensions.push(extension);
        params.not_after = date_time_ymd(1999, 1, 1);
    });
    let insecure = Tls {
        insecure: true,
        ..Tls::default()
    };
    for version in [&TLS12, &TLS13] {
        let config = authority.server(&unreadable, &[version]);
        let agreed = agreed(config, "localhost", insecure.clone(), 2);
        assert_eq!(agreed[1].kind, Some(HandshakeKind::Resumed));
    }
    let (text, _) = refused_by_client(
        authority.server(&unreadable, &BOTH),
        "localhost",
        authority.trusted(),
    );
    assert!(
        text.starts_with("the server's certificate is not accepted: "),
        "{text}"
    );
}

#[test]
fn a_client_certificate_is_shown() {
    let authority = Authority::new();
    let (server, client) = (authority.issue(&["localhost"]), authority.issue(&["me"]));
    let apart = Tls {
        cert: Some(authority.file("client.pem", client.certificate.pem())),
        key: Some(authority.file("client.key", client.key.serialize_pem())),
        ..authority.trusted()
    };
    let both = client.certificate.pem() + &client.key.serialize_pem();
    let together = Tls {
        cert: Some(authority.file("both.pem", both)),
        ..authority.trusted()
    };
    for version in [&TLS12, &TLS13] {
        for tls in [&apart, &together] {
            let config = authority.suspicious_server(&server, &[version]);
            let agreed = agreed(config, "localhost", tls.clone(), 1);
            assert_eq!(agreed[0].client.as_deref(), Some(&client.chain()[0][..]));
        }
    }
}

#[test]
fn a_missing_client_certificate_fails_the_handshake_of_tls_1_2() {
    let authority = Authority::new();
    let config = authority.suspicious_server(&authority.issue(&["localhost"]), &[&TLS12]);
    let (text, _) = refused_by_client(config, "localhost", authority.trusted());
    assert_eq!(text, "the server requires a client certificate");
}

/// In TLS 1.3 the client finishes before the server has noticed the missing certificate.
#[test]
fn a_missing_client_certificate_fails_the_first_receive_of_tls_1_3() {
    let authority = Authority::new();
    let config = authority.suspicious_server(&authority.issue(&["localhost"]), &[&TLS13]);
    let server = serve_tls(config, 1, refused);
    on_kernel(async |kernel| {
        let endpoint = securely("localhost", server.address);
        let (dialler, dialled) = dial(&kernel, endpoint, authority.trusted()).await;
        let (mut connection, _) = dialled.expect("a connection");
        for _ in 0..2 {
            let error = receive(&mut connection, &dialler.scratch).await;
            let error = error.expect_err("an alert");
            assert!(is_tls_error(&error));
            assert_eq!(
                error.to_string(),
                "the server requires a client certificate"
            );
        }
        let error = connection.send_all(b"?").await.expect_err("no connection");
        assert!(is_tls_error(&error), "{error}");
    });
    server.found();
}

/// Dials ahead, to a server that requires a certificate of its authority and reads a byte.
fn dial_ahead(authority: &Authority, tls: Tls) -> Dialled {
    let config = authority.suspicious_server(&authority.issue(&["localhost"]), &[&TLS13]);
    let server = serve_tls(config, 1, |stream| stream.read_exact(&mut [0]).is_ok());
    let dialled = on_kernel(async |kernel| {
        let endpoint = securely("localhost", server.address);
        let dialler = dialler(&kernel, endpoint, &with_tls(tls));
        let mut dialled = dialler.dial_ahead(0).await;
        if let Ok((connection, _)) = &mut dialled {
            connection.send_all(b"?").await.expect("sent");
        }
        dialled
    });
    assert_eq!(server.found(), dialled.is_ok());
    dialled
}

#[test]
fn a_client_certificate_that_is_missing_or_refused_shows_before_the_run() {
    let authority = Authority::new();
    let identity = |of: &Authority| {
        let issued = of.issue(&["me"]);
        let both = issued.certificate.pem() + &issued.key.serialize_pem();
        Tls {
            cert: Some(authority.file("client.pem", both)),
            ..authority.trusted()
        }
    };
    let other = Authority::named("another authority");
    for (tls, expected) in [
        (
            authority.trusted(),
            "the server requires a client certificate",
        ),
        (
            identity(&other),
            "the server does not accept the client certificate (TLS alert UnknownCA)",
        ),
    ] {
        let error = dial_ahead(&authority, tls).expect_err("an alert");
        assert_eq!(error.phase, DialPhase::Tls);
        assert_eq!(complaint(&error.error), Some(Complaint::Certificate));
        assert_eq!(error.error.to_string(), expected);
    }
    assert!(dial_ahead(&authority, identity(&authority)).is_ok());
}

#[test]
fn of_several_client_certificates_a_server_is_shown_one_that_it_can_take() {
    let (authority, other) = (Authority::new(), Authority::named("another authority"));
    let identity = |of: &Authority| {
        let issued = of.issue(&["me"]);
        Identity {
            certificate: issued.certificate.pem(),
            key: issued.key.serialize_pem(),
        }
    };
    let with = |identities| Tls {
        identities,
        ..authority.trusted()
    };
    let both = with(vec![identity(&other), identity(&authority)]);
    assert!(dial_ahead(&authority, both).is_ok());
    let error = dial_ahead(&authority, with(vec![identity(&other)])).expect_err("an alert");
    let text = error.error.to_string();
    assert_eq!(text, "the server requires a client certificate");
}

#[test]
fn suites_are_offered_by_their_registered_names() {
    let authority = Authority::new();
    for (version, name, agreed) in [
        (
            &TLS13,
            "TLS_CHACHA20_POLY1305_SHA256",
            "TLS13_CHACHA20_POLY1305_SHA256",
        ),
        (
            &TLS12,
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        ),
    ] {
        let config = authority.server(&authority.issue(&["localhost"]), &[version]);
        let server = serve_tls(config, 1, echo_bytes);
        let tls = Tls {
            suites: vec!["TLS_RSA_WITH_RC4_128_SHA".to_owned(), name.to_owned()],
            ..authority.trusted()
        };
        on_kernel(async |kernel| {
            let endpoint = securely("localhost", server.address);
            let (_, dialled) = dial(&kernel, endpoint, tls).await;
            let (connection, _) = dialled.expect("a connection");
            assert_eq!(connection.agreed().expect("TLS").suite, agreed);
        });
        server.found();
    }
}

/// Runs a server that reads the beginning of the handshake and then does anything but respond
/// correctly.
fn serve_oddly(answer: impl FnOnce(TcpStream) + Send + 'static) -> super::servers::Server<()> {
    let mut answer = Some(answer);
    serve(1, move |mut stream| {
        let mut header = [0; 5];
        stream.read_exact(&mut header).expect("a record's header");
        let length = u16::from_be_bytes([header[3], header[4]]);
        stream
            .read_exact(&mut vec![0; length.into()])
            .expect("a record");
        answer.take().expect("one connection")(stream);
    })
}

#[test]
fn a_server_without_tls_is_found_out() {
    let authority = Authority::new();
    let server = serve_oddly(|mut stream| {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .expect("a client");
    });
    let text = dial_in_vain(securely("localhost", server.address), authority.trusted());
    assert_eq!(text, "the server's response is not TLS");
    server.found();
}

#[test]
fn a_server_that_closes_within_the_handshake_is_named() {
    let authority = Authority::new();
    let server = serve_oddly(drop);
    let text = dial_in_vain(securely("localhost", server.address), authority.trusted());
    assert_eq!(text, "the server closed the connection");
    server.found();
}

#[test]
fn a_server_that_hangs_within_the_handshake_meets_the_deadline() {
    let authority = Authority::new();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    // Send half a record's header, then nothing until the client has closed.
    let server = serve_oddly(move |mut stream| {
        stream.write_all(&[22, 3, 3]).expect("a client");
        wait.recv().expect_err("the client's end");
    });
    let settings = Settings {
        connect_timeout: Duration::from_millis(50),
        ..with_tls(authority.trusted())
    };
    on_kernel(async |kernel| {
        let dialler = dialler(&kernel, securely("localhost", server.address), &settings);
        let begun_ns = kernel.now_ns();
        let error = dialler.dial(0, u64::MAX).await.expect_err("no handshake");
        assert!(kernel.now_ns() - begun_ns >= 50_000_000);
        assert_eq!(error.phase, DialPhase::Tls);
        assert_eq!(error.error.kind(), io::ErrorKind::TimedOut);
    });
    drop(done);
    server.found();
}

#[test]
fn a_socket_that_is_refused_is_no_failure_of_tls() {
    let authority = Authority::new();
    let (_, dialled) = on_kernel(async |kernel| {
        dial(
            &kernel,
            securely("localhost", nobody()),
            authority.trusted(),
        )
        .await
    });
    assert_eq!(dialled.expect_err("nobody there").phase, DialPhase::Connect);
}

#[test]
fn a_host_that_no_certificate_can_name_is_told() {
    let authority = Authority::new();
    let server = serve(1, drop);
    let text = dial_in_vain(securely("a..b", server.address), authority.trusted());
    insta::assert_snapshot!(text, @"`a..b` is not a name that a certificate can have");
    server.found();
}

/// Data that a server sends at once, with the end of its handshake, is kept for the first receive.
#[test]
fn what_comes_with_the_handshake_is_not_lost() {
    let authority = Authority::new();
    let issued = authority.issue(&["localhost"]);
    for version in [&TLS12, &TLS13] {
        let mut config = authority.server(&issued, &[version]);
        config.send_half_rtt_data = true;
        let server = serve_tls(config, 1, |stream| speak_first(stream, b"too busy"));
        on_kernel(async |kernel| {
            let endpoint = securely("localhost", server.address);
            let (dialler, dialled) = dial(&kernel, endpoint, authority.trusted()).await;
            let (mut connection, _) = dialled.expect("a connection");
            let got = receive_all(&mut connection, &dialler.scratch).await;
            assert_eq!(got.expect("what it said"), b"too busy");
        });
        server.found();
    }
}

/// Sends `words` and closes, in one piece with the last of the server's side of the handshake.
fn speak_first(stream: &mut TlsStream, words: &[u8]) {
    let mut spoken = false;
    while stream.conn.is_handshaking() {
        stream.conn.read_tls(&mut stream.sock).expect("a greeting");
        stream.conn.process_new_packets().expect("a handshake");
        let early = stream.conn.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        if stream.conn.wants_write() && !spoken && (early || !stream.conn.is_handshaking()) {
            stream.conn.writer().write_all(words).expect("room");
            stream.conn.send_close_notify();
            spoken = true;
        }
        let bytes = tls_output(stream);
        stream.sock.write_all(&bytes).expect("a client");
    }
    assert!(spoken);
}
