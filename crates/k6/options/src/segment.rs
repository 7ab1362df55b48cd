//! Execution segments: the part of a test that one instance runs.

use std::fmt;

/// A part of the execution: from one fraction to another, each between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    from: Fraction,
    to: Fraction,
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction {
    over: u64,
    under: u64,
}

impl Default for Segment {
    /// Returns the whole execution.
    fn default() -> Self {
        Segment {
            from: Fraction { over: 0, under: 1 },
            to: Fraction { over: 1, under: 1 },
        }
    }
}

impl Segment {
    /// Parses `1/3`, `0:1/3`, `20%:50%` or `0.2:0.5`; a single number is the end of the segment.
    ///
    /// # Errors
    /// If it is not a segment, with k6's message.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once(':').unwrap_or(("0", text));
        let (from, to) = (Fraction::parse(from)?, Fraction::parse(to)?);
        if to.over > to.under {
            return Err(format!(
                "segment end value can't be more than 1 but was {:.2}",
                to.value()
            ));
        }
        if from.over * to.under >= to.over * from.under {
            return Err(format!(
                "segment start value {from} can't be more than or equal to its end value {to}"
            ));
        }
        Ok(Segment { from, to })
    }

    /// Parses the borders of several segments, `0,1/3,2/3,1`.
    ///
    /// # Errors
    /// If they don't ascend, or one is not a fraction.
    pub fn parse_sequence(text: &str) -> Result<Vec<Segment>, String> {
        let borders: Vec<&str> = text.split(',').collect();
        if borders.len() < 2 {
            return Err(format!(
                "at least 2 points are needed for an execution segment sequence, {} given",
                borders.len()
            ));
        }
        let pairs = borders.windows(2);
        pairs
            .map(|pair| Segment::parse(&format!("{}:{}", pair[0], pair[1])))
            .collect()
    }

    /// Returns the segment's share of this count: all segments of a sequence together have the
    /// whole count.
    pub fn share(&self, count: u64) -> u64 {
        self.to.of(count) - self.from.of(count)
    }

    /// True if it is the whole execution.
    pub fn is_whole(&self) -> bool {
        *self == Segment::default()
    }

    /// Returns the size, from 0 to 1.
    pub fn size(&self) -> f64 {
        self.to.value() - self.from.value()
    }
}

impl Fraction {
    fn parse(text: &str) -> Result<Self, String> {
        let refusal =
            || format!("'{text}' is not a valid percentage, decimal, fraction or interval value");
        let text = text.trim();
        if let Some((over, under)) = text.split_once('/') {
            let over = over.trim().parse().map_err(|_| refusal())?;
            let under = under.trim().parse().map_err(|_| refusal())?;
            return Fraction::new(over, under).ok_or_else(refusal);
        }
        let (number, mut under) = match text.strip_suffix('%') {
            Some(percent) => (percent, 100),
            None => (text, 1),
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        if decimals.len() > 9 {
            return Err(refusal());
        }
        under *= 10_u64.pow(decimals.len() as u32);
        let over = format!("{whole}{decimals}")
            .parse()
            .map_err(|_| refusal())?;
        Fraction::new(over, under).ok_or_else(refusal)
    }

    fn new(over: u64, under: u64) -> Option<Self> {
        let divisor = gcd(over, under);
        (under > 0 && under < 1 << 31 && over < 1 << 31).then(|| Fraction {
            over: over / divisor,
            under: under / divisor,
        })
    }

    fn value(&self) -> f64 {
        self.over as f64 / self.under as f64
    }

    fn of(&self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.over) / u128::from(self.under)) as u64
    }
}

fn gcd(one: u64, other: u64) -> u64 {
    match other {
        0 => one.max(1),
        other => gcd(other, one % other),
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.under {
            1 => write!(f, "{}", self.over),
            under => write!(f, "{}/{under}", self.over),
        }
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_a_sequence_share_all_and_lose_nothing() {
        let parts = Segment::parse_sequence("0,1/3,2/3,1").expect("a sequence");
        for count in 0..50 {
            let shares: u64 = parts.iter().map(|part| part.share(count)).sum();
            assert_eq!(shares, count);
        }
        assert_eq!(parts[1].to_string(), "1/3:2/3");
    }

    #[test]
    fn segments_are_fractions_percents_or_decimals() {
        for (text, printed) in [
            ("1/3", "0:1/3"),
            ("10%", "0:1/10"),
            ("0.2:2/3", "1/5:2/3"),
            ("0:1", "0:1"),
        ] {
            assert_eq!(Segment::parse(text).expect(text).to_string(), printed);
        }
        let refused = Segment::parse("2").expect_err("more than all");
        assert_eq!(
            refused,
            "segment end value can't be more than 1 but was 2.00"
        );
        assert!(Segment::parse("1/2:1/3").is_err());
    }
}
