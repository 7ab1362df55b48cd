//! The page without data, and the insertion of data.

use crate::Page;

/// The placeholder for the data in the template.
#[cfg(any(feature = "html", test))]
const PLACE: &str = "__LOADLINE_PAGE__";

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

/// Returns the template with the page's data in place of its placeholder.
#[cfg(any(feature = "html", test))]
fn filled(template: &str, page: &Page) -> String {
    let data = serde_json::to_string(page).expect("a page is plain data with text as keys");
    template.replacen(PLACE, &inert(&data), 1)
}

#[cfg(not(any(feature = "html", test)))]
fn filled(_template: &str, _page: &Page) -> String {
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
        assert!(template.len() < 500_000, "{}", template.len());
    }
}
