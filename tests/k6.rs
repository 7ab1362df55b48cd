//! k6's commands as spoken here, beside the real k6 where it is installed.

use crate::rig::{Said, beside_others, command, serve, serve_with, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Scripts, and where they are.
pub(crate) struct Scripts(TempDir);

impl Scripts {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        Scripts(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What the command with these words says, started where the scripts are.
    pub(crate) fn say(&self, words: &[&str]) -> Said {
        let _beside_others = beside_others();
        self.said(command(&[&["k6"], words].concat()))
    }

    fn said(&self, mut command: Command) -> Said {
        let home = self.path();
        let output = command
            .current_dir(home)
            .env("HOME", home)
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// What the real k6 says, if it is there.
    pub(crate) fn real(&self, words: &[&str]) -> Option<Said> {
        let mut command = Command::new(real_k6()?);
        command.env("K6_NO_USAGE_REPORT", "true");
        command.args(words).args(["--address", ""]);
        Some(self.said(command))
    }
}

/// The real k6, if it is there; it is told if not.
#[expect(clippy::print_stderr, reason = "a comparison that is left out is told")]
pub(crate) fn real_k6() -> Option<String> {
    let name = std::env::var("K6").unwrap_or_else(|_| "k6".to_owned());
    match Command::new(&name).arg("version").output() {
        Ok(_) => Some(name),
        Err(error) => {
            eprintln!("not compared with the real k6, which can't be started: {error}");
            None
        }
    }
}

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

/// A script of one function.
pub(crate) fn default(body: &str) -> String {
    format!("export default function () {{ {body} }}")
}

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
        let found = scripts.say(&words);
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

#[test]
fn a_run_says_what_the_real_k6_says() {
    let scripts = Scripts::new(&[("lifecycle.js", LIFECYCLE)]);
    let words = ["run", "-e", "WHO=you", "lifecycle.js"];
    let ours = scripts.say(&words);
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
    let said = scripts.say(&[
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
    let archived = scripts.say(&["archive", "-O", "all.tar", "main.js"]);
    assert_eq!((archived.code, archived.stderr.as_str()), (Some(0), ""));
    for name in ["main.js", "word.js", "text.txt"] {
        fs::remove_file(scripts.path().join(name)).unwrap();
    }
    let said = scripts.say(&["run", "all.tar"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("msg=\"one two\""), "{}", said.stderr);
}

#[test]
fn an_interrupt_ends_iterations_and_teardown_follows() {
    let script = "import { sleep } from 'k6';
        export const options = { vus: 2, duration: '10m' };
        export default function () { console.log('in'); sleep(600); }
        export function teardown() { console.log('torn down'); }";
    let scripts = Scripts::new(&[("long.js", script)]);
    let log = scripts.path().join("log");
    let _beside_others = beside_others();
    let log_output = format!("file={}", text(&log));
    let child = command(&["k6", "run", "--log-output", &log_output, "long.js"])
        .current_dir(scripts.path())
        .spawn()
        .unwrap();
    let has_begun = || fs::read_to_string(&log).is_ok_and(|log| log.matches("msg=in").count() == 2);
    while !has_begun() {
        thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(105));
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("msg=\"torn down\""), "{log}");
    assert!(
        log.contains("because k6 received a 'interrupt' signal"),
        "{log}"
    );
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.contains("0 complete and 2 interrupted iterations"),
        "{stdout}"
    );
}

#[test]
fn a_run_is_judged_and_saved_with_its_names() {
    let server = serve();
    let script = "import http from 'k6/http';
        export default function () {
          http.get(`${__ENV.BASE}/?size=7`, { tags: { name: 'seven' } });
        }";
    let scripts = Scripts::new(&[("named.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.say(&[
        "run",
        "-i",
        "20",
        "-e",
        &base,
        "--out",
        "loadline=a.run",
        "named.js",
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("output: loadline (a.run)"),
        "{}",
        said.stdout
    );
    assert!(
        said.stderr.contains("msg=\"the result is "),
        "{}",
        said.stderr
    );
    let saved = scripts.path().join("a.run");
    let report = command(&["report", text(&saved)]).output().unwrap();
    let report = String::from_utf8_lossy(&report.stdout);
    assert!(report.starts_with("script "), "{report}");
    assert!(report.contains("seven{scenario:default}"), "{report}");
    assert!(report.contains("20 answered, 0 failed"), "{report}");
    assert_eq!(server.stop().requests, 20);
}

#[test]
fn options_name_hosts_and_block_them() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = {
          hosts: { '*.shop.test': __ENV.HOST, 'low.test': '127.0.0.2' },
          blockHostnames: ['*.ads.test'], blacklistIPs: ['127.0.0.2/32'],
        };
        export default function () {
          for (const host of ['a.shop.test', 'b.ads.test', 'low.test']) {
            const res = http.get(`http://${host}/`);
            console.log(res.status, res.error_code);
          }
        }";
    let scripts = Scripts::new(&[("hosts.js", script)]);
    let host = format!("HOST={}", server.addr());
    let said = scripts.say(&[
        "run",
        "-q",
        "--summary-mode",
        "disabled",
        "-e",
        &host,
        "hosts.js",
    ]);
    for line in [
        "msg=\"200 0\"",
        "msg=\"0 1111\"",
        "hostname (b.ads.test) is in a blocked pattern (*.ads.test)",
        "msg=\"0 1110\"",
        "IP (127.0.0.2) is in a blacklisted range (127.0.0.2/32)",
    ] {
        assert!(said.stderr.contains(line), "{line}: {}", said.stderr);
    }
}

#[test]
fn all_values_are_written_as_json_and_csv() {
    let server = serve();
    let script = "import http from 'k6/http';
        import { Trend } from 'k6/metrics';
        const own = new Trend('own', true);
        export const options = { iterations: 2,
            thresholds: { own: ['p(95)<5'], 'own{scenario:default}': ['avg<5'] } };
        export default function () {
          own.add(1.5, { kind: 'x,y' });
          http.get(__ENV.BASE, { tags: { name: 'n' } });
        }";
    let scripts = Scripts::new(&[("values.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let words = |json: &'static str, csv: &'static str| -> Vec<String> {
        let words = [
            "run",
            "-q",
            "--summary-mode",
            "disabled",
            "--out",
            json,
            "--out",
            csv,
        ];
        let words = words.into_iter().chain(["-e", &base, "values.js"]);
        words.map(str::to_owned).collect()
    };
    let read = |name: &str| {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        let mut lines: Vec<String> = text.lines().map(figureless).collect();
        lines.sort();
        lines
    };
    let ours = words("json=ours.json", "csv=ours.csv");
    let said = scripts.say(&ours.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // Two iterations of an own value, of nine of a request and of four at the end.
    assert_eq!(read("ours.csv").len(), 1 + 2 * (1 + 9 + 4));
    assert!(read("ours.csv")[0].starts_with("data_received,"));
    if let Some(theirs) = scripts.real(
        &words("json=theirs.json", "csv=theirs.csv")
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    ) {
        assert_eq!(theirs.code, Some(0), "{}", theirs.stderr);
        assert_eq!(read("theirs.json"), read("ours.json"));
        assert_eq!(read("theirs.csv"), read("ours.csv"));
    }
}

/// A line of a file of values, without the instant and the value.
fn figureless(line: &str) -> String {
    if let Some((before, rest)) = line.split_once("\"time\":\"") {
        let rest = rest.split_once(",\"tags\"").map_or("", |(_, rest)| rest);
        return format!("{before}{rest}");
    }
    let mut fields: Vec<&str> = line.split(',').collect();
    if fields
        .get(1)
        .is_some_and(|field| field.parse::<u64>().is_ok())
    {
        fields.drain(1..3);
    }
    fields.join(",")
}

#[test]
fn secrets_reach_the_script_and_not_the_log() {
    let script = "import secrets from 'k6/secrets';
        export default async function () {
          const secret = await secrets.get('key');
          console.log(secret.length, `it is ${secret}`);
        }";
    let scripts = Scripts::new(&[("secret.js", script), ("keys", "key=a \"b\"\nother=1\n")]);
    let said = scripts.say(&["run", "-q", "--secret-source", "file=keys", "secret.js"]);
    assert!(
        said.stderr
            .contains("msg=\"5 it is ***SECRET_REDACTED***\""),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("b\\\""), "{}", said.stderr);
}

#[test]
fn tags_that_were_not_asked_for_match_no_threshold() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = {
          systemTags: ['method', 'name'],
          thresholds: {
            'http_reqs{method:GET}': ['count==3'], 'http_reqs{status:200}': ['count==0'],
            'http_reqs{scenario:default}': ['count==0'], 'http_reqs{name:n}': ['count==3'],
          },
        };
        export default function () { http.get(__ENV.BASE, { tags: { name: 'n' } }); }";
    let scripts = Scripts::new(&[("tags.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.say(&["run", "-q", "-i", "3", "-e", &base, "tags.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
}

#[test]
fn users_that_share_a_runtime_print_what_others_print() {
    let server = serve();
    let script = "import http from 'k6/http'; import { check, sleep } from 'k6';
        export const options = { vus: 20, iterations: 100 };
        let own = 0;
        export function setup() { return { n: 1 }; }
        export default async function (data) {
          own += data.n;
          const res = http.get(`http://${__ENV.HOST}/`);
          sleep(0.001);
          await http.asyncRequest('GET', `http://${__ENV.HOST}/`);
          check(res, { ok: (r) => r.status === 200, counted: () => own === __ITER + 1 });
        }
        export function teardown() { console.log('end'); }";
    let scripts = Scripts::new(&[("own.js", script)]);
    let host = format!("HOST={}", server.addr());
    for mode in ["isolated", "shared"] {
        let said = scripts.say(&["run", "-e", &host, "--vu-mode", mode, "own.js"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        for line in [
            "checks_succeeded...: 100.00% 200 out of 200",
            "iterations.....................: 100 ",
            "http_reqs......................: 200 ",
        ] {
            assert!(
                said.stdout.contains(line),
                "{mode}: {line}: {}",
                said.stdout
            );
        }
        assert!(said.stderr.contains("msg=end"), "{}", said.stderr);
        assert!(!said.stderr.contains("vu-mode"), "{}", said.stderr);
    }
    let said = scripts.say(&["run", "--vu-mode", "own", "own.js"]);
    let sentence = "invalid vu mode \\\"own\\\". Use: \\\"isolated\\\", \\\"shared\\\"";
    assert_eq!(said.code, Some(255), "{}", said.stderr);
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
}

#[test]
fn the_example_keeps_its_thresholds_against_the_test_server() {
    let server = serve();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/k6");
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

#[test]
fn late_iterations_that_wait_are_timed_from_their_intended_starts() {
    let server = serve_with(|config| config.freeze = "500ms".parse().ok());
    let script = "import http from 'k6/http';
        export const options = {
          scenarios: { all: { executor: 'constant-arrival-rate', rate: 100, duration: '1s',
            preAllocatedVUs: 1, maxVUs: 1 } },
          thresholds: { http_req_response: ['max>400', 'p(90)>100'], iteration_delay: ['max>300'],
            dropped_iterations: ['count==0'], iterations: ['count==100'] },
        };
        export default function () { http.get(__ENV.BASE); }";
    let scripts = Scripts::new(&[("late.js", script)]);
    let base = format!("BASE=http://{}/", server.addr());
    let said = scripts.say(&["run", "--late-iterations", "wait", "-e", &base, "late.js"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("http_req_response"), "{}", said.stdout);
    assert!(said.stdout.contains("iteration_delay"), "{}", said.stdout);
}

#[test]
fn a_rate_and_connections_of_users_hold() {
    let script = "import http from 'k6/http';
        export const options = { vus: 2, iterations: 6 };
        export default function () { http.get(__ENV.BASE); http.get(__ENV.BASE); }";
    let scripts = Scripts::new(&[("gets.js", script)]);
    let run = |words: &[&str]| {
        let server = serve();
        let base = format!("BASE=http://{}", server.addr());
        let words = [&["run", "-q", "-e", &base][..], words, &["gets.js"]].concat();
        let said = scripts.say(&words);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        (server.stop(), said)
    };
    // Twelve requests, one each tenth of a second: eleven tenths at least.
    let (counts, said) = run(&["--rps", "10"]);
    assert_eq!(counts.requests, 12);
    let rate = said.stdout.lines().find(|line| line.contains("http_reqs"));
    let rate = rate
        .and_then(|line| line.split_whitespace().last())
        .unwrap();
    let rate: f64 = rate.trim_end_matches("/s").parse().unwrap();
    assert!(rate <= 12.0 / 1.1, "{rate}");
    assert_eq!(run(&["--no-vu-connection-reuse"]).0.connections, 6);
    assert!(run(&[]).0.connections <= 2);
}

#[test]
fn users_leave_from_their_own_addresses() {
    let script = "import http from 'k6/http';
        export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3 } } };
        export default function () { http.get(`http://127.0.0.1:${__ENV.PORT}/${__VU}`); }";
    let scripts = Scripts::new(&[("from.js", script)]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!("PORT={}", listener.local_addr().unwrap().port());
    let peers = thread::spawn(move || {
        let three = listener.incoming().take(3).map(|stream| {
            use std::io::{Read, Write};
            let mut stream = stream.unwrap();
            let mut head = [0; 1024];
            let length = stream.read(&mut head).unwrap();
            let line = String::from_utf8_lossy(&head[..length]);
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            (path, stream.peer_addr().unwrap().ip().to_string())
        });
        let mut peers: Vec<(String, String)> = three.collect();
        peers.sort();
        peers
    });
    let local = "127.0.0.5-127.0.0.6";
    let said = scripts.say(&["run", "-q", "-e", &port, "--local-ips", local, "from.js"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let own = |path: &str, ip: &str| (path.to_owned(), ip.to_owned());
    let expected = [
        own("/1", "127.0.0.5"),
        own("/2", "127.0.0.6"),
        own("/3", "127.0.0.5"),
    ];
    assert_eq!(peers.join().unwrap(), expected);
}

#[test]
fn exchanges_are_logged_with_their_bodies() {
    let server = serve();
    let script = "import http from 'k6/http';
        export default function () { http.post(__ENV.BASE, 'sent', { headers: { 'X-A': 'b' } }); }";
    let scripts = Scripts::new(&[("post.js", script)]);
    let base = format!("BASE=http://{}/?size=3", server.addr());
    let said = |flag: &str| {
        let words = [
            "run",
            "-q",
            "--log-format",
            "raw",
            flag,
            "-e",
            &base,
            "post.js",
        ];
        scripts.say(&words).stderr
    };
    let heads = said("--http-debug");
    assert!(
        heads.contains("Request:\nPOST /?size=3 HTTP/1.1\nHost: 127.0.0.1:"),
        "{heads}"
    );
    assert!(
        heads.contains("\nContent-Length: 4\nX-A: b\n\n\n"),
        "{heads}"
    );
    assert!(heads.contains("Response:\nHTTP/1.1 200 OK\n"), "{heads}");
    let whole = said("--http-debug=full");
    let sent = "\nContent-Length: 4\nX-A: b\n\nsent\n";
    assert!(whole.contains(sent), "{whole}");
}

#[test]
fn the_legacy_summary_is_that_of_the_real_k6() {
    let scripts = Scripts::new(&[("lifecycle.js", LIFECYCLE)]);
    let words = ["run", "-q", "-e", "WHO=you", "--summary-mode", "legacy"];
    let words = [&words[..], &["lifecycle.js"]].concat();
    let ours = scripts.say(&words);
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
    let ours = scripts.say(&words("ours.json"));
    assert_eq!(ours.code, Some(99), "{}", ours.stderr);
    let newer = read("ours.json");
    assert_eq!(newer["version"], "1.0.0");
    let total = &newer["results"]["checks"]["metrics"][0];
    assert_eq!(total["values"]["count"], 12);
    if scripts.real(&words("theirs.json")).is_some() {
        assert_eq!(newer_metrics(&read("theirs.json")), newer_metrics(&newer));
    }
}

#[test]
fn tags_that_are_asked_for_are_set() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = { iterations: 2, systemTags: ['ip', 'iter', 'status', 'vu'] };
        export default function () { http.get(__ENV.BASE); }";
    let scripts = Scripts::new(&[("tags.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let words = |out: &'static str| {
        let words = ["run", "-q", "-e", &base, "--out", out, "tags.js"];
        words.map(str::to_owned)
    };
    let run = |words: &[String; 7], real: bool| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match real {
            true => scripts.real(&words),
            false => Some(scripts.say(&words)),
        }
    };
    let requests = |name: &str| -> Vec<serde_json::Value> {
        let text = fs::read_to_string(scripts.path().join(name)).unwrap();
        let points = text.lines().filter(|line| line.contains("\"Point\""));
        let points = points.filter(|line| line.contains("\"http_reqs\""));
        let read = |line: &str| -> serde_json::Value { serde_json::from_str(line).unwrap() };
        let told = points.map(|line| read(line)["data"].take());
        told.map(|data| serde_json::json!([data["tags"], data["metadata"]]))
            .collect()
    };
    run(&words("json=ours.json"), false).unwrap();
    let ours = requests("ours.json");
    let tags = serde_json::json!({ "ip": "127.0.0.1", "status": "200" });
    let second = serde_json::json!([tags, { "vu": "1", "iter": "1" }]);
    assert_eq!(ours[1], second);
    if run(&words("json=theirs.json"), true).is_some() {
        assert_eq!(requests("theirs.json"), ours);
    }
}
