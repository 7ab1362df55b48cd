//! The first report: what one looks for first in a run, on at most [`MOST_LINES`] lines of a
//! terminal.
//!
//! Above stands what was run, below how to see the rest, and between them a *fact* a line: checks,
//! validity, rate, response time, failures. No sentence is cut: on a terminal it is wrapped, and
//! elsewhere it is one line. Facts that only help (an example of a failure, what a closed-loop tool
//! would have shown, a warning) are left out where there is no room for them.

use super::{Canvas, TextOptions, floor, head, omission, outcome, response, short, split, traces};
use crate::closing::checks_that_are;
use crate::{layout, undecided};
use loadline_findings::failure_advice;
use loadline_record::Summary;
use loadline_units as units;
use loadline_verdict::{CheckOutcome, Grade, RunResult, Section};

/// The most lines of a run with the default flags and checks alone.
const MOST_LINES: usize = 20;
/// Lines in addition to the title and the facts: two empty ones, and at most two with the location
/// of the rest.
const OTHER_LINES: usize = 4;
/// Columns of a fact's name.
const NAMES: usize = 11;
/// Columns between the two halves of the percentiles.
const GAP: usize = 4;
/// The most figures that stand in one column.
const ONE_COLUMN: usize = 3;

/// Returns the report in sections: title, facts, the additions that flags request, and the location
/// of the rest.
pub(super) fn sections(run: &RunResult, options: &TextOptions, canvas: Canvas) -> [Vec<String>; 6] {
    let summary = &run.summary;
    let (title, facts) = fitting_facts(run, options, canvas);
    let is_warned = facts.iter().any(|fact| fact.need == Need::Warning);
    [
        title,
        lines_of(facts),
        split::lines(summary, canvas),
        floor::lines(summary, canvas),
        traces::lines(summary, canvas),
        rest(run, is_warned, options, canvas),
    ]
}

/// Title, facts, and what a closed-loop tool would have shown: the report of a demonstration.
pub(super) fn beside_closed_loop(
    run: &RunResult,
    options: &TextOptions,
    canvas: Canvas,
) -> [Vec<String>; 3] {
    let (title, mut facts) = fitting_facts(run, options, canvas);
    facts.retain(|fact| fact.need != Need::Stall);
    let beside = omission::always(&run.summary, canvas);
    [title, lines_of(facts), beside]
}

fn fitting_facts(
    run: &RunResult,
    options: &TextOptions,
    canvas: Canvas,
) -> (Vec<String>, Vec<Fact>) {
    let title = head::title(&run.summary, canvas);
    let page = Page::new(options, canvas);
    let room = MOST_LINES.saturating_sub(title.len() + OTHER_LINES);
    let facts = fitting(facts(run, &options.percentiles, page), room);
    (title, facts)
}

/// The medium of the lines.
#[derive(Clone, Copy)]
struct Page {
    canvas: Canvas,
    /// Columns of a sentence.
    columns: usize,
}

impl Page {
    fn new(options: &TextOptions, canvas: Canvas) -> Page {
        let columns = match options.terminal {
            true => canvas.width,
            false => usize::MAX,
        };
        Page { canvas, columns }
    }

    fn line(self, name: &str, text: &str) -> Vec<String> {
        let name = layout::left(name, NAMES);
        layout::hanging(&name, &layout::harmless(text), self.columns)
    }
}

/// Lines that stand together.
struct Fact {
    lines: Vec<String>,
    need: Need,
}

/// The importance of facts if there is no room for all: the first of these stays longest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// In every report.
    Always,
    /// The number of responses with each status.
    Statuses,
    /// An example of a failure, or the reason why a check is undecided.
    Example,
    /// The figures that a closed-loop tool would have shown.
    Stall,
    /// A warning.
    Warning,
}

impl Fact {
    fn always(lines: Vec<String>) -> Fact {
        let need = Need::Always;
        Fact { lines, need }
    }

    fn example(lines: Vec<String>) -> Fact {
        let need = Need::Example;
        Fact { lines, need }
    }
}

fn lines_of(facts: Vec<Fact>) -> Vec<String> {
    facts.into_iter().flat_map(|fact| fact.lines).collect()
}

/// Returns the facts, among these, for which there is room in so many lines.
fn fitting(mut facts: Vec<Fact>, room: usize) -> Vec<Fact> {
    let taken = |facts: &[Fact]| facts.iter().map(|fact| fact.lines.len()).sum::<usize>();
    for least_needed in [Need::Warning, Need::Stall, Need::Example, Need::Statuses] {
        if taken(&facts) > room {
            facts.retain(|fact| fact.need < least_needed);
        }
    }
    facts
}

fn facts(run: &RunResult, percentiles: &[f64], page: Page) -> Vec<Fact> {
    let (summary, style) = (&run.summary, page.canvas.style);
    let needed = [
        validity(run, page),
        painted(plan_limit(run, page), |line| style.doubtful(line)),
        stated("transient", head::left_out(summary), page),
        stated("load", head::changes(summary), page),
        stated(head::NOTES, head::notes(summary), page),
        page.line("rate", &short::rate(summary, &head::duration(summary))),
        painted(
            stated("warning", outcome::unserved(summary), page),
            |line| style.bad(line),
        ),
        response_time(run, percentiles, page),
        page.line("failures", &failures(summary)),
    ];
    let mut facts = checks(run, page);
    facts.extend(needed.into_iter().map(Fact::always));
    facts.push(Fact::example(example(summary, page)));
    let statuses = match summary.total.statuses.is_empty() {
        true => None,
        false => Some(head::statuses(summary)),
    };
    facts.push(Fact {
        lines: stated("statuses", statuses, page),
        need: Need::Statuses,
    });
    facts.push(Fact {
        lines: stated("stall", omission::instead(summary), page),
        need: Need::Stall,
    });
    facts.push(Fact {
        lines: painted(warning(run, page), |line| style.doubtful(line)),
        need: Need::Warning,
    });
    facts.retain(|fact| !fact.lines.is_empty());
    facts
}

fn painted(lines: Vec<String>, paint: impl Fn(&str) -> String) -> Vec<String> {
    lines.iter().map(|line| paint(line)).collect()
}

/// The checks by their outcome, those that failed first.
fn checks(run: &RunResult, page: Page) -> Vec<Fact> {
    let style = page.canvas.style;
    let mut facts = Vec::new();
    for outcome in [
        CheckOutcome::Failed,
        CheckOutcome::Undecided,
        CheckOutcome::Passed,
    ] {
        let Some(those) = checks_that_are(outcome, &run.checks) else {
            continue;
        };
        let name = if facts.is_empty() { "checks" } else { "" };
        let lines = page.line(name, &format!("{}: {those}", outcome.word()));
        facts.push(Fact::always(painted(lines, |line| match outcome {
            CheckOutcome::Failed => style.bad(line),
            CheckOutcome::Undecided => style.doubtful(line),
            CheckOutcome::Passed => style.good(line),
        })));
        if outcome == CheckOutcome::Undecided {
            let why = run.checks.iter().find_map(undecided);
            facts.push(Fact::example(stated("", why, page)));
        }
    }
    let beginning = outcome::failed_by_beginning(run);
    facts.push(Fact::always(stated("", beginning, page)));
    facts
}

/// The grade, and the gravest reason for it.
fn validity(run: &RunResult, page: Page) -> Vec<String> {
    let (grade, style) = (run.grade(), page.canvas.style);
    let notes = outcome::validity_notes(run).map(|notes| format!(" ({notes})"));
    let reason = run.findings.validity_sentences().next();
    let reason = reason.map(|reason| format!(": {reason}"));
    let text = [Some(grade.name().to_owned()), notes, reason];
    let text = text.into_iter().flatten().collect::<String>();
    painted(page.line("validity", &text), |line| match grade {
        Grade::Valid if run.many_failed() => line.to_owned(),
        Grade::Valid => style.good(line),
        Grade::Suspect => style.doubtful(line),
        Grade::Invalid => style.bad(line),
    })
}

/// Returns a sentence that the plan, and not the target, kept requests waiting, if that is not the
/// gravest reason.
fn plan_limit(run: &RunResult, page: Page) -> Vec<String> {
    let limit = outcome::plan_limit_sentence(&run.findings);
    let gravest = run.findings.validity_sentences().next();
    stated(
        "warning",
        limit.filter(|limit| Some(limit) != gravest.as_ref()),
        page,
    )
}

/// A fact that not every run has.
fn stated(name: &str, text: Option<String>, page: Page) -> Vec<String> {
    text.map_or_else(Vec::new, |text| page.line(name, &text))
}

/// Returns the start of the response time, and its percentiles with the greatest value.
fn response_time(run: &RunResult, percentiles: &[f64], page: Page) -> Vec<String> {
    if run.summary.total.times.response.is_empty() {
        return page.line("response", "no response");
    }
    let figures = response::figures(run, percentiles);
    let from = response::counted_from(run.summary.model);
    let intervals = match (figures.has_intervals, figures.is_open) {
        (false, _) => "",
        (true, false) => ", with 95 % intervals",
        (true, true) => ", with 95 % intervals (? = run longer)",
    };
    let mut lines = page.line("response", &format!("{from}{intervals}"));
    lines.extend(in_two_columns(&figures.lines, page.canvas.width));
    lines
}

/// The lines from top to bottom, and further on the right, if there is room for both.
fn in_two_columns(lines: &[String], width: usize) -> Vec<String> {
    let (left, right) = lines.split_at(lines.len().div_ceil(2));
    let widest = |lines: &[String]| lines.iter().map(|line| layout::width(line)).max();
    let columns = widest(left).unwrap_or(0) + GAP;
    if lines.len() <= ONE_COLUMN || columns + widest(right).unwrap_or(0) > width {
        return lines.to_vec();
    }
    response::side_by_side(left, right, columns)
}

/// Returns the number of failures by kind, and the number of requests without a response for
/// another reason.
fn failures(summary: &Summary) -> String {
    let counts = &summary.total.counts;
    let kinds = outcome::by_count(summary).into_iter();
    let kinds = kinds.map(|(kind, failures)| {
        let count = units::count(failures.count);
        format!("{} {count}", kind.name())
    });
    let rejected = (counts.rejected > 0).then(|| {
        let count = units::count(counts.rejected);
        format!("rejected by the script {count}")
    });
    let kinds: Vec<String> = kinds.chain(rejected).collect();
    let kinds = match kinds.is_empty() {
        true => String::new(),
        false => format!(" ({})", kinds.join(", ")),
    };
    let in_flight = match counts.in_flight {
        0 => String::new(),
        count => format!(", {} in flight at the end", units::count(count)),
    };
    let failed = units::count(counts.failures());
    format!(
        "{failed} failed{kinds}{in_flight}{}",
        head::not_sent(summary)
    )
}

/// An example of the most frequent failure, and what to do about it.
fn example(summary: &Summary, page: Page) -> Vec<String> {
    let Some((kind, failures)) = outcome::by_count(summary).into_iter().next() else {
        return Vec::new();
    };
    let timeout = summary.plan.connection.timeout;
    let advice = failure_advice(*kind, &failures.example, timeout);
    let texts = outcome::example(failures).into_iter().chain([advice]);
    texts.flat_map(|text| page.line("", &text)).collect()
}

/// The first warning.
fn warning(run: &RunResult, page: Page) -> Vec<String> {
    let first = run.findings.of(Section::Warnings).next();
    stated("warning", first.map(|found| found.cause.sentence()), page)
}

/// Returns the location of the full report, and the parts of it that should not be missed.
fn rest(run: &RunResult, is_warned: bool, options: &TextOptions, canvas: Canvas) -> Vec<String> {
    let how = match &options.saved {
        Some(file) => format!("loadline report {}", layout::harmless(file)),
        None => "--full, or --save FILE and loadline report FILE".to_owned(),
    };
    let missed = missed(run, is_warned, &options.percentiles);
    let text = format!("Full report{missed}: {how}");
    let lines = layout::wrap(&text, Page::new(options, canvas).columns);
    painted(lines, |line| canvas.style.faint(line))
}

/// Returns the number of reasons and warnings that only the full report has.
fn missed(run: &RunResult, is_warned: bool, percentiles: &[f64]) -> String {
    let reasons = run.findings.validity_sentences().skip(1).count();
    let warnings = run.warnings_for(&outcome::near(percentiles)).count();
    let warnings = warnings.saturating_sub(usize::from(is_warned));
    let more = [(reasons, "more reason"), (warnings, "more warning")];
    let more = more.into_iter().filter(|(count, _)| *count > 0);
    let more: Vec<String> = more
        .map(|(count, what)| units::counted(count as u64, what))
        .collect();
    match more.is_empty() {
        true => String::new(),
        false => format!(" ({})", more.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::text::tests::{all, checks};
    use crate::text::{Extent, text};

    fn first(run: &RunResult, terminal: bool) -> String {
        let options = TextOptions {
            extent: Extent::First,
            terminal,
            ..TextOptions::default()
        };
        text(run, &options)
    }

    fn sample(summary: &Summary) -> RunResult {
        samples::result(summary, checks(summary))
    }

    #[test]
    fn every_run_with_checks_has_at_most_twenty_lines() {
        let shown = all().into_iter().map(|(name, summary)| {
            let report = first(&sample(&summary), true);
            assert!(report.lines().count() <= 20, "{name}: {report}");
            assert!(
                report.lines().all(|line| layout::width(line) <= 80),
                "{name}: {report}"
            );
            format!("# {name}\n\n{report}")
        });
        let shown: Vec<String> = shown.collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn no_sentence_is_cut_and_in_a_pipe_each_is_one_line() {
        for (name, summary) in all() {
            let run = sample(&summary);
            let piped = first(&run, false);
            assert!(!piped.contains('…'), "{name}: {piped}");
            for reason in run.findings.validity_sentences().take(1) {
                let line = format!("\nvalidity   {}: {reason}\n", run.grade().name());
                assert!(piped.contains(&line), "{name}: {piped}");
            }
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let shown = words(&first(&run, true));
            let is_in_both = piped
                .lines()
                .filter(|line| line.starts_with("validity") || line.starts_with("checks"))
                .all(|line| shown.join(" ").contains(&words(line).join(" ")));
            assert!(is_in_both, "{name}: {shown:?}");
        }
    }

    #[test]
    fn what_one_looks_for_first_comes_in_this_order() {
        let report = first(&sample(&samples::failing()), false);
        let names = [
            "checks", "validity", "rate", "response", "failures", "statuses",
        ];
        let places = names.map(|name| report.find(&format!("\n{name} ")));
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{report}"
        );
        assert!(
            report.contains("96 failed (timeout 40, resolve 8, "),
            "{report}"
        );
    }

    #[test]
    fn the_last_line_says_how_to_see_the_rest() {
        let run = samples::result(&samples::steady(), Vec::new());
        let last = |saved: Option<&str>| {
            let options = TextOptions {
                extent: Extent::First,
                saved: saved.map(str::to_owned),
                ..TextOptions::default()
            };
            let report = text(&run, &options);
            report.lines().last().unwrap().to_owned()
        };
        assert_eq!(
            last(None),
            "Full report: --full, or --save FILE and loadline report FILE"
        );
        assert_eq!(last(Some("a.run")), "Full report: loadline report a.run");
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let failing = sample(&samples::failing());
        let warnings = failing.findings.of(Section::Warnings).count();
        assert_eq!(warnings, 3);
        let piped = first(&failing, false);
        assert!(piped.contains("\nwarning  "), "{piped}");
        assert!(
            piped.contains("\nFull report (2 more warnings): "),
            "{piped}"
        );
        let shown = first(&failing, true);
        assert!(!shown.contains("\nwarning  "), "{shown}");
        assert!(
            shown.contains("\nFull report (3 more warnings): "),
            "{shown}"
        );
    }

    #[test]
    fn what_a_flag_asked_for_is_in_it() {
        let mut summary = samples::steady();
        assert!(!first(&sample(&summary), true).contains("\nKernel's split"));
        summary.plan.connection.kernel_timestamps = Some(std::num::NonZeroU32::MIN);
        assert!(first(&sample(&summary), true).contains("\nKernel's split"));
    }

    #[test]
    fn a_demonstration_has_the_table_in_place_of_the_sentence() {
        let run = samples::result(&samples::stalled(), Vec::new());
        assert!(first(&run, true).contains("\nstall  "));
        let demonstrated = crate::demonstration(&run, &TextOptions::default());
        assert!(!demonstrated.contains("\nstall  "), "{demonstrated}");
        insta::assert_snapshot!(demonstrated);
    }

    #[test]
    fn few_figures_stand_in_one_column() {
        let lines = ["p50", "p99", "max", "min"].map(str::to_owned);
        assert_eq!(in_two_columns(&lines[..3], 80), lines[..3]);
        assert_eq!(in_two_columns(&lines, 80), ["p50    max", "p99    min"]);
        assert_eq!(in_two_columns(&lines, 9), lines);
    }
}
