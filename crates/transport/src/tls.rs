//! TLS settings: trust, client certificates, names.

use loadline_plan::Tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything about TLS that is read before a run.
#[derive(Clone, Debug)]
pub struct TlsSetup {
    config: Arc<ClientConfig>,
}

/// The TLS settings of a plan cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// A file cannot be read, or holds nothing of what it should.
    #[error("cannot use `{}` as {what}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What it was to hold.
        what: &'static str,
        /// Why not.
        reason: String,
    },
    /// A client certificate needs its key, and the other way round.
    #[error("a client certificate needs both --cert and --key: give the one that is missing")]
    HalfIdentity,
    /// Certificate and key do not fit, or are of a kind that is not supported.
    #[error("the client certificate and key cannot be used together: {0}")]
    Identity(rustls::Error),
    /// The system has no trusted authorities.
    #[error(
        "this system has no trusted certificates ({0}): install ca-certificates, or give --cacert or --insecure"
    )]
    NoRoots(String),
}

impl TlsSetup {
    /// Reads what a plan names.
    pub fn read(tls: &Tls) -> Result<Self, TlsSetupError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites for TLS 1.2 and 1.3");
        let builder = if tls.insecure {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(TrustAnyone(
                    provider.signature_verification_algorithms,
                )))
        } else {
            builder.with_root_certificates(roots(tls.cacert.as_deref())?)
        };
        let mut config = match identity(tls)? {
            Some((chain, key)) => builder
                .with_client_auth_cert(chain, key)
                .map_err(TlsSetupError::Identity)?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsSetup {
            config: Arc::new(config),
        })
    }

    /// The settings with a session store of their own, so that workers share no lock.
    pub(crate) fn for_worker(&self) -> Arc<ClientConfig> {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = rustls::client::Resumption::in_memory_sessions(256);
        Arc::new(config)
    }
}

fn roots(cacert: Option<&Path>) -> Result<RootCertStore, TlsSetupError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = cacert else {
        let found = rustls_native_certs::load_native_certs();
        let (usable, _) = roots.add_parsable_certificates(found.certs);
        if usable == 0 {
            let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
            return Err(TlsSetupError::NoRoots(reasons.join("; ")));
        }
        return Ok(roots);
    };
    for certificate in certificates(path, "trusted certificates")? {
        roots
            .add(certificate)
            .map_err(|error| TlsSetupError::File {
                path: path.to_owned(),
                what: "trusted certificates",
                reason: error.to_string(),
            })?;
    }
    Ok(roots)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(tls: &Tls) -> Result<Option<Identity>, TlsSetupError> {
    let (cert, key) = match (&tls.cert, &tls.key) {
        (None, None) => return Ok(None),
        (Some(cert), Some(key)) => (cert, key),
        _ => return Err(TlsSetupError::HalfIdentity),
    };
    let chain = certificates(cert, "the client certificate")?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| TlsSetupError::File {
        path: key.clone(),
        what: "the client's private key",
        reason: error.to_string(),
    })?;
    Ok(Some((chain, key)))
}

fn certificates(
    path: &Path,
    what: &'static str,
) -> Result<Vec<CertificateDer<'static>>, TlsSetupError> {
    let failed = |reason: String| TlsSetupError::File {
        path: path.to_owned(),
        what,
        reason,
    };
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| failed(error.to_string()))?;
    if found.is_empty() {
        return Err(failed("it holds no PEM certificate".to_owned()));
    }
    Ok(found)
}

/// Takes any certificate, as `--insecure` asks for. Signatures of the handshake are still checked.
#[derive(Debug)]
struct TrustAnyone(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

/// The name that the server's certificate must bear.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, String> {
    ServerName::try_from(host.to_owned()).map_err(|error| format!("`{host}`: {error}"))
}
