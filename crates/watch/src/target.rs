//! The targets of a watch, in the user's notation.

use std::fmt;
use std::str::FromStr;

/// A target to watch: `4711`, `nginx` or `:8080`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The process with this number.
    Pid(u32),
    /// Every process whose program has this name.
    Name(String),
    /// The process that listens on this TCP port of this host.
    Port(u16),
}

/// The error of a text that does not name a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` can't be watched. Write a process number, a program name, or : and the port it listens \
     on, such as :8080."
)]
pub struct BadTarget(String);

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let bad = || BadTarget(text.to_owned());
        if let Some(port) = text.strip_prefix(':') {
            let port = port.parse().ok().filter(|port| *port != 0);
            return port.map(Target::Port).ok_or_else(bad);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let pid = text.parse().ok().filter(|pid| *pid != 0);
            return pid.map(Target::Pid).ok_or_else(bad);
        }
        let is_name = !text.contains('/') && text.trim() == text && !text.starts_with('-');
        is_name
            .then(|| Target::Name(text.to_owned()))
            .ok_or_else(bad)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Pid(pid) => write!(f, "{pid}"),
            Target::Name(name) => f.write_str(name),
            Target::Port(port) => write!(f, ":{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_ports_are_told_apart() {
        for (text, target) in [
            ("4711", Target::Pid(4711)),
            ("nginx", Target::Name("nginx".to_owned())),
            ("7zip", Target::Name("7zip".to_owned())),
            (":8080", Target::Port(8080)),
        ] {
            assert_eq!(text.parse(), Ok(target.clone()), "{text}");
            assert_eq!(target.to_string(), text);
        }
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for text in [
            "",
            "0",
            ":",
            ":0",
            ":65536",
            ":http",
            "99999999999",
            "/usr/bin/a",
            " a",
            "-x",
        ] {
            assert_eq!(
                text.parse::<Target>(),
                Err(BadTarget(text.to_owned())),
                "{text}"
            );
        }
    }
}
