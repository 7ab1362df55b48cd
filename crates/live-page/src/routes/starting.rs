//! The answers of a page from which runs are started: what there is, the command line of a run, its
//! start, earlier runs.

use super::{Done, HTML, Routes, problem, written};
use crate::api::{Compared, NewBaseline, NewRun, Steered};
use crate::document::{self, of_page};
use crate::seat::Starting;
use loadline_web::{Answer, Request, StatusCode};
use std::borrow::Cow;
use std::sync::Arc;

/// The folder in which the reports of earlier runs seem to be.
const RUNS: &str = "/runs/";

impl Routes {
    /// Answers what is only there if runs are started from this page; `None` if it is not there.
    pub(super) fn look_further(&self, request: &Request) -> Option<Answer> {
        let starter = &self.starting.as_ref()?.starter;
        Some(match request.path() {
            "/api/v1/offer" => written(StatusCode::OK, &starter.offer()),
            "/api/v1/runs" => written(StatusCode::OK, &starter.earlier()),
            "/api/v1/run" => {
                let query = request.uri.query().unwrap_or_default();
                match starter.report(&value_of(query, "name")) {
                    Ok(page) => written(StatusCode::OK, &page),
                    Err(sentence) => problem(StatusCode::NOT_FOUND, &sentence),
                }
            }
            "/api/v1/compare" => {
                let query = request.uri.query().unwrap_or_default();
                let (base, with) = (value_of(query, "base"), value_of(query, "with"));
                match starter.compare(&base, &with) {
                    Ok(text) => written(StatusCode::OK, &Compared { text }),
                    Err(sentence) => problem(StatusCode::UNPROCESSABLE_ENTITY, &sentence),
                }
            }
            path => report_of(self.starting.as_ref()?, path.strip_prefix(RUNS)?),
        })
    }

    pub(super) fn compose(&self, body: &[u8]) -> Answer {
        let composed = self.starting().and_then(|starting| {
            let composed = starting.starter.compose(&new_run(body)?);
            composed.map_err(|sentence| (StatusCode::UNPROCESSABLE_ENTITY, sentence))
        });
        match composed {
            Ok(composed) => written(StatusCode::OK, &composed),
            Err((status, sentence)) => problem(status, &sentence),
        }
    }

    pub(super) fn start(&self, body: &[u8]) -> Done {
        let starting = self.starting()?;
        let new = new_run(body)?;
        if !self.watched.claim() {
            let message = "A run is under way: stop it, or wait for its end.";
            return Err((StatusCode::CONFLICT, message.to_owned()));
        }
        match starting.starter.start(&new, &starting.seat) {
            Ok(()) => Ok(Steered {
                message: "The run is being prepared.".to_owned(),
                from_s: None,
            }),
            Err(sentence) => {
                starting.seat.leave(None);
                Err((StatusCode::UNPROCESSABLE_ENTITY, sentence))
            }
        }
    }

    pub(super) fn choose_baseline(&self, body: &[u8]) -> Done {
        let starter = &self.starting()?.starter;
        let new: NewBaseline = serde_json::from_slice(body).map_err(|error| {
            let message = format!(
                "The body is no baseline ({error}): send {{\"name\": \"a.run\"}} or \
                 {{\"name\": null}}."
            );
            (StatusCode::BAD_REQUEST, message)
        })?;
        let baseline = new.name.as_deref().map(|name| starter.baseline(name));
        let baseline = baseline.transpose();
        let baseline = baseline.map_err(|sentence| (StatusCode::UNPROCESSABLE_ENTITY, sentence))?;
        let message = match &baseline {
            Some(baseline) => format!("Runs are compared with {}.", baseline.name),
            None => "Runs are compared with no baseline.".to_owned(),
        };
        self.watched.compare_with(baseline.map(Arc::new));
        Ok(Steered {
            message,
            from_s: None,
        })
    }

    fn starting(&self) -> Result<&Starting, (StatusCode, String)> {
        let message = "Nothing can be started or chosen here: `loadline web` serves a page that \
                       starts runs.";
        let missing = || (StatusCode::NOT_FOUND, message.to_owned());
        self.starting.as_ref().ok_or_else(missing)
    }
}

fn new_run(body: &[u8]) -> Result<NewRun, (StatusCode, String)> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!(
            "The body is no run ({error}): send {{\"target\": \"http://…\", \"users\": \"10\", \
             \"duration\": \"30s\"}}."
        );
        (StatusCode::BAD_REQUEST, message)
    })
}

/// The report of a saved run, as a document.
fn report_of(starting: &Starting, name: &str) -> Answer {
    let page = match starting.starter.report(&decoded(name)) {
        Ok(page) => page,
        Err(sentence) => return problem(StatusCode::NOT_FOUND, &sentence),
    };
    match of_page(&page) {
        Ok((html, policy)) => {
            Answer::new(StatusCode::OK, HTML, html).with(document::POLICY, policy)
        }
        Err(missing) => problem(StatusCode::NOT_FOUND, &missing.to_string()),
    }
}

/// Returns a value of a query, in which a space may be a plus, as forms write it; empty if it is
/// not there.
pub(super) fn value_of(query: &str, name: &str) -> String {
    given(query, name).unwrap_or_default()
}

/// Returns the value of a name in a query; `None` if it does not have the name.
pub(super) fn given(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    Some(decoded(&value.replace('+', " ")).into_owned())
}

/// Decodes `%20` and the like; what is no such escape stays.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_queries_are_decoded() {
        assert_eq!(value_of("base=a.run&with=b%20c.run", "with"), "b c.run");
        assert_eq!(value_of("base=a+b%2Bc.run", "base"), "a b+c.run");
        assert_eq!(value_of("base=a.run", "with"), "");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%c3%a9"), "%zzé");
    }
}
