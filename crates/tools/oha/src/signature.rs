//! `--aws-sigv4`: requests signed for AWS, version 4 in the Authorization header.
//!
//! The steps and their names are from the AWS documentation, "Create a signed AWS API request". A
//! signature is valid for a second, so that a constant request is signed once a second.

use super::outcome::Output;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use url::Url;

/// Headers that a proxy may change; they are not signed.
const UNSIGNED: [&str; 8] = [
    "accept",
    "accept-encoding",
    "connection",
    "expect",
    "presigned-expires",
    "range",
    "user-agent",
    "x-amzn-trace-id",
];

/// The credentials, and the service to sign for.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Signer {
    access_key: String,
    secret: String,
    token: Option<String>,
    region: String,
    service: String,
}

/// A request to be signed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsigned<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a Url,
    /// The headers, with names in lower case, including Host.
    pub(super) headers: &'a [(String, String)],
    pub(super) body: &'a [u8],
}

impl std::fmt::Debug for Signer {
    /// Formats the signer without its secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("region", &self.region)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl Signer {
    /// Creates the signer of `aws:amz:REGION:SERVICE` with `access_key:secret`.
    pub(super) fn of(
        parameters: &str,
        credentials: Option<&str>,
        token: Option<&str>,
    ) -> Result<Self, Output> {
        let credentials = credentials.ok_or_else(|| {
            Output::error("AWS credentials (--auth) required when using --aws-sigv4")
        })?;
        let [access_key, secret] = credentials.split(':').collect::<Vec<_>>()[..] else {
            return Err(Output::error(
                "Invalid AWS credentials format. Expected access_key:secret_key",
            ));
        };
        let ["aws", "amz", region, service] = parameters.split(':').collect::<Vec<_>>()[..] else {
            return Err(Output::error(
                "Invalid AWS signing params format. Expected aws:amz:region:service",
            ));
        };
        Ok(Signer {
            access_key: access_key.to_owned(),
            secret: secret.to_owned(),
            token: token.map(str::to_owned),
            region: region.to_owned(),
            service: service.to_owned(),
        })
    }

    /// Returns the headers that sign a request at this time, which is written as
    /// `20150830T123600Z`.
    pub(super) fn sign(&self, request: &Unsigned<'_>, time: &str) -> Vec<(String, String)> {
        let mut added = vec![("x-amz-date".to_owned(), time.to_owned())];
        if let Some(token) = &self.token {
            added.push(("x-amz-security-token".to_owned(), token.clone()));
        }
        let mut signed: Vec<(&str, &str)> = request
            .headers
            .iter()
            .chain(&added)
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(|(name, _)| !UNSIGNED.contains(name) && *name != "authorization")
            .collect();
        signed.sort_by_key(|(name, _)| *name);
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let canonical = canonical_request(request, &signed, &names);
        let date = time.get(..8).unwrap_or(time);
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let digest = hex(&Sha256::digest(canonical.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
        let signature = hex(&keyed(&self.key(date), to_sign.as_bytes()));
        let key = &self.access_key;
        added.push((
            "authorization".to_owned(),
            format!(
                "AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, \
                 Signature={signature}"
            ),
        ));
        added
    }

    fn key(&self, date: &str) -> Vec<u8> {
        let first = format!("AWS4{}", self.secret).into_bytes();
        [date, &self.region, &self.service, "aws4_request"]
            .iter()
            .fold(first, |key, part| keyed(&key, part.as_bytes()))
    }
}

fn canonical_request(request: &Unsigned<'_>, signed: &[(&str, &str)], names: &str) -> String {
    let fields: String = signed
        .iter()
        .map(|(name, value)| format!("{name}:{}\n", single_blanks(value)))
        .collect();
    format!(
        "{}\n{}\n{}\n{fields}\n{names}\n{}",
        request.method,
        encoded(request.url.path(), true),
        canonical_query(request.url),
        hex(&Sha256::digest(request.body))
    )
}

fn single_blanks(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn canonical_query(url: &Url) -> String {
    let mut pairs: Vec<String> = url
        .query_pairs()
        .map(|(key, value)| format!("{}={}", encoded(&key, false), encoded(&value, false)))
        .collect();
    pairs.sort();
    pairs.join("&")
}

/// Percent-encodes all but RFC 3986's unreserved characters. In a path, which is encoded already,
/// slashes are kept as well.
fn encoded(text: &str, is_path: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let stays =
            byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || is_path && byte == b'/';
        match stays {
            true => out.push(char::from(byte)),
            false => write!(out, "%{byte:02X}").expect("writing to memory can't fail"),
        }
    }
    out
}

fn keyed(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn signed(url: &str) -> String {
        let signer = Signer::of("aws:amz:us-east-1:service", Some(KEYS), None).expect("a signer");
        let url = Url::parse(url).expect("a URL");
        let request = Unsigned {
            method: "GET",
            url: &url,
            headers: &[
                ("accept".to_owned(), "*/*".to_owned()),
                ("host".to_owned(), "example.amazonaws.com".to_owned()),
            ],
            body: b"",
        };
        let fields = signer.sign(&request, "20150830T123600Z");
        fields.last().expect("an authorization").1.clone()
    }

    /// The cases `get-vanilla` and `get-vanilla-query-order-key-case` of the test suite that AWS
    /// publishes for version 4.
    #[test]
    fn signatures_are_those_of_the_published_suite() {
        let start = "AWS4-HMAC-SHA256 \
            Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
            SignedHeaders=host;x-amz-date, Signature=";
        let vanilla = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
        assert_eq!(
            signed("https://example.amazonaws.com/"),
            format!("{start}{vanilla}")
        );
        let query = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500";
        assert_eq!(
            signed("https://example.amazonaws.com/?Param2=value2&Param1=value1"),
            format!("{start}{query}")
        );
    }

    #[test]
    fn what_is_missing_is_said_in_ohas_words() {
        let refused = |parameters, keys| {
            let output = Signer::of(parameters, keys, None).expect_err("a refusal");
            assert_eq!(output.code, 1);
            output.stderr
        };
        let parameters = "aws:amz:eu-west-1:s3";
        assert_eq!(
            refused(parameters, None),
            "Error: AWS credentials (--auth) required when using --aws-sigv4\n"
        );
        for keys in ["a", "a:b:c"] {
            assert_eq!(
                refused(parameters, Some(keys)),
                "Error: Invalid AWS credentials format. Expected access_key:secret_key\n"
            );
        }
        for parameters in ["", "aws:amz:r", "aws:amz:r:s:t", "a:amz:r:s"] {
            assert_eq!(
                refused(parameters, Some(KEYS)),
                "Error: Invalid AWS signing params format. Expected aws:amz:region:service\n"
            );
        }
    }
}
