//! The address of a bus, and its user.

use crate::error::BusError;
use crate::nkey::Creds;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use url::{Host, Url};

/// The port of a bus whose URL has none.
const PORT: u16 = 4222;

/// A bus, and the user as whom it is used.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BusAddress {
    /// Its URL: `nats://[user:password@]host[:port]`, or `nats://token@host`; `tls://` requires
    /// TLS, which is used without that too if the bus requires it.
    pub url: String,
    /// Its user, if the URL has none.
    pub user: Option<String>,
    /// The file with that user's password in its first line.
    pub password_file: Option<PathBuf>,
    /// The file with its user's credentials instead: an NKey, and the token for it if there is one.
    pub creds: Option<PathBuf>,
    /// A file of authorities that are trusted, instead of the system's (PEM).
    pub ca: Option<PathBuf>,
    /// True if a bus of another machine is accepted without credentials.
    pub is_open: bool,
}

/// The credentials of a user.
#[derive(Clone)]
pub(crate) enum Credentials {
    /// None.
    Nobody,
    /// A user and a password.
    User(String, String),
    /// A token.
    Token(String),
    /// A key.
    Key(Creds),
}

/// The server of a bus, and the credentials there.
pub(crate) struct BusServer {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) credentials: Credentials,
    pub(crate) requires_tls: bool,
}

impl BusServer {
    /// Returns the host and the port, for messages.
    pub(crate) fn name(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl BusAddress {
    /// Returns the place of the bus.
    ///
    /// # Errors
    /// If the URL is invalid, the password can't be read, or a bus of another machine is used
    /// without credentials that nobody has accepted.
    pub(crate) fn place(&self) -> Result<BusServer, BusError> {
        let url = parse(&self.url)?;
        let place = BusServer {
            host: host(&url),
            port: url.port().unwrap_or(PORT),
            credentials: self.credentials(&url)?,
            requires_tls: url.scheme() == "tls",
        };
        let is_nobody = matches!(place.credentials, Credentials::Nobody);
        if is_nobody && !self.is_open && !is_loopback(&place.host) {
            return Err(BusError::Open(place.name()));
        }
        Ok(place)
    }

    fn credentials(&self, url: &Url) -> Result<Credentials, BusError> {
        if let Some(path) = &self.creds {
            return read_creds(path).map(Credentials::Key);
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        Ok(match (&self.user, url.username(), url.password()) {
            (Some(user), _, _) => Credentials::User(user.clone(), self.password()?),
            (None, "", _) => Credentials::Nobody,
            (None, user, Some(password)) => Credentials::User(decoded(user), decoded(password)),
            (None, token, None) => Credentials::Token(decoded(token)),
        })
    }

    fn password(&self) -> Result<String, BusError> {
        let Some(path) = &self.password_file else {
            return Ok(String::new());
        };
        let text = std::fs::read_to_string(path).map_err(|error| BusError::Password {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }
}

fn read_creds(path: &Path) -> Result<Creds, BusError> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    let creds = text.and_then(|text| Creds::parse(&text));
    creds.map_err(|reason| BusError::Creds {
        path: path.to_owned(),
        reason,
    })
}

fn parse(text: &str) -> Result<Url, BusError> {
    let wrong = |reason: &str| BusError::Url {
        url: without_password(text),
        reason: reason.to_owned(),
    };
    let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    match url.scheme() {
        "nats" | "tls" if url.has_host() => Ok(url),
        "nats" | "tls" => Err(wrong("it has no host")),
        _ => Err(wrong("it begins neither with nats:// nor with tls://")),
    }
}

/// Returns a text that may be a URL without its part before the host.
fn without_password(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        (None, Some((_, host))) => format!("…@{host}"),
        _ => text.to_owned(),
    }
}

/// Returns the host, an IPv6 address without its brackets.
fn host(url: &Url) -> String {
    match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => String::new(),
    }
}

fn is_loopback(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> BusAddress {
        BusAddress {
            url: url.to_owned(),
            ..BusAddress::default()
        }
    }

    fn refusal(address: &BusAddress) -> String {
        match address.place() {
            Ok(place) => panic!("{} is accepted", place.name()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_bus_that_anyone_may_use_is_refused_beyond_loopback() {
        for url in [
            "nats://127.0.0.1:4222",
            "nats://[::1]",
            "nats://localhost",
            "nats://user:secret@10.0.0.1",
            "nats://token@bus.example",
        ] {
            assert!(address(url).place().is_ok(), "{url}");
        }
        for url in ["nats://10.0.0.1", "nats://bus.example", "nats://[fd00::1]"] {
            let mut open = address(url);
            let refusal = refusal(&open);
            assert!(refusal.contains("--insecure-bus"), "{refusal}");
            open.is_open = true;
            assert!(open.place().is_ok(), "{url}");
        }
    }

    #[test]
    fn a_url_has_a_user_or_a_token() {
        let credentials = |url: &str| match address(url).place() {
            Ok(place) => place.credentials,
            Err(error) => panic!("{url}: {error}"),
        };
        let Credentials::User(user, password) = credentials("nats://a%20b:c%40d@h") else {
            panic!("no user");
        };
        assert_eq!((user.as_str(), password.as_str()), ("a b", "c@d"));
        let token = credentials("nats://t@h");
        assert!(matches!(token, Credentials::Token(token) if token == "t"));
        assert!(matches!(
            credentials("nats://127.0.0.1"),
            Credentials::Nobody
        ));
        let place = address("nats://t@[fd00::1]").place();
        assert_eq!(
            place.map(|place| place.name()).ok(),
            Some("[fd00::1]:4222".to_owned())
        );
    }

    #[test]
    fn a_password_is_the_first_line_of_its_file() {
        let mut address = address("nats://h");
        address.user = Some("anna".to_owned());
        address.password_file = Some("/no/such/file".into());
        assert!(refusal(&address).contains("--nats-password-file /no/such/file"));
        address.creds = Some("/no/such/key".into());
        assert!(refusal(&address).contains("--nats-creds /no/such/key"));
    }

    #[test]
    fn an_invalid_url_is_refused_without_its_password() {
        for url in [
            "http://user:secret@a",
            "user:secret@a:4222",
            "nats://",
            "a",
            "tls://",
        ] {
            let refusal = refusal(&address(url));
            assert!(refusal.contains("nats://host:4222"), "{refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    }
}
