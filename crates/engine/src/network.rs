//! The network side of a worker: what its protocols send and receive with.

use crate::coalescing::OpenLoadCoalescing;
use crate::error_bodies::ErrorBodies;
use crate::http2::Http2Pool;
use crate::lingering::Lingering;
use crate::sampling::Sampling;
use crate::shared_pool::SharedPool;
use loadline_reactor::{Coalescing, Host};
use loadline_record::Recorder;
use loadline_transport::{Dial, Dialler};
use loadline_wire::HeadMemo;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

/// The network side of a worker, which the connections of its users share.
pub(crate) struct Network<H: Host> {
    pub(crate) host: H,
    pub(crate) dialler: Dialler<H>,
    /// The worker's recorder, in which protocols count bytes and dials.
    pub(crate) recorder: RefCell<Recorder>,
    /// The begin of the measured part: the zero of all recorded times. Nanoseconds on the host's
    /// clock; the largest number before the load begins.
    pub(crate) zero_ns: Cell<u64>,
    /// The last head of a response: the next one is often identical.
    pub(crate) heads: RefCell<HeadMemo>,
    pub(crate) keepalive: bool,
    /// The connections of all users, if they share connections.
    pub(crate) shared: Option<SharedPool<H>>,
    /// The connections of all users, if they use HTTP/2.
    pub(crate) http2: Option<Rc<Http2Pool>>,
    /// True if composed requests are sent over HTTP/2 when their servers choose it.
    pub(crate) negotiates: bool,
    /// The endpoints whose servers have chosen HTTP/1.1.
    pub(crate) http1_endpoints: RefCell<HashSet<usize>>,
    /// The most connections that a user keeps, each to another endpoint.
    pub(crate) most_kept: usize,
    /// Connections that their servers may close first.
    pub(crate) lingering: Lingering,
    /// True if users wait after a dial that failed.
    pub(crate) backs_off: bool,
    pub(crate) timeout_ns: u64,
    /// True if a response is awaited after its timeout.
    pub(crate) awaits_late: bool,
    /// True if the responses of a batch are received together.
    pub(crate) gathers_batches: bool,
    /// The selection of the exchanges that are split by the kernel's timestamps.
    pub(crate) sampling: Sampling,
    /// The bodies of error responses, if they are kept.
    pub(crate) error_bodies: Option<ErrorBodies>,
    /// True if an exchange may have to be looked at beyond its times: it is sampled, or may be an
    /// error response whose body is kept.
    pub(crate) looks_closely: bool,
    pub(crate) coalescing: OpenLoadCoalescing,
    /// True if the loop coalesces in an open load: no other scenario uses it.
    pub(crate) coalesces_arrivals: bool,
}

impl<H: Host> Network<H> {
    /// Counts a connection that received more bytes than its responses declared.
    #[cold]
    pub(crate) fn extra_bytes(&self) {
        if self.counts_bytes() {
            self.recorder.borrow_mut().extra_bytes();
        }
    }

    /// Counts a connection that was dialled.
    pub(crate) fn dialled(&self, dial: &Dial) {
        let Dial {
            resolve_ns,
            connect_ns,
            tls_ns,
        } = *dial;
        let mut recorder = self.recorder.borrow_mut();
        resolve_ns.inspect(|ns| recorder.resolved(*ns));
        recorder.dialled(&loadline_record::Dial { connect_ns, tls_ns });
    }

    /// True if bytes sent or received now belong to the measured part of the run.
    pub(crate) fn counts_bytes(&self) -> bool {
        self.host.now_ns() >= self.zero_ns.get()
    }

    /// Suspends coalescing, because a user waits for more than one whole response: the loop reads
    /// all bytes as they arrive, until the supervisor sets the coalescing again.
    #[inline]
    pub(crate) fn suspend_coalescing(&self) {
        if self.coalescing.suspend() && self.coalesces_arrivals {
            self.host.set_coalescing(Coalescing::Off);
        }
    }
}
