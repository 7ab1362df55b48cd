//! The live page of a session: opened before the first run, over after the last one.

pub(crate) mod earlier;
pub(crate) mod followed;
pub(crate) mod lever;
pub(crate) mod locustfile;
pub(crate) mod starter;
pub(crate) mod words;

use crate::flags::run::web::WebFlags;
use crate::interrupt::wait_for_interrupt;
use crate::terminal::print_line;
use anyhow::{Context, Result, bail};
use loadline_live_page::{
    Baseline, Certificate, CertificateError, Credentials, ListenAddress, LivePage, Protection,
};
use loadline_runner::Steer;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A live page that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Web {
    place: ListenAddress,
    user: Option<(String, PathBuf)>,
    /// The files of a certificate and of its key.
    certificate: Option<(PathBuf, PathBuf)>,
}

impl Web {
    /// Returns the page that flags request; `None` if they request none.
    pub(crate) fn of(flags: WebFlags) -> Option<Web> {
        Some(Web {
            place: flags.web?,
            user: flags.web_user.zip(flags.web_password_file),
            certificate: flags.web_cert.zip(flags.web_key),
        })
    }

    /// The page at this place, for whoever may open it there.
    pub(crate) fn at(place: ListenAddress) -> Web {
        Web {
            place,
            user: None,
            certificate: None,
        }
    }

    /// Returns the place of the page.
    pub(crate) fn place(&self) -> &ListenAddress {
        &self.place
    }

    /// Serves the page of the runs that are steered so and compared with this baseline, and prints
    /// its address.
    ///
    /// # Errors
    /// If it can't be served.
    pub(crate) fn open(
        &self,
        steer: Arc<dyn Steer>,
        saved: Option<&Path>,
        baseline: Option<Arc<Baseline>>,
    ) -> Result<LivePage> {
        let page = self.open_untold(steer, saved, baseline)?;
        print_line(&format!("The live page is at {}", page.url()));
        Ok(page)
    }

    /// Serves the page, whose address somebody else prints.
    ///
    /// # Errors
    /// If it can't be served.
    pub(crate) fn open_untold(
        &self,
        steer: Arc<dyn Steer>,
        saved: Option<&Path>,
        baseline: Option<Arc<Baseline>>,
    ) -> Result<LivePage> {
        let protection = self.protection()?;
        let saved = saved.map(Path::to_owned);
        let page = LivePage::open(&self.place, &protection, steer, saved, baseline)?;
        Ok(page)
    }

    /// Returns who may open the page, and the certificate that it is served with.
    ///
    /// # Errors
    /// If the file of the password can't be read, or those of the certificate.
    pub(crate) fn protection(&self) -> Result<Protection> {
        Ok(Protection {
            credentials: self.credentials()?,
            certificate: self.certificate()?,
        })
    }

    fn certificate(&self) -> Result<Option<Certificate>> {
        let Some((chain, key)) = &self.certificate else {
            return Ok(None);
        };
        let chain_text = read("--web-cert", chain)?;
        let key_text = read("--web-key", key)?;
        let (flag, path, problem) = match Certificate::read(&chain_text, &key_text) {
            Ok(certificate) => return Ok(Some(certificate)),
            Err(problem @ CertificateError::NoKey) => ("--web-key", key, problem),
            Err(problem) => ("--web-cert", chain, problem),
        };
        bail!("{flag} {} can't be used: {problem}.", path.display())
    }

    fn credentials(&self) -> Result<Credentials> {
        let Some((user, path)) = &self.user else {
            return Ok(Credentials::Usual);
        };
        let shown = path.display();
        let text = read("--web-password-file", path)?;
        match String::from_utf8_lossy(&text)
            .lines()
            .next()
            .unwrap_or_default()
        {
            "" => {
                bail!("--web-password-file {shown} has no password in its first line; write one.")
            }
            password => Ok(Credentials::Password {
                user: user.clone(),
                password: password.to_owned(),
            }),
        }
    }
}

/// Reads the file that a flag names.
fn read(flag: &str, path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{flag} {} can't be read", path.display()))
}

/// Keeps the page of runs that have ended open until Ctrl-C, if somebody is at a terminal; else it
/// ends with the process.
pub(crate) fn keep_open(page: Option<LivePage>) {
    let Some(mut page) = page else { return };
    page.finish();
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        print_line(&format!("The page stays at {} until Ctrl-C.", page.url()));
        // Without a watch for signals Ctrl-C ends the process, and the page with it.
        let _ = wait_for_interrupt();
    }
}
