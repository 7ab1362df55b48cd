//! TLS settings that cannot be used, and what is said about them.

use super::authority::Authority;
use crate::{TlsSetup, TlsSetupError};
use loadline_plan::{Identity, Tls};
use std::path::{Path, PathBuf};

/// The error's text, with the file's name instead of its path.
fn refusal(tls: &Tls) -> String {
    let error = TlsSetup::read(tls).expect_err("settings that cannot be used");
    let text = error.to_string();
    match &error {
        TlsSetupError::File { path, .. } => {
            let name = path.file_name().map(Path::new).expect("a file");
            text.replace(&path.display().to_string(), &name.display().to_string())
        }
        _ => text,
    }
}

#[test]
fn a_file_without_an_end_holds_no_certificate() {
    let refused = refusal(&cacert(PathBuf::from("/dev/zero")));
    assert!(refused.ends_with("it is longer than 16 MB"), "{refused}");
}

fn cacert(path: PathBuf) -> Tls {
    Tls {
        cacert: Some(path),
        ..Tls::default()
    }
}

#[test]
fn authorities_that_cannot_be_read() {
    let authority = Authority::new();
    let pem =
        |body: &str| format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
    let refusals = [
        PathBuf::from("/nowhere/missing.pem"),
        authority.file("garbage.pem", b"\0\x01\xffgarbage"),
        authority.file("empty.pem", b""),
        authority.file("key.pem", authority.issue(&[]).key.serialize_pem()),
        authority.file("unfinished.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n"),
        authority.file("no-base64.pem", pem("????")),
        authority.file("no-certificate.pem", pem("AAAA")),
    ]
    .map(|path| refusal(&cacert(path)));
    insta::assert_snapshot!(refusals.join("\n"), @r"
    cannot use `missing.pem` as trusted certificates: No such file or directory (os error 2)
    cannot use `garbage.pem` as trusted certificates: it holds no PEM certificate
    cannot use `empty.pem` as trusted certificates: it holds no PEM certificate
    cannot use `key.pem` as trusted certificates: it holds no PEM certificate
    cannot use `unfinished.pem` as trusted certificates: it is damaged PEM
    cannot use `no-base64.pem` as trusted certificates: it is damaged PEM
    cannot use `no-certificate.pem` as trusted certificates: a certificate in it is damaged
    ");
}

#[test]
fn identities_that_cannot_be_read() {
    let authority = Authority::new();
    let (mine, other) = (authority.issue(&["me"]), authority.issue(&["other"]));
    let cert = authority.file("cert.pem", mine.certificate.pem());
    let key = authority.file("key.pem", mine.key.serialize_pem());
    let other_key = authority.file("other.pem", other.key.serialize_pem());
    let garbage = authority.file("garbage.pem", b"garbage");
    let locked = authority.file(
        "locked.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let damaged = authority.file(
        "damaged.pem",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    );
    let missing = PathBuf::from("/nowhere/missing.pem");
    let refusals = [
        (None, Some(&key)),
        (Some(&cert), None),
        (Some(&key), None),
        (Some(&garbage), Some(&key)),
        (Some(&cert), Some(&garbage)),
        (Some(&cert), Some(&locked)),
        (Some(&cert), Some(&damaged)),
        (Some(&cert), Some(&missing)),
        (Some(&cert), Some(&other_key)),
    ]
    .map(|(cert, key)| {
        refusal(&Tls {
            cert: cert.cloned(),
            key: key.cloned(),
            ..authority.trusted()
        })
    });
    insta::assert_snapshot!(refusals.join("\n"), @r"
    --key belongs to a client certificate: give that with --cert
    cannot use `cert.pem` as the client's private key: it holds no unencrypted PEM key; give one with --key
    cannot use `key.pem` as the client certificate: it holds no PEM certificate
    cannot use `garbage.pem` as the client certificate: it holds no PEM certificate
    cannot use `garbage.pem` as the client's private key: it holds no unencrypted PEM key
    cannot use `locked.pem` as the client's private key: it holds no unencrypted PEM key
    the client certificate and key cannot be used together: failed to parse private key as RSA, ECDSA, or EdDSA
    cannot use `missing.pem` as the client's private key: No such file or directory (os error 2)
    the client certificate and key cannot be used together: the key belongs to another certificate
    ");
}

#[test]
fn a_system_without_authorities_is_told_what_to_do() {
    let error = TlsSetupError::NoRoots("no certificate files found".to_owned());
    insta::assert_snapshot!(error, @"this system has no trusted certificates (no certificate \
                                     files found): install ca-certificates, or give --cacert or \
                                     --insecure");
    let error = TlsSetupError::NoRoots(String::new());
    insta::assert_snapshot!(error, @"this system has no trusted certificates: install \
                                     ca-certificates, or give --cacert or --insecure");
}

#[test]
fn client_certificates_of_texts_that_cannot_be_used() {
    let authority = Authority::new();
    let (one, other) = (authority.issue(&["me"]), authority.issue(&["me"]));
    let texts = |certificate: String, key: String| {
        let good = Identity {
            certificate: one.certificate.pem(),
            key: one.key.serialize_pem(),
        };
        let tls = Tls {
            identities: vec![good, Identity { certificate, key }],
            insecure: true,
            ..Tls::default()
        };
        refusal(&tls)
    };
    let (certificate, key) = (one.certificate.pem(), other.key.serialize_pem());
    for (refused, reason) in [
        (
            texts(String::new(), key.clone()),
            "its text holds no PEM certificate",
        ),
        (
            texts(certificate.clone(), String::new()),
            "its key is no unencrypted PEM key",
        ),
        (
            texts(certificate, key),
            "the key belongs to another certificate",
        ),
    ] {
        let expected = format!("client certificate 2 cannot be used: {reason}");
        assert_eq!(refused, expected);
    }
}
