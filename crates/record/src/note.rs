//! Notes that people write on a run while it lasts.

use serde::{Deserialize, Serialize};

/// The most characters of a note.
const LONGEST: usize = 500;

/// A note on an instant of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The instant, in nanoseconds from the begin of the measured part.
    pub at_ns: u64,
    /// The text: one line of at most 500 characters.
    pub text: String,
}

impl Note {
    /// Creates a note of this text, as one line and cut to its greatest length; `None` if nothing
    /// is left of it.
    pub fn new(at_ns: u64, text: &str) -> Option<Note> {
        let plain = text.replace(char::is_control, " ");
        let text: String = plain.trim().chars().take(LONGEST).collect();
        (!text.is_empty()).then_some(Note { at_ns, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_one_line_that_says_something() {
        assert_eq!(Note::new(3, " \n\t "), None);
        let note = Note::new(3, " cache\ncleared\u{1b} ").unwrap();
        assert_eq!((note.at_ns, &*note.text), (3, "cache cleared"));
        let long = Note::new(0, &"é".repeat(501)).unwrap();
        assert_eq!(long.text.chars().count(), 500);
    }
}
