//! Locust, by its table of statistics.

use super::{Call, Captured, Peer, RunTarget, Unreadable, Unsupported, Words, whole_seconds};
use crate::figures::{Figures, Percentiles};
use crate::settings::Settings;
use std::collections::HashMap;

/// Locust. Connections are its users, threads its processes. Without the user's own script it gets
/// one whose `FastHttpUser`s only request the URL. All users start at once, unless its own flag
/// sets the rate.
pub(super) struct Locust;

/// The prefix of its tables' names, in the folder of the run.
const TABLES: &str = "locust";
/// The table that is read.
const TABLE: &str = "locust_stats.csv";
/// The file of the generated script.
const SCRIPT: &str = "locustfile.py";

impl Peer for Locust {
    fn call(&self, settings: &Settings, place: &RunTarget<'_>) -> Result<Call, Unsupported> {
        match settings {
            Settings { rate: Some(_), .. } => return Err(Unsupported::NoRate("locust")),
            Settings {
                requests: Some(_), ..
            } => return Err(Unsupported::NoRequests("locust")),
            _ => {}
        }
        let no_end = Unsupported::NoEnd("locust", "a duration");
        let duration = whole_seconds("locust", settings.duration.ok_or(no_end)?)?;
        let mut words = Words::of(&["--headless", "--only-summary", "--exit-code-on-error", "0"]);
        words.flag("-t", Some(format!("{duration}s")));
        words.flag("-u", settings.connections);
        words.flag("-r", settings.connections);
        let processes = settings.threads.filter(|count| *count > 1);
        words.flag("--processes", processes);
        // The default port may be in use, for example by another Locust.
        for flag in ["--master-bind-port", "--master-port"] {
            words.flag(flag, processes.map(|_| place.port));
        }
        words.flag("--csv", Some(place.folder.join(TABLES).display()));
        let script = place.folder.join(SCRIPT);
        let mut files = Vec::new();
        let path = place.script.unwrap_or_else(|| {
            files.push((script.clone(), program(settings, place.url)));
            &script
        });
        words.flag("-f", Some(path.display()));
        words.flag("-H", Some(place.url).filter(|_| place.script.is_some()));
        words.flags(settings);
        Ok(Call {
            words: words.0,
            files,
        })
    }

    fn read(&self, captured: &Captured<'_>) -> Result<Figures, Unreadable> {
        let table = std::fs::read_to_string(captured.folder.join(TABLE));
        read(&table.map_err(|_| Unreadable::NoFile)?)
    }
}

/// Returns a script whose users request the URL.
fn program(settings: &Settings, url: &str) -> String {
    let url = serde_json::json!(url);
    let headers = match settings.keep_alive {
        Some(false) => ", headers={\"Connection\": \"close\"}",
        _ => "",
    };
    format!(
        "from locust import FastHttpUser, task\n\n\n\
         class Load(FastHttpUser):\n    host = {url}\n\n    @task\n    def load(self):\n        \
         self.client.get({url}{headers})\n"
    )
}

/// Reads the table: a line of names and, as the last one, a line of all requests together.
fn read(table: &str) -> Result<Figures, Unreadable> {
    let mut lines = table.lines();
    let names = lines.next().ok_or(Unreadable::Empty)?;
    let all = lines.find(|line| line.starts_with(",Aggregated,"));
    let all = all.ok_or(Unreadable::Missing("line of all requests"))?;
    let cells: HashMap<&str, &str> = names.split(',').zip(all.split(',')).collect();
    let number = |name: &str| cells.get(name)?.trim().parse::<f64>().ok();
    let us = |name: &str| number(name).map(|ms| ms * 1e3);
    let requests = number("Request Count").ok_or(Unreadable::Missing("number of requests"))?;
    let failures = number("Failure Count").unwrap_or(0.0);
    // Without any request Locust reports zero, which is not a time.
    let us = |name: &str| us(name).filter(|_| requests > 0.0);
    Ok(Figures {
        rps: number("Requests/s").ok_or(Unreadable::Missing("requests a second"))?,
        answers: Some((requests - failures).max(0.0) as u64),
        errors: Some(failures as u64),
        mean_us: us("Average Response Time"),
        max_us: us("Max Response Time"),
        percentiles: Percentiles::each(|percentile| us(&format!("{percentile}%"))),
        resolution_us: Some(1e3),
        ..Figures::default()
    })
}
