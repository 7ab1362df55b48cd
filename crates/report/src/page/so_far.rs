//! What the page of a run shows while it lasts: the same as its report, from the first second on.

use super::{OfAllTimes, page_with, spectra, tables, timeline};
use loadline_page::{Heat, RunPage};
use loadline_verdict::RunResult;

/// How many intervals the distribution over the percentiles stays as it is: all of it changes with
/// each one, and nobody follows it by the second.
const SPECTRA_EVERY: usize = 10;

/// The page of a run that goes on, interval by interval.
#[derive(Clone, Debug, Default)]
pub struct RunSoFar {
    of_all: OfAllTimes,
    /// The number of intervals when the spectra were made.
    made_at: usize,
    /// The number of pages so far.
    pages: usize,
}

impl RunSoFar {
    /// The page of a run that was [judged so far](RunResult::so_far). Of the tables of all times
    /// one is new, percentiles and the time spent in turn.
    pub fn of(&mut self, run: &RunResult, heat: &Heat) -> RunPage {
        self.renew(run);
        let timeline = timeline::timeline(&run.summary);
        let mut page = page_with(run, heat, timeline, 1, self.of_all.clone());
        page.validity.claim = page.validity.claim.replacen(':', " so far:", 1);
        // A record that goes on has no end either.
        for fact in &mut page.facts {
            fact.text = fact.text.replace(", then the record breaks off", " so far");
        }
        page
    }

    fn renew(&mut self, run: &RunResult) {
        let (intervals, of_all) = (run.summary.rows.len(), &mut self.of_all);
        if of_all.spectra.is_empty() || intervals >= self.made_at + SPECTRA_EVERY {
            of_all.spectra = spectra(&run.summary);
            self.made_at = intervals;
        }
        if of_all.percentiles.is_empty() || self.pages.is_multiple_of(2) {
            of_all.percentiles = tables::percentiles(run);
        }
        if of_all.spent.is_empty() || !self.pages.is_multiple_of(2) {
            of_all.renew_spent(&run.summary);
        }
        self.pages += 1;
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
    fn tables_of_all_times_are_new_in_turn() {
        let (mut page, mut summary) = (RunSoFar::default(), samples::steady());
        let counts = (0..4).map(|_| {
            let page = page.of(&RunResult::so_far(summary.clone()), &Heat::default());
            // Each page is of more and longer times than the one before.
            let times = &mut summary.total.times;
            for times in [&mut times.response, &mut times.service] {
                times.record_many_ns(times.max_ns() * 2, times.len() * 2);
            }
            let median = page.percentiles[0].response.text.clone();
            let service = page.times.iter().find(|row| row.name == "service");
            (median, service.expect("a row").count)
        });
        let (medians, counts): (Vec<_>, Vec<_>) = counts.unzip();
        let renewed = |before: usize| {
            let is_new = medians[before] != medians[before + 1];
            (is_new, counts[before] != counts[before + 1])
        };
        // The first page has both.
        assert_eq!(
            [0, 1, 2].map(renewed),
            [(false, true), (true, false), (false, true)]
        );
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
