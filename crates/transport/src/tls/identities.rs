//! Several certificates of a client, of which each server receives the one that it accepts.

use super::{TlsSetupError, certified, pem_reason};
use crate::failure::TlsFailure;
use loadline_plan::Identity;
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use x509_parser::parse_x509_certificate;

/// The certificates of a client, in the plan's order.
#[derive(Debug)]
pub(super) struct Identities(Vec<Arc<CertifiedKey>>);

impl Identities {
    /// Reads the texts of a plan.
    pub(super) fn read(
        provider: &CryptoProvider,
        texts: &[Identity],
    ) -> Result<Self, TlsSetupError> {
        let read = |(index, identity): (usize, &Identity)| {
            let number = index + 1;
            let refused = |reason| TlsSetupError::IdentityText { number, reason };
            read(provider, identity).map(Arc::new).map_err(refused)
        };
        let all = texts.iter().enumerate().map(read);
        all.collect::<Result<_, _>>().map(Identities)
    }
}

impl ResolvesClientCert for Identities {
    fn resolve(
        &self,
        root_hint_subjects: &[&[u8]],
        sigschemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let mut all = self.0.iter();
        let fitting = all.find(|one| {
            one.key.choose_scheme(sigschemes).is_some() && is_of(one, root_hint_subjects)
        });
        fitting.map(Arc::clone)
    }

    fn has_certs(&self) -> bool {
        !self.0.is_empty()
    }
}

/// True if one of these authorities has signed a certificate of the identity's chain. A server that
/// names no authorities accepts any.
fn is_of(identity: &CertifiedKey, authorities: &[&[u8]]) -> bool {
    let is_signed = |certificate: &CertificateDer<'_>| {
        let parsed = parse_x509_certificate(certificate);
        parsed.is_ok_and(|(_, parsed)| authorities.contains(&parsed.issuer().as_raw()))
    };
    authorities.is_empty() || identity.cert.iter().any(is_signed)
}

fn read(provider: &CryptoProvider, identity: &Identity) -> Result<CertifiedKey, String> {
    let chain = certificates(&identity.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())
        .map_err(|error| pem_reason(error, "its key is no unencrypted PEM key"))?;
    certified(provider, chain, key).map_err(|error| TlsFailure(error).to_string())
}

fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let missing = "its text holds no PEM certificate";
    let found = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| pem_reason(error, missing))?;
    match found.is_empty() {
        true => Err(missing.to_owned()),
        false => Ok(found),
    }
}
