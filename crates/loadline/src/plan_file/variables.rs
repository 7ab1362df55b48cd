//! `${NAME}` in the texts of a plan file: the value of a variable of the environment, so that a
//! token need not stand in the file. `$${` is a plain `${`.

use super::Problem;
use loadline_plan::is_secret_name;
use std::cell::RefCell;

/// Keys whose values are secret wherever a variable is in them.
const SECRET_KEYS: [&str; 5] = ["header", "user", "body", "form", "proxy"];

/// The variables that a file uses.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// Names and values, in the key that is read.
    used: RefCell<Vec<(String, String)>>,
    secrets: RefCell<Vec<String>>,
}

impl Variables {
    /// The text with the values of its variables.
    pub(super) fn expand(&self, text: &str) -> Result<String, Problem> {
        let (mut expanded, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                expanded.push_str(before);
                expanded.push_str("${");
                rest = behind;
                continue;
            }
            let name = behind.split_once('}').filter(|(name, _)| is_name(name));
            let (name, behind) = name.ok_or(Problem::NoVariable)?;
            let value = std::env::var(name).map_err(|_| Problem::Unset(name.to_owned()))?;
            expanded.push_str(before);
            expanded.push_str(&value);
            self.used.borrow_mut().push((name.to_owned(), value));
            rest = behind;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Ends a key, and records which of its variables are secret. A mistake in the key is reported
    /// without their values.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "any other problem has no value in it"
    )]
    pub(super) fn end_key<T>(&self, key: &str, read: Result<T, Problem>) -> Result<T, Problem> {
        let mut used = self.used.take();
        used.retain(|(name, value)| {
            !value.is_empty() && (SECRET_KEYS.contains(&key) || is_secret_name(name))
        });
        let values = used.iter().map(|(_, value)| value.clone());
        self.secrets.borrow_mut().extend(values);
        read.map_err(|problem| match problem {
            Problem::Value(sentence) => {
                let without = |sentence: String, (name, value): &(String, String)| {
                    sentence.replace(value.as_str(), &format!("${{{name}}}"))
                };
                Problem::Value(used.iter().fold(sentence, without))
            }
            other => other,
        })
    }

    /// The values that are secret, each once.
    pub(super) fn secrets(&self) -> Vec<String> {
        let mut secrets = self.secrets.borrow().clone();
        secrets.sort_unstable();
        secrets.dedup();
        secrets
    }
}

/// True if this is a valid name of a variable.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(allowed)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_its_value_and_two_dollars_are_one() {
        // Cargo sets this one for tests.
        let variables = Variables::default();
        for (text, expanded) in [
            ("${CARGO_PKG_NAME}", "loadline"),
            (
                "a ${CARGO_PKG_NAME}, ${CARGO_PKG_NAME}!",
                "a loadline, loadline!",
            ),
            ("$${CARGO_PKG_NAME}", "${CARGO_PKG_NAME}"),
            ("$5 {a} $a $", "$5 {a} $a $"),
            ("", ""),
        ] {
            assert_eq!(variables.expand(text), Ok(expanded.to_owned()), "{text}");
        }
        let unset = variables.expand("x ${LOADLINE_NO_SUCH_VARIABLE}");
        assert_eq!(
            unset,
            Err(Problem::Unset("LOADLINE_NO_SUCH_VARIABLE".to_owned()))
        );
        for text in ["${", "${}", "${a b}", "${1}", "${user.id}"] {
            assert_eq!(variables.expand(text), Err(Problem::NoVariable), "{text}");
        }
    }

    #[test]
    fn values_in_headers_are_secret_and_not_told() {
        let variables = Variables::default();
        let value = variables.expand("${CARGO_PKG_NAME}").expect("a value");
        let refused: Result<(), _> = Err(Problem::Value(format!("`{value}` is bad.")));
        let sentence = variables.end_key("header", refused).expect_err("a refusal");
        assert_eq!(
            sentence,
            Problem::Value("`${CARGO_PKG_NAME}` is bad.".to_owned())
        );
        assert_eq!(variables.secrets(), ["loadline"]);
        let others = Variables::default();
        others.expand("${CARGO_PKG_NAME}").expect("a value");
        assert_eq!(others.end_key("url", Ok(())), Ok(()));
        assert!(others.secrets().is_empty());
    }
}
