//! The exceptions of a script, each with its stack.

use super::Canvas;
use crate::{exceptions, layout};
use loadline_record::{Exception, Summary};
use loadline_units as units;

/// Columns of a message, at most.
const MESSAGE: usize = 200;

pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let all = &summary.total.exceptions;
    if all.is_empty() {
        return Vec::new();
    }
    let each = all.iter();
    let each = each.flat_map(|exception| one(exception, summary, canvas));
    let left_out = exceptions::left_out(summary).into_iter();
    let left_out = left_out.flat_map(|sentence| canvas.paragraph(&sentence));
    let heading = canvas.heading("Exceptions", "");
    std::iter::once(heading)
        .chain(each)
        .chain(left_out)
        .collect()
}

/// The lines of an exception: what it is, how often it occurred, and its stack below.
fn one(exception: &Exception, summary: &Summary, canvas: Canvas) -> Vec<String> {
    let named = [&exception.kind, &exception.message].map(|text| layout::harmless(text));
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let named: Vec<&str> = named.into_iter().filter(|text| !text.is_empty()).collect();
    let what = layout::cut(&named.join(": "), MESSAGE);
    let after_ns = exceptions::after_ns(exception, summary);
    let parts = match exception.parts.is_empty() {
        true => String::new(),
        false => format!(", in {}", layout::harmless(&exceptions::parts(exception))),
    };
    let count = format!(
        "{}, from {} on{parts}",
        units::counted(exception.count, "time"),
        units::time(after_ns as f64),
    );
    let mut lines = layout::hanging("  ", &what, canvas.width);
    if let Some(first) = lines.first_mut() {
        *first = format!("  {}", canvas.style.bad(first.trim_start()));
    }
    lines.extend(layout::hanging("    ", &count, canvas.width));
    for frame in exception.trace.lines() {
        let begin = frame.len() - frame.trim_start().len();
        let indent = layout::blanks(6 + begin);
        let frame = layout::harmless(frame.trim_start());
        lines.extend(layout::hanging(&indent, &frame, canvas.width));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::{TextOptions, text};
    use crate::samples;
    use loadline_verdict::RunResult;

    #[test]
    fn an_exception_has_its_count_and_its_stack() {
        let run = RunResult::new(samples::with_exceptions());
        let report = text(&run, &TextOptions::default());
        let section = &report[report.find("Exceptions").unwrap()..];
        let end = section.find("\n\n").unwrap();
        insta::assert_snapshot!(&section[..end]);
    }
}
