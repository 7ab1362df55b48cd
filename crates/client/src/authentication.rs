//! Basic and digest authentication (RFC 7617, 7616).

use http_auth::{DigestClient, PasswordParams};
use std::collections::HashMap;
use url::{Origin, Position, Url};

/// A reason why a challenge can't be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeProblem {
    /// A challenge that breaks the syntax, with the reason.
    #[error("the server's challenge can't be read: {0}")]
    Malformed(String),
    /// A challenge for a digest that can't be computed.
    #[error("the server's digest challenge can't be answered: {0}")]
    Unanswerable(String),
}

/// Answers a server's digest challenges for one user, and signs later requests in advance.
#[derive(Debug)]
pub struct Authenticator {
    user: String,
    password: String,
    /// For each origin that sent a digest challenge, its realm and the client that signs for it.
    digests: HashMap<Origin, (String, DigestClient)>,
}

impl Authenticator {
    /// Creates an authenticator for this user, without any challenge yet.
    pub fn new(user: String, password: String) -> Self {
        Authenticator {
            user,
            password,
            digests: HashMap::new(),
        }
    }

    /// Handles the challenges of a response of status 401: the values of its WWW-Authenticate.
    /// `from` is the request's URL: each origin has challenges of its own.
    ///
    /// Returns true if the request can be sent again, [signed](Self::sign) for the first digest
    /// challenge. Returns false if there is no digest challenge, or if `is_answer` is true (the
    /// request was signed) and the server neither calls the signature stale nor requests another
    /// realm.
    ///
    /// # Errors
    /// If all digest challenges are invalid.
    pub fn challenged<'a>(
        &mut self,
        from: &Url,
        challenges: impl IntoIterator<Item = &'a [u8]>,
        is_answer: bool,
    ) -> Result<bool, ChallengeProblem> {
        let mut problem = None;
        for value in challenges {
            match digest_of(&String::from_utf8_lossy(value)) {
                Ok(None) => {}
                Ok(Some((realm, digest, is_stale))) => {
                    let known = self.digests.insert(from.origin(), (realm.clone(), digest));
                    let is_same = known.is_some_and(|(known, _)| known == realm);
                    if is_answer && is_same && !is_stale {
                        // The next request begins without a signature.
                        self.digests.remove(&from.origin());
                        return Ok(false);
                    }
                    return Ok(true);
                }
                Err(found) => problem = Some(found),
            }
        }
        problem.map_or(Ok(false), Err)
    }

    /// Returns the value of `Authorization` for a request with this method to this URL, with this
    /// body; `None` if its origin has sent no challenge.
    pub fn sign(&mut self, method: &str, to: &Url, body: &[u8]) -> Option<String> {
        let (_, digest) = self.digests.get_mut(&to.origin())?;
        let target = &to[Position::BeforePath..Position::AfterQuery];
        let signed = digest.respond(&PasswordParams {
            username: &self.user,
            password: &self.password,
            uri: target,
            method,
            body: Some(body),
        });
        // It fails only if the body is not known.
        signed.ok()
    }
}

/// Returns the first digest challenge in the value of a WWW-Authenticate: its realm, the client
/// that signs for it, and true if it calls the previous signature stale.
fn digest_of(value: &str) -> Result<Option<(String, DigestClient, bool)>, ChallengeProblem> {
    let challenges = http_auth::parse_challenges(value);
    let challenges =
        challenges.map_err(|error| ChallengeProblem::Malformed(first_line(&error.to_string())))?;
    let mut challenges = challenges.iter();
    let Some(challenge) = challenges.find(|one| one.scheme.eq_ignore_ascii_case("Digest")) else {
        return Ok(None);
    };
    let is_stale = challenge.params.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("stale") && value.to_unescaped().eq_ignore_ascii_case("true")
    });
    match DigestClient::try_from(challenge) {
        Ok(digest) => Ok(Some((digest.realm().to_owned(), digest, is_stale))),
        Err(error) => Err(ChallengeProblem::Unanswerable(first_line(&error))),
    }
}

/// Returns the first line of a parser's error, whose further lines show the position.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: &[u8] = br#"Digest realm="http-auth@example.org", qop="auth, auth-int",
        algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#;

    fn mufasa() -> Authenticator {
        Authenticator::new("Mufasa".to_owned(), "Circle of Life".to_owned())
    }

    fn url(path: &str) -> Url {
        Url::parse(&format!("http://www.example.org{path}")).expect("a URL")
    }

    fn challenge() -> Vec<u8> {
        let text = String::from_utf8_lossy(CHALLENGE);
        text.split_whitespace().collect::<Vec<_>>().join(" ").into()
    }

    #[test]
    fn a_challenge_is_answered_and_what_follows_is_signed_ahead() {
        let mut mufasa = mufasa();
        assert_eq!(mufasa.sign("GET", &url("/dir/index.html"), b""), None);
        assert_eq!(
            mufasa.challenged(&url("/"), [&*challenge()], false),
            Ok(true)
        );
        let mut sign = || {
            mufasa
                .sign("GET", &url("/dir/index.html"), b"")
                .expect("a signature")
        };
        let (first, second) = (sign(), sign());
        for part in [
            r#"Digest username="Mufasa""#,
            r#"uri="/dir/index.html""#,
            "algorithm=SHA-256",
            "nc=00000001",
        ] {
            assert!(first.contains(part), "{part}: {first}");
        }
        assert!(second.contains("nc=00000002"), "{second}");
    }

    #[test]
    fn the_first_challenge_for_a_digest_is_taken() {
        let basic: &[u8] = b"Basic realm=\"a\"";
        let mut mufasa = mufasa();
        assert_eq!(mufasa.challenged(&url("/"), [basic], false), Ok(false));
        assert_eq!(mufasa.sign("GET", &url("/"), b""), None);
        assert_eq!(
            mufasa.challenged(&url("/"), [basic, &*challenge()], false),
            Ok(true)
        );
    }

    #[test]
    fn a_stale_nonce_is_no_refusal() {
        let mut mufasa = mufasa();
        assert_eq!(
            mufasa.challenged(&url("/"), [&*challenge()], false),
            Ok(true)
        );
        let stale = [&*challenge(), b", stale=TRUE"].concat();
        assert_eq!(mufasa.challenged(&url("/"), [&*stale], true), Ok(true));
        assert_eq!(
            mufasa.challenged(&url("/"), [&*challenge()], true),
            Ok(false)
        );
    }

    #[test]
    fn each_origin_and_realm_has_its_own_challenge() {
        let mut mufasa = mufasa();
        assert_eq!(
            mufasa.challenged(&url("/"), [&*challenge()], false),
            Ok(true)
        );
        let other = Url::parse("http://other.example.org/").expect("a URL");
        assert_eq!(mufasa.sign("GET", &other, b""), None);
        let realm: &[u8] = b"Digest realm=\"inner\", nonce=\"n\"";
        assert_eq!(mufasa.challenged(&url("/in"), [realm], true), Ok(true));
        let signed = mufasa.sign("GET", &url("/in"), b"").expect("a signature");
        assert!(signed.contains("realm=\"inner\""), "{signed}");
        assert_eq!(mufasa.challenged(&url("/in"), [realm], true), Ok(false));
        assert_eq!(mufasa.sign("GET", &url("/in"), b""), None, "it asks anew");
    }

    #[test]
    fn challenges_that_make_no_sense_are_said() {
        let said = |challenge: &[u8]| {
            let problem = mufasa().challenged(&url("/"), [challenge], false);
            problem.expect_err("a problem").to_string()
        };
        for (challenge, start) in [
            (&b""[..], "the server's challenge can't be read"),
            (b"Digest realm=\"a", "the server's challenge can't be read"),
            (
                b"Digest realm=\"a\"",
                "the server's digest challenge can't be answered",
            ),
            (
                b"Digest realm=\"a\", nonce=\"b\", algorithm=ROT13",
                "the server's digest challenge can't be answered",
            ),
        ] {
            let said = said(challenge);
            assert!(said.starts_with(start), "{said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }
}
