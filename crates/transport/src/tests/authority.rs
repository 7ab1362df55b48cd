//! An authority that signs certificates for the tests' servers and clients.

use loadline_plan::Tls;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
    PKCS_ECDSA_P256_SHA256,
};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) static BOTH: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// An authority, with a folder for the files that a plan names.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

/// A certificate and its key.
pub(crate) struct Issued {
    pub(crate) certificate: Certificate,
    pub(crate) key: KeyPair,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Authority::named("the tests' authority")
    }

    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, new_key()).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        Authority { issuer, folder }
    }

    pub(crate) fn issue(&self, names: &[&str]) -> Issued {
        self.issue_with(names, |_| ())
    }

    pub(crate) fn issue_with(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        change(&mut params);
        let key = new_key();
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Issued { certificate, key }
    }

    pub(crate) fn issue_self_signed(&self, names: &[&str]) -> Issued {
        self.issue_self_signed_with(names, |_| ())
    }

    pub(crate) fn issue_self_signed_with(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let key = new_key();
        let mut params = CertificateParams::new(names).expect("names");
        change(&mut params);
        let certificate = params.self_signed(&key).expect("a certificate");
        Issued { certificate, key }
    }

    /// Writes a file in the authority's folder.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    }

    /// Returns TLS settings that trust this authority.
    pub(crate) fn trusted(&self) -> Tls {
        Tls {
            cacert: Some(self.file("authority.pem", self.issuer.pem())),
            ..Tls::default()
        }
    }

    /// Returns the settings of a server with this certificate, valid or not.
    pub(crate) fn server(
        &self,
        issued: &Issued,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerConfig {
        let provider = Arc::new(default_provider());
        let key = provider.key_provider.load_private_key(issued.private_key());
        let key = CertifiedKey::new(issued.chain(), key.expect("a key"));
        ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("supported versions")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
    }

    /// Returns the settings of a server with this certificate that requires one of this authority
    /// from its clients.
    pub(crate) fn suspicious_server(
        &self,
        issued: &Issued,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerConfig {
        let provider = Arc::new(default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("a root");
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .expect("a verifier");
        ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("supported versions")
            .with_client_cert_verifier(verifier)
            .with_single_cert(issued.chain(), issued.private_key())
            .expect("a fitting key")
    }
}

impl Issued {
    pub(crate) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.certificate.der().clone()]
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.serialize_pem().as_bytes()).expect("a key")
    }
}

fn new_key() -> KeyPair {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key")
}
