//! The commands that send requests to a running test: `pause`, `resume`, `status`, `scale`,
//! `stats`.
//!
//! Each sends one request to the REST API of the test, and prints the response as YAML.

mod yaml;

use super::fetch::{CommandRequest, Fetched, fetch};
use super::{go_json, go_words};
use loadline_runner::Commands;
use serde::Serialize;
use serde_json::Value;
use url::Url;

/// A request to a running test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Pauses the test.
    Pause,
    /// Resumes the test.
    Resume,
    /// Returns the status of the test.
    Status,
    /// Returns the metrics of the test.
    Stats,
    /// Changes the numbers of virtual users; `None` leaves a number unchanged.
    Scale {
        /// The active users.
        vus: Option<i64>,
        /// The maximum number of users.
        vus_max: Option<i64>,
    },
}

/// The reason why there is no result, in k6's words. Each ends the command with
/// [`FAILED`](super::FAILED).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// `scale` was given no number.
    #[error("Specify either -u/--vus or -m/--max")]
    NothingToScale,
    /// No test responds at the address.
    #[error("{method} \"{url}\": {problem}")]
    Unanswered {
        /// The method, as Go prints it.
        method: &'static str,
        /// The URL of the request.
        url: String,
        /// The description of the failure.
        problem: String,
    },
    /// The test refused the request.
    #[error("{title}: {detail}")]
    Refused {
        /// The kind of refusal.
        title: String,
        /// The reason, in the test's words.
        detail: String,
    },
    /// The response is not from a test.
    #[error("{0}")]
    NoDocument(String),
}

/// Sends an order to the test at an address such as `localhost:6565`; returns the response as YAML.
///
/// # Errors
/// If the order changes nothing, there is no response, or the test refuses.
pub fn send_order(address: &str, order: Order, commands: &Commands) -> Result<String, OrderError> {
    let question = Question::of(order)?;
    let url = format!("http://{address}/v1/{}", question.path);
    let unanswered = |problem: String| OrderError::Unanswered {
        method: question.printed,
        url: url.clone(),
        problem,
    };
    let request = CommandRequest {
        method: question.method,
        url: Url::parse(&url).map_err(|error| unanswered(error.to_string()))?,
        json: question.json,
    };
    let fetched = fetch(request, None, commands).map_err(unanswered)?;
    let document = document(&fetched)?;
    Ok(match order {
        Order::Stats => yaml::metrics(&document),
        Order::Pause | Order::Resume | Order::Status | Order::Scale { .. } => {
            yaml::status(&document)
        }
    })
}

/// A request, as it is sent and as it is printed.
struct Question {
    method: &'static str,
    printed: &'static str,
    path: &'static str,
    json: Option<String>,
}

impl Question {
    fn of(order: Order) -> Result<Question, OrderError> {
        match order {
            Order::Status => Ok(Question::get("status")),
            Order::Stats => Ok(Question::get("metrics")),
            Order::Pause => Ok(Question::patch(Some(true), None, None)),
            Order::Resume => Ok(Question::patch(Some(false), None, None)),
            Order::Scale {
                vus: None,
                vus_max: None,
            } => Err(OrderError::NothingToScale),
            Order::Scale { vus, vus_max } => Ok(Question::patch(None, vus, vus_max)),
        }
    }

    fn get(path: &'static str) -> Self {
        Question {
            method: "GET",
            printed: "Get",
            path,
            json: None,
        }
    }

    fn patch(paused: Option<bool>, vus: Option<i64>, vus_max: Option<i64>) -> Self {
        let attributes = StatusChange {
            paused,
            vus,
            vus_max,
        };
        let data = Resource {
            r#type: "status",
            id: "default",
            attributes,
        };
        Question {
            method: "PATCH",
            printed: "Patch",
            path: "status",
            json: Some(go_json::compact(&Document { data })),
        }
    }
}

#[derive(Serialize)]
struct Document {
    data: Resource,
}

#[derive(Serialize)]
struct Resource {
    r#type: &'static str,
    id: &'static str,
    attributes: StatusChange,
}

/// The changes; null leaves a value unchanged.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct StatusChange {
    paused: Option<bool>,
    vus: Option<i64>,
    vus_max: Option<i64>,
}

/// Returns the document of a response, unless it is a refusal.
fn document(fetched: &Fetched) -> Result<Value, OrderError> {
    let read = serde_json::from_slice::<Value>(&fetched.body);
    let document =
        read.map_err(|error| OrderError::NoDocument(go_words::json(&fetched.body, &error)))?;
    match document.get("errors").and_then(|errors| errors.get(0)) {
        Some(problem) => Err(OrderError::Refused {
            title: text(&problem["title"]),
            detail: text(&problem["detail"]),
        }),
        None => Ok(document),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(status: u16, body: &str) -> Fetched {
        Fetched {
            status,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn scaling_to_nothing_is_refused_without_a_request() {
        let order = Order::Scale {
            vus: None,
            vus_max: None,
        };
        let error = send_order("127.0.0.1:1", order, &Commands::default()).expect_err("refused");
        assert_eq!(error.to_string(), "Specify either -u/--vus or -m/--max");
    }

    #[test]
    fn a_refusal_is_its_title_and_its_detail() {
        let body = r#"{"errors":[{"status":"500","title":"Pause error","detail":"no"}]}"#;
        let error = document(&fetched(500, body)).expect_err("refused");
        assert_eq!(error.to_string(), "Pause error: no");
    }

    #[test]
    fn an_answer_of_another_server_is_no_document() {
        let error = document(&fetched(404, "<!DOCTYPE HTML>")).expect_err("refused");
        let said = "invalid character '<' looking for beginning of value";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn a_test_that_nobody_runs_is_said_with_what_was_asked() {
        // The listener is closed, so that no server listens at its address.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address").to_string();
        drop(listener);
        let error = send_order(&address, Order::Pause, &Commands::default()).expect_err("nobody");
        let said = format!(
            "Patch \"http://{address}/v1/status\": dial tcp {address}: connect: connection refused"
        );
        assert_eq!(error.to_string(), said);
    }
}
