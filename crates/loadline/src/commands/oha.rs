//! `loadline oha`: its command lines, run here and reported in its words.
//!
//! What is shown while a run lasts is our live view, with oha's keys. An interrupt ends the run and
//! the report follows.

use crate::exit::refuse;
use crate::keys::Keys;
use crate::live::{Live, draws};
use crate::view::{View, ViewOptions};
use anyhow::Result;
use loadline_dialects::oha;
use loadline_record::{Header, Summary};
use loadline_runner::{Commands, End, Interval, Observed, Observer, Wants, Watch};
use loadline_terminal_view::Keys as KeyMap;
use std::io;

/// Runs what these words ask of the tool, on so many processes; `commands` end the run.
pub(crate) fn run(words: &[String], cores: u32, processes: u32, commands: Commands) -> u8 {
    let is_terminal = draws(&io::stdout());
    let view = |frames_per_s: u32| match OhaView::new(frames_per_s, &commands) {
        Ok(view) => view.map(|view| Box::new(view) as Box<dyn Observer>),
        Err(error) => {
            refuse(&format!("the run goes on without its live view: {error:#}"));
            None
        }
    };
    let surroundings = oha::Surroundings {
        cores,
        processes,
        seed: rand::random(),
        commands: commands.clone(),
        stdout: &mut io::stdout(),
        stderr: &mut io::stderr(),
        place: oha::Place {
            is_terminal,
            has_colours: is_terminal && !has_no_colours(),
        },
        view: &view,
        watch: Some(Watch {
            targets: Vec::new(),
            find_target: true,
        }),
    };
    oha::run(words, surroundings)
}

/// True if the environment requests no colours.
fn has_no_colours() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The live view with oha's keys, for one run.
struct OhaView {
    live: Live,
    /// Dropped first: no key comes behind the view.
    _keys: Option<Keys>,
    _view: View,
}

impl OhaView {
    /// `None` where the terminal has no room for it.
    fn new(frames_per_s: u32, commands: &Commands) -> Result<Option<Self>> {
        let wished = ViewOptions::default();
        if !wished.is_shown(None, std::iter::empty())? {
            return Ok(None);
        }
        let colours = wished.has_colours();
        let view = View::new(KeyMap::Scale, f64::from(frames_per_s), colours, true)?;
        Ok(Some(OhaView {
            live: Live::new(true, Some(view.handle())),
            _keys: Keys::watch(KeyMap::Scale, commands, Some(view.handle()))?,
            _view: view,
        }))
    }
}

impl Observer for OhaView {
    fn wants(&self) -> Wants {
        self.live.wants()
    }

    fn begun(&mut self, header: &Header) -> Observed {
        self.live.begun(header)
    }

    fn interval(&mut self, interval: &Interval<'_>) -> Observed {
        self.live.interval(interval)
    }

    fn idle(&mut self, summary: &Summary) -> Observed {
        self.live.idle(summary)
    }

    fn ended(&mut self, end: &End<'_>) -> Observed {
        self.live.ended(end)
    }
}
