//! Made-up runs as summaries: their exchanges go through a real recorder.

use super::SECOND;
use loadline_plan::Plan;
use loadline_record::{
    Ages, Dial, Ended, Environment, ErrorKind, Exchange, Header, Model, Outcome, Recorder, Summary,
    Unfinished,
};
use std::time::{Duration, SystemTime};

/// A run to be recorded.
pub(super) struct Run {
    pub(super) plan: Plan,
    length_ns: u64,
    /// Intended starts, rising; of open loads.
    pub(super) due_ns: Vec<u64>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) dials: Vec<Dial>,
    pub(super) reconnects: u64,
    pub(super) examples: Vec<(ErrorKind, &'static str)>,
}

/// An event for a recorder, in the order of time.
enum Event<'a> {
    Due,
    Begin(u64),
    End(&'a Exchange),
}

impl Run {
    pub(super) fn new(plan: Plan, length_ns: u64) -> Run {
        Run {
            plan,
            length_ns,
            due_ns: Vec::new(),
            exchanges: Vec::new(),
            dials: Vec::new(),
            reconnects: 0,
            examples: Vec::new(),
        }
    }

    pub(super) fn summary(&self, ended: Ended) -> Summary {
        let mut plan = self.plan.clone();
        if ended == Ended::Duration {
            plan.duration = Some(Duration::from_nanos(self.length_ns));
        }
        let started_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut header = Header::new(&plan, environment(), started_at);
        header.version = "0.0.0".to_owned();
        let mut summary = Summary::new(header);
        self.record(&mut summary);
        summary.finish(ended, self.unfinished());
        summary
    }

    fn record(&self, summary: &mut Summary) {
        let mut recorder = Recorder::new(Model::of(&self.plan.load.shape));
        self.dials.iter().for_each(|dial| recorder.dialled(dial));
        (0..self.reconnects).for_each(|_| recorder.reconnected());
        let mut until_ns = SECOND.min(self.length_ns);
        for (at_ns, event) in self.events() {
            while at_ns >= until_ns && until_ns < self.length_ns {
                summary.observe(&recorder.take(until_ns));
                until_ns = (until_ns + SECOND).min(self.length_ns);
            }
            if at_ns < self.length_ns {
                self.record_event(&mut recorder, event);
            }
        }
        while summary.duration_ns < self.length_ns {
            summary.observe(&recorder.take(until_ns));
            until_ns = (until_ns + SECOND).min(self.length_ns);
        }
    }

    fn record_event(&self, recorder: &mut Recorder, event: Event<'_>) {
        match event {
            Event::Due => recorder.planned(1),
            Event::Begin(at_ns) => recorder.begin(at_ns),
            Event::End(exchange) => {
                recorder.received(exchange.bytes_in);
                recorder.transmitted(exchange.bytes_out);
                if let Outcome::Failed(kind) = exchange.outcome
                    && let Some((_, text)) = self.examples.iter().find(|(of, _)| *of == kind)
                {
                    recorder.failure_example(kind, || (*text).to_owned());
                }
                recorder.end(exchange);
            }
        }
    }

    fn events(&self) -> Vec<(u64, Event<'_>)> {
        let due = self.due_ns.iter().map(|at_ns| (*at_ns, Event::Due));
        let begin = self
            .exchanges
            .iter()
            .map(|exchange| (exchange.start_ns, Event::Begin(exchange.start_ns)));
        let end = self
            .exchanges
            .iter()
            .map(|exchange| (exchange.end_ns, Event::End(exchange)));
        let mut events: Vec<_> = due.chain(begin).chain(end).collect();
        events.sort_by_key(|(at_ns, _)| *at_ns);
        events
    }

    fn unfinished(&self) -> Unfinished {
        let begun = self
            .exchanges
            .iter()
            .filter(|exchange| exchange.start_ns < self.length_ns);
        let pending: Vec<&Exchange> = begun
            .clone()
            .filter(|exchange| exchange.end_ns >= self.length_ns)
            .collect();
        let begun = begun.count();
        let unsent = self.due_ns.get(begun..).unwrap_or_default();
        let mut ages = Ages::default();
        let intended = pending.iter().map(|exchange| exchange.intended_ns);
        let intended: Vec<u64> = intended.chain(unsent.iter().copied()).collect();
        for intended_ns in &intended {
            ages.response.record_ns(self.length_ns - intended_ns);
        }
        for exchange in &pending {
            ages.service.record_ns(self.length_ns - exchange.start_ns);
        }
        let oldest = intended.iter().min();
        Unfinished {
            unsent: unsent.len() as u64,
            in_flight: pending.len() as u64,
            oldest_ns: oldest.map_or(0, |intended_ns| self.length_ns - intended_ns),
            ages,
            ..Unfinished::default()
        }
    }
}

fn environment() -> Environment {
    Environment {
        kernel: Some("6.1.0".to_owned()),
        cpu_model: Some("Fast CPU @ 3 GHz".to_owned()),
        cores: Some(2),
        usable_cores: Some(2),
        memory_bytes: Some(8 << 30),
        open_files: Some(1_048_576),
        load_average: None,
        ..Environment::default()
    }
}

/// Numbers that look random and are the same in every run (xorshift64; Marsaglia, "Xorshift RNGs",
/// 2003).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Around `typical_ns`, now and then several times as long.
    pub(super) fn skewed(&mut self, typical_ns: u64) -> u64 {
        let uniform = (self.below(1 << 32) + 1) as f64 / (1_u64 << 32) as f64;
        let exponential = -uniform.ln();
        (typical_ns as f64 * (0.75 + 0.05 * exponential + 0.2 * exponential.powi(2))) as u64
    }
}
