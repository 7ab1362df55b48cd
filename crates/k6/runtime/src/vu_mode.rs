//! The choice of `--vu-mode`.

/// The state that each virtual user has of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VuMode {
    /// A runtime, as in k6.
    #[default]
    Isolated,
    /// Its modules. The users of a worker share a runtime, and so globals and built-in objects.
    Shared,
}

impl VuMode {
    /// Returns the mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "isolated" => Some(VuMode::Isolated),
            "shared" => Some(VuMode::Shared),
            _ => None,
        }
    }
}
