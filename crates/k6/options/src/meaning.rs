//! Checks of values of the right kind: patterns of names, ranges of addresses, cipher suites.

use crate::time::GoDuration;
use serde_json::Value;

/// The cipher suites of Go, by their names in IANA's registry.
const CIPHER_SUITES: [&str; 25] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
];

/// Old names of suites that Go still accepts.
const OLD_SUITES: [&str; 2] = [
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
];

/// Checks the value of an option, and returns k6's message for an invalid one.
pub(crate) fn check(key: &str, value: &Value) -> Result<(), String> {
    match key {
        "blacklistIPs" => each(value, |text| match is_range(text) {
            true => Ok(()),
            false => Err(format!(
                "failed to parse CIDR '{text}': invalid CIDR address: {text}"
            )),
        }),
        "blockHostnames" => each(value, |text| match is_pattern(text) {
            true => Ok(()),
            false => Err(format!("invalid hostname pattern '{text}'")),
        }),
        "tlsCipherSuites" => each(value, |text| {
            match CIPHER_SUITES.contains(&text) || OLD_SUITES.contains(&text) {
                true => Ok(()),
                false => Err(format!("unknown cipher suite '{text}'")),
            }
        }),
        "hosts" => hosts(value),
        "thresholds" => delays(value),
        _ => Ok(()),
    }
}

fn each(value: &Value, check: impl Fn(&str) -> Result<(), String>) -> Result<(), String> {
    let texts = value.as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).try_for_each(check)
}

/// True for a name of letters, digits, dots, dashes and underscores, with an optional star before
/// it.
pub(crate) fn is_pattern(text: &str) -> bool {
    let name = text.strip_prefix('*').unwrap_or(text);
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    name.chars().all(is_plain)
}

/// True for an address with the length of a prefix.
pub(crate) fn is_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let most = match address.parse() {
        Ok(std::net::IpAddr::V4(_)) => 32,
        Ok(std::net::IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|length| length <= most)
}

fn hosts(value: &Value) -> Result<(), String> {
    let pairs = value.as_object().into_iter().flatten();
    for (host, address) in pairs {
        let (pattern, port) = host.split_once(':').unwrap_or((host, ""));
        if !is_pattern(pattern) || !port.chars().all(|letter| letter.is_ascii_digit()) {
            return Err(format!("invalid host pattern '{host}'"));
        }
        let address = address.as_str().unwrap_or_default();
        let port = address.rsplit_once(':').filter(|(ip, _)| !ip.contains(':'));
        if let Some((_, port)) = port.filter(|(_, port)| port.parse::<u32>().is_err()) {
            return Err(format!("strconv.Atoi: parsing {port:?}: invalid syntax"));
        }
    }
    Ok(())
}

/// Checks the delays of thresholds that end a run.
fn delays(value: &Value) -> Result<(), String> {
    let of_metrics = value.as_object().into_iter().flatten();
    let thresholds = of_metrics.flat_map(|(_, list)| list.as_array().into_iter().flatten());
    for threshold in thresholds {
        if let Some(delay) = threshold["delayAbortEval"].as_str() {
            GoDuration::parse(delay).map_err(|problem| problem.to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(key: &str, value: &Value) -> String {
        check(key, value).expect_err("it means nothing")
    }

    #[test]
    fn values_that_mean_nothing_say_why() {
        assert_eq!(
            problem("blacklistIPs", &json!(["10.0.0.0/8", "1.2.3.4"])),
            "failed to parse CIDR '1.2.3.4': invalid CIDR address: 1.2.3.4"
        );
        for pattern in ["a*b", "a b", "a.*.b"] {
            let said = format!("invalid hostname pattern '{pattern}'");
            assert_eq!(problem("blockHostnames", &json!([pattern])), said);
        }
        let suites = json!(["TLS_AES_128_GCM_SHA256", "NOPE"]);
        let said = "unknown cipher suite 'NOPE'";
        assert_eq!(problem("tlsCipherSuites", &suites), said);
        for host in ["a:x", "a:1:2", "a*", "[::1]:80"] {
            let said = format!("invalid host pattern '{host}'");
            assert_eq!(problem("hosts", &json!({ host: "1.2.3.4" })), said);
        }
        let said = "strconv.Atoi: parsing \"x\": invalid syntax";
        assert_eq!(problem("hosts", &json!({ "a": "1.2.3.4:x" })), said);
        let delayed = json!({ "a": ["rate>1", { "threshold": "rate>1", "delayAbortEval": "x" }] });
        assert!(problem("thresholds", &delayed).starts_with("time: invalid duration"));
    }

    #[test]
    fn values_that_mean_something_pass() {
        for (key, value) in [
            ("blacklistIPs", json!(["10.0.0.0/8", "::/0"])),
            ("blockHostnames", json!(["*", "*.a.test", "a-b.test", ""])),
            (
                "hosts",
                json!({ "*.a": "::1", "a:80": "[::1]:81", "b": "1.2.3.4:8" }),
            ),
            ("thresholds", json!({ "a": [{ "threshold": "rate>1" }] })),
            ("userAgent", json!("anything")),
        ] {
            assert_eq!(check(key, &value), Ok(()), "{key}");
        }
    }
}
