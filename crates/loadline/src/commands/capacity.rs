//! `loadline capacity`.

use super::locust::interpreter;
use crate::closing;
use crate::exit::Exit;
use crate::flags::run::judgement::Trust;
use crate::floor;
use crate::interrupt::{Interrupts, Manner};
use crate::publish::write_file;
use crate::resolve::{Locust, Search};
use crate::session::{Session, keys_of_view};
use crate::terminal::print_line;
use crate::view::View;
use crate::web::keep_open;
use anyhow::Result;
use loadline_capacity::{
    Conclusion, Inconclusive, Ladder, SearchEnd, SearchOutcome, Settings, Trial, Why,
};
use loadline_live_page::{LivePage, Searching, Seat};
use loadline_record::{Environment, Floor, Searched};
use loadline_report::{CapacityReport, Origin, capacity_json, search_page, search_page_so_far};
use loadline_runner::preflight::Reserved;
use loadline_runner::search::{Progress, Search as Setup, SearchResult, conduct_search};
use loadline_runner::{Commands, Common, End, Feed, Locustfile, Observed, Observer, OnlyEnds};
use loadline_terminal_view::Keys as KeyMap;
use loadline_units::counted;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A pause from which on users may wonder what goes on, in seconds.
const LONG_S: f64 = 2.0;

/// Searches the load line and reports it. What was found is reported however the search ended.
pub(crate) fn run(mut search: Search) -> Result<Exit> {
    let start = Instant::now();
    search.run.reports.prepare()?;
    if let Some(path) = &search.svg {
        drop(Reserved::open(path)?);
    }
    let locustfile = search.locust.as_ref().map(load).transpose()?;
    if let Some(locustfile) = &locustfile {
        aim(&mut search, locustfile);
    }
    let search = &search;
    let budget = Duration::try_from_secs_f64(search.settings.budget_s).ok();
    let view = search.run.session.view(KeyMap::Watch, budget)?;
    let commands = Commands::default();
    let _interrupts = Interrupts::watch(Manner::AtOnce, &commands)?;
    let keys = keys_of_view(view.as_ref(), &commands)?;
    let steer = Arc::new(OnlyEnds(commands.clone()));
    let (page, feed) = search.run.session.page(steer)?;
    announce(search);
    let floor = match search.floor {
        true => floor::measured(&search.run.plan, &commands),
        false => None,
    };
    let setup = Setup {
        plan: &search.run.plan,
        searched: searched(search, floor, start.elapsed()),
        settling: search.settling,
        locustfile: locustfile.as_ref(),
        common: Common {
            watch: search.run.session.watch.as_ref(),
            floor,
            prints: search.run.reports.needs().prints,
        },
        save: search.run.session.save.as_deref(),
    };
    let environment = Environment {
        floor,
        ..loadline_watch::environment()
    };
    let mut first = FirstTrial::default();
    let mut shown = Shown {
        searching: searching(&search.run.session, page.as_ref()),
        search,
        settings: &setup.searched.settings,
        origin: Origin::now(environment.clone()),
        trials: Vec::new(),
    };
    shown.show();
    let SearchResult {
        outcome,
        ended,
        trouble,
    } = conduct(
        &setup,
        &commands,
        &mut first,
        view.as_ref(),
        feed,
        &mut shown,
    );
    drop(keys);
    drop(view);
    if let SearchEnd::Failed(error) = &ended
        && outcome.trials.is_empty()
    {
        anyhow::bail!("{error:#}");
    }
    let report = CapacityReport {
        plan: &search.run.plan,
        users: search.users,
        errors_added: search.errors_added,
        settings: &setup.searched.settings,
        outcome: &outcome,
        interrupted: !matches!(ended, SearchEnd::Complete),
        origin: &first.0.unwrap_or_else(|| Origin::now(environment)),
    };
    shown.end(&report);
    let trouble = closing::print_trouble_before(publish(search, &report), trouble)?;
    match (ended, trouble) {
        (SearchEnd::Failed(error), _) => {
            Err(anyhow::Error::from(error).context("the search ended early"))
        }
        (_, Some(trouble)) => Err(trouble.into()),
        (SearchEnd::Interrupted, None) => {
            closing::print_reason("interrupted; the report covers what was found until then.");
            Ok(Exit::Interrupted)
        }
        (SearchEnd::Complete, None) => {
            let exit = exit_with_reason(&outcome.conclusion, search.run.trust);
            keep_open(page);
            Ok(exit)
        }
    }
}

/// Starts the process of a locustfile's users.
fn load(locust: &Locust) -> Result<Locustfile> {
    let interpreter = interpreter::find().map_err(anyhow::Error::msg)?;
    let mut command = Command::new(interpreter);
    command.args(["-m", "loadline.trials", "-f", &locust.file]);
    if let Some(host) = &locust.host {
        command.args(["-H", host]);
    }
    command.args(&locust.options);
    Ok(Locustfile::start(command, print_line)?)
}

/// Has the plan of the trials name the host that the locustfile's requests go to.
fn aim(search: &mut Search, locustfile: &Locustfile) {
    for request in &mut search.run.plan.requests {
        request.url = locustfile.host().clone();
    }
}

/// Conducts the search, each trial saved and shown as the invocation requires.
fn conduct(
    setup: &Setup<'_>,
    commands: &Commands,
    first: &mut FirstTrial,
    view: Option<&View>,
    feed: Option<Feed>,
    shown: &mut Shown<'_>,
) -> SearchResult {
    let search = shown.search;
    let session = &search.run.session;
    let mut observers = session.observers(false, view);
    if let Some(feed) = feed {
        observers.add(feed);
    }
    let mut all = observers.all();
    all.push(first);
    conduct_search(setup, commands, &mut all, &mut |progress| {
        if let Progress::Trial(trial) = progress {
            shown.add(trial);
        }
        match progress {
            // A loss is said even where progress is not.
            Progress::Void(reason) => print_line(&void(reason)),
            Progress::Left(agents) => print_line(&format!(
                "The search goes on with {}.",
                counted(agents.into(), "agent")
            )),
            Progress::Trial(_) | Progress::Pause(_) if session.progress => {
                print_progress(search, progress)
            }
            Progress::Trial(_) | Progress::Pause(_) => {}
        }
    })
}

/// Returns what shows the search on a live page, if there is one.
fn searching(session: &Session, page: Option<&LivePage>) -> Option<Searching> {
    let own = page.map(LivePage::searching);
    own.or_else(|| session.seat.as_ref().map(Seat::searching))
}

/// The search as the live page shows it, if there is a page.
struct Shown<'a> {
    searching: Option<Searching>,
    search: &'a Search,
    settings: &'a Settings,
    origin: Origin,
    trials: Vec<Trial>,
}

impl Shown<'_> {
    /// Shows one more trial.
    fn add(&mut self, trial: &Trial) {
        if self.searching.is_some() {
            self.trials.push(trial.clone());
            self.show();
        }
    }

    /// Shows the trials so far.
    fn show(&self) {
        let Some(searching) = &self.searching else {
            return;
        };
        let outcome = SearchOutcome {
            conclusion: Conclusion::Inconclusive(Inconclusive::default()),
            ladder: Ladder::default(),
            trials: self.trials.clone(),
        };
        searching.show(&search_page_so_far(&CapacityReport {
            plan: &self.search.run.plan,
            users: self.search.users,
            errors_added: self.search.errors_added,
            settings: self.settings,
            outcome: &outcome,
            interrupted: false,
            origin: &self.origin,
        }));
    }

    /// Shows the result.
    fn end(&self, report: &CapacityReport<'_>) {
        if let Some(searching) = &self.searching {
            let json = format!("{:#}\n", capacity_json(report));
            searching.end(search_page(report), json);
        }
    }
}

/// By what, when and where the first trial was made, once it was.
#[derive(Default)]
struct FirstTrial(Option<Origin>);

impl Observer for FirstTrial {
    fn ended(&mut self, end: &End<'_>) -> Observed {
        self.0
            .get_or_insert_with(|| Origin::of(&end.result.summary));
        Ok(())
    }
}

/// Returns the settings of the search, with the time that the floor took subtracted from the
/// budget.
fn searched(search: &Search, floor: Option<Floor>, gone: Duration) -> Searched {
    let floor = floor.filter(|_| !search.users);
    let settings = Settings {
        floor_per_s: floor.map(|floor| floor.answers_per_s),
        spent_s: gone.as_secs_f64(),
        ..search.settings.clone()
    };
    let searched = Searched {
        users: search.users,
        settings,
        errors_added: search.errors_added,
        plan: search.run.plan.clone(),
    };
    searched.without_requests()
}

/// Prints the goal of the search, if the user left it to us.
fn announce(search: &Search) {
    let shown = search.run.session.progress;
    if shown && search.usual_checks && search.locust.is_some() {
        print_line("No --check is given: using p99<1s and errors<0.1%.");
    } else if shown && search.usual_checks {
        print_line("No --check is given: using p99<1s, errors<0.1% and non2xx<0.1%.");
    } else if shown && search.errors_added {
        print_line("No --check on errors is given: adding errors<1%.");
    }
}

fn print_progress(search: &Search, progress: Progress<'_>) {
    match progress {
        Progress::Trial(trial) => {
            let checks = &search.run.plan.checks;
            print_line(&loadline_report::trial_line(trial, checks, search.users));
        }
        Progress::Pause(seconds) if seconds >= LONG_S => print_line(&format!(
            "The target has {seconds:.0} s to work off its backlog."
        )),
        Progress::Pause(_) | Progress::Void(_) | Progress::Left(_) => {}
    }
}

/// Returns the sentences about a trial in which a part of the load was lost for this reason.
fn void(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let reason: String = first.chain(letters).collect();
    format!("{reason} This trial does not count, and is made again.")
}

fn publish(search: &Search, report: &CapacityReport<'_>) -> Result<()> {
    let published = search.run.reports.publish_search(report);
    published.and(draw(search, report))
}

fn draw(search: &Search, report: &CapacityReport<'_>) -> Result<()> {
    let Some(path) = &search.svg else {
        return Ok(());
    };
    let plots = search_page(report).plots;
    let svg = loadline_plot::svg(&plots.response_over_load(), &plots.shared_x);
    write_file(path, svg.as_bytes())
}

/// Returns the exit of the command by the result, and prints the reason on stderr if it is not
/// success.
pub(crate) fn exit_with_reason(answer: &Conclusion, trust: Trust) -> Exit {
    let exit = exit(answer, trust);
    if let Some(why) = why(exit, answer) {
        closing::print_reason(why);
    }
    exit
}

/// Returns the reason why the result does not end the command with success.
fn why(exit: Exit, answer: &Conclusion) -> Option<&'static str> {
    let is_ours = !matches!(answer, Conclusion::Inconclusive(known) if known.own_limit.is_none());
    Some(match exit {
        Exit::CheckFailed => "a check fails even at the lowest load; the report says which.",
        Exit::Invalid if is_ours => {
            "the generator was the limit, or was disturbed; the report says which, and what to do."
        }
        Exit::Invalid => {
            "the time was over before the load line was known; the report gives its bounds, and \
             what to do."
        }
        Exit::Failed => {
            "the checks pass even at the highest load that was tried; the report says what to \
             raise."
        }
        Exit::Good | Exit::Interrupted | Exit::NotKnown | Exit::CannotTell => return None,
    })
}

/// Returns the exit of the command by the result.
pub(crate) fn exit(answer: &Conclusion, trust: Trust) -> Exit {
    let ours = match answer {
        Conclusion::Found(_) => return Exit::Good,
        Conclusion::AtLeast { why, .. } => matches!(why, Why::Generator { .. }),
        Conclusion::NothingHolds { own_limit, .. } => own_limit.is_some(),
        Conclusion::Inconclusive(known) => known.own_limit.is_some(),
    };
    match answer {
        _ if ours && !trust.allow_invalid => Exit::Invalid,
        Conclusion::AtLeast { .. } if ours => Exit::Good,
        Conclusion::AtLeast {
            why: Why::TimeOver { .. },
            ..
        } => Exit::Good,
        Conclusion::NothingHolds { .. } => Exit::CheckFailed,
        Conclusion::Inconclusive(_) => Exit::Invalid,
        Conclusion::Found(_) | Conclusion::AtLeast { .. } => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_capacity::OwnLimit;

    #[test]
    fn why_a_search_ends_badly_is_said_of_its_own_answer() {
        let trust = Trust {
            allow_invalid: false,
            strict: false,
        };
        let said = |answer: &Conclusion| why(exit(answer, trust), answer).expect("it ends badly");
        let unsettled = |own_limit| {
            Conclusion::Inconclusive(Inconclusive {
                lower: Some(10.0),
                upper: None,
                refuted: None,
                own_limit,
            })
        };
        assert!(said(&unsettled(None)).starts_with("the time was over"));
        let busy = OwnLimit::Busy { share: 0.9 };
        assert!(said(&unsettled(Some(busy))).starts_with("the generator"));
        let highest = Conclusion::AtLeast {
            level: 10.0,
            why: Why::Highest,
        };
        assert!(said(&highest).starts_with("the checks pass even at the highest load"));
        let confirmed = Conclusion::AtLeast {
            level: 10.0,
            why: Why::TimeOver {
                confirmed_s: 10.0,
                known: Inconclusive::default(),
            },
        };
        assert_eq!(exit(&confirmed, trust), Exit::Good);
    }
}
