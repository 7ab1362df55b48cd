//! A webhook: the JSON report of a run, posted once when it has ended.

use crate::Batch;
use crate::exporter::{BatchContent, Exporter, Layout, Message, TIMEOUT};
use crate::requested::{OpenError, Requested};
use crate::settings::Settings;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The report of a run, once it has ended.
pub type FinalReport = Arc<Mutex<Option<String>>>;

/// Writes nothing while the run lasts, and its report at the end.
struct Report(FinalReport);

impl Layout for Report {
    fn write(&mut self, _: &[Arc<Batch>]) -> Vec<Message> {
        Vec::new()
    }

    fn end(&mut self) -> Vec<Message> {
        let report = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let message = report.map(|text| Message::of(text.into_bytes()));
        message.into_iter().collect()
    }
}

/// Makes the exporter ready for a run.
///
/// # Errors
/// If a setting can't be used.
pub(crate) fn open(
    requested: &Requested,
    settings: &Settings,
    report: &FinalReport,
) -> Result<Exporter, OpenError> {
    let settings = settings.nested("WEBHOOK_");
    let tls = settings.tls(
        "INSECURE",
        ["CA_CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"],
    )?;
    let mut fields = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    fields.extend(match settings.secret("BEARER_TOKEN")? {
        Some(token) => Some(("Authorization".to_owned(), format!("Bearer {token}"))),
        None => requested.credentials(&settings)?,
    });
    Ok(Exporter {
        receiver: requested.described(),
        interval: Duration::from_secs(3_600),
        timeout: TIMEOUT,
        content: BatchContent::Series,
        layout: Box::new(Report(Arc::clone(report))),
        channel: Box::new(requested.http(requested.address(), &fields, &tls)?),
    })
}
