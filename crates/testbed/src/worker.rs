//! One thread that serves: an event loop of its own, and an inbox for what it is told.

use crate::config::Freeze;
use crate::listen::{self, Dealer, LocalListener};
use crate::socket::Accepted;
use crate::visit::{self, Place};
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a worker is told to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// Stand still until then.
    Freeze(Instant),
    /// Serve this connection.
    Serve(Accepted),
    /// Drop everything and end.
    Stop,
}

/// Where a worker is told what to do.
#[derive(Clone, Debug)]
pub(crate) struct Inbox(UnboundedSender<Work>);

impl Inbox {
    /// A new inbox, and the end that the worker reads.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Work>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Tells the worker, unless it has ended.
    pub(crate) fn put(&self, work: Work) {
        let _ = self.0.send(work);
    }
}

/// What the first worker does besides serving.
#[derive(Debug)]
pub(crate) struct Chores {
    pub(crate) tcp: TcpListener,
    pub(crate) local: Option<LocalListener>,
    pub(crate) dealer: Dealer,
    pub(crate) freeze: Option<Freeze>,
}

/// Works until told to stop. What is being served then is dropped with the event loop.
pub(crate) async fn work(mut inbox: UnboundedReceiver<Work>, place: Place, chores: Option<Chores>) {
    tokio::spawn(place.alarm.clone().ring());
    if let Some(chores) = chores {
        begin(chores, &place);
    }
    while let Some(work) = inbox.recv().await {
        match work {
            Work::Freeze(until) => place.state.freezer.hold(until),
            Work::Serve(accepted) => {
                tokio::spawn(visit::receive(accepted, place.clone()));
            }
            Work::Stop => return,
        }
    }
}

fn begin(chores: Chores, place: &Place) {
    let Place { alarm, state, .. } = place.clone();
    tokio::spawn(listen::accept(
        chores.tcp,
        chores.dealer.clone(),
        alarm.clone(),
    ));
    if let Some(local) = chores.local {
        tokio::spawn(listen::accept(local, chores.dealer, alarm.clone()));
    }
    if let Some(freeze) = chores.freeze {
        tokio::spawn(async move { state.freeze_on_schedule(freeze, &alarm).await });
    }
}
