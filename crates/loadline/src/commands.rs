//! The subcommands, one file each.

pub(crate) mod capacity;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod history;
pub(crate) mod k6;
pub(crate) mod locust;
pub(crate) mod man;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod shims;
pub(crate) mod study;
pub(crate) mod versus;
pub(crate) mod watch;
pub(crate) mod web;
pub(crate) mod worker;
