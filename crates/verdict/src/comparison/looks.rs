//! The comparison of a run that goes on with a baseline.
//!
//! Who looks again and again finds a difference by chance in the end. So there is a look only when
//! the run has grown by a quarter, the first after half a minute, and each may spend its
//! [share](share_of_look) of the error probability: all looks together call two equal runs
//! different in one case of twenty, as one comparison does.
//!
//! The baseline is compared as far as the run has come, so that its beginning is compared with a
//! beginning, and stages with the same stages.

use super::{ComparedFigure, Comparison, ComparisonError, SavedRun, standing};
use crate::until::{FEWEST_SECONDS, GROWTH};
use loadline_record::Summary;
use loadline_stats::slo::share_of_look;
use std::time::Duration;

/// The looks at a run that goes on.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// The number of looks so far.
    count: u64,
    /// The samples at the last one.
    looked_at: u64,
}

impl Looks {
    /// Returns the number of the look that is due at a run as it is now; `None` if none is.
    pub fn due(&mut self, summary: &Summary) -> Option<u64> {
        let samples = summary.total.counts.answered + summary.total.counts.failed;
        let is_long = Duration::from_nanos(summary.duration_ns) >= Self::FIRST;
        let has_grown = samples as f64 >= self.looked_at as f64 * GROWTH;
        if !is_long || !has_grown || samples == 0 {
            return None;
        }
        self.looked_at = samples;
        Some(self.at_the_end())
    }

    /// Returns the number of the look that is made because the run has ended.
    pub fn at_the_end(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// The length of a run at its first look.
    pub const FIRST: Duration = Duration::from_secs(FEWEST_SECONDS);
}

impl Comparison {
    /// Compares a run that goes on, as it was saved so far, with its baseline, at a look of this
    /// number.
    ///
    /// # Errors
    /// As [`of`](Comparison::of).
    pub fn of_look(
        base: &[SavedRun],
        with: SavedRun,
        look: u64,
    ) -> Result<Comparison, ComparisonError> {
        let so_far = with.run.summary();
        let base: Vec<SavedRun> = match so_far.transient.is_some() {
            true => base.to_vec(),
            false => {
                let cut = base.iter().map(|one| until(one, so_far.duration_ns));
                cut.collect()
            }
        };
        Ok(Comparison::of(&base, &[with])?.at_look(look))
    }

    fn at_look(mut self, look: u64) -> Comparison {
        let share = share_of_look(look);
        for compared in &mut self.figures {
            lengthen(compared, share);
        }
        for name in &mut self.names.common {
            for compared in &mut name.figures {
                lengthen(compared, share);
            }
        }
        self
    }
}

fn until(one: &SavedRun, end_ns: u64) -> SavedRun {
    SavedRun {
        path: one.path.clone(),
        number: one.number,
        run: one.run.until_ns(end_ns),
    }
}

/// Lengthens the interval to the confidence of a look that may spend this share of the error.
fn lengthen(compared: &mut ComparedFigure, share: f64) {
    let error = 1.0 - compared.ratio.confidence;
    compared.ratio = compared.ratio.at_confidence(1.0 - error * share);
    compared.standing = standing(compared.figure, compared.ratio.decision());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Standing;
    use crate::comparison::simulations::saved;
    use crate::simulated::{SECOND, Target, repetitions};

    /// The standings at all looks at a run of two minutes that is this many times as slow as its
    /// baseline, which is as long, each with the second of the look.
    fn looked_at(target: Target, seed: u64, times: f64) -> Vec<(u64, Standing)> {
        let (base, with) = (
            saved(target, 120, seed, 1.0),
            saved(target, 120, seed + 1, times),
        );
        let mut looks = Looks::default();
        let mut summary = Summary::new(with.run.header().clone());
        let mut found = Vec::new();
        for second in with.run.snapshots() {
            summary.observe(&second);
            if let Some(look) = looks.due(&summary) {
                let so_far = until(&with, summary.duration_ns);
                let base = std::slice::from_ref(&base);
                let comparison = Comparison::of_look(base, so_far, look).unwrap();
                found.push((summary.duration_ns / SECOND, comparison.standing()));
            }
        }
        found
    }

    fn equal_runs_are_called_different(target: Target, pairs: u64) {
        let wrong = (0..pairs).filter(|pair| {
            let found = looked_at(target, 1 + 2 * pair, 1.0);
            found.iter().any(|(_, one)| *one != Standing::CannotTell)
        });
        let wrong = wrong.count() as u64;
        println!("{target:?}: {wrong} of {pairs}");
        assert!(wrong * 20 <= pairs.max(20), "{wrong} of {pairs}");
    }

    #[test]
    fn looks_are_few_and_none_is_early() {
        let found = looked_at(Target::Independent, 1, 1.0);
        let seconds: Vec<u64> = found.iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds[0], 30);
        assert!((5..=8).contains(&seconds.len()), "{seconds:?}");
    }

    /// Times that are a tenth longer are seen within a minute.
    #[test]
    fn a_slower_run_is_called_so_while_it_goes_on() {
        for seed in [1, 11, 21] {
            let found = looked_at(Target::Independent, seed, 1.1);
            let within = found.iter().filter(|(second, _)| *second <= 60);
            let called: Vec<&(u64, Standing)> = within.collect();
            assert!(
                called.iter().any(|(_, one)| *one == Standing::Slower),
                "{seed}: {found:?}"
            );
        }
    }

    #[test]
    fn the_baseline_is_compared_as_far_as_the_run_has_come() {
        let base = saved(Target::Independent, 60, 1, 1.0);
        let with = until(&saved(Target::Independent, 60, 2, 1.0), 20 * SECOND);
        let whole = Comparison::of(std::slice::from_ref(&base), std::slice::from_ref(&with));
        let so_far = Comparison::of_look(&[base], with, 1).unwrap();
        assert_ne!(whole.unwrap().figures[0].base, so_far.figures[0].base);
    }

    #[test]
    fn equal_runs_are_called_different_at_few_of_all_looks() {
        let pairs = repetitions(false).min(8);
        equal_runs_are_called_different(Target::Independent, pairs);
    }

    #[test]
    #[ignore = "a hundred pairs at many looks take minutes; make soak runs it"]
    fn of_a_hundred_equal_pairs_few_are_called_different_at_any_look() {
        for target in [
            Target::Independent,
            Target::Queue(0.5),
            Target::Carried(0.5),
        ] {
            equal_runs_are_called_different(target, 100);
        }
    }
}
