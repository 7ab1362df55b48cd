//! What a pipeline is told, and the workflow files of the guide, whose steps are run.

use crate::rig::{beside_others, command, loadline, program, serve, text, url};
use std::collections::BTreeMap;
use std::fs::{self, File, read_to_string, write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/ci.md");

/// Reads JUnit XML by another program's parser, and gives back the cases: `suite name outcome`.
///
/// Asserts that the file fits the schema that Jenkins checks it against, whose rules are written
/// down here: `junit-10.xsd` of github.com/jenkinsci/xunit-plugin. Each line is an element, the
/// elements that it may have, and its attributes, of which those with a `!` have to be there.
fn parsed(xml: &Path) -> Vec<String> {
    const SCRIPT: &str = r"
import re, sys, xml.etree.ElementTree as tree

RULES = '''\
testsuites | testsuite | name time tests failures errors
testsuite | testsuite properties testcase system-out system-err | name! tests! failures! errors! \
group time skipped timestamp hostname id package file log url
properties | property |
property | | name! value!
testcase | skipped error failure rerunFailure rerunError flakyFailure flakyError system-out \
system-err | name! time classname group
failure | | type message
error | | type message
skipped | | type message
system-out | |
system-err | |
'''
MIXED = {'failure', 'error', 'skipped', 'system-out', 'system-err'}
TIME = re.compile(r'(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?')

def fits(element):
    children, attributes = rules[element.tag]
    for child in element:
        assert child.tag in children, (element.tag, child.tag)
        fits(child)
    given = set(element.keys())
    assert given <= {name.rstrip('!') for name in attributes}, (element.tag, given)
    needed = {name[:-1] for name in attributes if name.endswith('!')}
    assert needed <= given, (element.tag, needed - given)
    assert element.tag in MIXED or not (element.text or '').strip(), element.tag
    is_suite = element.tag.startswith('testsuite')
    assert not is_suite or TIME.fullmatch(element.get('time', '0')), element.get('time')

def counts(element):
    cases = list(element.iter('testcase'))
    kinds = {'tests': len(cases)}
    for name, tag in [('failures', 'failure'), ('errors', 'error'), ('skipped', 'skipped')]:
        kinds[name] = sum(case.find(tag) is not None for case in cases)
    for name, count in kinds.items():
        assert element.get(name) in (str(count), None), (element.tag, name, count)

parts = [[part.split() for part in line.split('|')] for line in RULES.splitlines()]
rules = {tag[0]: (children, attributes) for tag, children, attributes in parts}
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites', root.tag
fits(root)
counts(root)
for suite in root:
    counts(suite)
    for case in suite.iter('testcase'):
        kinds = [child.tag for child in case] or ['passed']
        print(suite.get('name'), case.get('name'), *kinds)
";
    let python = Command::new("python3")
        .args(["-c", SCRIPT, text(xml)])
        .output();
    let python = python.expect("python3 is there");
    assert!(
        python.status.success(),
        "{}",
        String::from_utf8_lossy(&python.stderr)
    );
    let said = String::from_utf8(python.stdout).expect("names are UTF-8");
    said.lines().map(str::to_owned).collect()
}

#[test]
fn junit_that_does_not_fit_the_schema_would_be_found() {
    let dir = tempfile::tempdir().unwrap();
    let xml = dir.path().join("a.xml");
    let suite = "<testsuite name='a' tests='1' failures='0' errors='0'>";
    let case = "<testcase name='b'/>";
    let good = format!("<testsuites>{suite}{case}</testsuite></testsuites>");
    write(&xml, &good).unwrap();
    assert_eq!(parsed(&xml), ["a b passed"]);
    for (from, to) in [
        ("name='b'", "label='b'"),
        ("tests='1'", "tests='2'"),
        (" failures='0'", ""),
        (case, "<testcase name='b'><passed/></testcase>"),
        ("errors='0'", "errors='0' time='1s'"),
    ] {
        write(&xml, good.replace(from, to)).unwrap();
        let refused = std::panic::catch_unwind(|| parsed(&xml));
        assert!(refused.is_err(), "{from} {to}");
    }
}

#[test]
fn junit_is_read_by_another_parser() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let xml = dir.path().join("a.xml");
    let output = format!("junit={}", text(&xml));
    let checks = [
        "--check",
        "p50<1ns",
        "--check",
        "errors<1%",
        "--check",
        "p99.99<1s",
    ];
    let words = [
        "-n",
        "100",
        "-c",
        "2",
        "-q",
        "--allow-invalid",
        "-o",
        &output,
    ];
    let said = loadline(&[&words[..], &checks, &[&url(&server, "size=10&'<&>\"")]].concat());
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert_eq!(
        parsed(&xml),
        [
            "checks p50<1ns failure",
            "checks errors<1% passed",
            "checks p99.99<1s skipped",
            "validity the run passed",
        ]
    );
}

#[cfg(feature = "k6")]
#[test]
fn thresholds_of_a_k6_script_are_cases() {
    let server = serve();
    let script = "import http from 'k6/http';
        export const options = {
          iterations: 10,
          thresholds: { http_req_duration: ['p(95)<0.001', 'max<60000'] },
        };
        export default function () { http.get(__ENV.BASE); }";
    let scripts = crate::k6::Scripts::new(&[("a.js", script)]);
    let base = format!("BASE=http://{}", server.addr());
    let said = scripts.run(&["run", "-e", &base, "--out", "junit=a.xml", "a.js"]);
    assert_eq!(said.code, Some(99), "{}", said.stderr);
    let cases = parsed(&scripts.path().join("a.xml"));
    assert_eq!(
        cases[..2],
        [
            "k6 thresholds http_req_duration - p(95)<0.001 failure",
            "k6 thresholds http_req_duration - max<60000 passed",
        ]
    );
    assert!(cases[2].starts_with("validity the run "), "{cases:?}");
}

#[test]
fn a_saved_run_and_a_series_are_told_to_a_job_as_well() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (saved, xml) = (dir.path().join("a.run"), dir.path().join("a.xml"));
    let words = [
        "--repeat",
        "3",
        "-n",
        "50",
        "-c",
        "1",
        "-q",
        "--allow-invalid",
    ];
    let rest = ["--check", "errors<1%", "--save", text(&saved)];
    let said = loadline(&[&words[..], &rest, &[&url(&server, "")]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let output = format!("junit={}", text(&xml));
    let said = loadline(&["report", text(&saved), "--allow-invalid", "-o", &output]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let runs = ["run 1", "run 2", "run 3"].map(|run| format!("validity {run} passed"));
    assert_eq!(
        parsed(&xml),
        [vec!["checks errors<1% passed".to_owned()], runs.to_vec()].concat()
    );
    let said = loadline(&["report", text(&saved), "--allow-invalid", "-o", "markdown"]);
    assert!(
        said.stdout.starts_with("### ✅ Loadline: passed (1 of 1)"),
        "{}",
        said.stdout
    );
}

#[test]
fn github_is_told_in_its_files_and_on_stderr() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (summary, outputs) = (dir.path().join("summary"), dir.path().join("outputs"));
    write(&outputs, "before=1\n").unwrap();
    let url = url(&server, "");
    let words = [
        "-n",
        "100",
        "-c",
        "2",
        "--no-progress",
        "--allow-invalid",
        "-o",
        "github",
    ];
    let mut github = command(&[&words[..], &["-o", "json", "--check", "p50<1ns", &url]].concat());
    github
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_OUTPUT", &outputs);
    let said: crate::rig::CommandOutput = github.output().unwrap().into();
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stdout.starts_with('{'), "{}", said.stdout);
    assert!(
        said.stderr
            .contains("::error title=Loadline%3A p50<1ns failed::"),
        "{}",
        said.stderr
    );
    let outputs = read_to_string(outputs).unwrap();
    assert!(
        outputs.starts_with("before=1\nverdict=failed\nfailed=p50<1ns\n"),
        "{outputs}"
    );
    let summary = read_to_string(summary).unwrap();
    assert!(
        summary.starts_with("### ❌ Loadline: failed (1 of 1)"),
        "{summary}"
    );
    assert!(summary.contains("**What to do next**"), "{summary}");
}

#[test]
fn without_a_runner_github_is_refused_before_anything_is_sent() {
    let server = serve();
    let mut lonely = command(&["-n", "1", "-o", "github", &url(&server, "")]);
    lonely
        .env_remove("GITHUB_STEP_SUMMARY")
        .env_remove("GITHUB_OUTPUT");
    let said: crate::rig::CommandOutput = lonely.output().unwrap().into();
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("GITHUB_STEP_SUMMARY names none here"),
        "{}",
        said.stderr
    );
    assert_eq!(server.counts().requests, 0);
}

/// The workflow files of the guide, in their order.
fn workflows() -> Vec<String> {
    let guide = read_to_string(GUIDE).expect("the guide's page");
    let blocks = guide.split("```yaml\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

/// The lines that belong to a block that begins with `|`, without their indentation.
fn block(lines: &[&str], indent: usize) -> String {
    let belongs = |line: &&&str| line.trim().is_empty() || line.starts_with(&" ".repeat(indent));
    let lines = lines.iter().take_while(belongs);
    lines
        .map(|line| line.get(indent..).unwrap_or("").to_owned() + "\n")
        .collect()
}

/// The steps of GitHub's workflow that are scripts, by their names.
fn github_steps(workflow: &str) -> BTreeMap<String, String> {
    let lines: Vec<&str> = workflow.lines().collect();
    let (mut name, mut steps) = (String::new(), BTreeMap::new());
    for (index, line) in lines.iter().enumerate() {
        if let Some(found) = line.strip_prefix("      - name: ") {
            name = found.to_owned();
        }
        if *line == "        run: |" {
            steps.insert(name.clone(), block(&lines[index + 1..], 10));
        }
    }
    steps
}

/// The script of GitLab's job.
fn gitlab_script(workflow: &str) -> String {
    let lines: Vec<&str> = workflow.lines().collect();
    let begin = lines
        .iter()
        .position(|line| *line == "  script:")
        .expect("a script");
    let items = lines[begin + 1..]
        .iter()
        .take_while(|line| line.starts_with("    "));
    let script: Vec<&str> = items.copied().collect();
    let starts = (0..script.len()).filter(|index| script[*index] == "    - |");
    starts.map(|start| block(&script[start + 1..], 6)).collect()
}

/// A folder in which jobs run, with the command on its PATH and a service that can be started.
struct Job {
    folder: TempDir,
    address: SocketAddr,
}

impl Job {
    fn new() -> Job {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(program(), bin.join("loadline")).unwrap();
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = free.local_addr().unwrap();
        let script = |path: PathBuf, text: &str| {
            write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let serve = format!(
            "#!/bin/sh\necho $$ >service.pid\nexec loadline serve --listen {address} --delay \
             \"$DELAY\"\n"
        );
        script(folder.path().join("start-service"), &serve);
        script(bin.join("gh"), "#!/bin/sh\necho \"$@\" >comment\n");
        Job { folder, address }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Runs a script as a runner does, against a service of this delay; its exit code. What it says
    /// goes to a file, which the service it starts keeps open.
    fn run(&self, script: &str, delay: &str, variables: &[(&str, &str)]) -> Option<i32> {
        let said = File::create(self.file("said")).unwrap();
        let path = format!(
            "{}:{}",
            text(&self.file("bin")),
            std::env::var("PATH").unwrap()
        );
        let mut bash = Command::new("bash");
        bash.args(["-eo", "pipefail", "-c", script])
            .current_dir(self.folder.path())
            .env("PATH", path)
            .env("GITHUB_STEP_SUMMARY", self.file("summary"))
            .env("GITHUB_OUTPUT", self.file("outputs"))
            .env("URL", format!("http://{}/", self.address))
            .env("DURATION", "8s")
            .env("DELAY", delay)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(said.try_clone().unwrap())
            .stderr(said);
        bash.status().unwrap().code()
    }
}

impl Job {
    /// Ends the service that a script has started.
    fn stop_service(&self) {
        let pid = fs::read_to_string(self.file("service.pid")).unwrap_or_default();
        if let Some(pid) = pid
            .trim()
            .parse()
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            // The next one listens at the same address.
            let listens = || TcpStream::connect(self.address).is_ok();
            for _ in (0..500).take_while(|_| listens()) {
                thread::sleep(Duration::from_millis(20));
            }
        }
        let _ = fs::remove_file(self.file("service.pid"));
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop_service();
    }
}

/// What the three builds of a service come to: the first one, the same again, and one whose
/// response times are a fifth longer. A response takes a second, so that a busy machine does not
/// matter.
fn builds(job: &Job, run: impl Fn(&Job, &str) -> Option<i32>) {
    let _beside_others = beside_others();
    for (delay, code) in [("1s", Some(0)), ("1s", Some(0)), ("1200ms", Some(1))] {
        let _ = fs::remove_file(job.file("load-test.xml"));
        assert_eq!(run(job, delay), code, "{delay}: {}", job.read("said"));
        let cases = parsed(&job.file("load-test.xml"));
        let regressed = cases
            .iter()
            .any(|case| case == "regressions p95:+10% failure");
        assert_eq!(regressed, code == Some(1), "{cases:?}");
    }
    assert!(job.read("said").contains("p95"), "{}", job.read("said"));
}

#[test]
fn githubs_workflow_fails_a_build_that_got_slower_and_passes_an_equal_one() {
    let steps = github_steps(&workflows()[0]);
    assert!(steps["Install Loadline"].contains("install.sh"));
    let job = Job::new();
    builds(&job, |job, delay| {
        let variables = [("GITHUB_REF", "refs/heads/main"), ("GITHUB_SHA", delay)];
        let started = job.run(&steps["Start the service"], delay, &variables);
        assert_eq!(started, Some(0), "{}", job.read("said"));
        let code = job.run(&steps["Load test"], delay, &variables);
        job.stop_service();
        code
    });
    assert!(
        job.read("summary").contains("p95:+10%"),
        "{}",
        job.read("summary")
    );
    assert!(
        job.read("outputs").contains("failed=p95:+10%"),
        "{}",
        job.read("outputs")
    );
    assert!(
        job.read("said").contains("::error title="),
        "{}",
        job.read("said")
    );
    let number = [("NUMBER", "7")];
    let commented = job.run(&steps["Comment on the pull request"], "1s", &number);
    assert_eq!(commented, Some(0));
    assert!(job.read("comment").contains("pr comment 7"));
    assert!(job.file("load-test.md").is_file());
    let history = command(&["history", text(&job.file("load-test"))])
        .output()
        .unwrap();
    let history = String::from_utf8(history.stdout).unwrap();
    let failed = history.lines().filter(|line| line.contains("failed"));
    assert_eq!(failed.count(), 1, "{history}");
    assert!(history.contains("1200ms"), "the commit is named: {history}");
}

#[test]
fn gitlabs_job_fails_a_build_that_got_slower_and_passes_an_equal_one() {
    let workflow = &workflows()[1];
    let script = gitlab_script(workflow);
    assert!(workflow.contains("exit_codes: 4"));
    let job = Job::new();
    builds(&job, |job, delay| {
        let branch = [("CI_COMMIT_BRANCH", "main"), ("CI_DEFAULT_BRANCH", "main")];
        let code = job.run(&script, delay, &branch);
        job.stop_service();
        code
    });
    assert!(job.read("load-test.md").contains("p95:+10%"));
}
