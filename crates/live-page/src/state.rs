//! What is known of the run, second by second: the news of the run in, the state and its changes
//! out.

use crate::api::{CheckSoFar, Event, Figures, Load, Phase, Standing, State};
use crate::patch::Patch;
use loadline_page::{Heat, RunPage};
use loadline_plan::Plan;
use loadline_record::{Distribution, Header, Snapshot, Summary};
use loadline_report::{RunSoFar, heat_interval, level_text, planned_length, run_page};
use loadline_runner::{Commands, News, RunEnd, Stretch};
use loadline_units::rounding::per_second;
use loadline_verdict::RunResult;
use serde_json::Value;
use std::mem;

/// The run so far, and how it is steered.
pub(crate) struct Model {
    commands: Commands,
    state: State,
    run: Option<Run>,
    /// The files of each run that has ended.
    files: Vec<String>,
}

/// What the page of the current run is made of.
struct Run {
    /// The run, judged with the latest interval.
    judged: RunResult,
    heat: Heat,
    page: RunSoFar,
}

impl Model {
    pub(crate) fn new(commands: Commands, files: &[&str]) -> Self {
        Model {
            commands,
            state: State {
                standing: Standing::default(),
                page: Value::Null,
            },
            run: None,
            files: files.iter().map(|path| (*path).to_owned()).collect(),
        }
    }

    /// Returns the state with all news so far.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Takes what happened in a run. Returns what changed by it, and the page of a run that has
    /// ended.
    pub(crate) fn take(&mut self, news: &News) -> (Event, Option<RunPage>) {
        match news {
            News::Begun(header) => (self.begin(header), None),
            News::Interval(stretch) => (self.lengthen(stretch), None),
            News::Ended(end) => {
                let page = self.end(end);
                (self.show(&page), Some(page))
            }
        }
    }

    /// Returns the event after the last one: nothing changes any more.
    pub(crate) fn over(&mut self) -> Event {
        self.state.standing.phase = Phase::Ended;
        self.state.standing.is_over = true;
        self.event(Patch::default())
    }

    fn begin(&mut self, header: &Header) -> Event {
        let mut run = Run {
            judged: RunResult::so_far(Summary::new(header.clone())),
            heat: Heat::default(),
            page: RunSoFar::default(),
        };
        let standing = &mut self.state.standing;
        standing.phase = Phase::Running;
        standing.figures = Figures {
            planned_s: planned_length(&header.plan).map(|length| length.as_secs_f64()),
            validity: "valid".to_owned(),
            ..Figures::default()
        };
        standing.load = Load {
            scenarios: scenario_names(&header.plan),
            ..Load::default()
        };
        let page = run.page();
        self.run = Some(run);
        self.show(&page)
    }

    fn lengthen(&mut self, stretch: &Stretch) -> Event {
        let Some(run) = self.run.take() else {
            return self.event(Patch::default());
        };
        let mut run = run.with(stretch);
        let standing = &mut self.state.standing;
        standing.load.level = level(&run.judged.summary);
        standing.load.is_paused = self.commands.is_paused();
        if !stretch.snapshot.drain {
            standing.figures = figures(&run.judged, &stretch.snapshot);
        }
        if stretch.snapshot.drain || self.commands.is_ending() {
            standing.phase = Phase::Ending;
        }
        let page = run.page();
        self.run = Some(run);
        self.show(&page)
    }

    fn end(&mut self, end: &RunEnd) -> RunPage {
        let result = &end.result;
        let heat = self.run.take().map_or_else(Heat::default, |run| run.heat);
        let standing = &mut self.state.standing;
        standing.phase = Phase::Ended;
        standing.load.is_paused = false;
        standing.files.clone_from(&self.files);
        let latest = mem::take(&mut standing.figures);
        standing.figures = Figures {
            rate_per_s: latest.rate_per_s,
            asked_per_s: latest.asked_per_s,
            p50_us: latest.p50_us,
            p95_us: latest.p95_us,
            p99_us: latest.p99_us,
            ..counted(result)
        };
        run_page(result, &heat)
    }

    /// Shows a page from now on.
    fn show(&mut self, page: &RunPage) -> Event {
        let page = serde_json::to_value(page).expect("a page is plain data with text as keys");
        let before = mem::replace(&mut self.state.page, page);
        self.event(Patch::between(&before, &self.state.page))
    }

    fn event(&mut self, page: Patch) -> Event {
        self.state.standing.number += 1;
        Event {
            standing: self.state.standing.clone(),
            page,
        }
    }
}

impl Run {
    /// Adds an interval, and judges the run again.
    fn with(self, stretch: &Stretch) -> Run {
        let Run {
            judged,
            mut heat,
            page,
        } = self;
        let mut summary = judged.summary;
        summary.observe(&stretch.snapshot);
        if let Some(watched) = &stretch.watched {
            summary.observe_watched(watched);
        }
        summary.changes.extend(&stretch.changes);
        heat_interval(&mut heat, &stretch.snapshot);
        Run {
            judged: RunResult::so_far(summary),
            heat,
            page,
        }
    }

    /// Returns the page so far.
    fn page(&mut self) -> RunPage {
        self.page.of(&self.judged, &self.heat)
    }
}

fn scenario_names(plan: &Plan) -> Vec<String> {
    let scenarios = plan.scenarios.iter();
    scenarios
        .map(|scenario| scenario.part.name.clone())
        .collect()
}

/// The last change of the load, in words.
fn level(summary: &Summary) -> Option<String> {
    let change = summary.changes.last()?;
    let level = level_text(change.level);
    Some(match change.scenario_of(&summary.plan) {
        Some(scenario) => format!("{level} of {scenario}"),
        None => level,
    })
}

/// Figures of a run whose latest interval is this one.
fn figures(run: &RunResult, latest: &Snapshot) -> Figures {
    let rate = |count| per_second(count, latest.length_ns());
    let times = &latest.times.response;
    Figures {
        rate_per_s: rate(latest.counts.completed),
        asked_per_s: (run.summary.plan.load.shape.is_open()).then(|| rate(latest.counts.planned)),
        p50_us: percentile_us(times, 50.0),
        p95_us: percentile_us(times, 95.0),
        p99_us: percentile_us(times, 99.0),
        ..counted(run)
    }
}

/// What was counted so far, and judged.
fn counted(run: &RunResult) -> Figures {
    let counts = &run.summary.total.counts;
    Figures {
        elapsed_s: run.summary.duration_ns as f64 / 1e9,
        planned_s: planned_length(&run.summary.plan).map(|length| length.as_secs_f64()),
        planned: counts.planned,
        sent: counts.sent,
        answered: counts.answered,
        failed: counts.failed,
        in_flight: counts.in_flight,
        validity: run.grade().name().to_owned(),
        checks: (run.checks.iter())
            .map(|check| CheckSoFar {
                check: check.text.clone(),
                outcome: check.outcome.word().to_owned(),
            })
            .collect(),
        ..Figures::default()
    }
}

fn percentile_us(times: &Distribution, percentile: f64) -> Option<f64> {
    (!times.is_empty()).then(|| times.percentile_ns(percentile) as f64 / 1e3)
}

#[cfg(test)]
mod tests;
