//! The live page of a session: opened before the first run, over after the last one.

use crate::flags::run::web::WebFlags;
use crate::interrupt::wait_for_interrupt;
use crate::terminal::say_line;
use anyhow::{Context, Result, bail};
use loadline_live_page::{Credentials, LivePage, Place};
use loadline_runner::Commands;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// A live page that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Web {
    place: Place,
    user: Option<(String, PathBuf)>,
}

impl Web {
    /// What flags ask for; `None` if they ask for no page.
    pub(crate) fn of(flags: WebFlags) -> Option<Web> {
        Some(Web {
            place: flags.web?,
            user: flags.web_user.zip(flags.web_password_file),
        })
    }

    /// Serves the page of the runs that these commands reach, and tells its address.
    ///
    /// # Errors
    /// If it can't be served.
    pub(crate) fn open(&self, commands: &Commands, saved: Option<&Path>) -> Result<LivePage> {
        let credentials = self.credentials()?;
        let saved = saved.map(Path::to_owned);
        let page = LivePage::open(&self.place, &credentials, commands, saved)?;
        say_line(&format!("The live page is at {}", page.url()));
        Ok(page)
    }

    fn credentials(&self) -> Result<Credentials> {
        let Some((user, path)) = &self.user else {
            return Ok(Credentials::Usual);
        };
        let shown = path.display();
        let text = fs::read_to_string(path)
            .with_context(|| format!("--web-password-file {shown} can't be read"))?;
        match text.lines().next().unwrap_or_default() {
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

/// Keeps the page of runs that have ended open until Ctrl-C, if somebody is at a terminal; else it
/// ends with the process.
pub(crate) fn keep_open(page: Option<LivePage>) {
    let Some(mut page) = page else { return };
    page.finish();
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        say_line(&format!("The page stays at {} until Ctrl-C.", page.url()));
        // Without a watch for signals Ctrl-C ends the process, and the page with it.
        let _ = wait_for_interrupt();
    }
}
