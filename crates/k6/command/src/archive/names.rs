//! The names of files in an archive.
//!
//! A file of the disk has its path below `file`, a file of the web its URL without `https:/`. The
//! name of a user is removed, as in k6: `/home/ada/test.js` becomes `/home/nobody/test.js`.

use percent_encoding::percent_decode_str;
use url::Url;

/// Returns the name of the file at a URL.
pub(super) fn of(url: &Url) -> String {
    match url.scheme() {
        "file" => format!(
            "file{}",
            anonymous(&percent_decode_str(url.path()).decode_utf8_lossy())
        ),
        scheme => {
            let rest = url.as_str().split_once("://").map_or("", |(_, rest)| rest);
            format!("{scheme}/{rest}")
        }
    }
}

/// Returns the URL of the file with this name; `None` if it is not a name of a file.
pub(super) fn url(name: &str) -> Option<Url> {
    let (scheme, rest) = name.trim_start_matches("./").split_once('/')?;
    match scheme {
        "file" => Url::from_file_path(format!("/{rest}")).ok(),
        "https" => Url::parse(&format!("https://{rest}")).ok(),
        _ => None,
    }
}

/// Returns a URL without the name of a user.
pub(super) fn anonymous_url(url: &Url) -> Url {
    let mut url = url.clone();
    if url.scheme() == "file" {
        let path = anonymous(url.path());
        url.set_path(&path);
    }
    url
}

fn anonymous(path: &str) -> String {
    for homes in ["/home/", "/Users/"] {
        if let Some(rest) = path.strip_prefix(homes) {
            let below = rest.find('/').map_or("", |at| &rest[at..]);
            return format!("{homes}nobody{below}");
        }
    }
    path.to_owned()
}

/// Returns the directories above a file of an archive.
pub(super) fn above(name: &str) -> impl Iterator<Item = &str> {
    let path = name.split('?').next().unwrap_or_default();
    path.match_indices('/').map(|(at, _)| &name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(url: &str) -> String {
        of(&Url::parse(url).expect("a URL"))
    }

    #[test]
    fn files_are_called_by_scheme_and_path() {
        assert_eq!(name("file:///tmp/a%20b.js"), "file/tmp/a b.js");
        let web = "https://127.0.0.1:16443/rel.js?v=1";
        assert_eq!(name(web), "https/127.0.0.1:16443/rel.js?v=1");
    }

    #[test]
    fn a_name_leads_back_to_its_url() {
        for text in [
            "file:///tmp/a%20b.js",
            "https://127.0.0.1:16443/rel.js?v=1/2",
            "file:///-",
        ] {
            assert_eq!(url(&name(text)).expect("a URL").as_str(), text);
        }
        assert_eq!(url("other/thing"), None);
    }

    #[test]
    fn names_of_users_are_left_out() {
        assert_eq!(name("file:///home/ada/d/m.js"), "file/home/nobody/d/m.js");
        assert_eq!(name("file:///Users/ada/m.js"), "file/Users/nobody/m.js");
        let home = Url::parse("file:///home/ada").expect("a URL");
        assert_eq!(anonymous_url(&home).as_str(), "file:///home/nobody");
    }

    #[test]
    fn the_directories_of_a_file_are_all_above_it() {
        let found: Vec<&str> = above("https/h:1/a/b.js?c=/d").collect();
        assert_eq!(found, ["https", "https/h:1", "https/h:1/a"]);
    }
}
