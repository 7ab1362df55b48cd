//! Users in addition to those of the load.

use super::parallel::{run, together};
use super::plans::{MS, SECOND, URL, closed, shaped};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use crate::composed::Composed;
use crate::own_starts::Wait;
use crate::requester::Requester;
use loadline_metrics::SeriesId;
use loadline_plan::Shape;
use loadline_reactor::{Host, Sim};
use loadline_record::{ErrorKind, Outcome};
use std::future::{Future, pending, poll_fn};
use std::ops::Range;
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
        resend: crate::Resend::default(),
    };
    let outcome = requester.request(request, &mut ()).await;
    outcome.expect("a good request")
}

/// Has three guests send `count` requests each, one after the other, while their host is idle.
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

/// The interval of a guest's starts, in nanoseconds.
const EVERY: u64 = 10 * MS;

/// Sends a request every ten milliseconds, and at once if the previous one took longer.
async fn pace(guest: Requester<Sim>) {
    let now_ns = || guest.host().now_ns();
    let mut timer = guest.host().timer();
    let mut from_ns = now_ns();
    guest.pace(from_ns, EVERY);
    loop {
        let begun_ns = now_ns();
        get(&guest).await;
        let ended_ns = now_ns();
        guest.waited(Wait {
            begun_ns,
            ended_ns,
            resumed_ns: ended_ns,
            series: SeriesId::default(),
        });
        guest.iteration_ended(ended_ns);
        from_ns = (from_ns + EVERY).max(ended_ns);
        timer.until(from_ns).await;
        guest.iteration_begins(now_ns());
    }
}

/// Runs a guest that paces itself for a second, with its server frozen in this period.
fn paced(freeze: Range<u64>) -> Ran {
    let world = World::new(shaped(Shape::Paced, 1, SECOND));
    let world = world.at(0, move |hands| hands.server.freeze(freeze));
    run(world, |requester| async move {
        pace(requester.another_user()).await;
    })
}

#[test]
fn a_guest_that_paces_itself_is_timed_from_its_starts_and_those_that_it_misses_count() {
    let ran = paced(305 * MS..405 * MS);
    let counts = &ran.total.counts;
    // Due were those from 320 to 400 ms; the last of them was sent when the server resumed.
    assert_eq!((counts.missed, counts.planned), (8, counts.sent + 8));
    let [waited, delayed] = [&ran.total.times.response, &ran.total.times.blocked]
        .map(|times| times.count_up_to_ns(u64::MAX) - times.count_up_to_ns(4 * MS));
    // The request sent during the freeze waited, too, and was not late.
    assert_eq!((waited, delayed), (10, 9));
    let late = ran.each(|exchange| exchange.blocked_ns() / MS);
    assert_eq!(
        late.iter().filter(|late_ms| **late_ms > 0).count(),
        1,
        "{late:?}"
    );
    assert_eq!(
        ran.total.times.undelayed.len(),
        ran.total.times.response.len()
    );
    // From then on it is in time.
    assert!((98..=100).contains(&counts.planned), "{counts:?}");
    assert_eq!(ran.left()[1], 0);
}

#[test]
fn starts_that_are_due_when_a_run_ends_in_a_stall_are_unsent_and_have_their_ages() {
    let ran = paced(805 * MS..10 * SECOND);
    // One has been in flight since 810 ms; due were those from 820 to 1000 ms.
    let [in_flight, unsent, oldest_ns] = ran.left();
    assert_eq!((in_flight, oldest_ns / MS), (1, 190));
    assert!((18..=19).contains(&unsent), "{unsent}");
    assert_eq!(ran.causes(), [unsent, 0, 0]);
    assert_eq!(ran.total.counts.planned, ran.total.counts.sent + unsent);
    assert_eq!(ran.unfinished.ages.response.len(), 1 + unsent);
}
