//! Which reports are made, and that none is written over another.

use super::Error;
use crate::flags::run::output::OutputFlags;
use crate::invocation::{Output, Sink};
use std::path::PathBuf;

/// The reports that were asked for, and the text report on stdout unless something else goes
/// there or nothing is to be printed.
pub(super) fn outputs(flags: &OutputFlags) -> Result<Vec<Output>, Error> {
    let mut outputs = flags.report.output.clone();
    match outputs
        .iter()
        .filter(|output| output.to == Sink::Stdout)
        .count()
    {
        0 if !flags.quiet => outputs.insert(0, Output::TEXT),
        0 | 1 => {}
        _ => return Err(Error::StdoutTwice),
    }
    refuse_same_file(flags, &outputs)?;
    Ok(outputs)
}

fn refuse_same_file(flags: &OutputFlags, outputs: &[Output]) -> Result<(), Error> {
    let files = outputs.iter().filter_map(|output| match &output.to {
        Sink::File(path) => Some(path),
        Sink::Stdout => None,
    });
    let mut files: Vec<&PathBuf> = files.chain(&flags.save).chain(&flags.log).collect();
    files.sort();
    match files.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::FileTwice(pair[0].clone())),
        None => Ok(()),
    }
}
