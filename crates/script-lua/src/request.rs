//! What a script wants sent: a text of one request or several, cut into its parts.
//!
//! The first text is checked as wrk checks it, with the same words for what is wrong and the place
//! as line and column; later ones are only cut. Methods are not: any token will do, where wrk knows
//! a list.
//!
//! The grammar is that of RFC 9112, sections 3 and 6; lines may end with LF alone.

use loadline_engine::Part;
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
    /// The third word is no version of HTTP/1.
    Version,
    /// A field's line has a byte that may not be there.
    Header,
    /// A length is no number.
    Length,
    /// The text ends before the request does.
    Incomplete,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Method => "invalid HTTP method",
            Flaw::Target => "invalid URL",
            Flaw::Version => "invalid HTTP version",
            Flaw::Header => "invalid character in header",
            Flaw::Length => "invalid character in content-length header",
            Flaw::Incomplete => "incomplete request",
        })
    }
}

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
        let head_end = head_end(text, begin)?;
        let head = &text[begin..head_end];
        check(head, begin)?;
        let end = head_end + body_len(head, begin, &text[head_end..])?;
        if end > text.len() {
            return Err((Flaw::Incomplete, text.len()));
        }
        begin = after_line_ends(text, end);
        parts.push(Part {
            end: begin,
            expect: Expect::for_method(method(head)),
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

/// Where the head that begins here ends, behind its empty line.
fn head_end(text: &[u8], begin: usize) -> Result<usize, Broken> {
    let mut line = begin;
    while let Some(length) = memchr(b'\n', &text[line..]) {
        let next = line + length + 1;
        if matches!(&text[line..next], b"\n" | b"\r\n") {
            return Ok(next);
        }
        line = next;
    }
    Err((Flaw::Incomplete, text.len()))
}

/// The first word, as far as it is one.
fn method(head: &[u8]) -> &str {
    let word = head.split(|byte| *byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(word).unwrap_or_default()
}

/// Lines with their place, without their ends, up to the empty one.
fn lines(head: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let begin = next;
        next += memchr(b'\n', &head[begin..])? + 1;
        let line = &head[begin..next - 1];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (!line.is_empty()).then_some((begin, line))
    })
}

/// How long the body is that belongs to a head and stands at the beginning of `rest`.
fn body_len(head: &[u8], begin: usize, rest: &[u8]) -> Result<usize, Broken> {
    let mut length = 0;
    for (at, line) in lines(head).skip(1) {
        // Most fields are neither of the two, which their first letter tells.
        if !matches!(line[0], b'c' | b'C' | b't' | b'T') {
            continue;
        }
        let (name, value) = line.split_at(memchr(b':', line).unwrap_or(line.len()));
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            let number = std::str::from_utf8(value)
                .ok()
                .and_then(|text| text.parse().ok());
            length = number.ok_or((Flaw::Length, begin + at + line.len()))?;
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
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
    for (number, (at, line)) in lines(head).enumerate() {
        let checked = if number == 0 {
            check_request_line(line)
        } else {
            check_field(line)
        };
        checked.map_err(|(flaw, place)| (flaw, begin + at + place))?;
    }
    Ok(())
}

fn check_request_line(line: &[u8]) -> Result<(), Broken> {
    let method = token_len(line);
    if method == 0 || line.get(method) != Some(&b' ') {
        return Err((Flaw::Method, method));
    }
    let rest = &line[method + 1..];
    let target = rest
        .iter()
        .take_while(|byte| **byte > b' ' && **byte != 0x7f)
        .count();
    let target_end = method + 1 + target;
    if target == 0 || line.get(target_end) != Some(&b' ') {
        return Err((Flaw::Target, target_end));
    }
    match &line[target_end + 1..] {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1'] => Ok(()),
        _ => Err((Flaw::Version, target_end + 1)),
    }
}

fn check_field(line: &[u8]) -> Result<(), Broken> {
    let name = token_len(line);
    if name == 0 || line.get(name) != Some(&b':') {
        return Err((Flaw::Header, name));
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
