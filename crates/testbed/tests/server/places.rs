//! TLS, Unix sockets, threads, starting and stopping.

use crate::client::{Client, End, free_port, plain, start};
use loadline_testbed::{Config, Server, StartError};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

type TlsClient = Client<StreamOwned<ClientConnection, TcpStream>>;

/// Returns a client's side of TLS that trusts `server`, and has a certificate if one is given.
fn trusting(
    server: &Server,
    own: Option<&rcgen::CertifiedKey<rcgen::KeyPair>>,
) -> Arc<ClientConfig> {
    let pem = server.certificate_pem().expect("a server with TLS");
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM"))
        .expect("a root");
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    Arc::new(match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
            builder
                .with_client_auth_cert(vec![own.cert.der().clone()], key)
                .expect("a pair")
        }
    })
}

fn tls_client(server: &Server, config: Arc<ClientConfig>, name: &'static str) -> TlsClient {
    let name = name.try_into().expect("a name");
    let session = ClientConnection::new(config, name).expect("a session");
    let stream = TcpStream::connect(server.addr()).expect("a connection");
    Client::on(StreamOwned::new(session, stream))
}

fn tls_server() -> Server {
    start(Config {
        tls: true,
        ..Config::default()
    })
}

#[test]
fn tls_is_served_under_every_local_name() {
    let server = tls_server();
    let config = trusting(&server, None);
    for name in ["localhost", "127.0.0.1", "::1"] {
        let mut client = tls_client(&server, config.clone(), name);
        assert_eq!(client.get("/?size=3000000").body.len(), 3_000_000);
        assert_eq!(client.get("/?trailers=1").chunks, [60]);
        assert_eq!(client.get("/?close=1").status(), 200);
        assert_eq!(
            client.read_to_end(),
            (vec![], End::Eof),
            "closed with a close_notify"
        );
    }
    let counts = server.stop();
    assert_eq!(
        (counts.connections, counts.answers, counts.tls_failed),
        (3, 9, 0)
    );
}

#[test]
fn tls_sessions_are_resumed() {
    let server = tls_server();
    let config = trusting(&server, None);
    for _ in 0..3 {
        tls_client(&server, config.clone(), "localhost").get("/");
    }
    assert_eq!(server.stop().tls_resumed, 2);
}

#[test]
fn tls_connections_are_reset_and_closed_too() {
    let server = tls_server();
    let config = trusting(&server, None);
    for (fault, end) in [("reset-in-body", End::Reset), ("close-in-body", End::Eof)] {
        let mut client = tls_client(&server, config.clone(), "localhost");
        client.send_get(&format!("/?fault={fault}"));
        let (bytes, seen) = client.read_to_end();
        assert!(
            bytes.ends_with(&[b'x'; 30]) && !bytes.ends_with(&[b'x'; 31]),
            "{fault}"
        );
        assert_eq!(seen, end, "{fault}");
    }
    assert_eq!(server.stop().faults, 2);
}

#[test]
fn a_client_that_speaks_no_tls_is_counted() {
    let server = tls_server();
    let mut client = Client::connect(&server);
    client.send_get("/");
    client.read_to_end();
    let counts = server.stop();
    assert_eq!(
        (counts.connections, counts.tls_failed, counts.requests),
        (1, 1, 0)
    );
}

#[test]
fn client_certificates_are_asked_for_and_checked() {
    let own = rcgen::generate_simple_self_signed(["client".to_owned()]).expect("a certificate");
    let client_ca_pem = Some(own.cert.pem());
    let server = start(Config {
        tls: true,
        client_ca_pem,
        ..Config::default()
    });
    let mut known = tls_client(&server, trusting(&server, Some(&own)), "localhost");
    assert_eq!(known.get("/").status(), 200);
    let mut unknown = tls_client(&server, trusting(&server, None), "localhost");
    use std::io::{Read, Write};
    let asked = unknown
        .stream
        .write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    assert!(
        asked
            .and_then(|()| unknown.stream.read(&mut [0; 100]))
            .is_err()
    );
    let counts = server.stop();
    assert_eq!((counts.answers, counts.tls_failed), (1, 1));
}

#[test]
fn client_authorities_have_to_be_certificates_and_need_tls() {
    let own = rcgen::generate_simple_self_signed(["client".to_owned()]).expect("a certificate");
    for (tls, pem) in [(true, "none".to_owned()), (false, own.cert.pem())] {
        let config = Config {
            listen: free_port(),
            tls,
            client_ca_pem: Some(pem),
            ..Config::default()
        };
        let refused = Server::start(config);
        assert!(
            matches!(refused, Err(StartError::ClientAuthorities(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn a_server_without_tls_has_no_certificate() {
    assert_eq!(plain().certificate_pem(), None);
}

#[test]
fn a_unix_socket_is_served_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let server = start(Config {
        unix_socket: Some(path.clone()),
        ..Config::default()
    });
    let mut client = Client::on(UnixStream::connect(&path).expect("a connection"));
    assert_eq!(client.get("/?size=5").body.len(), 5);
    client.send_get("/?fault=reset-in-body");
    assert!(client.read_to_end().0.ends_with(&[b'x'; 30]));
    assert_eq!(
        Client::connect(&server).get("/").status(),
        200,
        "TCP is served besides"
    );
    assert_eq!(server.stop().connections, 2);
    assert!(!path.exists());
}

#[test]
fn a_deserted_unix_socket_is_taken_over_and_a_living_one_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    drop(UnixListener::bind(&path).expect("a socket"));
    let config = Config {
        listen: free_port(),
        unix_socket: Some(path.clone()),
        ..Config::default()
    };
    let server = Server::start(config.clone()).expect("a server");
    let second = Server::start(config);
    assert!(
        matches!(second, Err(StartError::UnixSocket { .. })),
        "{second:?}"
    );
    assert_eq!(
        Client::on(UnixStream::connect(&path).expect("a connection"))
            .get("/")
            .status(),
        200
    );
    drop(server);
}

#[test]
fn what_is_no_socket_is_never_taken_for_a_deserted_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("notes"), "precious").expect("a file");
    drop(UnixListener::bind(at("socket")).expect("a socket"));
    symlink(at("socket"), at("link")).expect("a link");
    for name in ["notes", "link"] {
        let refused = Server::start(Config {
            listen: free_port(),
            unix_socket: Some(at(name)),
            ..Config::default()
        });
        assert!(
            matches!(refused, Err(StartError::UnixSocket { .. })),
            "{refused:?}"
        );
        assert!(at(name).symlink_metadata().is_ok(), "{name} is gone");
    }
    assert_eq!(fs::read(at("notes")).expect("the file"), b"precious");
}

#[test]
fn a_file_that_took_the_place_of_the_socket_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let server = start(Config {
        unix_socket: Some(path.clone()),
        ..Config::default()
    });
    fs::remove_file(&path).expect("a socket");
    fs::write(&path, "precious").expect("a file");
    server.stop();
    assert_eq!(fs::read(&path).expect("the file"), b"precious");
}

#[test]
fn ipv6_is_served() {
    let listen = SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], 0));
    match Server::start(Config {
        listen,
        ..Config::default()
    }) {
        Ok(server) => assert_eq!(Client::connect(&server).get("/").status(), 200),
        // A machine without IPv6 can't be tested for it.
        Err(error) => assert!(matches!(error, StartError::Listen { .. }), "{error}"),
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let server = plain();
    let second = Server::start(Config {
        listen: server.addr(),
        ..Config::default()
    });
    let error = second.expect_err("a port that is taken").to_string();
    assert!(
        error.starts_with(&format!("The server can't listen on {}: ", server.addr())),
        "{error}"
    );
}

/// Returns the names of this process's threads.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this process's threads");
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).ok();
    tasks.filter_map(|task| name(task.ok()?)).collect()
}

#[test]
fn connections_are_dealt_out_to_threads_and_stopping_leaves_none() {
    // Other tests have servers with a thread or two: the ninth thread belongs to this one.
    let server = start(Config {
        threads: 9,
        ..Config::default()
    });
    let mut clients: Vec<_> = (0..18).map(|_| Client::connect(&server)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").status(), 200);
    }
    assert!(
        threads().contains(&"testbed-8\n".to_owned()),
        "{:?}",
        threads()
    );
    let counts = server.stop();
    assert_eq!((counts.connections, counts.answers), (18, 18));
    assert!(
        !threads().contains(&"testbed-8\n".to_owned()),
        "{:?}",
        threads()
    );
    for client in &mut clients {
        assert_ne!(client.read_to_end().1, End::Silence);
    }
}

#[test]
fn a_dropped_server_stops_too() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.get("/");
    drop(server);
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
}
