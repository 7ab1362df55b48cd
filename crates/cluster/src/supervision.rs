//! The coordinator's guard while a run lasts: forwards commands, ends silent children, and sends
//! all of them who takes over what, or joins.

use crate::group::Group;
use crate::link::Link;
use crate::message::Command;
use crate::newcomers::Newcomers;
use loadline_engine::{Allotments, Change, Inlet, Order, TakeOver};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The interval in which commands are forwarded. A change of the load is sent 150 ms ahead.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The number of such intervals after which silent parts are looked for.
const POLLS_OF_SILENCE: u32 = 10;

/// The parts of a run, and what all of them have received.
pub(crate) struct Supervision {
    pub(crate) links: Vec<Link>,
    /// The groups in which their reports are joined, if there are any.
    pub(crate) groups: Vec<Arc<Group>>,
    pub(crate) allotments: Allotments,
    pub(crate) takeovers: Vec<TakeOver>,
    pub(crate) changes: Vec<Change>,
    pub(crate) order: Order,
    /// Those who join, if anybody may.
    pub(crate) newcomers: Option<Newcomers>,
    pub(crate) inlet: Inlet,
}

impl Supervision {
    /// Watches over the parts until the run is over.
    pub(crate) fn run(mut self, is_over: &AtomicBool) {
        let mut polls = 0;
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(POLL_INTERVAL);
            polls += 1;
            self.forward_commands();
            if polls % POLLS_OF_SILENCE == 0 {
                self.miss_the_silent();
            }
            for group in &self.groups {
                group.supervise(&mut self.links);
            }
            self.hand_on_lost();
            self.admit();
        }
    }

    fn miss_the_silent(&mut self) {
        for link in &mut self.links {
            link.miss_if_silent(POLL_INTERVAL * POLLS_OF_SILENCE);
        }
    }

    fn forward_commands(&mut self) {
        for change in self.inlet.changes_since(self.changes.len()) {
            self.changes.push(change);
            self.send_to_all(&Command::Change(change));
        }
        let order = self.inlet.order();
        if order != self.order {
            self.order = order;
            self.send_to_all(&Command::Order(order));
        }
    }

    /// Hands on the load of parts that were lost since the last call.
    fn hand_on_lost(&mut self) {
        let lost = |link: &mut Link| Some((link.taken_from_ns()?, link.workers(), link.begun()));
        let lost = self.links.iter_mut().filter_map(lost);
        let lost: Vec<(u64, Range<u32>, Vec<u64>)> = lost.collect();
        for (at_ns, lost, begun) in lost {
            let mut takeover = TakeOver {
                at_ns,
                lost,
                joined: 0..0,
                heirs: self.present(),
                left: Vec::new(),
            };
            self.allotments.hand_on(&mut takeover, &begun);
            self.send_to_all(&Command::TakeOver(takeover.clone()));
            self.takeovers.push(takeover);
        }
    }

    /// Returns the workers that are there.
    fn present(&self) -> Vec<u32> {
        let present = self.links.iter().filter(|link| link.is_present());
        present.flat_map(Link::workers).collect()
    }

    /// Takes in who may join, and has those who are ready begin.
    fn admit(&mut self) {
        let Some(mut newcomers) = self.newcomers.take() else {
            return;
        };
        if self.order == Order::Run {
            newcomers.take_in(&mut self.links);
            for index in newcomers.ready() {
                self.join(&mut newcomers, index);
            }
        }
        self.newcomers = Some(newcomers);
    }

    /// Has a part begin at the next second that can reach all in time.
    fn join(&mut self, newcomers: &mut Newcomers, index: u32) {
        let after_ns = self.takeovers.last().map_or(0, |last| last.at_ns);
        let changed_ns = self.changes.last().map_or(0, |last| last.at_ns);
        let Some(at_ns) = newcomers.next_second_ns(after_ns.max(changed_ns)) else {
            return;
        };
        let workers = self.links[index as usize].workers();
        let mut takeover = TakeOver {
            at_ns,
            lost: 0..0,
            joined: workers.clone(),
            heirs: self.present(),
            left: Vec::new(),
        };
        takeover.heirs.extend(workers);
        self.allotments.hand_on(&mut takeover, &[]);
        self.send_to_all(&Command::TakeOver(takeover.clone()));
        self.takeovers.push(takeover);
        newcomers.begin(
            &mut self.links,
            index,
            at_ns,
            (&self.changes, &self.takeovers),
            &self.inlet,
        );
    }

    fn send_to_all(&mut self, command: &Command) {
        self.links
            .iter_mut()
            .for_each(|link| link.command(command.clone()));
    }
}
