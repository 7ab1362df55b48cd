//! The fields of a request as Go writes them, because k6 sends with Go's library: names in
//! canonical form, and in one order.

use std::rc::Rc;

/// Fields by name and value, in order. Most requests of a worker share one list.
pub(crate) type Fields = Rc<Vec<(String, String)>>;

/// Returns a name in canonical form, such as `Content-Type` for `content-type`. An invalid name is
/// left as it is.
pub(crate) fn canonical(name: &[u8]) -> String {
    if name.contains(&b' ') {
        return String::from_utf8_lossy(name).into_owned();
    }
    let mut begins = true;
    let letter = |byte: &u8| {
        let letter = match begins {
            true => byte.to_ascii_uppercase(),
            false => byte.to_ascii_lowercase(),
        };
        begins = *byte == b'-';
        char::from(letter)
    };
    name.iter().map(letter).collect()
}

/// Adds the length of the body, and sorts fields in Go's order: `Host`, `User-Agent`,
/// `Content-Length`, then all others by name.
pub(crate) fn arrange(fields: &mut Vec<(String, String)>, body_bytes: Option<usize>) {
    if let Some(bytes) = body_bytes {
        fields.push(("Content-Length".to_owned(), bytes.to_string()));
    }
    let rank = |name: &str| match name {
        "Host" => 0,
        "User-Agent" => 1,
        "Content-Length" => 2,
        _ => 3,
    };
    if fields.len() > 1 {
        fields.sort_by(|(a, _), (b, _)| (rank(a), a).cmp(&(rank(b), b)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_capitals_behind_each_hyphen() {
        let names = ["x-mine", "COOKIE", "content-MD5", "a"].map(|name| canonical(name.as_bytes()));
        assert_eq!(names, ["X-Mine", "Cookie", "Content-Md5", "A"]);
    }

    #[test]
    fn fields_stand_in_the_order_of_their_names_behind_those_of_each_request() {
        let names = ["Zeta", "Cookie", "User-Agent", "Accept", "Host"];
        let field = |name: &str| (name.to_owned(), String::new());
        let mut fields: Vec<_> = names.into_iter().map(field).collect();
        arrange(&mut fields, Some(3));
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        let arranged = [
            "Host",
            "User-Agent",
            "Content-Length",
            "Accept",
            "Cookie",
            "Zeta",
        ];
        assert_eq!(names, arranged);
        assert_eq!(fields[2].1, "3");
    }
}
