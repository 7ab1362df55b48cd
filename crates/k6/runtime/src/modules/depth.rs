//! The nesting depth of source code, and a stack on which it can be parsed.
//!
//! The parser and the steps after it recurse as deep as the source is nested, without a limit, and
//! they are called on the small stacks of users. So they run on a thread of their own, whose stack
//! is large enough for the nesting that a first scan of the brackets permits. Unused pages of that
//! stack are never in memory.

use std::thread;

/// The maximum depth of brackets. QuickJS's own limit is lower.
const MOST_NESTED: usize = 4_000;

/// The maximum stack that a level of brackets needs.
const LEVEL_BYTES: usize = if cfg!(debug_assertions) {
    32 << 10
} else {
    4 << 10
};

/// The maximum stack that any other sign needs: a chain such as `a=>a=>a` is nested without
/// brackets.
const SIGN_BYTES: usize = if cfg!(debug_assertions) {
    8 << 10
} else {
    1 << 10
};

/// The smallest and the largest stack.
const LEAST_BYTES: usize = 16 << 20;
const MOST_BYTES: usize = 1 << 30;

/// The error for source that is nested too deep to be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the source is nested too deep: Loadline takes {MOST_NESTED} levels of brackets")]
pub(crate) struct TooDeep;

/// Runs code that recurses through this source, on a stack that is deep enough.
///
/// # Errors
/// If the source is nested too deep.
pub(crate) fn deep_enough<T: Send>(
    text: &str,
    run: impl FnOnce() -> T + Send,
) -> Result<T, TooDeep> {
    let needed = needed_bytes(text).ok_or(TooDeep)?;
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(needed);
        let thread = thread.spawn_scoped(scope, run).map_err(|_| TooDeep)?;
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Returns the required size of the stack; `None` if the source is nested too deep.
fn needed_bytes(text: &str) -> Option<usize> {
    let scan = Scan::at(text.as_bytes());
    let brackets = scan.deepest.saturating_mul(LEVEL_BYTES);
    let signs = scan.longest.saturating_mul(SIGN_BYTES);
    let needed = LEAST_BYTES.saturating_add(brackets).saturating_add(signs);
    (scan.deepest <= MOST_NESTED).then(|| needed.min(MOST_BYTES))
}

/// The result of a first scan of source code. The scan does not distinguish a regular expression
/// from a division, so a bracket in a regular expression counts as a level.
#[derive(Debug, Default, PartialEq, Eq)]
struct Scan {
    /// The maximum depth of brackets.
    deepest: usize,
    /// The maximum number of other signs between two commas or semicolons: those that may nest,
    /// such as operators, and words that an operand follows.
    longest: usize,
}

impl Scan {
    fn at(text: &[u8]) -> Self {
        let mut scan = Scan::default();
        let (mut open, mut at, mut signs) = (Vec::new(), 0, 0);
        while let Some(byte) = text.get(at) {
            at += 1;
            match byte {
                b'"' | b'\'' => at = behind_text(text, at, *byte),
                b'`' => at = behind_template(text, at, &mut open),
                b'/' if text.get(at) == Some(&b'/') => at = behind(text, at, b"\n"),
                b'/' if text.get(at) == Some(&b'*') => at = behind(text, at + 1, b"*/"),
                b'(' | b'[' | b'{' => open.push(*byte),
                b'}' if open.last() == Some(&b'`') => {
                    open.pop();
                    at = behind_template(text, at, &mut open);
                }
                b')' | b']' | b'}' => {
                    open.pop();
                    signs += 1;
                }
                b';' | b',' => signs = 0,
                b' ' | b'\n' | b'\r' | b'\t' => {
                    signs += usize::from(is_word_before(text, at - 1));
                }
                byte if byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'$') => {
                    signs += 1;
                }
                _ => {}
            }
            scan.deepest = scan.deepest.max(open.len());
            scan.longest = scan.longest.max(signs);
        }
        scan
    }
}

/// True if a word ends here after which an expression or a statement is nested.
fn is_word_before(text: &[u8], end: usize) -> bool {
    const WORDS: [&[u8]; 9] = [
        b"else", b"new", b"await", b"typeof", b"void", b"delete", b"yield", b"do", b"keyof",
    ];
    WORDS.iter().any(|word| text[..end].ends_with(word))
}

/// Returns the end of a string literal with this quote, at most the end of the line.
fn behind_text(text: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'\\' => 2,
            byte if *byte == quote || *byte == b'\n' => return at + 1,
            _ => 1,
        };
    }
    at
}

/// Returns the end of a template literal, or the beginning of an expression inserted into it.
fn behind_template(text: &[u8], mut at: usize, open: &mut Vec<u8>) -> usize {
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'\\' => 2,
            b'`' => return at + 1,
            b'$' if text.get(at + 1) == Some(&b'{') => {
                open.push(b'`');
                return at + 2;
            }
            _ => 1,
        };
    }
    at
}

/// Returns the position after the next occurrence of these bytes.
fn behind(text: &[u8], at: usize, end: &[u8]) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let found = rest.windows(end.len()).position(|window| window == end);
    found.map_or(text.len(), |found| at + found + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deepest(text: &str) -> usize {
        Scan::at(text.as_bytes()).deepest
    }

    #[test]
    fn brackets_are_counted_where_they_are_code() {
        assert_eq!(deepest("f([{}], {}); g()"), 3);
        assert_eq!(deepest("'(((' + \"[[\\\"[\" // {{{\n/* ((( */ + (1)"), 1);
        assert_eq!(deepest("`((( ${f(`${[1]}`)} (((` + (1)"), 4);
        assert_eq!(deepest("'unclosed (\n(()) \\"), 2);
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        let brackets = |count: usize| "[".repeat(count) + &"]".repeat(count);
        assert_eq!(deep_enough(&brackets(MOST_NESTED), || 7), Ok(7));
        assert_eq!(deep_enough(&brackets(MOST_NESTED + 1), || 7), Err(TooDeep));
    }

    #[test]
    fn chains_without_brackets_need_stack_as_well() {
        let least = needed_bytes("").unwrap();
        for link in ["a=>", "!", "0?1:", "new ", "else ", "if(0)"] {
            let chain = needed_bytes(&link.repeat(10_000)).unwrap();
            assert!(chain >= least + 10_000 * SIGN_BYTES, "{link}");
        }
        let data = needed_bytes(&"{ \"a\": -1.5 }, ".repeat(100_000)).unwrap();
        assert!(data < least + 100 * SIGN_BYTES + 10 * LEVEL_BYTES, "{data}");
    }
}
