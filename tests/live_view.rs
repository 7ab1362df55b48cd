//! The live view, on a real terminal of its own: `tmux` has a screen of a given size, takes keys,
//! and says what the screen shows.

use crate::rig::{beside_others, loadline, program, serve, text, url};
use loadline_testbed::Server;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::RwLockReadGuard;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a screen may take to show what is expected: of a machine that does much else.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(60);
const NEED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/need");

/// A window of a terminal with a shell, on a server of its own.
struct Window {
    socket: String,
    _beside_others: RwLockReadGuard<'static, ()>,
}

impl Window {
    /// A window of 100 columns and 30 lines.
    fn open() -> Window {
        let needed = Command::new(NEED).arg("tmux=tmux").status();
        assert!(needed.expect("scripts/need is there").success());
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let window = Window {
            socket: format!("loadline-{}-{count}", std::process::id()),
            _beside_others: beside_others(),
        };
        // No configuration of the user's, and a locale of UTF-8.
        let shell = "env -u NO_COLOR LC_ALL=C.UTF-8 PS1='$ ' sh";
        let size = ["-x", "100", "-y", "30"];
        let made = window.tmux(
            &[
                &["-f", "/dev/null", "new-session", "-d"],
                &size[..],
                &[shell],
            ]
            .concat(),
        );
        assert!(made.status.success(), "{made:?}");
        window.shows(&["$"]);
        window
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &self.socket]).args(words);
        command.output().expect("tmux is there")
    }

    /// Types a line into the shell.
    fn run(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Enter"]);
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", "-l", key]);
    }

    fn resize(&self, columns: &str, lines: &str) {
        self.tmux(&["resize-window", "-x", columns, "-y", lines]);
    }

    /// What the screen shows, as text.
    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// The same with its colours.
    fn with_escapes(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-e"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// The same with what was scrolled away.
    fn with_history(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-S", "-1000"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// Waits until the screen shows all of these texts, and returns it.
    fn shows(&self, texts: &[&str]) -> String {
        let deadline = Instant::now() + SCREEN_TIMEOUT;
        loop {
            let screen = self.screen();
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(Instant::now() < deadline, "no {texts:?} on\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn line(server: &Server, flags: &str) -> String {
    let (program, url) = (program(), url(server, "delay=2ms"));
    format!("{} {flags} '{url}'; echo code=$?", text(&program))
}

#[test]
fn a_quit_signal_gives_the_screen_of_before_back() {
    let (server, window) = (serve(), Window::open());
    window.run("ulimit -c 0; echo the screen of before");
    window.shows(&["\nthe screen of before\n"]);
    window.run(&line(&server, "-r 200 -d 300s"));
    window.shows(&["achieved", "p99"]);
    window.tmux(&["send-keys", "C-\\"]);
    let after = window.shows(&["\nthe screen of before", "code=131"]);
    assert!(!after.contains("achieved"), "{after}");
    // The terminal prints what is typed again.
    window.run("echo typed");
    window.shows(&["$ echo typed\ntyped\n"]);
}

#[test]
fn keys_change_the_load_on_the_view_and_the_screen_of_before_is_back_at_the_end() {
    let (server, window) = (serve(), Window::open());
    window.run("echo the screen of before");
    window.shows(&["\nthe screen of before\n"]);
    window.run(&line(
        &server,
        "-r 200 -d 300s --check 'p99<9s' --allow-invalid --full",
    ));
    let first = window.shows(&["achieved", "p99", "passed p99<9s", "+ more load", "left"]);
    assert!(!first.contains("screen of before"), "{first}");
    window.press("+");
    window.shows(&["load: 105 % of the plan", "The load is 105 % of the plan."]);
    window.shows(&["Rate 210/s asked"]);
    window.press("?");
    window.shows(&["┌ Help", "raises the load by 5 %"]);
    window.press("?");
    window.press("q");
    window.shows(&["code=130"]);
    let after = window.with_history();
    for expected in [
        "\nthe screen of before",
        "The load is 105 % of the plan.",
        "Response time, timed from the intended start",
        "changed to 105 % of the plan",
    ] {
        assert!(after.contains(expected), "no {expected:?} in\n{after}");
    }
    assert!(
        !after.contains("┌ Help") && !after.contains("panicked"),
        "{after}"
    );
}

#[test]
fn a_window_may_become_tiny_and_large_again() {
    let (server, window) = (serve(), Window::open());
    window.run(&line(&server, "-c 2 -d 300s --allow-invalid"));
    window.shows(&["Histogram", "Statuses and errors"]);
    window.resize("60", "10");
    window.shows(&["Enlarge the window to 80 x 24"]);
    window.resize("5", "2");
    window.resize("110", "35");
    window.shows(&["Histogram", "Statuses and errors"]);
    window.press("q");
    let end = window.shows(&["code=130"]);
    assert!(!end.contains("panicked"), "{end}");
}

#[test]
fn colours_are_there_unless_they_are_not_wanted() {
    let (server, window) = (serve(), Window::open());
    let is_coloured = |screen: &str| {
        let colour = regex::Regex::new("\x1b\\[[0-9;]*[34][0-7][0-9;]*m").unwrap();
        colour.is_match(screen)
    };
    for (before, flags, coloured) in [
        ("", "", true),
        ("NO_COLOR=1 ", "", false),
        ("", "--color never", false),
    ] {
        let flags = format!("-c 2 -d 300s --allow-invalid --short {flags}");
        window.run(&(before.to_owned() + &line(&server, &flags)));
        window.shows(&["validity: "]);
        let screen = window.with_escapes();
        assert_eq!(
            is_coloured(&screen),
            coloured,
            "{before}{flags}: {screen:?}"
        );
        window.press("q");
        window.shows(&["code=130"]);
        window.run("clear");
        while window.screen().contains("code=") {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_line_stays_where_no_view_is_wanted_and_on_a_terminal_that_can_not_draw() {
    let (server, window) = (serve(), Window::open());
    window.run(&line(&server, "-c 2 -d 300s --allow-invalid --no-live"));
    let screen = window.shows(&["Keys: + and -", "failed", "left"]);
    assert!(!screen.contains("Histogram"), "{screen}");
    window.press("q");
    window.shows(&["code=130"]);
    window.run("clear");
    let dumb = format!("TERM=dumb {}", line(&server, "-c 2 -d 300s --live"));
    window.run(&dumb);
    window.shows(&["--live draws on the terminal at stderr", "code=2"]);
}

#[test]
fn several_runs_share_the_view_and_leave_a_line_each() {
    let (server, window) = (serve(), Window::open());
    let flags = "-r 100 -d 3s --repeat 2 --allow-invalid --short";
    window.run(&line(&server, flags));
    window.shows(&["run 1 of 2: GET http", "q stop"]);
    window.shows(&["run 2 of 2: GET http", "run 1 of 2: 3 s of 3 s"]);
    window.shows(&["\ncode=0"]);
    let after = window.with_history();
    assert!(after.contains("run 2 of 2: 3 s of 3 s"), "{after}");
}

#[test]
fn what_a_script_prints_is_on_the_view_and_behind_it() {
    let (server, window) = (serve(), Window::open());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("talks.lua");
    let talks = "local n = 0\nrequest = function() n = n + 1\n\
                 if n == 5 then print('said by the script') end\nreturn wrk.format() end";
    std::fs::write(&script, talks).unwrap();
    let flags = format!(
        "--script {} -r 5 -c 1 -t 1 -d 300s --allow-invalid",
        text(&script)
    );
    window.run(&line(&server, &flags));
    window.shows(&["Statuses and errors", "validity:", "\nsaid by the script"]);
    window.press("q");
    window.shows(&["code=130"]);
    let after = window.with_history();
    assert!(after.contains("\nsaid by the script"), "{after}");
}

#[test]
fn a_window_that_is_closed_ends_the_run_without_a_panic() {
    let (server, window) = (serve(), Window::open());
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (code, report, script) = (file("code"), file("report.txt"), file("run.sh"));
    // A shell that outlives its terminal keeps the exit code; the command hears of the end.
    let run = format!(
        "trap : HUP; {} -c 2 -d 300s --allow-invalid '{}' > {}; echo $? > {}",
        text(&program()),
        url(&server, "delay=2ms"),
        text(&report),
        text(&code)
    );
    std::fs::write(&script, run).unwrap();
    window.run(&format!("sh {}", text(&script)));
    window.shows(&["Histogram", "validity:"]);
    window.tmux(&["kill-window"]);
    assert_eq!(wait_for(&code).trim(), "130", "the exit code");
    let report = std::fs::read_to_string(&report).expect("the report was written");
    assert!(report.contains("interrupted"), "{report}");
    assert!(
        !report.contains('\x1b'),
        "the view is not in the report: {report}"
    );
}

/// The file, once something was written into it.
fn wait_for(path: &Path) -> String {
    let deadline = Instant::now() + SCREEN_TIMEOUT;
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if !text.trim().is_empty() => return text,
            _ => assert!(Instant::now() < deadline, "the command goes on"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_pipe_has_no_view_and_says_so_where_one_was_asked_for() {
    let server = serve();
    let url = url(&server, "delay=1ms");
    let refused = loadline(&["-n", "10", "--live", &url]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("run the command on a terminal"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        (refused.stderr.lines().count(), server.counts().requests),
        (1, 0)
    );
    let contradicting = loadline(&["-n", "10", "--live", "--no-live", &url]);
    assert_eq!(contradicting.code, Some(2));
    assert!(
        contradicting
            .stderr
            .contains("--no-live does not; give one of them.")
    );
}

#[test]
fn in_oha_the_keys_change_the_scale_and_the_report_follows() {
    let (server, window) = (serve(), Window::open());
    let (program, url) = (program(), url(&server, "delay=2ms"));
    let oha = format!("{} oha -z 300s -c 2 '{url}'", text(&program));
    window.run(&format!("{oha}; echo code=$?"));
    window.shows(&["Histogram", "Statuses and errors"]);
    window.press("?");
    window.shows(&["┌ Help"]);
    window.press("?");
    window.press("-");
    window.press("q");
    window.shows(&["Status code distribution:", "code=0"]);
    let after = window.with_history();
    assert!(
        after.contains("Success rate:") && !after.contains("panicked"),
        "{after}"
    );
}
