//! A key in each format, all of them made by OpenSSL with the password `secret`.

use super::*;

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----
MIIBdjCCAR2gAwIBAgIUa45qj4EuQ50mJFAAwqEW8WmlUGMwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGY2xpZW50MB4XDTI2MTEyNTAwMzkyOVoXDTI2MTIyNTAwMzky
OVowETEPMA0GA1UEAwwGY2xpZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
jgVJK7JhvPDzkswkNTVm3NsrL7t0a2H8A/wZvhVx4aKq052ZBZEK74m8uYSuUt4H
quUbodbieFqLBWNBCDU/M6NTMFEwHQYDVR0OBBYEFBdr6jna62pk2XamuvdVld3p
T8TiMB8GA1UdIwQYMBaAFBdr6jna62pk2XamuvdVld3pT8TiMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgU+1TRPPfhRo4QJgbAEiRLsU38vMp3kWk
h+f4rZH/oS4CIFtf430cwDmi2aS4ZvcSJm2wCsTaoXA1Wlu3cLrbqEVY
-----END CERTIFICATE-----
";

const PLAIN: &str = "-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIEZhBeyumg7DWojz1c8VugjQPAMDVE5urVGc4N3kI4KAoAoGCCqGSM49
AwEHoUQDQgAEjgVJK7JhvPDzkswkNTVm3NsrL7t0a2H8A/wZvhVx4aKq052ZBZEK
74m8uYSuUt4HquUbodbieFqLBWNBCDU/Mw==
-----END EC PRIVATE KEY-----
";

const OLD_AES: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,58D4D50B8497F7B1FC13D146445BD7B4

UGJsuihjfwxpleX3cqln60L2CZ86Ry5FOAjBhxyNCP0hcLvKaQ7MxbI2zr6AXxon
38B5AbroEOGtRy2Ih079A68T3Qd3yWURN82sRlyu9ILByg8gsOh9ehWF0taFzw5m
NcXY0MtIrRa9i3tX9zwQZzT/qWF9ktZ38oYkXW4yKxk=
-----END EC PRIVATE KEY-----
";

const OLD_TRIPLE_DES: &str = "-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: DES-EDE3-CBC,92F1D4CD74D014CA

65181hPPYgYLHHwBWy3mUm0/hQ9XJfnNRjLFDZNV/WH2OmzOTkBauQeCcDhJ/bol
zB1vlGs6odynWb7DiXc5zUMRgA4HBPh0N+CIM66cVbHEEftIFJ4b63O8jsit1sBk
jPpaG4lBCT8G6YNb0k1bfdN2KrD4LN61KfoakL3M8Zo=
-----END EC PRIVATE KEY-----
";

const PKCS8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi5fWoQshOF8QICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEC1dYpTmWaHMGIrwmx+3JzoEgZAw
xOMHMWFJTSvDAmxBYK6MabIYbisztPXBLQHgXfgZtL4N4XqLhLer73UPrzFjJhR1
4YTg8nia1FFnk4RF82o44vshHDt9Rro5Pk5ceW9LBFbOJOko9qYWLd1TY5aeas7i
ePozdwsTJJ/LJPN6Oy00VpTcaQ6ylYgRcDnM8DBbG5Rom6fBfuI4TN4BZGZ3BsA=
-----END ENCRYPTED PRIVATE KEY-----
";

const PLAIN_PKCS8: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRmEF7K6aDsNaiPPV
zxW6CNA8AwNUTm6tUZzg3eQjgoChRANCAASOBUkrsmG88POSzCQ1NWbc2ysvu3Rr
YfwD/Bm+FXHhoqrTnZkFkQrviby5hK5S3geq5Ruh1uJ4WosFY0EINT8z
-----END PRIVATE KEY-----
";

fn plain(key: &str, password: Option<&str>) -> Result<String, String> {
    plain_key(&TlsAuth {
        cert: CERTIFICATE.to_owned(),
        key: key.to_owned(),
        password: password.map(str::to_owned),
        domains: Vec::new(),
    })
}

/// Returns the bytes of the key in a text.
fn der(key: &str) -> Vec<u8> {
    pem::parse(key).unwrap().into_contents()
}

#[test]
fn the_password_of_a_key_gives_the_key() {
    for (encrypted, expected) in [
        (OLD_AES, PLAIN),
        (OLD_TRIPLE_DES, PLAIN),
        (PKCS8, PLAIN_PKCS8),
    ] {
        let found = plain(encrypted, Some("secret")).unwrap();
        assert_eq!(der(&found), der(expected));
    }
    assert_eq!(plain(PLAIN, Some("unneeded")), Ok(PLAIN.to_owned()));
}

#[test]
fn another_password_is_told() {
    for encrypted in [OLD_AES, OLD_TRIPLE_DES, PKCS8] {
        for password in [Some("wrong"), None] {
            assert_eq!(plain(encrypted, password), Err(WRONG_PASSWORD.to_owned()));
        }
    }
}

#[test]
fn what_is_no_key_is_told() {
    let no_key = plain("x", None).unwrap_err();
    assert_eq!(no_key, "tls: failed to find any PEM data in key input");
    let unknown = OLD_AES.replace("AES-256-CBC", "RC2-CBC");
    let unknown = plain(&unknown, Some("secret")).unwrap_err();
    assert!(
        unknown.contains("RC2-CBC, which is not supported"),
        "{unknown}"
    );
}
