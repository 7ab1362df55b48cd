//! What is said of a run: on the screen while it lasts, in the summaries at its end.

use crate::k6::Scripts;
use std::fs;

/// One that uses what most scripts use, without a server.
const LIFECYCLE: &str = "
    import { check, group, sleep } from 'k6';
    import { Counter, Trend } from 'k6/metrics';
    const times = new Trend('times', true), seen = new Counter('seen');
    export const options = {
      scenarios: {
        a: { executor: 'per-vu-iterations', vus: 2, iterations: 3 },
        b: { executor: 'shared-iterations', iterations: 4, exec: 'other', startTime: '1500ms' },
      },
      thresholds: { checks: ['rate>0.5'], 'seen{kind:x}': ['count>=2'], iterations: ['count<2'] },
    };
    export function setup() { return { number: 7 }; }
    export default function (data) {
      group('outer', () => {
        check(data, { 'it is seven': (d) => d.number === 7, 'it is eight': (d) => d.number === 8 });
        seen.add(1, { kind: 'x' });
      });
      times.add(12.5);
      sleep(0.1);
    }
    export function other() { console.log(`hello ${__ENV.WHO}`); }
    export function teardown(data) { console.warn('bye', JSON.stringify(data)); }
";

/// A text in which figures, times of the log and places in scripts look alike. The engines count
/// columns differently: k6 has the name, QuickJS the bracket.
fn shape(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = match line.split_once(" level=") {
            Some((_, rest)) => format!("level={rest}"),
            None => line.to_owned(),
        };
        let words = line.split(' ').filter(|word| !word.is_empty());
        let words = words.map(|word| match word.contains(".js:") {
            true => masked(word.split(".js:").next().unwrap_or_default()),
            false => masked(word),
        });
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Each figure with its unit as `N`.
fn masked(word: &str) -> String {
    let mut masked = String::new();
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_digit() {
            masked.push(letter);
            continue;
        }
        while letters
            .next_if(|next| next.is_ascii_digit() || ".µnms%".contains(*next))
            .is_some()
        {}
        masked.push('N');
    }
    masked
}

#[test]
fn a_run_says_what_the_real_k6_says() {
    let scripts = Scripts::new(&[("lifecycle.js", LIFECYCLE)]);
    let words = ["run", "-e", "WHO=you", "lifecycle.js"];
    let ours = scripts.run(&words);
    assert_eq!(ours.code, Some(99), "{}", ours.stderr);
    assert_eq!(ours.stderr.matches("msg=\"hello you\"").count(), 4);
    assert!(ours.stdout.contains("✗ it is eight"), "{}", ours.stdout);
    if let Some(theirs) = scripts.real(&words) {
        assert_eq!(theirs.code, ours.code);
        assert_eq!(shape(&theirs.stderr), shape(&ours.stderr));
        assert_eq!(shape(&theirs.stdout), shape(&ours.stdout));
    }
}

#[test]
fn a_summary_goes_where_the_script_and_the_command_line_say() {
    let script = "export default function () {}
        export function setup() { return [1]; }
        export function handleSummary(data) {
          return { stdout: `${data.metrics.iterations.values.count} ${data.setup_data}\\n`,
                   'own.json': JSON.stringify(data), 'no/such/folder': 'x' };
        }";
    let scripts = Scripts::new(&[("own.js", script)]);
    let said = scripts.run(&[
        "run",
        "-q",
        "-i",
        "3",
        "--summary-export",
        "out.json",
        "own.js",
    ]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "3 1\n"));
    assert!(
        said.stderr.contains("could not open 'no/such/folder'"),
        "{}",
        said.stderr
    );
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(read("out.json")["metrics"]["iterations"]["count"], 3);
    assert_eq!(read("own.json")["metrics"]["iterations"]["type"], "counter");
}

#[test]
fn the_legacy_summary_is_that_of_the_real_k6() {
    let scripts = Scripts::new(&[("lifecycle.js", LIFECYCLE)]);
    let words = ["run", "-q", "-e", "WHO=you", "--summary-mode", "legacy"];
    let words = [&words[..], &["lifecycle.js"]].concat();
    let ours = scripts.run(&words);
    assert_eq!(ours.code, Some(99), "{}", ours.stderr);
    for text in [
        "     █ outer\n\n       ✓ it is seven\n",
        "   ✗ iterations.....",
    ] {
        assert!(ours.stdout.contains(text), "{}", ours.stdout);
    }
    if let Some(theirs) = scripts.real(&words) {
        assert_eq!(shape(&theirs.stdout), shape(&ours.stdout));
    }
}

/// The metrics of a newer summary: their names, types and figures.
fn newer_metrics(json: &serde_json::Value) -> Vec<String> {
    let metrics = json["results"]["metrics"].as_array().unwrap();
    let named = metrics.iter().map(|metric| {
        let values = metric["values"].as_object().unwrap();
        let mut values: Vec<&str> = values.keys().map(String::as_str).collect();
        values.sort_unstable();
        format!("{} {} {values:?}", metric["name"], metric["type"])
    });
    let mut names: Vec<String> = named.collect();
    names.sort();
    names
}

#[test]
fn the_newer_summary_has_what_the_real_k6_has() {
    let scripts = Scripts::new(&[("lifecycle.js", LIFECYCLE)]);
    let words = |export: &'static str| {
        let words = ["run", "-q", "-e", "WHO=you", "--summary-export", export];
        let newer = ["--new-machine-readable-summary", "lifecycle.js"];
        [&words[..], &newer].concat()
    };
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let ours = scripts.run(&words("ours.json"));
    assert_eq!(ours.code, Some(99), "{}", ours.stderr);
    let newer = read("ours.json");
    assert_eq!(newer["version"], "1.0.0");
    let total = &newer["results"]["checks"]["metrics"][0];
    assert_eq!(total["values"]["count"], 12);
    if scripts.real(&words("theirs.json")).is_some() {
        assert_eq!(newer_metrics(&read("theirs.json")), newer_metrics(&newer));
    }
}
