//! The results as a table for people: a line for each run, with the medians of its repeats.

use crate::figures::Percentiles;
use crate::meter::{Averages, Mean};
use crate::saved::SavedRun;
use loadline_units::grouped;

/// A column: its title, and its cell for the repeats of one run.
pub(crate) type Column = (&'static str, fn(&[&SavedRun]) -> Option<String>);

pub(crate) const COLUMNS: [Column; 20] = [
    ("run", |runs| Some(runs.first()?.header.name.clone())),
    ("runs", |runs| {
        Some(runs.len().to_string()).filter(|_| runs.len() > 1)
    }),
    ("req/s", |runs| {
        median(runs, |run| run.outcome.figures.as_ref()?.known_rps()).map(number)
    }),
    ("spread", spread),
    ("total", |runs| {
        let limited = |run: &SavedRun| run.header.settings.requests.is_some();
        let total = |run: &SavedRun| run.outcome.figures.as_ref()?.duration_s;
        median(runs, |run| total(run).filter(|_| limited(run))).map(|s| time(s * 1e6))
    }),
    ("CPU", |runs| {
        median(runs, |run| run.outcome.averages.tool.cpu_percent).map(percent)
    }),
    ("memory", |runs| {
        median(runs, |run| run.outcome.averages.tool.memory_kb).map(memory)
    }),
    ("bandwidth", |runs| {
        median(runs, |run| run.outcome.averages.bandwidth_kb_per_s).map(bandwidth)
    }),
    ("of the link", |runs| {
        median(runs, |run| run.outcome.averages.bandwidth_percent).map(share)
    }),
    ("sockets", |runs| {
        median(runs, |run| run.outcome.averages.tool.sockets).map(number)
    }),
    ("CPU/req", |runs| {
        median(runs, SavedRun::cpu_us_per_request).map(time)
    }),
    ("mean", |runs| {
        median(runs, |run| run.outcome.figures.as_ref()?.mean_us).map(time)
    }),
    ("p50", |runs| {
        percentile(runs, |percentiles| percentiles.p50_us)
    }),
    ("p99", |runs| {
        percentile(runs, |percentiles| percentiles.p99_us)
    }),
    ("max", |runs| {
        median(runs, |run| run.outcome.figures.as_ref()?.max_us).map(time)
    }),
    ("timeouts", |runs| {
        median(runs, |run| {
            Some(run.outcome.figures.as_ref()?.timeouts? as f64)
        })
        .map(number)
    }),
    ("target", |runs| used(runs, |used| used.target)),
    ("target/req", |runs| {
        median(runs, SavedRun::target_cpu_us_per_request).map(time)
    }),
    ("backends", |runs| used(runs, |used| used.backends)),
    ("backends/req", |runs| {
        median(runs, SavedRun::backends_cpu_us_per_request).map(time)
    }),
];

/// The reason for a missing mean.
const SEEN_TOO_BRIEFLY: &str =
    "what was used is left out where less than half of the run could be watched";

/// The maximum width of the table, in columns of a terminal.
const WIDTH: usize = 80;
/// The columns that are left out first if the width does not suffice; they are in the CSV file and
/// on the page.
const SPARE: [&str; 15] = [
    "max",
    "of the link",
    "bandwidth",
    "sockets",
    "total",
    "backends/req",
    "target/req",
    "backends",
    "mean",
    "target",
    "spread",
    "CPU/req",
    "memory",
    "CPU",
    "timeouts",
];

/// Returns the results of runs that were made, in their order; repeats share a line. Empty columns
/// are left out.
pub fn table(runs: &[SavedRun]) -> String {
    let groups: Vec<Vec<&SavedRun>> = groups(runs);
    let columns = COLUMNS.iter().filter_map(|(title, cell)| {
        let cells = cells(&groups, *cell);
        cells
            .iter()
            .any(Option::is_some)
            .then(|| column(title, cells))
    });
    let mut columns: Vec<Vec<String>> = columns.collect();
    let mut left_out = Vec::new();
    for spare in SPARE {
        if width(&columns) <= WIDTH {
            break;
        }
        let is_spare = |column: &Vec<String>| column[0].trim() == spare;
        if let Some(place) = columns.iter().position(is_spare) {
            columns.remove(place);
            left_out.push(spare);
        }
    }
    let line = |row: usize| {
        let cells: Vec<&str> = columns.iter().map(|cells| cells[row].as_str()).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    let mut text: String = (0..=groups.len()).map(line).collect();
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        text.push_str(&format!("Columns left out for lack of space: {names}.\n"));
    }
    let noted = groups
        .iter()
        .filter_map(|runs| Some((runs.first()?, note(runs)?)));
    let notes: Vec<(String, String)> = noted
        .map(|(run, note)| (run.header.name.clone(), note))
        .collect();
    text.push_str(&notes_text(&notes));
    text
}

/// The cells of a column.
pub(crate) fn cells(
    groups: &[Vec<&SavedRun>],
    cell: fn(&[&SavedRun]) -> Option<String>,
) -> Vec<Option<String>> {
    groups.iter().map(|runs| cell(runs)).collect()
}

/// The columns that a line takes.
fn width(columns: &[Vec<String>]) -> usize {
    let widths = columns.iter().map(|cells| cells[0].chars().count() + 2);
    widths.sum::<usize>().saturating_sub(2)
}

/// Returns the notes on runs, in lines of at most the terminal's width; a note on several runs is
/// printed once.
fn notes_text(notes: &[(String, String)]) -> String {
    let mut groups: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, note) in notes {
        match groups.iter_mut().find(|(_, known)| known == note) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], note)),
        }
    }
    let sentences = groups
        .iter()
        .map(|(names, note)| format!("{}: {note}", names.join(", ")));
    let lines = sentences.flat_map(|sentence| wrapped(&sentence));
    let lines: String = lines.map(|line| line + "\n").collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}")
    }
}

/// Breaks a text into lines; all but the first are indented.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 2 && line + 1 + word.chars().count() > WIDTH {
            lines.push("  ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Repeats of one run, in the order of the first of each.
pub(crate) fn groups(runs: &[SavedRun]) -> Vec<Vec<&SavedRun>> {
    let mut groups: Vec<Vec<&SavedRun>> = Vec::new();
    for run in runs {
        let name = &run.header.name;
        match groups
            .iter_mut()
            .find(|group| group[0].header.name == *name)
        {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

/// Returns the title and the cells, padded to one width: texts on the left, numbers on the right.
fn column(title: &str, cells: Vec<Option<String>>) -> Vec<String> {
    let is_text = matches!(title, "run" | "");
    let cells = cells.into_iter().map(|cell| cell.unwrap_or_default());
    let cells: Vec<String> = std::iter::once(title.to_owned()).chain(cells).collect();
    let width = cells.iter().map(|cell| cell.chars().count()).max();
    let width = width.unwrap_or(0);
    let padded = |cell: String| match is_text {
        true => format!("{cell:<width$}"),
        false => format!("{cell:>width$}"),
    };
    cells.into_iter().map(padded).collect()
}

/// Returns the median of the known values; of an even number, the mean of the middle two.
fn median(runs: &[&SavedRun], of: impl Fn(&SavedRun) -> Option<f64>) -> Option<f64> {
    let mut known: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
    known.sort_by(f64::total_cmp);
    let middle = known.len().checked_sub(1)? / 2;
    Some((known[middle] + known[known.len() / 2]) / 2.0)
}

/// Returns the median of a percentile, with the resolution of the tool's report.
fn percentile(runs: &[&SavedRun], of: impl Fn(&Percentiles) -> Option<f64>) -> Option<String> {
    let figures = || runs.iter().filter_map(|run| run.outcome.figures.as_ref());
    let steps = figures().filter_map(|figures| figures.resolution_us);
    let step_us = steps.fold(0.0, f64::max);
    let us = median(runs, |run| of(&run.outcome.figures.as_ref()?.percentiles))?;
    Some(time_in_steps(us, step_us))
}

/// The CPU time and the memory of one side.
fn used(runs: &[&SavedRun], of: fn(&Averages) -> Option<Mean>) -> Option<String> {
    let side = |run: &SavedRun| of(&run.outcome.averages);
    let cpu = median(runs, |run| side(run)?.cpu_percent).map(percent)?;
    let held = median(runs, |run| side(run)?.memory_kb).map(memory)?;
    Some(format!("{cpu} {held}"))
}

/// Returns the range of the repeats, from the lowest to the highest rate, in % of the median.
fn spread(runs: &[&SavedRun]) -> Option<String> {
    let rates = || {
        runs.iter()
            .filter_map(|run| Some(run.outcome.figures.as_ref()?.rps))
    };
    let median = median(runs, |run| Some(run.outcome.figures.as_ref()?.rps))?;
    let (low, high) = (rates().reduce(f64::min)?, rates().reduce(f64::max)?);
    (rates().count() > 1 && median > 0.0).then(|| percent((high - low) / median * 100.0))
}

/// Returns a note about runs: that they failed, had errors, or are not valid.
pub(crate) fn note(runs: &[&SavedRun]) -> Option<String> {
    let mut notes = Vec::new();
    if runs.iter().any(|run| run.outcome.averages.seen_too_briefly) {
        notes.push(SEEN_TOO_BRIEFLY.to_owned());
    }
    let unsteady = |run: &&&SavedRun| run.header.warm_up.is_some_and(|warmed| !warmed.is_steady);
    if let Some(warmed) = runs
        .iter()
        .find(unsteady)
        .and_then(|run| run.header.warm_up)
    {
        let length = time(warmed.length_s * 1e6);
        notes.push(format!(
            "the target was not steady yet after {length} of warming up"
        ));
    }
    let failures: Vec<&String> = runs
        .iter()
        .filter_map(|run| run.outcome.failure.as_ref())
        .collect();
    if let Some(first) = failures.first() {
        notes.push(match (failures.len(), runs.len()) {
            (_, 1) => format!("failed: {first}"),
            (failed, all) => format!("{failed} of {all} failed: {first}"),
        });
    }
    let figures = || runs.iter().filter_map(|run| run.outcome.figures.as_ref());
    let errors: u64 = figures().filter_map(|figures| figures.errors).sum();
    if errors > 0 {
        notes.push(format!("{} errors", number(errors as f64)));
    }
    let bad: u64 = figures().filter_map(|figures| figures.bad_statuses).sum();
    if bad > 0 {
        notes.push(format!("{} bad statuses", number(bad as f64)));
    }
    notes.extend(figures().filter_map(|figures| figures.verdict.clone()));
    let doubted = figures().find(|figures| {
        let grade = figures.validity.as_deref();
        grade.is_some_and(|grade| grade != "valid")
    });
    notes.extend(doubted.and_then(|figures| {
        let grade = figures.validity.clone()?;
        Some(match &figures.finding {
            Some(reason) => format!("{grade}: {reason}"),
            None => grade,
        })
    }));
    (!notes.is_empty()).then(|| notes.join(", "))
}

/// Formats a number with at least three digits, its thousands separated.
fn number(number: f64) -> String {
    if number < 100.0 && number.fract() != 0.0 {
        return format!("{number:.1}");
    }
    grouped(&format!("{number:.0}"))
}

fn percent(percent: f64) -> String {
    format!("{percent:.0} %")
}

fn memory(kb: f64) -> String {
    // The kilobytes are of 1 024 bytes, the megabytes of a million, as on the page.
    let mb = kb * 1024.0 / 1e6;
    format!("{mb:.1} MB")
}

/// Formats a bandwidth, in megabytes of a million bytes, as memory.
fn bandwidth(kb_per_s: f64) -> String {
    memory(kb_per_s) + "/s"
}

/// Formats a share that is often far below one percent.
fn share(percent: f64) -> String {
    let digits = usize::from(percent < 9.95) + usize::from(percent < 0.995);
    format!("{percent:.digits$} %")
}

fn time(us: f64) -> String {
    time_in_steps(us, 0.0)
}

/// Formats a time of this resolution in microseconds: no digit is finer than the resolution, and a
/// time below it is printed as `<` the resolution.
pub(crate) fn time_in_steps(us: f64, step_us: f64) -> String {
    if us < step_us {
        return format!("< {}", time_in_steps(step_us, step_us));
    }
    let (unit_us, unit) = match us {
        us if us < 1e3 => (1.0, "µs"),
        us if us < 1e6 => (1e3, "ms"),
        _ => (1e6, "s"),
    };
    let value = us / unit_us;
    let digits = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    let known = (0..digits).find(|digits| unit_us / 10_f64.powi(*digits) <= step_us);
    let digits = known.unwrap_or(digits) as usize;
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests;
