//! The study file: TOML, read with the position of each key.
//!
//! ```toml
//! name = "two-servers"          # of the file, if it says none
//! seed = 7                      # of the order; order = "listed" keeps that of the file
//! repeats = 3
//! pause = "2s"
//! pin = { tools = "1", targets = "0" }
//!
//! [[target]]
//! name = "nginx"
//! url = "http://127.0.0.1:{port}/"
//! start = ["nginx", "-c", "{folder}/nginx.conf"]
//! files = { "nginx.conf" = "…" }
//!
//! [[runs]]
//! tool = ["loadline", "wrk"]    # a list is an axis
//! duration = "10s"
//! rows = [{ connections = 10 }, { connections = [100, 200], threads = 2 }]
//! ```
//!
//! Every mistake is reported as one sentence with file and line. Reading opens no other file.

mod reader;
mod runs;
pub(crate) use runs::replace;
mod sections;

use crate::problem::FileError;
use crate::study::{Order, Pin, Quick, Study};
use reader::{Entry, Reader};
use std::path::Path;
use std::time::Duration;

impl Study {
    /// Reads the whole text of the file at `path`.
    ///
    /// # Errors
    /// If the text does not describe a study.
    pub fn parse(path: &Path, text: &str) -> Result<Study, FileError> {
        let reader = Reader::new(path, text);
        let table = reader.table()?;
        let mut study = Study::empty(path);
        let mut runs = None;
        for entry in reader.entries(table.get_ref()) {
            match entry.key.as_str() {
                "runs" => runs = Some(entry),
                _ => study.read(&reader, &entry)?,
            }
        }
        if study.targets.is_empty() {
            return Err(reader.missing("[[target]]", "say where the load goes."));
        }
        let no_runs = || reader.missing("[[runs]]", "say what is to be run.");
        study.rows = runs::rows(&reader, &runs.ok_or_else(no_runs)?, &study)?;
        runs::check_axes(&reader, &study.quick.axes, &study)?;
        let warm_ups = [&study.warm_up, &study.quick.warm_up];
        for warm_up in warm_ups.into_iter().flatten() {
            runs::check_script(&reader, warm_up.script.as_deref(), &study)?;
        }
        Ok(study)
    }

    fn empty(path: &Path) -> Study {
        let stem = path.file_stem().unwrap_or_default();
        Study {
            name: stem.to_string_lossy().into_owned(),
            path: path.to_owned(),
            repeats: 1,
            order: Order::Random(1),
            pause: Duration::from_secs(1),
            time_limit: None,
            pin: Pin::default(),
            tools: Vec::new(),
            backends: Vec::new(),
            targets: Vec::new(),
            alike: Vec::new(),
            warm_up: None,
            rows: Vec::new(),
            plots: Vec::new(),
            description: String::new(),
            quick: Quick::default(),
        }
    }

    /// Reads one key, except for the runs, which need all other keys.
    fn read(&mut self, reader: &Reader<'_>, entry: &Entry<'_>) -> Result<(), FileError> {
        match entry.key.as_str() {
            "name" => self.name = reader.name(entry)?,
            "description" => self.description = reader.text(entry)?,
            "repeats" => self.repeats = reader.small_count(entry)?,
            "seed" => self.seed(reader.count(entry)?),
            "order" => self.order(reader, entry)?,
            "pause" => self.pause = reader.duration(entry)?,
            "time-limit" => self.time_limit = Some(reader.duration(entry)?),
            "pin" => self.pin = sections::pin(reader, entry)?,
            "tool" => self.tools = sections::tools(reader, entry)?,
            "backend" => self.backends = sections::backends(reader, entry)?,
            "target" => self.targets = sections::targets(reader, entry)?,
            "alike" => self.alike = sections::alike(reader, entry)?,
            "warm-up" => self.warm_up = Some(sections::warm_up(reader, entry)?),
            "plot" => self.plots = sections::plots(reader, entry)?,
            "quick" => self.quick = runs::quick(reader, entry)?,
            _ => return Err(reader.unknown(entry, &KEYS)),
        }
        Ok(())
    }

    /// Sets the seed; it has no effect on a listed order.
    fn seed(&mut self, seed: u64) {
        if let Order::Random(known) | Order::ByTarget(known) = &mut self.order {
            *known = seed;
        }
    }

    fn order(&mut self, reader: &Reader<'_>, entry: &Entry<'_>) -> Result<(), FileError> {
        let (Order::Random(seed) | Order::ByTarget(seed)) = self.order else {
            return Ok(());
        };
        self.order = match reader.text(entry)?.as_str() {
            "listed" => Order::Listed,
            "by-target" => Order::ByTarget(seed),
            "random" => Order::Random(seed),
            other => return Err(reader.not_one_of(entry, other, &ORDERS)),
        };
        Ok(())
    }
}

/// The keys of the file itself.
const KEYS: [&str; 16] = [
    "name",
    "description",
    "seed",
    "order",
    "repeats",
    "pause",
    "time-limit",
    "pin",
    "tool",
    "backend",
    "target",
    "alike",
    "warm-up",
    "plot",
    "quick",
    "runs",
];

/// The words for an order.
const ORDERS: [&str; 3] = ["random", "by-target", "listed"];

#[cfg(test)]
mod tests;
