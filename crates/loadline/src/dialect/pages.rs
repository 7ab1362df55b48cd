//! The live page for other tools: the one that `--web` in front of their words requests, or that
//! their own words do.

use crate::exit::sentence;
use crate::terminal::print_line;
use crate::web::{Web, keep_open};
use loadline_live_page::{ListenAddress, LivePage, PageLog, Results};
use loadline_page::AddedTables;
use loadline_tool_host::{LivePages, OwnPage, PageRequest, ShowResults, ShownPage, Stream};
use std::cell::RefCell;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The page that a tool has opened, until the tool has ended.
#[derive(Clone, Default)]
pub(super) struct Opened {
    page: Rc<RefCell<Option<(LivePage, Stays)>>>,
    /// The log of the page, once there is one.
    log: Arc<Mutex<Option<PageLog>>>,
}

/// A stream whose text is in the log of the page, too.
struct Logged<W> {
    stream: W,
    log: Arc<Mutex<Option<PageLog>>>,
}

impl<W: Write> Write for Logged<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.stream.write(bytes)?;
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &mut *log {
            log.write_all(&bytes[..length])?;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The condition for a page to stay after the run, at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stays {
    Always,
    /// If somebody has opened it: the user did not request Loadline's page, but the tool's.
    IfViewed,
}

impl Opened {
    /// Returns what opens the page of a tool's run.
    pub(super) fn opener(&self, web: Option<Web>) -> LivePages {
        let opened = self.clone();
        Box::new(move |request| opened.open(web.as_ref(), request))
    }

    /// Returns this stream, whose text is in the log of the page, too.
    pub(super) fn logged(&self, stream: impl Write + Send + 'static) -> Stream {
        Box::new(Logged {
            stream,
            log: Arc::clone(&self.log),
        })
    }

    fn open(&self, web: Option<&Web>, request: PageRequest) -> Result<Option<ShownPage>, String> {
        let PageRequest { steer, own, events } = request;
        let (page, stays) = match (web, &own) {
            (Some(web), _) => (web.open(steer, None, None), Stays::Always),
            (None, Some(own)) => {
                let place = own.place.parse::<ListenAddress>();
                let place = place.map_err(|error| format!("{error}."))?;
                (
                    Web::at(place).open_untold(steer, None, None),
                    Stays::IfViewed,
                )
            }
            (None, None) => return Ok(None),
        };
        let mut page = page.map_err(|error| sentence(&error))?;
        if let Some(events) = events {
            page.serve_events(events);
        }
        let url = page.url().to_owned();
        let feed = page.feed().ok_or("the page has shown a run already.")?;
        let results = shown_results(page.results());
        if own.is_some_and(|OwnPage { opens_browser, .. }| opens_browser) {
            open_browser(&url);
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        *log = Some(page.log());
        drop(log);
        self.page.replace(Some((page, stays)));
        Ok(Some(ShownPage {
            url,
            observer: Box::new(feed),
            results,
        }))
    }

    /// Keeps the page of a tool that has ended until Ctrl-C, if somebody is at a terminal.
    pub(super) fn keep(self, is_interrupted: bool) {
        let Some((page, stays)) = self.page.take() else {
            return;
        };
        if !is_interrupted && (stays == Stays::Always || page.was_viewed()) {
            keep_open(Some(page));
        }
    }
}

/// Returns what shows a tool's results on a page.
pub(crate) fn shown_results(results: Option<Results>) -> ShowResults {
    Arc::new(move |json| {
        let tables = AddedTables::parse(json.as_bytes());
        if let (Some(results), Ok(tables)) = (&results, tables) {
            results.show(tables);
        }
    })
}

/// Opens an address in the user's browser.
fn open_browser(url: &str) {
    let mut browser = Command::new("xdg-open");
    browser
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match browser.spawn() {
        Ok(mut browser) => drop(thread::spawn(move || browser.wait())),
        Err(error) => print_line(&format!(
            "xdg-open can't be run ({error}): open {url} yourself."
        )),
    }
}
