//! Verification of server certificates.

use crate::failure::is_authority_as_server;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::Arc;
use x509_parser::parse_x509_certificate;

/// Creates a verifier that accepts certificates signed by these authorities.
///
/// # Panics
/// If there are no authorities.
pub(super) fn roots(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Arc<WebPkiServerVerifier> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .expect("there is an authority, and no list of what was revoked")
}

/// Accepts certificates signed by the named authorities, and a named certificate itself.
///
/// `openssl req -x509` marks its certificates as an authority's, which WebPKI never accepts for a
/// server. A certificate that was named byte for byte needs no signature by another authority. Its
/// validity period, which WebPKI checks before its usage, and its name still have to be right. A
/// certificate that is restricted to other purposes than servers is refused like any other (RFC
/// 5280, section 4.2.1.12).
#[derive(Debug)]
pub(super) struct TrustNamed {
    roots: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl TrustNamed {
    pub(super) fn new(
        roots: Arc<WebPkiServerVerifier>,
        named: Vec<CertificateDer<'static>>,
    ) -> Self {
        TrustNamed { roots, named }
    }
}

impl ServerCertVerifier for TrustNamed {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.roots.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            Err(error) if is_authority_as_server(&error) && self.named.contains(end_entity) => {
                if !may_serve(end_entity) {
                    let purpose = CertificateError::InvalidPurpose;
                    return Err(rustls::Error::InvalidCertificate(purpose));
                }
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.roots.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.roots.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.roots.supported_verify_schemes()
    }
}

/// True if a certificate is allowed for servers, or has no restriction of its purpose.
fn may_serve(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, parsed)) = parse_x509_certificate(certificate) else {
        return false;
    };
    let usage = parsed.extended_key_usage();
    usage.is_ok_and(|usage| usage.is_none_or(|usage| usage.value.server_auth || usage.value.any))
}

/// Refuses every certificate, because there is no authority to verify it by.
#[derive(Debug)]
pub(super) struct TrustNobody {
    schemes: Vec<SignatureScheme>,
    reason: String,
}

impl TrustNobody {
    pub(super) fn new(provider: &CryptoProvider, reason: String) -> Self {
        let schemes = provider
            .signature_verification_algorithms
            .supported_schemes();
        TrustNobody { schemes, reason }
    }

    fn refuse<T>(&self) -> Result<T, rustls::Error> {
        Err(rustls::Error::General(self.reason.clone()))
    }
}

impl ServerCertVerifier for TrustNobody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.refuse()
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.refuse()
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.refuse()
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// Accepts any certificate, as `--insecure` requires, even one that can't be parsed. The
/// handshake's signatures therefore prove nothing and are not checked: anyone may have made them.
#[derive(Debug)]
pub(super) struct TrustAnyone(Vec<SignatureScheme>);

impl TrustAnyone {
    pub(super) fn new(provider: &CryptoProvider) -> Self {
        let algorithms = &provider.signature_verification_algorithms;
        TrustAnyone(algorithms.supported_schemes())
    }
}

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
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.clone()
    }
}
