//! Edits of a text that preserve its line numbers.

use oxc::span::Span;
use std::ops::Range;

/// The edits of a text.
pub(super) struct Edits<'t> {
    text: &'t str,
    /// Parts of the text, each with its replacement.
    replaced: Vec<(Range<usize>, String)>,
}

/// A part of a text.
pub(super) struct Part(Range<usize>);

impl From<Span> for Part {
    fn from(span: Span) -> Self {
        Part(span.start as usize..span.end as usize)
    }
}

impl From<Range<u32>> for Part {
    fn from(range: Range<u32>) -> Self {
        Part(range.start as usize..range.end as usize)
    }
}

impl<'t> Edits<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Edits {
            text,
            replaced: Vec::new(),
        }
    }

    /// Replaces a part.
    pub(super) fn replace(&mut self, part: impl Into<Part>, by: String) {
        self.replaced.push((part.into().0, by));
    }

    /// Replaces a statement by an empty one with as many line breaks.
    pub(super) fn blank(&mut self, statement: impl Into<Part>) {
        let part = statement.into();
        let breaks = self.text[part.0.clone()].chars().filter(|c| *c == '\n');
        let blank = std::iter::once(';').chain(breaks).collect();
        self.replace(part, blank);
    }

    /// Returns the edited text.
    pub(super) fn applied(mut self) -> String {
        self.replaced.sort_by_key(|(part, _)| part.start);
        let mut out = String::with_capacity(self.text.len() + 64);
        let mut done = 0;
        for (part, by) in &self.replaced {
            out.push_str(&self.text[done..part.start]);
            out.push_str(by);
            done = part.end;
        }
        out.push_str(&self.text[done..]);
        out
    }
}
