//! k6's commands: how they end, what they say, and where scripts come from.

use crate::k6::{Scripts, default};
use crate::rig::{beside_others, command, serve};
use std::fs::{self, File};
use std::path::PathBuf;

#[test]
fn commands_end_with_k6s_exit_codes_and_one_sentence() {
    let scripts = [
        ("good.js", default("")),
        ("throws.js", default("throw new Error('boom')")),
        (
            "init.js",
            format!("throw new Error('early'); {}", default("")),
        ),
        ("syntax.js", "export default function( {".to_owned()),
        (
            "setup.js",
            format!("export function setup() {{ null.x }} {}", default("")),
        ),
        (
            "teardown.js",
            format!("export function teardown() {{ null.x }} {}", default("")),
        ),
        (
            "slow.js",
            format!(
                "import {{ sleep }} from 'k6'; export const options = {{ setupTimeout: '1s' }};
                 export function setup() {{ sleep(60) }} {}",
                default("")
            ),
        ),
        (
            "abort.js",
            format!(
                "import exec from 'k6/execution'; {}",
                default("exec.test.abort('enough')")
            ),
        ),
        (
            "fail.js",
            format!(
                "import exec from 'k6/execution'; {}",
                default("exec.test.fail('bad')")
            ),
        ),
        (
            "crossed.js",
            format!(
                "export const options = {{ thresholds: {{ iterations: ['count<1'] }} }}; {}",
                default("")
            ),
        ),
        (
            "data.js",
            format!("export function setup() {{ return 1 / 0 }} {}", default("")),
        ),
        ("none.js", "export const options = {};".to_owned()),
        (
            "grpc.js",
            format!("import grpc from 'k6/net/grpc'; {}", default("")),
        ),
        (
            "threshold.js",
            format!(
                "export const options = {{ thresholds: {{ nope: ['count<1'] }} }}; {}",
                default("")
            ),
        ),
    ];
    let files: Vec<(&str, &str)> = scripts
        .iter()
        .map(|(n, text)| (*n, text.as_str()))
        .collect();
    let scripts = Scripts::new(&files);
    for (line, code, said) in [
        ("run good.js", 0, ""),
        (
            "run throws.js",
            0,
            "msg=\"Error: boom\\n\\tat default (file://",
        ),
        ("run init.js", 107, "msg=\"Error: early\\n\\tat file://"),
        ("run syntax.js", 107, "could not load JS test"),
        ("run setup.js", 107, "hint=\"script exception\""),
        ("run teardown.js", 107, "hint=\"script exception\""),
        (
            "run slow.js",
            100,
            "setup() execution timed out after 1 seconds",
        ),
        ("run abort.js", 108, "msg=\"test aborted: enough at default"),
        ("run fail.js", 110, "msg=\"test marked as failed: bad\""),
        (
            "run crossed.js",
            99,
            "msg=\"thresholds on metrics 'iterations' have been crossed\"",
        ),
        ("run --no-thresholds crossed.js", 0, ""),
        ("run data.js", 255, "error marshaling setup() data to JSON"),
        ("run none.js", 255, "no exported functions in script"),
        ("run grpc.js", 107, "is not supported yet"),
        ("run threshold.js", 104, "no metric name \\\"nope\\\" found"),
        ("archive threshold.js", 104, "no metric name"),
        (
            "inspect --execution-requirements threshold.js",
            104,
            "no metric name",
        ),
        ("run missing.js", 255, "couldn't be found on local disk"),
        ("run --vus x good.js", 255, "invalid argument"),
        ("run --nope good.js", 255, "unknown flag: --nope"),
        (
            "run -d 1ms good.js",
            104,
            "the duration must be at least 1s, but is 1ms",
        ),
        (
            "run -c nofile good.js",
            104,
            "failed to load the configuration file",
        ),
        ("run -o nope good.js", 255, "invalid output type 'nope'"),
        ("run --summary-mode x good.js", 255, "invalid summary mode"),
        (
            "run -e 1a=b good.js",
            255,
            "invalid environment variable name '1a'",
        ),
        ("cloud", 255, "Loadline has no `cloud`"),
        ("nope", 255, "unknown command \\\"nope\\\" for \\\"k6\\\""),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let found = scripts.run(&words);
        assert_eq!(found.code, Some(code), "{line}: {}", found.stderr);
        assert!(found.stderr.contains(said), "{line}: {}", found.stderr);
        assert_eq!(
            found.stderr.is_empty(),
            said.is_empty(),
            "{line}: {}",
            found.stderr
        );
        // k6 says at the end, too, that a script has failed its test.
        let most = if line == "run fail.js" { 2 } else { 1 };
        assert!(
            found.stderr.lines().count() <= most,
            "{line}: {}",
            found.stderr
        );
    }
}

#[test]
fn options_are_inspected_with_all_that_is_not_said() {
    let options = "scenarios: { a: { executor: 'shared-iterations', iterations: 2 } }";
    let script = format!("export const options = {{ {options} }}; {}", default(""));
    let scripts = Scripts::new(&[("options.js", &script)]);
    for asked in [&[][..], &["--execution-requirements"]] {
        let words = [&["inspect"], asked, &["options.js"]].concat();
        let ours = scripts.run(&words);
        let is_said = ours.stdout.contains("\"maxDuration\": null");
        assert!(is_said, "{words:?}: {}", ours.stdout);
        if let Some(theirs) = scripts.real(&words) {
            assert_eq!(ours.stdout, theirs.stdout, "{words:?}");
        }
    }
}

#[test]
fn standard_output_that_is_full_is_a_failure_with_its_reason() {
    let scripts = Scripts::new(&[("good.js", &default(""))]);
    for words in [&["k6", "run", "good.js"][..], &["k6", "--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = command(words);
        command.stdout(full).current_dir(scripts.path());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(255), "{stderr}");
        let last = stderr.lines().last().unwrap_or_default();
        assert!(
            last.contains("standard output could not be written: no space left on device"),
            "{stderr}"
        );
    }
}

#[test]
fn an_archive_runs_without_its_files() {
    let scripts = Scripts::new(&[
        (
            "main.js",
            "import { word } from './word.js'; const text = open('text.txt');
            export default function () { console.log(word, text); }",
        ),
        ("word.js", "export const word = 'one';"),
        ("text.txt", "two"),
    ]);
    let archived = scripts.run(&["archive", "-O", "all.tar", "main.js"]);
    assert_eq!((archived.code, archived.stderr.as_str()), (Some(0), ""));
    let above = scripts.run(&["archive", "-O", "above.tar", "gone/../main.js"]);
    assert_eq!(above.code, Some(0), "{}", above.stderr);
    for name in ["main.js", "word.js", "text.txt"] {
        fs::remove_file(scripts.path().join(name)).unwrap();
    }
    let said = scripts.run(&["run", "all.tar"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("msg=\"one two\""), "{}", said.stderr);
}

#[test]
fn secrets_reach_the_script_and_not_the_log() {
    let script = "import secrets from 'k6/secrets';
        export default async function () {
          const secret = await secrets.get('key');
          console.log(secret.length, `it is ${secret}`);
        }";
    let scripts = Scripts::new(&[("secret.js", script), ("keys", "key=a \"b\"\nother=1\n")]);
    let said = scripts.run(&["run", "-q", "--secret-source", "file=keys", "secret.js"]);
    assert!(
        said.stderr
            .contains("msg=\"5 it is ***SECRET_REDACTED***\""),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("b\\\""), "{}", said.stderr);
}

#[test]
fn the_example_keeps_its_thresholds_against_the_test_server() {
    let server = serve();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/k6");
    let base = format!("BASE_URL=http://{}", server.addr());
    let _beside_others = beside_others();
    let output = command(&["k6", "run", "-q", "-e", &base, "checkout.ts"])
        .current_dir(folder)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    // How long responses take beside the other tests is no matter.
    assert!(matches!(output.status.code(), Some(0 | 99)), "{stdout}");
    for line in [
        "✓ 'rate>0.99' rate=100.00%",
        "✓ 'rate<0.01' rate=0.00%",
        "checks_failed......: 0.00%",
        "{ scenario:visitors }",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
}
