use super::*;
use loadline_plan::{Arrivals, Body, Load, Plan, Rate, Request, Shape, Think};
use loadline_record::{
    Ended, Environment, Exchange, Header, Model, Outcome, Recorder, RoleKind, RunWriter, Snapshot,
    Unfinished,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

pub(crate) fn plan(per_second: u64, connections: u32) -> Plan {
    let rate = Rate {
        count: per_second,
        per_ns: SECOND,
    };
    Plan {
        requests: vec![Request {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/".parse().unwrap(),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            name: None,
        }],
        load: Load {
            users: connections,
            max_users: connections,
            shape: Shape::Rate {
                rate,
                arrivals: Arrivals::Constant,
            },
        },
        duration: Some(Duration::from_secs(10)),
        seed: 7,
        ..Plan::default()
    }
}

pub(crate) fn environment() -> Environment {
    Environment {
        kernel: None,
        cpu_model: None,
        cores: None,
        usable_cores: None,
        memory_bytes: None,
        open_files: None,
        load_average: None,
        ..Environment::default()
    }
}

/// Numbers between 0 and 1 from a seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponential variate.
    pub(crate) fn wait_ns(&mut self, mean_ns: f64) -> u64 {
        (-(1.0 - self.roll()).ln() * mean_ns) as u64 + 1
    }
}

pub(crate) fn second(index: u64, dice: &mut Dice, mean_ns: f64, answers: u64) -> Snapshot {
    let mut recorder = Recorder::new(Model::Open);
    recorder.take(index * SECOND);
    for number in 0..answers {
        let start_ns = index * SECOND + number * SECOND / answers;
        let end_ns = start_ns + dice.wait_ns(mean_ns);
        recorder.begin(start_ns);
        recorder.end(&Exchange {
            intended_ns: start_ns,
            ready_ns: start_ns,
            start_ns,
            dial_ns: 0,
            resolve_ns: 0,
            tls_ns: 0,
            sent_ns: start_ns,
            first_byte_ns: end_ns,
            end_ns,
            wakeup_ns: 0,
            bytes_in: 10,
            bytes_out: 10,
            outcome: Outcome::Answered { status: 200 },
            request: None,
        });
    }
    recorder.take((index + 1) * SECOND)
}

/// A run of this many seconds with 400 exponential response times in each.
pub(crate) fn recorded(seed: u64, mean_ns: f64, seconds: u64, plan: &Plan) -> SavedRun {
    recorded_as(None, seed, mean_ns, seconds, plan)
}

/// As [`recorded`], as one of several runs.
fn recorded_as(role: Option<Role>, seed: u64, mean_ns: f64, seconds: u64, plan: &Plan) -> SavedRun {
    let started_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seed);
    let header = Header {
        role,
        ..Header::new(plan, environment(), started_at)
    };
    let path = format!("{seed}.run");
    let mut writer = RunWriter::new(Path::new(&path), Vec::new(), &header).unwrap();
    let mut summary = Summary::new(header);
    let mut dice = Dice(seed);
    for index in 0..seconds {
        let interval = second(index, &mut dice, mean_ns, 400);
        writer.interval(&interval).unwrap();
        summary.observe(&interval);
    }
    summary.finish(Ended::Duration, Unfinished::default());
    let bytes = writer.finish(&summary).unwrap();
    SavedRun {
        run: RunFile::parse(Path::new(&path), bytes.as_slice()).unwrap(),
        path: path.into(),
        number: None,
    }
}

fn run(seed: u64, mean_ms: f64) -> SavedRun {
    recorded(seed, mean_ms * MS as f64, 10, &plan(400, 50))
}

fn set(seeds: std::ops::Range<u64>, mean_ms: f64) -> Vec<SavedRun> {
    seeds.map(|seed| run(seed, mean_ms)).collect()
}

#[test]
fn a_run_against_its_like_cannot_be_told() {
    let cannot = (0..40).filter(|pair| {
        let (base, with) = (run(2 * pair + 1, 5.0), run(2 * pair + 2, 5.0));
        let found = Comparison::of(&[base], &[with]).unwrap();
        found.standing() == Standing::CannotTell
    });
    let cannot = cannot.count();
    assert!(cannot >= 36, "{cannot} of 40");
}

#[test]
fn a_slower_run_is_slower_in_each_percentile() {
    let found = Comparison::of(&[run(1, 5.0)], &[run(2, 7.5)]).unwrap();
    assert_eq!(found.standing(), Standing::Slower);
    let figures: Vec<Figure> = found.figures.iter().map(|f| f.figure).collect();
    let percentiles = [50.0, 90.0, 95.0, 99.0, 99.9].map(Figure::Percentile);
    assert_eq!(figures[..5], percentiles);
    assert_eq!(figures[5], Figure::Rate);
    for figure in &found.figures[..4] {
        assert_eq!(figure.standing, Standing::Slower, "{figure:?}");
        assert_eq!(figure.more_runs, Some(0));
        assert!((figure.ratio.ratio - 1.5).abs() < 0.3, "{figure:?}");
    }
    assert_eq!(found.figures[5].standing, Standing::CannotTell);
    let back = Comparison::of(&[run(2, 7.5)], &[run(1, 5.0)]).unwrap();
    assert_eq!(back.standing(), Standing::Faster);
}

#[test]
fn sets_of_runs_tell_five_percent() {
    let found = Comparison::of(&set(1..9, 5.0), &set(11..19, 5.25)).unwrap();
    assert_eq!((found.base_runs, found.with_runs), (8, 8));
    let median = &found.figures[0];
    assert_eq!(median.standing, Standing::Slower, "{median:?}");
    assert!((median.base / (5.0 * MS as f64 * 2f64.ln()) - 1.0).abs() < 0.02);
}

#[test]
fn percentiles_without_enough_samples_are_not_compared() {
    let short = |seed| recorded(seed, 5e6, 2, &plan(400, 50));
    let found = Comparison::of(&[short(1)], &[short(2)]).unwrap();
    let has = |p| {
        found
            .figures
            .iter()
            .any(|f| f.figure == Figure::Percentile(p))
    };
    assert!(has(99.0) && !has(99.9));
}

#[test]
fn runs_that_do_not_belong_together_are_refused_in_a_sentence() {
    let refused =
        |base: &[SavedRun], with: &[SavedRun]| Comparison::of(base, with).unwrap_err().to_string();
    let one = [run(1, 5.0)];
    assert_eq!(
        refused(&one, &[recorded(2, 5e6, 2, &plan(500, 50))]),
        "1.run and 2.run had different loads (the rate, the stages or the bursts), so that their \
         times can't be compared; run both with the same load."
    );
    assert!(refused(&one, &[recorded(2, 5e6, 2, &plan(400, 9))]).contains("number of connections"));
    let thinking = Plan {
        think: Some(Think::Constant(Duration::from_secs(1))),
        ..plan(400, 50)
    };
    assert!(refused(&one, &[recorded(2, 5e6, 2, &thinking)]).contains("the think time"));
    assert!(refused(&one, &one).contains("1.run and 1.run are the same run"));
    assert!(refused(&one, &set(2..5, 5.0)).contains("1 of A can't be compared with 3 of B"));
    let in_role = |kind, seed, name: &str| {
        let role = Role {
            kind,
            number: 1,
            of: None,
            name: Some(name.to_owned()),
            search: None,
            spent_s: None,
        };
        recorded_as(Some(role), seed, 5e6, 2, &plan(400, 50))
    };
    let turn = |seed, name: &str| in_role(RoleKind::Side, seed, name);
    assert_eq!(
        refused(&[turn(11, "A"), turn(12, "B")], &set(2..4, 5.0)),
        "12.run is an A/B test of two targets; `loadline report` compares them. Give repeats of \
         one run for each side here."
    );
    let search = [
        in_role(RoleKind::Trial, 13, "search"),
        in_role(RoleKind::Trial, 14, "search"),
    ];
    for other in [&one[..], &set(2..4, 5.0)] {
        assert!(refused(&search, other).starts_with("13.run is a search, whose trials"));
    }
    let empty = recorded(7, 5e6, 0, &plan(400, 50));
    assert!(refused(&one, &[empty]).contains("7.run has no responses"));
    let short = recorded(8, 5e6, 1, &plan(400, 50));
    assert!(refused(&one, &[short]).contains("8.run has responses in less than two seconds"));
}

/// Runs that took turns: pairs of `A` and `B` under a drift that both are in.
fn turns(seed: u64, pairs: u64, slower: f64) -> Vec<Summary> {
    let run = |number: u64, name: &str, factor: f64| {
        let seed = 1_000 * seed + 2 * number + u64::from(name == "B");
        let drift = 1.0 + 0.1 * number as f64;
        let plan = plan(400, 50);
        let mut summary = recorded(seed, 5e6 * drift * factor, 3, &plan)
            .run
            .into_summary();
        summary.role = Some(Role {
            kind: RoleKind::Side,
            number: number as u32,
            of: Some(pairs as u32),
            name: Some(name.to_owned()),
            search: None,
            spent_s: None,
        });
        summary
    };
    (1..=pairs)
        .flat_map(|number| [run(number, "B", slower), run(number, "A", 1.0)])
        .collect()
}

fn held_against(runs: &[Summary]) -> Comparison {
    Comparison::of_sides(&runs.iter().collect::<Vec<_>>()).unwrap()
}

#[test]
fn sides_that_took_turns_are_told_apart_in_spite_of_drift() {
    let found = held_against(&turns(1, 10, 1.15));
    assert!(found.paired);
    assert_eq!((found.base_runs, found.with_runs), (10, 10));
    assert_eq!(
        found.figures[0].standing,
        Standing::Slower,
        "{:?}",
        found.figures
    );
    assert_eq!(found.standing(), Standing::Slower);
}

/// In how many of this many series B stands so to A.
fn stands(
    series: std::ops::RangeInclusive<u64>,
    pairs: u64,
    slower: f64,
    standing: Standing,
) -> usize {
    series
        .filter(|seed| held_against(&turns(*seed, pairs, slower)).standing() == standing)
        .count()
}

#[test]
fn a_target_in_turns_with_itself_cannot_be_told() {
    let cannot = stands(1..=100, 5, 1.0, Standing::CannotTell);
    assert!(cannot >= 93, "{cannot} of 100");
}

#[test]
fn five_percent_slower_is_told_with_enough_turns() {
    let slower = stands(1..=20, 30, 1.05, Standing::Slower);
    assert!(slower >= 18, "{slower} of 20");
}

#[test]
fn pairs_that_are_not_whole_are_left_out() {
    let mut runs = turns(1, 4, 1.0);
    runs[0].ended = Ended::Interrupted;
    runs.pop();
    assert_eq!(held_against(&runs).base_runs, 2);
    runs.truncate(4);
    assert_eq!(Comparison::of_sides(&runs.iter().collect::<Vec<_>>()), None);
}

#[test]
fn two_runs_are_not_compared_with_more() {
    let plan = plan(400, 50);
    let runs = |seeds: std::ops::Range<u64>| -> Vec<SavedRun> {
        seeds
            .map(|seed| recorded(seed, 5.0 * MS as f64, 3, &plan))
            .collect()
    };
    let refused = Comparison::of(&runs(0..2), &runs(10..13)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "2 runs of A can't be compared with 3 of B: two runs show too little of what differs \
         between runs; give at least 3 of each, or two of each."
    );
    assert!(Comparison::of(&runs(0..2), &runs(10..12)).is_ok());
    assert!(Comparison::of(&runs(0..3), &runs(10..14)).is_ok());
}

#[test]
fn what_a_run_waited_for_behind_its_window_is_compared_too() {
    let plan = plan(400, 50);
    let drained = |seed: u64, drain_ns: f64| {
        let started_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seed);
        let header = Header::new(&plan, environment(), started_at);
        let path = format!("{seed}.run");
        let mut writer = RunWriter::new(Path::new(&path), Vec::new(), &header).unwrap();
        let (mut summary, mut dice) = (Summary::new(header), Dice(seed));
        for index in 0..=10 {
            let mean_ns = if index == 10 { drain_ns } else { 5e6 };
            let mut interval = second(index, &mut dice, mean_ns, 400);
            interval.drain = index == 10;
            writer.interval(&interval).unwrap();
            summary.observe(&interval);
        }
        summary.finish(Ended::Duration, Unfinished::default());
        let bytes = writer.finish(&summary).unwrap();
        SavedRun {
            run: RunFile::parse(Path::new(&path), bytes.as_slice()).unwrap(),
            path: path.into(),
            number: None,
        }
    };
    let found = Comparison::of(&[drained(1, 5e6)], &[drained(2, 5e9)]).unwrap();
    let is_p99 = |compared: &&ComparedFigure| compared.figure == Figure::Percentile(99.0);
    let p99 = found.figures.iter().find(is_p99).unwrap();
    assert!(p99.with > 1e9 && p99.ratio.ratio > 50.0, "{p99:?}");
}

/// As [`recorded`], with two names: half of the requests are `login`, and take this many times as
/// long.
fn named(seed: u64, login_ns: f64, seconds: u64) -> SavedRun {
    use loadline_metrics::{Key, RequestOutcome, SeriesRecorder, SeriesTable};
    let mut table = SeriesTable::new(2);
    let ids = ["login", "page"].map(|name| table.intern(&Key::new(name).unwrap()));
    let mut series = SeriesRecorder::new(table);
    let mut dice = Dice(seed);
    let plan = plan(400, 50);
    let started_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seed);
    let header = Header::new(&plan, environment(), started_at);
    let path = format!("{seed}.run");
    let mut writer = RunWriter::new(Path::new(&path), Vec::new(), &header).unwrap();
    let mut summary = Summary::new(header);
    let answered = RequestOutcome::Answered { status: 200 };
    for index in 0..seconds {
        let mut interval = second(index, &mut dice, 5e6, 400);
        for _ in 0..200 {
            series.record(ids[0], answered, dice.wait_ns(login_ns), true);
            series.record(ids[1], answered, dice.wait_ns(5e6), true);
        }
        interval.series = series.take();
        writer.interval(&interval).unwrap();
        summary.observe(&interval);
    }
    summary.finish(Ended::Duration, Unfinished::default());
    let bytes = writer.finish(&summary).unwrap();
    SavedRun {
        run: RunFile::parse(Path::new(&path), bytes.as_slice()).unwrap(),
        path: path.into(),
        number: None,
    }
}

#[test]
fn a_rule_by_name_looks_at_the_requests_of_this_name_alone() {
    let rules = [
        "p95{name:login}:+50%",
        "p95{name:page}:+50%",
        "rate{name:login}:-20%",
        "p95{name:nobody}:+50%",
        "mean{name:login}:+50%",
    ];
    let rules = rules.map(|text| text.parse::<Tolerance>().unwrap());
    let sides = ([named(1, 5e6, 8)], [named(2, 15e6, 8)]);
    let found = Comparison::of_rules(&sides.0, &sides.1, &[50.0], &rules).unwrap();
    let outcomes = rules.each_ref().map(|rule| rule.judge(&found).outcome);
    use crate::CheckOutcome::{Failed, Passed, Undecided};
    assert_eq!(outcomes, [Failed, Passed, Passed, Undecided, Undecided]);
    let repeats = |seeds: [u64; 3], login_ns| seeds.map(|seed| named(seed, login_ns, 2));
    let sides = (repeats([1, 2, 3], 5e6), repeats([4, 5, 6], 15e6));
    let found = Comparison::of_rules(&sides.0, &sides.1, &[50.0], &rules).unwrap();
    assert_eq!(rules[0].judge(&found).outcome, Failed);
    let summaries = |runs: &[SavedRun]| -> Vec<Summary> {
        runs.iter()
            .map(|saved| saved.run.summary().clone())
            .collect()
    };
    let (base, with) = (summaries(&sides.0), summaries(&sides.1));
    let refs = (
        base.iter().collect::<Vec<_>>(),
        with.iter().collect::<Vec<_>>(),
    );
    let found = Comparison::of_pairs_in(&refs.0, &refs.1, &[50.0], &rules).unwrap();
    assert_eq!(rules[0].judge(&found).outcome, Failed);
}

#[test]
fn a_baseline_of_another_load_is_refused_before_the_run() {
    let base = [run(1, 5.0)];
    let plan_of = |per_second| plan(per_second, 50);
    assert_eq!(check_baseline(&base, &plan_of(400), 1), Ok(()));
    let other = check_baseline(&base, &plan_of(500), 1).unwrap_err();
    assert!(
        matches!(other, ComparisonError::OtherBaseline { .. }),
        "{other}"
    );
    let several = check_baseline(&base, &plan_of(400), 5).unwrap_err();
    assert!(matches!(
        several,
        ComparisonError::OneAgainstSeveral { base: 1, with: 5 }
    ));
}

#[test]
fn what_is_visible_is_said_of_each_rule_and_more_is_with_longer_runs() {
    let base = [run(1, 5.0)];
    let rules = ["p95:+10%", "rate:-5%", "mean:+10%"];
    let rules = rules.map(|text| text.parse::<Tolerance>().unwrap());
    let of = |seconds: u64| {
        let against = Against {
            runs: 1,
            length_ns: Some(seconds * SECOND),
        };
        let found = visible_changes(&base, &[95.0], &rules, against);
        found
            .iter()
            .map(|visible| visible.ratio)
            .collect::<Vec<_>>()
    };
    let (short, long) = (of(10), of(1_000));
    let p95 = (short[0].unwrap(), long[0].unwrap());
    assert!(1.1 < p95.1 && p95.1 < p95.0 && p95.0 < 1.5, "{p95:?}");
    assert!((0.9..=0.95).contains(&short[1].unwrap()), "{short:?}");
    assert_eq!(short[2], None);
}
