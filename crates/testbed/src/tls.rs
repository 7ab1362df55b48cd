//! TLS with a certificate that the server creates itself at every start.

use crate::error::StartError;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// Every name by which a client on the same machine may address the server.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The server's side of TLS.
#[derive(Clone)]
pub(crate) struct OwnTls {
    pub(crate) acceptor: TlsAcceptor,
    /// The certificate, for clients that are to trust it.
    pub(crate) certificate_pem: String,
}

impl OwnTls {
    /// Creates a certificate; requests the client's own if `client_ca_pem` is given.
    pub(crate) fn new(client_ca_pem: Option<&str>) -> Result<Self, StartError> {
        let certificate = |error: rcgen::Error| StartError::Certificate(error.to_string());
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(NAMES.map(str::to_owned)).map_err(certificate)?;
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = server_config(cert.der().clone(), key.into(), client_ca_pem)?;
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            certificate_pem: cert.pem(),
        })
    }
}

fn server_config(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    client_ca_pem: Option<&str>,
) -> Result<ServerConfig, StartError> {
    let unusable = |error: tokio_rustls::rustls::Error| StartError::Certificate(error.to_string());
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match client_ca_pem {
        Some(pem) => builder.with_client_cert_verifier(client_verifier(pem)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder
        .with_single_cert(vec![certificate], key)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn client_verifier(pem: &str) -> Result<Arc<dyn ClientCertVerifier>, StartError> {
    let roots = client_roots(pem).map_err(StartError::ClientAuthorities)?;
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()))
        .build()
        .map_err(|error| StartError::ClientAuthorities(error.to_string()))
}

fn client_roots(pem: &str) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    Ok(roots)
}
