//! Other tools' command lines and reports.
//!
//! A *dialect* turns an argument list into a plan, and the measurements into the text that the
//! other tool would have printed. The interface is identical; the original's defects are not
//! reproduced. `docs/dialects.md` lists every flag, and the differences with their reasons.
//!
//! ## To change
//!
//! - a flag of ab: `ab/arguments.rs`, `ab/options.rs`; its effect `ab/plan.rs`, `ab/request.rs`,
//!   `ab/behaviour.rs`
//! - ab's reports and files: `ab/report.rs`, `ab/html.rs`, `ab/files.rs`; what is counted for them
//!   `ab/tally.rs`, `ab/ledger.rs`
//! - a flag of wrk or wrk2: `wrk/arguments.rs`; its effect `wrk/plan.rs`; the users `wrk/job.rs`
//! - wrk's reports: `wrk/report.rs`; Req/Sec `wrk/rates.rs`; wrk2's times `wrk/spectrum.rs`
//! - a flag of oha: `oha/arguments.rs`, `oha/options.rs`; its effect `oha/plan.rs`,
//!   `oha/behaviour.rs`
//! - oha's reports: `oha/report/`; what is counted for them `oha/tally.rs`
//! - oha's text for a kind of error: `oha/behaviour.rs`; ab's groups of errors `ab/tally.rs`
//! - a k6 command, from its words to its exit code: `k6/command.rs`, `k6/refused.rs`; the course of
//!   a test `k6/conduct.rs`, what ends it early `k6/stop.rs`; executors as plans of the engine
//!   `k6/plan.rs`
//! - the origin of k6's scripts, modules, secrets, keys and archives: `k6/origin.rs`,
//!   `k6/modules_cache.rs`, `k6/secret_sources.rs`, `k6/client_keys.rs`, `k6/archive.rs`
//! - what a k6 run prints: `k6/progress.rs`, `k6/console.rs`, `k6/report.rs`; `--out`
//!   `k6/sample_files.rs`; Loadline's own outputs `k6/natives.rs`, `k6/page_tables.rs`
//! - k6's REST API: `k6/rest.rs`, its routes `k6/rest/routes.rs`; the state that it shows and
//!   changes `k6/running.rs`; the commands that use it `k6/clients.rs`
//! - the users of these tools in processes of `--processes`: `processes.rs`

pub mod ab;
#[cfg(feature = "k6")]
pub mod k6;
pub mod oha;
pub mod processes;
mod threads;
pub mod wrk;
