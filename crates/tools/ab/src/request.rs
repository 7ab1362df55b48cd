//! The bytes that ab sends: always HTTP/1.0, the header lines in ab's order.

use super::options::{Options, value_of};
use base64::prelude::{BASE64_STANDARD, Engine};

/// The length in bytes from which ab refuses a head.
const LONGEST_HEAD: usize = 8192;

/// Writes the head of each request; `None` if it is too long.
pub(super) fn head(options: &Options) -> Option<String> {
    let mut lines = vec![request_line(options)];
    if options.keepalive {
        lines.push("Connection: Keep-Alive".to_owned());
    }
    lines.extend(
        options
            .cookie
            .iter()
            .map(|cookie| format!("Cookie: {cookie}")),
    );
    lines.extend(credentials("Authorization", &options.users));
    if !through_tunnel(options) {
        lines.extend(credentials("Proxy-Authorization", &options.proxy_users));
    }
    if let Some(body) = &options.body {
        lines.push(format!("Content-length: {}", body.len()));
        lines.push(format!("Content-type: {}", options.content_type));
    }
    lines.extend(options.headers.iter().cloned());
    lines.extend(usual(options));
    let head = lines.join("\r\n") + "\r\n\r\n";
    (head.len() < LONGEST_HEAD).then_some(head)
}

fn request_line(options: &Options) -> String {
    let is_forwarded = options.proxy.is_some() && !through_tunnel(options);
    let target = match is_forwarded {
        true => options.target.absolute(),
        false => options.target.path.clone(),
    };
    format!("{} {target} HTTP/1.0", options.method)
}

/// True if requests go through a tunnel of the proxy, which does not see them: for TLS.
fn through_tunnel(options: &Options) -> bool {
    options.proxy.is_some() && options.target.tls
}

fn credentials(name: &str, users: &[String]) -> Vec<String> {
    let line = |user: &String| format!("{name}: {}", basic(user));
    users.iter().map(line).collect()
}

/// Returns the value of a header for Basic authentication (RFC 7617) of a `user:password`.
pub(super) fn basic(user: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(user))
}

/// Returns the default headers, without those set by a header line.
fn usual(options: &Options) -> Vec<String> {
    let authority = options.target.authority();
    let usual = [
        ("Host", authority.as_str()),
        ("User-Agent", "ApacheBench/2.3"),
        ("Accept", "*/*"),
    ];
    let is_given = |name| {
        options
            .headers
            .iter()
            .any(|line| value_of(line, name).is_some())
    };
    let unsaid = usual.into_iter().filter(|(name, _)| !is_given(name));
    unsaid
        .map(|(name, value)| format!("{name}: {value}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::parse;

    fn head_of(line: &str) -> Option<String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        head(&parse(&words, |_| Ok(b"hello\n".to_vec())).expect("a run"))
    }

    #[test]
    fn lines_stand_in_the_order_of_ab() {
        let line = "-k -A u:p -A q:r -P a:b -C a=b -C c=d -H A:b -H Cd:e -p body http://a:81/?x#y";
        let expected = "POST /?x#y HTTP/1.0\r\n\
            Connection: Keep-Alive\r\n\
            Cookie: c=d\r\n\
            Authorization: Basic dTpw\r\n\
            Authorization: Basic cTpy\r\n\
            Proxy-Authorization: Basic YTpi\r\n\
            Content-length: 6\r\n\
            Content-type: text/plain\r\n\
            A:b\r\n\
            Cd:e\r\n\
            Host: a:81\r\n\
            User-Agent: ApacheBench/2.3\r\n\
            Accept: */*\r\n\r\n";
        assert_eq!(head_of(line).as_deref(), Some(expected));
    }

    #[test]
    fn header_lines_replace_the_usual_ones_of_their_name() {
        let expected = "GET / HTTP/1.0\r\nhost:x\r\nuser-agent:y\r\nACCEPT:z\r\n\r\n";
        let head = head_of("-H host:x -H user-agent:y -H ACCEPT:z http://a/");
        assert_eq!(head.as_deref(), Some(expected));
    }

    #[test]
    fn a_proxy_is_asked_for_the_whole_url_unless_it_opens_a_tunnel() {
        let first = |line| {
            let head = head_of(line).expect("a head");
            head.lines().next().unwrap_or_default().to_owned()
        };
        assert_eq!(first("-X p:1 a/b"), "GET http://a/b HTTP/1.0");
        assert_eq!(first("-X p:1 https://a/b"), "GET /b HTTP/1.0");
        let tunnelled = head_of("-X p:1 -P a:b https://a/b").expect("a head");
        assert!(!tunnelled.contains("Proxy-Authorization"));
    }

    #[test]
    fn a_head_may_be_too_long() {
        assert!(head_of(&format!("-H A:{} http://a/", "x".repeat(8000))).is_some());
        assert_eq!(
            head_of(&format!("-H A:{} http://a/", "x".repeat(8192))),
            None
        );
    }
}
