//! What a script wants sent: a text of one request or several, cut into its parts.
//!
//! The first text is checked as wrk checks it, with the same words for what is wrong and the place
//! as line and column; later ones are only cut. Methods are not: any token will do, where wrk knows
//! a list.
//!
//! The grammar is that of RFC 9112, sections 3 and 6; lines may end with LF alone.

use loadline_engine::Part;
use loadline_metrics::SeriesId;
use loadline_wire::{Expect, ResponseParser};
use memchr::memchr;
use std::fmt;

/// Why a text is no request, and where: wrk's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at {line}:{column}")]
pub struct RequestProblem {
    /// What is wrong.
    pub what: Flaw,
    /// The line, from 1.
    pub line: u32,
    /// The place in it, from 1.
    pub column: u32,
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The first word is no method.
    Method,
    /// The second word is no target.
    Target,
    /// The third word does not begin as a version does.
    Constant,
    /// Nor does it go on as one.
    Strict,
    /// The third word is no version of HTTP/1.
    Version,
    /// A field's line has a byte that may not be there.
    Header,
    /// A length is no number.
    Length,
    /// A length is told twice, or beside chunks.
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

/// The methods that wrk knows.
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

/// Where something is wrong: a byte of the text.
type Broken = (Flaw, usize);

/// Checks a text and cuts it into its requests, at least one.
pub(crate) fn check(text: &[u8], parts: &mut Vec<Part>) -> Result<(), RequestProblem> {
    let checked = each_request(text, parts, check_head);
    checked.map_err(|(what, at)| problem(text, what, at))
}

/// Cuts a text into its requests. What is left of one that isn't whole goes out as a part of its
/// own: it is the script's will, and the server's to answer.
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
            // What there is of it may be wrong before it ends.
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

/// Empty lines between requests belong to the one before; they are allowed (RFC 9112, section 2.2).
fn after_line_ends(text: &[u8], from: usize) -> usize {
    let ends = text[from..]
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'));
    from + ends.count()
}

/// Where the head that begins here ends, behind its empty line, and whether one of its fields may
/// tell the length of a body.
fn head_end(text: &[u8], begin: usize) -> Option<(usize, bool)> {
    let (mut line, mut may_have_body) = (begin, false);
    while let Some(length) = memchr(b'\n', &text[line..]) {
        let next = line + length + 1;
        if matches!(&text[line..next], b"\n" | b"\r\n") {
            return Some((next, may_have_body));
        }
        line = next;
        may_have_body |= text.get(line).is_some_and(may_tell_length);
    }
    None
}

/// Whether a field with this first letter may be `Content-Length` or `Transfer-Encoding`: most
/// fields of a request are neither, and a script's requests are cut one by one while it runs.
fn may_tell_length(first: &u8) -> bool {
    matches!(first, b'c' | b'C' | b't' | b'T')
}

/// The first word, as far as it is one.
fn method(head: &[u8]) -> &str {
    let end = memchr(b' ', head).unwrap_or(head.len());
    std::str::from_utf8(&head[..end]).unwrap_or_default()
}

/// Lines with their place, without their ends, up to the empty one. Of a head that breaks off the
/// last line may have no end.
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

/// How long the body is that belongs to a head and stands at the beginning of `rest`.
fn body_len(head: &[u8], begin: usize, rest: &[u8]) -> Result<usize, Broken> {
    let mut length = 0;
    for (at, line) in lines(head).skip(1) {
        if !may_tell_length(&line[0]) {
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

/// How long the chunks at the beginning of `rest` are, if they are whole. Requests frame them as
/// answers do.
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
            // What is missing at the end may be what is wrong there.
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

/// Where the value of a field begins, if it has this name.
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

/// How far a word that ends the text is the beginning of a method that wrk knows.
fn known_len(word: &[u8]) -> usize {
    let common = |method: &&[u8]| method.iter().zip(word).take_while(|(a, b)| a == b).count();
    METHODS.iter().map(common).max().unwrap_or(0)
}

/// Where a target stops being one: it is a path, an asterisk, or has a scheme and a host. That of
/// CONNECT is a host alone (RFC 9112, section 3.2).
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
    let wanted = b"HTTP/1.";
    let same = version
        .iter()
        .zip(wanted)
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

/// A line behind another may go on with that one's value (RFC 9112, section 5.2).
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

/// How many bytes at the beginning make a token (RFC 9110, section 5.6.2).
fn token_len(text: &[u8]) -> usize {
    let is_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(*byte);
    text.iter().take_while(is_token).count()
}

/// A place as line and column.
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
