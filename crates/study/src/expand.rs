//! Expands the rows of a study into its runs: a pure function.
//!
//! Each row is the product of its axes, the last one changing fastest. A run that occurs twice is
//! made once; each run is repeated. The order is the file's, or shuffled by a seed, the same on
//! every machine.

use crate::file::replace;
use crate::peer::{self, OURSELVES};
use crate::problem::{FileError, Problem};
use crate::settings::{Axis, Setting, Settings};
use crate::study::{Order, Row, Study, Tool};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::HashMap;
use std::time::Duration;

/// The most runs of a study, repeats included.
const MOST_RUNS: usize = 100_000;

/// A run to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The name: tool and settings in short. Repeats share it, no other run does.
    pub name: String,
    /// The number of the repeat, from 1.
    pub repeat: u32,
    /// The settings.
    pub settings: Settings,
    /// The configured duration, if there is one.
    pub lasts: Option<Duration>,
    /// The line of the study file where its row stands.
    pub line: usize,
    /// The index of the run in the order of the file, from 0; repeats share it.
    pub place: usize,
}

impl Run {
    /// Returns the name of the run's files, without extension.
    pub(crate) fn file_stem(&self) -> String {
        format!("{}.{}", self.name, self.repeat)
    }
}

impl Study {
    /// Returns the runs of the study, or of its quick part, in the order in which they are made.
    ///
    /// # Errors
    /// If a row has a setting that its tool does not support.
    pub fn runs(&self, quick: bool) -> Result<Vec<Run>, FileError> {
        let repeats = match quick {
            true => self.quick.repeats.unwrap_or(self.repeats),
            false => self.repeats,
        };
        self.refuse_too_many(repeats, quick)?;
        let runs = self.distinct(quick);
        if quick && runs.is_empty() {
            return Err(self.refuse(1, Problem::NothingQuick));
        }
        for run in &runs {
            self.check(run)?;
        }
        let repeated = (1..=repeats).flat_map(|repeat| {
            let again = move |run: &Run| Run {
                repeat,
                ..run.clone()
            };
            runs.iter().map(again)
        });
        let mut repeated: Vec<Run> = repeated.collect();
        match self.order {
            Order::Listed => {}
            Order::Random(seed) => shuffle(&mut repeated, seed),
            Order::ByTarget(seed) => {
                shuffle(&mut repeated, seed);
                repeated = together(repeated);
            }
        }
        Ok(repeated)
    }

    /// Checks that this program accepts the arguments of the runs that it makes itself; `takes`
    /// returns the error in these arguments.
    ///
    /// If the arguments of a run are not accepted.
    pub fn check_own(
        &self,
        runs: &[Run],
        takes: impl Fn(&[String]) -> Result<(), String>,
    ) -> Result<(), FileError> {
        for run in runs.iter().filter(|run| run.repeat == 1) {
            let tool = self.tool(&run.settings.tool);
            let tool = tool.expect("rows name tools that are known");
            let Some(words) = own_words(&tool, &run.settings) else {
                continue;
            };
            takes(&words).map_err(|mistake| {
                self.refuse(run.line, Problem::OwnMistake(tool.name, mistake))
            })?;
        }
        Ok(())
    }

    /// Returns each run once, in the order of the file.
    fn distinct(&self, quick: bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut names = HashMap::new();
        // Runs with the same short name are few, so only these are compared in full.
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for row in self.rows.iter().filter(|row| row.quick || !quick) {
            for settings in self.product(row, quick) {
                let key = format!("{} {} {}", settings.tool, settings.target, settings.short());
                let alike = alike.entry(key).or_default();
                if alike.iter().all(|&known| runs[known].settings != settings) {
                    alike.push(runs.len());
                    runs.push(Run {
                        name: self.unused_name(&settings, &mut names),
                        repeat: 1,
                        lasts: self.lasts(&settings),
                        settings,
                        line: row.line,
                        place: runs.len(),
                    });
                }
            }
        }
        runs
    }

    /// Refuses an unreasonable number of runs before they are listed: each run takes a second or
    /// more.
    fn refuse_too_many(&self, repeats: u32, quick: bool) -> Result<(), FileError> {
        let mut runs = 0_usize;
        for row in self.rows.iter().filter(|row| row.quick || !quick) {
            let axes = self.axes(row, quick);
            let lengths = axes.iter().map(|axis| axis.values.len());
            runs = runs.saturating_add(lengths.fold(1, usize::saturating_mul));
            if runs.saturating_mul(repeats as usize) > MOST_RUNS {
                return Err(self.refuse(row.line, Problem::TooManyRuns(MOST_RUNS)));
            }
        }
        Ok(())
    }

    fn product(&self, row: &Row, quick: bool) -> Vec<Settings> {
        let mut all = vec![Settings::default()];
        for axis in self.axes(row, quick) {
            let with = |settings: &Settings| {
                let settings = settings.clone();
                axis.values.iter().map(move |value| {
                    let mut settings = settings.clone();
                    settings.set(value);
                    settings
                })
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    /// Returns the axes of a row. A row without a target has all targets.
    fn axes(&self, row: &Row, quick: bool) -> Vec<Axis> {
        let mut axes = row.axes.clone();
        let has = |axes: &[Axis], name: &str| axes.iter().any(|axis| axis.name == name);
        let changes = self.quick.axes.iter().filter(|_| quick);
        for change in changes.filter(|change| has(&row.axes, &change.name)) {
            replace(&mut axes, change.clone());
        }
        if !has(&axes, "target") {
            let targets = self.targets.iter();
            axes.push(Axis {
                name: "target".to_owned(),
                line: row.line,
                values: targets
                    .map(|target| Setting::Target(target.name.clone()))
                    .collect(),
            });
        }
        axes
    }

    /// Returns a new name for a run: if two would share a name, the later one gets a number.
    fn unused_name(&self, settings: &Settings, names: &mut HashMap<String, u32>) -> String {
        let mut parts = vec![settings.tool.clone()];
        if self.targets.len() > 1 {
            parts.push(settings.target.clone());
        }
        parts.push(settings.short());
        parts.retain(|part| !part.is_empty());
        let name: String = parts
            .join("-")
            .chars()
            .map(plain)
            .take(LONGEST_NAME)
            .collect();
        let count = names.entry(name.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => name,
            count => format!("{name}+{count}"),
        }
    }

    /// Returns the configured duration of a run with these settings.
    fn lasts(&self, settings: &Settings) -> Option<Duration> {
        self.tool(&settings.tool)?.kind.lasts(settings)
    }

    /// Checks that the tool of a run supports its settings.
    fn check(&self, run: &Run) -> Result<(), FileError> {
        let tool = self.tool(&run.settings.tool);
        let kind = tool.expect("rows name tools that are known").kind;
        peer::check(kind, &run.settings).map_err(|unfit| self.refuse(run.line, unfit.into()))
    }
}

/// Returns the arguments of a run that this program makes itself; `None` for other runs.
fn own_words(tool: &Tool, settings: &Settings) -> Option<Vec<String>> {
    let (first, words) = tool.words.split_first()?;
    let is_own = tool.kind.is_own() && first == OURSELVES;
    let call = is_own.then(|| peer::words(tool.kind, settings).ok());
    Some([words, &call.flatten()?].concat())
}

/// The most characters of a run's name: with an extension, it becomes a file name.
const LONGEST_NAME: usize = 120;

/// Replaces a character that may not occur in file names.
fn plain(char: char) -> char {
    match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '=' | '+' => char,
        _ => '_',
    }
}

/// The same runs, repeat by repeat, those of a target together. Otherwise they keep their order.
fn together(runs: Vec<Run>) -> Vec<Run> {
    let mut blocks: Vec<Vec<Run>> = Vec::new();
    for run in runs {
        let is_its_own = |block: &&mut Vec<Run>| {
            let first = &block[0];
            (first.repeat, &first.settings.target) == (run.repeat, &run.settings.target)
        };
        match blocks.iter_mut().find(is_its_own) {
            Some(block) => block.push(run),
            None => blocks.push(vec![run]),
        }
    }
    blocks.sort_by_key(|block| block[0].repeat);
    blocks.into_iter().flatten().collect()
}

/// The shuffle of Fisher and Yates (Knuth, The Art of Computer Programming, volume 2, 3.4.2,
/// algorithm P). The remainder prefers small numbers by less than one in 2^50, which nobody sees.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for last in (1..items.len()).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        items.swap(last, other as usize);
    }
}

#[cfg(test)]
mod tests;
