//! Studies: with real load testers against the test server, and with made-up ones whose every
//! figure is known.

use crate::rig::{CommandOutput, beside_others, command, loadline, serve, text};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A folder with a study in it.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new(study: &str) -> Self {
        let desk = Desk(tempfile::tempdir().unwrap());
        fs::write(desk.path("study.toml"), study).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A program that prints what wrk would, its figures following from its connections. It notes
    /// that it ran.
    fn with_tool(self, name: &str) -> Self {
        self.with_tool_that("true", name)
    }

    /// Such a program that does something between its start and its report.
    fn with_tool_that(self, does: &str, name: &str) -> Self {
        let script = format!(
            "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nwhile [ \"$1\" != -c ]; do shift; done\n\
             echo \"$2\" >> ran\n{does}\n\
             echo \"    Latency     $2.00us    1.00us  9$2.00us   90.00%\"\n\
             echo \"  Latency Distribution\"\necho \"     50%   $2.00us\"\n\
             echo \"  $2000 requests in 1.00s, 1.00MB read\"\necho \"Requests/sec:  $2000.50\"\n"
        );
        self.with_program(name, &script)
    }

    fn with_program(self, name: &str, script: &str) -> Self {
        let path = self.path(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn words(&self) -> [String; 5] {
        let text = |name: &str| text(&self.path(name)).to_owned();
        [
            "study".to_owned(),
            text("study.toml"),
            "--no-progress".to_owned(),
            "--results".to_owned(),
            text("results"),
        ]
    }

    fn study(&self, more: &[&str]) -> CommandOutput {
        let words = self.words();
        let words: Vec<&str> = words
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect();
        loadline(&words)
    }

    /// The rows of the CSV, by column.
    fn rows(&self) -> Vec<BTreeMap<String, String>> {
        let text = fs::read_to_string(self.path("results/results.csv")).unwrap();
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        let row = |line: &str| {
            let cells = line.split(',').map(str::to_owned);
            names.iter().map(ToString::to_string).zip(cells).collect()
        };
        lines.map(row).collect()
    }

    /// What follows from the tools alone: no time, no usage.
    fn figures(&self) -> Vec<Vec<String>> {
        let columns = [
            "exp_name",
            "repeat",
            "tool",
            "connections",
            "rps",
            "answers",
            "p50_us",
            "failure",
        ];
        let figures =
            |row: &BTreeMap<String, String>| columns.map(|name| row[name].clone()).to_vec();
        self.rows().iter().map(figures).collect()
    }

    fn saved(&self) -> usize {
        let entries = fs::read_dir(self.path("results")).into_iter().flatten();
        let is_run = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
        entries
            .flatten()
            .filter(|entry| is_run(&entry.path()))
            .count()
    }

    /// How often the made-up tool has been started.
    fn starts(&self) -> usize {
        fs::read_to_string(self.path("ran"))
            .unwrap_or_default()
            .lines()
            .count()
    }
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The processes that a process has started, whichever of its threads did.
fn children_of(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    let pids = lists.iter().flat_map(|list| list.split_whitespace());
    pids.map(str::to_owned).collect()
}

/// Six runs of a made-up tool against a server that is there.
fn six_runs(url: &str, tool: &str) -> String {
    format!(
        "name = \"six\"\nseed = 3\nrepeats = 2\npause = \"10ms\"\n\
         [[tool]]\nname = \"fake\"\nkind = \"wrk\"\ncommand = [\"./{tool}\"]\n\
         [[target]]\nname = \"here\"\nurl = \"{url}\"\n\
         [[runs]]\ntool = \"fake\"\nduration = \"1s\"\nconnections = [1, 2, 3]\n"
    )
}

#[test]
fn a_study_killed_in_the_middle_and_resumed_gives_the_same_table() {
    let server = serve();
    let study = six_runs(&format!("http://{}/", server.addr()), "tool");
    let whole = Desk::new(&study).with_tool("tool");
    let said = whole.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(whole.rows().len(), 6);
    assert_eq!(
        whole.rows()[2]["rps"],
        "2000.5",
        "rows stand in the order of the file"
    );
    // The third run stands until the study is killed: time decides nothing.
    let stands = "[ $(wc -l < ran) -lt 3 ] || [ -e go ] || exec sleep 600";
    let desk = Desk::new(&study).with_tool_that(stands, "tool");
    let words = desk.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let beside = beside_others();
    let mut killed = command(&words).spawn().unwrap();
    wait_until("the third run does not start", || desk.starts() == 3);
    let children = children_of(killed.id());
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(beside);
    // Whom nobody could end any more.
    Command::new("kill").args(&children).status().unwrap();
    assert_eq!(desk.saved(), 2);
    fs::write(desk.path("go"), "").unwrap();
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(desk.figures(), whole.figures());
    assert_eq!(desk.starts(), 7, "one run was cut off, no other made twice");
    let again = desk.study(&[]);
    assert_eq!((again.code, desk.starts()), (Some(0), 7));
    assert_eq!(again.stdout, said.stdout);
    assert_eq!(desk.study(&["--redo"]).code, Some(0));
    assert_eq!(desk.starts(), 13);
}

#[test]
fn a_study_keeps_no_secret_of_its_command_lines_and_sends_them_all() {
    let server = serve();
    let url = format!("http://me:hunter2@{}/", server.addr());
    let study = format!(
        "name = \"secret\"\npause = \"10ms\"\n\
         [[tool]]\nname = \"fake\"\nkind = \"wrk\"\n\
         command = [\"./fake\", \"-H\", \"X-Api-Key: hunter2\"]\n\
         [[target]]\nname = \"here\"\nurl = \"{url}\"\n\
         reset = \"TOKEN=hunter2 true\"\n\
         [[runs]]\ntool = \"fake\"\nduration = \"1s\"\nconnections = 1\n\
         \"-H\" = [\"Cookie: sid=hunter2\", \"Authorization: Bearer hunter2\"]\n"
    );
    let tool = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n\
                for word in \"$@\"; do echo \"$word\" >> got; done\n\
                echo '    Latency     1.00us    1.00us  1.00us   90.00%'\n\
                echo '  Latency Distribution'\necho '     50%   1.00us'\n\
                echo '  1000 requests in 1.00s, 1.00MB read'\necho 'Requests/sec:  1000.50'\n";
    let desk = Desk::new(&study).with_program("fake", tool);
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // The tool gets them as they are.
    let got = fs::read_to_string(desk.path("got")).unwrap();
    for (word, times) in [
        ("X-Api-Key: hunter2", 2),
        ("Cookie: sid=hunter2", 1),
        ("Authorization: Bearer hunter2", 1),
    ] {
        let found = got.lines().filter(|line| *line == word).count();
        assert_eq!(found, times, "{word}: {got}");
    }
    assert!(!format!("{}{}", said.stdout, said.stderr).contains("hunter2"));
    let kept: Vec<PathBuf> = fs::read_dir(desk.path("results"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    assert!(kept.len() > 2, "{kept:?}");
    for path in &kept {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        assert!(!path.to_string_lossy().contains("hunter2"), "{path:?}");
        assert!(!text.contains("hunter2"), "{path:?}: {text}");
    }
    // What is masked makes no run another one.
    let starts = got.lines().count();
    assert_eq!(desk.study(&[]).code, Some(0));
    let got = fs::read_to_string(desk.path("got")).unwrap();
    assert_eq!(got.lines().count(), starts);
}

#[test]
fn an_interrupt_stops_tool_and_target_and_the_study_goes_on_later() {
    let study = "name = \"i\"\npause = \"10ms\"\n[[tool]]\nname = \"fake\"\nkind = \"wrk\"\n\
                 command = [\"./tool\"]\n[[target]]\nname = \"own\"\nurl = \
                 \"http://127.0.0.1:{port}/\"\nstart = [\"loadline\", \"serve\", \"--listen\", \
                 \"127.0.0.1:{port}\"]\n[[runs]]\ntool = \"fake\"\nduration = \"1s\"\nconnections \
                 = 1\n";
    let desk = Desk::new(study).with_program(
        "tool",
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho $$ > ran\nexec sleep 600\n",
    );
    let words = desk.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let beside = beside_others();
    let study = command(&words).spawn().unwrap();
    wait_until("the tool does not start", || desk.starts() == 1);
    let tool = fs::read_to_string(desk.path("ran"))
        .unwrap()
        .trim()
        .to_owned();
    let pid = study.id().to_string();
    let children = children_of(study.id());
    assert!(
        children.contains(&tool) && children.len() == 2,
        "{children:?}"
    );
    Command::new("kill")
        .args(["-s", "INT", &pid])
        .status()
        .unwrap();
    let said: CommandOutput = study.wait_with_output().unwrap().into();
    drop(beside);
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    for child in children {
        assert!(
            !Path::new("/proc").join(&child).exists(),
            "{child} still runs"
        );
    }
    assert_eq!(desk.saved(), 0);
    let desk = desk.with_tool("tool");
    assert_eq!(desk.study(&[]).code, Some(0));
    assert_eq!(desk.rows()[0]["rps"], "1000.5");
}

#[test]
fn a_target_in_the_background_is_stopped_however_the_study_ends() {
    let study = |serves: &str| {
        format!(
            "name = \"d\"\npause = \"10ms\"\n\
             [[tool]]\nname = \"fake\"\nkind = \"wrk\"\ncommand = [\"./tool\"]\n\
             [[target]]\nname = \"own\"\nurl = \"http://127.0.0.1:9/\"\npatience = \"1s\"\n\
             start = [\"./up\"]\ncheck = [\"{serves}\"]\nstop = [\"./down\"]\n\
             [[runs]]\ntool = \"fake\"\nduration = \"1s\"\nconnections = 1\n"
        )
    };
    let desk = |serves: &str| {
        let here = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n";
        Desk::new(&study(serves))
            .with_program("up", &format!("{here}echo up >> target\n"))
            .with_program("down", &format!("{here}echo down >> target\n"))
            .with_program("tool", &format!("{here}echo $$ > ran\nexec sleep 600\n"))
    };
    // The user ends it.
    let interrupted = desk("true");
    let words = interrupted.words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let beside = beside_others();
    let study = command(&words).spawn().unwrap();
    wait_until("the tool does not start", || interrupted.starts() == 1);
    let pid = study.id().to_string();
    let killed = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(killed.unwrap().success());
    let said: CommandOutput = study.wait_with_output().unwrap().into();
    drop(beside);
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    // It never serves.
    let failed = desk("false");
    assert_eq!(failed.study(&[]).code, Some(2));
    for desk in [interrupted, failed] {
        let told = fs::read_to_string(desk.path("target")).unwrap();
        assert_eq!(told, "up\ndown\n");
    }
}

#[test]
fn a_failed_run_is_kept_with_its_output_and_does_not_end_the_study() {
    let server = serve();
    let url = format!("http://{}/", server.addr());
    let study = format!(
        "{}connections = 1\n[[runs]]\ntool = [\"broken\", \"garbled\", \"slow\", \"gone\"]\n\
         duration = \"1s\"\n[[tool]]\nname = \"broken\"\nkind = \"wrk\"\ncommand = [\"sh\", \
         \"-c\", \"echo no luck >&2; exit 7\"]\n[[tool]]\nname = \"garbled\"\nkind = \"oha\"\n\
         command = [\"echo\", \"hello\"]\n[[tool]]\nname = \"slow\"\nkind = \"wrk\"\ncommand = \
         [\"sh\", \"-c\", \"sleep 600 & sleep 600\"]\n[[tool]]\nname = \"gone\"\nkind = \"wrk\"\n\
         command = [\"no-such-tool\"]\n",
        six_runs(&url, "tool")
            .replace("connections = [1, 2, 3]\n", "")
            .replace("repeats = 2", "repeats = 1\ntime-limit = \"5s\"")
    );
    let desk = Desk::new(&study).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(
        said.stderr
            .contains("gone is not on this machine: its runs are skipped."),
        "{}",
        said.stderr
    );
    assert!(
        said.stdout.contains("gone is not on this machine"),
        "{}",
        said.stdout
    );
    let failures: BTreeMap<String, String> = desk
        .rows()
        .into_iter()
        .map(|row| (row["tool"].clone(), row["failure"].clone()))
        .collect();
    assert_eq!(failures["fake"], "");
    assert_eq!(failures["broken"], "it ended with exit code 7: no luck");
    assert!(
        failures["garbled"].contains("its report is not the JSON"),
        "{failures:?}"
    );
    assert_eq!(failures["slow"], "it took longer than 5s");
    assert_eq!(failures.len(), 4);
    let kept = fs::read_to_string(desk.path("results/broken-1s.1.jsonl")).unwrap();
    assert!(kept.contains("no luck"), "{kept}");
}

#[test]
fn what_cannot_be_studied_is_said_before_anything_runs() {
    let study =
        six_runs("http://127.0.0.1:1/", "tool").replace("url =", "patience = \"100ms\"\nurl =");
    let desk = Desk::new(&study).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(2));
    let sentence = "study.toml, line 9: the target here does not respond at http://127.0.0.1:1/ \
                    within 100ms; see that it starts, or give it more patience.\n";
    assert!(said.stderr.ends_with(sentence), "{}", said.stderr);
    assert_eq!((desk.starts(), said.stdout.as_str()), (0, ""));
    assert!(!desk.path("results").exists(), "nothing is left behind");
    fs::create_dir(desk.path("results")).unwrap();
    fs::write(desk.path("results/study.json"), "{\"study\":\"six\"}\n").unwrap();
    let other = study.replace("name = \"six\"", "name = \"seven\"");
    fs::write(desk.path("study.toml"), other).unwrap();
    let said = desk.study(&[]);
    assert!(
        said.stderr
            .contains("has the results of the study six, not of seven"),
        "{}",
        said.stderr
    );
    assert_eq!(said.stderr.lines().count(), 1);
    let ends = study.replace(
        "patience",
        "start = \"echo no port left; exit 3\"\npatience",
    );
    let ends = ends.replace("100ms", "60s");
    fs::write(desk.path("study.toml"), ends).unwrap();
    let said = desk.study(&[]);
    let sentence = "line 9: the target ended before it served: no port left. Correct its start \
                    command: it must serve until it is stopped.\n";
    assert!(said.stderr.ends_with(sentence), "{}", said.stderr);
    assert!(
        desk.path("results/study.json").exists(),
        "it was there before"
    );
}

#[test]
fn a_flag_that_this_program_does_not_have_is_found_when_the_study_is_read() {
    let study = "name = \"own\"\n[[target]]\nname = \"here\"\nurl = \"http://127.0.0.1:1/\"\n\
                 [[runs]]\nduration = \"1s\"\ntool = \"loadline\"\n\"--no-such-flag\" = true\n";
    let said = Desk::new(study).study(&[]);
    assert_eq!(said.code, Some(2));
    let sentence =
        "study.toml, line 5: loadline does not take this: there is no flag --no-such-flag.";
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
}

#[test]
fn a_target_is_reset_between_runs_and_not_before_the_first() {
    let server = serve();
    let study = six_runs(&format!("http://{}/", server.addr()), "tool").replace(
        "url =",
        "reset = \"echo reset >> {folder}/../../../resets\"\nurl =",
    );
    let desk = Desk::new(&study).with_tool("tool");
    assert_eq!(desk.study(&[]).code, Some(0));
    let resets = fs::read_to_string(desk.path("resets")).unwrap();
    assert_eq!(resets.lines().count(), 5);
}

#[test]
fn real_load_testers_are_run_watched_and_read() {
    let server = serve();
    let study = format!(
        "name = \"real\"\npause = \"10ms\"\npin = {{ tools = 0 }}\n[[target]]\nname = \"here\"\n\
         url = \"http://{}/\"\n[[tool]]\nname = \"ours\"\nkind = \"wrk\"\ncommand = \
         [\"loadline\", \"wrk\"]\n[[runs]]\nconnections = 4\nduration = \"60s\"\nrows = [{{ tool \
         = [\"wrk\", \"h2load\", \"loadline\", \"ours\"] }}, {{ tool = \"ab\", keep-alive = \
         [true, false] }}]\n[quick]\nduration = \"2s\"\n",
        server.addr()
    );
    let desk = Desk::new(&study);
    let said = desk.study(&["--quick"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let rows = desk.rows();
    assert_eq!(rows.len(), 6, "{}", said.stderr);
    for row in rows {
        let number = |name: &str| {
            row[name]
                .parse::<f64>()
                .unwrap_or_else(|_| panic!("{name}: {row:?}"))
        };
        assert!(number("rps") > 100.0, "{row:?}");
        assert!(
            number("avg_cpu") > 1.0 && number("avg_cpu") < 150.0,
            "{row:?}"
        );
        assert!(number("avg_memory") > 500.0, "{row:?}");
        assert!(number("avg_bandwidth") > 10.0, "{row:?}");
        // They are counted once a second: where the machine is slow, when most are closed already.
        assert!(number("avg_open_sockets") > 0.0, "{row:?}");
        assert!(number("cpu_us_per_request") > 0.5, "{row:?}");
        assert!(number("target_avg_memory") > 500.0, "{row:?}");
        assert!(number("elapsed_s") > 0.9, "{row:?}");
        assert_eq!(
            (row["errors"].as_str(), row["failure"].as_str()),
            ("0", ""),
            "{row:?}"
        );
    }
    assert!(said.stdout.contains("wrk-c4-2s"), "{}", said.stdout);
    for plot in ["rps-by-avg_cpu", "rps-by-avg_cpu-wrk", "timeline-memory"] {
        let read = |ending: &str| fs::read(desk.path(&format!("results/plots/{plot}.{ending}")));
        assert!(read("svg").unwrap().starts_with(b"<svg"), "{plot}");
        assert!(read("png").unwrap().starts_with(b"\x89PNG"), "{plot}");
    }
}

#[test]
fn the_studies_that_ship_can_be_read_and_have_all_their_rows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../studies");
    let runs = |name: &str, more: &[&str]| {
        let path = folder.join(name);
        let words = [&["study", text(&path), "--list"], more].concat();
        let said = loadline(&words);
        assert_eq!(said.code, Some(0), "{name}: {}", said.stderr);
        let lines = said
            .stdout
            .lines()
            .filter(|line| !line.contains(' '))
            .map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    let of = |runs: &[String], tool: &str| runs.iter().filter(|run| run.starts_with(tool)).count();
    let tools = runs("http-tools.toml", &[]);
    let counts = ["wrk-", "wrk2-", "oha-", "locust-"].map(|tool| of(&tools, tool));
    assert_eq!(counts, [10, 20, 6, 25]);
    assert!(runs("http-tools.toml", &["--quick"]).len() < 30);
    assert_eq!(runs("concurrency-sweep.toml", &[]).len(), 2 * 2 * 8 * 3);
    assert_eq!(runs("two-servers.toml", &[]).len(), 2 * 5 * 3);
    assert_eq!(runs("speed.toml", &[]).len(), 28 * 4);
    assert_eq!(runs("own-ab/own-ab.toml", &[]).len(), 3 * 2 * 8 * 2 * 3);
    let frameworks = runs("frameworks/frameworks.toml", &[]);
    let counts = [
        "loadline-wrk-",
        "wrk-",
        "loadline-gin",
        "capacity-",
        "versus-",
    ];
    let counts = counts.map(|tool| of(&frameworks, tool));
    assert_eq!(counts, [30, 12, 10, 6, 3]);
}

/// A study of a made-up tool against a test server that it starts, with something more in it.
fn one_run(more: &str, of_target: &str) -> String {
    format!(
        "name = \"one\"\npause = \"10ms\"\n{more}\
         [[tool]]\nname = \"fake\"\nkind = \"wrk\"\ncommand = [\"./tool\"]\n\
         [[target]]\nname = \"own\"\nurl = \"http://127.0.0.1:{{port}}/\"\n\
         start = [\"loadline\", \"serve\", \"--listen\", \"127.0.0.1:{{port}}\"]\n{of_target}\
         [[runs]]\ntool = \"fake\"\nduration = \"1s\"\nconnections = [1, 2]\n"
    )
}

#[test]
fn what_a_study_needs_is_built_once_and_reset_before_each_run() {
    let backend = "[[backend]]\nname = \"db\"\nprepare = \"echo built >> told\"\n\
                   start = [\"loadline\", \"serve\", \"--listen\", \"127.0.0.1:{port}\"]\n\
                   reset = \"echo reset {port} >> told\"\nstop = \"echo stopped >> told\"\n";
    let study = one_run(backend, "check = \"echo {db.port} > port\"\n");
    let desk = Desk::new(&study).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let port = fs::read_to_string(desk.path("port")).unwrap();
    let reset = format!("reset {}", port.trim());
    let told = fs::read_to_string(desk.path("told")).unwrap();
    // Once before the target is started, and before each of both runs.
    let expected = ["built", &reset, &reset, &reset, "stopped"];
    assert_eq!(told.lines().collect::<Vec<_>>(), expected);
    for row in desk.rows() {
        let memory: f64 = row["backends_avg_memory"].parse().unwrap();
        assert!(memory > 500.0, "{row:?}");
        assert!(
            row["backends_cpu_us_per_request"].parse::<f64>().is_ok(),
            "{row:?}"
        );
    }
    let again = desk.study(&[]);
    assert_eq!((again.code, again.stdout), (Some(0), said.stdout));
    let unchanged = fs::read_to_string(desk.path("told")).unwrap();
    assert_eq!(
        unchanged, told,
        "nothing is built where nothing is to be run"
    );
}

#[test]
fn what_is_missing_is_told_and_left_out() {
    let no_go = "prepare = \"echo there is no go here; exit 77\"\n";
    let other = "[[target]]\nname = \"other\"\nurl = \"http://127.0.0.1:{port}/\"\n\
                 start = [\"loadline\", \"serve\", \"--listen\", \"127.0.0.1:{port}\"]\n";
    let desk = Desk::new(&one_run(other, no_go)).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let sentence = "own is left out: there is no go here.\n";
    assert!(said.stdout.contains(sentence), "{}", said.stdout);
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
    let targets: Vec<String> = desk
        .rows()
        .iter()
        .map(|row| row["target"].clone())
        .collect();
    assert_eq!(targets, ["other", "other"]);
    let alone = Desk::new(&one_run("", no_go)).with_tool("tool");
    let said = alone.study(&[]);
    assert_eq!((said.code, alone.starts()), (Some(2), 0));
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
    let none = "none of the study's targets can be had on this machine; install what is missing.";
    assert!(said.stderr.contains(none), "{}", said.stderr);
    let broken = "prepare = \"echo error: no such header; exit 1\"\n";
    let said = Desk::new(&one_run("", broken)).with_tool("tool").study(&[]);
    assert_eq!(said.code, Some(2));
    let sentence =
        "line 11: this command failed: it ended with exit code 1: error: no such header.";
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
}

#[test]
fn targets_that_respond_differently_are_not_compared() {
    let study = |body: &str| {
        let other = format!(
            "[[target]]\nname = \"other\"\nurl = \"http://127.0.0.1:{{port}}/\"\n\
             start = ['loadline', 'serve', '--json', '{body}', '--listen', '127.0.0.1:{{port}}']\n"
        );
        let alike = "[[alike]]\npath = \"/a\"\n[[alike]]\nmethod = \"POST\"\npath = \"/b\"\n\
                     body = \"{}\"\n";
        one_run(&format!("{alike}{other}"), "").replace(
            "\"serve\", \"--listen\"",
            "\"serve\", \"--json\", '{\"id\":1}', \"--listen\"",
        )
    };
    let desk = Desk::new(&study("{\"id\":1}")).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!((said.code, desk.starts()), (Some(0), 4), "{}", said.stderr);
    let desk = Desk::new(&study("{\"id\":2}")).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!((said.code, desk.starts()), (Some(2), 0), "{}", said.stderr);
    let sentence = "line 3: GET /a has not the same response from own and other: from byte 6 on \
                    the bodies are \"{\\\"id\\\":1}\" and \"{\\\"id\\\":2}\". What does not do the \
                    same work can't be compared.";
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
}

#[test]
fn another_program_reads_what_a_study_prints() {
    let desk = Desk::new(&one_run(
        "description = \"Two, one | two.\"\nrepeats = 2\n",
        "",
    ));
    let desk = desk.with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    fs::write(desk.path("stdout"), &said.stdout).unwrap();
    let script = "import csv, re, statistics, sys\n\
        rows = list(csv.DictReader(open('results/results.csv', newline='')))\n\
        assert len(rows) == 4, rows\n\
        wanted = {}\n\
        for row in rows: wanted.setdefault(row['exp_name'], []).append(float(row['rps']))\n\
        wanted = {name: statistics.median(rates) for name, rates in wanted.items()}\n\
        number = lambda text: float(text.replace(' ', ''))\n\
        lines = [line.strip('| \\n').split(' | ') for line in open('results/results.md')\n\
                 if line.startswith('|')]\n\
        table = [dict(zip(lines[0], line)) for line in lines[2:]]\n\
        found = {row['run']: number(row['req/s']) for row in table}\n\
        assert {name: round(rate) for name, rate in wanted.items()} == found, (wanted, found)\n\
        rate = r'^(fake-\\S+)  +2  +([\\d ]+?\\d)  '\n\
        printed = dict(re.findall(rate, open('stdout').read(), re.M))\n\
        printed = {name: number(rate) for name, rate in printed.items()}\n\
        assert printed == found, (printed, found)\n";
    let read = Command::new("python3")
        .current_dir(desk.path(""))
        .args(["-c", script])
        .output()
        .expect("python3 is there");
    let why = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success(), "{why}\n{}", said.stdout);
    let markdown = fs::read_to_string(desk.path("results/results.md")).unwrap();
    assert!(markdown.starts_with("# one\n\n- begun: 2"), "{markdown}");
    assert!(markdown.contains("\n- machine: "), "{markdown}");
}

#[test]
fn a_target_is_warmed_up_by_our_own_detector_before_its_first_run() {
    let more = "warm-up = { round = \"8s\", most = \"8s\", connections = 2 }\n";
    let desk = Desk::new(&one_run(more, "")).with_tool("tool");
    let said = desk.study(&[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let warmed: Vec<String> = desk
        .rows()
        .iter()
        .map(|row| row["warm_up_s"].clone())
        .collect();
    assert_eq!(warmed, ["8", "8"], "both runs are of one start");
    assert_eq!(
        said.stderr.matches("own is being warmed up.").count(),
        1,
        "{}",
        said.stderr
    );
}

/// The sources of these studies are compiled where the compilers are there. What is missing is
/// named, and the rest goes on.
#[test]
#[ignore = "builds services in Go and Java and loads them for some minutes; make soak runs it"]
fn the_studies_of_real_services_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../studies");
    let desk = Desk::new("");
    for (name, targets) in [("own-ab", 2), ("frameworks", 4)] {
        let path = folder.join(name).join(format!("{name}.toml"));
        let results = desk.path(name);
        let words = ["study", text(&path), "--quick", "--results", text(&results)];
        let said = loadline(&words);
        assert_eq!(said.code, Some(0), "{name}: {}{}", said.stdout, said.stderr);
        let csv = fs::read_to_string(results.join("results.csv")).unwrap();
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let names = lines.next().unwrap();
        let place = names.iter().position(|known| *known == "target").unwrap();
        let made: std::collections::BTreeSet<_> = lines.map(|row| row[place].to_owned()).collect();
        let left_out = said.stdout.matches("is left out: ").count();
        println!("{name}: {made:?}, {left_out} left out\n{}", said.stdout);
        assert!(made.len() + left_out >= targets, "{}", said.stdout);
    }
}
