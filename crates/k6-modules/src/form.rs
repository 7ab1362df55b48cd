//! Forms: their bodies, and what submitting one of a page sends.

use crate::error::go_error;
use rquickjs::function::This;
use rquickjs::{Ctx, FromJs, Function, Object, Result};
use url::Url;
use url::form_urlencoded::Serializer;

/// Fields as `application/x-www-form-urlencoded`: sorted by name, values of a name in their order.
pub fn urlencoded(fields: &[(String, String)]) -> String {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut body = Serializer::new(String::new());
    body.extend_pairs(sorted);
    body.finish()
}

/// The request that a form makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormSubmission {
    /// `GET` or `POST`, in capitals.
    pub method: String,
    /// The form's action against the URL of its page; the page itself without one.
    pub url: String,
    /// Its fields, in the order of the document; those that the script gave come last.
    pub fields: Vec<(String, String)>,
}

/// What submitting the form that `form_css` selects sends; `given` replaces fields of its names.
/// `submit_css` selects the button whose name and value are sent too.
pub fn form_of<'js>(
    ctx: &Ctx<'js>,
    page: &Object<'js>,
    (form_css, submit_css): (&str, &str),
    given: &[(String, String)],
) -> Result<FormSubmission> {
    let form = call(page, "find", form_css)?;
    if call_plain::<usize>(&form, "size")? == 0 {
        let message = format!("no form found for selector '{form_css}' in response");
        return Err(go_error(ctx, message));
    }
    let mut fields = own_fields(&form)?;
    fields.extend(button(&call(&form, "find", submit_css)?)?);
    fields.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
    fields.extend_from_slice(given);
    let method = attribute(&form, "method")?.unwrap_or_else(|| "GET".to_owned());
    Ok(FormSubmission {
        method: method.to_uppercase(),
        url: resolved(page, attribute(&form, "action")?.as_deref())?,
        fields,
    })
}

/// Where the first link that `css` selects leads.
pub fn link_of<'js>(ctx: &Ctx<'js>, page: &Object<'js>, css: &str) -> Result<String> {
    let link = call(page, "find", css)?;
    match attribute(&link, "href")? {
        Some(href) => resolved(page, Some(&href)),
        None => {
            let message = format!("no element found for selector '{css}' in response");
            Err(go_error(ctx, message))
        }
    }
}

fn own_fields(form: &Object<'_>) -> Result<Vec<(String, String)>> {
    let list: Vec<Object<'_>> = call_plain(form, "serializeArray")?;
    let pair = |field: Object<'_>| Ok((field.get("name")?, field.get("value")?));
    list.into_iter().map(pair).collect()
}

fn button(button: &Object<'_>) -> Result<Option<(String, String)>> {
    let value = attribute(button, "value")?.unwrap_or_default();
    Ok(attribute(button, "name")?.map(|name| (name, value)))
}

fn resolved(page: &Object<'_>, link: Option<&str>) -> Result<String> {
    let base: String = page.get("url")?;
    let link = link.unwrap_or_default();
    let joined = Url::parse(&base).and_then(|base| base.join(link));
    Ok(joined.map_or_else(|_| link.to_owned(), String::from))
}

fn attribute(selection: &Object<'_>, name: &str) -> Result<Option<String>> {
    let method: Function<'_> = selection.get("attr")?;
    method.call((This(selection.clone()), name))
}

fn call<'js>(selection: &Object<'js>, name: &str, css: &str) -> Result<Object<'js>> {
    let method: Function<'js> = selection.get(name)?;
    method.call((This(selection.clone()), css))
}

fn call_plain<'js, T: FromJs<'js>>(selection: &Object<'js>, name: &str) -> Result<T> {
    let method: Function<'js> = selection.get(name)?;
    method.call((This(selection.clone()),))
}
