//! A saved search: its trials in a file, each a separate run, followed by its outcome.
//!
//! The outcome is read as it was stored, so a later version whose search would proceed differently
//! still reports it. For a file without one (a search that was killed, or saved by a version that
//! stored none) the outcome is computed by [`replay`] of its trials.

use super::replay::replay;
use loadline_capacity::SearchOutcome;
use loadline_plan::Plan;
use loadline_record::{RoleKind, RunFile, SavedOutcome, Searched, append_search};
use std::fs;
use std::path::Path;

/// Returns the settings of the search of these trials, with the requests of the first one; `None`
/// if the trials do not contain them.
fn searched(runs: &[RunFile]) -> Option<Searched> {
    let header = runs.first()?.header();
    let searched = header.role.as_ref()?.search.clone()?;
    let checks = &header.plan.checks;
    let fits = searched.settings.checks == checks.len() && searched.plan.checks == *checks;
    fits.then(|| Searched {
        plan: Plan {
            requests: header.plan.requests.clone(),
            list: header.plan.list.clone(),
            ..searched.plan
        },
        ..searched
    })
}

/// A search that was read from a file.
#[derive(Debug)]
pub struct SavedSearch {
    /// The outcome of the search.
    pub outcome: SearchOutcome,
    /// The settings of the search, with the requests of the trials.
    pub searched: Searched,
    /// True if it ended early: the user interrupted it, or a trial failed.
    pub interrupted: bool,
}

impl SavedSearch {
    /// Reads the search whose trials these runs are; `None` if they are not all trials of one
    /// search, from its first. Without a stored outcome also if this version of the search would
    /// make other trials.
    pub fn read(runs: &[RunFile]) -> Option<SavedSearch> {
        let searched = searched(runs)?;
        let (outcome, interrupted) = match stored(runs) {
            Some(saved) => (saved.outcome, saved.interrupted),
            None => replay(runs, &searched)?,
        };
        Some(SavedSearch {
            outcome,
            searched,
            interrupted,
        })
    }
}

/// Returns the outcome that follows the last of these runs, if they are all runs of its search. An
/// outcome that this version can't read is ignored.
fn stored(runs: &[RunFile]) -> Option<SavedOutcome> {
    let stored = runs.last()?.search_outcome()?;
    let search = |run: &RunFile| run.header().role.as_ref()?.search.clone();
    let belongs = |(run, number): (&RunFile, u32)| {
        let role = run.header().role.as_ref();
        let is_next = role.is_some_and(|role| role.number == number);
        is_next && search(run) == search(&runs[0])
    };
    let is_whole = stored.runs == runs.len() && runs.iter().zip(1..).all(belongs);
    is_whole.then(|| stored.clone())
}

/// Stores the outcome of a search after its trials, in the file that contains this many of them.
/// Anything but a regular file (a pipe, for example) is left alone.
pub(super) fn store(
    path: &Path,
    outcome: &SearchOutcome,
    interrupted: bool,
    runs: usize,
) -> Result<(), loadline_record::Error> {
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let saved = SavedOutcome {
        interrupted,
        runs,
        outcome: outcome.clone(),
    };
    append_search(path, &saved)
}

/// True if these runs begin like those of a search.
pub fn is_search(runs: &[RunFile]) -> bool {
    let role = runs.first().and_then(|first| first.header().role.as_ref());
    role.is_some_and(|role| role.kind == RoleKind::Trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use loadline_capacity::{Conclusion, Inconclusive};
    use loadline_record::{Environment, Header, Role, RunWriter};
    use std::time::SystemTime;

    /// Writes a file with the headers of this many trials; no version would have made the second
    /// one.
    fn trials(path: &Path, count: u32) {
        for number in 1..=count {
            let role = Role {
                kind: RoleKind::Trial,
                number,
                of: None,
                name: Some("no purpose that is known".to_owned()),
                search: Some(samples::searched()),
                spent_s: None,
            };
            let mut header = Header::new(
                &samples::plan(),
                Environment::default(),
                SystemTime::UNIX_EPOCH,
            );
            header.role = Some(role);
            RunWriter::append(path, &header).unwrap();
        }
    }

    fn outcome() -> SearchOutcome {
        SearchOutcome {
            conclusion: Conclusion::Inconclusive(Inconclusive {
                lower: Some(1_000.0 / 3.0),
                ..Inconclusive::default()
            }),
            ladder: Default::default(),
            trials: Vec::new(),
        }
    }

    #[test]
    fn an_outcome_is_read_as_it_was_stored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.run");
        trials(&path, 3);
        let read = || SavedSearch::read(&RunFile::read_all(&path).unwrap());
        assert!(read().is_none(), "these trials alone give no answer");
        store(&path, &outcome(), true, 3).unwrap();
        let found = read().expect("the outcome is stored");
        assert_eq!(found.outcome, outcome());
        assert!(found.interrupted);
        assert_eq!(found.searched, samples::searched());
    }

    #[test]
    fn an_outcome_of_other_trials_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.run");
        trials(&path, 3);
        store(&path, &outcome(), false, 4).unwrap();
        let runs = RunFile::read_all(&path).unwrap();
        assert!(SavedSearch::read(&runs).is_none(), "one trial is missing");
        store(&path, &outcome(), false, 2).unwrap();
        let runs = RunFile::read_all(&path).unwrap();
        assert!(
            SavedSearch::read(&runs[1..]).is_none(),
            "the first is missing"
        );
        trials(&path, 1);
        let runs = RunFile::read_all(&path).unwrap();
        assert!(
            SavedSearch::read(&runs).is_none(),
            "a trial stands behind it"
        );
    }

    /// A whole search that an earlier version saved, followed by its outcome.
    const EARLIER: &str = include_str!("saved/search-of-users.run");
    /// The first trials of a search whose settings this version can't read; it stored no outcome.
    const OTHER_SETTINGS: &str = include_str!("saved/other-settings.run");

    fn parsed(text: &str) -> Vec<RunFile> {
        RunFile::parse_all(Path::new("search.run"), text.as_bytes()).unwrap()
    }

    #[test]
    fn a_search_of_an_earlier_version_is_read() {
        let saved = SavedSearch::read(&parsed(EARLIER)).expect("a whole search");
        assert!(saved.searched.users && !saved.interrupted);
        assert_eq!(saved.searched.settings.highest, 2.0);
        assert_eq!(saved.searched.plan.requests.len(), 1);
        assert_eq!(saved.outcome.trials.len(), 6);
        assert!(matches!(
            saved.outcome.conclusion,
            Conclusion::AtLeast { .. }
        ));
    }

    #[test]
    fn an_outcome_that_can_not_be_read_counts_as_none() {
        let (trials, outcome) = EARLIER.trim_end().rsplit_once('\n').unwrap();
        let other = outcome.replace("at_least", "what_a_later_version_found");
        let runs = parsed(&format!("{trials}\n{other}\n"));
        assert_eq!(runs.len(), 6);
        assert!(runs[5].search_outcome().is_none());
    }

    #[test]
    fn trials_are_read_where_their_settings_are_not() {
        let runs = parsed(OTHER_SETTINGS);
        assert_eq!(runs.len(), 3);
        assert!(is_search(&runs));
        let summaries = || runs.iter().map(RunFile::summary);
        assert!(summaries().all(|summary| summary.complete && summary.total.counts.answered > 0));
        assert!(SavedSearch::read(&runs).is_none());
    }
}
