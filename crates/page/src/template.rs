//! The page without data, and the insertion of data.

use crate::Page;
use serde::Serialize;
use serde_json::Value;

/// The placeholder for the data in the template.
#[cfg(any(feature = "html", test))]
const PLACE: &str = "__LOADLINE_PAGE__";

/// What the element has that holds the policy of a document that stands for itself.
const POLICY: &str = "Content-Security-Policy";

/// The page that `make web` builds. If this file is not found: run `make web`, or build without the
/// feature `html`.
#[cfg(feature = "html")]
const TEMPLATE: Option<&str> = Some(include_str!("../../../web/dist/index.html"));
#[cfg(not(feature = "html"))]
const TEMPLATE: Option<&str> = None;

/// The error of a program that was built without the page.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "This loadline was built without its HTML report. Install Node.js 18 or newer with npm, and \
     build it with `make build`."
)]
pub struct TemplateMissing;

/// Checks that this program can write pages.
///
/// # Errors
///
/// If the program was built without the feature `html`.
pub fn ready() -> Result<(), TemplateMissing> {
    TEMPLATE.map(|_| ()).ok_or(TemplateMissing)
}

/// Returns the page as one HTML document that needs no other file.
///
/// # Errors
///
/// If the program was built without the feature `html`.
pub fn html(page: &Page) -> Result<String, TemplateMissing> {
    let template = TEMPLATE.ok_or(TemplateMissing)?;
    Ok(filled(template, page))
}

/// Returns the page for a server that says in a field of HTTP what the document may do: each of
/// its scripts and styles has this nonce, and its own policy, which lets nothing be fetched, is
/// left out.
///
/// # Errors
///
/// If the program was built without the feature `html`.
pub fn html_with_nonce(page: &Page, nonce: &str) -> Result<String, TemplateMissing> {
    let template = TEMPLATE.ok_or(TemplateMissing)?;
    Ok(filled(&with_nonce(template, nonce), page))
}

/// Returns the document of a page whose data was made before, with its kind.
///
/// # Errors
///
/// If the program was built without the feature `html`.
pub fn html_of_data(data: &Value) -> Result<String, TemplateMissing> {
    let template = TEMPLATE.ok_or(TemplateMissing)?;
    Ok(filled(template, data))
}

/// Gives each element of the template that holds a script or a style the nonce. What stands within
/// them is left as it is, even where it looks like such an element.
fn with_nonce(template: &str, nonce: &str) -> String {
    let mut rest = template;
    let mut document = String::with_capacity(template.len() + 256);
    while let Some((at, tag, end)) = next_element(rest) {
        document += &rest[..at];
        rest = &rest[at..];
        let found = rest.find(end);
        let (element, behind) = rest.split_at(found.map_or(rest.len(), |at| at + end.len()));
        match tag {
            "<meta" if element.contains(POLICY) => {}
            "<meta" => document += element,
            tag => document += &format!("{tag} nonce=\"{nonce}\"{}", &element[tag.len()..]),
        }
        rest = behind;
    }
    document + rest
}

/// Returns the next element of a template that matters: where it begins, with what, and what is at
/// its end.
fn next_element(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let ends = [
        ("<meta", ">"),
        ("<script", "</script>"),
        ("<style", "</style>"),
    ];
    let found = ends.into_iter();
    let found = found.filter_map(|(tag, end)| Some((text.find(tag)?, tag, end)));
    found.min()
}

/// Returns the template with the page's data in place of its placeholder.
#[cfg(any(feature = "html", test))]
fn filled(template: &str, page: &impl Serialize) -> String {
    let data = serde_json::to_string(page).expect("a page is plain data with text as keys");
    template.replacen(PLACE, &inert(&data), 1)
}

#[cfg(not(any(feature = "html", test)))]
fn filled(_template: &str, _page: &impl Serialize) -> String {
    String::new()
}

/// Escapes JSON so that no text in it can end a script element (HTML, 13.2.5.4): `<` occurs only in
/// strings there, and may be written as an escape.
#[cfg(any(feature = "html", test))]
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunPage;

    fn page(title: &str) -> Page {
        Page::Run(Box::new(RunPage {
            title: title.to_owned(),
            ..RunPage::default()
        }))
    }

    #[test]
    fn data_stands_where_its_place_is_and_ends_no_script() {
        let title = "</script><script>alert(1)</script><!-- __LOADLINE_PAGE__";
        let template = format!("<script>{PLACE}</script>");
        let document = filled(&template, &page(title));
        assert_eq!(document.matches("</script>").count(), 1, "{document}");
        let data = document
            .strip_prefix("<script>")
            .and_then(|rest| rest.strip_suffix("</script>"))
            .unwrap();
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["title"], title);
        assert_eq!(read["kind"], "run");
    }

    #[test]
    fn a_nonce_is_given_to_elements_and_to_nothing_within_them() {
        let script = " type=\"module\">\"<script>\" + \"<style>\"</script><b></b>";
        let template = format!(
            "<head><meta a><meta\n http-equiv=\"Content-Security-Policy\" content=\"x\" />\
             <style rel=\"a\">b</style><script{script}"
        );
        let expected = format!(
            "<head><meta a><style nonce=\"7\" rel=\"a\">b</style><script nonce=\"7\"{script}"
        );
        assert_eq!(with_nonce(&template, "7"), expected);
    }

    #[cfg(not(feature = "html"))]
    #[test]
    fn without_the_feature_it_says_how_to_build_with_it() {
        let said = html(&page("")).unwrap_err().to_string();
        assert!(said.contains("make build") && said.ends_with('.'), "{said}");
    }

    #[cfg(feature = "html")]
    #[test]
    fn the_template_has_one_place_and_reaches_for_nothing() {
        let template = TEMPLATE.unwrap();
        assert_eq!(template.matches(PLACE).count(), 1);
        for reach in ["src=\"http", "href=\"http", "@import", "url(http"] {
            assert!(!template.contains(reach), "{reach}");
        }
        assert!(template.len() <= 160_000, "{}", template.len());
    }
}
