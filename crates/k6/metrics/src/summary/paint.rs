//! The colours of the summary on a terminal: k6's own (`summary.js`).

use super::Ended;

/// The kinds of text in the summary. Their numbers are those of ECMA-48, 8.3.117 (SGR).
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A title.
    Title,
    /// A check or threshold that passed.
    Good,
    /// A check or threshold that failed.
    Bad,
    /// The condition of a threshold.
    Condition,
    /// A value.
    Value,
    /// The text after the first value.
    More,
    /// The dots between a name and its values.
    Dots,
}

impl Part {
    /// Returns the part for a passed or failed condition.
    pub(super) fn held(is_ok: bool) -> Self {
        if is_ok { Part::Good } else { Part::Bad }
    }

    fn numbers(self, is_legacy: bool) -> &'static str {
        match (self, is_legacy) {
            (Part::Title, _) => "1",
            (Part::Good, _) => "32",
            (Part::Bad, _) => "31",
            (Part::Condition, _) => "37",
            (Part::Value, _) => "36",
            (Part::More, false) => "2;36",
            (Part::More, true) => "36;2",
            (Part::Dots, false) => "2;37",
            (Part::Dots, true) => "2",
        }
    }
}

/// The colours of one form of the summary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    has_colours: bool,
    is_legacy: bool,
}

impl Paint {
    /// Returns the colours of the usual form, or of the older one.
    pub(super) fn of(ended: &Ended<'_>, is_legacy: bool) -> Self {
        Paint {
            has_colours: ended.has_colours,
            is_legacy,
        }
    }

    /// Returns a text in the colour of its part.
    pub(super) fn text(self, part: Part, text: &str) -> String {
        match self.has_colours {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", part.numbers(self.is_legacy)),
            false => text.to_owned(),
        }
    }

    /// Returns a text in the colour of its part, padded with spaces to this width.
    pub(super) fn padded(self, part: Part, text: &str, width: usize) -> String {
        let missing = width.saturating_sub(text.chars().count());
        format!("{}{:missing$}", self.text(part, text), "")
    }

    /// Returns a statistic with its value in colour, padded with spaces to this width.
    pub(super) fn stat(self, text: &str, width: usize) -> String {
        match text.split_once('=') {
            Some((name, value)) => {
                let left = width.saturating_sub(name.chars().count() + 1);
                format!("{name}={}", self.padded(Part::Value, value, left))
            }
            None => format!("{text:width$}"),
        }
    }
}
