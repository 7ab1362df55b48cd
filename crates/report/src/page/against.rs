//! A run beside its baseline, while it goes on: words and figures of `loadline compare`.

use crate::comparison::{MOST_NAMES, figure_cells, name_label, names_notes, only_bounds};
use loadline_page::{Against, AgainstFigure, AgainstRow, Relation, Tone};
use loadline_units as units;
use loadline_verdict::{ComparedFigure, Comparison, Looks, Standing};

/// What the figures of a look hold for.
const REACH: &str = "The confidence of 95 % is for all figures and all looks together, and for \
                     these two runs only: differences from run to run are not included.";

/// The data of a look at a run that has come so far.
pub fn against(baseline: &str, comparison: &Comparison, so_far_s: f64) -> Against {
    let standing = comparison.standing();
    let all = row("all requests", &comparison.figures);
    let names = comparison.names.common.iter().take(MOST_NAMES);
    let names = names.map(|name| row(&name_label(name), &name.figures));
    let mut notes = vec![REACH.to_owned()];
    if !comparison.bounds.is_empty() {
        notes.push(only_bounds(&comparison.bounds));
    }
    // The last note says what the intervals of names apply to, which is said above.
    let of_names = names_notes(&comparison.names, MOST_NAMES);
    let is_reach = |note: &String| note.starts_with("The confidence of 95 %");
    notes.extend(of_names.into_iter().filter(|note| !is_reach(note)));
    let claim = match standing {
        Standing::Faster => "Faster than the baseline",
        Standing::Slower => "Slower than the baseline",
        Standing::CannotTell => "Whether it is faster or slower can't be told yet",
    };
    Against {
        baseline: baseline.to_owned(),
        tone: match standing {
            Standing::Faster => Tone::Good,
            Standing::Slower => Tone::Bad,
            Standing::CannotTell => Tone::Plain,
        },
        claim: format!("{claim}, after {}.", seconds(so_far_s)),
        rows: std::iter::once(all).chain(names).collect(),
        notes,
    }
}

/// The same before the first look.
pub fn not_yet_against(baseline: &str) -> Against {
    let first = seconds(Looks::FIRST.as_secs_f64());
    let claim = format!(
        "Whether it is faster or slower can't be told yet: the first look is after {first}."
    );
    plain(baseline, claim)
}

/// The same of runs that can't be compared, for a reason that is a sentence.
pub fn never_against(baseline: &str, why: &str) -> Against {
    plain(baseline, format!("Not compared: {why}"))
}

fn plain(baseline: &str, claim: String) -> Against {
    Against {
        baseline: baseline.to_owned(),
        tone: Tone::Plain,
        claim,
        rows: Vec::new(),
        notes: Vec::new(),
    }
}

fn seconds(seconds: f64) -> String {
    format!("{} s", units::count(seconds.round() as u64))
}

fn row(name: &str, figures: &[ComparedFigure]) -> AgainstRow {
    let is = |standing| figures.iter().any(|figure| figure.standing == standing);
    AgainstRow {
        name: name.to_owned(),
        relation: match () {
            () if is(Standing::Slower) => Relation::Slower,
            () if is(Standing::Faster) => Relation::Faster,
            () => Relation::Open,
        },
        figures: figures.iter().map(figure).collect(),
    }
}

fn figure(compared: &ComparedFigure) -> AgainstFigure {
    let [figure, base, with, ratio, interval, _] = figure_cells(compared);
    AgainstFigure {
        figure,
        base: base.trim().to_owned(),
        with: with.trim().to_owned(),
        ratio,
        interval: interval.trim().to_owned(),
        relation: match compared.standing {
            Standing::Faster => Relation::Faster,
            Standing::Slower => Relation::Slower,
            Standing::CannotTell => Relation::Open,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_stats::compare::Ratio;
    use loadline_verdict::Figure;

    fn compared(standing: Standing) -> ComparedFigure {
        ComparedFigure {
            figure: Figure::Percentile(99.0),
            base: 20_000_000.0,
            with: 22_000_000.0,
            ratio: Ratio {
                ratio: 1.1,
                lower: 1.08,
                upper: 1.12,
                confidence: 0.95,
            },
            standing,
            more_runs: None,
        }
    }

    #[test]
    fn a_row_is_slower_if_one_of_its_figures_is() {
        let figures = [compared(Standing::Faster), compared(Standing::Slower)];
        let row = row("GET /", &figures);
        assert_eq!(row.relation, Relation::Slower);
        let shown = &row.figures[0];
        assert_eq!(
            [
                &*shown.figure,
                &*shown.base,
                &*shown.with,
                &*shown.ratio,
                &*shown.interval
            ],
            ["p99", "20.0 ms", "22.0 ms", "1.100", "1.080 – 1.120"]
        );
        assert_eq!(super::row("", &[]).relation, Relation::Open);
    }

    #[test]
    fn what_is_not_compared_says_why() {
        assert!(not_yet_against("a.run").claim.ends_with("after 30 s."));
        let never = never_against("a.run", "the loads differ.");
        assert_eq!(never.claim, "Not compared: the loads differ.");
        assert_eq!((never.tone, never.rows.len()), (Tone::Plain, 0));
    }
}
