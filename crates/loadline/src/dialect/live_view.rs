//! Loadline's live view for other tools, with the keys of oha, which alone shows its runs so.

use crate::exit::refuse;
use crate::keys::Keys;
use crate::live::Live;
use crate::view::{View, ViewOptions};
use anyhow::Result;
use loadline_record::{Header, Summary};
use loadline_runner::{Commands, End, Interests, Interval, Observed, Observer};
use loadline_terminal_view::Keys as KeyMap;
use loadline_tool_host::LiveView;

/// Returns what opens the view of a run that these commands end.
pub(super) fn opener(commands: &Commands) -> LiveView {
    let commands = commands.clone();
    Box::new(
        move |frames_per_s| match OhaView::new(frames_per_s, &commands) {
            Ok(view) => view.map(|view| Box::new(view) as Box<dyn Observer>),
            Err(error) => {
                refuse(&format!("the run goes on without its live view: {error:#}"));
                None
            }
        },
    )
}

/// The live view with oha's keys, for one run.
struct OhaView {
    live: Live,
    /// The keys. They are dropped first: no key is read after the view.
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
    fn interests(&self) -> Interests {
        self.live.interests()
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
