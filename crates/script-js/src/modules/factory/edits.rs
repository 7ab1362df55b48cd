//! Changes of a text that leave its lines where they are.

use oxc::span::Span;
use std::ops::Range;

/// What is to be changed in a text.
pub(super) struct Edits<'t> {
    text: &'t str,
    /// What stands in place of parts of it.
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

    /// Puts something in place of a part.
    pub(super) fn replace(&mut self, part: impl Into<Part>, by: String) {
        self.replaced.push((part.into().0, by));
    }

    /// Puts an empty statement in place of a statement.
    pub(super) fn blank(&mut self, statement: impl Into<Part>) {
        let part = statement.into();
        let breaks = self.text[part.0.clone()].chars().filter(|c| *c == '\n');
        let blank = std::iter::once(';').chain(breaks).collect();
        self.replace(part, blank);
    }

    /// The changed text.
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
