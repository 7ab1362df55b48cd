//! URLs as Go parses them (`Parse` of its net/url), because k6 uses that function: a request to a
//! text that Go rejects is not sent, even if other parsers would repair the text.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::borrow::Cow;

/// What Go encodes in a path (`encodePath` of its net/url).
const OUTSIDE_OF_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// Why Go reads no URL in a text, in its words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("net/url: invalid control character in URL")]
    Control,
    #[error("missing protocol scheme")]
    NoScheme,
    #[error("first path segment in URL cannot contain colon")]
    Colon,
    #[error("net/url: invalid userinfo")]
    User,
    #[error("missing ']' in host")]
    Bracket,
    #[error("invalid host: ParseAddr({}): unable to parse IP", quoted(.0))]
    Address(String),
    #[error("invalid port {} after host", quoted(.0))]
    Port(String),
    #[error("invalid character {} in host name", quoted(.0.encode_utf8(&mut [0; 4])))]
    Host(char),
    #[error("invalid URL escape {}", quoted(.0))]
    Escape(String),
}

/// Returns a text between quotes, as Go writes it (`%q`).
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if letter.is_ascii_control() => quoted += &format!("\\x{:02x}", u32::from(letter)),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// The parts of a URL that Go reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoUrl<'a> {
    /// The scheme as it is written; empty if there is none.
    pub(crate) scheme: &'a str,
    /// The host with its port; empty if there is none.
    pub(crate) host: &'a str,
}

impl<'a> GoUrl<'a> {
    /// Parses a URL.
    ///
    /// # Errors
    /// If Go rejects the text.
    pub(crate) fn read(text: &'a str) -> Result<Self, Unreadable> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(Unreadable::Control);
        }
        let (scheme, rest) = scheme_of(text)?;
        let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
        let mut url = GoUrl { scheme, host: "" };
        let Some(behind) = rest.strip_prefix("//") else {
            let segment = rest.split_once('/').map_or(rest, |(segment, _)| segment);
            if scheme.is_empty() && segment.contains(':') {
                return Err(Unreadable::Colon);
            }
            let is_path = rest.starts_with('/');
            if is_path {
                check_escapes(rest)?;
            }
            check_escapes(fragment)?;
            return Ok(url);
        };
        let (authority, path) = behind.split_at(behind.find('/').unwrap_or(behind.len()));
        url.host = host_of(authority)?;
        check_escapes(path)?;
        check_escapes(fragment)?;
        Ok(url)
    }
}

/// A URL without credentials as Go writes one that it has read: the scheme in lower case, no empty
/// authority without a path, a path of which every byte may stand there (`String` of its net/url).
pub(crate) fn written(text: &str) -> String {
    let (scheme, rest) = scheme_of(text).unwrap_or(("", text));
    let (colon, is_opaque) = match scheme {
        "" => ("", false),
        _ => (":", !rest.starts_with('/')),
    };
    let path_at = match rest.strip_prefix("//") {
        None => 0,
        Some("") => return scheme.to_ascii_lowercase() + colon,
        Some(behind) => behind.find(['/', '?', '#']).unwrap_or(behind.len()) + 2,
    };
    let (authority, path) = rest.split_at(path_at);
    let (path, behind) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
    let path = match is_opaque {
        true => path.into(),
        false => written_path(path),
    };
    format!(
        "{}{colon}{authority}{path}{behind}",
        scheme.to_ascii_lowercase()
    )
}

/// A path as it is, if it is encoded well, or else encoded anew.
fn written_path(path: &str) -> Cow<'_, str> {
    let may_stand =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*[]%".contains(&byte);
    if path.bytes().all(may_stand) {
        return path.into();
    }
    let bytes: Cow<'_, [u8]> = percent_decode_str(path).into();
    percent_encode(&bytes, OUTSIDE_OF_PATHS).to_string().into()
}

/// The scheme, and the part after its colon.
fn scheme_of(text: &str) -> Result<(&str, &str), Unreadable> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let end = text.bytes().position(|byte| !is_part(byte));
    match end.map(|end| (end, text.as_bytes()[end])) {
        Some((0, b':')) => Err(Unreadable::NoScheme),
        Some((end, b':')) if text.as_bytes()[0].is_ascii_alphabetic() => {
            Ok((&text[..end], &text[end + 1..]))
        }
        _ => Ok(("", text)),
    }
}

fn host_of(authority: &str) -> Result<&str, Unreadable> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    check_host(host)?;
    let is_of_user =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    match user {
        Some(user) if !user.bytes().all(is_of_user) => Err(Unreadable::User),
        Some(user) => check_escapes(user).map(|()| host),
        None => Ok(host),
    }
}

fn check_host(host: &str) -> Result<(), Unreadable> {
    let colon = if host.starts_with('[') {
        let end = host.rfind(']').ok_or(Unreadable::Bracket)?;
        Some(end + 1)
    } else {
        host.rfind(':')
    };
    let port = &host[colon.unwrap_or(host.len())..];
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port = port.is_empty()
        || port.starts_with(':') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_port {
        return Err(Unreadable::Port(port.to_owned()));
    }
    let is_of_host = |letter: char| {
        !letter.is_ascii()
            || letter.is_ascii_alphanumeric()
            || "-_.~!$&'()*+,;=:[]<>\"%".contains(letter)
    };
    if let Some(escape) = escapes(host).find(|escape| !is_of_hosts(escape)) {
        return Err(Unreadable::Escape(escape.to_owned()));
    }
    let odd = host.chars().find(|letter| !is_of_host(*letter));
    odd.map_or(Ok(()), |letter| Err(Unreadable::Host(letter)))
}

/// True if an escape is allowed in a host: a byte of a letter beyond ASCII, or the percent sign
/// before the zone of an address.
fn is_of_hosts(escape: &str) -> bool {
    is_escape(escape) && (escape == "%25" || escape.as_bytes()[1] >= b'8')
}

fn check_escapes(text: &str) -> Result<(), Unreadable> {
    let broken = escapes(text).find(|escape| !is_escape(escape));
    broken.map_or(Ok(()), |escape| Err(Unreadable::Escape(escape.to_owned())))
}

/// Returns the percent signs of a text, each with the two characters after it, if there are that
/// many.
fn escapes(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('%').map(|(start, _)| {
        let behind = text[start..].char_indices().nth(3);
        &text[start..behind.map_or(text.len(), |(end, _)| start + end)]
    })
}

fn is_escape(escape: &str) -> bool {
    let bytes = escape.as_bytes();
    bytes.len() == 3 && bytes[1..].iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The messages of k6 1.8.1, built with Go 1.26.
    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        for (text, words) in [
            ("http://a b/", "invalid character \" \" in host name"),
            ("http://a:xx/", "invalid port \":xx\" after host"),
            ("http://[::1/", "missing ']' in host"),
            ("http://%zz/", "invalid URL escape \"%zz\""),
            ("http://a%20b/", "invalid URL escape \"%20\""),
            ("http://a/%zz", "invalid URL escape \"%zz\""),
            ("http://a/%", "invalid URL escape \"%\""),
            ("http://a\\b/", "invalid character \"\\\\\" in host name"),
            ("http://a|b/", "invalid character \"|\" in host name"),
            ("http://a^b/", "invalid character \"^\" in host name"),
            ("://x", "missing protocol scheme"),
            (
                "http://a\x7fb/",
                "net/url: invalid control character in URL",
            ),
            ("http://a/\n", "net/url: invalid control character in URL"),
            (
                " http://a/",
                "first path segment in URL cannot contain colon",
            ),
            ("http://a b@c/", "net/url: invalid userinfo"),
        ] {
            let refused = GoUrl::read(text).expect_err(text);
            assert_eq!(refused.to_string(), words, "{text}");
        }
    }

    // As `String` of Go 1.26 writes what its `Parse` read.
    #[test]
    fn urls_are_written_as_go_writes_them() {
        for (text, written_by_go) in [
            ("http://", "http:"),
            ("http:", "http:"),
            ("http:///nohost", "http:///nohost"),
            ("http:/x", "http:/x"),
            ("http:x y", "http:x y"),
            ("FTP://x/", "ftp://x/"),
            ("no url", "no%20url"),
            ("a%41 b?c d", "aA%20b?c d"),
            ("/a!b%41", "/a!b%41"),
            ("/a!b c", "/a%21b%20c"),
            ("é", "%C3%A9"),
            ("", ""),
        ] {
            assert_eq!(written(text), written_by_go, "{text}");
        }
    }

    #[test]
    fn what_go_reads_is_read() {
        for (text, scheme, host) in [
            ("http://a/b c?d e#f g", "http", "a"),
            ("HTTP:///x", "HTTP", ""),
            ("http:", "http", ""),
            ("http:x", "http", ""),
            ("http:/x", "http", ""),
            ("http//x", "", ""),
            ("/x", "", ""),
            ("x", "", ""),
            ("", "", ""),
            ("mailto:a", "mailto", ""),
            ("http://:80/", "http", ":80"),
            ("http://u:p@a:1/", "http", "a:1"),
            ("http://u@/x", "http", ""),
            ("http://[::1]:80/", "http", "[::1]:80"),
            ("http://[fe80::1%25eth0]/", "http", "[fe80::1%25eth0]"),
            ("http://a<b/", "http", "a<b"),
            ("http://é/", "http", "é"),
            ("http://%C3%A9/", "http", "%C3%A9"),
            ("http://a:99999/", "http", "a:99999"),
            ("http://1.2.3.400?x=%zz", "http", "1.2.3.400"),
        ] {
            assert_eq!(GoUrl::read(text), Ok(GoUrl { scheme, host }), "{text}");
        }
    }
}
