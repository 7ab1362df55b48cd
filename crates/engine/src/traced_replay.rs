//! The requests of a plan as a behaviour, each with a trace of its own in the field `traceparent`.
//!
//! As in a [`Replay`], each iteration sends the next request, or the next few of a pipeline. Here a
//! request is copied when it is sent, and its field is the last one. It is a behaviour of
//! its own, so that requests without traces cost nothing more.

use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::iteration::Iteration;
use crate::prepare::Prepared;
use crate::replay::Replay;
use crate::tracer::{TRACEPARENT, TraceObserver, Tracer};
use crate::written_request::WrittenRequest;
use loadline_reactor::Host;
use loadline_record::Trace;
use loadline_wire::h2;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The end of a head, with the line end of its last field.
const EMPTY_LINE: &[u8] = b"\r\n\r\n";

/// Distributes the requests of a plan to the users of one worker.
#[derive(Debug)]
pub(crate) struct TracedReplay(Rc<Shared>);

/// The state that the users of a worker share.
#[derive(Debug)]
struct Shared {
    prepared: Arc<Prepared>,
    replay: Replay,
    /// The number of bytes of each request after its last field.
    rests: Vec<usize>,
    tracer: RefCell<Tracer>,
}

impl Shared {
    /// Returns the index of the written request of a line of the plan's list, or of a request.
    fn template(&self, index: usize) -> usize {
        match &self.prepared.list {
            Some(list) => list.template(index),
            None => index,
        }
    }

    fn endpoint(&self, index: usize) -> usize {
        self.prepared.requests[self.template(index)].endpoint
    }
}

impl TracedReplay {
    /// Creates the replay of worker `index` of `of`, whose requests carry the traces of a tracer.
    pub(crate) fn new(prepared: &Arc<Prepared>, index: u32, of: u32, tracer: Tracer) -> Self {
        TracedReplay(Rc::new(Shared {
            prepared: Arc::clone(prepared),
            replay: Replay::new(Arc::clone(prepared), index, of),
            rests: prepared.requests.iter().map(rest_of).collect(),
            tracer: RefCell::new(tracer),
        }))
    }
}

/// Returns the number of bytes after the last field of a request of HTTP/1.1.
fn rest_of(request: &WrittenRequest) -> usize {
    let bytes = &request.bytes;
    let mut windows = bytes.windows(EMPTY_LINE.len());
    let end = windows.position(|window| window == EMPTY_LINE);
    end.map_or(0, |at| bytes.len() - at - 2)
}

impl<H: Host> Scenario<H> for TracedReplay {
    type Behaviour = TracedReplayer;

    fn user(&mut self) -> TracedReplayer {
        TracedReplayer {
            shared: Rc::clone(&self.0),
            template: 0,
            bytes: Vec::new(),
            http2: None,
            parts: Vec::new(),
            traces: Vec::new(),
            is_pipeline: false,
        }
    }
}

/// The behaviour of one user of a [`TracedReplay`].
#[derive(Debug)]
pub(crate) struct TracedReplayer {
    shared: Rc<Shared>,
    /// The index of the last written request that was added.
    template: usize,
    /// The requests of HTTP/1.1, one after the other.
    bytes: Vec<u8>,
    /// The request of HTTP/2.
    http2: Option<h2::Request>,
    parts: Vec<Part>,
    traces: Vec<Trace>,
    /// True if there may be several requests, whose bodies are among their bytes.
    is_pipeline: bool,
}

impl<H: Host> Behaviour<H> for TracedReplayer {
    fn depth(&self) -> u32 {
        self.shared.prepared.plan.connection.pipeline
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let requester = iteration.requester();
        let mut left = iteration.starts_left();
        loop {
            self.fill(left);
            left = left.saturating_sub(self.parts.len());
            let mut observer = TraceObserver::new(requester, &self.parts, &self.traces);
            requester.send(self.batch(), &mut observer).await;
            if left == 0 {
                return;
            }
        }
    }
}

impl TracedReplayer {
    /// Writes the next request, or those of the next `most` requests that go to one endpoint.
    fn fill(&mut self, most: usize) {
        self.bytes.clear();
        self.parts.clear();
        self.traces.clear();
        self.is_pipeline = most > 1;
        let shared = Rc::clone(&self.shared);
        let mut index = shared.replay.take();
        if !self.is_pipeline {
            return self.add(&shared, index);
        }
        let endpoint = shared.endpoint(index);
        while self.parts.len() < most && shared.endpoint(index) == endpoint {
            self.add(&shared, index);
            index = shared.replay.take();
        }
        shared.replay.put_back(index);
    }

    /// Adds a request with the next trace.
    fn add(&mut self, shared: &Shared, index: usize) {
        let prepared = &*shared.prepared;
        self.template = shared.template(index);
        let request = &prepared.requests[self.template];
        let trace = shared.tracer.borrow_mut().next_trace();
        self.traces.push(trace);
        if let Some(http2) = &request.http2 {
            let with_trace = http2.with_field(TRACEPARENT, &trace.to_string());
            let end = with_trace.size();
            self.parts.push(Part {
                end,
                ..request.part
            });
            self.http2 = Some(with_trace);
            return;
        }
        let part = match &prepared.list {
            Some(list) => list.write(index, &prepared.requests, &mut self.bytes),
            None => {
                self.bytes.extend_from_slice(&request.bytes);
                request.part
            }
        };
        insert(&mut self.bytes, shared.rests[self.template], &trace);
        let end = self.bytes.len() + request.body.len();
        self.parts.push(Part { end, ..part });
        if self.is_pipeline {
            self.bytes.extend_from_slice(&request.body);
        }
    }

    /// Returns what was added.
    fn batch(&self) -> Batch<'_> {
        let request = &self.shared.prepared.requests[self.template];
        Batch {
            endpoint: request.endpoint,
            bytes: &self.bytes,
            tail: if self.is_pipeline { &[] } else { &request.body },
            http2: self.http2.as_ref(),
            parts: &self.parts,
            resend: Resend::default(),
        }
    }
}

/// Inserts the field of a trace this many bytes before the end.
fn insert(bytes: &mut Vec<u8>, before_end: usize, trace: &Trace) {
    let at = bytes.len() - before_end;
    for part in [TRACEPARENT.as_bytes(), b": ", &trace.value(), b"\r\n"] {
        bytes.extend_from_slice(part);
    }
    bytes[at..].rotate_left(before_end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_stands_behind_the_others() {
        let mut bytes = b"POST / HTTP/1.1\r\nHost: a\r\n\r\nbody".to_vec();
        let trace = Trace {
            id: 1,
            span: 2,
            is_sampled: true,
        };
        insert(&mut bytes, 6, &trace);
        let expected = format!(
            "POST / HTTP/1.1\r\nHost: a\r\ntraceparent: 00-{:032x}-{:016x}-01\r\n\r\nbody",
            1, 2
        );
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
    }
}
