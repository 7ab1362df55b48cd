//! What the page of a run shows while it lasts: the same as its report, from the first second on.

use super::{page_with, spectra, timeline};
use loadline_page::{Heat, RunPage, Spectrum};
use loadline_verdict::RunResult;

/// How many intervals the distribution over the percentiles stays as it is: all of it changes with
/// each one, and nobody follows it by the second.
const SPECTRA_EVERY: usize = 10;

/// The page of a run that goes on, interval by interval.
#[derive(Clone, Debug, Default)]
pub struct RunSoFar {
    spectra: Vec<Spectrum>,
    /// The number of intervals when the spectra were made.
    made_at: usize,
}

impl RunSoFar {
    /// The page of a run that was [judged so far](RunResult::so_far).
    pub fn of(&mut self, run: &RunResult, heat: &Heat) -> RunPage {
        let intervals = run.summary.rows.len();
        if self.spectra.is_empty() || intervals >= self.made_at + SPECTRA_EVERY {
            self.spectra = spectra(&run.summary);
            self.made_at = intervals;
        }
        let timeline = timeline::timeline(&run.summary);
        let mut page = page_with(run, heat, timeline, 1, self.spectra.clone());
        page.validity.claim = page.validity.claim.replacen(':', " so far:", 1);
        // A record that goes on has no end either.
        for fact in &mut page.facts {
            fact.text = fact.text.replace(", then the record breaks off", " so far");
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_record::{Ended, Snapshot, Summary};

    #[test]
    fn the_first_second_is_drawn_and_judged_so_far() {
        let mut summary = samples::steady();
        summary.rows.truncate(1);
        summary.ended = Ended::Unknown;
        let page = RunSoFar::default().of(&RunResult::so_far(summary), &Heat::default());
        let names: Vec<_> = (page.plots.course.iter())
            .map(|chart| &*chart.name)
            .collect();
        assert!(names.contains(&"rate"), "{names:?}");
        assert!(
            page.facts[0].text.ends_with(" so far"),
            "{:?}",
            page.facts[0]
        );
        assert!(
            page.validity.claim.contains(" so far: "),
            "{:?}",
            page.validity
        );
    }

    #[test]
    fn the_spectrum_stays_for_some_intervals() {
        let summary = samples::steady();
        let mut page = RunSoFar::default();
        let first = page.of(&RunResult::so_far(summary.clone()), &Heat::default());
        let mut next = summary;
        next.total
            .times
            .response
            .record_many_ns(1_000_000_000, 1_000);
        next.rows.push(next.rows[0]);
        let spectrum = |page: &RunPage| {
            let charts = page.plots.course.iter();
            charts
                .clone()
                .find(|chart| chart.name == "spectrum")
                .cloned()
        };
        let second = page.of(&RunResult::so_far(next), &Heat::default());
        assert_eq!(spectrum(&first), spectrum(&second));
    }

    #[test]
    fn nothing_recorded_is_a_page_as_well() {
        let summary = Summary {
            total: Snapshot::empty(0),
            rows: Vec::new(),
            ..samples::steady()
        };
        let page = RunSoFar::default().of(&RunResult::so_far(summary), &Heat::default());
        assert!(!page.title.is_empty());
        assert!(page.plots.course.is_empty());
    }
}
