//! TLS: a server with a certificate of its own.

use crate::patient::Patient;
use std::fmt;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;

/// A certificate with its key, for a server that speaks TLS.
#[derive(Clone)]
pub struct Certificate(Arc<ServerConfig>);

/// Why a certificate can't be used. The texts follow the name of a file.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Its text has no certificate.
    #[error("it holds no certificate in PEM")]
    NoCertificate,
    /// The text of its key has none.
    #[error("it holds no private key in PEM without a password")]
    NoKey,
    /// The key is that of another certificate, or of a kind that is not known.
    #[error("it does not fit the key: {0}")]
    Unfit(#[from] rustls::Error),
}

impl Certificate {
    /// Reads a certificate, with those that lead to its authority, and its key, both as PEM.
    ///
    /// # Errors
    /// If one of them can't be read, or they do not belong together.
    pub fn read(chain: &[u8], key: &[u8]) -> Result<Certificate, CertificateError> {
        let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|_| CertificateError::NoCertificate)?;
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| CertificateError::NoKey)?;
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Certificate(Arc::new(config)))
    }

    /// Begins TLS on a connection; `None` if its client speaks none, or refuses the certificate.
    pub(crate) async fn secure(&self, stream: Patient) -> Option<TlsStream<Patient>> {
        let acceptor = TlsAcceptor::from(Arc::clone(&self.0));
        acceptor.accept(stream).await.ok()
    }
}

impl PartialEq for Certificate {
    /// True if both were read at once.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Certificate {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertifiedKey, generate_simple_self_signed};

    fn made() -> (String, String) {
        let names = vec!["localhost".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        (cert.pem(), signing_key.serialize_pem())
    }

    fn problem(chain: &str, key: &str) -> String {
        let read = Certificate::read(chain.as_bytes(), key.as_bytes());
        read.unwrap_err().to_string()
    }

    #[test]
    fn a_certificate_is_read_with_its_key() {
        let (chain, key) = made();
        let read = Certificate::read(chain.as_bytes(), key.as_bytes()).unwrap();
        assert_eq!(format!("{read:?}"), "Certificate");
    }

    #[test]
    fn what_is_missing_or_of_another_certificate_is_named() {
        let (chain, key) = made();
        let (_, other) = made();
        assert!(problem("", &key).contains("no certificate"));
        assert!(problem(&key, &key).contains("no certificate"));
        assert!(problem(&chain, "").contains("no private key"));
        assert!(problem(&chain, &chain).contains("no private key"));
        assert!(problem(&chain, &other).contains("does not fit the key"));
    }
}
