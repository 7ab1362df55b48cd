//! The local addresses of users, as `--local-ips` lists them: single ones, ranges and networks,
//! separated by commas.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The local addresses of users. There may be very many, so only the bounds of blocks are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalIps(Vec<Block>);

/// A range of consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    is_v6: bool,
    first: u128,
    last: u128,
}

impl LocalIps {
    /// Parses a list; `None` if it is empty.
    ///
    /// # Errors
    /// The problem, with k6's message.
    pub(crate) fn parse(text: &str) -> Result<Option<LocalIps>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        let blocks = text.split(',').map(Block::parse);
        Ok(Some(LocalIps(blocks.collect::<Result<_, _>>()?)))
    }

    /// Returns the address of the user with this number, from 1: after the last address the first
    /// one is used again. Number 0, which is not a user of the load, has the first address.
    pub fn of_user(&self, number: u32) -> Option<IpAddr> {
        let counts = self.0.iter().map(Block::count);
        let all = counts.fold(0, u128::saturating_add);
        let mut index = u128::from(number.saturating_sub(1)) % all;
        for block in &self.0 {
            match index.checked_sub(block.count()) {
                Some(left) => index = left,
                None => return Some(address(block.is_v6, block.first + index)),
            }
        }
        None
    }
}

impl Block {
    fn parse(text: &str) -> Result<Block, String> {
        if let Some((first, last)) = text.split_once('-') {
            return Block::range(text, first, last);
        }
        if text.contains('/') {
            return Block::network(text).ok_or_else(|| {
                format!("parseCIDR() failed parsing {text}: invalid CIDR address: {text}")
            });
        }
        Block::range(text, text, text)
            .map_err(|_| format!("{text} is not a valid IP, IP range or CIDR"))
    }

    fn range(text: &str, first: &str, last: &str) -> Result<Block, String> {
        let (Ok(first), Ok(last)) = (first.parse::<IpAddr>(), last.parse::<IpAddr>()) else {
            return Err(format!("wrong IP range format: {text}"));
        };
        if first.is_ipv6() != last.is_ipv6() {
            return Err(format!("mixed IP range format: {text}"));
        }
        if last < first {
            return Err(format!("negative IP range: {text}"));
        }
        Ok(Block {
            is_v6: first.is_ipv6(),
            first: number(first),
            last: number(last),
        })
    }

    /// Parses a network, without its first and last address if it is one of IPv4 with more than
    /// two.
    fn network(text: &str) -> Option<Block> {
        let (address, bits) = text.split_once('/')?;
        let (address, bits) = (address.parse::<IpAddr>().ok()?, bits.parse::<u32>().ok()?);
        let width: u32 = if address.is_ipv6() { 128 } else { 32 };
        let free = width
            .checked_sub(bits)
            .map(|free| u128::MAX.checked_shl(free));
        // A shift by all bits of IPv6 would overflow.
        let outside = free?.unwrap_or(0);
        let first = number(address) & outside;
        let all = if width == 128 {
            u128::MAX
        } else {
            u128::from(u32::MAX)
        };
        let last = first | (!outside & all);
        let ends = u128::from(width == 32 && last - first >= 2);
        Some(Block {
            is_v6: width == 128,
            first: first + ends,
            last: last - ends,
        })
    }

    fn count(&self) -> u128 {
        (self.last - self.first).saturating_add(1)
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

fn address(is_v6: bool, number: u128) -> IpAddr {
    match is_v6 {
        true => Ipv6Addr::from(number).into(),
        false => Ipv4Addr::from(number as u32).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(text: &str, numbers: &[u32]) -> Vec<String> {
        let ips = LocalIps::parse(text).unwrap().unwrap();
        let each = numbers.iter().map(|number| ips.of_user(*number));
        each.map(|ip| ip.map_or_else(String::new, |ip| ip.to_string()))
            .collect()
    }

    #[test]
    fn users_take_the_addresses_in_turn() {
        let of = users("127.0.0.5,127.0.0.8-127.0.0.9", &[0, 1, 2, 3, 4]);
        assert_eq!(
            of,
            [
                "127.0.0.5",
                "127.0.0.5",
                "127.0.0.8",
                "127.0.0.9",
                "127.0.0.5"
            ]
        );
        let of = users("10.0.0.0/30", &[1, 2, 3]);
        assert_eq!(of, ["10.0.0.1", "10.0.0.2", "10.0.0.1"]);
        assert_eq!(users("10.0.0.4/31", &[1, 2]), ["10.0.0.4", "10.0.0.5"]);
        assert_eq!(users("fd::/120", &[1, 257]), ["fd::", "fd::"]);
        assert_eq!(users("::/0,0.0.0.0/0", &[2]), ["::1"]);
    }

    #[test]
    fn a_list_that_is_none_says_why() {
        for (text, problem) in [
            ("nope", "nope is not a valid IP, IP range or CIDR"),
            ("127.0.0.1-", "wrong IP range format: 127.0.0.1-"),
            ("127.0.0.1-::1", "mixed IP range format: 127.0.0.1-::1"),
            (
                "127.0.0.9-127.0.0.1",
                "negative IP range: 127.0.0.9-127.0.0.1",
            ),
            (
                "127.0.0.0/40",
                "parseCIDR() failed parsing 127.0.0.0/40: invalid CIDR address: 127.0.0.0/40",
            ),
        ] {
            assert_eq!(LocalIps::parse(text), Err(problem.to_owned()));
        }
        assert_eq!(LocalIps::parse(""), Ok(None));
    }
}
