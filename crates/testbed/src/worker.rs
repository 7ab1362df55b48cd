//! One thread that serves: an event loop of its own, and an inbox of messages.

use crate::config::Freeze;
use crate::connection;
use crate::context::Context;
use crate::inbox::Work;
use crate::listen::{self, Dealer, LocalListener};
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;

/// The additional tasks of the first worker.
#[derive(Debug)]
pub(crate) struct Chores {
    pub(crate) tcp: TcpListener,
    pub(crate) local: Option<LocalListener>,
    pub(crate) dealer: Dealer,
    pub(crate) freeze: Option<Freeze>,
}

/// Works until a stop message. Connections that are being served are then dropped with the event
/// loop.
pub(crate) async fn work(
    mut inbox: UnboundedReceiver<Work>,
    context: Context,
    chores: Option<Chores>,
) {
    tokio::spawn(context.alarm.clone().ring());
    if let Some(chores) = chores {
        begin(chores, &context);
    }
    while let Some(work) = inbox.recv().await {
        match work {
            Work::Freeze(until) => context.state.freezer.hold(until),
            Work::Serve(accepted) => {
                tokio::spawn(connection::receive(accepted, context.clone()));
            }
            Work::Stop => return,
        }
    }
}

fn begin(chores: Chores, context: &Context) {
    let Context { alarm, state, .. } = context.clone();
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
