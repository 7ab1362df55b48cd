//! A run of some seconds, as its viewers get it.

use super::*;
use crate::samples;
use loadline_metrics::{Key, RequestOutcome, SeriesRecorder, SeriesTable};
use loadline_page::Page;
use loadline_record::{Environment, LoadChange, Note};
use loadline_runner::{Feed, Inbox, Observer, QUEUE, feed};
use serde_json::json;
use std::sync::Arc;
use std::time::SystemTime;

fn header() -> Header {
    let plan = Plan {
        duration: Some(Duration::from_secs(60)),
        checks: vec!["p99<50ms".parse().unwrap()],
        ..Plan::default()
    };
    Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH)
}

/// Returns the interval of this second, with a response for each of these times.
fn second(number: u64, times_ms: &[u64]) -> Snapshot {
    samples::second(number, times_ms.iter().map(|ms| ms * 1_000_000))
}

fn stretch(run: &Arc<Header>, number: u64, snapshot: Snapshot) -> News {
    News::Interval(Arc::new(samples::stretch(run, number, snapshot)))
}

/// The news of a run of so many seconds, and of its end.
fn news(seconds: u64) -> Vec<News> {
    let run = Arc::new(header());
    let mut all = vec![News::Begun(Arc::clone(&run))];
    let mut summary = Summary::new(header());
    for number in 0..seconds {
        let times: Vec<u64> = (0..200)
            .map(|index| 1 + (index * 7 + number) % 40)
            .collect();
        let snapshot = second(number, &times);
        summary.observe(&snapshot);
        all.push(stretch(&run, number, snapshot));
    }
    all.push(News::Ended(Arc::new(RunEnd {
        whole: None,
        result: RunResult::new(summary),
    })));
    all
}

fn model() -> Model {
    Model::new(Arc::new(Commands::default()), &["/report.json"])
}

#[test]
fn whoever_applies_the_events_has_the_state() {
    let mut model = model();
    let mut page = model.state().page.clone();
    for (number, news) in (1..).zip(&news(15)) {
        let (event, _) = model.take(news);
        event.page.apply(&mut page);
        assert_eq!(event.standing.number, number);
        assert_eq!(page, model.state().page, "after event {number}");
    }
    assert!(model.over().page.is_empty());
    assert!(model.state().standing.is_over);
}

#[test]
fn figures_are_those_of_the_latest_second_and_counts_those_so_far() {
    let mut model = model();
    let all = news(3);
    assert_eq!(model.state().standing.phase, Phase::Preparing);
    model.take(&all[0]);
    assert_eq!(model.state().standing.phase, Phase::Running);
    all[1..4].iter().for_each(|news| drop(model.take(news)));
    let figures = &model.state().standing.figures;
    assert_eq!((figures.answered, figures.elapsed_s), (600, 3.0));
    assert_eq!((figures.rate_per_s, figures.planned_s), (200.0, Some(60.0)));
    assert_eq!(figures.asked_per_s, None, "a closed load asks for no rate");
    assert!(figures.p50_us.is_some_and(|us| (15e3..25e3).contains(&us)));
    assert_eq!(figures.checks[0].check, "p99<50ms");
    assert_eq!(figures.checks[0].outcome, "passed");
    assert_eq!(
        figures.checks[0].proven, None,
        "three seconds prove nothing"
    );
    let (_, page) = model.take(&all[4]);
    let standing = &model.state().standing;
    assert_eq!((standing.phase, standing.is_over), (Phase::Ended, false));
    assert_eq!(standing.files, ["/report.json"]);
    assert_eq!(standing.figures.checks[0].proven.as_deref(), Some("passed"));
    assert_eq!(
        serde_json::to_value(page.unwrap()).unwrap(),
        model.state().page
    );
}

#[test]
fn charts_are_there_from_the_first_second_on() {
    let mut model = model();
    news(1)[..2].iter().for_each(|news| drop(model.take(news)));
    let charts = model.state().page["plots"]["course"].as_array().unwrap();
    let names: Vec<_> = charts.iter().map(|chart| chart["name"].clone()).collect();
    assert!(
        names.contains(&json!("rate")) && names.contains(&json!("heatmap")),
        "{names:?}"
    );
}

#[test]
fn a_second_of_one_name_is_a_small_event() {
    let mut model = model();
    let all = news(120);
    let sizes = all[..121].iter().map(|news| {
        let (event, _) = model.take(news);
        serde_json::to_string(&event).unwrap().len()
    });
    let mut sizes: Vec<usize> = sizes.collect();
    // The first is the whole page, and every tenth has the distribution anew.
    sizes.drain(..3);
    sizes.sort_unstable();
    let usual = sizes[sizes.len() / 2];
    assert!(usual < 8_000, "{usual}");
}

#[test]
fn a_late_page_shows_a_longer_interval_and_loses_nothing() {
    let (mut feed, inbox): (Feed, Inbox) = feed(QUEUE);
    news(30).iter().for_each(|news| feed.news(news).unwrap());
    drop(feed);
    let mut model = model();
    while let Some(news) = inbox.wait() {
        model.take(&news);
    }
    let standing = &model.state().standing;
    assert_eq!(standing.figures.answered, 6_000);
    // The begin, four intervals and the end.
    assert_eq!(standing.number, 6);
}

#[test]
fn a_change_of_the_load_is_told_in_words() {
    let mut model = model();
    let run = Arc::new(header());
    model.take(&News::Begun(Arc::clone(&run)));
    let News::Interval(stretch) = stretch(&run, 0, second(0, &[5; 100])) else {
        panic!("an interval");
    };
    let mut changed = (*stretch).clone();
    changed.changes.push(LoadChange {
        at_ns: 500_000_000,
        level: loadline_plan::Level::Share(1_500),
        scenario: None,
    });
    model.take(&News::Interval(Arc::new(changed)));
    let load = &model.state().standing.load;
    assert_eq!(load.level.as_deref(), Some("150 % of the plan"));
}

#[test]
fn the_tables_of_a_span_are_those_of_its_seconds() {
    let mut model = model();
    let all = news(10);
    assert!(model.span(0.0, 9.0).is_none(), "nothing was measured");
    all[..11].iter().for_each(|news| drop(model.take(news)));
    let judged = model.span(2.0, 5.0).expect("it was measured");
    let mut expected = Summary::new(header());
    for news in &all[3..6] {
        let News::Interval(stretch) = news else {
            panic!("no interval");
        };
        expected.observe(&stretch.snapshot);
    }
    assert_eq!(judged.summary.total.times, expected.total.times);
    assert_eq!(judged.summary.total.counts.answered, 600);
    let span = span_page(&judged);
    assert_eq!((span.from_s, span.to_s), (2.0, 5.0));
    assert_eq!(span.page["plots"]["course"], json!([]));
    assert!(!span.page["percentiles"].as_array().unwrap().is_empty());
    model.take(&all[11]);
    assert!(model.span(2.0, 5.0).is_some(), "it stays after the end");
}

#[test]
fn a_page_that_starts_runs_shows_one_after_another() {
    let mut model = Model::idle();
    let standing = &model.state().standing;
    assert_eq!((standing.phase, standing.can_start), (Phase::Idle, true));
    assert!(model.claim() && !model.claim());
    let mut page = model.state().page.clone();
    for _ in 0..2 {
        model.claim();
        let files = vec!["/report.json".to_owned()];
        let event = model.expect(Arc::new(Commands::default()), files, None);
        event.page.apply(&mut page);
        assert_eq!(event.standing.phase, Phase::Preparing);
        assert!(page.is_null() && event.standing.files.is_empty());
        for news in &news(3) {
            let (event, _) = model.take(news);
            event.page.apply(&mut page);
            assert_eq!(page, model.state().page);
            assert!(!event.standing.can_start);
        }
        let event = model.release(None);
        assert_eq!(
            (event.standing.phase, event.standing.can_start),
            (Phase::Ended, true)
        );
        assert!(!event.standing.is_over);
    }
    model.claim();
    model.expect(Arc::new(Commands::default()), Vec::new(), None);
    let event = model.release(Some("No server answers.".to_owned()));
    assert_eq!(event.standing.phase, Phase::Idle);
    assert_eq!(
        event.standing.problem.as_deref(),
        Some("No server answers.")
    );
}

#[test]
fn controls_are_those_that_the_load_and_its_tool_have() {
    let levels = |steer: Arc<dyn Steer>| {
        let mut model = Model::new(steer, &[]);
        model.take(&news(1)[0]);
        let load = &model.state().standing.load;
        (load.can_pause, load.levels.clone())
    };
    let commands = Commands::default();
    assert_eq!(
        levels(Arc::new(commands.clone())),
        (true, vec![LevelUnit::Percent, LevelUnit::Users])
    );
    assert_eq!(
        levels(Arc::new(loadline_runner::OnlyEnds(commands))),
        (false, Vec::new())
    );
}

#[test]
fn the_load_is_that_of_the_last_change_whoever_made_it() {
    let mut model = model();
    let all = news(4);
    model.take(&all[0]);
    for (news, level, now) in [
        (&all[1], None, None),
        (
            &all[2],
            Some(Level::Users(7)),
            Some((LevelUnit::Users, 7.0)),
        ),
        (
            &all[3],
            Some(Level::Share(1_050)),
            Some((LevelUnit::Percent, 105.0)),
        ),
        (&all[4], Some(Level::Paused), None),
    ] {
        let News::Interval(stretch) = news else {
            panic!("no interval")
        };
        let mut stretch = Stretch::clone(stretch);
        stretch.changes = level.map(change_to).into_iter().collect();
        model.take(&News::Interval(Arc::new(stretch)));
        let shown = model.state().standing.load.now;
        assert_eq!(shown.map(|now| (now.unit, now.number)), now);
    }
}

fn change_to(level: Level) -> LoadChange {
    LoadChange {
        at_ns: 0,
        level,
        scenario: None,
    }
}

#[test]
fn whoever_ends_a_run_sees_at_once_that_it_ends() {
    let commands = Arc::new(Commands::default());
    let mut model = Model::new(commands.clone(), &[]);
    model.take(&news(1)[0]);
    assert!(model.show_ending().is_none(), "nobody ends it");
    commands.end(Command::Stop);
    let shown = model.show_ending().map(|event| event.standing.phase);
    assert_eq!(shown, Some(Phase::Ending));
    assert!(model.show_ending().is_none(), "it is shown");
}

#[test]
fn a_check_is_proven_only_after_a_while() {
    let mut model = model();
    let mut first = None;
    for (number, news) in news(120)[..121].iter().enumerate() {
        model.take(news);
        let checks = &model.state().standing.figures.checks;
        let proven = checks.first().and_then(|check| check.proven.clone());
        if let (Some(proven), None) = (proven, first) {
            assert_eq!(proven, "passed");
            first = Some(number);
        }
    }
    // It holds from then on; a minute of equal seconds is enough.
    let first = first.expect("it was proven");
    assert!((30..=90).contains(&first), "{first}");
}

#[test]
fn a_run_is_stopped_as_soon_as_it_is_decided() {
    let commands = Arc::new(Commands::default());
    let steer: Arc<dyn Steer> = commands.clone();
    let mut model = Model::new(steer, &[]);
    let all = news(120);
    assert!(model.stop_when_decided(true).is_none(), "there is no run");
    model.take(&all[0]);
    assert!(model.state().standing.can_decide, "it has a check");
    for is_on in [true, false, true] {
        let event = model.stop_when_decided(is_on).unwrap();
        assert_eq!(event.standing.stops_when_decided, is_on);
    }
    for news in &all[1..121] {
        model.take(news);
        let is_proven = model.state().standing.figures.checks[0].proven.is_some();
        assert_eq!(Steer::is_ending(&*commands), is_proven);
    }
    assert!(Steer::is_ending(&*commands));
    let standing = &model.state().standing;
    assert!(!standing.stops_when_decided, "it is stopped once");
}

#[test]
fn percentiles_have_bands_from_the_thirtieth_second_on() {
    let mut model = model();
    let all = news(31);
    all[..30].iter().for_each(|news| drop(model.take(news)));
    let of = |model: &Model, percentile: f64| {
        let percentiles = &model.state().standing.figures.percentiles;
        let mut found = percentiles
            .iter()
            .filter(|one| one.percentile == percentile);
        found.next().cloned().expect("there are enough responses")
    };
    assert_eq!(of(&model, 99.0).band, None);
    assert_eq!(of(&model, 99.0).bounds_us, [50_000.0]);
    model.take(&all[30]);
    let (p50, p99) = (of(&model, 50.0), of(&model, 99.0));
    let band = p99.band.expect("the first look");
    assert_eq!(band.as_of_s, 30.0);
    assert!(band.lower_us <= p99.us && band.upper_us.is_none_or(|upper| p99.us <= upper));
    let watched = p50.band.unwrap();
    model.take(&all[31]);
    model.take(&all[32]);
    let ended = of(&model, 50.0).band.expect("the interval of the report");
    assert_eq!(ended.as_of_s, 31.0);
    assert!(watched.lower_us <= ended.lower_us && ended.upper_us <= watched.upper_us);
}

#[test]
fn a_check_that_is_added_is_judged_on_all_of_the_run_and_counts_nowhere() {
    let mut model = model();
    let all = news(4);
    let check = |text: &str| text.parse::<Check>().unwrap();
    assert_eq!(
        model.add_check(check("p95<10ms")).unwrap_err(),
        CheckProblem::NoRun
    );
    all[..3].iter().for_each(|news| drop(model.take(news)));
    let (event, at_s) = model.add_check(check("p95<10ms")).unwrap();
    assert_eq!(at_s, 2.0);
    let added = CheckSoFar {
        check: "p95<10ms".to_owned(),
        outcome: "failed".to_owned(),
        proven: None,
        more_s: None,
        added_at_s: Some(2.0),
    };
    assert_eq!(event.standing.figures.checks[1], added);
    for (text, problem) in [
        ("p95<10ms", CheckProblem::Known),
        ("p99<50ms", CheckProblem::Known),
    ] {
        assert_eq!(model.add_check(check(text)).unwrap_err(), problem);
    }
    model.take(&all[3]);
    assert_eq!(model.state().standing.figures.checks[1], added);
    for ms in 1..MOST_ADDED {
        let further = check(&format!("max<{}ms", ms + 100));
        assert!(model.add_check(further).is_ok(), "{ms}");
    }
    let refused = model.add_check(check("p90<1s"));
    assert_eq!(refused.unwrap_err(), CheckProblem::TooMany);
    let (_, page) = model.take(&all[5]);
    let checks = &model.state().standing.figures.checks;
    assert_eq!(checks[1].proven.as_deref(), Some("failed"));
    assert_eq!(page.unwrap().checks.len(), 1, "no report has it");
    model.take(&all[0]);
    assert_eq!(model.state().standing.figures.checks.len(), 0);
    assert!(model.added.is_empty(), "the next run has none");
}

#[test]
fn notes_are_on_the_page_with_the_interval_that_brings_them() {
    let mut model = model();
    let run = Arc::new(header());
    model.take(&News::Begun(Arc::clone(&run)));
    let News::Interval(stretch) = stretch(&run, 0, second(0, &[5; 100])) else {
        panic!("an interval");
    };
    let mut noted = (*stretch).clone();
    noted.notes.extend(Note::new(250_000_000, "deployed"));
    model.take(&News::Interval(Arc::new(noted)));
    let page = &model.state().page;
    assert_eq!(page["notes"][0]["text"], "deployed");
    assert_eq!(page["notes"][0]["is_written"], true);
    let marked = &page["plots"]["course"][0]["reference_lines"][0];
    assert_eq!(
        (&marked["at"], &marked["label"]),
        (&json!(0.25), &json!("deployed"))
    );
    let report = model.report().expect("a report so far");
    assert_eq!(
        (&report["kind"], &report["notes"]),
        (&json!("run"), &page["notes"])
    );
}

#[test]
fn a_search_is_shown_above_its_trials() {
    let mut model = model();
    assert!(!model.is_search() && model.report().is_none());
    let mut search = model.state().search.clone();
    for title in ["one trial", "two trials"] {
        let shown = SearchPage {
            title: title.to_owned(),
            ..SearchPage::default()
        };
        let event = model.show_search(&shown);
        event.search.apply(&mut search);
        assert_eq!(search, model.state().search);
        for news in &news(2) {
            let (event, _) = model.take(news);
            assert!(event.search.is_empty());
        }
        let report = model.report().expect("the search so far");
        assert_eq!(
            (&report["kind"], &report["title"]),
            (&json!("search"), &json!(title))
        );
    }
    model.expect(Arc::new(Commands::default()), Vec::new(), None);
    assert!(!model.is_search());
}

#[test]
fn a_run_that_is_not_saved_is_compared_with_no_baseline() {
    let baseline = Baseline {
        name: "a.run".to_owned(),
        runs: Vec::new(),
        page: Page::Run(Box::default()),
    };
    let mut model = model();
    model.compare_with(Some(Arc::new(baseline)));
    assert_eq!(model.state().standing.baseline.as_deref(), Some("a.run"));
    news(2)[..3].iter().for_each(|news| drop(model.take(news)));
    let claim = model.state().page["against"]["claim"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        claim.starts_with("Not compared: the run is not saved"),
        "{claim}"
    );
    model.compare_with(None);
    assert_eq!(model.state().standing.baseline, None);
}

/// The begin of a run of so many names, and so many seconds of it; in each the first name has ten
/// requests, the second one twenty, and so on.
fn news_of_names(names: u64, seconds: u64) -> Vec<News> {
    let run = Arc::new(header());
    let mut table = SeriesTable::new(1_000);
    let name = |number: u64| Key::new(&format!("GET /{number}")).unwrap();
    let ids: Vec<_> = (0..names)
        .map(|number| table.intern(&name(number)))
        .collect();
    let mut recorder = SeriesRecorder::new(table);
    let mut all = vec![News::Begun(Arc::clone(&run))];
    for number in 0..seconds {
        let mut snapshot = second(number, &[5; 30]);
        for (index, id) in (1..).zip(&ids) {
            let ok = RequestOutcome::Answered { status: 200 };
            (0..10 * index).for_each(|_| recorder.record(*id, ok, 5_000_000, true));
        }
        snapshot.series = recorder.take();
        all.push(stretch(&run, number, snapshot));
    }
    all
}

#[test]
fn a_second_of_a_hundred_names_is_an_event_of_two_dozen_kilobytes() {
    let mut model = model();
    let sizes = news_of_names(100, 40)
        .iter()
        .map(|news| {
            let (event, _) = model.take(news);
            serde_json::to_string(&event).unwrap().len()
        })
        .collect::<Vec<_>>();
    let mut sizes = sizes[3..].to_vec();
    sizes.sort_unstable();
    let usual = sizes[sizes.len() / 2];
    assert!(usual <= 24_000, "{usual}");
}

#[test]
fn the_course_of_a_name_is_drawn_from_its_seconds() {
    let mut model = model();
    assert!(model.name("GET /1").is_none());
    for news in news_of_names(2, 4) {
        model.take(&news);
    }
    let course = model.name("GET /1").expect("it has requests");
    assert_eq!(course.name, "GET /1");
    let charts = course.plots["course"].as_array().unwrap();
    let lines = |chart: &Value| {
        let series = chart["series"].as_array().unwrap().iter();
        series
            .map(|line| line["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(charts[0]["name"], "rate");
    assert_eq!(lines(&charts[0]), ["answered"]);
    assert_eq!(charts[1]["name"], "response-time");
    assert_eq!(lines(&charts[1]), ["p50", "p99"]);
    assert_eq!(charts[0]["series"][0]["y"], json!([20, 20, 20, 20]));
    assert!(model.name("GET /2").is_none());
}

#[test]
fn lines_of_a_script_come_with_the_next_event() {
    let mut model = model();
    let all = news(3);
    model.log().add("before the load");
    assert!(
        model.compare_with(None).log.is_empty(),
        "a log begins with the load"
    );
    let (event, _) = model.take(&all[0]);
    assert_eq!(event.log, ["before the load"]);
    (0..300).for_each(|number| model.log().add(&format!("line {number}")));
    let (event, _) = model.take(&all[1]);
    assert_eq!(event.log.len(), MOST_LINES);
    assert_eq!(model.state().log, event.log);
    assert!(model.take(&all[2]).0.log.is_empty());
    model.expect(Arc::new(Commands::default()), Vec::new(), None);
    assert!(model.state().log.is_empty());
}
