//! The key of a series.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The highest number of bytes of a name, of a tag's key or of its value.
pub const LONGEST_NAME: usize = 2_048;
/// The name of the series that requests without room for their own share.
const OVERFLOW: &str = "(other)";

/// A name and tags. Two requests with the same key are in one series. Clones share their texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    name: Arc<str>,
    tags: Option<Arc<BTreeMap<String, String>>>,
}

/// The reason why a text cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// The name is empty.
    #[error("a name is empty; give it at least one character, or leave it out")]
    Empty,
    /// The name would take too much room in every report.
    #[error("a name has {0} bytes; shorten it to {LONGEST_NAME} or less")]
    TooLong(usize),
    /// The name would garble terminals and files.
    #[error("the name {0:?} has a control character; write it without")]
    Control(String),
}

impl Key {
    /// Creates a key of this name, without tags.
    pub fn new(name: &str) -> Result<Key, InvalidName> {
        Key::tagged(name, BTreeMap::new())
    }

    /// Creates a key of this name and these tags.
    pub fn tagged(name: &str, tags: BTreeMap<String, String>) -> Result<Key, InvalidName> {
        check(name)?;
        for (tag, value) in &tags {
            check(tag)?;
            check(value)?;
        }
        Ok(Key {
            name: name.into(),
            tags: (!tags.is_empty()).then(|| Arc::new(tags)),
        })
    }

    /// Returns the key that requests without room for their own series share.
    pub fn overflow() -> Key {
        Key {
            name: OVERFLOW.into(),
            tags: None,
        }
    }

    /// True for the key of [`overflow`](Self::overflow).
    pub fn is_overflow(&self) -> bool {
        &*self.name == OVERFLOW && self.tags.is_none()
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns each tag with its value, in the order of the tags.
    pub fn tags(&self) -> impl Iterator<Item = (&str, &str)> {
        let tags = self.tags.iter().flat_map(|tags| tags.iter());
        tags.map(|(tag, value)| (tag.as_str(), value.as_str()))
    }
}

/// Writes the name, with its tags in braces if there are any: `login{user:new}`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (tag, value)) in self.tags().enumerate() {
            let before = if index == 0 { "{" } else { "," };
            write!(f, "{before}{tag}:{value}")?;
        }
        f.write_str(if self.tags.is_some() { "}" } else { "" })
    }
}

fn check(text: &str) -> Result<(), InvalidName> {
    if text.is_empty() {
        return Err(InvalidName::Empty);
    }
    if text.len() > LONGEST_NAME {
        return Err(InvalidName::TooLong(text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err(InvalidName::Control(text.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tags: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(tag, value): &(&str, &str)| ((*tag).to_owned(), (*value).to_owned());
        tags.iter().map(owned).collect()
    }

    #[test]
    fn a_key_is_printed_with_its_tags_in_order() {
        assert_eq!(Key::new("login").unwrap().to_string(), "login");
        let key = Key::tagged("login", tags(&[("user", "new"), ("plan", "free")])).unwrap();
        assert_eq!(key.to_string(), "login{plan:free,user:new}");
    }

    #[test]
    fn keys_differ_by_name_and_by_tags() {
        let plain = Key::new("login").unwrap();
        let tagged = Key::tagged("login", tags(&[("user", "new")])).unwrap();
        assert_ne!(plain, tagged);
        assert_eq!(plain, Key::tagged("login", tags(&[])).unwrap());
        assert!(Key::overflow().is_overflow() && !plain.is_overflow());
    }

    #[test]
    fn names_that_would_garble_a_report_are_refused() {
        assert_eq!(Key::new(""), Err(InvalidName::Empty));
        let control = InvalidName::Control("a\u{1b}[2J".to_owned());
        assert_eq!(Key::new("a\u{1b}[2J"), Err(control));
        let long = "x".repeat(LONGEST_NAME + 1);
        assert_eq!(Key::new(&long), Err(InvalidName::TooLong(LONGEST_NAME + 1)));
        assert!(Key::new(&long[1..]).is_ok());
        assert!(Key::tagged("a", tags(&[("b", "c\n")])).is_err());
    }
}
