use super::*;
use loadline_cluster::Loss;
use loadline_plan::Clock;
use std::collections::BTreeMap;
use std::ops::Range;

/// A run of two agents, some of which are lost before an interval is taken.
struct Lossy {
    events: RefCell<VecDeque<Option<Event>>>,
    /// The losses by the number of events that are left then.
    losses: BTreeMap<usize, Vec<Loss>>,
    unstamped: Vec<String>,
    /// The workers that it was told to be lost.
    lost: RefCell<Vec<Range<u32>>>,
}

impl Lossy {
    fn new(events: impl IntoIterator<Item = Option<Event>>) -> Self {
        Lossy {
            events: RefCell::new(events.into_iter().collect()),
            losses: BTreeMap::new(),
            unstamped: Vec::new(),
            lost: RefCell::default(),
        }
    }

    /// Runs it. Returns the summary.
    fn run(&self, plan: &Plan) -> Summary {
        let ran = conduct(&Setup::of(plan), self, &Commands::default(), &mut []);
        ran.expect("a run").result.summary
    }
}

impl Workload for Lossy {
    fn start(&self, _: Plan, _: Interests) -> Result<Box<dyn Source>, StartError> {
        Ok(Box::new(TwoAgents {
            names: ["web-1", "web-2"].map(str::to_owned).into(),
            events: self.events.take(),
            losses: RefCell::new(self.losses.clone()),
            unstamped: RefCell::new(self.unstamped.clone()),
        }))
    }

    fn lose(&self, workers: &Range<u32>) {
        self.lost.borrow_mut().push(workers.clone());
    }
}

struct TwoAgents {
    names: Vec<String>,
    events: VecDeque<Option<Event>>,
    losses: RefCell<BTreeMap<usize, Vec<Loss>>>,
    unstamped: RefCell<Vec<String>>,
}

impl Source for TwoAgents {
    fn next_event(&mut self, _: Duration) -> Option<Event> {
        self.events.pop_front().flatten()
    }

    fn control(&self) -> Box<dyn Control> {
        Box::new(Recorded(Arc::default()))
    }

    fn failure(&self, end_ns: u64) -> Option<String> {
        Some(format!("what was known at {end_ns}."))
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

    fn agents(&self) -> &[String] {
        &self.names
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = self.losses.borrow_mut();
        losses.remove(&self.events.len()).unwrap_or_default()
    }

    fn unstamped(&self) -> Vec<String> {
        self.unstamped.take()
    }

    fn http(&self) -> HttpVersion {
        HttpVersion::V1_1
    }
}

/// Returns the loss of an agent after a second, whose load goes to the other one at this instant.
fn loss(agent: &str, taken_from_ns: Option<u64>) -> Loss {
    Loss {
        agent: agent.to_owned(),
        workers: 3..5,
        until_ns: 1_000_000_000,
        taken_from_ns,
    }
}

/// Returns the texts of the notes after the one about the begin.
fn notes(summary: &Summary) -> Vec<&str> {
    let notes = summary.notes.iter().map(|note| note.text.as_str());
    notes.skip(1).collect()
}

#[test]
fn what_another_agent_sends_is_noted_when_it_does() {
    let seconds = (0..4).map(second);
    let mut lossy = Lossy::new(seconds.chain([end(EndReason::Failed)]));
    lossy
        .losses
        .insert(3, vec![loss("web-2", Some(2_500_000_000))]);
    let summary = lossy.run(&samples::plan());
    let expected = [
        "Agent web-2 is lost, 1 agent",
        "The other agents send the load of web-2",
    ];
    assert_eq!(notes(&summary), expected);
    assert_eq!(
        lossy.lost.borrow().as_slice(),
        std::slice::from_ref(&(3..5))
    );
    let known = "what was known at 4000000000.".to_owned();
    assert_eq!(summary.ended, Ended::Failed(known));
}

#[test]
fn agents_that_are_lost_together_leave_their_load_to_nobody() {
    let mut lossy = Lossy::new([second(0), second(1), end(EndReason::Failed)]);
    lossy
        .losses
        .insert(1, vec![loss("web-1", Some(2_150_000_000))]);
    lossy.losses.insert(0, vec![loss("web-2", None)]);
    let summary = lossy.run(&samples::plan());
    let expected = [
        "Agent web-1 is lost, 1 agent",
        "Agent web-2 is lost, none is left",
    ];
    assert_eq!(notes(&summary), expected);
    let known = "what was known at 2000000000. No agent was left, so the run ended.".to_owned();
    assert_eq!(summary.ended, Ended::Failed(known));
}

#[test]
fn agents_whose_kernels_timestamp_nothing_are_named() {
    let mut plan = samples::plan();
    plan.connection.clock = Clock::Kernel;
    let run = |names: &[&str]| {
        let mut lossy = Lossy::new([second(0), end(EndReason::Duration)]);
        lossy.unstamped = names.iter().map(|name| (*name).to_owned()).collect();
        lossy.run(&plan)
    };
    let some = run(&["web-2"]);
    let text = "The kernel of agent web-2 does not timestamp what arrives (SO_TIMESTAMPNS): its \
                response times end when they were read, as with --clock user";
    assert_eq!(notes(&some), [text]);
    assert_eq!(some.plan.connection.clock, Clock::Kernel);
    let all = run(&["web-1", "web-2"]);
    let text = "The kernels of agents web-1, web-2 do not timestamp what arrives \
                (SO_TIMESTAMPNS): their response times end when they were read, as with --clock \
                user";
    assert_eq!(notes(&all), [text]);
    assert_eq!(all.plan.connection.clock, Clock::User);
    assert!(notes(&run(&[])).is_empty());
}
