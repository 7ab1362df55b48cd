//! Names that begin alike, as groups with the beginning as their name.
//!
//! Names of requests are mostly paths. Where they are cut decides how many groups there are: one
//! that holds nearly all names shows nothing, and groups of two save nothing. Of all depths that
//! one is taken at which the longest list that a reader meets, of groups or within one, is the
//! shortest.

use std::collections::BTreeMap;

/// The most parts of a name that a prefix has.
const DEEPEST: usize = 8;

/// Returns the prefixes that groups of these names have in common, in their order: each is cut
/// after a `/` or `::`, and stands for at least two names. There are none if no two groups differ.
pub(crate) fn prefixes<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let cut: Vec<(&str, Vec<usize>)> = names.iter().map(|name| (*name, cuts(name))).collect();
    let depths = (1..=DEEPEST).map(|depth| Folded::at(&cut, depth));
    let useful = depths.filter(|folded| folded.groups.len() > 1);
    let best = useful.min_by_key(Folded::longest_list);
    best.map_or_else(Vec::new, |folded| folded.groups.into_keys().collect())
}

/// The names, folded at a depth.
struct Folded<'a> {
    /// The number of names of each group.
    groups: BTreeMap<&'a str, usize>,
    /// The number of names that are in none.
    alone: usize,
}

impl<'a> Folded<'a> {
    /// Folds names, each with the places at which it can be cut.
    fn at(names: &[(&'a str, Vec<usize>)], depth: usize) -> Folded<'a> {
        let mut groups = BTreeMap::new();
        let prefix = |(name, cuts): &(&'a str, Vec<usize>)| Some(&name[..*cuts.get(depth - 1)?]);
        let prefixes = names.iter().filter_map(prefix);
        prefixes.for_each(|prefix| *groups.entry(prefix).or_insert(0) += 1);
        groups.retain(|_, count| *count > 1);
        let grouped: usize = groups.values().sum();
        Folded {
            groups,
            alone: names.len() - grouped,
        }
    }

    fn longest_list(&self) -> usize {
        let longest = self.groups.values().copied().max().unwrap_or(0);
        longest.max(self.groups.len() + self.alone)
    }
}

/// Returns the ends of the first parts of a name, each with what separates it from the next one.
fn cuts(name: &str) -> Vec<usize> {
    // The address of a URL, and the colons before the first group of k6, are no parts.
    let begin = name.find("://").map_or(0, |at| at + 3);
    let begin = begin.max(if name.starts_with("::") { 2 } else { 0 });
    let bytes = name.as_bytes();
    let (mut ends, mut at) = (Vec::new(), begin);
    while at < bytes.len() && ends.len() < DEEPEST {
        let length = match &bytes[at..] {
            [b'/', ..] => 1,
            [b':', b':', ..] => 2,
            _ => 0,
        };
        at += length.max(1);
        if length > 0 && at < bytes.len() {
            ends.push(at);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(names: &[String]) -> Vec<&str> {
        prefixes(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn paths_are_cut_where_the_longest_list_is_shortest() {
        let names = (0..2_000).map(|index| format!("GET /shops/{}/articles/{index}", index % 40));
        let names: Vec<String> = names.collect();
        let groups = folded(&names);
        assert_eq!(groups.len(), 40);
        assert!(groups.contains(&"GET /shops/7/"), "{groups:?}");
    }

    #[test]
    fn a_group_stands_for_several_names_and_others_stand_alone() {
        let names = [
            "/cart/add",
            "/cart/pay",
            "/items/1",
            "/items/2",
            "/login",
            "/",
        ];
        assert_eq!(prefixes(&names), ["/cart/", "/items/"]);
        let urls = ["http://a/x", "http://a/y", "http://b/x", "http://b/y"];
        assert_eq!(prefixes(&urls), ["http://a/", "http://b/"]);
        let groups = ["::shop::pay", "::shop::add", "::admin::log", "::admin::out"];
        assert_eq!(prefixes(&groups), ["::admin::", "::shop::"]);
    }

    #[test]
    fn names_without_parts_or_of_one_group_have_no_prefixes() {
        assert!(prefixes(&[]).is_empty());
        assert!(prefixes(&["login", "logout", "pay"]).is_empty());
        assert!(prefixes(&["/a/1", "/a/2", "/a/3"]).is_empty());
        assert!(prefixes(&["/ü/", "/é/", "//", "::"]).is_empty());
    }
}
