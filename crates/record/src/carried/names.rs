//! Names that are sent once: afterwards their numbers stand for them.

use super::error::CarryError;
use loadline_metrics::Key;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The names that one side has sent, by number. The other side [knows](KnownNames) them.
#[derive(Debug, Default)]
pub struct SentNames {
    numbers: HashMap<Key, u32>,
    /// The names that are not sent yet; their numbers are the last ones.
    new: Vec<Key>,
}

/// The names that the other side has sent.
#[derive(Debug, Default)]
pub struct KnownNames(Vec<Key>);

/// Names that are sent for the first time.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedNames {
    /// The number of the first one.
    first: u32,
    names: Vec<(String, BTreeMap<String, String>)>,
}

impl SentNames {
    /// Returns the number of a name.
    pub(super) fn number(&mut self, key: &Key) -> u32 {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(key.clone(), number);
        self.new.push(key.clone());
        number
    }

    /// Takes the names that are not sent yet, for the message that uses their numbers.
    pub fn take_new(&mut self) -> CarriedNames {
        let new = std::mem::take(&mut self.new);
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        let name = |key: &Key| (key.name().to_owned(), key.tags().map(owned).collect());
        CarriedNames {
            first: (self.numbers.len() - new.len()) as u32,
            names: new.iter().map(name).collect(),
        }
    }
}

impl CarriedNames {
    /// Adds the names of the next message.
    ///
    /// # Errors
    /// If they do not follow these.
    pub fn append(&mut self, later: CarriedNames) -> Result<(), CarryError> {
        if later.first as usize != self.first as usize + self.names.len() {
            return Err(CarryError::Names);
        }
        self.names.extend(later.names);
        Ok(())
    }

    /// Returns no names, for a message after these.
    pub fn none_after(&self) -> CarriedNames {
        CarriedNames {
            first: self.first + self.names.len() as u32,
            names: Vec::new(),
        }
    }
}

impl KnownNames {
    /// Adds the names of a message.
    ///
    /// # Errors
    /// If they do not follow those before, or are none.
    pub fn learn(&mut self, new: CarriedNames) -> Result<(), CarryError> {
        if new.first as usize != self.0.len() {
            return Err(CarryError::Names);
        }
        for (name, tags) in new.names {
            let key = Key::tagged(&name, tags).map_err(|_| CarryError::Names)?;
            self.0.push(key);
        }
        Ok(())
    }

    /// Returns the name of a number.
    ///
    /// # Errors
    /// If it was not sent.
    pub(super) fn name(&self, number: u32) -> Result<&Key, CarryError> {
        self.0.get(number as usize).ok_or(CarryError::Names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new(name).expect("a name")
    }

    #[test]
    fn a_name_is_sent_once() {
        let tagged = Key::tagged("a", [("b".to_owned(), "c".to_owned())].into()).expect("a name");
        let (mut sent, mut known) = (SentNames::default(), KnownNames::default());
        for keys in [vec![key("a"), tagged.clone()], vec![tagged, key("d")]] {
            let numbers: Vec<u32> = keys.iter().map(|key| sent.number(key)).collect();
            let new = sent.take_new();
            assert!(new.names.len() <= 2);
            known.learn(new).expect("the next names");
            let names: Vec<_> = numbers
                .into_iter()
                .map(|number| known.name(number))
                .collect();
            assert_eq!(names, keys.iter().map(Ok).collect::<Vec<_>>());
        }
        assert_eq!(sent.take_new().names.len(), 0);
        assert_eq!(known.name(3), Err(CarryError::Names));
    }

    #[test]
    fn names_of_several_messages_are_sent_at_once() {
        let mut sent = SentNames::default();
        let mut all = CarriedNames::default();
        for name in ["a", "b"] {
            sent.number(&key(name));
            all.append(sent.take_new()).expect("the next names");
        }
        let nothing = all.none_after();
        assert_eq!(all.append(CarriedNames::default()), Err(CarryError::Names));
        let mut known = KnownNames::default();
        known.learn(all).expect("all names");
        known.learn(nothing).expect("none after them");
        assert_eq!(known.name(1), Ok(&key("b")));
    }

    #[test]
    fn names_after_a_gap_and_invalid_ones_are_refused() {
        let new = |first, name: &str| CarriedNames {
            first,
            names: vec![(name.to_owned(), BTreeMap::new())],
        };
        let mut known = KnownNames::default();
        assert_eq!(known.learn(new(1, "a")), Err(CarryError::Names));
        assert_eq!(known.learn(new(0, "")), Err(CarryError::Names));
        assert_eq!(known.learn(new(0, "a")), Ok(()));
        assert_eq!(known.learn(new(0, "a")), Err(CarryError::Names));
    }
}
