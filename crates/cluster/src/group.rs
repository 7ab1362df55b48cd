//! Groups of parts, from the coordinator's view.
//!
//! A coordinator reads the reports of up to [64 parts](Grouping::default) itself. Beyond, its parts
//! have groups of at most 32, and one agent of each joins the reports of its group: the *merger*.
//! Everything else remains on the lines of the parts: commands, signs of life, their last message.
//! What the merger sends names the parts whose reports are in it, so that the coordinator has the
//! account of what is counted. A part keeps its reports until that is so.
//!
//! When a merger is lost, nothing that it sends later is read. The next one begins with the
//! account, and the parts send it what is not counted.

use crate::assignment::shares;
use crate::link::Link;
use crate::merging::{MergeOrder, ToAgent, of_merger};
use crate::watched::lock;
use loadline_engine::{GroupCounted, GroupReader, Inlet, TallyCodec, WorkerFailure};
use loadline_record::PartTimes;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// The time between two messages to a part about what is counted.
const COUNTED_INTERVAL: Duration = Duration::from_secs(4);

/// The numbers of parts from which on they have groups, and how many a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// The most parts whose reports the coordinator reads itself.
    pub most_alone: usize,
    /// The most parts of a group.
    pub most_together: usize,
}

impl Default for Grouping {
    /// Groups of 32 for more than 64 parts.
    fn default() -> Self {
        Grouping {
            most_alone: 64,
            most_together: 32,
        }
    }
}

impl Grouping {
    /// Returns the parts of each group, nothing if they have none.
    pub(crate) fn groups(self, parts: usize) -> Vec<Range<u32>> {
        match parts > self.most_alone {
            true => {
                let groups = parts.div_ceil(self.most_together.max(1));
                shares(parts as u32, groups as u32).collect()
            }
            false => Vec::new(),
        }
    }
}

/// The grounds that all groups of a run share.
#[derive(Clone, Debug)]
pub(crate) struct Grounds {
    pub(crate) scenarios: usize,
    pub(crate) tallies: Option<TallyCodec>,
    pub(crate) inlet: Arc<OnceLock<Inlet>>,
}

/// A group of parts.
#[derive(Debug)]
pub(crate) struct Group {
    /// The number of the group, which is a member of the run.
    number: usize,
    /// The numbers of its parts.
    parts: Range<u32>,
    /// The workers of each.
    workers: Vec<Range<u32>>,
    /// The name of each, as the begin of a sentence.
    names: Vec<String>,
    grounds: Grounds,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The number of the current merger, and its part; none before the load begins.
    merger: Option<(u32, u32)>,
    reader: GroupReader,
    /// For each part the end of the last interval that is counted, in nanoseconds from the run's
    /// zero.
    until_ns: Vec<u64>,
    /// For each part and scenario the starts of closed loads that are counted.
    begun: Vec<Vec<u64>>,
    lost: Vec<(usize, WorkerFailure)>,
    /// The number of lost parts that the merger knows.
    known_lost: usize,
    /// Parts that have sent what can't be used.
    refused: Vec<(usize, String)>,
    /// The response times of each part, at the end.
    times: Vec<PartTimes>,
    /// True once nothing more is received.
    is_over: bool,
    /// The instant of the last messages about what is counted.
    counted_at: Instant,
}

impl Group {
    /// Creates the group of these parts, which have these workers and names.
    pub(crate) fn new(
        number: usize,
        parts: Range<u32>,
        (workers, names): (Vec<Range<u32>>, Vec<String>),
        grounds: &Grounds,
    ) -> Self {
        let count = workers.len();
        let counted = GroupCounted::new(count, grounds.scenarios);
        let reader = GroupReader::new(all(&workers), &names, grounds.tallies.as_ref(), counted);
        Group {
            number,
            parts,
            workers,
            names,
            grounds: grounds.clone(),
            state: Mutex::new(State {
                merger: None,
                reader,
                until_ns: vec![0; count],
                begun: vec![vec![0; grounds.scenarios]; count],
                lost: Vec::new(),
                known_lost: 0,
                refused: Vec::new(),
                times: Vec::new(),
                is_over: false,
                counted_at: Instant::now(),
            }),
        }
    }

    /// Returns the workers of all its parts.
    pub(crate) fn workers(&self) -> Range<u32> {
        all(&self.workers)
    }

    /// True if it has this part.
    pub(crate) fn has(&self, part: u32) -> bool {
        self.parts.contains(&part)
    }

    /// Takes what the agent of a part has joined, if that is the merger.
    ///
    /// # Errors
    /// If it can't be used.
    pub(crate) fn take(&self, part: u32, contents: &[u8]) -> io::Result<()> {
        let (merger, message) = of_merger(contents)?;
        let mut state = self.state();
        if state.merger != Some((merger, part)) || state.is_over {
            return Ok(());
        }
        let news = state.reader.read(message).map_err(io::Error::other)?;
        for interval in &news.intervals {
            state.until_ns[interval.part] = interval.until_ns.max(state.until_ns[interval.part]);
            state.begun[interval.part][interval.scenario] += interval.begun;
        }
        state.refused.extend(news.refused);
        if !news.times.is_empty() {
            state.times = news.times;
        }
        // Under the lock: what a merger after this one sends comes later.
        if let (Some(report), Some(inlet)) = (news.report, self.grounds.inlet.get()) {
            inlet.report_part(self.number, report);
        }
        Ok(())
    }

    /// Returns the end of the last interval of a part that is counted, in nanoseconds from the
    /// run's zero.
    pub(crate) fn until_ns(&self, part: u32) -> u64 {
        self.state().until_ns[self.own(part)]
    }

    /// Returns the starts of closed loads of a part that are counted, by scenario.
    pub(crate) fn begun(&self, part: u32) -> Vec<u64> {
        self.state().begun[self.own(part)].clone()
    }

    /// Returns the number of the part after its own ones.
    pub(crate) fn after(&self) -> u32 {
        self.parts.end
    }

    /// Returns the response times of each part, empty ones if they have not been sent.
    pub(crate) fn all_response_times(&self) -> Vec<PartTimes> {
        let mut times = self.state().times.clone();
        times.resize_with(self.workers.len(), PartTimes::default);
        // Those without a group are company to each other.
        times
            .iter_mut()
            .for_each(|part| part.company = self.number + 1);
        times
    }

    /// Marks a part as lost.
    pub(crate) fn lose(&self, part: u32, failure: &WorkerFailure) {
        let own = self.own(part);
        self.state().lost.push((own, failure.clone()));
        if let Some(inlet) = self.grounds.inlet.get() {
            self.report_loss(inlet, failure);
        }
    }

    /// Reports a loss to the run.
    pub(crate) fn report_loss(&self, inlet: &Inlet, failure: &WorkerFailure) {
        inlet.fail_in_part(self.number, failure.clone());
    }

    /// True if nothing more is counted of a part that is lost.
    pub(crate) fn is_settled(&self, part: u32) -> bool {
        let state = self.state();
        let own = self.own(part);
        let is_lost = |at: u32| {
            let at = self.own(at);
            state.lost.iter().any(|(lost, _)| *lost == at)
        };
        let has_no_merger = state.merger.is_none_or(|(_, at)| is_lost(at));
        let counted = state.reader.counted();
        state.is_over || has_no_merger || counted.counted_before(own).is_none()
    }

    /// Supervises the group, whose parts have these links: appoints a merger if there is none, and
    /// sends all what they have to know.
    pub(crate) fn supervise(&self, links: &mut [Link]) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        for (part, reason) in std::mem::take(&mut state.refused) {
            self.link(links, part).refuse(&reason);
        }
        if state.reader.counted().is_over() {
            state.is_over = true;
            return self.dismiss(links);
        }
        match state.merger {
            Some((_, at)) if !links[at as usize].is_lost() => {
                self.send_losses(&mut state, &mut links[at as usize]);
                if state.counted_at.elapsed() >= COUNTED_INTERVAL {
                    self.send_counted(&mut state, links);
                }
            }
            _ => self.appoint(&mut state, links),
        }
    }

    /// Has the parts end: all of their reports are counted.
    fn dismiss(&self, links: &mut [Link]) {
        for part in self.parts.clone() {
            let link = &mut links[part as usize];
            link.dismiss();
            link.send_to_agent(&ToAgent::Counted { before: None });
        }
    }

    /// Sends the merger the parts that were lost since it began.
    fn send_losses(&self, state: &mut State, merger: &mut Link) {
        for (part, failure) in &state.lost[state.known_lost..] {
            merger.send_to_agent(&ToAgent::Lose {
                part: *part,
                failure: failure.clone(),
            });
        }
        state.known_lost = state.lost.len();
    }

    /// Sends each part which reports are counted.
    fn send_counted(&self, state: &mut State, links: &mut [Link]) {
        state.counted_at = Instant::now();
        let counted = state.reader.counted();
        for own in 0..self.workers.len() {
            let before = counted.counted_before(own);
            self.link(links, own)
                .send_to_agent(&ToAgent::Counted { before });
        }
    }

    /// Has another agent join the reports that are not counted: the one with the most cores. The
    /// group is lost if none is left.
    fn appoint(&self, state: &mut State, links: &mut [Link]) {
        let present = self.parts.clone().rev();
        let present = present.filter(|part| !links[*part as usize].is_lost());
        let Some(at) = present.max_by_key(|part| links[*part as usize].cores()) else {
            state.is_over = true;
            if let (Some((_, failure)), Some(inlet)) = (state.lost.last(), self.grounds.inlet.get())
            {
                inlet.lose_part(self.number, failure.clone());
            }
            return;
        };
        // The groups of a run take turns, so that no two mergers have one number.
        let merger = match state.merger {
            Some((before, _)) => before + MOST_GROUPS,
            None => self.number as u32,
        };
        state.merger = Some((merger, at));
        let counted = state.reader.counted().clone();
        let parts = self.parts.clone().zip(self.workers.iter().cloned());
        let order = MergeOrder::new(merger, parts.collect(), &counted, &state.lost);
        let Ok(order) = order else {
            return links[at as usize].refuse("has an account without an encoding");
        };
        state.known_lost = state.lost.len();
        links[at as usize].send_to_agent(&ToAgent::Merge(order));
        let workers = all(&self.workers);
        for (own, part) in self.parts.clone().enumerate() {
            links[part as usize].send_to_agent(&ToAgent::SendTo {
                merger,
                part,
                counted_before: counted.counted_before(own),
            });
        }
        state.reader =
            GroupReader::new(workers, &self.names, self.grounds.tallies.as_ref(), counted);
    }

    fn link<'a>(&self, links: &'a mut [Link], own: usize) -> &'a mut Link {
        &mut links[self.parts.start as usize + own]
    }

    /// Returns the number of a part in the group.
    fn own(&self, part: u32) -> usize {
        (part - self.parts.start) as usize
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// More groups than a run has.
const MOST_GROUPS: u32 = 1 << 16;

/// Returns the workers of parts that follow each other.
fn all(workers: &[Range<u32>]) -> Range<u32> {
    match workers {
        [first, .., last] => first.start..last.end,
        [only] => only.clone(),
        [] => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_sixty_four_parts_have_equal_groups_of_at_most_thirty_two() {
        let groups = |parts| Grouping::default().groups(parts);
        assert_eq!(groups(64), []);
        assert_eq!(groups(65), [0..21, 21..43, 43..65]);
        let thousand = groups(1_000);
        assert_eq!(thousand.len(), 32);
        assert!(
            thousand
                .iter()
                .all(|parts| (31..=32).contains(&parts.len()))
        );
        assert_eq!(thousand.iter().map(Range::len).sum::<usize>(), 1_000);
    }
}
