//! Cipher suites, groups and versions of TLS by OpenSSL's names, which ab accepts and prints.
//!
//! Loadline's TLS library names suites as in IANA's registry of TLS; both names consist of the same
//! parts.

/// A supported cipher suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suite {
    /// The name in OpenSSL.
    pub(super) openssl: &'static str,
    /// The name in Loadline's TLS library.
    pub(super) own: &'static str,
    /// The key length in bits.
    pub(super) bits: u32,
}

const fn suite(openssl: &'static str, own: &'static str, bits: u32) -> Suite {
    Suite { openssl, own, bits }
}

/// All supported suites.
const SUITES: [Suite; 9] = [
    suite("TLS_AES_256_GCM_SHA384", "TLS13_AES_256_GCM_SHA384", 256),
    suite(
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS13_CHACHA20_POLY1305_SHA256",
        256,
    ),
    suite("TLS_AES_128_GCM_SHA256", "TLS13_AES_128_GCM_SHA256", 128),
    suite(
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        256,
    ),
    suite(
        "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        256,
    ),
    suite(
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        256,
    ),
    suite(
        "ECDHE-RSA-CHACHA20-POLY1305",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        256,
    ),
    suite(
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        128,
    ),
    suite(
        "ECDHE-RSA-AES128-GCM-SHA256",
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        128,
    ),
];

impl Suite {
    /// True for a suite of TLS 1.3; OpenSSL lists these separately.
    pub(super) fn is_of_tls13(&self) -> bool {
        self.own.starts_with("TLS13_")
    }

    /// True if an element of a cipher list selects this suite: by its name, or by parts joined with
    /// `+` that it has.
    fn is_meant_by(&self, element: &str) -> bool {
        self.openssl == element || element.split('+').all(|part| self.has(part))
    }

    fn has(&self, part: &str) -> bool {
        let holds = |text| self.openssl.contains(text);
        match part {
            "ALL" | "DEFAULT" | "HIGH" => true,
            "ECDHE" | "EECDH" | "kECDHE" | "kEECDH" => holds("ECDHE"),
            "ECDSA" | "aECDSA" => holds("ECDSA"),
            "RSA" | "aRSA" => holds("-RSA-"),
            "AES" | "AESGCM" => holds("GCM"),
            "AES128" => holds("AES128"),
            "AES256" => holds("AES256"),
            "CHACHA20" => holds("CHACHA20"),
            _ => false,
        }
    }
}

/// Returns the suite with this name in Loadline's TLS library.
pub(super) fn suite_of(own: &str) -> Option<Suite> {
    SUITES.into_iter().find(|suite| suite.own == own)
}

/// Returns the library's names of the suites that a list of OpenSSL selects, for TLS 1.3 only or
/// for earlier versions. A list for earlier versions keeps all suites of TLS 1.3. `None` if the
/// list selects no suite.
pub(super) fn suites_in(list: &str, tls13_alone: bool) -> Option<Vec<String>> {
    let elements: Vec<&str> = list.split([':', ',', ' ']).collect();
    let is_meant = |suite: &Suite| {
        suite.is_of_tls13() == tls13_alone
            && elements.iter().any(|element| suite.is_meant_by(element))
    };
    if !SUITES.iter().any(is_meant) {
        return None;
    }
    let is_offered = |suite: &Suite| is_meant(suite) || (!tls13_alone && suite.is_of_tls13());
    let offered = SUITES.into_iter().filter(is_offered);
    Some(offered.map(|suite| suite.own.to_owned()).collect())
}

/// Returns the names that a list may contain, for TLS 1.3 or for earlier versions.
pub(super) fn spoken(tls13: bool) -> String {
    let of_version = SUITES.iter().filter(|suite| suite.is_of_tls13() == tls13);
    let names: Vec<_> = of_version.map(|suite| suite.openssl).collect();
    names.join(":")
}

/// Converts the library's name of a version, `TLSv1_3`, to OpenSSL's, `TLSv1.3`.
pub(super) fn version(own: &str) -> String {
    own.replace('_', ".")
}

/// Returns the name of a key exchange group as ab prints it; `None` for an unknown one.
pub(super) fn group(own: &str) -> Option<&'static str> {
    match own {
        "X25519" => Some("X25519 253 bits"),
        "secp256r1" => Some("ECDH prime256v1 256 bits"),
        "secp384r1" => Some("ECDH secp384r1 384 bits"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str, tls13: bool) -> Vec<&'static str> {
        let own = suites_in(list, tls13).unwrap_or_default();
        own.iter()
            .filter_map(|name| suite_of(name))
            .map(|suite| suite.openssl)
            .collect()
    }

    #[test]
    fn a_list_names_suites_or_what_they_have_in_common() {
        let one = names("ECDHE-RSA-AES128-GCM-SHA256", false);
        assert_eq!(one.len(), 4, "{one:?}");
        assert_eq!(one[3], "ECDHE-RSA-AES128-GCM-SHA256");
        assert_eq!(names("ECDHE+AESGCM:foo", false).len(), 3 + 4);
        assert_eq!(names("ALL", false).len(), 9);
        assert_eq!(
            names("TLS_AES_128_GCM_SHA256", true),
            ["TLS_AES_128_GCM_SHA256"]
        );
    }

    #[test]
    fn a_list_of_nothing_that_is_spoken_is_none() {
        for list in ["foo", "", "!aNULL", "AES128-SHA", "TLS_AES_128_GCM_SHA256"] {
            assert_eq!(suites_in(list, false), None, "{list}");
        }
        assert_eq!(suites_in("ECDHE-RSA-AES128-GCM-SHA256", true), None);
    }
}
