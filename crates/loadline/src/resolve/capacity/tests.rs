use super::*;
use crate::flags;
use loadline_plan::{Arrivals, Shape};

fn search(words: &str) -> Result<Search, String> {
    resolved(&format!("{words} http://127.0.0.1:1/"))
}

fn resolved(words: &str) -> Result<Search, String> {
    let flags: CapacityFlags = flags::parse_planned(words.split_whitespace().map(Into::into))
        .map_err(|e| e.to_string())?;
    let surroundings = RunEnvironment {
        cores: 2,
        open_files: 4_096,
        seed: 7,
        stdin: &mut std::io::empty(),
    };
    resolve_search(flags, surroundings).map_err(|error| error.to_string())
}

fn refusal(words: &str) -> String {
    search(words).expect_err(words)
}

#[test]
fn nothing_said_is_a_search_for_the_rate_by_the_usual_checks() {
    let search = search("").expect("a search");
    let plan = &search.run.plan;
    assert!(search.usual_checks && search.floor && !search.users);
    let checks: Vec<&str> = plan.checks.iter().map(|check| &*check.text).collect();
    assert_eq!(checks, USUAL_CHECKS);
    assert_eq!(plan.load.max_users, 1_000);
    assert_eq!(plan.warmup, Duration::from_secs(5));
    let Settings {
        lowest,
        highest,
        first,
        checks,
        ..
    } = search.settings;
    assert_eq!((lowest, highest, first, checks), (1.0, 1e6, 100.0, 3));
}

#[test]
fn what_is_said_of_a_run_is_said_of_each_trial() {
    let words = "--check p99<50ms -c 10 --arrivals poisson -d 1s --min-rate 200 --max-rate 5k";
    let search = search(words).expect("a search");
    let load = &search.run.plan.load;
    assert_eq!((load.users, load.max_users), (10, 1_000));
    let poisson = Arrivals::Poisson;
    assert!(matches!(load.shape, Shape::Rate { arrivals, .. } if arrivals == poisson));
    let settings = &search.settings;
    assert_eq!((settings.lowest, settings.highest), (200.0, 5_000.0));
    assert_eq!((settings.first, settings.trial_s), (200.0, 1.0));
    assert!(!search.usual_checks);
}

#[test]
fn failures_count_whatever_is_checked() {
    let checks = |words: &str| {
        let search = search(words).expect("a search");
        let checks = &search.run.plan.checks;
        let checks: Vec<String> = checks.iter().map(|check| check.text.clone()).collect();
        assert_eq!(search.settings.checks, checks.len());
        (checks.join(" "), search.errors_added)
    };
    let added = ("p99<50ms errors<1%".to_owned(), true);
    assert_eq!(checks("--check p99<50ms"), added);
    let own = ("p99<50ms errors<5%".to_owned(), false);
    assert_eq!(checks("--check p99<50ms --check errors<5%"), own);
    assert!(!checks("").1);
}

#[test]
fn the_first_rate_has_the_requests_of_the_highest_percentile() {
    let first = |words: &str| search(words).expect("a search").settings.first;
    assert_eq!(first("--check p99<50ms"), 100.0);
    assert_eq!(first("--check p99.9<50ms"), 100.0);
    assert_eq!(first("--check p95<50ms"), 20.0);
    assert_eq!(first("--check mean<50ms"), 10.0);
    assert_eq!(first("--check p99<50ms --max-rate 40"), 40.0);
}

#[test]
fn rates_below_one_a_second_may_be_tried() {
    let settings = search("--min-rate 0.1").expect("a search").settings;
    assert_eq!(settings.lowest, 0.1);
    assert!(refusal("--min-rate 0").starts_with("--min-rate"));
}

#[test]
fn two_minutes_and_five_percent_are_usual() {
    let settings = search("").expect("a search").settings;
    let usual = (Settings::BUDGET_S, Settings::WIDTH, Settings::TRIALS);
    assert_eq!((settings.budget_s, settings.width, settings.trials), usual);
}

#[test]
fn users_are_counted_from_one() {
    let search = search("--users --max-users 64").expect("a search");
    let settings = &search.settings;
    assert_eq!(
        (settings.lowest, settings.first, settings.highest),
        (1.0, 1.0, 64.0)
    );
    assert_eq!(search.run.plan.load.shape, Shape::Closed);
}

#[test]
fn what_the_search_decides_is_refused() {
    for flag in [
        "rate 5",
        "requests 5",
        "stages 1s:5",
        "burst 5/1s",
        "log a",
        "repeat 3",
        "until decided",
    ] {
        let name = flag.split(' ').next().unwrap();
        let refused = refusal(&format!("--{flag}"));
        assert!(
            refused.starts_with(&format!("the search itself decides --{name}")),
            "{refused}"
        );
    }
    assert!(refusal("--abort-on p99<1s").starts_with("the search itself decides --abort-on"));
    assert!(refusal("--users -c 5").starts_with("--connections contradicts --users"));
    assert!(refusal("-o csv").starts_with("csv shows single runs"));
    assert!(refusal("-o sqlite=a.db").starts_with("sqlite shows single runs"));
}

#[test]
fn a_range_or_a_budget_that_leaves_nothing_is_refused() {
    let refused = refusal("--min-rate 5k --max-rate 5k");
    assert!(
        refused.starts_with("--min-rate 5000/s is not below"),
        "{refused}"
    );
    assert!(refusal("--users --max-users 1").starts_with("--max-users 1 leaves"));
    assert!(refusal("--max-users 5").starts_with("--max-users limits a search"));
    assert!(refusal("--trials 0").starts_with("--trials 0 decides"));
    let refused = refusal("--budget 10s");
    assert!(
        refused.starts_with("--budget 10s is too short"),
        "{refused}"
    );
    assert!(refusal("--check p99<0ms").contains("it can never pass"));
    for more in ["rate>=100", "p99>1ms"] {
        let refused = refusal(&format!("--check {more}"));
        assert!(
            refused.contains("needs upper bounds; give one"),
            "{refused}"
        );
    }
}

/// A search of a locustfile's users.
fn of_locustfile(words: &str) -> Result<Search, String> {
    resolved(&format!("--users -f locustfile.py {words}"))
}

#[test]
fn a_locustfile_is_searched_for_the_number_of_its_users() {
    let search = of_locustfile("-H http://127.0.0.1:8001 -- Visitor -T fast").expect("a search");
    let locust = search.locust.expect("a locustfile");
    assert_eq!(locust.file, "locustfile.py");
    assert_eq!(locust.host.as_deref(), Some("http://127.0.0.1:8001"));
    assert_eq!(locust.options, ["Visitor", "-T", "fast"]);
    assert!(search.users && !search.floor && search.settings.users_keep_pace);
    assert_eq!(search.settings.budget_s, 300.0);
    let checks = &search.run.plan.checks;
    let checks: Vec<&str> = checks.iter().map(|check| &*check.text).collect();
    assert_eq!(checks, USUAL_CHECKS_OF_LOCUSTFILE);
    let script = search
        .run
        .plan
        .script
        .expect("it stands for the locustfile");
    assert_eq!(script.path, PathBuf::from("locustfile.py"));
}

#[test]
fn with_checks_nobody_asks_for_the_users_pace() {
    let search = of_locustfile("--host http://127.0.0.1:1 --check p99<50ms").expect("a search");
    assert!(!search.settings.users_keep_pace);
    assert!(search.locust.is_some_and(|locust| locust.host.is_some()));
    assert!(
        of_locustfile("")
            .expect("its class may name the host")
            .locust
            .is_some()
    );
}

#[test]
fn what_does_not_go_with_a_locustfile_is_refused() {
    for (words, said) in [
        ("http://127.0.0.1:1/", "a URL beside it is one too many"),
        (
            "-H Accept:text",
            "-H Accept:text is not the host of a locustfile",
        ),
        ("-H 127.0.0.1:8001", "-H 127.0.0.1:8001 is not the host"),
        (
            "-X POST",
            "--method says what the locustfile does by itself",
        ),
        (
            "--think 1s",
            "--think says what the locustfile does by itself",
        ),
        ("-k", "--insecure says what the locustfile does by itself"),
        ("-c 4", "--connections contradicts --users"),
    ] {
        let refusal = of_locustfile(words).expect_err(words);
        assert!(refusal.contains(said), "{words}: {refusal}");
    }
    for (words, said) in [
        ("-f locustfile.py -H http://127.0.0.1:1", "add --users"),
        (
            "--users http://127.0.0.1:1/ --host http://127.0.0.1:1",
            "--host belongs to a locustfile",
        ),
        (
            "--users http://127.0.0.1:1/ -- -T fast",
            "what follows -- belongs to a locustfile",
        ),
    ] {
        let refusal = resolved(words).expect_err(words);
        assert!(refusal.contains(said), "{words}: {refusal}");
    }
}
