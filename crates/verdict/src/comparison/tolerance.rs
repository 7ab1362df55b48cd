//! The tolerance for a figure of B against that of A: `p95:+10%`, `rate:-5%`, or for the requests
//! of one name, `p95{name:login}:+10%`.
//!
//! A tolerance fails only if the figure has certainly changed by more: the whole interval of B / A
//! lies beyond it. It is kept only if the whole interval lies within it. Between the two the runs
//! don't decide it.

use super::{Comparison, Figure};
use crate::CheckOutcome;
use loadline_metrics::Key;
use loadline_plan::Check;
use loadline_stats::compare::Ratio;
use std::str::FromStr;
use thiserror::Error;

/// The largest accepted difference of a figure of B from that of A, to one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    text: String,
    figure: Figure,
    /// The requests to which it applies, if not all; the rest of this check has no meaning.
    part: Option<Box<Check>>,
    /// The largest, or the smallest, B / A that is allowed.
    limit: f64,
    is_upper: bool,
}

/// The result of a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct ToleranceResult {
    /// The tolerance as typed.
    pub text: String,
    /// The figure.
    pub figure: Figure,
    /// The largest, or the smallest, B / A that is allowed.
    pub limit: f64,
    /// The conclusion from the interval.
    pub outcome: CheckOutcome,
    /// B / A with its interval; `None` if the figure was not compared: it takes more requests, or
    /// several runs.
    pub ratio: Option<Ratio>,
}

/// A text that is no tolerance.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no rule. Write `slower`, or a figure with what it may change by: `p95:+10%` (or \
     another percentile, mean, max), `rate:-5%`, `p95{{name:login}}:+10%`."
)]
pub struct NoTolerance(String);

impl Tolerance {
    /// The percentile of all requests that it is on, if it is on one.
    pub fn percentile(&self) -> Option<f64> {
        match self.figure {
            Figure::Percentile(percentile) if self.part.is_none() => Some(percentile),
            Figure::Percentile(_) | Figure::Mean | Figure::Max | Figure::Rate => None,
        }
    }

    /// The rule as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The figure that it is on.
    pub fn figure(&self) -> Figure {
        self.figure
    }

    /// The largest, or the smallest, B / A that is allowed.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// True if B / A has an upper bound; else it has a lower one.
    pub fn is_upper(&self) -> bool {
        self.is_upper
    }

    /// True if it applies to some requests only.
    pub fn is_of_part(&self) -> bool {
        self.part.is_some()
    }

    /// True if it applies to the requests of this key.
    pub(super) fn looks_at(&self, key: &Key) -> bool {
        let part = self.part.as_ref();
        part.is_none_or(|part| part.looks_at(key.name(), key.tags()))
    }

    /// Judges a comparison by the tolerance.
    pub fn judge(&self, comparison: &Comparison) -> ToleranceResult {
        let compared = match self.part {
            None => comparison.figure(self.figure),
            Some(_) => comparison.of_rules.get(&self.text),
        };
        let ratio = compared.map(|compared| compared.ratio);
        ToleranceResult {
            text: self.text.clone(),
            figure: self.figure,
            limit: self.limit,
            outcome: ratio.map_or(CheckOutcome::Undecided, |ratio| self.outcome(ratio)),
            ratio,
        }
    }

    fn outcome(&self, ratio: Ratio) -> CheckOutcome {
        let (is_beyond, is_within) = match self.is_upper {
            true => (ratio.lower > self.limit, ratio.upper <= self.limit),
            false => (ratio.upper < self.limit, ratio.lower >= self.limit),
        };
        match (is_beyond, is_within) {
            (true, _) => CheckOutcome::Failed,
            (_, true) => CheckOutcome::Passed,
            _ => CheckOutcome::Undecided,
        }
    }
}

impl FromStr for Tolerance {
    type Err = NoTolerance;

    fn from_str(text: &str) -> Result<Tolerance, NoTolerance> {
        let parsed = || {
            let (of, change) = text.rsplit_once(':')?;
            let (is_upper, share) = share(change.trim())?;
            let (figure, part) = match of.split_once('{') {
                None => (of, None),
                Some((figure, part)) => (figure, Some(Box::new(part_named(part)?))),
            };
            Some(Tolerance {
                text: text.to_owned(),
                figure: parse_figure(figure.trim())?,
                part,
                limit: if is_upper { 1.0 + share } else { 1.0 - share },
                is_upper,
            })
        };
        parsed().ok_or_else(|| NoTolerance(text.to_owned()))
    }
}

/// Returns whether a change is upwards, and its share: `+10%`.
fn share(change: &str) -> Option<(bool, f64)> {
    let is_upper = change.starts_with('+');
    let number = change.strip_prefix(['+', '-'])?.strip_suffix('%')?;
    let percent: f64 = number.trim().parse().ok()?;
    let is_possible = percent >= 0.0 && (is_upper || percent < 100.0);
    (percent.is_finite() && is_possible).then_some((is_upper, percent / 100.0))
}

/// The figure of this name: `p95`, `mean`, `max`, `rate`.
pub fn parse_figure(name: &str) -> Option<Figure> {
    match name {
        "rate" => Some(Figure::Rate),
        "mean" => Some(Figure::Mean),
        "max" => Some(Figure::Max),
        name => {
            let percentile: f64 = name.strip_prefix('p')?.parse().ok()?;
            let is_one = percentile > 0.0 && percentile < 100.0;
            is_one.then_some(Figure::Percentile(percentile))
        }
    }
}

/// The requests of a part, which is written as that of a check: this is what follows its brace.
fn part_named(text: &str) -> Option<Check> {
    let check: Check = format!("p99{{{}<1s", text.trim()).parse().ok()?;
    check.is_of_part().then_some(check)
}

#[cfg(test)]
mod tests {
    use super::super::SavedRun;
    use super::super::tests::{plan, recorded};
    use super::*;
    use proptest::prelude::*;

    fn tolerance(text: &str) -> Tolerance {
        text.parse().unwrap()
    }

    fn ratio(lower: f64, upper: f64) -> Ratio {
        Ratio {
            ratio: (lower * upper).sqrt(),
            lower,
            upper,
            confidence: 0.95,
        }
    }

    #[test]
    fn a_tolerance_fails_or_passes_only_for_certain() {
        let outcome = |text: &str, lower, upper| tolerance(text).outcome(ratio(lower, upper));
        for (text, lower, upper, expected) in [
            ("p95:+10%", 1.11, 1.3, CheckOutcome::Failed),
            ("p95:+10%", 1.05, 1.3, CheckOutcome::Undecided),
            ("p95:+10%", 0.9, 1.09, CheckOutcome::Passed),
            ("p95:+10%", 0.2, 0.3, CheckOutcome::Passed),
            ("rate:-5%", 0.8, 0.94, CheckOutcome::Failed),
            ("rate:-5%", 0.94, 0.96, CheckOutcome::Undecided),
            ("rate:-5%", 0.96, 1.5, CheckOutcome::Passed),
        ] {
            assert_eq!(outcome(text, lower, upper), expected, "{text} {lower}");
        }
    }

    #[test]
    fn what_is_no_tolerance_is_refused() {
        for text in [
            "",
            "faster",
            "p95",
            "p95:10%",
            "p95:+10",
            "p95:+x%",
            "p0:+1%",
            "p100:+1%",
            "q9:+1%",
            "rate:-100%",
            "p95:--5%",
            "rate:+inf%",
            "p95:+-1%",
            "p95{:+1%",
            "p95{}:+1%",
            "p95{name:a:+1%",
        ] {
            assert!(text.parse::<Tolerance>().is_err(), "{text}");
        }
        assert_eq!(tolerance("p99.9:+2.5%").percentile(), Some(99.9));
        assert_eq!(tolerance("rate:-5%").percentile(), None);
        let named = tolerance("p95{name:a:b}:+10%");
        assert_eq!(named.percentile(), None);
        assert!(named.is_of_part() && named.looks_at(&Key::new("a:b").unwrap()));
        assert!(!named.looks_at(&Key::new("a").unwrap()));
    }

    /// A run of some seconds with this mean of its response times.
    fn run(seed: u64, mean_ns: f64) -> SavedRun {
        recorded(seed, mean_ns, 8, &plan(400, 50))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// B is A, drawn anew: no tolerance above what the two differ by is broken. B is three
        /// times as slow: a tolerance of less is broken, and one of much more is kept.
        #[test]
        fn equal_runs_break_no_tolerance_and_slower_ones_do(seed in 1..10_000u64) {
            let compared = |mean_ns| {
                Comparison::of(&[run(seed, 5e6)], &[run(seed + 20_000, mean_ns)]).unwrap()
            };
            let outcome = |found: &Comparison, text| tolerance(text).judge(found).outcome;
            let same = compared(5e6);
            for text in ["p50:+25%", "p95:+25%", "p95:-25%", "rate:-5%", "rate:+5%"] {
                prop_assert_ne!(outcome(&same, text), CheckOutcome::Failed, "{}", text);
            }
            let slower = compared(15e6);
            prop_assert_eq!(outcome(&slower, "p50:+100%"), CheckOutcome::Failed);
            prop_assert_eq!(outcome(&slower, "p95:+100%"), CheckOutcome::Failed);
            prop_assert_eq!(outcome(&slower, "p95:+900%"), CheckOutcome::Passed);
            prop_assert_eq!(outcome(&slower, "p50:-10%"), CheckOutcome::Passed);
            // The mean of one run a side has no interval, and p97 was not asked for.
            prop_assert_eq!(outcome(&slower, "mean:+10%"), CheckOutcome::Undecided);
            prop_assert_eq!(outcome(&slower, "p97:+10%"), CheckOutcome::Undecided);
        }
    }

    #[test]
    fn a_percentile_that_is_asked_for_is_compared() {
        let runs = [run(1, 5e6), run(2, 15e6)];
        let [base, with] = runs;
        let found = Comparison::of_percentiles(&[base], &[with], &[97.0]).unwrap();
        assert_eq!(
            tolerance("p97:+100%").judge(&found).outcome,
            CheckOutcome::Failed
        );
        assert_eq!(found.figures.len(), 2, "and the rate");
    }
}
