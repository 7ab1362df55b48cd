//! What a closed-loop tool would have shown of an open load.
//!
//! Such a tool sends its next request when the last one is answered and times each from its send.
//! While the target stalls it sends little, so that a wait of many arrivals shows in a few requests:
//! *coordinated omission* (Gil Tene, "How NOT to Measure Latency", 2013). Our service time is timed
//! from the real send, which makes it that tool's latency; our response time is the truth beside it.

use super::{Canvas, TextOptions, assemble};
use crate::{figures, layout, percentiles};
use loadline_record::{Model, Summary, Times};

const PERCENTILES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];
/// Where a stall shows that is shorter than a hundredth of the run.
const SHORT_STALLS: [f64; 2] = [99.9, 99.99];
/// What is shorter is a hiccup, of which every run has some.
const SHORTEST_STALL_NS: u64 = 10_000_000;
const TRUTH: &str = "what this run shows";
const NAIVE: &str = "what a closed-loop tool would have shown";
/// Columns of a row's name.
const NAMES: usize = 9;
/// Columns between the two figures.
const GAP: usize = 4;

/// What this run shows beside what a closed-loop tool would have shown, with the reason why they
/// differ, at 80 columns; `None` for a closed load or without a response time.
pub fn omission(summary: &Summary) -> Option<String> {
    let options = TextOptions::default();
    let lines = lines(summary, Canvas::new(&options));
    (!lines.is_empty()).then(|| assemble(&[lines], &options))
}

/// The same for a report: only where the target stalled.
pub(super) fn lines_after_stall(summary: &Summary, canvas: Canvas) -> Vec<String> {
    match Difference::of(&summary.total.times) {
        Difference::Stall => lines(summary, canvas),
        Difference::None | Difference::Lateness => Vec::new(),
    }
}

/// Why response time is longer than service time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// It hardly is.
    None,
    /// Not through waiting for connections, so mostly through us.
    Lateness,
    /// The target kept requests waiting.
    Stall,
}

impl Difference {
    fn of(times: &Times) -> Difference {
        match Difference::at(times, 99.0) {
            Difference::None if SHORT_STALLS.iter().any(|p| hides_stall(times, *p)) => {
                Difference::Stall
            }
            difference => difference,
        }
    }

    fn at(times: &Times, percentile: f64) -> Difference {
        let response_ns = times.response.percentile_ns(percentile);
        let service_ns = times.service.percentile_ns(percentile);
        let difference_ns = response_ns.saturating_sub(service_ns);
        match () {
            () if response_ns <= 2 * service_ns => Difference::None,
            () if times.blocked.percentile_ns(percentile) > difference_ns / 2 => Difference::Stall,
            () => Difference::Lateness,
        }
    }
}

/// Whether a stall too short for the p99 kept requests waiting that far out in the tail.
fn hides_stall(times: &Times, percentile: f64) -> bool {
    let response_ns = times.response.percentile_ns(percentile);
    let hidden_ns = response_ns.saturating_sub(times.service.percentile_ns(percentile));
    percentiles::missing(&times.response, percentile) == 0
        && hidden_ns > SHORTEST_STALL_NS
        && Difference::at(times, percentile) == Difference::Stall
}

fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let times = &summary.total.times;
    if summary.model == Model::Closed || times.response.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![header(canvas)];
    let percentile = |p: f64| {
        let [truth, naive] = [&times.response, &times.service].map(|t| percentiles::cell(t, p));
        row(&figures::percentile(p), &truth, &naive)
    };
    lines.extend(PERCENTILES.map(percentile));
    let [truth, naive] =
        [&times.response, &times.service].map(|times| figures::time_cell(times.max_ns() as f64));
    lines.push(row("max", &truth, &naive));
    lines.push(String::new());
    lines.extend(canvas.paragraph(&reason(times)));
    lines
}

fn header(canvas: Canvas) -> String {
    canvas.ink.strong(&row("", TRUTH, NAIVE))
}

fn row(name: &str, truth: &str, naive: &str) -> String {
    let name = layout::left(&format!("  {name}"), NAMES);
    let truth = layout::right(truth, layout::width(TRUTH));
    format!(
        "{name}{truth}{}",
        layout::right(naive, layout::width(NAIVE) + GAP)
    )
}

fn reason(times: &Times) -> String {
    match Difference::of(times) {
        Difference::None => "The two agree: nothing kept requests waiting for long before they \
                             were sent."
            .to_owned(),
        Difference::Lateness => "Most of the difference is our own lateness: this machine could \
                                 not keep up with the schedule. Lower the rate, or use more threads."
            .to_owned(),
        Difference::Stall => stall(times),
    }
}

fn stall(times: &Times) -> String {
    let service_ns = times.service.percentile_ns(99.0);
    let waited = times.blocked.len() - times.blocked.count_up_to_ns(service_ns);
    format!(
        "{} waited more than {} for a free connection before they were sent. A closed-loop tool \
         sends nothing while it waits for answers and times each request from its send, so this \
         wait is in none of its figures.",
        figures::counted(waited, "request"),
        figures::time(service_ns as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_stall_is_hidden_from_the_other_column() {
        insta::assert_snapshot!(omission(&samples::stalled()).unwrap());
    }

    #[test]
    fn a_stall_too_short_for_the_p99_is_shown_all_the_same() {
        let mut summary = samples::steady();
        let canvas = Canvas::new(&TextOptions::default());
        assert_eq!(lines_after_stall(&summary, canvas), Vec::<String>::new());
        let times = &mut summary.total.times;
        times.response.record_many_ns(200_000_000, 60);
        times.blocked.record_many_ns(199_000_000, 60);
        times.service.record_many_ns(1_000_000, 60);
        assert!(!lines_after_stall(&summary, canvas).is_empty());
    }

    #[test]
    fn without_a_stall_both_agree() {
        insta::assert_snapshot!(omission(&samples::steady()).unwrap());
    }

    #[test]
    fn our_own_lateness_is_named() {
        insta::assert_snapshot!(omission(&samples::late()).unwrap());
    }

    #[test]
    fn there_is_nothing_to_compare_in_a_closed_load_or_without_an_answer() {
        assert_eq!(omission(&samples::closed()), None);
        assert_eq!(omission(&samples::unanswered()), None);
    }
}
