//! NKeys: the keys of users whom a bus knows without a password. A user has an Ed25519 key, and
//! signs a text of the server with it (<https://github.com/nats-io/nkeys>).
//!
//! As text a key is Base32 (RFC 4648) without padding: its kind, the key, and a sum of both
//! (CRC-16/XMODEM, the low byte first). The kind of a seed has five bits for "seed" and eight for
//! the owner's.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::SigningKey;
use std::sync::Arc;

/// The kinds of keys, as their first bytes have them.
const SEED: u8 = 18 << 3;
const USER: u8 = 20 << 3;

/// The begin of an Ed25519 key in PKCS #8 (RFC 8410, section 7), before its 32 bytes.
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// The letters of Base32.
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The key of a user.
#[derive(Clone)]
pub(crate) struct NKey(Arc<dyn SigningKey>);

/// The contents of a file of credentials: a key, with the token (JWT) that an authority has issued
/// for it if the bus has one.
#[derive(Clone)]
pub(crate) struct Creds {
    pub(crate) key: NKey,
    pub(crate) jwt: Option<String>,
}

impl Creds {
    /// Reads a file of credentials, or the seed of a key.
    ///
    /// # Errors
    /// The reason if it is neither.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let sections = sections(text);
        let of = |kind: &str| {
            let found = sections.iter().find(|(title, _)| title.contains(kind));
            found.map(|(_, contents)| contents.as_str())
        };
        let seed = of("SEED").unwrap_or(text.trim());
        Ok(Creds {
            key: NKey::of_seed(seed)?,
            jwt: of("JWT").map(str::to_owned),
        })
    }
}

/// Returns the sections between lines of hyphens: each with its title and the line in it.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut lines = text.lines().map(str::trim);
    let mut sections = Vec::new();
    while let Some(line) = lines.next() {
        let Some(title) = line.strip_prefix("-----BEGIN ") else {
            continue;
        };
        let contents = lines.find(|line| !line.is_empty()).unwrap_or_default();
        sections.push((title.to_owned(), contents.to_owned()));
    }
    sections
}

impl NKey {
    /// Returns the key of a user's seed.
    fn of_seed(seed: &str) -> Result<Self, String> {
        let wrong = || "it has no valid seed of a user's NKey, such as SU…".to_owned();
        let bytes = checked(&decode(seed).ok_or_else(wrong)?).ok_or_else(wrong)?;
        let (kind, key) = bytes.split_at_checked(2).ok_or_else(wrong)?;
        let is_of_user = kind == [SEED | USER >> 5, USER << 3];
        if !is_of_user || key.len() != 32 {
            return Err(wrong());
        }
        let der = PrivatePkcs8KeyDer::from([&PKCS8, key].concat());
        any_eddsa_type(&der).map(NKey).map_err(|_| wrong())
    }

    /// Returns the public key as text.
    pub(crate) fn public(&self) -> String {
        let info = self.0.public_key();
        let info = info.as_deref().unwrap_or_default();
        // It ends with the key.
        let key = &info[info.len().saturating_sub(32)..];
        let mut bytes = [&[USER], key].concat();
        bytes.extend(sum(&bytes).to_le_bytes());
        encode(&bytes)
    }

    /// Returns the signature of a server's text, in Base64.
    ///
    /// # Errors
    /// If it can't be signed.
    pub(crate) fn sign(&self, text: &str) -> Result<String, String> {
        let signer = self.0.choose_scheme(&[SignatureScheme::ED25519]);
        let signer = signer.ok_or_else(|| "the key can't sign".to_owned())?;
        let signature = signer.sign(text.as_bytes());
        let signature = signature.map_err(|error| error.to_string())?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Returns the bytes before their sum, if that is right.
fn checked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (bytes, end) = bytes.split_last_chunk()?;
    (sum(bytes) == u16::from_le_bytes(*end)).then(|| bytes.to_vec())
}

/// CRC-16/XMODEM.
fn sum(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum: u16, byte| {
        let sum = sum ^ u16::from(*byte) << 8;
        (0..8).fold(sum, |sum, _| match sum & 0x8000 {
            0 => sum << 1,
            _ => sum << 1 ^ 0x1021,
        })
    })
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut count, mut bytes) = (0_u16, 0, Vec::new());
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == letter)?;
        bits = bits << 5 | value as u16;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

fn encode(bytes: &[u8]) -> String {
    let (mut bits, mut count, mut text) = (0_u16, 0, String::new());
    let letter = |bits: u16| char::from(ALPHABET[usize::from(bits & 31)]);
    for byte in bytes {
        bits = bits << 8 | u16::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(letter(bits >> count));
        }
    }
    if count > 0 {
        text.push(letter(bits << (5 - count)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A key of the documentation of NATS: its seed, and the public key.
    const KEY: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const PUBLIC: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

    #[test]
    fn a_seed_has_its_public_key() {
        let creds = Creds::parse(&format!("{KEY}\n")).expect("a key");
        assert_eq!(creds.key.public(), PUBLIC);
        assert_eq!(creds.jwt, None);
        assert_eq!(creds.key.sign("nonce").expect("a signature").len(), 86);
    }

    #[test]
    fn a_file_of_credentials_has_a_token_and_a_seed() {
        let text = format!(
            "-----BEGIN NATS USER JWT-----\neyJ0.eyJq.sig\n------END NATS USER JWT------\n\n\
             ************************* IMPORTANT *************************\n\n\
             -----BEGIN USER NKEY SEED-----\n{KEY}\n------END USER NKEY SEED------\n"
        );
        let creds = Creds::parse(&text).expect("credentials");
        assert_eq!(creds.jwt.as_deref(), Some("eyJ0.eyJq.sig"));
        assert_eq!(creds.key.public(), PUBLIC);
    }

    #[test]
    fn invalid_seeds_are_refused() {
        let other = KEY.replace("SSL3", "SSM3");
        for text in [
            "",
            "SU",
            PUBLIC,
            &KEY[1..],
            &other,
            "ÄÖ",
            &KEY.to_lowercase(),
        ] {
            assert!(Creds::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_sum_is_that_of_its_definition() {
        assert_eq!(sum(b"123456789"), 0x31c3);
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
