//! Header fields and methods as typed, and the characters that HTTP allows in them.

use super::Header;
use crate::Error;
use std::fmt;
use std::str::FromStr;

/// A reason why a header line is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderProblem {
    /// No colon, and no semicolon at the end.
    #[error("it needs a name and a value, such as `Accept: text/html`.")]
    Colon,
    /// No value after the colon, which other tools read as "leave the header out".
    #[error("it has no value. Write `{0};` to send it empty.")]
    Empty(String),
    /// A name with characters that HTTP does not allow.
    #[error("`{0}` can't be a name; names are letters, digits and any of !#$%&'*+-.^_`|~.")]
    Name(String),
    /// A value with a line break or another control character.
    #[error("its value has a line break or another control character.")]
    Value,
}

impl Header {
    /// Creates a field, if HTTP allows its name and value.
    ///
    /// # Errors
    /// [`Error::Header`] for a name that is not a token, or a value with control characters.
    pub fn new(name: &str, value: &str) -> Result<Self, Error> {
        let value = value.trim_matches([' ', '\t']);
        let refused = |problem| {
            Err(Error::Header {
                text: format!("{name}: {value}"),
                problem,
            })
        };
        if !is_token(name) {
            return refused(HeaderProblem::Name(name.to_owned()));
        }
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return refused(HeaderProblem::Value);
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }

    /// True if the field has this name; case does not matter.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl FromStr for Header {
    type Err = Error;

    /// Reads `Name: value`, `Name:value`, or `Name;` for an empty value, as curl does.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |problem| Error::Header {
            text: text.to_owned(),
            problem,
        };
        if let Some((name, value)) = text.split_once(':') {
            if value.trim().is_empty() && is_token(name) {
                return Err(refused(HeaderProblem::Empty(name.to_owned())));
            }
            return Self::new(name, value);
        }
        let name = text
            .strip_suffix(';')
            .ok_or_else(|| refused(HeaderProblem::Colon))?;
        Self::new(name, "")
    }
}

impl fmt::Display for Header {
    /// Prints the line so that it is read back as the same field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.as_str() {
            "" => write!(f, "{};", self.name),
            value => write!(f, "{}: {value}", self.name),
        }
    }
}

/// Reads a method: any token, as sent.
///
/// # Errors
/// [`Error::Method`] for an empty text, or characters that HTTP does not allow.
pub fn parse_method(text: &str) -> Result<String, Error> {
    if is_token(text) {
        Ok(text.to_owned())
    } else {
        Err(Error::Method(text.to_owned()))
    }
}

/// True if `text` is a token (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_names_and_values() {
        for (text, name, value) in [
            ("Accept: text/html", "Accept", "text/html"),
            ("Accept:text/html", "Accept", "text/html"),
            ("X-Time:  10:30 \t", "X-Time", "10:30"),
            ("X-Name: Zoë", "X-Name", "Zoë"),
            ("X-Empty;", "X-Empty", ""),
            ("x_~!: a\tb", "x_~!", "a\tb"),
        ] {
            let header = Header {
                name: name.to_owned(),
                value: value.to_owned(),
            };
            assert_eq!(text.parse(), Ok(header), "{text}");
        }
    }

    #[test]
    fn broken_lines_say_what_is_wrong() {
        let name = |name: &str| HeaderProblem::Name(name.to_owned());
        for (text, expected) in [
            ("", HeaderProblem::Colon),
            ("Accept", HeaderProblem::Colon),
            ("Accept:", HeaderProblem::Empty("Accept".into())),
            ("Accept: ", HeaderProblem::Empty("Accept".into())),
            (": text/html", name("")),
            (":", name("")),
            (";", name("")),
            ("Acc ept: text/html", name("Acc ept")),
            ("Accept : text/html", name("Accept ")),
            ("Zoë: 1", name("Zoë")),
            ("A: b\r\nC: d", HeaderProblem::Value),
            ("A: b\0", HeaderProblem::Value),
        ] {
            match text.parse::<Header>() {
                Err(Error::Header { problem, .. }) => assert_eq!(problem, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn names_are_the_same_in_any_case() {
        let header: Header = "content-type: text/plain".parse().expect("a header");
        assert!(header.is("Content-Type"));
        assert!(!header.is("Content"));
    }

    #[test]
    fn methods_are_one_word() {
        for method in ["GET", "PURGE", "M-SEARCH", "get"] {
            assert_eq!(parse_method(method), Ok(method.to_owned()));
        }
        for method in ["", "GET /", "G\n", "Ä"] {
            assert_eq!(parse_method(method), Err(Error::Method(method.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn every_header_reads_back(name in "[A-Za-z0-9-]{1,20}", value in "\\PC*") {
            if let Ok(header) = Header::new(&name, &value) {
                prop_assert_eq!(header.to_string().parse(), Ok(header));
            }
        }
    }
}
