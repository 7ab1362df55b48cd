//! Loadline's own search for the load line, by its JSON.

use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words};
use crate::figures::{Figures, LoadLine, Percentiles};
use crate::settings::Settings;
use loadline_json::{Recovery, Rung, Search, SearchAnswer};
use loadline_plan::DurationText;
use std::fs::File;
use std::io::BufReader;

/// `loadline capacity`. A duration is that of a trial; the flag `--budget` bounds the search.
pub(super) struct Capacity;

/// Its report, in the folder of the run.
const REPORT: &str = "capacity.json";
/// The rung of the ladder whose times stand for the target below its load line.
const BELOW: &str = "90 %";

impl Peer for Capacity {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        match settings {
            Settings { rate: Some(_), .. } => {
                return Err(Unsupported::OwnLoad("capacity", "the rate"));
            }
            Settings {
                requests: Some(_), ..
            } => return Err(Unsupported::OwnLoad("capacity", "the requests")),
            _ => {}
        }
        let mut words = Words::of(&["--no-progress", "-o", "text"]);
        let report = place.folder.join(REPORT);
        words.flag("-o", Some(format!("json={}", report.display())));
        words.flag("--threads", settings.threads);
        words.flag("--connections", settings.connections);
        words.flag("--duration", settings.duration.map(DurationText));
        words.flag(
            "--script",
            place.script.map(|path| path.display().to_string()),
        );
        if settings.keep_alive == Some(false) {
            words.add("--no-keepalive");
        }
        words.flags(settings);
        words.add(place.url);
        Ok(words.into())
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let file = File::open(captured.folder.join(REPORT)).map_err(|_| Unreadable::NoFile)?;
        let search: Search = serde_json::from_reader(BufReader::new(file))
            .map_err(|error| Unreadable::Json(error.to_string()))?;
        Ok(figures(&search))
    }
}

fn figures(search: &Search) -> Figures {
    let (load_line, text) = answer(&search.answer);
    let recovery = search.recovery.as_ref();
    let load_line = load_line.map(|line| LoadLine {
        recovery_s: recovery.and_then(|recovery| Some(recovery.after_s?.0)),
        ..line
    });
    let below = search.ladder.iter().find(|rung| rung.part == BELOW);
    let texts = [Some(text.to_owned()), recovery.map(recovered)];
    Figures {
        rps: load_line.map_or(0.0, |line| line.rate),
        percentiles: below.map(percentiles).unwrap_or_default(),
        load_line,
        verdict: Some(texts.into_iter().flatten().collect::<Vec<_>>().join(" ")),
        ..Figures::default()
    }
}

/// Returns the load line, as far as it is known, and the result as a sentence.
fn answer(answer: &SearchAnswer) -> (Option<LoadLine>, &str) {
    let line = |rate, low, high| {
        Some(LoadLine {
            rate,
            low,
            high,
            recovery_s: None,
        })
    };
    match answer {
        SearchAnswer::Found {
            level,
            low,
            high,
            text,
            ..
        } => (line(*level, Some(*low), Some(*high)), text),
        SearchAnswer::AtLeast { level, text, .. } => (line(*level, Some(*level), None), text),
        SearchAnswer::NothingHolds { text, .. } => (None, text),
        SearchAnswer::Unsettled {
            lower, upper, text, ..
        } => (
            lower.and_then(|lower| line(lower, Some(lower), *upper)),
            text,
        ),
    }
}

fn percentiles(rung: &Rung) -> Percentiles {
    let measured = &rung.measured;
    Percentiles {
        p50_us: Some(measured.p50_us.0).filter(|_| !measured.p50_at_least),
        p99_us: Some(measured.p99_us.0).filter(|_| !measured.p99_at_least),
        ..Percentiles::default()
    }
}

fn recovered(recovery: &Recovery) -> String {
    match (&recovery.after_s, &recovery.within_s) {
        (Some(after), _) if after.0 == 0.0 => {
            "After 110 % of it all checks passed again at once.".to_owned()
        }
        (Some(after), _) => format!(
            "After 110 % of it all checks passed again from {} s on.",
            after.0
        ),
        (None, Some(within)) => {
            format!(
                "After 110 % of it some check still failed within {} s.",
                within.0
            )
        }
        (None, None) => "Whether it recovers is not known.".to_owned(),
    }
}
