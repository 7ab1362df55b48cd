//! The requests of a plan as a behaviour: each iteration sends the next one, or the next few of a
//! pipeline.

use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::prepare::Prepared;
use loadline_plan::Order;
use loadline_reactor::Host;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Distributes the requests of a plan to the users of one worker.
#[derive(Clone, Debug)]
pub struct Replay {
    prepared: Arc<Prepared>,
    sequence: Rc<Sequence>,
}

/// The order in which requests are taken.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// The number of positions: that of the requests, if each were listed as often as its weight.
    total: u64,
    /// The position after each request's last one; empty if each request has one position.
    ends: Vec<u64>,
    next: Cell<u64>,
    /// A request that was taken and put back.
    held: Cell<Option<usize>>,
    /// The random generator, if the order is random.
    random: Option<RefCell<ChaCha8Rng>>,
}

impl Replay {
    /// Creates the replay of worker `index` of `of`. Workers begin at different positions of the
    /// sequence, and draw from different streams of the plan's seed.
    pub(crate) fn new(prepared: Arc<Prepared>, index: u32, of: u32) -> Self {
        let sequence = Rc::new(Sequence::new(&prepared, index, of));
        Replay { prepared, sequence }
    }

    /// Returns the index of the next request in the plan's list.
    pub(crate) fn take(&self) -> usize {
        self.sequence.take()
    }

    /// Puts a request back, to be taken next.
    pub(crate) fn put_back(&self, index: usize) {
        self.sequence.put_back(index);
    }
}

impl Sequence {
    /// Creates the sequence of taker `index` of `of`; takers begin at different positions.
    pub(crate) fn new(prepared: &Prepared, index: u32, of: u32) -> Self {
        let (total, ends) = positions(prepared);
        let random = (prepared.plan.order == Order::Random).then(|| {
            let mut generator = ChaCha8Rng::seed_from_u64(prepared.plan.seed);
            generator.set_stream(u64::from(index) + 1);
            RefCell::new(generator)
        });
        Sequence {
            total,
            ends,
            next: Cell::new(total * u64::from(index) / u64::from(of)),
            held: Cell::new(None),
            random,
        }
    }

    /// Returns the index of the next request in the plan's list.
    pub(crate) fn take(&self) -> usize {
        if self.ends.len() == 1 || self.total <= 1 {
            return 0;
        }
        if let Some(held) = self.held.take() {
            return held;
        }
        let position = match &self.random {
            // A 64-bit draw modulo a sum of weights: the bias is below 2^-32.
            Some(generator) => generator.borrow_mut().next_u64() % self.total,
            None => self.next.replace((self.next.get() + 1) % self.total),
        };
        match self.ends.is_empty() {
            true => position as usize,
            false => self.ends.partition_point(|end| *end <= position),
        }
    }

    /// Puts a request back, to be taken next.
    fn put_back(&self, index: usize) {
        self.held.set(Some(index));
    }
}

/// Returns the number of positions of the requests, and the end of each request's positions unless
/// each has one.
fn positions(prepared: &Prepared) -> (u64, Vec<u64>) {
    if let Some(list) = &prepared.list {
        return (list.len() as u64, Vec::new());
    }
    let requests = &prepared.requests;
    if requests.iter().all(|request| request.weight == 1) {
        return (requests.len() as u64, Vec::new());
    }
    let mut total = 0;
    let ends = requests.iter().map(|request| {
        total += request.weight;
        total
    });
    let ends = ends.collect();
    (total, ends)
}

impl<H: Host> Scenario<H> for Replay {
    type Behaviour = Replayer;

    fn user(&mut self) -> Replayer {
        Replayer {
            replay: self.clone(),
            bytes: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// The behaviour of one user of a [`Replay`].
#[derive(Debug)]
pub struct Replayer {
    replay: Replay,
    /// The requests of a pipeline, one after the other.
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

impl<H: Host> Behaviour<H> for Replayer {
    fn depth(&self) -> u32 {
        self.replay.prepared.plan.connection.pipeline
    }

    fn is_prompt(&self) -> bool {
        true
    }

    // A single call of `send`, so that it is compiled into the task of its user.
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let mut left = iteration.starts_left();
        loop {
            let batch = self.next_batch(left);
            left = left.saturating_sub(batch.parts.len());
            iteration.requester().send(batch, &mut ()).await;
            if left == 0 {
                return;
            }
        }
    }
}

impl Replayer {
    /// Returns the next request, or those of the next `most` requests that go to one endpoint.
    #[inline(always)]
    fn next_batch(&mut self, most: usize) -> Batch<'_> {
        if most > 1 {
            return self.next_pipeline(most);
        }
        let index = self.replay.sequence.take();
        let prepared = &*self.replay.prepared;
        if let Some(list) = &prepared.list {
            self.bytes.clear();
            self.parts.clear();
            let part = list.write(index, &prepared.requests, &mut self.bytes);
            self.parts.push(part);
            let template = &prepared.requests[list.template(index)];
            return Batch {
                endpoint: template.endpoint,
                bytes: &self.bytes,
                tail: &template.body,
                http2: None,
                parts: &self.parts,
                resend: Resend::default(),
            };
        }
        let request = &prepared.requests[index];
        Batch {
            endpoint: request.endpoint,
            bytes: &request.bytes,
            tail: &request.body,
            http2: request.http2.as_ref(),
            parts: std::slice::from_ref(&request.part),
            resend: Resend::default(),
        }
    }

    fn next_pipeline(&mut self, most: usize) -> Batch<'_> {
        let endpoint = self.fill(most);
        let count = self.parts.len().min(most);
        let end = self.parts[count - 1].end;
        Batch {
            endpoint,
            bytes: &self.bytes[..end],
            tail: &[],
            http2: None,
            parts: &self.parts[..count],
            resend: Resend::default(),
        }
    }

    /// Writes the next requests as long as they go to one endpoint, at most `most`, and returns the
    /// endpoint. If there is only one request, its repetitions are written only once.
    fn fill(&mut self, most: usize) -> usize {
        let (prepared, sequence) = (&*self.replay.prepared, &self.replay.sequence);
        let requests = &prepared.requests;
        let is_one = prepared.list.is_none() && requests.len() == 1;
        if !is_one {
            self.bytes.clear();
            self.parts.clear();
        }
        let endpoint_of = |index| match &prepared.list {
            Some(list) => requests[list.template(index)].endpoint,
            None => requests[index].endpoint,
        };
        let mut index = sequence.take();
        let endpoint = endpoint_of(index);
        while endpoint_of(index) == endpoint {
            if self.parts.len() >= most {
                break;
            }
            let (part, request) = match &prepared.list {
                Some(list) => (
                    list.write(index, requests, &mut self.bytes),
                    &requests[list.template(index)],
                ),
                None => {
                    self.bytes.extend_from_slice(&requests[index].bytes);
                    (requests[index].part, &requests[index])
                }
            };
            self.bytes.extend_from_slice(&request.body);
            let end = self.bytes.len();
            self.parts.push(Part { end, ..part });
            index = sequence.take();
        }
        sequence.put_back(index);
        endpoint
    }
}
