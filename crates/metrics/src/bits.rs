//! The format of numbers for another process: their bits, since JSON has no infinity. For serde's
//! attribute `with`.

use serde::{Deserialize, Deserializer, Serializer};

/// The format of a number.
pub mod number {
    use super::*;

    /// Serialises a number.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(number.to_bits())
    }

    /// Deserialises a number.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

/// The format of a list of numbers.
pub mod numbers {
    use super::*;

    /// Serialises a number.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().map(|number| number.to_bits()))
    }

    /// Deserialises numbers.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let bits: Vec<u64> = Vec::deserialize(from)?;
        Ok(bits.into_iter().map(f64::from_bits).collect())
    }
}
