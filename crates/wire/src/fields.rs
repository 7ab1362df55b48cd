//! Field lines: their ends, names and values, and obsolete line folding (RFC 9112, section 5).
//!
//! A field that continues on lines which begin with a blank is handled here as one line that
//! contains line ends.

use std::borrow::Cow;

use memchr::memchr;

/// Returns the length of the empty line at the start of `rest`, in bytes; 0 if there is no empty
/// line.
#[inline]
pub(crate) fn empty_line(rest: &[u8]) -> usize {
    match rest {
        // Most lines begin with such a byte, and one comparison recognises it.
        [b' '..=u8::MAX, ..] => 0,
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

/// Returns the end of the line at the start of `rest`, after its LF and its folds; `None` until the
/// first byte of the next line has arrived, which shows whether the line is folded.
#[inline]
pub(crate) fn line_end(rest: &[u8]) -> Option<usize> {
    let mut end = memchr(b'\n', rest)? + 1;
    while is_blank(*rest.get(end)?) {
        end += memchr(b'\n', &rest[end..])? + 1;
    }
    Some(end)
}

#[inline]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the value of the field in `line`, including line end and blanks, if the field's name is
/// `lower`.
#[inline]
pub(crate) fn value_of<'a, const N: usize>(line: &'a [u8], lower: &[u8; N]) -> Option<&'a [u8]> {
    let (name, rest) = line.split_at_checked(N)?;
    if !is_in_any_case(name, lower) {
        return None;
    }
    match rest {
        [b':', value @ ..] => Some(value),
        _ => after_blanks_and_colon(rest),
    }
}

/// Returns the value after a colon that is preceded by blanks, which are tolerated.
#[cold]
fn after_blanks_and_colon(rest: &[u8]) -> Option<&[u8]> {
    let colon = rest.iter().position(|&byte| !is_blank(byte))?;
    rest[colon..].strip_prefix(b":")
}

/// True if `text` equals `lower`, which has letters and dashes only, in any case.
///
/// All bytes are compared at once, without branches. As a side effect a carriage return equals a
/// dash, in a place where no server has a reason to send one.
#[inline]
pub(crate) fn is_in_any_case<const N: usize>(text: &[u8], lower: &[u8; N]) -> bool {
    let Ok(text) = <&[u8; N]>::try_from(text) else {
        return false;
    };
    let differences = text
        .iter()
        .zip(lower)
        .map(|(byte, lower)| (byte | 0x20) ^ lower);
    differences.fold(0, |all, difference| all | difference) == 0
}

/// Returns the elements of a comma-separated list, without blanks around them and without empty
/// ones (RFC 9110, section 5.6.1).
pub(crate) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&b| b == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
}

/// Calls `see` with name and value of each field of a whole block, up to the block's empty line.
///
/// Lines without a name or a colon are skipped.
pub(crate) fn each_field(mut block: &[u8], mut see: impl FnMut(&[u8], &[u8])) {
    while let Some(end) = line_end(block) {
        if let Some((name, value)) = field(&block[..end]) {
            see(name, &value);
        }
        block = &block[end..];
        if empty_line(block) > 0 {
            break;
        }
    }
}

/// Returns name and value of the field in `line`, which ends with a line end. The name must end on
/// the first of folded lines.
fn field(line: &[u8]) -> Option<(&[u8], Cow<'_, [u8]>)> {
    let first = &line[..memchr(b'\n', line)? + 1];
    let colon = memchr(b':', first)?;
    let name = line[..colon].trim_ascii_end();
    let value = match first.len() == line.len() {
        true => Cow::Borrowed(line[colon + 1..].trim_ascii()),
        false => unfolded(&line[colon + 1..]),
    };
    (!name.is_empty()).then_some((name, value))
}

/// Returns the value without blanks around it, with each fold replaced by one space.
#[cold]
fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    let value = value.trim_ascii();
    if memchr(b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let lines = value.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    Cow::Owned(lines.join(&b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_the_next_begins() {
        assert_eq!(line_end(b"A: 1\r\nB"), Some(6));
        assert_eq!(line_end(b"A: 1\nB"), Some(5));
        assert_eq!(line_end(b"A: 1\r\n 2\r\n\t3\r\nB"), Some(14));
    }

    #[test]
    fn a_line_end_is_unknown_until_the_next_line_begins() {
        assert_eq!(line_end(b"A: 1\r\n"), None);
        assert_eq!(line_end(b"A: 1\r\n 2\r\n"), None);
        assert_eq!(line_end(b"A: 1"), None);
    }

    #[test]
    fn an_empty_line_is_lf_or_crlf() {
        assert_eq!(empty_line(b"\nA"), 1);
        assert_eq!(empty_line(b"\r\nA"), 2);
        assert_eq!(empty_line(b"\rA"), 0);
        assert_eq!(empty_line(b"A"), 0);
        assert_eq!(empty_line(b""), 0);
    }

    #[test]
    fn a_name_is_known_in_any_case() {
        for line in ["a-name: b\n", "A-NAME: b\n", "A-nAmE: b\n"] {
            assert_eq!(value_of(line.as_bytes(), b"a-name"), Some(&b" b\n"[..]));
        }
        for line in [
            "a-names: b\n",
            "a_name: b\n",
            "a-nam: b\n",
            "x-name: b\n",
            "a-name\n",
            "",
        ] {
            assert_eq!(value_of(line.as_bytes(), b"a-name"), None, "{line}");
        }
    }

    #[test]
    fn blanks_before_the_colon_do_not_belong_to_the_name() {
        assert_eq!(value_of(b"A \t: 1\n", b"a"), Some(&b" 1\n"[..]));
        assert_eq!(
            field(b"A \t: 1\n"),
            Some((&b"A"[..], Cow::Borrowed(&b"1"[..])))
        );
    }

    #[test]
    fn a_field_is_split_at_its_first_colon() {
        assert_eq!(
            field(b"A: 1:2\r\n"),
            Some((&b"A"[..], Cow::Borrowed(&b"1:2"[..])))
        );
        assert_eq!(field(b"A:\n"), Some((&b"A"[..], Cow::Borrowed(&b""[..]))));
    }

    #[test]
    fn a_line_without_a_name_or_a_colon_is_no_field() {
        for line in [
            "no colon\r\n",
            ": value\r\n",
            "  : value\r\n",
            "a\r\n b: c\n",
        ] {
            assert_eq!(field(line.as_bytes()), None);
        }
        assert_eq!(value_of(b"a\r\n : c\n", b"a"), None);
    }

    #[test]
    fn a_list_has_no_blanks_and_no_empty_elements() {
        let elements: Vec<_> = list(b" a ,, b\r\n c,\t,").collect();
        assert_eq!(elements, [&b"a"[..], b"b\r\n c"]);
    }

    #[test]
    fn each_fold_becomes_one_space() {
        assert_eq!(*unfolded(b" a \r\n  b\r\n \r\n\tc\r\n"), b"a b c"[..]);
    }

    #[test]
    fn a_plain_value_is_not_copied() {
        assert!(matches!(unfolded(b" a  b \r\n"), Cow::Borrowed(b"a  b")));
    }

    #[test]
    fn fields_end_at_the_empty_line() {
        let mut seen = Vec::new();
        let block = b"A: 1\r\nno field\r\nB:2\n\r\nC: 3\r\n";
        each_field(block, |name, value| {
            seen.push((name.to_vec(), value.to_vec()))
        });
        assert_eq!(
            seen,
            [
                (b"A".to_vec(), b"1".to_vec()),
                (b"B".to_vec(), b"2".to_vec())
            ]
        );
    }
}
