//! The output of a run while it lasts: its header, and the progress of its scenarios.
//!
//! On a terminal the block is redrawn ten times a second; elsewhere it is printed once a second.

mod rows;
mod times;

use super::listener::{Moment, Watcher};
use super::report::Report;
use super::screen::Screen;
use super::session::ParsedCommand;
use super::test::Test;
use loadline_k6_metrics::Portion;
use loadline_k6_options::{Executor, GoDuration, Needs, Scenario, describe, needs};
use loadline_script_js::Stage;
use rows::{Mark, Row, RowStyle};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use times::{digits, padded};

/// The time between two drawings of the block on a terminal.
const DRAWN_EACH: Duration = Duration::from_millis(100);
/// The time between two printed blocks elsewhere.
const PRINTED_EACH: Duration = Duration::from_secs(1);
/// The minimum width of names, in columns.
const NAME_COLUMNS: usize = 4;

const BANNER: &str = r"
         /\      Grafana   /‾‾/  
    /\  /  \     |\  __   /  /   
   /  \/    \    | |/ /  /   ‾‾\ 
  /          \   |   (  |  (‾)  |
 / __________ \  |_|\_\  \_____/ ";

/// Shows the progress of a run.
pub(super) struct Progress<'a> {
    screen: &'a Screen,
    script: String,
    outputs: &'a Report,
    scenarios: &'a [Scenario],
    needs: Needs,
    segment: f64,
    style: RowStyle,
    is_quiet: bool,
    /// The time at which the block is due next.
    due: Option<Instant>,
    /// The block to show after the end.
    last: Option<Vec<String>>,
}

impl<'a> Progress<'a> {
    /// Creates the progress of a test's run.
    pub(super) fn new(command: &ParsedCommand<'a>, test: &'a Test, report: &'a Report) -> Self {
        let terminals = command.session.terminals;
        let scenarios = &test.options.scenarios;
        let script = command.invocation.arguments.first();
        Progress {
            screen: &command.session.screen,
            script: script.cloned().unwrap_or_default(),
            outputs: report,
            scenarios,
            needs: needs(scenarios),
            segment: test.settings().segment.size(),
            style: RowStyle {
                has_bars: terminals.stdout,
                has_colours: terminals.stdout && command.has_colours,
                columns: terminals.columns.map(usize::from),
            },
            is_quiet: command.is_on("quiet"),
            due: None,
            last: None,
        }
    }

    /// Prints the header: the script, the address of the live page if there is one, the outputs and
    /// the scenarios.
    pub(super) fn header(&self, page: Option<&str>) {
        if self.is_quiet {
            return;
        }
        let banner = BANNER.strip_prefix('\n').unwrap_or(BANNER);
        let banner = self.coloured(33, banner);
        let (local, script) = (self.coloured(36, "local"), self.coloured(36, &self.script));
        let output = self.coloured(36, &self.outputs.described());
        let summary = self.coloured(36, &self.summary());
        let page = page
            .filter(|url| !url.is_empty())
            .map_or_else(String::new, |url| {
                let url = self.coloured(36, url.trim_end_matches('/'));
                format!(" web dashboard: {url}\n")
            });
        let mut text = format!(
            "\n{banner}\n\n\n     execution: {local}\n        script: {script}\n{page}\
             \u{20}       output: {output}\n\n     scenarios: {summary}\n"
        );
        for scenario in self.scenarios {
            let name = &scenario.name;
            text += &format!("              * {name}: {}\n", describe(scenario));
        }
        self.print(&(text + "\n"));
    }

    /// Describes all scenarios in one line.
    fn summary(&self) -> String {
        let count = self.scenarios.len();
        let plural = if count == 1 { "" } else { "s" };
        let most = self.needs.max_vus;
        let length = GoDuration::of(self.needs.length);
        let share = self.segment * 100.0;
        format!(
            "({share:.2}%) {count} scenario{plural}, {most} max VUs, {length} max duration (incl. \
             graceful stop):"
        )
    }

    fn coloured(&self, colour: u8, text: &str) -> String {
        match self.style.has_colours {
            true => format!("\u{1b}[{colour}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }

    /// Prints text above the block; on a terminal its lines erase the previous content.
    fn print(&self, text: &str) {
        match self.style.has_colours {
            true => self.screen.print(&text.replace('\n', "\u{1b}[0K\n")),
            false => self.screen.print(text),
        }
    }

    /// Shows a block, if one is due.
    fn show(&mut self, lines: impl FnOnce(&Self) -> Vec<String>) {
        let each = match self.style.has_bars {
            true => DRAWN_EACH,
            false => PRINTED_EACH,
        };
        let now = Instant::now();
        let due = *self.due.get_or_insert(now + each);
        if self.is_quiet || now < due {
            return;
        }
        self.due = Some(due + each);
        let lines = lines(self);
        self.draw(&lines);
    }

    fn draw(&self, lines: &[String]) {
        match self.style.has_bars {
            true => self.screen.show(&ended(lines, "\u{1b}[K\r\n")),
            false => self.screen.print(&ended(lines, "\n")),
        }
    }

    /// Shows the last block, after the summary.
    pub(super) fn end(&mut self) {
        self.screen.end_block();
        let Some(lines) = self.last.take().filter(|_| !self.is_quiet) else {
            return;
        };
        let end = match self.style.has_bars {
            true => "\u{1b}[K\r\n",
            false => "\n",
        };
        self.screen.print(&ended(&lines, end));
    }

    /// Returns the lines of the block at this moment.
    fn lines(&self, moment: &Moment<'_>) -> Vec<String> {
        let execution = &moment.state.execution;
        let ready = execution.users_ready.load(Ordering::Relaxed);
        let active = execution.users_active.load(Ordering::Relaxed);
        let complete = execution.iterations_complete.load(Ordering::Relaxed);
        let interrupted = execution.iterations_interrupted.load(Ordering::Relaxed);
        let elapsed = padded(execution.elapsed(), self.needs.length);
        let width = digits(u64::from(ready));
        let state = match moment.running.is_paused() {
            true => "paused",
            false => "running",
        };
        let mut lines = vec![format!(
            "{state} ({elapsed}), {active:0width$}/{ready} VUs, {complete} complete and \
             {interrupted} interrupted iterations"
        )];
        let rows = self.scenarios.iter().zip(moment.stages).enumerate();
        let rows: Vec<Row> = rows
            .map(|(index, (scenario, stage))| {
                let mut scenario = scenario.clone();
                if let Executor::ExternallyControlled { vus, max_vus, .. } = &mut scenario.executor
                {
                    (*vus, *max_vus) = moment.running.users_of(index).unwrap_or((*vus, *max_vus));
                }
                row(&scenario, stage, moment)
            })
            .collect();
        lines.extend(rows::lines(&rows, NAME_COLUMNS, self.style));
        lines
    }

    /// Returns the lines of the block before the load; `what` is the current activity.
    fn lines_before(&self, what: &str) -> Vec<String> {
        let row = |name: &str, share: f64, cells: Vec<String>| Row {
            name: name.to_owned(),
            mark: Mark::None,
            share,
            cells,
        };
        let setup = row("Run", 1.0, vec![what.to_owned()]);
        let all = self.scenarios.iter();
        let all = all.map(|scenario| row(&scenario.name, 0.0, Vec::new()));
        let rows: Vec<Row> = std::iter::once(setup).chain(all).collect();
        let lines = rows::lines(&rows, NAME_COLUMNS, self.style);
        lines
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }
}

/// Joins lines with this end, after an empty one.
fn ended(lines: &[String], end: &str) -> String {
    let each = lines.iter().map(|line| format!("{line}{end}"));
    format!("{end}{}", each.collect::<String>())
}

impl Watcher for Progress<'_> {
    fn portion(&mut self, portion: &Portion) {
        self.outputs.take(portion);
    }

    fn paused(&mut self) {
        self.show(|progress| progress.lines_before("paused"));
    }

    fn setting_up(&mut self) {
        self.show(|progress| progress.lines_before("setup()"));
    }

    fn moment(&mut self, moment: &Moment<'_>) {
        self.show(|progress| progress.lines(moment));
    }

    fn ended(&mut self, moment: &Moment<'_>) {
        if moment.load_began.is_some() {
            self.last = Some(self.lines(moment));
        }
    }
}

/// Returns the row of a scenario.
fn row(scenario: &Scenario, stage: &Stage, moment: &Moment<'_>) -> Row {
    let seen = stage
        .scenario()
        .expect("the stages of a load are scenarios");
    let name = scenario.name.clone();
    let load = load_elapsed(seen, moment);
    let Some(elapsed) = load.checked_sub(scenario.start_time) else {
        let left = padded(scenario.start_time - load, scenario.start_time);
        return Row {
            name,
            mark: Mark::Waiting,
            share: 0.0,
            cells: vec!["waiting".to_owned(), left],
        };
    };
    let share = share(&scenario.executor, seen, elapsed);
    let mark = mark(&scenario.executor, seen, elapsed, moment);
    Row {
        cells: cells(&scenario.executor, seen, elapsed, mark == Mark::Done),
        name,
        mark,
        share,
    }
}

/// Returns the time that the load has lasted for a scenario: up to the scenario's end, if it has
/// ended.
fn load_elapsed(seen: &loadline_script_js::Scenario, moment: &Moment<'_>) -> Duration {
    let Some(began) = moment.load_began else {
        return Duration::ZERO;
    };
    let ended = seen.ended().or(moment.load_ended);
    ended
        .unwrap_or_else(Instant::now)
        .saturating_duration_since(began)
}

fn share(executor: &Executor, seen: &loadline_script_js::Scenario, elapsed: Duration) -> f64 {
    let complete = seen.complete.load(Ordering::Relaxed) as f64;
    let share = match executor {
        Executor::SharedIterations { iterations, .. } => complete / *iterations as f64,
        Executor::PerVuIterations {
            vus, iterations, ..
        } => complete / (*iterations as f64 * f64::from(*vus)),
        Executor::ConstantVus { .. }
        | Executor::RampingVus { .. }
        | Executor::ConstantArrivalRate { .. }
        | Executor::RampingArrivalRate { .. }
        | Executor::ExternallyControlled { .. } => match executor.length() {
            Some(length) => elapsed.as_secs_f64() / length.as_secs_f64(),
            None => 1.0,
        },
    };
    share.clamp(0.0, 1.0)
}

fn mark(
    executor: &Executor,
    seen: &loadline_script_js::Scenario,
    elapsed: Duration,
    moment: &Moment<'_>,
) -> Mark {
    let is_idle = seen.active.load(Ordering::Relaxed) == 0;
    let is_timed_out = executor.length().is_some_and(|length| elapsed >= length);
    let is_complete = seen.ended().is_some();
    let is_over = moment.load_ended.is_some();
    match (is_complete || (is_timed_out && is_idle), is_over) {
        (true, _) => Mark::Done,
        (false, true) => Mark::Cut,
        (false, false) => Mark::None,
    }
}

/// Returns the texts to the right of the bar.
fn cells(
    executor: &Executor,
    seen: &loadline_script_js::Scenario,
    elapsed: Duration,
    is_done: bool,
) -> Vec<String> {
    let length = executor.length();
    let whole = GoDuration::of(length.unwrap_or_default());
    let time = match length {
        None => "0s".to_owned(),
        Some(length) => format!("{}/{whole}", padded(elapsed.min(length), length)),
    };
    let time_or_whole = match is_done {
        true => whole.to_string(),
        false => time.clone(),
    };
    let complete = seen.complete.load(Ordering::Relaxed);
    let active = seen.active.load(Ordering::Relaxed);
    let of = |count: u64, whole: u64| format!("{count:0width$}/{whole}", width = digits(whole));
    let users = |count: u32, whole: u32| format!("{} VUs", of(count.into(), whole.into()));
    match executor {
        Executor::ConstantVus { vus, .. } => vec![format!("{vus} VUs"), time_or_whole],
        Executor::SharedIterations {
            vus, iterations, ..
        } => vec![
            format!("{vus} VUs"),
            time,
            format!("{} shared iters", of(complete, *iterations)),
        ],
        Executor::PerVuIterations {
            vus, iterations, ..
        } => {
            let whole = iterations.saturating_mul(u64::from(*vus));
            let count = of(complete, whole);
            vec![
                format!("{vus} VUs"),
                time,
                format!("{count} iters, {iterations} per VU"),
            ]
        }
        Executor::RampingVus { .. } => {
            let length = length.unwrap_or_default();
            let (count, time) = match is_done {
                true => (0, time_or_whole),
                // Here k6 formats both times alike.
                false => {
                    let [time, whole] =
                        [elapsed.min(length), length].map(|one| padded(one, length));
                    (executor.level(elapsed) as u32, format!("{time}/{whole}"))
                }
            };
            vec![users(count, executor.max_vus()), time]
        }
        Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => {
            let there = seen
                .most_active
                .load(Ordering::Relaxed)
                .max(executor.ready_vus());
            let most = format!("{:.2}", executor.most_rate());
            let rate = format!(
                "{:0width$.2} iters/s",
                executor.level(elapsed),
                width = most.len()
            );
            vec![users(active, there), time_or_whole, rate]
        }
        Executor::ExternallyControlled { vus, max_vus, .. } => {
            vec![users(*vus, *max_vus), time_or_whole, String::new()]
        }
    }
}
