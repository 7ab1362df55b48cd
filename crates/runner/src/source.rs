//! The source of a run's events: an engine of this process, or of several.

use crate::commands::Control;
use loadline_cluster::{Loss, Newcomer, Outsider, Processes, Return};
use loadline_engine::{Event, Run, WorkerFailure};
use loadline_plan::HttpVersion;
use loadline_reactor::Address;
use loadline_record::{AgentBegin, PartTimes};
use std::ops::Range;
use std::time::Duration;

/// A run in progress.
pub trait Source {
    /// Returns the next event; `None` if none occurred within `timeout`. Nothing follows the end.
    fn next_event(&mut self, timeout: Duration) -> Option<Event>;

    /// Returns the control that executes commands, from any thread.
    fn control(&self) -> Box<dyn Control>;

    /// Returns the reasons why workers did not reach the end of the run, if any did not: a sentence
    /// for each. The last interval of the run ended at `end_ns`, in nanoseconds from its zero.
    fn failure(&self, end_ns: u64) -> Option<String>;

    /// Returns the begin of the load: nanoseconds of `CLOCK_MONOTONIC`.
    fn begin_ns(&self) -> u64;

    /// Returns the addresses that receive requests.
    fn addresses(&self) -> &[Address];

    /// Returns the addresses that receive nothing because they did not respond at the start.
    fn left_out(&self) -> &[Address];

    /// Returns the names of the agents that send the load, in the order of their parts; nothing if
    /// this machine sends it.
    fn agents(&self) -> &[String] {
        &[]
    }

    /// Returns the name of the agent that has the part of this number, if it is an agent's.
    fn agent_of(&self, _part: usize) -> Option<&str> {
        None
    }

    /// Returns the agents whose reports others join, with the workers of each; none if each of them
    /// reports to this process.
    fn agents_in_groups(&self) -> Vec<(String, Range<u32>)> {
        Vec::new()
    }

    /// Returns the most by which one of these agents begins before or after that, in nanoseconds.
    fn begin_error_ns(&self) -> u64 {
        0
    }

    /// Returns the agents since the last call whose kernels timestamp nothing that arrives, though
    /// the plan is of the kernel's clock.
    fn unstamped(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns how far the begin of each agent's load is from the instant that all have in common.
    fn begins(&self) -> Vec<AgentBegin> {
        Vec::new()
    }

    /// Returns the agents that were lost since the last call.
    fn losses(&self) -> Vec<Loss> {
        Vec::new()
    }

    /// Returns the lost agents that are back since the last call.
    fn returns(&self) -> Vec<Return> {
        Vec::new()
    }

    /// Returns the agents that would have joined since the last call, and can't.
    fn outsiders(&self) -> Vec<Outsider> {
        Vec::new()
    }

    /// Returns the agents that have joined since the last call.
    fn newcomers(&mut self) -> Vec<Newcomer> {
        Vec::new()
    }

    /// Returns the response times that each of these agents has measured so far.
    fn response_times_of_agents(&self) -> Vec<PartTimes> {
        Vec::new()
    }

    /// Returns the version of HTTP of all requests, among those that the plan allows.
    fn http(&self) -> HttpVersion;
}

impl Source for Run {
    fn next_event(&mut self, timeout: Duration) -> Option<Event> {
        Run::next_event(self, timeout)
    }

    fn control(&self) -> Box<dyn Control> {
        Box::new(self.handle())
    }

    fn failure(&self, end_ns: u64) -> Option<String> {
        sentences(Run::failures(self), end_ns)
    }

    fn begin_ns(&self) -> u64 {
        Run::begin_ns(self)
    }

    fn addresses(&self) -> &[Address] {
        Run::addresses(self)
    }

    fn left_out(&self) -> &[Address] {
        Run::left_out(self)
    }

    fn http(&self) -> HttpVersion {
        Run::http(self)
    }
}

/// Returns a sentence for each failure, one after the other, as of the end of the last interval;
/// `None` if there is no failure.
fn sentences(failures: &[WorkerFailure], end_ns: u64) -> Option<String> {
    let (first, others) = failures.split_first()?;
    let sentence = |failure: &WorkerFailure| failure.clone().as_of_end(end_ns).to_string();
    let mut text = sentence(first);
    for failure in others {
        let sentence = sentence(failure);
        let mut letters = sentence.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        text.push(' ');
        text.extend(first.chain(letters));
    }
    Some(text)
}

impl Source for Processes {
    fn next_event(&mut self, timeout: Duration) -> Option<Event> {
        self.run.next_event(timeout)
    }

    fn control(&self) -> Box<dyn Control> {
        self.run.control()
    }

    fn failure(&self, end_ns: u64) -> Option<String> {
        Source::failure(&self.run, end_ns)
    }

    fn begin_ns(&self) -> u64 {
        self.run.begin_ns()
    }

    fn addresses(&self) -> &[Address] {
        self.run.addresses()
    }

    fn left_out(&self) -> &[Address] {
        self.run.left_out()
    }

    fn agents(&self) -> &[String] {
        Processes::agents(self)
    }

    fn agent_of(&self, part: usize) -> Option<&str> {
        Processes::agent_of(self, part)
    }

    fn agents_in_groups(&self) -> Vec<(String, Range<u32>)> {
        Processes::agents_in_groups(self)
    }

    fn begin_error_ns(&self) -> u64 {
        Processes::begin_error_ns(self)
    }

    fn unstamped(&self) -> Vec<String> {
        Processes::unstamped(self)
    }

    fn begins(&self) -> Vec<AgentBegin> {
        Processes::begins(self)
    }

    fn losses(&self) -> Vec<Loss> {
        Processes::losses(self)
    }

    fn returns(&self) -> Vec<Return> {
        Processes::returns(self)
    }

    fn outsiders(&self) -> Vec<Outsider> {
        Processes::outsiders(self)
    }

    fn newcomers(&mut self) -> Vec<Newcomer> {
        Processes::newcomers(self)
    }

    fn response_times_of_agents(&self) -> Vec<PartTimes> {
        Processes::response_times_of_agents(self)
    }

    fn http(&self) -> HttpVersion {
        self.run.http()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_a_sentence_of_its_own() {
        let gone = |process| WorkerFailure::Gone {
            part: format!("process {process} of 2"),
            reason: "was killed by signal 9".to_owned(),
            until_s: "1.0".to_owned(),
            share: "50%".to_owned(),
            taken_from_ns: None,
        };
        let said = sentences(&[gone(2), gone(1)], 0).expect("two sentences");
        assert!(said.starts_with("process 2 of 2 was killed"), "{said}");
        assert!(
            said.contains("from there on. Process 1 of 2 was killed"),
            "{said}"
        );
        assert_eq!(sentences(&[], 0), None);
    }
}
