//! The reports of a run, and the files that it writes and reads.

use super::Error;
use crate::flags::run::output::OutputFlags;
use crate::flags::run::request::{BodySource, RequestFlags, TargetWord};
use crate::output::{Output, Sink};
use loadline_plan::{FormField, FormSource, Plan};
use std::path::{Path, PathBuf};

/// Returns the requested reports, and the text report on stdout unless something else goes there or
/// nothing is to be printed.
pub(super) fn outputs(flags: &OutputFlags) -> Result<Vec<Output>, Error> {
    let mut outputs = flags.report.reports();
    match outputs
        .iter()
        .filter(|output| output.to == Sink::Stdout)
        .count()
    {
        0 if !flags.quiet => outputs.insert(0, Output::TEXT),
        0 | 1 => {}
        _ => return Err(Error::StdoutTwice),
    }
    Ok(outputs)
}

/// The files that a run writes.
pub(super) fn written<'a>(
    flags: &'a OutputFlags,
    outputs: &'a [Output],
) -> impl Iterator<Item = &'a Path> {
    let reports = outputs.iter().filter_map(Output::file);
    let others = flags.save.iter().chain(&flags.log).map(PathBuf::as_path);
    reports.chain(others)
}

/// The files that a run reads.
pub(super) fn read<'a>(flags: &'a RequestFlags, plan: &'a Plan) -> impl Iterator<Item = &'a Path> {
    let plans = flags.places.iter().filter_map(|place| match place {
        TargetWord::Plan(path) => Some(path),
        TargetWord::Url(_) => None,
    });
    let body = match &flags.body {
        Some(BodySource::File(path)) => Some(path),
        _ => None,
    };
    let forms = flags.form.iter().filter_map(|field| match field {
        FormField {
            source: FormSource::File(path),
            ..
        } => Some(path),
        _ => None,
    });
    let scripts = plan.scripts().map(|script| &script.path);
    let tls = &plan.connection.tls;
    let certificates = tls.cacert.iter().chain(&tls.cert).chain(&tls.key);
    plans
        .chain(&flags.urls)
        .chain(body)
        .chain(forms)
        .chain(scripts)
        .chain(certificates)
        .map(PathBuf::as_path)
}
