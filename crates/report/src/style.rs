//! Colour, if it is requested.
//!
//! Text is padded first and painted after: escape sequences have no width on a terminal.

use anstyle::AnsiColor;

/// Paints, or leaves text as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    color: bool,
}

impl Style {
    /// A style that paints if `color` is set.
    pub(crate) fn new(color: bool) -> Style {
        Style { color }
    }

    /// A heading, or the figure that matters most.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    /// Paints text that only explains.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint(anstyle::Style::new().dimmed(), text)
    }

    /// As it should be.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// To be looked at.
    pub(crate) fn doubtful(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    /// Not as it should be.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// A bar of a diagram.
    pub(crate) fn bar(self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    fn paint(self, style: anstyle::Style, text: &str) -> String {
        if !self.color || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_text_stays_as_it_is() {
        assert_eq!(Style::new(false).bad("failed"), "failed");
    }

    #[test]
    fn painted_text_ends_its_own_colour() {
        let painted = Style::new(true).good("passed");
        assert!(
            painted.starts_with("\x1b[") && painted.ends_with("passed\x1b[0m"),
            "{painted:?}"
        );
    }

    #[test]
    fn blanks_are_never_painted() {
        assert_eq!(Style::new(true).bar("   "), "   ");
    }
}
