//! The loading and the parts of a script's run.

use crate::ran::{Amount, in_both_modes, load, run, run_program, run_shared_stage, run_stage};
use loadline_script_js::{Abort, Failure, Stage, StageKind, Summary};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_script_waits_wherever_it_wants_and_checks() {
    in_both_modes(|| {
        let ran = run(
            "import { check, sleep, group } from 'k6';
         export default function () {
             const sorted = [3, 1, 2].sort((a, b) => { sleep(0.001); return a - b; });
             group('outer', () => check(sorted, {
                 sorted: (all) => all.join() === '1,2,3',
                 wrong: false,
             }));
             console.log('user', __VU, 'iteration', __ITER, __ENV.NAME, { a: [1, 'x', null] });
         }",
            Amount {
                iterations: 2,
                ..Amount::ONCE
            },
        );
        let line = |iteration| {
            format!("Info user 1 iteration {iteration} value {{ a: [ 1, \"x\", null ] }}")
        };
        assert_eq!(ran.log, [line(0), line(1)]);
        assert_eq!((ran.complete, ran.interrupted), (2, 0));
        let counts = |name: &str| {
            let checks = ran.totals.tally.checks().iter();
            let mut of_name = checks.filter(|check| check.name == name);
            of_name
                .next()
                .map(|check| (check.group.as_str(), check.passes, check.fails))
        };
        assert_eq!(counts("sorted"), Some(("::outer", 2, 0)));
        assert_eq!(counts("wrong"), Some(("::outer", 0, 2)));
    });
}

#[test]
fn an_iteration_lasts_until_nothing_is_left_that_it_began() {
    in_both_modes(|| {
        let ran = run(
            "import { setTimeout, setInterval, clearInterval } from 'k6/timers';
         export default async function () {
             setTimeout((word) => console.log('timer', word), 5, 'fired');
             let left = 3;
             const every = setInterval(() => {
                 console.log('left', --left);
                 if (left === 0) clearInterval(every);
             }, 1);
             await Promise.resolve();
             console.log('continued');
         }",
            Amount::ONCE,
        );
        assert_eq!(ran.log[0], "Info continued");
        let count = |word: &str| ran.log.iter().filter(|line| line.contains(word)).count();
        assert_eq!((count("left"), count("timer fired")), (3, 1));
        assert_eq!(ran.complete, 1);
    });
}

#[test]
fn exceptions_and_rejections_end_an_iteration_and_are_logged_with_their_place() {
    in_both_modes(|| {
        let ran = run(
            "function deep() {\n  throw new TypeError('boom');\n}\n\
         export default function () { deep(); }",
            Amount::ONCE,
        );
        let expected = "Error TypeError: boom\n\tat deep (file:///s/main.js:2:";
        assert!(ran.log[0].starts_with(expected), "{}", ran.log[0]);
        assert!(
            ran.log[0].contains("\n\tat default (file:///s/main.js:4:"),
            "{}",
            ran.log[0]
        );
        assert_eq!(ran.complete, 1);

        let ran = run(
            "export default function () { const list = 3; return [...list()]; }",
            Amount::ONCE,
        );
        let expected = "Error TypeError: not a function\n";
        assert!(ran.log[0].starts_with(expected), "{}", ran.log[0]);

        let ran = run(
            "export default function () { Promise.reject(new Error('late')); }",
            Amount::ONCE,
        );
        assert!(
            ran.log[0].starts_with("Error Uncaught (in promise) Error: late"),
            "{}",
            ran.log[0]
        );
        let ran = run(
            "export default function () { Promise.reject(1).catch(() => {}); }",
            Amount::ONCE,
        );
        assert!(ran.log.is_empty(), "{:?}", ran.log);
    });
}

#[test]
fn modules_of_all_kinds_find_each_other() {
    in_both_modes(|| {
        let (program, log) = load(&[
            (
                "main.ts",
                "import { twice } from './lib/twice.js';
             import common, { three } from './common.js';
             import type { Nothing } from './nothing';
             const text: string = open('./lib/data.txt');
             enum Kind { A = 7 }
             export const options = { vus: 2, thresholds: { checks: ['rate>0.9'] } };
             export function setup(): object { return { at: new Date(0), none: undefined }; }
             export default function (): void {
                 console.log(twice(4), three, common.four, text, Kind.A);
             }",
            ),
            ("lib/twice.js", "export const twice = (x) => 2 * x;"),
            (
                "common.js",
                "const { check } = require('k6');
             exports.three = 3; exports.four = typeof check;",
            ),
            ("lib/data.txt", "data"),
        ]);
        let program = program.unwrap();
        assert_eq!(
            program.options(),
            Some(r#"{"thresholds":{"checks":["rate>0.9"]},"vus":2}"#)
        );
        assert!(program.has("default") && program.has("setup") && !program.has("teardown"));
        let ran = run_program(&program, &log, Amount::ONCE);
        assert_eq!(ran.log, ["Info 8 3 function data 7"]);
    });
}

#[test]
fn what_setup_gives_is_json_for_the_others() {
    in_both_modes(|| {
        let (program, log) = load(&[(
            "main.js",
            "export function setup() { return { at: new Date(0), none: undefined, n: 1 }; }
         export default function (data) { data.n += 1; console.log(data.n, data.none); }
         export function teardown(data) { console.log('end', data.n); }",
        )]);
        let program = program.unwrap();
        let stage = Stage::new;
        let ran = run_stage(
            &program,
            &log,
            Amount::ONCE,
            stage("setup", StageKind::Setup),
            None,
        );
        let data = ran.state.setup_data.json().unwrap();
        assert_eq!(&*data, r#"{"at":"1970-01-01T00:00:00Z","n":1,"none":null}"#);
        let kind = StageKind::Scenario(loadline_script_js::Scenario::new("s", "per-vu-iterations"));
        let twice = Amount {
            iterations: 2,
            ..Amount::ONCE
        };
        run_stage(&program, &log, twice, stage("default", kind), Some(&data));
        let stage = stage("teardown", StageKind::Teardown);
        let ran = run_stage(&program, &log, Amount::ONCE, stage, Some(&data));
        assert_eq!(ran.log, ["Info 2 null", "Info 3 null", "Info end 1"]);
    });
}

#[test]
fn setup_data_without_a_form_ends_the_run() {
    in_both_modes(|| {
        let (program, log) = load(&[(
            "main.js",
            "export function setup() { return { f: () => 1 }; } export default () => {};",
        )]);
        let stage = Stage::new("setup", StageKind::Setup);
        let ran = run_stage(&program.unwrap(), &log, Amount::ONCE, stage, None);
        let expected = Failure::SetupData(
            "json: unsupported type: func(sobek.FunctionCall) sobek.Value".to_owned(),
        );
        assert_eq!(ran.failure, Some(expected));
        assert_eq!(ran.aborted, Some(Abort::Failed));
    });
}

#[test]
fn what_cannot_be_loaded_is_told() {
    in_both_modes(|| {
        let failure = |files: &[(&str, &str)]| load(files).0.unwrap_err().to_string();
        let unknown = failure(&[("main.js", "import 'lodash'; export default () => {};")]);
        assert!(
            unknown.contains("The moduleSpecifier \"lodash\" couldn't be"),
            "{unknown}"
        );
        let missing = failure(&[("main.js", "import './other.js'; export default () => {};")]);
        let expected = "The moduleSpecifier \"./other.js\" couldn't be found on local disk.";
        assert!(missing.starts_with(expected), "{missing}");
        let syntax = failure(&[("main.js", "export default function ( {")]);
        assert!(syntax.starts_with("file:///s/main.js: Line 1:"), "{syntax}");
        let thrown = failure(&[("main.js", "\nthrow new Error('early');\nexport default 1;")]);
        assert!(thrown.starts_with("Error: early\n\tat "), "{thrown}");
        assert!(thrown.contains("main.js:2:"), "{thrown}");
        let later = failure(&[(
            "main.js",
            "import ws from 'k6/ws'; export default () => {};",
        )]);
        assert!(later.contains("is not supported yet"), "{later}");
    });
}

#[test]
fn a_script_may_end_its_run() {
    in_both_modes(|| {
        let forever = Amount {
            users: 3,
            iterations: u64::MAX,
            within: Duration::from_secs(60),
        };
        let ran = run(
            "import exec from 'k6/execution';
         import { sleep } from 'k6';
         export default function () {
             if (exec.vu.idInTest === 2) exec.test.abort('enough');
             try { sleep(50); } finally { console.log('must not run'); }
         }",
            forever,
        );
        let Some(Abort::Requested(said)) = &ran.aborted else {
            panic!("{:?}", ran.aborted);
        };
        let expected = "test aborted: enough at default (file:///s/main.js:4:";
        assert!(said.starts_with(expected), "{said}");
        // Users that start too late begin no iteration.
        assert_eq!(ran.complete, 0);
        assert!((1..=3).contains(&ran.interrupted), "{}", ran.interrupted);
        assert!(ran.log.is_empty(), "{:?}", ran.log);
    });
}

#[test]
fn a_summary_is_handled_by_the_script() {
    in_both_modes(|| {
        let handled = |body: &str| {
            let script = format!(
                "import {{ sleep }} from 'k6';
                 export default () => {{}};
                 export async function handleSummary(data) {{ {body} }}"
            );
            let (program, log) = load(&[("main.js", &script)]);
            let summary = Summary::of(r#"{"metrics":{"x":5}}"#.to_owned());
            let stage = Arc::new(Stage::new("handleSummary", StageKind::Summary(summary)));
            let program = program.expect("a script");
            let ran = run_shared_stage(&program, &log, Amount::ONCE, &stage, None);
            (stage.summary_files().cloned(), ran.failure)
        };
        let files = vec![
            ("stdout".to_owned(), b"5!".to_vec()),
            ("a.bin".to_owned(), vec![1, 2]),
        ];
        let both = "sleep(0.001);
            return { stdout: `${data.metrics.x}!`, 'a.bin': new Uint8Array([1, 2]).buffer };";
        assert_eq!(handled(both), (Some(files), None));
        assert_eq!(handled("return null"), (None, None));
        for (body, problem) in [
            (
                "return 5",
                "handleSummary() should return a map with string keys",
            ),
            (
                "return [1]",
                "handleSummary() should return a map with string keys",
            ),
            (
                "return { a: 'x', b: 5 }",
                "error handling summary object b: invalid type int64, it needs to be a string or \
                 ArrayBuffer",
            ),
            ("return { get a() { throw new Error('no'); } }", "Error: no"),
        ] {
            let failure = Failure::SummaryFiles(problem.to_owned());
            assert_eq!(handled(body), (None, Some(failure)), "{body}");
        }
    });
}

#[test]
fn places_are_those_of_the_file_that_somebody_wrote() {
    in_both_modes(|| {
        let map = r#"{"version":3,"sources":["written.ts"],"names":[],"mappings":"AAEA"}"#;
        let (program, log) = load(&[
            (
                "main.js",
                "export default function () { throw new Error('boom'); }\n\
             //# sourceMappingURL=main.js.map\n",
            ),
            ("main.js.map", map),
        ]);
        let ran = run_program(&program.expect("a script"), &log, Amount::ONCE);
        let expected = "Error Error: boom\n\tat default (file:///s/written.ts:3:1)";
        assert!(ran.log[0].starts_with(expected), "{}", ran.log[0]);
    });
}

#[test]
fn errors_of_k6_are_of_its_own_class() {
    in_both_modes(|| {
        let ran = run(
            "import { check, fail, group, sleep } from 'k6';
         function of(run) {
             try { console.log(run()); } catch (e) { console.log(`${e}`, e instanceof GoError); }
         }
         export default function () {
             of(() => fail('why'));
             of(() => check(1));
             of(() => check(1, null));
             of(() => group('g', async () => {}));
             of(() => open('a'));
             of(() => [sleep('0'), sleep(-1), sleep({})].length);
             of(() => check(1, { ok: async () => false }));
         }",
            Amount::ONCE,
        );
        let said: Vec<&str> = ran.log.iter().map(|line| &line["Info ".len()..]).collect();
        assert_eq!(said[0], "GoError: why true");
        assert_eq!(said[1], "GoError: no checks provided to `check` true");
        assert_eq!(
            said[2],
            "TypeError: Cannot convert undefined or null to object false"
        );
        assert!(
            said[3].starts_with("GoError: group() does not support async"),
            "{}",
            said[3]
        );
        assert!(
            said[4].starts_with("GoError: the \"open\" function is only"),
            "{}",
            said[4]
        );
        assert_eq!(said[5], "3");
        assert!(
            said[6].starts_with("GoError: the built-in check() does not support async"),
            "{}",
            said[6]
        );
        assert_eq!(said.len(), 7);
    });
}

#[test]
fn stacks_have_no_frames_of_our_own_javascript() {
    let script = "import http from 'k6/http';
        import crypto from 'k6/crypto';
        export default function () { crypto.md5('a', 'zz'); }";
    let ran = run(script, Amount::ONCE);
    let said = &ran.log[0];
    assert!(said.contains("invalid output encoding: zz"), "{said}");
    assert!(
        said.contains("\n\tat default (file:///s/main.js:3:"),
        "{said}"
    );
    assert!(
        !said.contains("internal") && !said.contains("eval_script"),
        "{said}"
    );
}
