//! Forms: their bodies, and the requests that submit the forms of a page.

use crate::error::go_error;
use crate::text::{Text, text_of};
use rquickjs::function::This;
use rquickjs::{Ctx, FromJs, Function, Object, Result, Value};
use url::Url;
use url::form_urlencoded::Serializer;

/// Encodes fields as `application/x-www-form-urlencoded`: sorted by name, values of a name in
/// order.
pub fn urlencoded(fields: &[(String, String)]) -> String {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut body = Serializer::new(String::new());
    body.extend_pairs(sorted);
    body.finish()
}

/// The request that submits a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormSubmission {
    /// The method, in capitals, such as `GET` or `POST`.
    pub method: String,
    /// The form's action, resolved against the URL of its page; the page itself without one.
    pub url: String,
    /// The fields, in the order of the document; those given by the script come last.
    pub fields: Vec<(String, String)>,
}

/// Returns the request that submits the form selected by `form_css`; `given` replaces fields with
/// the same names. `submit_css` selects the button whose name and value are sent too. Of several
/// fields with one name the last is sent.
pub fn form_of<'js>(
    ctx: &Ctx<'js>,
    page: &Object<'js>,
    (form_css, submit_css): (&str, &str),
    given: &[(String, String)],
) -> Result<FormSubmission> {
    let form = call(page, "find", form_css)?;
    if is_empty(&form)? {
        return Err(missing(ctx, page, "no form found for selector", form_css));
    }
    let mut fields = own_fields(&form)?;
    fields.extend(button(&call(&form, "find", submit_css)?)?);
    fields.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
    fields.extend_from_slice(given);
    let method = attribute(&form, "method")?.unwrap_or_else(|| "GET".to_owned());
    let method = method.to_uppercase();
    let url = resolved(page, attribute(&form, "action")?.as_deref())?;
    Ok(FormSubmission {
        url: if method == "GET" {
            without_query(&url)
        } else {
            url
        },
        method,
        fields,
    })
}

/// Removes the query of an action, because the fields of a form sent as a query replace it.
fn without_query(url: &str) -> String {
    match Url::parse(url) {
        Ok(mut parsed) => {
            parsed.set_query(None);
            parsed.into()
        }
        Err(_) => url.to_owned(),
    }
}

/// Returns the URL of the first link that `css` selects.
pub fn link_of<'js>(ctx: &Ctx<'js>, page: &Object<'js>, css: &str) -> Result<String> {
    let link = call(page, "find", css)?;
    if is_empty(&link)? {
        return Err(missing(ctx, page, "no element found for selector", css));
    }
    match attribute(&link, "href")? {
        Some(href) => resolved(page, Some(&href)),
        None => {
            let what = "no valid href attribute value found on element";
            Err(missing(ctx, page, what, css))
        }
    }
}

fn missing<'js>(ctx: &Ctx<'js>, page: &Object<'js>, what: &str, css: &str) -> rquickjs::Error {
    let url = page
        .get("url")
        .map_or_else(|_| String::new(), |Text(url)| url);
    go_error(ctx, format!("{what} '{css}' in response '{url}'"))
}

fn is_empty(selection: &Object<'_>) -> Result<bool> {
    Ok(call_plain::<usize>(selection, "size")? == 0)
}

/// Returns the fields of a form by name; a list has a pair for each of its values.
fn own_fields(form: &Object<'_>) -> Result<Vec<(String, String)>> {
    let values: Object<'_> = call_plain(form, "serializeObject")?;
    let mut fields = Vec::new();
    for entry in values.props::<Text, Value<'_>>() {
        let (Text(name), value) = entry?;
        match value.as_array() {
            Some(list) => {
                for value in list.iter() {
                    fields.push((name.clone(), text_of(&value?)?));
                }
            }
            None if value.is_undefined() => {}
            None => fields.push((name, text_of(&value)?)),
        }
    }
    Ok(fields)
}

fn button(button: &Object<'_>) -> Result<Option<(String, String)>> {
    let value = attribute(button, "value")?.unwrap_or_default();
    Ok(attribute(button, "name")?.map(|name| (name, value)))
}

fn resolved(page: &Object<'_>, link: Option<&str>) -> Result<String> {
    let Text(base) = page.get("url")?;
    let link = link.unwrap_or_default();
    let joined = Url::parse(&base).and_then(|base| base.join(link));
    Ok(joined.map_or_else(|_| link.to_owned(), String::from))
}

fn attribute(selection: &Object<'_>, name: &str) -> Result<Option<String>> {
    let method: Function<'_> = selection.get("attr")?;
    let value: Option<Text> = method.call((This(selection.clone()), name))?;
    Ok(value.map(|value| value.0))
}

fn call<'js>(selection: &Object<'js>, name: &str, css: &str) -> Result<Object<'js>> {
    let method: Function<'js> = selection.get(name)?;
    method.call((This(selection.clone()), css))
}

fn call_plain<'js, T: FromJs<'js>>(selection: &Object<'js>, name: &str) -> Result<T> {
    let method: Function<'js> = selection.get(name)?;
    method.call((This(selection.clone()),))
}
