//! The JSON schemas, made from the types.

use crate::{Comparison, Doctor, Run, Search, Series, Watched};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// What is printed as one JSON document.
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
    /// A look of `loadline watch`: [`Watched`].
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

    /// What this value would be, if it is one of them.
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

    /// The name of its schema's file in `docs/guide/schema`.
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

/// The schema of a document (JSON Schema 2020-12). It takes no key that the types don't have, so
/// that a misspelt one is found.
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

/// Lets an object have only the keys that it names.
fn close(schema: &mut Schema) {
    let names_keys = schema.get("properties").is_some();
    if names_keys && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Leaves out what says nothing of a document: defaults, which are for reading older ones, and the
/// widths of Rust's numbers. Descriptions are one line and name JSON's values.
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

    /// Set to write the schemas in place of comparing them.
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
