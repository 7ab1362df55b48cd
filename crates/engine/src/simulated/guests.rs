//! Users beside those of the load.

use super::parallel::{run, together};
use super::plans::{MS, SECOND, URL, closed};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use crate::composed::Composed;
use crate::requester::Requester;
use loadline_metrics::SeriesId;
use loadline_reactor::{Host, Sim};
use loadline_record::{ErrorKind, Outcome};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use url::Url;

async fn get(requester: &Requester<Sim>) -> Outcome {
    let url: Url = URL.parse().expect("a URL");
    let request = Composed {
        method: "GET",
        url: &url,
        headers: &[],
        body: None,
        series: SeriesId::default(),
        timeout: None,
    };
    let outcome = requester.request(request, &mut ()).await;
    outcome.expect("a good request")
}

/// Has three guests send `count` requests each, one after the other, while their host does nothing.
fn three_guests(world: World, count: usize) -> Ran {
    run(world, move |requester| async move {
        let one = |_| {
            let guest = requester.another_user();
            Box::pin(async move {
                for _ in 0..count {
                    get(&guest).await;
                }
            })
        };
        together((0..3).map(one).collect()).await;
        pending::<()>().await;
    })
}

#[test]
fn each_guest_has_a_connection_of_its_own_and_is_measured_like_others() {
    let ran = three_guests(World::new(closed(1, 200 * MS)).serves_in(8 * MS), 2);
    assert_eq!(ran.counts(), [6, 6, 6, 0, 0]);
    // One connection was dialled ahead for the host.
    assert_eq!(ran.accepted, 1 + 3);
    let dials = ran.each(|exchange| exchange.dial_ns / MS);
    assert_eq!(dials, [2, 2, 2, 0, 0, 0]);
    let delays = ran.each(|exchange| exchange.delay_ns());
    assert_eq!(delays, [0; 6]);
}

#[test]
fn what_guests_have_in_flight_at_the_end_is_told() {
    let world = World::new(closed(1, 100 * MS)).script(|_| Reply::ok().after(SECOND));
    let ran = three_guests(world, 1);
    assert_eq!(ran.counts(), [3, 3, 0, 0, 3]);
    assert_eq!(ran.left(), [3, 0, 100 * MS]);
}

#[test]
fn a_guest_that_gives_a_request_up_is_counted_and_goes() {
    let ran = run(
        World::new(closed(1, 100 * MS)).serves_in(50 * MS),
        async |requester| {
            let guest = requester.another_user();
            let mut timer = requester.host().timer();
            let mut sending = Box::pin(get(&guest));
            let mut over = pin!(timer.until(requester.host().now_ns() + 10 * MS));
            poll_fn(|cx| {
                assert!(sending.as_mut().poll(cx).is_pending());
                over.as_mut().poll(cx)
            })
            .await;
            drop(sending);
            pending::<()>().await;
        },
    );
    assert_eq!(ran.errors(), [(ErrorKind::Aborted, 1)]);
}
