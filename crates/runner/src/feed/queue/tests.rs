//! Feeds whose consumers are late, asleep or gone.

use super::*;
use crate::feed::{AgentRecord, Happened, Newsroom};
use loadline_engine::{AnyTally, Tally};
use loadline_plan::Plan;
use loadline_record::watched::Watched;
use loadline_record::{Environment, Header, Snapshot};
use serde::{Deserialize, Serialize};
use std::thread;
use std::time::SystemTime;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbers(Vec<u64>);

impl Tally for Numbers {
    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

fn newsroom() -> Newsroom {
    let environment = Environment::default();
    let epoch = SystemTime::UNIX_EPOCH;
    Newsroom::new(&Header::new(&Plan::default(), environment, epoch))
}

/// Returns the interval of the next second: planned and sent are its number plus one.
fn interval(newsroom: &mut Newsroom, number: u64) -> News {
    let mut snapshot = Snapshot::empty(number * 1_000_000_000);
    snapshot.end_ns = (number + 1) * 1_000_000_000;
    (snapshot.counts.planned, snapshot.counts.sent) = (number + 1, number + 1);
    snapshot
        .times
        .response
        .record_many_ns(1_000 * (number + 1), number + 1);
    newsroom.tally(AnyTally::new(Numbers(vec![number])));
    let watched = Watched {
        length_ns: 1_000_000_000,
        ..Watched::default()
    };
    newsroom.interval(snapshot, Some(watched), Happened::default())
}

fn stretch(news: &News) -> &crate::feed::Stretch {
    match news {
        News::Interval(stretch) => stretch,
        other => panic!("no interval: {other:?}"),
    }
}

#[test]
fn a_consumer_in_time_gets_each_interval_by_itself() {
    let (mut feed, inbox) = feed(QUEUE);
    let mut newsroom = newsroom();
    feed.news(&newsroom.begun()).unwrap();
    assert!(matches!(inbox.wait(), Some(News::Begun(_))));
    for number in 0..10 {
        feed.news(&interval(&mut newsroom, number)).unwrap();
        let news = inbox.wait().unwrap();
        let stretch = stretch(&news);
        assert_eq!((stretch.first, stretch.last), (number, number));
        assert_eq!(stretch.snapshot.counts.sent, number + 1);
    }
    assert_eq!(inbox.merged(), 0);
    assert!(inbox.wait_at_most(Duration::ZERO).is_none());
    drop(feed);
    assert!(inbox.wait().is_none() && inbox.is_over());
}

#[test]
fn a_sleeping_consumer_gets_all_of_it_in_few_pieces() {
    let (mut feed, inbox) = feed(QUEUE);
    let mut newsroom = newsroom();
    feed.news(&newsroom.begun()).unwrap();
    for number in 0..100 {
        feed.news(&interval(&mut newsroom, number)).unwrap();
    }
    drop(feed);
    assert!(matches!(inbox.wait(), Some(News::Begun(_))));
    let came: Vec<News> = std::iter::from_fn(|| inbox.wait()).collect();
    let ranges: Vec<_> = came
        .iter()
        .map(stretch)
        .map(|one| (one.first, one.last))
        .collect();
    assert_eq!(ranges, [(0, 96), (97, 97), (98, 98), (99, 99)]);
    assert_eq!(inbox.merged(), 97);
    let long = stretch(&came[0]);
    let all: u64 = (1..=97).sum();
    let counts = long.snapshot.counts;
    assert_eq!((counts.planned, counts.sent), (all, all));
    assert_eq!(long.snapshot.times.response.len(), all);
    assert_eq!(long.snapshot.length_ns(), 97_000_000_000);
    assert_eq!(long.watched.as_ref().unwrap().length_ns, 97_000_000_000);
    let tally = long.tally.as_ref().unwrap().get::<Numbers>();
    assert_eq!(tally, Some(&Numbers((0..97).collect())));
}

#[test]
fn records_of_agents_are_lengthened_as_those_of_the_run() {
    let (mut feed, inbox) = feed(1);
    let mut newsroom = newsroom();
    for number in 0..3 {
        let record = |sent| {
            let mut snapshot = Snapshot::empty(number * 1_000_000_000);
            snapshot.end_ns = (number + 1) * 1_000_000_000;
            (snapshot.counts.sent, snapshot.counts.in_flight) = (sent, number);
            snapshot
        };
        let mut happened = Happened::default();
        let agents = &mut happened.agents;
        AgentRecord::add(agents, "one", record(1));
        if number > 0 {
            AgentRecord::add(agents, "joined", record(10));
            // Another one of this name.
            AgentRecord::add(agents, "joined", record(100));
        }
        let news = newsroom.interval(record(0), None, happened);
        feed.news(&news).unwrap();
    }
    drop(feed);
    let came: Vec<News> = std::iter::from_fn(|| inbox.wait()).collect();
    let of = |news: &News| -> Vec<(String, u64, u64)> {
        let agents = stretch(news).agents.iter();
        let counts = agents.map(|one| (&one.agent, one.snapshot.counts));
        counts
            .map(|(agent, counts)| (agent.clone(), counts.sent, counts.in_flight))
            .collect()
    };
    let own = |agent: &str, sent, in_flight| (agent.to_owned(), sent, in_flight);
    assert_eq!(came.len(), 1);
    assert_eq!(of(&came[0]), [own("one", 3, 2), own("joined", 220, 4)]);
}

#[test]
fn two_consumers_share_intervals_and_one_that_sleeps_changes_none_of_the_other() {
    let (mut awake, quick) = feed(QUEUE);
    let (mut asleep, late) = feed(1);
    let mut newsroom = newsroom();
    let mut seen = Vec::new();
    for number in 0..5 {
        let news = interval(&mut newsroom, number);
        awake.news(&news).unwrap();
        asleep.news(&news).unwrap();
        seen.push(quick.wait().unwrap());
    }
    let sent = |news: &News| stretch(news).snapshot.counts.sent;
    assert_eq!(seen.iter().map(sent).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(sent(&late.wait().unwrap()), 15);
}

#[test]
fn the_drain_and_another_run_stay_apart() {
    let (mut feed, inbox) = feed(1);
    let (mut first, mut second) = (newsroom(), newsroom());
    for number in 0..3 {
        feed.news(&interval(&mut first, number)).unwrap();
    }
    let drain = Snapshot {
        drain: true,
        ..Snapshot::empty(3_000_000_000)
    };
    let news = first.interval(drain, None, Happened::default());
    feed.news(&news).unwrap();
    feed.news(&interval(&mut second, 0)).unwrap();
    let came: Vec<News> = (0..3).map(|_| inbox.wait().unwrap()).collect();
    let ranges: Vec<_> = came
        .iter()
        .map(stretch)
        .map(|one| (one.first, one.last))
        .collect();
    assert_eq!(ranges, [(0, 2), (3, 3), (0, 0)]);
}

#[test]
fn news_that_come_while_the_consumer_takes_some_wait_with_the_sender() {
    let (mut feed, inbox) = feed(QUEUE);
    let mut newsroom = newsroom();
    let taking = inbox.shared.queue.lock().unwrap();
    for number in 0..8 {
        feed.news(&interval(&mut newsroom, number)).unwrap();
    }
    assert!(taking.news.is_empty());
    assert_eq!(feed.kept.len(), QUEUE);
    drop(taking);
    feed.news(&interval(&mut newsroom, 8)).unwrap();
    let sent: u64 = (0..4)
        .map(|_| stretch(&inbox.wait().unwrap()).snapshot.counts.sent)
        .sum();
    assert_eq!(sent, (1..=9).sum::<u64>());
}

#[test]
fn nothing_is_kept_for_a_consumer_that_is_gone() {
    let (mut feed, inbox) = feed(QUEUE);
    drop(inbox);
    feed.news(&interval(&mut newsroom(), 0)).unwrap();
    assert!(feed.kept.is_empty());
    assert!(feed.shared.queue.lock().unwrap().news.is_empty());
}

#[test]
fn a_consumer_on_another_thread_is_woken() {
    let (mut feed, inbox) = feed(QUEUE);
    let consumer = thread::spawn(move || {
        let came = std::iter::from_fn(|| inbox.wait());
        came.map(|news| stretch(&news).intervals()).sum::<u64>()
    });
    let mut newsroom = newsroom();
    for number in 0..50 {
        feed.news(&interval(&mut newsroom, number)).unwrap();
    }
    drop(feed);
    assert_eq!(consumer.join().unwrap(), 50);
}
