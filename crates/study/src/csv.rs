//! The results as CSV, one row per run (RFC 4180, with a line feed at the end of each line).

use crate::figures::{Figures, LoadLine, Percentiles};
use crate::saved::SavedRun;
use crate::settings::{Flag, Settings, rate_text};

/// A column: its name, and the function that returns its cell.
type Column = (&'static str, fn(&SavedRun) -> Cell);

/// The content of a cell.
enum Cell {
    Text(String),
    Number(Option<f64>),
}

/// The columns. `exp_name` to `avg_open_sockets` are those of a published comparison of load
/// testers, the settings among them; memory is in KB, bandwidth in KB/s, both of 1 024 bytes, and
/// CPU in % of one core.
const COLUMNS: [Column; 50] = [
    ("exp_name", |run| text(&run.header.name)),
    ("repeat", |run| whole(Some(u64::from(run.header.repeat)))),
    ("tool", |run| text(&settings(run).tool)),
    ("target", |run| text(&settings(run).target)),
    ("against", |run| optional(settings(run).against.clone())),
    ("threads", |run| whole(settings(run).threads)),
    ("connections", |run| whole(settings(run).connections)),
    ("rate", |run| optional(settings(run).rate.map(rate_text))),
    ("duration_s", |run| {
        Cell::Number(settings(run).duration.map(|length| length.as_secs_f64()))
    }),
    ("requests", |run| whole(settings(run).requests)),
    ("keep_alive", |run| {
        optional(settings(run).keep_alive.map(|keeps| keeps.to_string()))
    }),
    ("script", |run| {
        let script = settings(run).script.as_ref();
        optional(script.map(|path| path.display().to_string()))
    }),
    ("flags", |run| text(&flags(settings(run)))),
    ("rps", |run| figure(run, Figures::known_rps)),
    ("avg_cpu", |run| used(run, |used| used.tool.cpu_percent)),
    ("avg_memory", |run| used(run, |used| used.tool.memory_kb)),
    ("avg_bandwidth", |run| {
        used(run, |used| used.bandwidth_kb_per_s)
    }),
    ("avg_bandwidth_utilization", |run| {
        used(run, |used| used.bandwidth_percent)
    }),
    ("avg_open_sockets", |run| {
        used(run, |used| used.tool.sockets)
    }),
    ("total_time_s", |run| {
        figure(run, |figures| figures.duration_s)
    }),
    ("elapsed_s", |run| used(run, |used| Some(used.elapsed_s))),
    ("answers", |run| count(run, |figures| figures.answers)),
    ("errors", |run| count(run, |figures| figures.errors)),
    ("timeouts", |run| count(run, |figures| figures.timeouts)),
    ("bad_statuses", |run| {
        count(run, |figures| figures.bad_statuses)
    }),
    ("mean_us", |run| figure(run, |figures| figures.mean_us)),
    ("p50_us", |run| {
        percentile(run, |percentiles| percentiles.p50_us)
    }),
    ("p75_us", |run| {
        percentile(run, |percentiles| percentiles.p75_us)
    }),
    ("p90_us", |run| {
        percentile(run, |percentiles| percentiles.p90_us)
    }),
    ("p95_us", |run| {
        percentile(run, |percentiles| percentiles.p95_us)
    }),
    ("p99_us", |run| {
        percentile(run, |percentiles| percentiles.p99_us)
    }),
    ("p99.9_us", |run| {
        percentile(run, |percentiles| percentiles.p99_9_us)
    }),
    ("percentile_step_us", |run| {
        figure(run, |figures| figures.resolution_us)
    }),
    ("max_us", |run| figure(run, |figures| figures.max_us)),
    ("cpu_us_per_request", |run| {
        Cell::Number(run.cpu_us_per_request())
    }),
    ("max_memory", |run| {
        used(run, |used| used.tool.max_memory_kb)
    }),
    ("target_avg_cpu", |run| {
        used(run, |used| used.target?.cpu_percent)
    }),
    ("target_avg_memory", |run| {
        used(run, |used| used.target?.memory_kb)
    }),
    ("target_cpu_us_per_request", |run| {
        Cell::Number(run.target_cpu_us_per_request())
    }),
    ("backends_avg_cpu", |run| {
        used(run, |used| used.backends?.cpu_percent)
    }),
    ("backends_avg_memory", |run| {
        used(run, |used| used.backends?.memory_kb)
    }),
    ("backends_cpu_us_per_request", |run| {
        Cell::Number(run.backends_cpu_us_per_request())
    }),
    ("host_avg_cpu", |run| {
        used(run, |used| used.host_cpu_percent)
    }),
    ("load_line_low", |run| load_line(run, |line| line.low)),
    ("load_line_high", |run| load_line(run, |line| line.high)),
    ("recovery_s", |run| load_line(run, |line| line.recovery_s)),
    ("warm_up_s", |run| {
        Cell::Number(run.header.warm_up.map(|warmed| warmed.length_s))
    }),
    ("validity", |run| text(validity(run))),
    ("failure", |run| optional(run.outcome.failure.clone())),
    ("started_at", |run| text(&run.header.started_at)),
];

/// Returns the results of runs that were made: a line of names, and a line for each run.
pub fn csv(runs: &[SavedRun]) -> String {
    let names = COLUMNS.map(|(name, _)| name).join(",");
    let row = |run: &SavedRun| COLUMNS.map(|(_, cell)| printed(cell(run))).join(",");
    let rows = std::iter::once(names).chain(runs.iter().map(row));
    rows.map(|row| row + "\n").collect()
}

fn settings(run: &SavedRun) -> &Settings {
    &run.header.settings
}

fn flags(settings: &Settings) -> String {
    let words: Vec<String> = settings.flags.iter().flat_map(Flag::words).collect();
    words.join(" ")
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn optional(text: Option<String>) -> Cell {
    Cell::Text(text.unwrap_or_default())
}

fn whole(number: Option<impl Into<u64>>) -> Cell {
    Cell::Number(number.map(|number| number.into() as f64))
}

fn figure(run: &SavedRun, of: fn(&Figures) -> Option<f64>) -> Cell {
    Cell::Number(run.outcome.figures.as_ref().and_then(of))
}

fn count(run: &SavedRun, of: fn(&Figures) -> Option<u64>) -> Cell {
    whole(run.outcome.figures.as_ref().and_then(of))
}

fn used(run: &SavedRun, of: fn(&crate::Averages) -> Option<f64>) -> Cell {
    Cell::Number(of(&run.outcome.averages))
}

fn load_line(run: &SavedRun, of: fn(&LoadLine) -> Option<f64>) -> Cell {
    let figures = run.outcome.figures.as_ref();
    Cell::Number(figures.and_then(|figures| of(figures.load_line.as_ref()?)))
}

fn validity(run: &SavedRun) -> &str {
    match (&run.outcome.failure, &run.outcome.figures) {
        (Some(_), _) => "failed",
        (None, Some(figures)) => figures.validity.as_deref().unwrap_or_default(),
        (None, None) => "",
    }
}

impl SavedRun {
    /// Returns the tool's time on a core for each response, in microseconds.
    pub fn cpu_us_per_request(&self) -> Option<f64> {
        self.us_per_response(self.outcome.averages.tool.cpu_s?)
    }

    /// The same of the target.
    pub fn target_cpu_us_per_request(&self) -> Option<f64> {
        self.us_per_response(self.outcome.averages.target?.cpu_s?)
    }

    /// The same of the backends, all of them together.
    pub fn backends_cpu_us_per_request(&self) -> Option<f64> {
        self.us_per_response(self.outcome.averages.backends?.cpu_s?)
    }

    fn us_per_response(&self, cpu_s: f64) -> Option<f64> {
        let answers = self.outcome.figures.as_ref()?.answers;
        let answers = answers.filter(|count| *count > 0)?;
        Some(cpu_s * 1e6 / answers as f64)
    }
}

/// Returns a percentile; an empty cell if it is below the resolution of the tool's report.
fn percentile(run: &SavedRun, of: fn(&Percentiles) -> Option<f64>) -> Cell {
    let figures = run.outcome.figures.as_ref();
    Cell::Number(figures.and_then(|figures| {
        let step_us = figures.resolution_us.unwrap_or(0.0);
        of(&figures.percentiles).filter(|us| *us >= step_us)
    }))
}

/// Returns a cell as CSV.
fn printed(cell: Cell) -> String {
    match cell {
        Cell::Number(None) => String::new(),
        // Digits beyond a thousandth of any unit here are noise.
        Cell::Number(Some(number)) => ((number * 1e3).round() / 1e3).to_string(),
        Cell::Text(text) if text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Cell::Text(text) => text,
    }
}

#[cfg(test)]
mod tests;
