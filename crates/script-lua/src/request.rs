//! The text of one or several requests that a script wants to send, split into its parts.
//!
//! The first text is checked as wrk checks it, with wrk's messages and the place as line and
//! column; later ones are only split. Methods are not checked: any token is accepted, where wrk has
//! a list.
//!
//! The grammar is that of RFC 9112, sections 3 and 6; lines may end with LF alone.

use loadline_engine::Part;
use loadline_metrics::SeriesId;
use loadline_wire::{Expect, ResponseParser};
use memchr::memchr;
use std::fmt;

/// The reason why a text is not a request, and its place, with wrk's own messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at {line}:{column}")]
pub struct RequestProblem {
    /// The kind of error.
    pub what: Flaw,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A kind of error in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The first word is not a method.
    Method,
    /// The second word is not a target.
    Target,
    /// The third word does not begin like a version.
    Constant,
    /// The third word begins like a version, but does not continue like one.
    Strict,
    /// The third word is not a version of HTTP/1.
    Version,
    /// The line of a field has an invalid byte.
    Header,
    /// A length is not a number.
    Length,
    /// A length is given twice, or in addition to chunks.
    UnexpectedLength,
    /// The text ends before the request does.
    Incomplete,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Method => "invalid HTTP method",
            Flaw::Target => "invalid URL",
            Flaw::Constant => "invalid constant string",
            Flaw::Strict => "strict mode assertion failed",
            Flaw::Version => "invalid HTTP version",
            Flaw::Header => "invalid character in header",
            Flaw::Length => "invalid character in content-length header",
            Flaw::UnexpectedLength => "unexpected content-length header",
            Flaw::Incomplete => "incomplete request",
        })
    }
}

/// The methods in wrk's list.
const METHODS: [&[u8]; 33] = [
    b"ACL",
    b"BIND",
    b"CHECKOUT",
    b"CONNECT",
    b"COPY",
    b"DELETE",
    b"GET",
    b"HEAD",
    b"LINK",
    b"LOCK",
    b"M-SEARCH",
    b"MERGE",
    b"MKACTIVITY",
    b"MKCALENDAR",
    b"MKCOL",
    b"MOVE",
    b"NOTIFY",
    b"OPTIONS",
    b"PATCH",
    b"POST",
    b"PROPFIND",
    b"PROPPATCH",
    b"PURGE",
    b"PUT",
    b"REBIND",
    b"REPORT",
    b"SEARCH",
    b"SUBSCRIBE",
    b"TRACE",
    b"UNBIND",
    b"UNLINK",
    b"UNLOCK",
    b"UNSUBSCRIBE",
];

/// An error and its place: the index of a byte of the text.
type Broken = (Flaw, usize);

/// Checks a text and splits it into its requests, at least one.
pub(crate) fn check(text: &[u8], parts: &mut Vec<Part>) -> Result<(), RequestProblem> {
    let checked = each_request(text, parts, check_head);
    checked.map_err(|(what, at)| problem(text, what, at))
}

/// Splits a text into its requests. An incomplete one at the end is sent as a part of its own,
/// because the script decides what to send, and the server how to respond.
pub(crate) fn cut(text: &[u8], parts: &mut Vec<Part>) {
    if each_request(text, parts, |_, _| Ok(())).is_err() {
        let begin = parts.last().map_or(0, |part| part.end);
        parts.push(Part {
            end: text.len(),
            expect: Expect::for_method(method(&text[begin..])),
            series: SeriesId::default(),
            request: None,
        });
    }
}

fn each_request(
    text: &[u8],
    parts: &mut Vec<Part>,
    check: impl Fn(&[u8], usize) -> Result<(), Broken>,
) -> Result<(), Broken> {
    parts.clear();
    let mut begin = after_line_ends(text, 0);
    while begin < text.len() || parts.is_empty() {
        let Some((head_end, may_have_body)) = head_end(text, begin) else {
            // The incomplete head may have an earlier error.
            check(&text[begin..], begin)?;
            return Err((Flaw::Incomplete, text.len()));
        };
        let head = &text[begin..head_end];
        check(head, begin)?;
        let mut end = head_end;
        if may_have_body {
            end += body_len(head, begin, &text[head_end..])?;
        }
        if end > text.len() {
            return Err((Flaw::Incomplete, text.len()));
        }
        begin = after_line_ends(text, end);
        parts.push(Part {
            end: begin,
            expect: Expect::for_method(method(head)),
            series: SeriesId::default(),
            request: None,
        });
    }
    Ok(())
}

/// Returns the position after empty lines. Empty lines between requests are allowed, and belong to
/// the previous one (RFC 9112, section 2.2).
fn after_line_ends(text: &[u8], from: usize) -> usize {
    let ends = text[from..]
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'));
    from + ends.count()
}

/// Returns the end of the head that begins here, after its empty line, and true if one of its
/// fields may have the length of a body.
fn head_end(text: &[u8], begin: usize) -> Option<(usize, bool)> {
    let (mut line, mut may_have_body) = (begin, false);
    while let Some(length) = memchr(b'\n', &text[line..]) {
        let next = line + length + 1;
        if matches!(&text[line..next], b"\n" | b"\r\n") {
            return Some((next, may_have_body));
        }
        line = next;
        may_have_body |= text.get(line).is_some_and(may_set_length);
    }
    None
}

/// True if a field with this first letter may be `Content-Length` or `Transfer-Encoding`: most
/// fields of a request are neither, and a script's requests are split one by one during the run.
fn may_set_length(first: &u8) -> bool {
    matches!(first, b'c' | b'C' | b't' | b'T')
}

/// Returns the first word, if it is UTF-8.
fn method(head: &[u8]) -> &str {
    let end = memchr(b' ', head).unwrap_or(head.len());
    std::str::from_utf8(&head[..end]).unwrap_or_default()
}

/// Returns the lines with their positions, without their ends, up to the empty one. The last line
/// of an incomplete head may have no end.
fn lines(head: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let begin = next;
        let rest = head.get(begin..)?;
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        next = begin + length + 1;
        let line = &rest[..length];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (!line.is_empty()).then_some((begin, line))
    })
}

/// Returns the length of the body that belongs to a head and begins at the beginning of `rest`.
fn body_len(head: &[u8], begin: usize, rest: &[u8]) -> Result<usize, Broken> {
    let mut length = 0;
    for (at, line) in lines(head).skip(1) {
        if !may_set_length(&line[0]) {
            continue;
        }
        if let Some(place) = value_of(line, b"content-length") {
            let value = line[place..].trim_ascii_end();
            let number = std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse().ok());
            let digits = value.iter().take_while(|byte| byte.is_ascii_digit());
            length = number.ok_or((Flaw::Length, begin + at + place + digits.count()))?;
        }
        if value_of(line, b"transfer-encoding").is_some() {
            return chunked_len(rest).ok_or((Flaw::Incomplete, begin + head.len() + rest.len()));
        }
    }
    Ok(length)
}

/// Returns the length of the chunks at the beginning of `rest`, if they are complete. Requests and
/// responses have the same framing.
#[cold]
fn chunked_len(rest: &[u8]) -> Option<usize> {
    let mut parser = ResponseParser::new();
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    parser.feed(head, &mut ()).ok()?;
    let fed = parser.feed(rest, &mut ()).ok()?;
    fed.done.then_some(fed.used)
}

fn check_head(head: &[u8], begin: usize) -> Result<(), Broken> {
    let (mut has_length, mut is_chunked) = (false, false);
    for (number, (at, line)) in lines(head).enumerate() {
        let checked = match number {
            0 => check_request_line(line),
            _ => check_field(line, number > 1),
        };
        let breaks_off = at + line.len() == head.len();
        match checked {
            // An error at the end of an incomplete line may only be a missing part.
            Err((flaw, place)) if !breaks_off || place < line.len() => {
                return Err((flaw, begin + at + place));
            }
            _ => {}
        }
        if let Some(place) = value_of(line, b"content-length") {
            if has_length {
                return Err((Flaw::UnexpectedLength, begin + at + place));
            }
            has_length = true;
        }
        let encoding = value_of(line, b"transfer-encoding");
        is_chunked |= encoding.is_some_and(|at| line[at..].eq_ignore_ascii_case(b"chunked"));
    }
    if has_length && is_chunked && head.ends_with(b"\n") {
        return Err((Flaw::UnexpectedLength, begin + head.len() - 1));
    }
    Ok(())
}

/// Returns the beginning of a field's value, if the field has this name.
fn value_of(line: &[u8], name: &[u8]) -> Option<usize> {
    let (own, rest) = line.split_at_checked(name.len())?;
    let value = rest
        .strip_prefix(b":")
        .filter(|_| own.eq_ignore_ascii_case(name))?;
    Some(line.len() - value.trim_ascii_start().len())
}

fn check_request_line(line: &[u8]) -> Result<(), Broken> {
    let method = token_len(line);
    if method == 0 || line.get(method) != Some(&b' ') {
        let at = if method == line.len() {
            known_len(line)
        } else {
            method
        };
        return Err((Flaw::Method, at));
    }
    let rest = &line[method + 1..];
    let target = rest
        .iter()
        .take_while(|byte| **byte > b' ' && **byte != 0x7f)
        .count();
    let target_end = method + 1 + target;
    if let Some(place) = target_flaw(&line[..method], &rest[..target]) {
        return Err((Flaw::Target, method + 1 + place));
    }
    if line.get(target_end) != Some(&b' ') {
        return Err((Flaw::Target, target_end));
    }
    let version = check_version(&line[target_end + 1..]);
    version.map_err(|(flaw, place)| (flaw, target_end + 1 + place))
}

/// Returns the length of the longest beginning that a word at the end of the text has in common
/// with a method of wrk's list.
fn known_len(word: &[u8]) -> usize {
    let common = |method: &&[u8]| method.iter().zip(word).take_while(|(a, b)| a == b).count();
    METHODS.iter().map(common).max().unwrap_or(0)
}

/// Returns the position of an error in a target. A target is a path, an asterisk, or has a scheme
/// and a host. That of CONNECT is a host alone (RFC 9112, section 3.2).
fn target_flaw(method: &[u8], target: &[u8]) -> Option<usize> {
    if target.is_empty() {
        return Some(0);
    }
    if matches!(target[0], b'/' | b'*') || method == b"CONNECT" {
        return None;
    }
    let scheme = target
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    if scheme == 0 {
        return Some(0);
    }
    let rest = target[scheme..].iter();
    let slashes = rest.zip(b"://").take_while(|(a, b)| a == b).count();
    let host = scheme + 3;
    (slashes < 3 || host == target.len()).then_some(scheme + slashes)
}

fn check_version(version: &[u8]) -> Result<(), Broken> {
    let prefix = b"HTTP/1.";
    let same = version
        .iter()
        .zip(prefix)
        .take_while(|(a, b)| a == b)
        .count();
    match (same, version.get(same)) {
        (0, _) => Err((Flaw::Constant, 0)),
        (1..=4, _) => Err((Flaw::Strict, same)),
        (7, Some(b'0' | b'1')) if version.len() == 8 => Ok(()),
        (7, Some(b'0' | b'1')) => Err((Flaw::Version, 8)),
        _ => Err((Flaw::Version, same)),
    }
}

/// Checks the line of a field. A line after another may continue its value (RFC 9112, section 5.2).
fn check_field(line: &[u8], may_go_on: bool) -> Result<(), Broken> {
    if !(may_go_on && matches!(line[0], b' ' | b'\t')) {
        let name = token_len(line);
        if name == 0 || line.get(name) != Some(&b':') {
            return Err((Flaw::Header, name));
        }
    }
    let bad = line.iter().position(|byte| *byte < b' ' && *byte != b'\t');
    bad.map_or(Ok(()), |at| Err((Flaw::Header, at)))
}

/// Returns the length of the token at the beginning (RFC 9110, section 5.6.2).
fn token_len(text: &[u8]) -> usize {
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(*byte);
    text.iter().take_while(is_token).count()
}

/// Converts a position to line and column.
fn problem(text: &[u8], what: Flaw, at: usize) -> RequestProblem {
    let before = &text[..at.min(text.len())];
    let line_begin = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    RequestProblem {
        what,
        line: before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1,
        column: (before.len() - line_begin) as u32 + 1,
    }
}

#[cfg(test)]
mod tests;
