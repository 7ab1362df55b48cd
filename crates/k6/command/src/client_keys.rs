//! Private keys of client certificates that are encrypted with a password.
//!
//! There are two formats: PKCS#8, whose block describes the encryption, and OpenSSL's older format
//! (RFC 1421 with a key made by `EVP_BytesToKey`), which is the one that k6 reads.

use super::Refused;
use super::refused::INVALID_CONFIG;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockDecryptMut, KeyIvInit};
use loadline_k6_options::TlsAuth;
use md5::{Digest, Md5};
use pem::Pem;
use pkcs8::EncryptedPrivateKeyInfo;

const WRONG_PASSWORD: &str = "x509: decryption password incorrect";

/// Returns these certificates with decrypted keys.
///
/// # Errors
/// If a password is wrong, or there is no certificate or key at all.
pub(super) fn decrypted(all: &[TlsAuth]) -> Result<Vec<TlsAuth>, Refused> {
    let plain = |auth: &TlsAuth| {
        let key = plain_key(auth)?;
        Ok(TlsAuth {
            key,
            password: None,
            ..auth.clone()
        })
    };
    let plain = all.iter().map(plain).collect::<Result<_, String>>();
    plain.map_err(|problem| Refused::new(INVALID_CONFIG, problem))
}

fn plain_key(auth: &TlsAuth) -> Result<String, String> {
    let no_pem = |what: &str| format!("tls: failed to find any PEM data in {what} input");
    pem::parse(&auth.cert).map_err(|_| no_pem("certificate"))?;
    let blocks = pem::parse_many(&auth.key).map_err(|_| no_pem("key"))?;
    let mut keys = blocks.iter();
    let block = keys.find(|block| block.tag().ends_with("PRIVATE KEY"));
    let block = block.ok_or_else(|| no_pem("key"))?;
    let way = block.headers().get("DEK-Info");
    let is_encrypted = way.is_some() || block.tag() == "ENCRYPTED PRIVATE KEY";
    if !is_encrypted {
        return Ok(auth.key.clone());
    }
    let password = auth.password.as_deref().unwrap_or_default().as_bytes();
    let plain = match way {
        Some(way) => Pem::new(block.tag(), of_openssl(way, block.contents(), password)?),
        None => Pem::new("PRIVATE KEY", of_pkcs8(block.contents(), password)?),
    };
    Ok(pem::encode(&plain))
}

fn of_pkcs8(der: &[u8], password: &[u8]) -> Result<Vec<u8>, String> {
    let info = EncryptedPrivateKeyInfo::try_from(der)
        .map_err(|problem| format!("x509: the encrypted key can't be read: {problem}"))?;
    let plain = info.decrypt(password);
    let plain = plain.map_err(|_| WRONG_PASSWORD.to_owned())?;
    Ok(plain.as_bytes().to_vec())
}

/// Decrypts a key as described by `DEK-Info`: a cipher and its initialisation vector in hexadecimal
/// digits.
fn of_openssl(way: &str, bytes: &[u8], password: &[u8]) -> Result<Vec<u8>, String> {
    let (cipher, first) = way.split_once(',').unwrap_or((way, ""));
    let first = from_hex(first.trim()).filter(|first| first.len() >= 8);
    let first = first.ok_or("x509: malformed DEK-Info header")?;
    let decrypt = match cipher.trim() {
        "AES-128-CBC" => cbc::<aes::Aes128>,
        "AES-192-CBC" => cbc::<aes::Aes192>,
        "AES-256-CBC" => cbc::<aes::Aes256>,
        "DES-EDE3-CBC" => cbc::<des::TdesEde3>,
        "DES-CBC" => cbc::<des::Des>,
        other => {
            return Err(format!(
                "x509: the key is encrypted with {other}, which is not supported; encrypt it with \
                 AES-256-CBC"
            ));
        }
    };
    let plain = decrypt(password, &first, bytes);
    // A wrong password mostly gives invalid padding, and hardly ever the beginning of a sequence.
    let plain = plain.filter(|plain| plain.first() == Some(&0x30));
    plain.ok_or_else(|| WRONG_PASSWORD.to_owned())
}

fn cbc<C>(password: &[u8], first: &[u8], bytes: &[u8]) -> Option<Vec<u8>>
where
    C: cbc::cipher::BlockDecryptMut + cbc::cipher::BlockCipher + cbc::cipher::KeyInit,
{
    let key = key(password, &first[..8], C::key_size());
    let decryptor = cbc::Decryptor::<C>::new_from_slices(&key, first).ok()?;
    decryptor.decrypt_padded_vec_mut::<Pkcs7>(bytes).ok()
}

/// Derives the key from a password as OpenSSL does: digests of digests, until they are long enough.
fn key(password: &[u8], salt: &[u8], length: usize) -> Vec<u8> {
    let mut key = Vec::new();
    let mut last = Vec::new();
    while key.len() < length {
        let digest = Md5::new()
            .chain_update(&last)
            .chain_update(password)
            .chain_update(salt);
        last = digest.finalize().to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(length);
    key
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests;
