use super::super::Standing;
use super::super::tests::{Dice, environment, plan, second};
use super::*;
use loadline_metrics::{RequestOutcome, SeriesRecorder, SeriesTable};
use loadline_record::{Ended, Header, RunWriter, Unfinished};
use std::path::Path;
use std::time::SystemTime;

const MS: f64 = 1e6;

/// A name, the mean of its exponential response times, and how many of its 100 requests a second
/// fail.
type Named = (&'static str, f64, u64);

/// A run of ten seconds with 100 requests a second of each name.
fn recorded(seed: u64, names: &[Named]) -> SavedRun {
    recorded_with(seed, names, &[])
}

/// The same, with requests of these ages that had no response at its end.
fn recorded_with(seed: u64, names: &[Named], ages_ns: &[u64]) -> SavedRun {
    let header = Header::new(&plan(400, 50), environment(), SystemTime::UNIX_EPOCH);
    let path = format!("{seed}.run");
    let mut writer = RunWriter::new(Path::new(&path), Vec::new(), &header).unwrap();
    let mut summary = Summary::new(header);
    let mut dice = Dice(seed);
    let mut table = SeriesTable::new(10);
    let ids: Vec<_> = names
        .iter()
        .map(|(name, ..)| table.intern(&Key::new(name).unwrap()))
        .collect();
    let mut recorder = SeriesRecorder::new(table);
    for index in 0..10 {
        let mut interval = second(index, &mut dice, 5.0 * MS, 400);
        for (id, (_, mean_ns, failing)) in ids.iter().zip(names) {
            for number in 0..100 {
                let outcome = match number < *failing {
                    true => RequestOutcome::Failed,
                    false => RequestOutcome::Answered { status: 200 },
                };
                recorder.record(*id, outcome, dice.wait_ns(*mean_ns), true);
            }
        }
        interval.series = recorder.take();
        writer.interval(&interval).unwrap();
        summary.observe(&interval);
    }
    let mut unfinished = Unfinished {
        in_flight: ages_ns.len() as u64,
        ..Unfinished::default()
    };
    for age_ns in ages_ns {
        unfinished.ages.response.record_ns(*age_ns);
        unfinished.ages.service.record_ns(*age_ns);
    }
    summary.finish(Ended::Duration, unfinished);
    let bytes = writer.finish(&summary).unwrap();
    SavedRun {
        run: RunFile::parse(Path::new(&path), bytes.as_slice()).unwrap(),
        path: path.into(),
        number: None,
    }
}

fn runs(seeds: std::ops::Range<u64>, names: &[Named]) -> Vec<SavedRun> {
    seeds.map(|seed| recorded(seed, names)).collect()
}

fn standing(found: &ComparedNames, name: &str, figure: Figure) -> Standing {
    let key = Key::new(name).unwrap();
    let named = found.common.iter().find(|named| named.key == key);
    let figures = &named.unwrap_or_else(|| panic!("{name}: {found:?}")).figures;
    figures
        .iter()
        .find(|one| one.figure == figure)
        .unwrap()
        .standing
}

#[test]
fn only_the_name_that_is_slower_is_called_so() {
    let base = [("login", 5.0 * MS, 0), ("search", 20.0 * MS, 0)];
    let with = [("login", 10.0 * MS, 0), ("search", 20.0 * MS, 0)];
    for repeats in [1, 6] {
        let found = ComparedNames::of(&runs(1..1 + repeats, &base), &runs(11..11 + repeats, &with));
        let median = Figure::Percentile(50.0);
        assert_eq!(
            standing(&found, "login", median),
            Standing::Slower,
            "{repeats}"
        );
        assert_eq!(standing(&found, "search", median), Standing::CannotTell);
        assert_eq!(
            standing(&found, "login", Figure::Rate),
            Standing::CannotTell
        );
    }
}

#[test]
fn names_of_pairs_are_compared_pair_by_pair() {
    let base = runs(1..7, &[("login", 5.0 * MS, 0)]);
    let with = runs(11..17, &[("login", 10.0 * MS, 0)]);
    let found = ComparedNames::of_pairs(&summaries(&base), &summaries(&with));
    assert_eq!(
        standing(&found, "login", Figure::Percentile(50.0)),
        Standing::Slower
    );
}

#[test]
fn names_of_one_side_are_listed_and_failures_counted() {
    let base = [("login", 5.0 * MS, 10), ("old", MS, 0)];
    let with = [("login", 5.0 * MS, 0), ("new", MS, 0)];
    let found = ComparedNames::of(&runs(1..2, &base), &runs(2..3, &with));
    let only = |keys: &[Key]| keys.iter().map(Key::to_string).collect::<Vec<_>>();
    assert_eq!(only(&found.only_base), ["old"]);
    assert_eq!(only(&found.only_with), ["new"]);
    let [login] = &found.common[..] else {
        panic!("{found:?}")
    };
    assert_eq!((login.base_failed, login.with_failed), (0.1, 0.0));
}

#[test]
fn urls_of_two_hosts_are_compared_by_path() {
    let base = [
        ("http://a:1/x", 5.0 * MS, 0),
        ("POST http://a:1/y", 5.0 * MS, 0),
    ];
    let with = [
        ("http://b/x", 5.0 * MS, 0),
        ("POST http://b/y", 5.0 * MS, 0),
    ];
    let found = ComparedNames::of(&runs(1..2, &base), &runs(2..3, &with));
    let mut names: Vec<String> = found.common.iter().map(|one| one.key.to_string()).collect();
    names.sort();
    assert_eq!(names, ["/x", "POST /y"]);
    assert!(found.only_base.is_empty() && found.only_with.is_empty());
}

#[test]
fn a_percentile_needs_its_samples_and_a_name_its_series() {
    // Failed requests have no times here: ten are left.
    let few = runs(1..2, &[("login", 5.0 * MS, 99)]);
    let many = runs(2..3, &[("login", 5.0 * MS, 0)]);
    let figures = |base, with| -> Vec<Figure> {
        let found = ComparedNames::of(base, with);
        found.common[0]
            .figures
            .iter()
            .map(|one| one.figure)
            .collect()
    };
    let (median, p99) = (Figure::Percentile(50.0), Figure::Percentile(99.0));
    assert_eq!(figures(&many, &many), [median, p99, Figure::Rate]);
    assert_eq!(figures(&few, &many), [median, Figure::Rate]);
    let nameless = runs(3..4, &[]);
    assert!(ComparedNames::of(&few, &nameless).is_empty());
}

#[test]
fn equal_names_are_called_different_in_one_comparison_of_twenty_at_most() {
    let names: Vec<Named> = ["a", "b", "c", "d"]
        .map(|name| (name, 5.0 * MS, 0))
        .to_vec();
    let differs = |pair: &u64| {
        let found = ComparedNames::of(
            &runs(2 * pair..2 * pair + 1, &names),
            &runs(2 * pair + 1..2 * pair + 2, &names),
        );
        let mut figures = found.common.iter().flat_map(|name| &name.figures);
        figures.any(|figure| figure.standing != Standing::CannotTell)
    };
    let different = (1..41).filter(differs).count();
    assert!(different <= 4, "{different} of 40");
}

#[test]
fn a_percentile_is_left_out_that_requests_without_a_response_could_move() {
    let names = [("login", 5.0 * MS, 0)];
    let figures = |with: SavedRun| {
        let found = ComparedNames::of(&runs(1..2, &names), &[with]);
        (found.common[0].figures.len(), found.open_percentiles)
    };
    let (young, old) = (MS as u64, 5_000 * MS as u64);
    assert_eq!(figures(recorded_with(2, &names, &[young; 50])), (3, 0));
    // Of a thousand times ten lie beyond the p99: one more may, two may not.
    assert_eq!(figures(recorded_with(2, &names, &[old; 1])), (3, 0));
    assert_eq!(figures(recorded_with(2, &names, &[old; 2])), (2, 1));
    assert_eq!(figures(recorded_with(2, &names, &[old; 60])), (1, 2));
}
