//! Settings of exporters, from variables of the environment and from files.
//!
//! A receiver's variables have a prefix: k6's own in k6's runs (`K6_PROMETHEUS_RW_`), else
//! Loadline's (`LOADLINE_PROMETHEUS_RW_`), followed by the same names. A secret may lie in a
//! file, which `NAME_FILE` names.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_plan::Tls;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// The variables of one receiver.
#[derive(Clone)]
pub(crate) struct Settings {
    variables: BTreeMap<String, String>,
    prefix: String,
}

/// A variable that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A value that is none.
    #[error("the variable {name} is `{value}`: write {expected}")]
    Value {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A file of a secret that can't be read.
    #[error("the variable {name} names the file `{path}`, which can't be read: {reason}")]
    File {
        /// The variable.
        name: String,
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
}

impl Settings {
    /// Creates the settings of the variables with this prefix.
    pub(crate) fn new(variables: BTreeMap<String, String>, prefix: &str) -> Settings {
        Settings {
            variables,
            prefix: prefix.to_owned(),
        }
    }

    /// Returns the settings of the variables whose prefix goes on so.
    pub(crate) fn nested(&self, prefix: &str) -> Settings {
        Settings::new(self.variables.clone(), &format!("{}{prefix}", self.prefix))
    }

    /// Returns the settings of the variables with this prefix, whatever came before it.
    pub(crate) fn rooted(&self, prefix: &str) -> Settings {
        Settings::new(self.variables.clone(), prefix)
    }

    /// Returns the error that a variable's value is none.
    pub(crate) fn refused(&self, name: &str, expected: &'static str) -> SettingsError {
        SettingsError::Value {
            name: format!("{}{name}", self.prefix),
            value: self.text(name).unwrap_or_default().to_owned(),
            expected,
        }
    }

    /// Returns the same settings with others for these variables.
    pub(crate) fn overridden<'a>(
        mut self,
        given: impl Iterator<Item = (&'a str, String)>,
    ) -> Settings {
        for (name, value) in given {
            self.variables
                .insert(format!("{}{name}", self.prefix), value);
        }
        self
    }

    /// Returns the same settings, where variables whose prefix goes on so hold before the others.
    pub(crate) fn preferring(self, prefix: &str) -> Settings {
        let given = self.beginning(prefix);
        let given: Vec<_> = given
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let own = given.into_iter();
        self.clone()
            .overridden(own.map(|(name, value)| (name.as_str(), value.clone())))
    }

    /// Returns a text; `None` if it is not set or empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(&format!("{}{name}", self.prefix))?;
        (!value.is_empty()).then_some(value.as_str())
    }

    /// Returns a secret, which may lie in the file that `NAME_FILE` names.
    pub(crate) fn secret(&self, name: &str) -> Result<Option<String>, SettingsError> {
        if let Some(text) = self.text(name) {
            return Ok(Some(text.to_owned()));
        }
        let variable = format!("{name}_FILE");
        let Some(path) = self.text(&variable) else {
            return Ok(None);
        };
        let read = fs::read_to_string(path);
        let text = read.map_err(|error| SettingsError::File {
            name: format!("{}{variable}", self.prefix),
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Returns a switch: `true` or `false`, `1` or `0`, as Go reads it.
    pub(crate) fn switch(&self, name: &str) -> Result<Option<bool>, SettingsError> {
        self.parsed(name, "true or false", |text| match text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        })
    }

    /// Returns a number above zero.
    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, SettingsError> {
        self.parsed(name, "a number above 0", |text| {
            text.parse().ok().filter(|count| *count > 0)
        })
    }

    /// Returns a duration above zero, such as `5s` or `500ms`; a bare number is in milliseconds.
    pub(crate) fn duration(&self, name: &str) -> Result<Option<Duration>, SettingsError> {
        let expected = "a duration such as 5s";
        self.parsed(name, expected, |text| {
            duration(text).filter(|one| !one.is_zero())
        })
    }

    /// Returns the items of a list that commas separate.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<String>> {
        let items = self.text(name)?.split(',').map(str::trim);
        Some(
            items
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect(),
        )
    }

    /// Returns the variables whose names begin so, without that beginning.
    pub(crate) fn beginning(&self, name: &str) -> Vec<(String, String)> {
        let begin = format!("{}{name}", self.prefix);
        let all = self.variables.iter();
        all.filter_map(|(name, value)| {
            let rest = name.strip_prefix(&begin)?;
            (!rest.is_empty()).then(|| (rest.to_owned(), value.clone()))
        })
        .collect()
    }

    /// Returns the TLS settings of variables with these names.
    pub(crate) fn tls(
        &self,
        insecure: &str,
        [cacert, cert, key]: [&str; 3],
    ) -> Result<Tls, SettingsError> {
        Ok(Tls {
            insecure: self.switch(insecure)?.unwrap_or(false),
            cacert: self.text(cacert).map(PathBuf::from),
            cert: self.text(cert).map(PathBuf::from),
            key: self.text(key).map(PathBuf::from),
            ..Tls::default()
        })
    }

    fn parsed<T>(
        &self,
        name: &str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SettingsError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let parsed = parse(text).map(Some);
        parsed.ok_or_else(|| self.refused(name, expected))
    }
}

/// Returns the header field of basic authentication.
pub(crate) fn basic(user: &str, password: &str) -> (String, String) {
    let both = STANDARD.encode(format!("{user}:{password}"));
    ("Authorization".to_owned(), format!("Basic {both}"))
}

/// Parses a duration of one or more numbers with units, as Go and k6 write it.
fn duration(text: &str) -> Option<Duration> {
    if let Ok(ms) = text.parse::<u64>() {
        return Some(Duration::from_millis(ms));
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at(end);
        let end = behind
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(end);
        let unit = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * unit;
        rest = behind;
    }
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        let variables = variables.iter();
        let owned = variables.map(|(name, value)| (format!("A_{name}"), (*value).to_owned()));
        Settings::new(owned.collect(), "A_")
    }

    #[test]
    fn durations_are_written_as_in_k6() {
        let of = |text| settings(&[("D", text)]).duration("D");
        assert_eq!(of("5s"), Ok(Some(Duration::from_secs(5))));
        assert_eq!(of("1m30s"), Ok(Some(Duration::from_secs(90))));
        assert_eq!(of("1500"), Ok(Some(Duration::from_millis(1_500))));
        assert_eq!(of("0.5s"), Ok(Some(Duration::from_millis(500))));
        for text in ["s", "5", "0s", "5x", "-1s"] {
            let is_bare = text == "5";
            assert_eq!(of(text).is_ok(), is_bare, "{text}");
        }
        let reason = of("soon").unwrap_err().to_string();
        assert_eq!(
            reason,
            "the variable A_D is `soon`: write a duration such as 5s"
        );
    }

    #[test]
    fn a_secret_may_lie_in_a_file() {
        let missing = settings(&[("TOKEN_FILE", "/no/such/file")]);
        let reason = missing.secret("TOKEN").unwrap_err().to_string();
        assert!(reason.starts_with("the variable A_TOKEN_FILE names the file `/no/such/file`"));
        let given = settings(&[("TOKEN", "t"), ("TOKEN_FILE", "/no/such/file")]);
        assert_eq!(given.secret("TOKEN"), Ok(Some("t".to_owned())));
        assert_eq!(settings(&[]).secret("TOKEN"), Ok(None));
    }

    #[test]
    fn special_variables_hold_before_general_ones() {
        let given = settings(&[
            ("HEADERS", "a"),
            ("METRICS_HEADERS", "b"),
            ("METRICS_X", ""),
        ]);
        let given = given.preferring("METRICS_");
        assert_eq!(given.text("HEADERS"), Some("b"));
        assert_eq!(given.text("X"), None);
    }

    #[test]
    fn header_fields_are_found_by_the_beginning_of_their_variables() {
        let given = settings(&[("HEADERS_X-Scope", "a"), ("HEADERS_", "b"), ("OTHER", "c")]);
        let found = given.beginning("HEADERS_");
        assert_eq!(found, [("X-Scope".to_owned(), "a".to_owned())]);
    }
}
