//! Options before the one operand, as `getopt` of the Apache portable runtime reads them: bundled
//! letters, a value in the same word or the next, no long names, no reordering.

/// The letters that take a value.
const WITH_VALUE: &str = "nctsbBTpumvxyzCHPAXgeZfE";
/// The letters that take no value.
const ALONE: &str = "lrkVhwidSqI";

/// One option, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letter<'a> {
    /// A letter without a value.
    Alone(char),
    /// A letter and its value.
    With(char, &'a str),
    /// An unknown letter.
    Illegal(char),
    /// A letter whose value is missing.
    NoValue(char),
}

/// Reads options from the front of a list of words.
#[derive(Debug)]
pub(super) struct Letters<'a> {
    words: &'a [String],
    /// The index of the current or next word.
    index: usize,
    /// The rest of that word's letters; empty between words.
    bundle: &'a str,
}

impl<'a> Letters<'a> {
    pub(super) fn new(words: &'a [String]) -> Self {
        Letters {
            words,
            index: 0,
            bundle: "",
        }
    }

    /// Returns the remaining words, including a word whose letters were not all read.
    pub(super) fn rest(&self) -> &'a [String] {
        self.words.get(self.index..).unwrap_or_default()
    }

    /// Begins the next word, if it has letters.
    fn open_word(&mut self) -> Option<()> {
        let word = self.words.get(self.index)?;
        let letters = word.strip_prefix('-').filter(|rest| !rest.is_empty())?;
        // The rest of such a word is ignored.
        if letters.starts_with('-') {
            self.index += 1;
            return None;
        }
        self.bundle = letters;
        Some(())
    }

    fn close_word(&mut self) {
        if self.bundle.is_empty() {
            self.index += 1;
        }
    }

    fn value(&mut self, letter: char) -> Letter<'a> {
        self.index += 1;
        if !self.bundle.is_empty() {
            return Letter::With(letter, std::mem::take(&mut self.bundle));
        }
        let Some(value) = self.words.get(self.index) else {
            return Letter::NoValue(letter);
        };
        self.index += 1;
        Letter::With(letter, value)
    }
}

impl<'a> Iterator for Letters<'a> {
    type Item = Letter<'a>;

    fn next(&mut self) -> Option<Letter<'a>> {
        if self.bundle.is_empty() {
            self.open_word()?;
        }
        let letter = self.bundle.chars().next()?;
        self.bundle = &self.bundle[letter.len_utf8()..];
        if WITH_VALUE.contains(letter) {
            return Some(self.value(letter));
        }
        self.close_word();
        Some(match ALONE.contains(letter) {
            true => Letter::Alone(letter),
            false => Letter::Illegal(letter),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn letters_stand_alone_or_together_before_the_operand() {
        let words = words("-kn 5 -c2 -dS http://a/ -q");
        let mut letters = Letters::new(&words);
        let taken: Vec<_> = letters.by_ref().collect();
        let expected = [
            Letter::Alone('k'),
            Letter::With('n', "5"),
            Letter::With('c', "2"),
            Letter::Alone('d'),
            Letter::Alone('S'),
        ];
        assert_eq!(taken, expected);
        assert_eq!(letters.rest(), ["http://a/", "-q"]);
    }

    #[test]
    fn two_dashes_end_the_options_and_one_is_an_operand() {
        for (line, rest) in [("-k -- -n", 1), ("-k --help -n", 1), ("-k - -n", 2)] {
            let words = words(line);
            let mut letters = Letters::new(&words);
            assert_eq!(letters.by_ref().count(), 1, "{line}");
            assert_eq!(letters.rest().len(), rest, "{line}");
        }
    }

    #[test]
    fn an_unknown_letter_keeps_its_word_unless_it_is_the_last_in_it() {
        for (line, rest) in [("-Q a", 1), ("-Qk a", 2)] {
            let words = words(line);
            let mut letters = Letters::new(&words);
            assert_eq!(letters.next(), Some(Letter::Illegal('Q')));
            assert_eq!(letters.rest().len(), rest, "{line}");
        }
    }

    #[test]
    fn a_value_may_be_missing() {
        let words = words("-k -n");
        let mut letters = Letters::new(&words);
        assert_eq!(letters.next(), Some(Letter::Alone('k')));
        assert_eq!(letters.next(), Some(Letter::NoValue('n')));
        assert!(letters.rest().is_empty());
    }
}
