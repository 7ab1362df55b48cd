//! Resolution of module specifiers.
//!
//! Modules are named by URLs, and built-in ones by their own names. A file has to be named exactly:
//! no extension is added, and no package is searched for.

use url::Url;

/// The meaning of a specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// A built-in module, or an unknown one whose name begins like theirs.
    BuiltIn(String),
    /// A file or a page.
    Url(Url),
}

impl Resolved {
    /// Returns the module's name.
    pub(crate) fn into_name(self) -> String {
        match self {
            Resolved::BuiltIn(name) => name,
            Resolved::Url(url) => url.into(),
        }
    }
}

/// Resolves `specifier` in the module `base`.
///
/// # Errors
/// The message for a specifier without a meaning.
pub(crate) fn resolve(base: &str, specifier: &str) -> Result<Resolved, String> {
    if specifier == "k6" || specifier.starts_with("k6/") {
        return Ok(Resolved::BuiltIn(specifier.to_owned()));
    }
    let base = Url::parse(base).ok();
    let is_relative = ["./", "../", "/"]
        .iter()
        .any(|prefix| specifier.starts_with(prefix))
        || matches!(specifier, "." | "..");
    let url = match (is_relative, &base) {
        (true, Some(base)) => base.join(specifier).ok(),
        (true, None) => None,
        (false, _) => Url::parse(specifier)
            .ok()
            .filter(|url| matches!(url.scheme(), "file" | "https")),
    };
    let Some(url) = url else {
        return Err(unknown(specifier));
    };
    let is_remote = base.is_some_and(|base| base.scheme() == "https");
    if is_remote && url.scheme() == "file" {
        return Err(format!(
            "origin ({url}) not allowed to load local file: a module from the web imports it"
        ));
    }
    Ok(Resolved::Url(url))
}

/// Returns the error for a specifier without a meaning.
pub(crate) fn unknown(specifier: &str) -> String {
    format!("The moduleSpecifier \"{specifier}\" couldn't be recognised as something k6 supports.")
}

/// Returns the URL of a file for `open()`, relative to the directory of the module `base`.
pub(crate) fn resolve_file(base: &str, path: &str) -> Option<Url> {
    match Url::parse(path) {
        Ok(url) if matches!(url.scheme(), "file" | "https") => Some(url),
        _ => {
            let base = Url::parse(base).ok()?;
            // A file name may contain `?` or `#`.
            let escaped = path.replace('%', "%25").replace('?', "%3F");
            base.join(&escaped.replace('#', "%23")).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(base: &str, specifier: &str) -> Result<String, String> {
        resolve(base, specifier).map(Resolved::into_name)
    }

    #[test]
    fn files_are_named_exactly_and_from_where_they_are_imported() {
        let of = |specifier| name("file:///s/dir/main.js", specifier);
        assert_eq!(of("./a.js"), Ok("file:///s/dir/a.js".to_owned()));
        assert_eq!(of("../a.js"), Ok("file:///s/a.js".to_owned()));
        assert_eq!(of("/x/a.js"), Ok("file:///x/a.js".to_owned()));
        assert_eq!(of("file:///x/a.js"), Ok("file:///x/a.js".to_owned()));
        assert_eq!(of("k6/http"), Ok("k6/http".to_owned()));
        let remote = name("https://jslib.k6.io/a/1.0.0/index.js", "./b.js");
        assert_eq!(remote, Ok("https://jslib.k6.io/a/1.0.0/b.js".to_owned()));
    }

    #[test]
    fn what_means_nothing_is_told_in_its_words() {
        for specifier in ["lodash", "http://a/b.js", "k7"] {
            let refused = name("file:///s/main.js", specifier).unwrap_err();
            assert!(refused.starts_with("The moduleSpecifier \""), "{refused}");
        }
        assert!(name("https://a/b.js", "file:///etc/passwd").is_err());
    }

    #[test]
    fn files_to_open_may_have_any_name() {
        let open = |path| resolve_file("file:///s/main.js", path).map(String::from);
        assert_eq!(open("a b?.csv"), Some("file:///s/a%20b%3F.csv".to_owned()));
        assert_eq!(open("/d/a.csv"), Some("file:///d/a.csv".to_owned()));
    }
}
