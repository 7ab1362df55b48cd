//! The loop with a source of scripted events: without threads, sockets and clock.

/// Runs of agents.
mod agents;

use super::*;
use crate::commands::{Command, Control};
use crate::feed::{News, QUEUE, feed};
use crate::observer::{Interests, Observed};
use crate::samples;
use loadline_engine::StartError;
use loadline_plan::HttpVersion;
use loadline_script::ScriptError;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

type Orders = Arc<Mutex<Vec<Command>>>;

/// Returns these events; `None` is a wait in which nothing happens.
struct Script {
    events: RefCell<VecDeque<Option<Event>>>,
    orders: Orders,
    /// The error that it raises as soon as its load has begun.
    raises: Option<ScriptError>,
    /// The notes to which it adds its teardown, which fails then.
    torn_down: Option<Arc<Mutex<Vec<String>>>>,
}

impl Script {
    fn new(events: impl IntoIterator<Item = Option<Event>>) -> Script {
        Script {
            events: RefCell::new(events.into_iter().collect()),
            orders: Arc::default(),
            raises: None,
            torn_down: None,
        }
    }
}

impl Workload for Script {
    fn start(&self, _: Plan, _: Interests) -> Result<Box<dyn Source>, StartError> {
        Ok(Box::new(Events {
            events: self.events.take(),
            orders: Arc::clone(&self.orders),
        }))
    }

    fn on_error(&self, act: OnError) {
        if let Some(error) = self.raises.clone() {
            act(error);
        }
    }

    fn teardown(&self) -> Result<(), RunError> {
        let Some(notes) = &self.torn_down else {
            return Ok(());
        };
        notes.lock().unwrap().push("teardown".to_owned());
        Err(RunError::Threw(error("in teardown()")))
    }
}

struct Events {
    events: VecDeque<Option<Event>>,
    orders: Orders,
}

impl Source for Events {
    fn next_event(&mut self, _: Duration) -> Option<Event> {
        self.events.pop_front().flatten()
    }

    fn control(&self) -> Box<dyn Control> {
        Box::new(Recorded(Arc::clone(&self.orders)))
    }

    fn failure(&self, _: u64) -> Option<String> {
        Some("worker 0 panicked.".to_owned())
    }

    fn begin_ns(&self) -> u64 {
        7
    }

    fn addresses(&self) -> &[Address] {
        &[]
    }

    fn left_out(&self) -> &[Address] {
        &[]
    }

    fn http(&self) -> HttpVersion {
        HttpVersion::V1_1
    }
}

struct Recorded(Orders);

impl Control for Recorded {
    fn change(&self, _level: loadline_plan::Level) -> Option<u64> {
        None
    }

    fn change_scenario(&self, _scenario: usize, _level: loadline_plan::Level) -> Option<u64> {
        None
    }

    fn stop(&self) {
        self.0.lock().unwrap().push(Command::Stop);
    }

    fn abort(&self) {
        self.0.lock().unwrap().push(Command::Abort);
    }
}

/// Records the calls that it receives; fails at the first interval if `fails`.
#[derive(Default)]
struct Witness {
    told: Vec<String>,
    fails: bool,
}

impl Witness {
    fn note(&mut self, what: &str) -> Observed {
        self.told.push(what.to_owned());
        Ok(())
    }
}

impl Observer for Witness {
    fn prepare(&mut self) -> Observed {
        self.note("prepare")
    }

    fn begun(&mut self, header: &Header) -> Observed {
        let began_ns = header.started_monotonic_ns.unwrap_or_default();
        self.note(&format!("begun {began_ns}"))
    }

    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        self.note(&format!("interval {}", interval.summary.total.counts.sent))?;
        match self.fails {
            true => Err("the disk is full".into()),
            false => Ok(()),
        }
    }

    fn idle(&mut self, _: &Summary) -> Observed {
        self.note("idle")
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        self.note(&format!("ended {:?}", end.result.summary.ended))
    }
}

fn error(during: &str) -> ScriptError {
    ScriptError {
        file: "a.lua".into(),
        line: Some(3),
        during: during.to_owned(),
        message: "no token".to_owned(),
    }
}

/// Returns the interval of this second, with two responses.
fn second(index: u64) -> Option<Event> {
    let mut snapshot = Snapshot::empty(index * 1_000_000_000);
    snapshot.end_ns = (index + 1) * 1_000_000_000;
    snapshot.counts.sent = 2;
    snapshot.counts.answered = 2;
    snapshot.statuses.insert(503, 2);
    Some(Event::Interval(Box::new(snapshot)))
}

fn end(reason: EndReason) -> Option<Event> {
    Some(Event::Ended {
        reason,
        unfinished: Box::default(),
    })
}

#[test]
fn observers_are_told_all_in_order() {
    let events = [second(0), None, second(1), end(EndReason::Duration)];
    let (plan, mut witness) = (samples::plan(), Witness::default());
    let script = Script::new(events);
    let commands = Commands::default();
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut [&mut witness]).unwrap();
    let told = ["prepare", "begun 7", "interval 2", "idle", "interval 4"];
    assert_eq!(witness.told[..5], told);
    assert_eq!(witness.told[5..], ["ended Duration"]);
    assert!(ran.trouble.is_none());
    assert_eq!(ran.result.summary.total.counts.sent, 4);
}

#[test]
fn a_consumer_that_sleeps_until_the_end_gets_all_of_the_run() {
    let (mut feed, inbox) = feed(QUEUE);
    let (plan, mut witness) = (samples::plan(), Witness::default());
    let seconds = (0..20).map(second);
    let script = Script::new(seconds.chain([end(EndReason::Duration)]));
    let mut observers: [&mut dyn Observer; 2] = [&mut feed, &mut witness];
    let commands = Commands::default();
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut observers).unwrap();
    drop(feed);
    assert_eq!(witness.told.len(), 23, "the others are told each interval");
    let mut summary = None;
    let mut ended = None;
    while let Some(news) = inbox.wait() {
        match news {
            News::Begun(header) => summary = Some(Summary::new((*header).clone())),
            News::Interval(stretch) => summary.as_mut().unwrap().observe(&stretch.snapshot),
            News::Ended(end) => ended = Some(end),
        }
    }
    let (summary, ended) = (summary.unwrap(), ended.unwrap());
    assert_eq!(summary.total.counts, ran.result.summary.total.counts);
    assert_eq!(summary.duration_ns, ran.result.summary.duration_ns);
    assert_eq!((summary.rows.len(), inbox.merged()), (QUEUE, 17));
    assert_eq!(ended.result, ran.result);
    assert!(ended.whole.is_none());
}

#[test]
fn an_observer_that_fails_is_left_and_the_others_go_on() {
    let events = [second(0), second(1), end(EndReason::Requests)];
    let mut failing = Witness {
        fails: true,
        ..Witness::default()
    };
    let (plan, mut other) = (samples::plan(), Witness::default());
    let script = Script::new(events);
    let mut observers: [&mut dyn Observer; 2] = [&mut failing, &mut other];
    let commands = Commands::default();
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut observers).unwrap();
    assert_eq!(failing.told.last().unwrap(), "interval 2");
    assert_eq!(other.told.last().unwrap(), "ended Requests");
    assert_eq!(ran.trouble.unwrap().to_string(), "the disk is full");
}

#[test]
fn a_broken_condition_aborts_once() {
    let plan = Plan {
        abort_on: vec!["non2xx<1%".parse().unwrap()],
        ..samples::plan()
    };
    let script = Script::new([second(0), second(1), end(EndReason::Stopped)]);
    let ran = conduct(&Setup::of(&plan), &script, &Commands::default(), &mut []).unwrap();
    assert_eq!(*script.orders.lock().unwrap(), [Command::Abort]);
    let ended = &ran.result.summary.ended;
    assert!(matches!(ended, Ended::Aborted(text) if text == "non2xx<1%"));
}

/// Sends a command at the first interval.
struct Commanding(Commands, Command);

impl Observer for Commanding {
    fn interval(&mut self, _: &Interval<'_>) -> Observed {
        self.0.send(self.1);
        Ok(())
    }
}

#[test]
fn a_stop_waits_for_answers_and_aborts_when_they_keep_it_too_long() {
    let mut plan = samples::plan();
    let orders_of = |plan: &Plan| {
        let commands = Commands::default();
        let mut user = Commanding(commands.clone(), Command::Stop);
        let script = Script::new([second(0), None, end(EndReason::Stopped)]);
        let ran = conduct(&Setup::of(plan), &script, &commands, &mut [&mut user]).unwrap();
        assert_eq!(ran.result.summary.ended, Ended::Interrupted);
        script.orders.lock().unwrap().clone()
    };
    assert_eq!(orders_of(&plan), [Command::Stop]);
    plan.connection.timeout = Duration::ZERO;
    assert_eq!(orders_of(&plan)[..2], [Command::Stop, Command::Abort]);
}

#[test]
fn a_command_before_the_load_aborts_it_and_names_the_end() {
    let (plan, commands) = (samples::plan(), Commands::default());
    commands.send(Command::Stop);
    let script = Script::new([end(EndReason::Stopped)]);
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut []).unwrap();
    assert_eq!(*script.orders.lock().unwrap(), [Command::Abort]);
    assert_eq!(ran.result.summary.ended, Ended::Interrupted);
}

#[test]
fn a_script_that_raises_an_error_aborts_its_run_and_none_behind_it() {
    let (plan, commands) = (samples::plan(), Commands::default());
    let mut script = Script::new([second(0), end(EndReason::Stopped)]);
    script.raises = Some(error("in request()"));
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut []).unwrap();
    assert_eq!(*script.orders.lock().unwrap(), [Command::Abort]);
    let why = "a.lua, line 3, in request(): no token".to_owned();
    assert_eq!(ran.result.summary.ended, Ended::Threw(why));
    assert!(!commands.is_ending());
}

/// Records the end of a run in the same notes as its script's teardown.
struct Last(Arc<Mutex<Vec<String>>>);

impl Observer for Last {
    fn ended(&mut self, _: &End<'_>) -> Observed {
        self.0.lock().unwrap().push("ended".to_owned());
        Ok(())
    }
}

#[test]
fn a_script_is_torn_down_before_anything_is_reported() {
    let (plan, commands) = (samples::plan(), Commands::default());
    let mut script = Script::new([second(0), end(EndReason::Duration)]);
    let notes = Arc::default();
    script.torn_down = Some(Arc::clone(&notes));
    let mut last = Last(Arc::clone(&notes));
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut [&mut last]).unwrap();
    assert_eq!(*notes.lock().unwrap(), ["teardown", "ended"]);
    let trouble = ran.trouble.unwrap().to_string();
    assert_eq!(trouble, "a.lua, line 3, in teardown(): no token");
}

#[test]
fn a_change_behind_the_last_interval_is_kept() {
    let (plan, commands) = (samples::plan(), Commands::default());
    let change = |at_ns| Change {
        at_ns,
        level: loadline_plan::Level::Paused,
        scenario: None,
    };
    let events = [
        Some(Event::Changed(change(5))),
        second(0),
        Some(Event::Changed(change(1_100_000_000))),
        end(EndReason::Stopped),
    ];
    let script = Script::new(events);
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut []).unwrap();
    let changes = ran.result.summary.changes.iter();
    let at_ns: Vec<i64> = changes.map(|change| change.at_ns).collect();
    let warmup_ns = plan.warmup.as_nanos() as i64;
    assert_eq!(at_ns, [5 - warmup_ns, 1_100_000_000 - warmup_ns]);
}

#[test]
fn a_lost_worker_is_the_first_trouble() {
    let plan = samples::plan();
    let script = Script::new([second(0), end(EndReason::Failed)]);
    let mut witness = Witness {
        fails: true,
        ..Witness::default()
    };
    let commands = Commands::default();
    let ran = conduct(&Setup::of(&plan), &script, &commands, &mut [&mut witness]).unwrap();
    let trouble = ran.trouble.unwrap().to_string();
    assert_eq!(trouble, "worker 0 panicked.; the disk is full");
}
