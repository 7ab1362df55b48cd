//! Dialling connections of HTTP/2, each of which may be for several requests.

use super::driver::Driver;
use crate::failure::Failure;
use crate::http2::{Http2Connection, Http2Pool, KeptResponses, Member, SharedDial};
use crate::network::Network;
use loadline_reactor::Host;
use loadline_record::ErrorKind;
use loadline_transport::{Connection, Dial, DialError, DialPhase};
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::Waker;

/// Begins HTTP/2 on a connection of the worker's own pool, like [`establish_in`].
async fn establish<H: Host>(
    network: &Rc<Network<H>>,
    endpoint: usize,
    carrier: Connection<H::Socket>,
    deadline_ns: u64,
) -> Result<Rc<Http2Connection>, Failure> {
    let Some(pool) = &network.http2 else {
        return Err(Failure::new(ErrorKind::Protocol, "HTTP/2 is not set up"));
    };
    establish_in(pool, network, endpoint, carrier, deadline_ns).await
}

/// Begins HTTP/2 on a connection of a pool and waits until the server's SETTINGS have arrived.
pub(in crate::exchange) async fn establish_in<H: Host>(
    pool: &Rc<Http2Pool>,
    network: &Rc<Network<H>>,
    endpoint: usize,
    carrier: Connection<H::Socket>,
    deadline_ns: u64,
) -> Result<Rc<Http2Connection>, Failure> {
    let connection = Rc::new(Http2Connection {
        peer: carrier.peer(),
        agreed: carrier.agreed(),
        keeps: match (network.negotiates, &network.error_bodies) {
            (true, _) => KeptResponses::All,
            (false, Some(_)) => KeptResponses::Errors,
            (false, None) => KeptResponses::Nothing,
        },
        ..Http2Connection::new(endpoint, pool.config, pool.streams, deadline_ns)
    });
    let driver = Driver {
        connection: Rc::clone(&connection),
        carrier,
        network: Rc::downgrade(network),
        pool: Rc::downgrade(pool),
        armed_ns: 0,
        is_flushing: false,
    };
    let driver = network.host.spawn(driver.run());
    pool.members.borrow_mut().push(Member {
        connection: Rc::clone(&connection),
        driver,
    });
    poll_fn(|cx| connection.poll_open(cx)).await?;
    if !connection.has_room() && connection.open_streams() == 0 {
        let text = "the server allows no streams (SETTINGS_MAX_CONCURRENT_STREAMS is 0)";
        return Err(Failure::new(ErrorKind::Protocol, text));
    }
    Ok(connection)
}

/// Begins HTTP/2 like [`establish`], on a connection that is dialled before the run.
pub(crate) async fn establish_ahead<H: Host>(
    network: &Rc<Network<H>>,
    endpoint: usize,
    carrier: Connection<H::Socket>,
    deadline_ns: u64,
) -> Result<(), DialError> {
    let established = establish(network, endpoint, carrier, deadline_ns).await;
    established.map(drop).map_err(|failure| DialError {
        phase: DialPhase::Http2,
        address: None,
        error: io::Error::other(failure.text),
    })
}

/// Joins a dial in progress that has room for another request, or begins a new one. Returns true
/// with a new one. `is_counted` is true if the dial belongs to the measured part of the run.
pub(super) fn join_or_dial<H: Host>(
    network: &Rc<Network<H>>,
    endpoint: usize,
    deadline_ns: u64,
    is_counted: bool,
) -> (Rc<SharedDial>, bool) {
    let Some(pool) = &network.http2 else {
        return (SharedDial::new(endpoint), true);
    };
    let joinable =
        |dial: &SharedDial| dial.endpoint == endpoint && dial.state.borrow().joined < pool.streams;
    let mut dials = pool.dials.borrow_mut();
    if let Some((dial, _)) = dials.iter().find(|(dial, _)| joinable(dial)) {
        dial.state.borrow_mut().joined += 1;
        return (Rc::clone(dial), false);
    }
    let dial = SharedDial::new(endpoint);
    let run = Rc::clone(&dial).run(Rc::clone(network), deadline_ns, is_counted);
    let task = network.host.spawn(run);
    dials.push((Rc::clone(&dial), task));
    (dial, true)
}

impl SharedDial {
    /// Dials, and wakes the waiting requests.
    async fn run<H: Host>(self: Rc<Self>, network: Rc<Network<H>>, deadline_ns: u64, counts: bool) {
        let dialled = self.dial(&network, deadline_ns).await;
        let Some(pool) = &network.http2 else { return };
        if let Ok((_, times)) = &dialled {
            let replaces = pool.replaces(self.endpoint);
            if counts {
                network.dialled(times);
                if replaces {
                    network.recorder.borrow_mut().reconnected();
                }
            }
        }
        let mut dials = pool.dials.borrow_mut();
        if let Some(index) = dials.iter().position(|(dial, _)| Rc::ptr_eq(dial, &self)) {
            dials.swap_remove(index).1.detach();
        }
        let mut state = self.state.borrow_mut();
        state.outcome = Some(dialled);
        state.waiting.drain(..).for_each(Waker::wake);
    }

    async fn dial<H: Host>(
        &self,
        network: &Rc<Network<H>>,
        deadline_ns: u64,
    ) -> Result<(Rc<Http2Connection>, Dial), Failure> {
        let dialled = network.dialler.dial(self.endpoint, deadline_ns).await;
        let (carrier, dial) = dialled.map_err(|error| Failure::dial(&error))?;
        let connection = establish(network, self.endpoint, carrier, deadline_ns).await?;
        Ok((connection, dial))
    }
}
