//! Names that are sent once: afterwards their numbers stand for them. Of a name is sent what
//! distinguishes it from the one before it: names of one run, such as paths, begin alike.

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
    names: Vec<CarriedName>,
}

/// A name after another one, or after none in its message.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CarriedName {
    /// The number of bytes that both begin with.
    common: u32,
    rest: String,
    tags: BTreeMap<String, String>,
}

impl CarriedName {
    fn of(key: &Key, before: &str) -> Self {
        let common = common_beginning(before, key.name());
        let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
        CarriedName {
            common: common as u32,
            rest: key.name()[common..].to_owned(),
            tags: key.tags().map(owned).collect(),
        }
    }

    fn key(self, before: &str) -> Result<Key, CarryError> {
        let beginning = before.get(..self.common as usize);
        let name = beginning.ok_or(CarryError::Names)?.to_owned() + &self.rest;
        Key::tagged(&name, self.tags).map_err(|_| CarryError::Names)
    }
}

/// Returns the number of bytes of the whole characters that two texts begin with.
fn common_beginning(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    let common = pairs.take_while(|(one, other)| one == other);
    common.map(|(letter, _)| letter.len_utf8()).sum()
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
        let before = [""].into_iter().chain(new.iter().map(Key::name));
        let names = new.iter().zip(before);
        CarriedNames {
            first: (self.numbers.len() - new.len()) as u32,
            names: names
                .map(|(key, before)| CarriedName::of(key, before))
                .collect(),
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
        for name in new.names {
            let before = self.0.last().map_or("", Key::name);
            let key = name.key(before)?;
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
    fn of_names_that_begin_alike_only_the_rest_is_sent() {
        let (mut sent, mut known) = (SentNames::default(), KnownNames::default());
        let names = ["/item/é1", "/item/è2", "/item/è", "/item/è/10", "x"];
        for name in names {
            sent.number(&key(name));
        }
        let new = sent.take_new();
        let rests: Vec<&str> = new.names.iter().map(|name| name.rest.as_str()).collect();
        assert_eq!(rests, ["/item/é1", "è2", "", "/10", "x"]);
        known.learn(new).expect("all names");
        for (number, name) in (0..).zip(names) {
            assert_eq!(known.name(number), Ok(&key(name)));
        }
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
        let new = |first, common, rest: &str| CarriedNames {
            first,
            names: vec![CarriedName {
                common,
                rest: rest.to_owned(),
                tags: BTreeMap::new(),
            }],
        };
        let mut known = KnownNames::default();
        assert_eq!(known.learn(new(1, 0, "a")), Err(CarryError::Names));
        assert_eq!(known.learn(new(0, 0, "")), Err(CarryError::Names));
        assert_eq!(known.learn(new(0, 1, "a")), Err(CarryError::Names));
        assert_eq!(known.learn(new(0, 0, "aé")), Ok(()));
        assert_eq!(known.learn(new(0, 0, "a")), Err(CarryError::Names));
        // Within a character.
        assert_eq!(known.learn(new(1, 2, "a")), Err(CarryError::Names));
        assert_eq!(known.learn(new(1, 4, "a")), Err(CarryError::Names));
        assert_eq!(known.learn(new(1, 3, "b")), Ok(()));
        assert_eq!(known.name(1), Ok(&key("aéb")));
    }
}
