//! Bodies of forms.

use url::form_urlencoded::Serializer;

/// Fields as `application/x-www-form-urlencoded`: sorted by name, values of a name in their order.
pub fn urlencoded(fields: &[(String, String)]) -> String {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    let mut body = Serializer::new(String::new());
    body.extend_pairs(sorted);
    body.finish()
}
