//! The scenarios of a plan file: each `[[scenario]]` has the keys of a run's load and requests, and
//! a few of its own.

use super::{Entry, PlanFileError, Problem, Reader, Variables, scalar};
use crate::flags;
use crate::flags::Planned;
use crate::flags::run::load::LoadFlags;
use crate::flags::run::request::RequestFlags;
use crate::flags::run::{RunFlags, ScenarioFlags};
use clap::Args;
use loadline_metrics::Key;
use loadline_plan::{Part, SCENARIO_TAG, parse_count, parse_duration, parse_small_count};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use toml::de::{DeTable, DeValue};

/// Keys of a load and of requests that belong to the whole run all the same.
const OF_WHOLE_RUN: [&str; 7] = [
    "threads",
    "seed",
    "until",
    "warmup",
    "drain",
    "repeat",
    "traceparent",
];

/// The keys of a scenario in a plan file.
#[derive(Debug, PartialEq)]
pub(super) struct ScenarioTable {
    part: Part,
    weight: Option<u32>,
    entries: Vec<Entry>,
}

impl Eq for ScenarioTable {}

impl ScenarioTable {
    /// As the command line would have it.
    pub(super) fn flags(&self) -> Result<ScenarioFlags, clap::Error> {
        let words = self.entries.iter().flat_map(|entry| &entry.words);
        let flags: RunFlags = flags::parse_planned(words.cloned())?;
        Ok(ScenarioFlags {
            part: self.part.clone(),
            weight: self.weight,
            load: flags.load,
            request: flags.request,
        })
    }
}

impl<F: Planned> Reader<'_, F> {
    /// Reads all scenarios of a file.
    pub(super) fn scenarios(
        &self,
        span: Range<usize>,
        value: &DeValue<'_>,
    ) -> Result<Vec<ScenarioTable>, PlanFileError> {
        let no_scenarios = || self.error(span.clone(), Some("scenario"), Problem::NoScenarios);
        let tables = value.as_array().ok_or_else(no_scenarios)?;
        let mut read: Vec<ScenarioTable> = Vec::new();
        for table in tables {
            let own = table.get_ref().as_table().ok_or_else(no_scenarios)?;
            let scenario = self.scenario(table.span(), own)?;
            let name = &scenario.part.name;
            if read.iter().any(|known| known.part.name == *name) {
                let problem = Problem::NameTwice(name.clone());
                return Err(self.error(table.span(), Some("name"), problem));
            }
            read.push(scenario);
        }
        Ok(read)
    }

    fn scenario(
        &self,
        span: Range<usize>,
        table: &DeTable<'_>,
    ) -> Result<ScenarioTable, PlanFileError> {
        let mut scenario = ScenarioTable {
            part: Part::default(),
            weight: None,
            entries: Vec::new(),
        };
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in keys {
            let read = self.scenario_key(&mut scenario, key.get_ref(), value.get_ref());
            read.map_err(|problem| self.error(key.span(), Some(key.get_ref()), problem))?;
        }
        if scenario.part.name.is_empty() {
            return Err(self.error(span, Some("scenario"), Problem::NoName));
        }
        Ok(scenario)
    }

    fn scenario_key(
        &self,
        scenario: &mut ScenarioTable,
        key: &str,
        value: &DeValue<'_>,
    ) -> Result<(), Problem> {
        let part = &mut scenario.part;
        let variables = &self.variables;
        match key.replace('-', "_").as_str() {
            "name" => {
                part.name = scalar(value, variables)?;
                let name = Key::tagged("-", part.series_tags());
                name.map(drop).map_err(in_words)?;
            }
            "start" => part.start = time(value, variables)?,
            "graceful_stop" => part.graceful_stop = time(value, variables)?,
            "iterations_per_user" => {
                let count = parse_count(&scalar(value, variables)?);
                let count = count.map_err(|error| Problem::Value(error.to_string()))?;
                part.iterations_per_user = Some(count);
            }
            "tags" => part.tags = tags(value, variables)?,
            "weight" => {
                let weight = parse_small_count(&scalar(value, variables)?);
                let weight = weight.map_err(|error| Problem::Value(error.to_string()))?;
                scenario.weight = Some(weight);
            }
            id if !may_have(id) => return Err(self.refusal(id)),
            _ => scenario.entries.push(self.entry(key, value)?),
        }
        self.variables.end_key(key, Ok(()))
    }

    /// Returns the reason why a scenario can't have this key.
    fn refusal(&self, id: &str) -> Problem {
        let mut known = self.command.get_arguments();
        match known.any(|argument| argument.get_id() == id) {
            true => Problem::OfWholeRun,
            false => super::unknown_key::<F>(id),
        }
    }
}

/// True if a key belongs to a load or to requests.
fn may_have(id: &str) -> bool {
    let command = RequestFlags::augment_args(LoadFlags::augment_args(clap::Command::new("")));
    let mut known = command.get_arguments();
    known.any(|argument| argument.get_id() == id) && !OF_WHOLE_RUN.contains(&id)
}

fn time(value: &DeValue<'_>, variables: &Variables) -> Result<Duration, Problem> {
    let time = parse_duration(&scalar(value, variables)?);
    time.map_err(|error| Problem::Value(error.to_string()))
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "any other problem stays what it is"
)]
fn tags(value: &DeValue<'_>, variables: &Variables) -> Result<BTreeMap<String, String>, Problem> {
    let table = value.as_table().ok_or(Problem::NoTags)?;
    let mut tags = BTreeMap::new();
    for (tag, value) in table {
        let value = scalar(value.get_ref(), variables).map_err(|problem| match problem {
            Problem::NoValue => Problem::NoTags,
            other => other,
        })?;
        if tag.get_ref() == SCENARIO_TAG {
            let sentence = "the tag scenario is the scenario's name; give the tag another name.";
            return Err(Problem::Value(sentence.to_owned()));
        }
        tags.insert(tag.get_ref().to_string(), value);
    }
    Key::tagged("-", tags.clone()).map_err(in_words)?;
    Ok(tags)
}

/// A name that can't be one.
fn in_words(problem: impl std::fmt::Display) -> Problem {
    Problem::Value(format!("{problem}."))
}
