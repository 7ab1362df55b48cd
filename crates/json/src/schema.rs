//! The JSON schemas, generated from the types.

use crate::{Comparison, Doctor, Run, Search, Series, Watched};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// A kind of JSON document that Loadline prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A [`Run`].
    Run,
    /// A [`Series`].
    Series,
    /// A [`Comparison`].
    Comparison,
    /// A [`Search`].
    Search,
    /// A line of `loadline watch`: [`Watched`].
    Watch,
    /// A [`Doctor`].
    Doctor,
}

impl Document {
    /// Every document.
    pub const ALL: [Document; 6] = [
        Document::Run,
        Document::Series,
        Document::Comparison,
        Document::Search,
        Document::Watch,
        Document::Doctor,
    ];

    /// Returns the kind of document that `value` is, recognized by its keys; `None` if it is no
    /// document of Loadline's.
    pub fn of(value: &Value) -> Option<Document> {
        let has = |key| value.get(key).is_some();
        match () {
            () if has("capacity_schema") => Some(Document::Search),
            () if has("doctor_schema") => Some(Document::Doctor),
            () if has("runs") => Some(Document::Series),
            () if has("summary") => Some(Document::Run),
            () if has("paired") => Some(Document::Comparison),
            () if has("time_s") => Some(Document::Watch),
            () => None,
        }
    }

    /// Returns the file name of the document's schema in `docs/guide/schema`.
    pub fn file(self) -> &'static str {
        match self {
            Document::Run => "result.schema.json",
            Document::Series => "series.schema.json",
            Document::Comparison => "comparison.schema.json",
            Document::Search => "search.schema.json",
            Document::Watch => "watch.schema.json",
            Document::Doctor => "doctor.schema.json",
        }
    }
}

/// Returns the schema of a document (JSON Schema 2020-12). It allows no keys but those of the
/// types, so that a misspelt key is found.
pub fn schema(document: Document) -> Value {
    let schema = match document {
        Document::Run => of::<Run>(),
        Document::Series => of::<Series>(),
        Document::Comparison => of::<Comparison>(),
        Document::Search => of::<Search>(),
        Document::Watch => of::<Watched>(),
        Document::Doctor => of::<Doctor>(),
    };
    schema.to_value()
}

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(close))
        .with_transform(RecursiveTransform(shorten))
        .into_generator()
        .into_root_schema_for::<T>()
}

/// Forbids all keys of an object but those that its schema names.
fn close(schema: &mut Schema) {
    let names_keys = schema.get("properties").is_some();
    if names_keys && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Removes what does not describe the document: defaults, which serve to read older documents, and
/// the widths of Rust's numbers. Puts each description on one line and names JSON's values in it.
fn shorten(schema: &mut Schema) {
    schema.remove("default");
    schema.remove("format");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ").replace("`None`", "null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The environment variable that makes the test write the schemas instead of comparing them.
    const WRITE: &str = "LOADLINE_WRITE_SCHEMAS";

    #[test]
    fn the_schemas_in_the_guide_are_those_of_the_types() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/schema");
        for document in Document::ALL {
            let file = folder.join(document.file());
            let made = format!("{:#}\n", schema(document));
            if std::env::var_os(WRITE).is_some() {
                std::fs::write(&file, made).unwrap();
                continue;
            }
            assert!(
                std::fs::read_to_string(&file).unwrap_or_default() == made,
                "{} differs from the types. Write it anew with \
                 {WRITE}=1 cargo test -p loadline-json, and read what changed.",
                file.display()
            );
        }
    }
}
