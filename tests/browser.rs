//! A browser without a window, driven by its own protocol over a pipe (Chrome DevTools Protocol):
//! for pages that a server serves, which no script can be put into.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time after which a page that does not get there hangs.
const HANGS: Duration = Duration::from_secs(120);
/// Its descriptor 3 takes messages, and 4 has its answers.
const LINE: &str = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --no-first-run --disable-sync --disable-background-networking --disable-component-update \
    --host-resolver-rules='MAP rebound.example 127.0.0.1 , MAP * ~NOTFOUND , \
    EXCLUDE 127.0.0.1 , EXCLUDE localhost' \
    --window-size=1440,900 --remote-debugging-pipe --user-data-dir=\"$0\" \
    3<&0 4>&1 >/dev/null 2>&1";

/// A page in a browser.
pub(crate) struct Tab {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    number: u64,
    /// What went wrong in the page: exceptions, errors on its console, refused requests.
    pub(crate) errors: Vec<String>,
    _profile: TempDir,
}

impl Tab {
    /// Opens a page; `None` where there is no browser.
    #[allow(clippy::print_stderr, reason = "a test that is left out says why")]
    pub(crate) fn open(url: &str) -> Option<Tab> {
        if Command::new("chromium").arg("--version").output().is_err() {
            eprintln!("Left out: Chromium is not installed, and the page can't be looked at.");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", LINE, profile.path().to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell is there");
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut tab = Tab {
            child,
            to,
            from: BufReader::new(from),
            session: None,
            number: 0,
            errors: Vec::new(),
            _profile: profile,
        };
        let made = tab.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = tab.call("Target.attachToTarget", target);
        tab.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            tab.call(domain, json!({}));
        }
        tab.call("Page.navigate", json!({ "url": url }));
        Some(tab)
    }

    /// Returns the value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let mut answer = self.call("Runtime.evaluate", asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer:#}"
        );
        answer["result"]["value"].take()
    }

    /// Shows the page in a window of this width, in pixels.
    pub(crate) fn resize(&mut self, width: u32) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Returns a measurement of the page, such as `ScriptDuration` in seconds.
    #[allow(dead_code, reason = "not all tests that look at a page measure it")]
    pub(crate) fn metric(&mut self, name: &str) -> f64 {
        self.call("Performance.enable", json!({}));
        let told = self.call("Performance.getMetrics", json!({}));
        let metrics = told["metrics"].as_array().expect("measurements");
        let metric = metrics.iter().find(|metric| metric["name"] == name);
        let value = metric.and_then(|metric| metric["value"].as_f64());
        value.expect("it is measured")
    }

    /// Has the page forget what nothing refers to.
    #[allow(dead_code, reason = "not all tests that look at a page measure it")]
    pub(crate) fn collect_garbage(&mut self) {
        self.call("HeapProfiler.collectGarbage", json!({}));
    }

    /// Returns the memory that the process of the page alone has, in bytes.
    #[allow(dead_code, reason = "not all tests that look at a page measure it")]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let pages = processes_under(self.child.id());
        let pages = pages.into_iter().filter(|id| {
            let line = fs::read_to_string(format!("/proc/{id}/cmdline"));
            line.is_ok_and(|line| line.contains("--type=renderer"))
        });
        // One more may wait for the next page.
        pages.map(own_memory_bytes).max().expect("a page has one")
    }

    /// Returns the page as it is printed, in base64: a PDF.
    pub(crate) fn printed(&mut self) -> String {
        let printed = self.call("Page.printToPDF", json!({ "printBackground": true }));
        printed["data"].as_str().expect("a document").to_owned()
    }

    /// Waits until an expression is true. Others wait for a test that hangs: it fails in the end.
    pub(crate) fn await_that(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != Value::Bool(true) {
            assert!(begun.elapsed() < HANGS, "never true: {expression}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a command, and returns its result. What the browser tells meanwhile is noted.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let bytes = message.to_string() + "\0";
        self.to
            .write_all(bytes.as_bytes())
            .expect("the browser runs");
        loop {
            let mut told = self.receive();
            if told["id"] == self.number {
                assert!(told["error"].is_null(), "{method}: {told:#}");
                return told["result"].take();
            }
            self.note(&told);
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from
            .read_until(0, &mut bytes)
            .expect("the browser runs");
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn note(&mut self, told: &Value) {
        let parameters = &told["params"];
        let is_wrong = match told["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => parameters["type"] == "error",
            Some("Log.entryAdded") => parameters["entry"]["level"] == "error",
            _ => false,
        };
        if is_wrong {
            self.errors.push(parameters.to_string());
        }
    }
}

/// The processes that this one has started, and those that they have.
fn processes_under(id: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|id| id.parse().ok());
    let mut found = vec![id];
    children.for_each(|child| found.extend(processes_under(child)));
    found
}

/// The memory of a process that it shares with nobody, in bytes.
fn own_memory_bytes(id: u32) -> u64 {
    let summary = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
    let own = summary.lines().filter(|line| line.starts_with("Private_"));
    let kib = own.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.sum::<u64>() << 10
}

impl Drop for Tab {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
