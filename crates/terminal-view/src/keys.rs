//! The meaning of keys. A terminal delivers bytes; a [`Keys`] map turns them into actions.

/// A map of keys. All but `None` include `q` and `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// `+`, `-` and `p` change the load of the run.
    Load,
    /// `+`, `-` and `a` change the time scale of the plots.
    Scale,
    /// Only `q` and `?`: for runs whose load must stay as planned.
    Watch,
    /// No keys, for runs without keyboard input.
    None,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// More load.
    MoreLoad,
    /// Less load.
    LessLoad,
    /// Pause the load, or resume it.
    PauseOrResume,
    /// End the run.
    Quit,
    /// Show or hide the help.
    Help,
    /// A finer time scale.
    Finer,
    /// A coarser time scale.
    Coarser,
    /// The time scale that fits the elapsed time.
    AutomaticScale,
}

/// A key of a map: its label, the bytes that it sends, its action, and the explanation.
type Key = (&'static str, &'static [u8], Action, &'static str);

const QUIT: Key = ("q", b"q", Action::Quit, "stops the run");
const HELP: Key = ("?", b"?h", Action::Help, "shows or hides this help");
const LOAD: [Key; 5] = [
    ("+", b"+=", Action::MoreLoad, "raises the load by 5 %"),
    ("-", b"-_", Action::LessLoad, "lowers the load by 5 %"),
    ("p", b"p", Action::PauseOrResume, "pauses and resumes"),
    QUIT,
    HELP,
];
const SCALE: [Key; 5] = [
    ("+", b"+=", Action::Finer, "finer time scale"),
    ("-", b"-_", Action::Coarser, "coarser time scale"),
    ("a", b"a", Action::AutomaticScale, "automatic time scale"),
    QUIT,
    HELP,
];
const WATCH: [Key; 2] = [QUIT, HELP];

impl Keys {
    /// Returns the action of this byte; `None` for other keys.
    pub fn action(self, byte: u8) -> Option<Action> {
        let found = self
            .all()
            .iter()
            .find(|(_, bytes, ..)| bytes.contains(&byte));
        found.map(|(_, _, action, _)| *action)
    }

    /// Returns each key with its explanation.
    pub(crate) fn explained(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.all().iter().map(|(key, _, _, words)| (*key, *words))
    }

    /// Returns the keys in one line.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Keys::Load => "+ more load  - less load  p pause  q stop  ? help",
            Keys::Scale => "+ finer  - coarser  a automatic  q quit  ? help",
            Keys::Watch => "q stop  ? help",
            Keys::None => "Ctrl-C stop",
        }
    }

    fn all(self) -> &'static [Key] {
        match self {
            Keys::Load => &LOAD,
            Keys::Scale => &SCALE,
            Keys::Watch => &WATCH,
            Keys::None => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_means_another_thing_in_another_map() {
        assert_eq!(Keys::Load.action(b'+'), Some(Action::MoreLoad));
        assert_eq!(Keys::Scale.action(b'+'), Some(Action::Finer));
        assert_eq!(Keys::Watch.action(b'+'), None);
        assert_eq!(Keys::Load.action(b'a'), None);
        assert_eq!(Keys::Scale.action(b'a'), Some(Action::AutomaticScale));
        assert_eq!(Keys::Scale.action(b'p'), None);
    }

    #[test]
    fn every_map_that_has_keys_ends_the_run_and_has_a_help() {
        for keys in [Keys::Load, Keys::Scale, Keys::Watch] {
            assert_eq!(keys.action(b'q'), Some(Action::Quit));
            assert_eq!(keys.action(b'?'), Some(Action::Help));
        }
        assert_eq!(Keys::None.action(b'q'), None);
    }

    #[test]
    fn bytes_of_an_arrow_key_mean_nothing() {
        for byte in *b"\x1b[AB\n \xc3" {
            assert_eq!(Keys::Load.action(byte), None);
            assert_eq!(Keys::Scale.action(byte), None);
        }
    }
}
