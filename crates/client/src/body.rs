//! Bodies made from values: forms and JSON. A multipart form with files is `Multipart` of the crate
//! `plan`.

use url::form_urlencoded;

/// A body with the value of its `Content-Type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedBody {
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The bytes of the body.
    pub bytes: Vec<u8>,
}

/// Encodes the fields of a form as browsers do (WHATWG URL, section 5).
pub fn form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> TypedBody {
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(fields);
    TypedBody {
        content_type: "application/x-www-form-urlencoded",
        bytes: encoded.finish().into_bytes(),
    }
}

/// Returns a JSON text as a body.
pub fn json(text: impl Into<String>) -> TypedBody {
    TypedBody {
        content_type: "application/json",
        bytes: text.into().into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_written_as_browsers_write_it() {
        let body = form([("name", "Jo & Ann"), ("city", "Köln"), ("empty", "")]);
        assert_eq!(body.content_type, "application/x-www-form-urlencoded");
        assert_eq!(body.bytes, b"name=Jo+%26+Ann&city=K%C3%B6ln&empty=");
        assert_eq!(form([]).bytes, b"");
    }

    #[test]
    fn json_is_sent_as_it_is() {
        let body = json("{\"a\": 1}");
        assert_eq!(
            (body.content_type, &*body.bytes),
            ("application/json", &b"{\"a\": 1}"[..])
        );
    }
}
