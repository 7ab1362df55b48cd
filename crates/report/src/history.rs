//! The history of a test as text: a line for each run, drawn beside each other, with the changes
//! between them, and what the noise of the test lets one see.

use crate::comparison::{name, value};
use crate::style::Style;
use crate::table::{Column, line, widest};
use crate::{TextOptions, layout};
use loadline_units as units;
use loadline_verdict::{Figure, Trend, TrendChange};

/// A run of the history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryRun<'a> {
    /// The start of the run, as RFC 3339.
    pub started_at: &'a str,
    /// The commit of what was tested.
    pub commit: Option<&'a str>,
    /// The machine that it was made on.
    pub machine: &'a str,
    /// The result of its command, in a word.
    pub verdict: &'a str,
    /// True if its result is accepted.
    pub is_believed: bool,
    /// The figure: nanoseconds, or responses a second.
    pub value: Option<f64>,
}

/// The runs of a test, in their order.
#[derive(Clone, Debug)]
pub struct TestHistory<'a> {
    /// The test.
    pub test: &'a str,
    /// The figure that is shown.
    pub figure: Figure,
    /// The runs.
    pub runs: Vec<HistoryRun<'a>>,
}

/// The characters of a commit that are shown.
const COMMIT: usize = 12;
/// Columns of the plot, at most and at least.
const PLOT: (usize, usize) = (40, 12);
/// The numbers of runs for which the detectable change is printed.
const SIDES: [u32; 3] = [3, 5, 10];

/// The history as text, ending in a line feed.
pub fn history_text(history: &TestHistory<'_>, options: &TextOptions) -> String {
    let style = Style::new(options.color);
    let counted: Vec<usize> = (0..history.runs.len())
        .filter(|index| is_counted(&history.runs[*index]))
        .collect();
    let values: Vec<f64> = counted
        .iter()
        .filter_map(|index| history.runs[*index].value)
        .collect();
    let trend = Trend::of(&values);
    let mut lines = layout::wrap(&layout::harmless(history.test), options.width);
    lines.push(String::new());
    let table = Table::of(history, &values, options.width);
    lines.push(style.strong(table.head(history.figure).trim_end()));
    for (index, run) in history.runs.iter().enumerate() {
        let change = trend
            .changes
            .iter()
            .find(|change| counted[change.index] == index);
        lines.extend(change.map(|change| style.bad(&changed(change, history.figure))));
        lines.extend(other_machine(&history.runs[..index], run, options.width));
        lines.push(table.row(history.figure, run));
    }
    lines.push(String::new());
    let notes = notes(history, &trend, values.len());
    lines.extend(
        notes
            .iter()
            .flat_map(|note| layout::wrap(note, options.width)),
    );
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let text = lines.join("\n") + "\n";
    match options.ascii {
        true => layout::ascii(&text),
        false => text,
    }
}

/// True if a run counts in the trend.
fn is_counted(run: &HistoryRun<'_>) -> bool {
    run.is_believed && run.value.is_some_and(|value| value > 0.0)
}

/// The columns, and the range of the plot.
struct Table {
    columns: [Column; 4],
    plot: usize,
    least: f64,
    most: f64,
}

impl Table {
    fn of(history: &TestHistory<'_>, values: &[f64], width: usize) -> Table {
        let each = history.runs.iter();
        let verdicts = widest(each.map(|run| run.verdict).chain(["verdict"])) + 2;
        let columns = [
            Column::Left(20),
            Column::Left(COMMIT + 2),
            Column::Left(verdicts),
            Column::Right(10),
        ];
        let taken = 20 + COMMIT + 2 + verdicts + 10 + 2;
        Table {
            columns,
            plot: width.saturating_sub(taken).clamp(PLOT.1, PLOT.0),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(0.0, f64::max),
        }
    }

    fn head(&self, figure: Figure) -> String {
        let head = line(
            self.columns,
            ["  when (UTC)", "commit", "verdict", &name(figure)],
        );
        if !self.least.is_finite() {
            return head;
        }
        let ends = [self.least, self.most].map(|end| value(figure, end).trim().to_owned());
        let gap = self.plot.saturating_sub(layout::width(&ends[0]));
        format!("{head}  {}{}", ends[0], layout::right(&ends[1], gap))
    }

    fn row(&self, figure: Figure, run: &HistoryRun<'_>) -> String {
        let when = run.started_at.replace('T', " ");
        let when = format!("  {}", when.get(..16).unwrap_or(&when));
        let commit = layout::cut(&layout::harmless(run.commit.unwrap_or("–")), COMMIT);
        let shown = run
            .value
            .map_or_else(|| "–".to_owned(), |found| value(figure, found));
        let cells = line(self.columns, [&when, &commit, run.verdict, shown.trim()]);
        match run.value {
            Some(found) if is_counted(run) => format!("{cells}  {}", self.drawn(found)),
            Some(_) => format!("{cells}  not counted"),
            None => cells,
        }
    }

    /// A dot at the value's place between the least and the greatest one.
    fn drawn(&self, value: f64) -> String {
        let range = self.most - self.least;
        let share = match range > 0.0 {
            true => (value - self.least) / range,
            false => 0.5,
        };
        layout::blanks((share * (self.plot - 1) as f64).round() as usize) + "●"
    }
}

/// `  ── from here 12.3 % higher (p = 0.004): slower ──`.
fn changed(change: &TrendChange, figure: Figure) -> String {
    let (share, is_higher) = match change.ratio >= 1.0 {
        true => (change.ratio - 1.0, true),
        false => (1.0 - change.ratio, false),
    };
    let direction = if is_higher { "higher" } else { "lower" };
    let is_slower = is_higher != (figure == Figure::Rate);
    let word = if is_slower { "slower" } else { "faster" };
    format!(
        "  ── {word} from here on: {} {direction} (chance: {})",
        units::share(share),
        units::share(change.probability)
    )
}

/// Returns a note if a run was made on another machine than the one before.
fn other_machine(before: &[HistoryRun<'_>], run: &HistoryRun<'_>, width: usize) -> Vec<String> {
    let last = before.last().map(|last| last.machine);
    let text = match last {
        Some(last) if last == run.machine => return Vec::new(),
        Some(_) => format!("another machine from here on: {}", run.machine),
        None => run.machine.to_owned(),
    };
    layout::hanging("  ", &layout::harmless(&text), width)
}

fn notes(history: &TestHistory<'_>, trend: &Trend, counted: usize) -> Vec<String> {
    let figure = name(history.figure);
    let mut notes = Vec::new();
    match trend.changes.last() {
        None if counted < 2 * 3 => notes.push(format!(
            "{} with a {figure} that can be believed: a change is looked for from six on.",
            units::counted(counted as u64, "run")
        )),
        None => notes.push(format!(
            "The {figure} has not changed in {} by more than chance.",
            units::counted(counted as u64, "run")
        )),
        Some(_) => notes.push(format!(
            "The {figure} changed {} (E-divisive, permutation test at 1 %). Look at what is \
             between the commits there.",
            match trend.changes.len() {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            }
        )),
    }
    if let Some(deviation) = trend.deviation() {
        let sides = SIDES.iter().filter_map(|runs| {
            let visible = trend.visible_with(*runs)? - 1.0;
            Some(format!(
                "with {runs} runs a change of {}",
                units::share(visible)
            ))
        });
        notes.push(format!(
            "Since then it differs by {} from run to run (standard deviation). In nine of ten \
             comparisons is visible: {}.",
            units::share(deviation),
            sides.collect::<Vec<_>>().join(", ")
        ));
        if trend.changes.is_empty() {
            let last = notes.len() - 1;
            notes[last] = notes[last].replacen("Since then it", "It", 1);
        }
    }
    let left_out = history.runs.len() - counted;
    if left_out > 0 {
        notes.push(format!(
            "{} not counted: they can't be believed, or have too few samples for the {figure}.",
            units::counted(left_out as u64, "run")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &[f64], figure: Figure) -> String {
        let commits: Vec<String> = (0..values.len())
            .map(|n| format!("{n:07x}a1b2c3d4e5"))
            .collect();
        let times: Vec<String> = (0..values.len())
            .map(|n| format!("2026-11-{:02}T06:52:06Z", n + 1))
            .collect();
        let runs = values.iter().enumerate().map(|(index, value)| HistoryRun {
            started_at: &times[index],
            commit: (index != 3).then(|| commits[index].as_str()),
            machine: if index < 10 {
                "A processor, 4 cores"
            } else {
                "B processor, 8 cores"
            },
            verdict: if index == 4 { "invalid" } else { "passed" },
            is_believed: index != 4,
            value: (index != 5).then_some(*value),
        });
        let history = TestHistory {
            test: "GET http://127.0.0.1:8080/; open loop: 500/s constant",
            figure,
            runs: runs.collect(),
        };
        history_text(&history, &TextOptions::default())
    }

    fn values(parts: &[(usize, f64)]) -> Vec<f64> {
        let steps = [1.0, 1.02, 0.99, 1.01, 0.98, 1.015, 0.985];
        let each = parts.iter().flat_map(|(count, level)| vec![*level; *count]);
        let each = each.enumerate();
        each.map(|(index, level)| level * steps[index % 7])
            .collect()
    }

    #[test]
    fn a_history_with_a_change_in_full() {
        let shown = text(&values(&[(12, 1e7), (8, 1.2e7)]), Figure::Percentile(95.0));
        assert!(
            shown.lines().all(|line| layout::width(line) <= 80),
            "{shown}"
        );
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn a_history_without_a_change_and_a_short_one_say_so() {
        let rate = text(&values(&[(14, 500.0)]), Figure::Rate);
        assert!(
            rate.contains("The rate has not changed in 12 runs by more than chance."),
            "{rate}"
        );
        assert!(rate.contains("It differs by 1."), "{rate}");
        let short = text(&values(&[(3, 1e7)]), Figure::Percentile(50.0));
        assert!(
            short.contains("3 runs with a p50 that can be believed"),
            "{short}"
        );
        assert!(text(&[], Figure::Rate).contains("0 runs"));
    }

    #[test]
    fn a_lower_rate_is_slower() {
        let change = TrendChange {
            index: 1,
            ratio: 0.9,
            probability: 0.001,
        };
        assert!(changed(&change, Figure::Rate).contains("slower from here on: 10.0 % lower"));
        assert!(changed(&change, Figure::Mean).contains("faster from here on"));
    }
}
