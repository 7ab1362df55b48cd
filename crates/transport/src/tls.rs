//! TLS settings: trust, client certificates, names.

mod identities;
mod trust;

use crate::failure::TlsFailure;
use identities::Identities;
use loadline_plan::{HttpVersion, ServerName as PlanServerName, Tls, TlsVersion};
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    ClientConfig, InconsistentKeys, RootCertStore, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trust::{TrustAnyone, TrustNamed, TrustNobody};

/// The name of HTTP/2 in ALPN (RFC 9113, section 3.2).
pub(crate) const ALPN_HTTP2: &[u8] = b"h2";

/// The most bytes of a file with certificates or keys.
const MOST_PEM: u64 = 16_000_000;

/// The TLS settings that are read before a run.
#[derive(Clone, Debug)]
pub struct TlsSetup {
    config: Arc<ClientConfig>,
    is_requested: Arc<AtomicBool>,
    /// True if earlier sessions are resumed.
    resumes: bool,
}

/// A reason why the TLS settings of a plan can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsSetupError {
    /// A file can't be read, or does not contain what it should.
    #[error("cannot use `{}` as {what}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// A client's key without its certificate.
    #[error("--key belongs to a client certificate: give that with --cert")]
    HalfIdentity,
    /// Certificate and key do not match, or are of an unsupported kind.
    #[error(
        "the client certificate and key cannot be used together: {}",
        TlsFailure(.0.clone())
    )]
    Identity(rustls::Error),
    /// A certificate or key that was given as text, or the pair of them, can't be used.
    #[error("client certificate {number} cannot be used: {reason}")]
    IdentityText {
        /// The certificate's position in the plan, from 1.
        number: usize,
        /// The reason.
        reason: String,
    },
    /// No allowed cipher suite belongs to an allowed version.
    #[error("no cipher suite is left that may be offered: allow more of them, or another version")]
    NoSuites,
    /// The system has no trusted authorities.
    #[error(
        "this system has no trusted certificates{}: install ca-certificates, or give --cacert or \
         --insecure",
        parenthesised(.0)
    )]
    NoRoots(String),
}

/// Returns a text in parentheses after a space, or nothing for an empty one.
fn parenthesised(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!(" ({text})"),
    }
}

impl TlsSetup {
    /// Reads the TLS settings of a plan, and the files that they name.
    pub fn read(tls: &Tls) -> Result<Self, TlsSetupError> {
        Self::verified_by(tls, |provider| verifier(tls, provider))
    }

    /// Reads the TLS settings of a plan that may turn out to need no TLS. On a system without
    /// trusted certificates, requests over TLS fail instead, each with the reason.
    pub fn read_in_case(tls: &Tls) -> Result<Self, TlsSetupError> {
        Self::verified_by(tls, |provider| match verifier(tls, provider) {
            Err(error @ TlsSetupError::NoRoots(_)) => {
                Ok(Arc::new(TrustNobody::new(provider, error.to_string())))
            }
            read => read,
        })
    }

    /// Reads the TLS settings of a plan; servers' certificates are verified by the given verifier.
    fn verified_by(
        tls: &Tls,
        verifier: impl FnOnce(
            &Arc<CryptoProvider>,
        ) -> Result<Arc<dyn ServerCertVerifier>, TlsSetupError>,
    ) -> Result<Self, TlsSetupError> {
        let provider = Arc::new(provider(&tls.suites));
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions(&tls.versions))
            .map_err(|_| TlsSetupError::NoSuites)?;
        let builder = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier(&provider)?);
        let mut config = match identity(tls)? {
            Some((chain, key)) => builder.with_client_cert_resolver(
                client(&provider, chain, key).map_err(TlsSetupError::Identity)?,
            ),
            None if tls.identities.is_empty() => builder.with_no_client_auth(),
            None => builder
                .with_client_cert_resolver(Arc::new(Identities::read(&provider, &tls.identities)?)),
        };
        config.enable_sni = tls.server_name != PlanServerName::Untold;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let is_requested = Arc::default();
        config.client_auth_cert_resolver = Arc::new(RecordingIdentity {
            identity: config.client_auth_cert_resolver,
            is_requested: Arc::clone(&is_requested),
        });
        Ok(TlsSetup {
            config: Arc::new(config),
            is_requested,
            resumes: !tls.never_resume,
        })
    }

    /// Reads the files that the TLS settings of a plan without TLS name, to find unusable ones.
    ///
    /// # Errors
    /// As for [`read`](Self::read), except for those about the system's trusted certificates.
    pub fn check_files(tls: &Tls) -> Result<(), TlsSetupError> {
        authorities(tls)?;
        if let Some((chain, key)) = identity(tls)? {
            client(&provider(&[]), chain, key).map_err(TlsSetupError::Identity)?;
        }
        Ok(())
    }

    /// Returns the same settings, offering these versions of HTTP by ALPN (RFC 7301).
    pub fn offering(mut self, http: HttpVersion) -> Self {
        let offered: &[&[u8]] = match http {
            HttpVersion::V1_1 => &[b"http/1.1"],
            HttpVersion::V2 => &[ALPN_HTTP2],
            HttpVersion::Auto => &[ALPN_HTTP2, b"http/1.1"],
        };
        let mut config = ClientConfig::clone(&self.config);
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        self.config = Arc::new(config);
        self
    }

    /// Returns the same settings, accepting any certificate.
    pub fn trusting_anyone(&self) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        let verifier = TrustAnyone::new(config.crypto_provider());
        config
            .dangerous()
            .set_certificate_verifier(Arc::new(verifier));
        TlsSetup {
            config: Arc::new(config),
            ..self.clone()
        }
    }

    /// True if a server has requested the client's certificate so far.
    pub(crate) fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    /// Returns the settings with a session store of their own, so that workers share no lock.
    pub fn for_worker(&self) -> Arc<ClientConfig> {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = match self.resumes {
            true => Resumption::in_memory_sessions(256),
            false => Resumption::disabled(),
        };
        Arc::new(config)
    }
}

/// Returns the cryptography for the suites with these names, or for all suites if there are no
/// names.
fn provider(suites: &[String]) -> CryptoProvider {
    let mut provider = ring::default_provider();
    let is_allowed = |suite: &SupportedCipherSuite| {
        let name = format!("{:?}", suite.suite());
        let is_named = |given: &String| *given == name || *given == registered(&name);
        suites.is_empty() || suites.iter().any(is_named)
    };
    provider.cipher_suites.retain(is_allowed);
    provider
}

/// Returns a suite's name in the TLS registry, which differs from the library's for TLS 1.3.
fn registered(name: &str) -> String {
    name.replacen("TLS13_", "TLS_", 1)
}

fn versions(allowed: &[TlsVersion]) -> Vec<&'static SupportedProtocolVersion> {
    if allowed.is_empty() {
        return rustls::ALL_VERSIONS.to_vec();
    }
    let version = |version: &TlsVersion| match version {
        TlsVersion::V1_2 => &rustls::version::TLS12,
        TlsVersion::V1_3 => &rustls::version::TLS13,
    };
    allowed.iter().map(version).collect()
}

fn verifier(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsSetupError> {
    let authorities = authorities(tls)?;
    if tls.insecure {
        return Ok(Arc::new(TrustAnyone::new(provider)));
    }
    let Some((roots, named)) = authorities else {
        let (roots, named) = system_roots()?;
        return Ok(Arc::new(TrustNamed::new(
            trust::roots(roots, provider),
            named,
        )));
    };
    let roots = trust::roots(roots, provider);
    Ok(Arc::new(TrustNamed::new(roots, named)))
}

type Authorities = (RootCertStore, Vec<CertificateDer<'static>>);

/// Returns the authorities in the file that the plan names, if it names one.
fn authorities(tls: &Tls) -> Result<Option<Authorities>, TlsSetupError> {
    let Some(path) = &tls.cacert else {
        return Ok(None);
    };
    let named = certificates(tls, path, TRUSTED)?;
    let mut roots = RootCertStore::empty();
    for certificate in &named {
        // The library's error reads as if the certificate were the server's, so it is replaced.
        roots
            .add(certificate.clone())
            .map_err(|_| unusable(path, TRUSTED, "a certificate in it is damaged"))?;
    }
    Ok(Some((roots, named)))
}

/// The environment variable with a file of trusted certificates that replaces the system's.
const NAMED_BY: &str = "SSL_CERT_FILE";

/// Returns the system's authorities; those in the environment variable's file count as named, like
/// those of `--cacert`.
fn system_roots() -> Result<Authorities, TlsSetupError> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let named = match std::env::var_os(NAMED_BY).is_some_and(|file| !file.is_empty()) {
        true => found.certs.clone(),
        false => Vec::new(),
    };
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsSetupError::NoRoots(reasons.join("; ")));
    }
    Ok((roots, named))
}

const TRUSTED: &str = "trusted certificates";
const CERTIFICATE: &str = "the client certificate";
const KEY: &str = "the client's private key";

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Returns the client's certificate and key. The server has to judge the certificate, so one that
/// the library can't read, such as one of X.509 version 1, is sent as it is; only a key that is
/// known to belong to another certificate is refused.
fn client(
    provider: &CryptoProvider,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<SingleCertAndKey>, rustls::Error> {
    let certified = certified(provider, chain, key)?;
    Ok(Arc::new(SingleCertAndKey::from(certified)))
}

fn certified(
    provider: &CryptoProvider,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<CertifiedKey, rustls::Error> {
    let key = provider.key_provider.load_private_key(key)?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Err(error @ rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(error),
        _ => Ok(certified),
    }
}

/// Reads the client's certificate and key. A certificate's file may contain the key too.
fn identity(tls: &Tls) -> Result<Option<Identity>, TlsSetupError> {
    let (cert, key) = match (&tls.cert, &tls.key) {
        (None, None) => return Ok(None),
        (None, Some(_)) => return Err(TlsSetupError::HalfIdentity),
        (Some(cert), key) => (cert, key.as_ref().unwrap_or(cert)),
    };
    let chain = certificates(tls, cert, CERTIFICATE)?;
    let missing = if cert == key {
        "it holds no unencrypted PEM key; give one with --key"
    } else {
        "it holds no unencrypted PEM key"
    };
    let key = PrivateKeyDer::from_pem_slice(&pem(tls, key, KEY)?)
        .map_err(|error| unusable(key, KEY, pem_reason(error, missing)))?;
    Ok(Some((chain, key)))
}

fn certificates(
    tls: &Tls,
    path: &Path,
    what: &'static str,
) -> Result<Vec<CertificateDer<'static>>, TlsSetupError> {
    let missing = "it holds no PEM certificate";
    let found: Vec<_> = CertificateDer::pem_slice_iter(&pem(tls, path, what)?)
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(path, what, pem_reason(error, missing)))?;
    if found.is_empty() {
        return Err(unusable(path, what, missing));
    }
    Ok(found)
}

/// Returns the contents of a file that a plan came with, or reads it, up to the largest size of a
/// file of certificates and keys.
fn pem(tls: &Tls, path: &Path, what: &'static str) -> Result<Vec<u8>, TlsSetupError> {
    if let Some(contents) = tls.contents_of(path) {
        return Ok(contents.to_vec());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_PEM + 1).read_to_end(&mut bytes))
        .map_err(|error| unusable(path, what, error.to_string()))?;
    if bytes.len() as u64 > MOST_PEM {
        return Err(unusable(path, what, "it is longer than 16 MB"));
    }
    Ok(bytes)
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's errors, and it may add more"
)]
fn pem_reason(error: pem::Error, missing: &str) -> String {
    match error {
        pem::Error::NoItemsFound => missing.to_owned(),
        pem::Error::Io(error) => error.to_string(),
        _ => "it is damaged PEM".to_owned(),
    }
}

fn unusable(path: &Path, what: &'static str, reason: impl Into<String>) -> TlsSetupError {
    TlsSetupError::File {
        path: path.to_owned(),
        what,
        reason: reason.into(),
    }
}

/// The client's certificate, or none; records that a server requested it. In TLS 1.3 such a server
/// reports its verdict only after the client has finished the handshake (RFC 8446, section 2).
#[derive(Debug)]
struct RecordingIdentity {
    identity: Arc<dyn ResolvesClientCert>,
    is_requested: Arc<AtomicBool>,
}

impl ResolvesClientCert for RecordingIdentity {
    fn resolve(
        &self,
        root_hint_subjects: &[&[u8]],
        sigschemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        self.is_requested.store(true, Ordering::Relaxed);
        self.identity.resolve(root_hint_subjects, sigschemes)
    }

    fn has_certs(&self) -> bool {
        self.identity.has_certs()
    }
}

/// Returns the name that the server's certificate must have.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, String> {
    ServerName::try_from(host.to_owned())
        .map_err(|_| format!("`{host}` is not a name that a certificate can have"))
}
