//! The flags of `loadline web`.

use super::run::web::WebFlags;
use clap::{Args, ValueHint};
use loadline_live_page::{ADDRESS, ListenAddress};
use std::path::PathBuf;

/// The place of the page, the runs that it starts, and its users.
#[derive(Debug, Args)]
pub(crate) struct StartFlags {
    /// A plan file, a script of k6, a locustfile, or a folder with them and with saved runs
    /// [default: this folder]
    #[arg(value_name = "PLAN|SCRIPT|FOLDER", value_hint = ValueHint::AnyPath)]
    pub(crate) place: Option<PathBuf>,

    /// Serve the page here
    ///
    /// Give a port, or an address with a port. On a loopback address the users of this machine can
    /// open the page. Elsewhere the address that is printed has a token, which the page needs.
    #[arg(long, value_name = "ADDR:PORT", default_value = ADDRESS)]
    pub(crate) listen: ListenAddress,

    /// The user name of the page, instead of a token
    #[arg(long, value_name = "NAME", requires = "web_password_file")]
    pub(crate) web_user: Option<String>,

    /// The file with that user's password in its first line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "web_user")]
    pub(crate) web_password_file: Option<PathBuf>,

    /// The certificate with which the page is served by TLS, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "web_key")]
    pub(crate) web_cert: Option<PathBuf>,

    /// The private key of that certificate, as PEM
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "web_cert")]
    pub(crate) web_key: Option<PathBuf>,
}

impl StartFlags {
    /// Returns the flags of the page alone, as those of a run.
    pub(crate) fn of_page(&self) -> WebFlags {
        WebFlags {
            web: Some(self.listen.clone()),
            web_user: self.web_user.clone(),
            web_password_file: self.web_password_file.clone(),
            web_cert: self.web_cert.clone(),
            web_key: self.web_key.clone(),
        }
    }
}
