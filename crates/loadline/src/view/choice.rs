//! The decision whether the live view is shown, by the flags and the terminal.

use crate::output::Color;
use crate::terminal::draws;
use crate::view::screen::{is_ours, size_of};
use anyhow::{Result, bail};
use loadline_plan::Plan;
use loadline_report::planned_length;
use loadline_terminal_view::{MIN_HEIGHT, MIN_WIDTH};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

/// A run of no more than this is over before anybody has found what he looks for.
const SHORT: Duration = Duration::from_secs(5);

/// The choice of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ViewChoice {
    /// A view where a terminal has room for it, and the runs are long enough.
    #[default]
    Automatic,
    /// A view, or a refusal.
    Always,
    /// None.
    Never,
}

/// The options of the view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewOptions {
    /// The user's choice.
    pub(crate) choice: ViewChoice,
    /// The colours.
    pub(crate) color: Color,
}

impl Default for ViewOptions {
    fn default() -> Self {
        ViewOptions {
            choice: ViewChoice::Automatic,
            color: Color::Auto,
        }
    }
}

impl ViewOptions {
    /// Returns whether a view is shown of runs of this total length, which may be unknown. None of
    /// these files, which are written during the runs, may be the same terminal.
    ///
    /// # Errors
    /// If it is requested and there is no terminal for it.
    pub(crate) fn is_shown<'a>(
        &self,
        length: Option<Duration>,
        mut written: impl Iterator<Item = &'a Path>,
    ) -> Result<bool> {
        match self.choice {
            ViewChoice::Never => Ok(false),
            ViewChoice::Always => refuse(&mut written).map(|()| true),
            ViewChoice::Automatic => {
                let is_long = length.is_none_or(|length| length > SHORT);
                Ok(is_long && has_room() && refuse(&mut written).is_ok())
            }
        }
    }

    /// True if the view has colours.
    pub(crate) fn has_colours(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::env::var_os("NO_COLOR").is_none(),
        }
    }
}

/// Returns the duration of runs of this plan, warm-up included, if the plan sets it.
pub(crate) fn length(plan: &Plan) -> Option<Duration> {
    planned_length(plan).map(|length| length + plan.warmup)
}

fn has_room() -> bool {
    let size = size_of(&io::stderr());
    size.is_some_and(|(columns, lines)| columns >= MIN_WIDTH && lines >= MIN_HEIGHT)
}

/// Fails if there is no terminal for a view, with the reason.
fn refuse<'a>(written: &mut impl Iterator<Item = &'a Path>) -> Result<()> {
    let stderr = io::stderr();
    if !draws(&stderr) {
        bail!(
            "--live draws on the terminal at stderr, and there is none that it can draw on; leave \
             it out, or run the command on a terminal."
        );
    }
    if !is_ours(&stderr) {
        bail!(
            "--live draws on a terminal that belongs to another job now; leave it out, or run the \
             command in the foreground."
        );
    }
    if let Some(path) = written.find(|path| is_a_terminal(path)) {
        bail!(
            "--live and the lines for {} would destroy each other on the terminal; leave out \
             --live, or write them into a file.",
            path.display()
        );
    }
    Ok(())
}

/// True if this is a terminal: most likely the one that is drawn on.
fn is_a_terminal(path: &Path) -> bool {
    /// The device of `/dev/tty`, and the major numbers of terminals (devices.txt of Linux).
    const TERMINALS: [u64; 3] = [4, 5, 136];
    path.metadata().is_ok_and(|file| {
        let major = file.rdev() >> 8;
        file.file_type().is_char_device() && TERMINALS.contains(&major)
    })
}
