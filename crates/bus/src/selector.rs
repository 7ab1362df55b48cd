//! The agents that a run is for: a number of them, or those with certain labels.

use crate::protocol::Card;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The labels of an agent.
pub type Labels = BTreeMap<String, String>;

/// The agents that a run is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Their number; `None` for all that there are.
    pub count: Option<u32>,
    /// The labels that each of them has.
    pub labels: Labels,
}

impl Selector {
    /// True if an agent has the labels.
    pub fn fits(&self, card: &Card) -> bool {
        let mut labels = self.labels.iter();
        labels.all(|(key, value)| card.labels.get(key) == Some(value))
    }

    /// Returns the least number of agents.
    pub(crate) fn least(&self) -> usize {
        self.count.unwrap_or(1) as usize
    }
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut requested = Selector::default();
        for word in text.split(',') {
            match (parse_label(word), word.parse()) {
                (Ok((key, value)), _) => {
                    requested.labels.insert(key, value);
                }
                (Err(_), Ok(count)) if count > 0 && requested.count.is_none() => {
                    requested.count = Some(count);
                }
                _ => {
                    return Err(format!(
                        "`{text}` names no agents; give a number, a label or both, such as 4, \
                         region=eu or 4,region=eu."
                    ));
                }
            }
        }
        Ok(requested)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count.iter().map(u32::to_string);
        let labels = self.labels.iter();
        let labels = labels.map(|(key, value)| format!("{key}={value}"));
        let words: Vec<String> = count.chain(labels).collect();
        f.write_str(&words.join(","))
    }
}

/// Parses a label: `KEY=VALUE`.
///
/// # Errors
/// The message if it is none.
pub fn parse_label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.contains(',') => {
            Ok((key.to_owned(), value.to_owned()))
        }
        _ => Err(format!(
            "`{text}` is no label; write it as KEY=VALUE, without a comma."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_given_by_number_and_labels() {
        for text in ["4", "region=eu", "4,region=eu", "2,a=1,b="] {
            let requested: Selector = text.parse().expect("agents");
            assert_eq!(requested.to_string(), text);
        }
        for text in ["", "0", "4,5", "=a", "four", "4,", "-1"] {
            let refusal = text.parse::<Selector>().expect_err("a refusal");
            assert!(refusal.contains("4,region=eu"), "{refusal}");
        }
    }
}
