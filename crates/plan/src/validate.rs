//! Refuses plans that can't be run, before anything starts.

mod connection;
mod http2;
mod load;

use crate::{
    Bound, Check, Clocked, Comparison, Contradiction, HttpVersion, Metric, Part, Plan, Shape,
};
use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroU32;
use std::time::Duration;

/// The most names or tags that a message lists.
const MOST_LISTED: usize = 5;

/// A condition under which a plan is refused, and its message.
type Rule = (bool, Contradiction);

impl Plan {
    /// Checks that the plan can be run: there is something to send and some time to send it, and no
    /// two parts contradict each other.
    ///
    /// # Errors
    /// The first [`Contradiction`] that is found.
    pub fn validate(&self) -> Result<(), Contradiction> {
        self.validate_scenarios()?;
        self.validate_requests()?;
        refuse_first(self.script_rules())?;
        refuse_first(self.http2_rules())?;
        refuse_first(self.load.rules())?;
        refuse_first([self.think_rule()])?;
        refuse_first(self.client_rules())?;
        refuse_first(self.traceparent_rules())?;
        refuse_first(self.extent_rules())?;
        self.validate_conditions()?;
        refuse_first(self.connection.rules())?;
        self.connection.validate_local_addresses()
    }

    /// Refuses scenarios that can't be run on their own, and two of one name.
    fn validate_scenarios(&self) -> Result<(), Contradiction> {
        if self.scenarios.is_empty() {
            return Ok(());
        }
        let mut names = HashSet::new();
        for plan in self.parts() {
            let Some(part) = &plan.part else { continue };
            if !names.insert(part.name.clone()) {
                return Err(Contradiction::ScenarioTwice(part.name.clone()));
            }
            plan.validate_part(part)
                .map_err(|problem| Contradiction::InScenario {
                    name: part.name.clone(),
                    problem: Box::new(problem),
                })?;
        }
        Ok(())
    }

    /// Refuses a scenario that can't be run on its own.
    fn validate_part(&self, part: &Part) -> Result<(), Contradiction> {
        self.validate_requests()?;
        refuse_first(self.script_rules())?;
        refuse_first(self.load.rules())?;
        refuse_first([self.think_rule()])?;
        let each = part.iterations_per_user;
        let ends = self.duration.is_some() || self.request_limit.is_some() || each.is_some();
        refuse_first([
            (!ends, Contradiction::NoEnd),
            (
                self.duration == Some(Duration::ZERO),
                Contradiction::NoTime("duration"),
            ),
            (self.request_limit == Some(0), Contradiction::NoRequests),
            (each == Some(0), Contradiction::NoIterations),
            (
                each.is_some() && self.load.shape != Shape::Closed,
                Contradiction::IterationsOfUsers,
            ),
        ])?;
        refuse_first(self.part_rules(part))
    }

    fn part_rules(&self, part: &Part) -> [Rule; 2] {
        let shape = &self.load.shape;
        let has_stages = matches!(shape, Shape::ClosedStages { .. });
        [
            (
                !part.late_arrivals.wait() && !shape.is_open(),
                Contradiction::DropWhenClosed,
            ),
            (
                part.graceful_ramp_down.is_some() && !has_stages,
                Contradiction::RampDownWithoutStages,
            ),
        ]
    }

    fn validate_requests(&self) -> Result<(), Contradiction> {
        let mut scripts = self.scripts();
        if self.requests.is_empty() && !scripts.any(|script| script.names_urls) {
            return Err(Contradiction::NoTarget);
        }
        self.validate_names()?;
        let weightless = self.requests.iter().find(|request| request.weight == 0);
        weightless.map_or(Ok(()), |request| {
            Err(Contradiction::NoWeight(request.url.clone()))
        })
    }

    fn validate_names(&self) -> Result<(), Contradiction> {
        let given = self.requests.iter().filter_map(|r| r.name.as_deref());
        let names = given.collect::<HashSet<_>>().len();
        let most = self.max_series;
        let is_above = names > most as usize;
        refuse_first([
            (most == 0, Contradiction::NoSeries),
            (is_above, Contradiction::NamesAboveMost { names, most }),
        ])
    }

    fn script_rules(&self) -> [Rule; 3] {
        let has_script = self.script.is_some();
        let is_plain = self
            .requests
            .iter()
            .any(|request| request.url.scheme() == "http");
        let uses_proxy = is_plain && self.connection.proxy.is_some();
        let (several, pipelined) = (self.request_count() > 1, self.connection.pipeline > 1);
        [
            (has_script && several, Contradiction::ScriptAndUrls),
            (has_script && pipelined, Contradiction::ScriptAndPipeline),
            (has_script && uses_proxy, Contradiction::ProxyAndScript),
        ]
    }

    fn client_rules(&self) -> Vec<Rule> {
        let client = &self.client;
        let flags = [
            ("follow-redirects", client.follow_redirects > 0),
            ("cookies", client.cookies),
            ("compressed", client.compressed),
            ("digest", client.digest.is_some()),
        ];
        let Some((flag, _)) = flags.into_iter().find(|(_, is_set)| *is_set) else {
            return Vec::new();
        };
        let may_be_2 = self.connection.http != HttpVersion::V1_1;
        vec![
            (self.script.is_some(), Contradiction::ClientAndScript(flag)),
            (
                self.connection.pipeline > 1,
                Contradiction::ClientAndPipeline(flag),
            ),
            (may_be_2, Contradiction::ClientAndHttp2(flag)),
        ]
    }

    fn traceparent_rules(&self) -> [Rule; 2] {
        let is_set = self.traceparent.is_some();
        let mut headers = self.requests.iter().flat_map(|request| &request.headers);
        let has_own = headers.any(|header| header.is("traceparent"));
        let has_script = self.scripts().next().is_some();
        [
            (is_set && has_script, Contradiction::TraceparentAndScript),
            (is_set && has_own, Contradiction::TraceparentTwice),
        ]
    }

    fn think_rule(&self) -> Rule {
        let is_open = self.load.shape.is_open();
        (
            self.think.is_some() && is_open,
            Contradiction::ThinkWhenOpen,
        )
    }

    fn extent_rules(&self) -> [Rule; 9] {
        let each_ends = !self.scenarios.is_empty();
        let connections = self.load.max_users / self.connection.streams.max(1);
        let (threads, processes) = (self.threads, self.processes);
        let shared = self.connection.shared.map_or(u32::MAX, NonZeroU32::get);
        let timeless = match self.load.shape.last_target() {
            Some(target) => Contradiction::NoStageWithTime(target),
            None => Contradiction::NoTime("duration"),
        };
        [
            (
                self.duration.is_none() && self.request_limit.is_none() && !each_ends,
                Contradiction::NoEnd,
            ),
            (self.duration == Some(Duration::ZERO), timeless),
            (self.request_limit == Some(0), Contradiction::NoRequests),
            (threads == 0, Contradiction::NoThreads),
            (processes == 0, Contradiction::NoProcesses),
            (
                processes > connections && processes > 1,
                Contradiction::ProcessesAboveConnections {
                    processes,
                    connections,
                },
            ),
            (
                processes > threads,
                Contradiction::ProcessesAboveThreads { processes, threads },
            ),
            (
                shared < threads,
                Contradiction::ThreadsAboveShared { threads, shared },
            ),
            (
                threads > connections,
                Contradiction::ThreadsAboveConnections {
                    threads,
                    connections,
                },
            ),
        ]
    }
}

impl Plan {
    /// Refuses conditions on figures that a run of this load can't have.
    fn validate_conditions(&self) -> Result<(), Contradiction> {
        // A script may name its requests, so they are known only after it is loaded.
        if self.scripts().next().is_none() {
            self.validate_check_names()?;
            self.refuse_custom_metrics()?;
        }
        self.validate_check_tags()?;
        let conditions = self.checks.iter().chain(&self.abort_on);
        let mut problems = conditions.filter_map(|check| self.load.shape.problem(check));
        problems.next().map_or(Ok(()), Err)
    }

    fn refuse_custom_metrics(&self) -> Result<(), Contradiction> {
        let mut conditions = self.checks.iter().chain(&self.abort_on);
        let custom = conditions.find(|check| check.custom.is_some());
        custom.map_or(Ok(()), |check| {
            Err(Contradiction::CheckOnMetricWithoutScript(
                check.text.clone(),
            ))
        })
    }

    /// Refuses conditions on tags that no scenario has.
    fn validate_check_tags(&self) -> Result<(), Contradiction> {
        let parts = self.scenarios.iter();
        let known: BTreeSet<(String, String)> = parts
            .flat_map(|scenario| scenario.part.series_tags())
            .collect();
        // A script's custom metrics may have tags of their own.
        let conditions = self.checks.iter().chain(&self.abort_on);
        let of_requests = conditions.filter(|check| check.custom.is_none());
        let mut named = of_requests.flat_map(|check| {
            let tags = check.tags.iter();
            tags.map(move |(tag, value)| (check, tag.clone(), value.clone()))
        });
        let unknown = named.find(|(_, tag, value)| !known.contains(&(tag.clone(), value.clone())));
        unknown.map_or(Ok(()), |(check, ..)| {
            let listed = known.iter().take(MOST_LISTED);
            let listed: Vec<_> = listed
                .map(|(tag, value)| format!("{tag}:{value}"))
                .collect();
            let check = check.text.clone();
            Err(match listed.is_empty() {
                true => Contradiction::CheckOnTagWithoutScenarios(check),
                false => Contradiction::CheckOnUnknownTag {
                    check,
                    tags: listed.join(", "),
                },
            })
        })
    }

    /// Checks that every condition on a name is on one of the plan's requests. Part of
    /// [`validate`](Self::validate), unless a script may name requests.
    ///
    /// # Errors
    /// [`Contradiction::CheckOnUnknownName`] for the first condition on another name.
    pub fn validate_check_names(&self) -> Result<(), Contradiction> {
        let mut conditions = self.checks.iter().chain(&self.abort_on);
        if conditions.clone().all(|check| check.name.is_none()) {
            return Ok(());
        }
        let mut names = Vec::new();
        let mut known = HashSet::new();
        for name in self.named_requests().map(|request| request.name) {
            if known.len() < self.max_series as usize && known.insert(name.clone()) {
                names.push(name);
            }
        }
        let is_unknown = |check: &&Check| {
            check
                .name
                .as_deref()
                .is_some_and(|name| !known.contains(name))
        };
        conditions.find(is_unknown).map_or(Ok(()), |check| {
            let listed = names
                .iter()
                .take(MOST_LISTED)
                .map(|name| format!("`{name}`"));
            let mut text = listed.collect::<Vec<_>>().join(", ");
            if names.len() > MOST_LISTED {
                text.push_str(", …");
            }
            Err(Contradiction::CheckOnUnknownName {
                check: check.text.clone(),
                names: text,
            })
        })
    }
}

impl Check {
    /// True if the check is on a part of the delay, from the intended start to the send.
    fn looks_at_delay(&self) -> bool {
        matches!(
            self.metric,
            Metric::Time(Clocked::Blocked | Clocked::Lateness, _)
        )
    }

    /// True if the check needs more than `per_second` responses to pass.
    fn needs_more_than(&self, per_second: f64) -> bool {
        match (self.metric, self.comparison, self.bound) {
            (Metric::Rate, Comparison::GreaterOrEqual, Bound::PerSecond(bound)) => {
                bound > per_second
            }
            (Metric::Rate, Comparison::Greater, Bound::PerSecond(bound)) => bound >= per_second,
            _ => false,
        }
    }
}

fn refuse_first(rules: impl IntoIterator<Item = Rule>) -> Result<(), Contradiction> {
    let broken = rules.into_iter().find(|(is_broken, _)| *is_broken);
    broken.map_or(Ok(()), |(_, contradiction)| Err(contradiction))
}

#[cfg(test)]
mod tests;
