//! The load of a worker, from its begin to its end.

use super::Ready;
use super::supervisor::Supervisor;
use super::user_pool::UserPool;
use crate::behaviour::Scenario;
use crate::control::Handle;
use crate::pacer::nanoseconds;
use loadline_reactor::Host;
use std::rc::Rc;

/// Runs the load of a worker from `begin_ns` on, to its end.
pub(crate) async fn run<H: Host, S: Scenario<H>>(
    ready: Ready<H, S>,
    begin_ns: u64,
    handle: &Handle,
) {
    let Ready {
        worker,
        scenario,
        stripe,
        users,
        connections,
        interval_ns,
        number,
        ..
    } = ready;
    worker.begin_ns.set(begin_ns);
    let zero_ns = begin_ns + worker.pacer.warmup_ns;
    worker.network.zero_ns.set(zero_ns);
    connections
        .iter()
        .for_each(|ahead| worker.network.dialled(&ahead.dial));
    for time in ready.resolve_times {
        worker.recorder().borrow_mut().resolved(nanoseconds(time));
    }
    let running = Rc::clone(&worker);
    let mut pool = UserPool::new(worker, scenario, stripe, connections);
    let has_joined = stripe.index >= stripe.of;
    if !has_joined {
        (0..users).for_each(|_| pool.spawn());
    }
    let mut supervisor = Supervisor::new(pool, interval_ns, number);
    if has_joined {
        // It has its share before its users take any start. The users of a closed load are those of
        // the share.
        supervisor.catch_up(handle);
        if supervisor.pool.worker.pacer.is_open() {
            (0..users).for_each(|_| supervisor.pool.spawn());
        }
    }
    supervisor.watch(handle).await;
    running.network.http2.iter().for_each(|pool| pool.close());
}
