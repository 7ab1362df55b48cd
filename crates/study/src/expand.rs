//! From the rows of a study to its runs: a pure function.
//!
//! Each row is the product of its axes, the last one changing fastest. A run that comes up twice is
//! made once; each is repeated. The order is the file's, or shuffled by a seed, the same on every
//! machine.

use crate::command::OURSELVES;
use crate::file::replace;
use crate::peer::{self, ToolKind};
use crate::problem::{FileError, Problem};
use crate::settings::{Axis, Setting, Settings};
use crate::study::{Order, Row, Study, Tool};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::HashMap;

/// The most runs of a study, repeats included.
const MOST_RUNS: usize = 100_000;

/// One run that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What it is called: tool and settings in short. Repeats share it, no other run does.
    pub name: String,
    /// Which repeat it is, from 1.
    pub repeat: u32,
    /// What is set.
    pub settings: Settings,
    /// The line of the study file where its row stands.
    pub line: usize,
    /// Its place among the runs as the file lists them, from 0; repeats share it.
    pub place: usize,
}

impl Run {
    /// What its files are called.
    pub(crate) fn file_stem(&self) -> String {
        format!("{}.{}", self.name, self.repeat)
    }
}

impl Study {
    /// The runs of the study, or of its quick part, in the order in which they are made.
    ///
    /// # Errors
    /// If a row asks of a tool what it can't do.
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
        if let Order::Random(seed) = self.order {
            shuffle(&mut repeated, seed);
        }
        Ok(repeated)
    }

    /// That this program takes the arguments of the runs that it makes itself, of which `takes`
    /// says what is wrong with them.
    ///
    /// # Errors
    /// If it does not take those of a run.
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

    /// Each run once, in the order of the file.
    fn distinct(&self, quick: bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut names = HashMap::new();
        // Those that are alike are few: what they are called in short tells most of them apart.
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
                        settings,
                        line: row.line,
                        place: runs.len(),
                    });
                }
            }
        }
        runs
    }

    /// Refuses more runs than anybody waits for, before they are listed: each takes a second and
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

    /// The axes of a row. One that names no target goes to all of them.
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

    /// A name that no run before had: where two would share one, the later gets a number.
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

    /// That the tool of a run can do what is set.
    fn check(&self, run: &Run) -> Result<(), FileError> {
        let tool = self.tool(&run.settings.tool);
        let kind = tool.expect("rows name tools that are known").kind;
        peer::check(kind, &run.settings).map_err(|unfit| self.refuse(run.line, unfit.into()))
    }
}

/// The arguments with which this program makes a run itself, if it does.
fn own_words(tool: &Tool, settings: &Settings) -> Option<Vec<String>> {
    let (first, words) = tool.words.split_first()?;
    let is_own = tool.kind == ToolKind::Loadline && first == OURSELVES;
    let call = is_own.then(|| peer::words(tool.kind, settings).ok());
    Some([words, &call.flatten()?].concat())
}

/// The most characters of a run's name: with what comes behind, a file is named after it.
const LONGEST_NAME: usize = 120;

/// A character that may stand in the name of a file.
fn plain(char: char) -> char {
    match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '=' | '+' => char,
        _ => '_',
    }
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
