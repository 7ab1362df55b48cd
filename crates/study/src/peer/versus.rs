//! Loadline's own comparison of two targets that take turns, by its JSON. A is the run's target, B
//! the other one.

use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words};
use crate::figures::{Figures, Percentiles};
use crate::settings::{Settings, rate_text};
use loadline_json::{ComparedFigure, Comparison, Standing, Unit};
use loadline_plan::DurationText;
use serde::Deserialize;
use std::fs::File;
use std::io::BufReader;

/// `loadline versus`. A duration is that of one run; the flag `--repeat` sets the number of runs of
/// each side.
pub(super) struct Versus;

/// Its report, in the folder of the run.
const REPORT: &str = "versus.json";

/// The parts of the report that are read.
#[derive(Deserialize)]
struct Report {
    comparison: Comparison,
}

impl Peer for Versus {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        let mut words = Words::of(&["--no-progress", "-o", "text"]);
        let report = place.folder.join(REPORT);
        words.flag("-o", Some(format!("json={}", report.display())));
        words.flag("--threads", settings.threads);
        words.flag("--connections", settings.connections);
        words.flag("--requests", settings.requests);
        words.flag("--duration", settings.duration.map(DurationText));
        words.flag("--rate", settings.rate.map(rate_text));
        words.flag(
            "--script",
            place.script.map(|path| path.display().to_string()),
        );
        if settings.keep_alive == Some(false) {
            words.add("--no-keepalive");
        }
        words.flags(settings);
        words.add(place.url);
        words.add(place.against.ok_or(Unsupported::NeedsOther("versus"))?);
        Ok(words.into())
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let file = File::open(captured.folder.join(REPORT)).map_err(|_| Unreadable::NoFile)?;
        let report: Report = serde_json::from_reader(BufReader::new(file))
            .map_err(|error| Unreadable::Json(error.to_string()))?;
        Ok(figures(&report.comparison))
    }
}

fn figures(comparison: &Comparison) -> Figures {
    let figure = |name: &str| {
        let mut figures = comparison.figures.iter();
        figures.find(|figure| figure.figure == name)
    };
    let time = |name: &str| {
        let figure = figure(name).filter(|figure| figure.unit == Unit::Us)?;
        Some(figure.a)
    };
    Figures {
        rps: figure("rate").map_or(0.0, |rate| rate.a),
        percentiles: Percentiles {
            p50_us: time("p50"),
            p75_us: time("p75"),
            p90_us: time("p90"),
            p95_us: time("p95"),
            p99_us: time("p99"),
            p99_9_us: time("p99.9"),
        },
        mean_us: time("mean"),
        max_us: time("max"),
        verdict: Some(verdict(comparison)),
        ..Figures::default()
    }
}

fn verdict(comparison: &Comparison) -> String {
    let whole = match comparison.standing {
        Standing::Faster => "B is faster than A",
        Standing::Slower => "B is slower than A",
        Standing::CannotTell => "Whether B is faster or slower is not known",
    };
    let figures: Vec<String> = comparison.figures.iter().map(figure_text).collect();
    format!("{whole}. B / A: {}.", figures.join(", "))
}

fn figure_text(figure: &ComparedFigure) -> String {
    let (low, high) = (figure.interval.lower, figure.interval.upper);
    let standing = match figure.standing {
        Standing::Faster => "faster",
        Standing::Slower => "slower",
        Standing::CannotTell => "cannot tell",
    };
    let (name, ratio) = (&figure.figure, figure.ratio);
    format!("{name} {ratio:.2} ({low:.2} – {high:.2}, {standing})")
}
