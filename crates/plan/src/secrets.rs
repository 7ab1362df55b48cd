//! Masking of a plan's secrets, because records of a run are passed on.
//!
//! A run needs its passwords only while it sends. All records of a run (saved runs, JSON,
//! databases, pages) are made from the plan without them.

mod response;
mod words;

pub use response::mask_response;
pub use words::{mask_line, mask_words};

use crate::{Body, Credentials, Header, Plan, Request};
use url::Url;

/// The text that replaces a secret.
pub const MASKED: &str = "****";

/// Parts of the names of header fields whose values are secret.
const SECRET_NAMES: [&str; 9] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "passw",
    "api-key",
    "apikey",
    "session",
    "credential",
];

/// True if a header field or a variable of this name is secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Returns the text with users and passwords of its URLs masked; `None` if it has none.
fn without_userinfo(text: &str) -> Option<String> {
    let (before, rest) = text.split_once("://")?;
    let ends = |c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace();
    let (authority, behind) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
    let others = without_userinfo(behind);
    let masked = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{MASKED}:{MASKED}@{host}"),
        None if others.is_none() => return None,
        None => authority.to_owned(),
    };
    let behind = others.as_deref().unwrap_or(behind);
    Some(format!("{before}://{masked}{behind}"))
}

/// Returns the text with these secrets masked, if it contains any. In a URL a secret may be
/// percent-encoded, so that form is masked too.
fn without(text: &str, secrets: &[String]) -> Option<String> {
    let in_url = |secret: &String| {
        let mut url = Url::parse("http://a/").ok()?;
        url.set_query(Some(secret));
        url.query().map(str::to_owned)
    };
    let in_urls = secrets.iter().filter_map(in_url);
    let forms = secrets.iter().cloned().chain(in_urls);
    let masked = forms
        .filter(|form| !form.is_empty())
        .fold(text.to_owned(), |text, form| text.replace(&form, MASKED));
    (masked != text).then_some(masked)
}

impl Plan {
    /// Gives names to the requests whose URLs contain secrets, because reports use the URL of a
    /// request without a name.
    pub fn name_secret_urls(&mut self) {
        if self.secrets.is_empty() {
            return;
        }
        let secrets = std::mem::take(&mut self.secrets);
        for request in self.all_requests() {
            if request.name.is_none() {
                request.name = without(&request.series_name(), &secrets);
            }
        }
        self.secrets = secrets;
    }

    /// Returns the plan's requests, and those of its scenarios.
    fn all_requests(&mut self) -> impl Iterator<Item = &mut Request> {
        let scenarios = self.scenarios.iter_mut();
        let requests = scenarios.flat_map(|scenario| &mut scenario.requests);
        requests.chain(&mut self.requests)
    }

    /// Returns the secrets that a server knows from the plan's requests, and may repeat in what it
    /// answers: the texts in [`Plan::secrets`], values of header fields that are secret by name,
    /// the password of digest challenges.
    pub fn sent_secrets(&self) -> Vec<String> {
        let scenarios = self.scenarios.iter();
        let requests = scenarios.flat_map(|scenario| &scenario.requests);
        let headers = requests.chain(&self.requests).flat_map(|one| &one.headers);
        let values = headers
            .filter(|header| is_secret_name(&header.name))
            // Of `Bearer abc` a server repeats the token alone.
            .flat_map(|header| {
                [
                    Some(&*header.value),
                    header.value.split_once(' ').map(|two| two.1),
                ]
            })
            .flatten()
            .map(str::to_owned);
        let clients = self.scenarios.iter().map(|scenario| &scenario.client);
        let clients = clients.chain([&self.client]);
        let passwords = clients.filter_map(|client| client.digest.as_ref());
        let passwords = passwords.map(|credentials| credentials.user_and_password().1);
        let all = values.chain(passwords).chain(self.secrets.iter().cloned());
        let mut all: Vec<String> = all.filter(|secret| !secret.trim().is_empty()).collect();
        all.sort_unstable();
        all.dedup();
        // The longest first, or what is left of one would be shown.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        all
    }

    /// Masks the plan's secrets: the values of header fields that are secret by name, passwords,
    /// users and passwords in URLs, and the texts in [`Plan::secrets`]. A masked plan is stored,
    /// and no longer run.
    pub fn mask_secrets(&mut self) {
        let secrets = std::mem::take(&mut self.secrets);
        for request in self.all_requests() {
            mask_request(request, &secrets);
        }
        let scripts = self
            .scenarios
            .iter_mut()
            .map(|scenario| &mut scenario.script);
        for script in scripts.chain([&mut self.script]).flatten() {
            script.args = mask_words(&script.args);
            for arg in &mut script.args {
                *arg = without(arg, &secrets).unwrap_or_else(|| arg.clone());
            }
        }
        let clients = self
            .scenarios
            .iter_mut()
            .map(|scenario| &mut scenario.client);
        for client in clients.chain([&mut self.client]) {
            client.digest = client.digest.as_ref().map(Credentials::masked);
        }
        for proxy in self.connection.proxies_mut() {
            proxy.authorization = proxy.authorization.as_ref().map(|_| MASKED.to_owned());
            proxy.tunnel_headers.iter_mut().for_each(mask_header);
            mask_url(&mut proxy.url);
        }
    }
}

fn mask_request(request: &mut Request, secrets: &[String]) {
    mask_url(&mut request.url);
    for header in &mut request.headers {
        mask_header(header);
    }
    if secrets.is_empty() {
        return;
    }
    let url = without(request.url.as_str(), secrets).and_then(|url| url.parse().ok());
    if let Some(url) = url {
        request.url = url;
    }
    for header in &mut request.headers {
        if let Some(masked) = without(&header.value, secrets) {
            header.value = masked;
        }
    }
    let Body::Bytes(bytes) = &mut request.body else {
        return;
    };
    let text = std::str::from_utf8(bytes).ok();
    if let Some(masked) = text.and_then(|text| without(text, secrets)) {
        *bytes = masked.into();
    }
}

fn mask_header(header: &mut Header) {
    match is_secret_name(&header.name) && !header.value.is_empty() {
        true => MASKED.clone_into(&mut header.value),
        false => mask_text(&mut header.value),
    }
}

fn mask_text(text: &mut String) {
    if let Some(masked) = without_userinfo(text) {
        *text = masked;
    }
}

fn mask_url(url: &mut Url) {
    if !url.username().is_empty() || url.password().is_some() {
        // Neither can fail for a URL with a host.
        let _ = url.set_username(MASKED);
        let _ = url.set_password(Some(MASKED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, EnvironmentProxies, Script};

    fn request(url: &str, headers: &[&str]) -> Request {
        Request {
            method: "GET".to_owned(),
            url: url.parse().expect("a URL"),
            headers: headers
                .iter()
                .map(|line| line.parse().expect("a header"))
                .collect(),
            body: Body::None,
            weight: 1,
            name: None,
        }
    }

    #[test]
    fn a_plan_without_its_secrets_has_none() {
        let mut plan = Plan {
            requests: vec![request(
                "http://me:hunter2@a/x",
                &[
                    "Authorization: Basic hunter2",
                    "Cookie: sid=hunter2",
                    "X-API-Key: hunter2",
                    "x_auth_token: hunter2",
                    "Proxy-Authorization: hunter2",
                    "Referer: http://me:hunter2@b/",
                    "Accept: text/html",
                ],
            )],
            client: Client {
                digest: Some("me:hunter2".parse().expect("credentials")),
                ..Client::default()
            },
            script: Some(Script {
                path: "a.lua".into(),
                args: [
                    "-H",
                    "http://me:hunter2@a",
                    "token=hunter2",
                    "--password",
                    "hunter2",
                ]
                .map(str::to_owned)
                .to_vec(),
                crc32: None,
                names_urls: false,
            }),
            ..Plan::default()
        };
        plan.connection.proxy = Some("http://me:hunter2@p:1".parse().expect("a proxy"));
        let variable = |name: &str| (name == "HTTP_PROXY").then(|| "me:hunter2@e:1".to_owned());
        let proxies = EnvironmentProxies::read(variable).expect("proxies");
        plan.connection.environment_proxies = Some(Box::new(proxies));
        plan.mask_secrets();
        let kept = serde_json::to_string(&plan).expect("JSON");
        assert!(
            !kept.contains("hunter2") && !kept.contains("aHVudGVyMg"),
            "{kept}"
        );
        assert!(
            kept.contains("text/html") && kept.contains("me:****"),
            "{kept}"
        );
        assert!(kept.contains("http://****:****@b/"), "{kept}");
    }

    #[test]
    fn texts_that_are_called_secret_are_in_no_part_of_it() {
        let mut one = request("http://a/?key=hunter%202", &["X-Id: hunter 2"]);
        one.body = Body::Bytes(b"pw=hunter 2&x=1".to_vec().into());
        let mut plan = Plan {
            requests: vec![one],
            secrets: vec!["hunter 2".to_owned()],
            script: Some(Script {
                path: "a.lua".into(),
                args: vec!["x=hunter 2".to_owned()],
                crc32: None,
                names_urls: false,
            }),
            ..Plan::default()
        };
        plan.name_secret_urls();
        assert_eq!(plan.requests[0].series_name(), "http://a/?key=****");
        plan.mask_secrets();
        let kept = &plan.requests[0];
        assert_eq!(kept.url.as_str(), "http://a/?key=****");
        assert_eq!(kept.headers[0].value, "****");
        assert_eq!(kept.body, Body::Bytes(b"pw=****&x=1".to_vec().into()));
        assert_eq!(plan.script.expect("a script").args, ["x=****"]);
        assert!(plan.secrets.is_empty());
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        let mut plan = Plan {
            requests: vec![request("http://a/?mail=me@b", &["Accept: a/b", "X-Id: 5"])],
            ..Plan::default()
        };
        let before = plan.clone();
        plan.mask_secrets();
        assert_eq!(plan, before);
        for text in ["a@b", "http://a/me@b", "see http://a b@c", ""] {
            assert_eq!(without_userinfo(text), None, "{text}");
        }
        let two = without_userinfo("http://a/?to=http://me:1@b/");
        assert_eq!(two.as_deref(), Some("http://a/?to=http://****:****@b/"));
    }
}
