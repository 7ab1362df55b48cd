//! Plan files with several scenarios: exact counts of each, its rows in every report, and what is
//! refused.

use crate::rig::{loadline, serve, summary, text};
use serde_json::Value;
use std::path::Path;

/// Two loads of requests and a script, beside each other.
fn write_plan(folder: &Path, address: &str) -> std::path::PathBuf {
    let script = folder.join("visit.lua");
    std::fs::write(
        &script,
        "request = function() return wrk.format('GET', '/visit') end",
    )
    .unwrap();
    let plan = folder.join("shop.toml");
    let keys = format!(
        "threads = 1\nduration = '1s'\nurl = 'http://{address}/'\n\
         [[scenario]]\nname = 'browse'\nrate = 50\nconnections = 2\n\
         url = ['http://{address}/a', 'http://{address}/b']\n\
         [[scenario]]\nname = 'order'\nrequests = 30\nconnections = 3\nstart = '200ms'\n\
         tags = {{ team = 'shop' }}\n\
         [[scenario]]\nname = 'visit'\nscript = '{}'\nconnections = 2\n\
         iterations_per_user = 4\n",
        script.display()
    );
    std::fs::write(&plan, keys).unwrap();
    plan
}

fn answered(summary: &Value, name: &str, scenario: &str) -> u64 {
    let rows = summary["names"].as_array().expect("names");
    let own = rows.iter().find(|row| {
        row["name"].as_str().is_some_and(|own| own.ends_with(name))
            && row["tags"]["scenario"] == scenario
    });
    own.unwrap_or_else(|| panic!("no {name} of {scenario} in {rows:#?}"))["answered"]
        .as_u64()
        .unwrap()
}

#[test]
fn each_scenario_has_its_exact_counts_and_rows_in_every_report() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = write_plan(folder.path(), &server.addr().to_string());
    let [saved, log] = ["a.run", "log.csv"].map(|name| folder.path().join(name));
    let found = summary(&[text(&plan), "--save", text(&saved), "--log", text(&log)]);
    let log = std::fs::read_to_string(&log).unwrap();
    for (end, count) in [("/a", 25), ("/b", 25), ("/", 30), (",,", 8)] {
        let rows = log.lines().filter(|row| row.ends_with(end));
        assert_eq!(rows.count(), count, "{end} in {log}");
    }
    assert_eq!(answered(&found, "(all)", "browse"), 50);
    assert_eq!(answered(&found, "/a", "browse"), 25);
    assert_eq!(answered(&found, "/", "order"), 30);
    assert_eq!(answered(&found, "/", "visit"), 8);
    let report = |words: &[&str]| loadline(&[&["report", text(&saved)], words].concat()).stdout;
    let shown = report(&[]);
    assert!(
        shown.contains("scenario     browse: open loop: 50/s"),
        "{shown}"
    );
    assert!(shown.contains("(all){scenario:browse}"), "{shown}");
    let again: Value = serde_json::from_str(&report(&["-o", "json"])).unwrap();
    assert_eq!(again["summary"]["names"], found["names"]);
    assert!(report(&["-o", "csv"]).contains("(all){scenario:browse}"));
}

#[test]
fn what_contradicts_scenarios_is_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let plan = write_plan(folder.path(), "127.0.0.1:1");
    for (words, expected) in [
        (
            vec![text(&plan), "-r", "5"],
            "--rate contradicts the plan's scenarios",
        ),
        (
            vec!["capacity", text(&plan)],
            "a search changes the one load of its trials",
        ),
    ] {
        let refused = loadline(&words);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    }
    for (keys, expected) in [
        (
            "name = 'a'\n[[scenario]]\nname = 'a'",
            "two scenarios have the name a",
        ),
        ("rate = 5", "a scenario needs a name"),
        ("name = \"a\\u0007b\"", "has a control character"),
        (
            "name = 'a'\ntags = { team = \"a\\tb\" }",
            "has a control character",
        ),
        ("name = 'a'\nthreads = 2", "it belongs to the whole run"),
        ("name = 'a'\nweight = 0", "its weight leaves it no user"),
        (
            "name = 'a'\nweight = 2\nrate = 5",
            "a scenario with a weight takes its users of the run's connections; leave out rate",
        ),
        (
            "name = 'a'\nweight = 100\n[[scenario]]\nname = 'b'\nweight = 1",
            "its weight leaves it no user; give more --connections",
        ),
        (
            "name = 'a'\niterations_per_user = 2\nrate = 5",
            "a number of users that stays",
        ),
        (
            "name = 'a'\ntags = { scenario = 'b' }",
            "the tag scenario is the scenario's name",
        ),
        (
            "name = 'a'\nurl = 'b/'",
            "no scenario takes the URL http://127.0.0.1:1/",
        ),
        (
            "name = 'a'\nthink = '1s'\nrate = 5",
            "--think pauses the users of a closed loop",
        ),
    ] {
        std::fs::write(
            &plan,
            format!("url = '127.0.0.1:1'\n[[scenario]]\n{keys}\n"),
        )
        .unwrap();
        let refused = loadline(&[text(&plan)]);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
}

#[test]
fn a_check_looks_at_one_scenario() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("shop.toml");
    let keys = format!(
        "threads = 1\n\
         [[scenario]]\nname = 'good'\nurl = 'http://{0}/'\nrequests = 200\n\
         tags = {{ team = 'a' }}\n\
         [[scenario]]\nname = 'bad'\nurl = 'http://{0}/?status=503'\nrequests = 200\n",
        server.addr()
    );
    std::fs::write(&plan, keys).unwrap();
    let exit = |check: &str| {
        let said = loadline(&[text(&plan), "--allow-invalid", "--check", check]);
        (said.code, said.stderr)
    };
    assert_eq!(exit("5xx{scenario:good}<2%").0, Some(0));
    assert_eq!(exit("5xx{team:a}<2%").0, Some(0));
    assert_eq!(exit("5xx{scenario:bad}<2%").0, Some(1));
    assert_eq!(exit("5xx<2%").0, Some(1));
    let (code, said) = exit("5xx{scenario:other}<2%");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("the tags are scenario:bad, scenario:good, team:a"),
        "{said}"
    );
}

#[test]
fn classes_of_users_take_the_connections_of_the_run_by_weight() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("shop.toml");
    let keys = format!(
        "threads = 1\nconnections = 8\nurl = 'http://{}/'\n\
         [[scenario]]\nname = 'browse'\nweight = 3\niterations_per_user = 5\n\
         [[scenario]]\nname = 'order'\nweight = 1\niterations_per_user = 5\n",
        server.addr()
    );
    std::fs::write(&plan, keys).unwrap();
    let found = summary(&[text(&plan)]);
    assert_eq!(answered(&found, "/", "browse"), 30);
    assert_eq!(answered(&found, "/", "order"), 10);
}
