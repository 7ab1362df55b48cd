//! The live page of a run.

use clap::{Args, ValueHint};
use loadline_live_page::{ADDRESS, ListenAddress};
use std::path::PathBuf;

/// The live page of a run, and the users who may open it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Live page")]
pub(crate) struct WebFlags {
    /// Serve a page that shows and steers the run while it lasts [default: 127.0.0.1:5623]
    ///
    /// Give a port, or an address with a port. On a loopback address the users of this machine can
    /// open the page. Elsewhere the address that is printed has a token, which the page needs.
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, require_equals = true,
        default_missing_value = ADDRESS)]
    pub(crate) web: Option<ListenAddress>,

    /// The user name of the live page, instead of a token
    #[arg(long, value_name = "NAME", requires_all = ["web", "web_password_file"])]
    pub(crate) web_user: Option<String>,

    /// The file with that user's password in its first line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "web_user")]
    pub(crate) web_password_file: Option<PathBuf>,

    /// The certificate with which the live page is served by TLS, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath,
        requires_all = ["web", "web_key"])]
    pub(crate) web_cert: Option<PathBuf>,

    /// The private key of that certificate, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "web_cert")]
    pub(crate) web_key: Option<PathBuf>,
}
