//! Merges the saved runs of a test's processes.

use loadline_record::{Ended, RunFile};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Writes one saved run from those of a test's processes, each in a file of its own. From a lost
/// process it has the part that was written; a missing or empty file is left out. The run ended as
/// planned, by an interrupt, or with the message `failure`.
#[pyfunction]
#[pyo3(signature = (parts, into, interrupted=false, failure=None))]
pub(crate) fn merge_runs(
    parts: Vec<PathBuf>,
    into: PathBuf,
    interrupted: bool,
    failure: Option<String>,
) -> PyResult<()> {
    let ended = match failure {
        Some(sentence) => Ended::Failed(sentence),
        None if interrupted => Ended::Interrupted,
        None => Ended::Duration,
    };
    let is_there = |path: &&PathBuf| path.metadata().is_ok_and(|file| file.len() > 0);
    let there: Vec<&PathBuf> = parts.iter().filter(is_there).collect();
    merge(&there, &into, ended).map_err(|error| PyOSError::new_err(error.to_string()))
}

fn merge(parts: &[&PathBuf], into: &Path, ended: Ended) -> Result<(), loadline_record::Error> {
    let runs = parts.iter().map(|path| RunFile::read(path));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    RunFile::merge_shares(&runs, ended)?.write(into)
}
