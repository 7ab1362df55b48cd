//! `loadline web`: a page from which runs are started, watched and compared.

use crate::exit::Exit;
use crate::flags::web::StartFlags;
use crate::interrupt::wait_for_interrupt;
use crate::terminal::print_line;
use crate::web::Web;
use crate::web::starter::FolderStarter;
use anyhow::{Context, Result, bail};
use loadline_live_page::StartPage;
use loadline_runner::Command;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The longest time for the end of a run after Ctrl-C.
const END_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Serves the page until Ctrl-C. A run that is under way then is ended.
pub(crate) fn run(flags: &StartFlags) -> Result<Exit> {
    let web = Web::of(flags.of_page()).context("the page has no address.")?;
    let protection = web.protection()?;
    let (folder, chosen) = place(flags.place.as_deref())?;
    let shown = folder.display().to_string();
    std::env::set_current_dir(&folder).with_context(|| format!("{shown} can't be entered"))?;
    let starter = Arc::new(FolderStarter::new(shown, chosen));
    let page = StartPage::open(web.place(), &protection, starter)?;
    print_line(&format!("Start runs at {}", page.url()));
    wait_for_interrupt().context("signals can't be watched")?;
    end_run(&page);
    Ok(Exit::Good)
}

/// Returns the folder of a place, and the file in it, if the place is one.
fn place(place: Option<&Path>) -> Result<(PathBuf, Option<String>)> {
    let place = place.unwrap_or(Path::new("."));
    let shown = place.display();
    let about = place
        .metadata()
        .with_context(|| format!("{shown} can't be read"))?;
    let whole = place
        .canonicalize()
        .with_context(|| format!("{shown} can't be read"))?;
    if about.is_dir() {
        return Ok((whole, None));
    }
    let name = place.file_name().and_then(|name| name.to_str());
    let folder = whole.parent().map(Path::to_owned);
    match (folder, name) {
        (Some(folder), Some(name)) if crate::web::words::is_run(place) => {
            Ok((folder, Some(name.to_owned())))
        }
        _ => bail!(
            "{shown} describes no run: give a plan file (.toml), a script of k6 (.js, .ts), a \
             locustfile (.py), or a folder."
        ),
    }
}

/// Ends the run that is under way, and waits until it has written what it has.
fn end_run(page: &StartPage) {
    if page.is_idle() {
        return;
    }
    page.steer().end(Command::Abort);
    let until = Instant::now() + END_TIMEOUT;
    while !page.is_idle() && Instant::now() < until {
        thread::sleep(POLL_INTERVAL);
    }
}
