//! A run of an hour with two thousand names, in a browser: what its tab takes of memory and time,
//! and how a reader finds a way through the names.
//!
//! The hour is made up, and played as fast as the page's thread takes it; its last half minute at
//! the pace of a run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

// It keeps the browser's profile in a folder of `tempfile`.
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../../tests/browser.rs"]
mod browser;
#[path = "../src/samples.rs"]
mod samples;

use browser::Tab;
use loadline_live_page::{LivePage, Protection};
use loadline_metrics::{Key, RequestOutcome, SeriesId, SeriesRecorder, SeriesTable};
use loadline_plan::Plan;
use loadline_record::{Environment, Header};
use loadline_runner::{Commands, Feed, News, Observer};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const NAMES: u32 = 2_000;
const SECONDS: u64 = 3_600;
/// The seconds that are played at the pace of a run.
const PACED: u64 = 30;
/// The most memory of the tab's scripts, and the most time that they may take of a second.
const MOST_BYTES: f64 = 200e6;
const MOST_SCRIPTING_S: f64 = 0.1;
const LATEST_PAINT_MS: f64 = 1_000.0;

/// The seconds of a run of many names.
struct Hour {
    run: Arc<Header>,
    recorder: SeriesRecorder,
    names: Vec<SeriesId>,
}

impl Hour {
    fn new() -> Hour {
        let plan = Plan {
            duration: Some(Duration::from_secs(SECONDS)),
            ..Plan::default()
        };
        let header = Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH);
        let mut table = SeriesTable::new(5_000);
        let names = (0..NAMES).map(|name| {
            let name = format!("GET /shops/{}/articles/{name}", name % 40);
            table.intern(&Key::new(&name).unwrap())
        });
        let names = names.collect();
        Hour {
            run: Arc::new(header),
            recorder: SeriesRecorder::new(table),
            names,
        }
    }

    /// A second in which each name has some requests.
    fn second(&mut self, number: u64) -> News {
        let mut times_ns = Vec::new();
        for (index, id) in self.names.iter().enumerate() {
            for request in 0..1 + (index as u64 + number) % 3 {
                let time_ns = 1_000_000 + (index as u64 * 7_919 + number * 104_729) % 60_000_000;
                let ok = RequestOutcome::Answered { status: 200 };
                self.recorder.record(*id, ok, time_ns + request, true);
                times_ns.push(time_ns + request);
            }
        }
        let mut snapshot = samples::second(number, times_ns);
        snapshot.series = self.recorder.take();
        let stretch = samples::stretch(&self.run, number, snapshot);
        News::Interval(Arc::new(stretch))
    }
}

/// The numbers of the events that a page sends, as they come.
fn events(url: &str) -> impl Iterator<Item = u64> + use<> {
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    let mut stream = TcpStream::connect(address).unwrap();
    let head = b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(head).unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| line.strip_prefix("id: ")?.parse().ok())
}

/// A page that shows the hour as it is played.
struct Shown<Came> {
    /// The numbers of the events that the page sends.
    came: Came,
    hour: Hour,
    feed: Feed,
    /// Dropped last: it waits until there is no more news.
    page: LivePage,
}

/// Opens a page, and begins the run.
fn shown() -> Shown<impl Iterator<Item = u64>> {
    let place = "127.0.0.1:0".parse().unwrap();
    let commands = Arc::new(Commands::default());
    let mut page = LivePage::open(&place, &Protection::default(), commands, None, None).unwrap();
    let mut feed = page.feed().unwrap();
    let hour = Hour::new();
    let mut came = events(page.url());
    came.next().expect("the state");
    feed.news(&News::Begun(Arc::clone(&hour.run))).unwrap();
    came.next().expect("the begin");
    Shown {
        came,
        hour,
        feed,
        page,
    }
}

impl<Came: Iterator<Item = u64>> Shown<Came> {
    /// Opens it in a browser; `None` without one.
    fn tab(&self) -> Option<Tab> {
        Tab::open(self.page.url())
    }

    /// Plays these seconds as fast as the page takes them: each once it has the one before.
    fn play(&mut self, seconds: Range<u64>) {
        self.play_paced(seconds, Duration::ZERO);
    }

    /// Plays these seconds, one in so long.
    fn play_paced(&mut self, seconds: Range<u64>, pause: Duration) {
        for number in seconds {
            let begun = Instant::now();
            self.feed.news(&self.hour.second(number)).unwrap();
            self.came.next().expect("the page goes on");
            thread::sleep(pause.saturating_sub(begun.elapsed()));
        }
    }
}

/// The number of elements of the page that are selected so.
fn count(tab: &mut Tab, selector: &str) -> u64 {
    let found = tab.value(&format!("document.querySelectorAll('{selector}').length"));
    found.as_u64().expect("a number")
}

/// Presses the first button whose text begins so.
fn press(tab: &mut Tab, text: &str) {
    tab.value(&format!(
        "[...document.querySelectorAll('button')]\
         .find(one => one.textContent.startsWith('{text}')).click()"
    ));
}

#[test]
fn two_thousand_names_are_folded_and_the_busiest_have_a_small_plot() {
    let mut shown = shown();
    shown.play(0..4);
    let Some(mut tab) = shown.tab() else {
        return;
    };
    tab.await_that("document.querySelectorAll('table.named tbody tr').length === 20");
    assert_eq!(count(&mut tab, "table.named svg.spark"), 20);
    press(&mut tab, "Fold");
    tab.await_that("document.querySelectorAll('table.named tr.group').length === 40");
    let first = "document.querySelector('table.named tr.group th').textContent";
    let named = tab.value(first);
    assert!(named.as_str().unwrap().contains("GET /shops/0/"), "{named}");
    assert!(named.as_str().unwrap().contains("50 names"), "{named}");
    press(&mut tab, "▸ GET /shops/0/");
    tab.await_that("document.querySelectorAll('table.named th.member').length > 10");
    // The hour goes on, and what was opened stays so.
    shown.play(4..5);
    // "Running, 5 s of 3 600 s".
    tab.await_that("document.querySelector('.phase').textContent.replace(/\\D/g, '') === '53600'");
    assert!(count(&mut tab, "table.named th.member") > 10);
    assert_eq!(tab.errors, Vec::<String>::new());
}

#[test]
#[ignore = "minutes of computing, and times of the machine: `make soak`"]
#[allow(clippy::print_stderr, reason = "a measurement is told")]
fn an_hour_with_two_thousand_names_fits_a_tab() {
    let mut shown = shown();
    let Some(mut tab) = shown.tab() else {
        return;
    };
    // The tab is there from the begin: it has the whole hour by events.
    shown.play(0..SECONDS - PACED);
    // "Running, 3 570 s of 3 600 s".
    tab.await_that(&format!(
        "document.querySelector('.phase')?.textContent.replace(/\\D/g, '') === '{}{SECONDS}'",
        SECONDS - PACED
    ));
    let before = tab.metric("ScriptDuration");
    shown.play_paced(SECONDS - PACED..SECONDS, Duration::from_secs(1));
    let scripting_s = (tab.metric("ScriptDuration") - before) / PACED as f64;
    tab.collect_garbage();
    let bytes = tab.metric("JSHeapUsedSize");
    // A viewer who comes after an hour.
    drop(tab);
    let mut tab = shown.tab().expect("it was there before");
    tab.await_that("document.querySelectorAll('table.named tbody tr').length > 10");
    let paint_ms = tab
        .value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity");
    let paint_ms = paint_ms.as_f64().expect("it was painted");
    eprintln!(
        "{:.0} MB, {:.1} ms of scripting a second, first paint after {paint_ms:.0} ms",
        bytes / 1e6,
        scripting_s * 1e3
    );
    assert!(bytes <= MOST_BYTES, "{bytes}");
    assert!(scripting_s <= MOST_SCRIPTING_S, "{scripting_s}");
    assert!(paint_ms <= LATEST_PAINT_MS, "{paint_ms}");
    assert_eq!(tab.errors, Vec::<String>::new());
}
