//! A test whose users run in several processes: the counts, the log and the end that it has with
//! threads.

use crate::k6::Scripts;
use crate::rig::{CommandOutput, beside_others, command, serve, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The output of the same words with threads, and on two processes.
fn on_both(scripts: &Scripts, words: &[&str]) -> [CommandOutput; 2] {
    let processes = ["run", "--processes", "2"];
    [&["run"], &processes[..]].map(|run| scripts.run(&[run, words].concat()))
}

/// The lines of the log with this text, sorted, without their instants.
fn logged(said: &CommandOutput, text: &str) -> Vec<String> {
    let lines = said.stderr.lines().filter(|line| line.contains(text));
    let untimed = |line: &str| line.split_once(" level=").map(|(_, rest)| rest.to_owned());
    let mut lines: Vec<String> = lines.filter_map(untimed).collect();
    lines.sort();
    lines
}

const ALL_OF_IT: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import { check, group } from 'k6';
    import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
    const late = __VU > 0 ? new Counter('late') : null;
    // The first initialisation is that of user 0, so that no process has its order.
    const names = __VU % 2 ? ['orders', 'baskets'] : ['baskets', 'orders'];
    const made = Object.fromEntries(names.map((name) => [name, new Counter(name)]));
    const size = new Trend('size');
    const odd = new Rate('odd');
    const last = new Gauge('last');
    export const options = {
      scenarios: {
        shared: { executor: 'shared-iterations', vus: 4, iterations: 42, exec: 'buy' },
        each: { executor: 'per-vu-iterations', vus: 5, iterations: 3, exec: 'look',
          tags: { kind: 'each' }, env: { WHERE: 'there' } },
        rate: { executor: 'constant-arrival-rate', rate: 40, duration: '1s',
          preAllocatedVUs: 4, exec: 'rated' },
      },
      thresholds: {
        orders: ['count==84'],
        'size{kind:each}': ['max<3'],
        checks: ['rate>0.7'],
        'http_reqs{name:home}': ['count==15'],
      },
    };
    export function setup() { console.log('set up'); return { price: 2 }; }
    export function buy(data) {
      made.orders.add(data.price);
      made.baskets.add(1);
      size.add(exec.scenario.iterationInTest % 7);
      odd.add(exec.scenario.iterationInTest % 2);
      last.add(7);
      group('cart', () => check(data, {
        'has a price': (given) => given.price === 2,
        'is even': () => exec.scenario.iterationInTest % 2 === 0,
      }));
    }
    export function look() {
      late.add(1);
      size.add(2);
      check(__ENV.WHERE, { 'is there': (where) => where === 'there' });
      http.get(__ENV.BASE, { tags: { name: 'home' } });
    }
    export function rated() { made.orders.add(0); }
    export function teardown(data) { console.log(`torn down ${data.price}`); }
    export function handleSummary(data) {
      console.log('summarised');
      return { [__ENV.SUMMARY]: JSON.stringify(data) };
    }";

/// The figures of a summary that do not depend on time, by metric, and the checks.
fn counts(summary: &Value) -> (Value, BTreeSet<String>) {
    let metrics = summary["metrics"].as_object().expect("metrics");
    let is_exact = |name: &str| {
        let name = name.split('{').next().unwrap_or_default();
        let exact = ["checks", "iterations", "http_reqs", "http_req_failed"];
        let own = ["orders", "baskets", "size", "odd", "last", "late"];
        exact.contains(&name) || own.contains(&name)
    };
    let of = |metric: &Value| {
        let mut figures = metric["values"].clone();
        // Of a counter, what comes in a second.
        if metric["type"] == "counter" {
            figures.as_object_mut().expect("figures").remove("rate");
        }
        json!({ "figures": figures, "thresholds": metric["thresholds"] })
    };
    let exact = metrics.iter().filter(|(name, _)| is_exact(name));
    let exact: serde_json::Map<_, _> = exact.map(|(k, v)| (k.clone(), of(v))).collect();
    let mut checks = BTreeSet::new();
    add_checks(&summary["root_group"], &mut checks);
    (exact.into(), checks)
}

fn add_checks(group: &Value, to: &mut BTreeSet<String>) {
    for check in group["checks"].as_array().into_iter().flatten() {
        let (path, passes, fails) = (&check["path"], &check["passes"], &check["fails"]);
        to.insert(format!("{path} {passes} {fails}"));
    }
    let groups = group["groups"].as_array().into_iter().flatten();
    groups.for_each(|group| add_checks(group, to));
}

#[test]
fn iterations_checks_metrics_and_thresholds_are_those_of_threads() {
    let server = serve();
    let scripts = Scripts::new(&[("all.js", ALL_OF_IT)]);
    let base = format!("BASE=http://{}", server.addr());
    for mode in ["isolated", "shared"] {
        let run = |before: &[&str], summary: &str| {
            let summary = format!("SUMMARY={summary}");
            let words = [
                "run",
                "--vu-mode",
                mode,
                "-e",
                &base,
                "-e",
                &summary,
                "all.js",
            ];
            scripts.run(&[before, &words[..]].concat())
        };
        let (one, two) = (run(&[], "one.json"), run(&["--processes", "2"], "two.json"));
        assert_eq!((one.code, two.code), (Some(0), Some(0)), "{}", two.stderr);
        let read = |name: &str| -> Value {
            let text = fs::read(scripts.path().join(name)).unwrap();
            serde_json::from_slice(&text).unwrap()
        };
        let (ones, twos) = (counts(&read("one.json")), counts(&read("two.json")));
        assert_eq!(ones, twos, "{mode}");
        assert_eq!(twos.0["orders"]["figures"]["count"], 84, "{:#}", twos.0);
        assert_eq!(twos.0["late"]["figures"]["count"], 15);
        assert!(twos.1.contains("\"::cart::is even\" 21 21"), "{:?}", twos.1);
        for (said, of) in [(&one, "threads"), (&two, "processes")] {
            for line in ["set up", "torn down 2", "summarised"] {
                assert_eq!(logged(said, line).len(), 1, "{of}: {}", said.stderr);
            }
        }
        let ended = "97 complete and 0 interrupted iterations";
        assert!(
            two.stdout.contains(ended) && one.stdout.contains(ended),
            "{}",
            two.stdout
        );
    }
    server.stop();
}

#[test]
fn users_and_iterations_have_numbers_of_their_own_over_processes() {
    let script = "import exec from 'k6/execution';
        export const options = { scenarios: {
          shared: { executor: 'shared-iterations', vus: 6, iterations: 50 },
          each: { executor: 'per-vu-iterations', vus: 2, iterations: 4, startTime: '1s' } } };
        export default function () {
          const at = exec.scenario;
          console.log(`${at.name} ${at.iterationInTest} ${__VU} ${exec.vu.idInTest} ${__ITER}`);
        }";
    let scripts = Scripts::new(&[("numbers.js", script)]);
    let said = scripts.run(&["run", "--processes", "3", "numbers.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines = logged(&said, "source=console");
    let of = |scenario: &str| -> Vec<Vec<u32>> {
        let start = format!("info msg=\"{scenario} ");
        let rest = lines.iter().filter_map(|line| line.strip_prefix(&start));
        let words = rest.map(|rest| rest.split('"').next().unwrap_or_default());
        words
            .map(|words| words.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect()
    };
    let (shared, each) = (of("shared"), of("each"));
    let shared_numbers: BTreeSet<u32> = shared.iter().map(|line| line[0]).collect();
    assert_eq!(shared_numbers, (0..50).collect(), "{}", said.stderr);
    let each_numbers: BTreeSet<u32> = each.iter().map(|line| line[0]).collect();
    assert_eq!((each.len(), each_numbers.len()), (8, 8), "{each:?}");
    for line in shared.iter().chain(&each) {
        assert!((1..=8).contains(&line[1]) && line[1] == line[2], "{line:?}");
    }
    let ids: BTreeSet<u32> = each.iter().map(|line| line[1]).collect();
    assert_eq!(ids.len(), 2, "each user has its own iterations: {each:?}");
    assert_eq!(each_numbers, (0..8).collect(), "no gap: {each:?}");
    // Each user counts its own iterations.
    let of_users: BTreeSet<(u32, u32)> = shared.iter().map(|line| (line[1], line[3])).collect();
    assert_eq!(of_users.len(), 50, "{shared:?}");
}

#[test]
fn no_number_is_left_out_where_processes_are_not_alike() {
    // Five users are no equal parts of two or three processes; those of the rate are made when they
    // are needed, each by the process that needs it.
    let script = "import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { scenarios: {
          each: { executor: 'per-vu-iterations', vus: 5, iterations: 3 },
          users: { executor: 'constant-vus', vus: 3, duration: '1s', startTime: '1s' },
          rate: { executor: 'constant-arrival-rate', rate: 40, duration: '1s', startTime: '3s',
            preAllocatedVUs: 5, maxVUs: 12 } } };
        export default function () {
          const at = exec.scenario;
          console.log(`${at.name} ${at.iterationInTest} ${exec.vu.idInTest}`);
          sleep(at.name === 'rate' ? 0.2 : 0.01 * exec.vu.idInTest);
        }
        export function teardown() {
          console.log(`ended ${exec.instance.iterationsCompleted} ${exec.instance.vusInitialized}`);
        }";
    let scripts = Scripts::new(&[("gaps.js", script)]);
    let said = scripts.run(&["run", "--processes", "3", "gaps.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines = logged(&said, "source=console");
    let of = |what: &str| -> Vec<Vec<u32>> {
        let start = format!("info msg=\"{what} ");
        let rest = lines.iter().filter_map(|line| line.strip_prefix(&start));
        let words = rest.map(|rest| rest.split('"').next().unwrap_or_default());
        words
            .map(|words| words.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect()
    };
    let (mut iterations, mut users) = (0, BTreeSet::new());
    for scenario in ["each", "users", "rate"] {
        let lines = of(scenario);
        let numbers: BTreeSet<u32> = lines.iter().map(|line| line[0]).collect();
        assert_eq!(numbers.len(), lines.len(), "{scenario}: {lines:?}");
        assert_eq!(numbers, (0..lines.len() as u32).collect(), "{scenario}");
        iterations += lines.len() as u32;
        users.extend(lines.iter().map(|line| line[1]));
    }
    let last = users.last().copied().unwrap_or_default();
    assert!(last > 5, "more users were needed: {users:?}");
    // Each number is that of a user that there is.
    let ended = of("ended");
    assert_eq!(ended[0][0], iterations);
    assert!(ended[0][1] >= last, "{ended:?} {users:?}");
}

#[test]
fn the_counts_of_the_instance_are_those_of_all_processes() {
    let script = "import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { vus: 4, iterations: 4 };
        export default function () {
          const of = exec.instance;
          // All of them are within an iteration, or have had theirs.
          while (of.vusActive + of.iterationsCompleted < 4) { sleep(0.01); }
          console.log(`together ${of.vusInitialized}`);
          while (of.iterationsCompleted < exec.scenario.iterationInTest) { sleep(0.01); }
          console.log('in turn');
        }";
    let scripts = Scripts::new(&[("instance.js", script)]);
    let [one, two] = on_both(&scripts, &["instance.js"]);
    assert_eq!((one.code, two.code), (Some(0), Some(0)), "{}", two.stderr);
    for line in ["together 4", "in turn"] {
        assert_eq!(logged(&two, line).len(), 4, "{}", two.stderr);
        assert_eq!(logged(&one, line), logged(&two, line));
    }
}

#[test]
fn a_script_that_ends_its_test_ends_it_in_all_processes() {
    let script = "import exec from 'k6/execution';
        import { sleep } from 'k6';
        export const options = { vus: 4, duration: '10m' };
        export default function () {
          if (exec.vu.idInTest === 3) { sleep(0.2); exec.test.abort('enough'); }
          sleep(600);
        }
        export function teardown() { console.log('torn down'); }";
    let scripts = Scripts::new(&[("abort.js", script)]);
    let [one, two] = on_both(&scripts, &["abort.js"]);
    assert_eq!(
        (one.code, two.code),
        (Some(108), Some(108)),
        "{}",
        two.stderr
    );
    for text in ["test aborted: enough", "torn down"] {
        assert_eq!(logged(&two, text), logged(&one, text));
        assert_eq!(logged(&two, text).len(), 1, "{}", two.stderr);
    }
    let ended = "0 complete and 4 interrupted iterations";
    assert!(two.stdout.contains(ended), "{}", two.stdout);
    assert!(one.stdout.contains(ended), "{}", one.stdout);
}

#[test]
fn a_threshold_that_aborts_looks_at_all_processes() {
    let script = "import { Counter } from 'k6/metrics';
        import { sleep } from 'k6';
        const done = new Counter('done');
        export const options = { vus: 4, duration: '10m',
          thresholds: { done: [{ threshold: 'count<4', abortOnFail: true }] } };
        export default function () { done.add(1); sleep(600); }";
    let scripts = Scripts::new(&[("threshold.js", script)]);
    let [one, two] = on_both(&scripts, &["threshold.js"]);
    assert_eq!((one.code, two.code), (Some(99), Some(99)), "{}", two.stderr);
    let crossed = "thresholds on metrics 'done' were crossed";
    assert_eq!(logged(&two, crossed), logged(&one, crossed));
    assert_eq!(logged(&two, crossed).len(), 1, "{}", two.stderr);
}

#[test]
fn what_fails_in_a_process_fails_the_test() {
    for (script, code, line) in [
        (
            "import exec from 'k6/execution';
             export const options = { vus: 4, iterations: 8 };
             export default function () {
               if (exec.scenario.iterationInTest === 5) { exec.test.fail('not good'); }
             }",
            110,
            "not good",
        ),
        (
            "export const options = { vus: 4, iterations: 8 };
             if (__VU === 4) { throw new Error('no fourth'); }
             export default function () {}",
            107,
            "no fourth",
        ),
        (
            "export const options = { scenarios: {
               each: { executor: 'per-vu-iterations', vus: 4, iterations: 2 } } };
             export default function () { if (__VU === 2) { throw new Error('no second'); } }",
            0,
            "no second",
        ),
    ] {
        let scripts = Scripts::new(&[("fails.js", script)]);
        let [one, two] = on_both(&scripts, &["fails.js"]);
        assert_eq!(
            (one.code, two.code),
            (Some(code), Some(code)),
            "{}",
            two.stderr
        );
        assert_eq!(logged(&two, line), logged(&one, line));
        assert!(!logged(&two, line).is_empty(), "{}", two.stderr);
    }
}

#[test]
fn values_files_and_secrets_cross_processes() {
    let script = "import secrets from 'k6/secrets';
        import { SharedArray } from 'k6/data';
        import { Counter } from 'k6/metrics';
        import { twice } from './twice.ts';
        const rows = new SharedArray('rows', () => JSON.parse(open('./rows.json')));
        const sum = new Counter('sum');
        export const options = { vus: 4, iterations: 12 };
        export default async function () {
          sum.add(twice(rows[0]), { row: 'first' });
          console.log(`the key is ${await secrets.get('key')}`);
        }";
    let module = "export function twice(n: number): number { return 2 * n; }";
    let files = [
        ("values.js", script),
        ("twice.ts", module),
        ("rows.json", "[21, 22]"),
    ];
    let scripts = Scripts::new(&files);
    let [one, two] = ["one.json", "two.json"].map(|file| {
        let out = format!("json={file}");
        let secret = ["--secret-source", "mock=key=hush-hush"];
        let words = [&["--out", &out], &secret[..], &["values.js"]].concat();
        let processes: &[&str] = if file == "one.json" {
            &[]
        } else {
            &["--processes", "2"]
        };
        scripts.run(&[&["run"], processes, &words[..]].concat())
    });
    assert_eq!((one.code, two.code), (Some(0), Some(0)), "{}", two.stderr);
    assert_eq!(logged(&one, "the key is"), logged(&two, "the key is"));
    assert_eq!(logged(&two, "SECRET_REDACTED").len(), 12, "{}", two.stderr);
    let values = |name: &str| -> Vec<(f64, Value)> {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let own = lines.filter(|line: &Value| line["metric"] == "sum" && line["type"] == "Point");
        own.map(|line| {
            let data = &line["data"];
            (data["value"].as_f64().unwrap(), data["tags"].clone())
        })
        .collect()
    };
    assert_eq!(values("two.json").len(), 12);
    assert_eq!(values("one.json"), values("two.json"));
    assert_eq!(values("two.json")[0].0, 42.0);
}

#[test]
fn a_process_that_is_lost_is_named_and_the_rest_is_summarised() {
    let script = "import { sleep } from 'k6';
        export const options = { vus: 4, duration: '4s' };
        export default function () { sleep(0.05); }
        export function teardown() { console.log('torn down'); }";
    let scripts = Scripts::new(&[("lost.js", script)]);
    let _beside_others = beside_others();
    let words = [
        "--processes",
        "2",
        "k6",
        "run",
        "--out",
        "loadline=a.run",
        "lost.js",
    ];
    let test = command(&words).current_dir(scripts.path()).spawn().unwrap();
    let second = second_child(test.id());
    thread::sleep(Duration::from_millis(2_300));
    let killed = Command::new("kill").args(["-KILL", &second]).status();
    assert!(killed.unwrap().success());
    let output = test.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(255), "{stderr}");
    for said in [
        "process 2 of 2 was killed by signal 9",
        "50% of the load is lost from there on",
        "what it did from there on is not in the summary",
        "torn down",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
    assert!(stdout.contains("iterations..."), "{stdout}");
    let saved = scripts.path().join("a.run");
    let report = command(&["report", text(&saved)]).output().unwrap();
    let report = String::from_utf8_lossy(&report.stdout);
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        report.contains("process 2 of 2 was killed by signal 9"),
        "{report}"
    );
}

/// The number of the second child of a process, once it is there.
fn second_child(parent: u32) -> String {
    let path = format!("/proc/{parent}/task/{parent}/children");
    loop {
        let children = fs::read_to_string(&path).unwrap();
        if let Some(second) = children.split_whitespace().nth(1) {
            return second.to_owned();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn processes_that_would_be_without_a_user_are_refused() {
    let script = "export const options = { vus: 2, iterations: 4 };
        export default function () {}";
    let scripts = Scripts::new(&[("few.js", script)]);
    for (number, said, code) in [
        (
            "3",
            "--processes 3 is more than the VUs of a scenario: give at most 2",
            255,
        ),
        (
            "0",
            "--processes takes a number of processes, at least 1, and not `0`",
            104,
        ),
        (
            "many",
            "--processes takes a number of processes, at least 1, and not `many`",
            104,
        ),
    ] {
        let found = scripts.run(&["run", "--processes", number, "few.js"]);
        assert_eq!(found.code, Some(code), "{}", found.stderr);
        assert!(found.stderr.contains(said), "{}", found.stderr);
    }
}
