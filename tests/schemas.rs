//! Every JSON document that a test makes the command print, compared with its schema.

use jsonschema::Validator;
use loadline_json::{Document, schema};
use serde_json::{Deserializer, Value};
use std::sync::LazyLock;

static VALIDATORS: LazyLock<Vec<(Document, Validator)>> = LazyLock::new(|| {
    let validator = |document| jsonschema::validator_for(&schema(document)).expect("a schema");
    let each = Document::ALL.into_iter();
    each.map(|document| (document, validator(document)))
        .collect()
});

/// Asserts that every document in this text fits its schema; text of another kind is left alone.
pub(crate) fn assert_fits(text: &str) {
    let values = Deserializer::from_str(text).into_iter::<Value>();
    for value in values.map_while(Result::ok) {
        let Some(document) = Document::of(&value) else {
            continue;
        };
        let of_it = VALIDATORS.iter().find(|(of, _)| *of == document);
        let (_, validator) = of_it.expect("each document has a validator");
        let misfits: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(misfits, Vec::<String>::new(), "{document:?}");
    }
}

/// The document in this text, which fits its schema.
pub(crate) fn document(text: &str) -> Value {
    assert_fits(text);
    serde_json::from_str(text).expect("one document")
}
