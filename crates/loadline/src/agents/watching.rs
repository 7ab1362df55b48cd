//! Processes that are watched on other machines: by an agent there, for a run here.

use crate::terminal::print_line;
use loadline_bus::{Bus, Card, Eye, View};
use loadline_reactor::monotonic_ns;
use loadline_record::watched::{Watched, WatchedTree};
use loadline_runner::{Lookout, Sight};
use loadline_watch::{Proc, Target, Watcher};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which nobody has looked, after which a view is forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(60);
/// The most views at a time.
const MOST_VIEWS: usize = 16;
/// The time in which an agent answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// The time between two readings.
const SECOND_NS: u64 = 1_000_000_000;
/// By how much a reading is requested before the end of its interval.
const AHEAD_NS: u64 = 50_000_000;
/// The failures in a row after which a machine is said to be missing.
const MOST_FAILURES: u32 = 3;

/// Watches processes of this machine for coordinators.
pub(super) struct OwnEye {
    targets: Vec<Target>,
    views: HashMap<String, OwnView>,
}

/// The view of one coordinator.
struct OwnView {
    watcher: Watcher,
    begun: Instant,
    looked: Instant,
}

impl OwnEye {
    /// Creates what watches these processes.
    pub(super) fn new(targets: &[Target]) -> Self {
        OwnEye {
            targets: targets.to_vec(),
            views: HashMap::new(),
        }
    }

    fn open(&self) -> Result<OwnView, String> {
        let mut watcher = Watcher::new(Proc::default());
        for target in &self.targets {
            let watched = watcher.watch(target);
            watched.map_err(|error| format!("can't watch {target}: {error}"))?;
        }
        let now = Instant::now();
        watcher.begin(0);
        Ok(OwnView {
            watcher,
            begun: now,
            looked: now,
        })
    }
}

impl Eye for OwnEye {
    fn look(&mut self, word: &str) -> Result<String, String> {
        self.views
            .retain(|_, view| view.looked.elapsed() < FORGET_AFTER);
        if !self.views.contains_key(word) {
            if self.views.len() == MOST_VIEWS {
                return Err(format!("is watched by {MOST_VIEWS} runs already"));
            }
            let view = self.open()?;
            self.views.insert(word.to_owned(), view);
        }
        let view = self.views.get_mut(word).ok_or("has no such view")?;
        view.looked = Instant::now();
        let now_ns = view.begun.elapsed().as_nanos() as u64;
        let reading = view.watcher.look(now_ns);
        serde_json::to_string(&reading).map_err(|error| error.to_string())
    }
}

/// The agents that watch for the runs of this command.
pub(super) struct Watchers {
    bus: Bus,
    cards: Vec<Card>,
}

impl Watchers {
    /// Creates the lookout of these agents.
    pub(super) fn new(bus: &Bus, cards: Vec<Card>) -> Self {
        Watchers {
            bus: bus.clone(),
            cards,
        }
    }
}

impl Lookout for Watchers {
    fn begin(&self) -> Result<Vec<Box<dyn Sight>>, String> {
        let sight = |card| FarSight::begin(View::new(&self.bus, card));
        let sights = self.cards.iter().map(sight);
        sights
            .map(|sight| sight.map(|sight| Box::new(sight) as Box<dyn Sight>))
            .collect()
    }
}

/// The view of an agent during a run.
struct FarSight {
    view: View,
    trees: Vec<WatchedTree>,
    readings: Option<Receiver<Watched>>,
    /// Its end ends the requests.
    _over: Option<Sender<()>>,
}

impl FarSight {
    fn begin(view: View) -> Result<Self, String> {
        let first = look(&view);
        let first = first.map_err(|reason| format!("agent {} {reason}", view.name()))?;
        Ok(FarSight {
            view,
            trees: first.trees,
            readings: None,
            _over: None,
        })
    }
}

fn look(view: &View) -> Result<Watched, String> {
    let text = view.look(ANSWER_TIMEOUT)?;
    serde_json::from_str(&text).map_err(|_| "sends no reading that can be used".to_owned())
}

impl Sight for FarSight {
    fn machine(&self) -> &str {
        self.view.name()
    }

    fn start(&mut self, zero_ns: u64) {
        let (send, readings) = channel();
        let (over, ended) = channel();
        let (view, known) = (self.view.clone(), self.trees.clone());
        thread::spawn(move || follow(&view, known, zero_ns, &send, &ended));
        self.readings = Some(readings);
        self._over = Some(over);
    }

    fn readings(&mut self) -> Vec<Watched> {
        let readings = self.readings.iter().flat_map(Receiver::try_iter);
        readings.collect()
    }

    fn trees(&self) -> &[WatchedTree] {
        &self.trees
    }
}

/// Requests a reading a second until the run is over. Of those up to its zero only levels count,
/// which are not read as often as amounts.
fn follow(
    view: &View,
    mut known: Vec<WatchedTree>,
    zero_ns: u64,
    send: &Sender<Watched>,
    over: &Receiver<()>,
) {
    let mut failures = 0;
    for second in 0_u64.. {
        let ahead_ns = if second == 0 { 0 } else { AHEAD_NS };
        let at_ns = zero_ns + second * SECOND_NS - ahead_ns;
        let left = Duration::from_nanos(at_ns.saturating_sub(monotonic_ns()));
        if over.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
        match look(view) {
            Ok(mut reading) => {
                failures = 0;
                fill(&mut reading, &known);
                match second {
                    0 => known = reading.trees,
                    _ if send.send(reading).is_err() => return,
                    _ => known.clear(),
                }
            }
            Err(reason) => {
                failures += 1;
                if failures == MOST_FAILURES {
                    print_line(&format!(
                        "Agent {} {reason}: what it watches is missing from here on.",
                        view.name()
                    ));
                }
            }
        }
    }
}

/// Fills in the levels that a reading has not, from one shortly before.
fn fill(reading: &mut Watched, before: &[WatchedTree]) {
    for (tree, before) in reading.trees.iter_mut().zip(before) {
        let (usage, before) = (&mut tree.usage, &before.usage);
        usage.sockets = usage.sockets.or(before.sockets);
        usage.open_files = usage.open_files.or(before.open_files);
        usage.tcp = usage.tcp.or(before.tcp);
        usage.pss_bytes = usage.pss_bytes.or(before.pss_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eye_sees_what_it_was_given_and_says_what_is_not_there() {
        let own = Target::Pid(std::process::id());
        let mut eye = OwnEye::new(&[own]);
        let look = |eye: &mut OwnEye, word| -> Watched {
            let text = eye.look(word).expect("a reading");
            serde_json::from_str(&text).expect("a reading")
        };
        let first = look(&mut eye, "a");
        assert_eq!(first.trees.len(), 1);
        assert_eq!(first.trees[0].pid, Some(std::process::id()));
        let (of_a, of_b) = (look(&mut eye, "a"), look(&mut eye, "b"));
        assert!(of_a.trees[0].usage.cpu_ns.is_some());
        assert_eq!(of_b.trees.len(), 1);
        let mut blind = OwnEye::new(&[Target::Name("no such program".to_owned())]);
        let refusal = blind.look("a").expect_err("a refusal");
        assert!(
            refusal.starts_with("can't watch no such program: "),
            "{refusal}"
        );
    }

    #[test]
    fn levels_of_the_reading_before_stand_in_for_those_that_were_not_read() {
        let reading = |sockets, cpu_ns| {
            let mut tree = WatchedTree::default();
            tree.usage.sockets = sockets;
            tree.usage.cpu_ns = cpu_ns;
            Watched {
                trees: vec![tree],
                ..Watched::default()
            }
        };
        let mut next = reading(None, None);
        fill(&mut next, &reading(Some(7), Some(1)).trees);
        let usage = next.trees[0].usage;
        assert_eq!((usage.sockets, usage.cpu_ns), (Some(7), None));
        let mut next = reading(Some(8), None);
        fill(&mut next, &reading(Some(7), None).trees);
        assert_eq!(next.trees[0].usage.sockets, Some(8));
    }

    #[test]
    fn so_many_may_look_and_no_more() {
        let mut eye = OwnEye::new(&[Target::Pid(std::process::id())]);
        for number in 0..MOST_VIEWS {
            assert!(eye.look(&number.to_string()).is_ok(), "{number}");
        }
        assert!(eye.look("0").is_ok());
        let refusal = eye.look("one more").expect_err("a refusal");
        assert_eq!(refusal, "is watched by 16 runs already");
    }
}
