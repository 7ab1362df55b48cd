//! `k6/experimental/fs` and `k6/experimental/csv`: files that the caller hands in.

use crate::bytes;
use crate::data::{SharedArrays, access, data};
use crate::error::go_error;
use crate::native::function;
use crate::source;
use rquickjs::{Ctx, Object, Result, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Where files come from.
pub trait Files {
    /// The bytes of a file that the script in this realm asks for; the error is the sentence that
    /// the script gets.
    fn open(&self, ctx: &Ctx<'_>, path: &str) -> std::result::Result<Arc<[u8]>, String>;
}

/// The module `k6/experimental/fs`.
pub fn experimental_fs<'js>(ctx: &Ctx<'js>, files: Rc<dyn Files>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let open = move |ctx: Ctx<'js>, path: String| {
        let content = opened(&ctx, &*files, &path)?;
        reader(&ctx, content)
    };
    natives.set("open", function(ctx, open)?)?;
    source::run(ctx, include_str!("js/fs.js"), natives)?.get()
}

fn opened(ctx: &Ctx<'_>, files: &dyn Files, path: &str) -> Result<Arc<[u8]>> {
    files
        .open(ctx, path)
        .map_err(|message| go_error(ctx, message))
}

/// `{ size, slice(from, length) }` of a file's bytes.
fn reader<'js>(ctx: &Ctx<'js>, content: Arc<[u8]>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("size", content.len())?;
    let slice = move |ctx: Ctx<'js>, from: usize, length: usize| {
        let end = from.saturating_add(length).min(content.len());
        bytes::buffer(&ctx, content.get(from..end).unwrap_or_default().to_vec())
    };
    object.set("slice", function(ctx, slice)?)?;
    Ok(object)
}

/// The module `k6/experimental/csv`; parsed files join the shared arrays.
pub fn experimental_csv<'js>(
    ctx: &Ctx<'js>,
    files: Rc<dyn Files>,
    arrays: &SharedArrays,
) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let store = arrays.clone();
    let rows = move |ctx: Ctx<'js>, path: String, options: Object<'js>| {
        let key = format!("csv {path} {}", text_of(&ctx, &options)?);
        let elements = match store.named(&key) {
            Some(elements) => elements,
            None => {
                let content = opened(&ctx, &*files, &path)?;
                store.keep(key, parsed(&ctx, &content, &options)?)
            }
        };
        access(&ctx, elements)
    };
    natives.set("rows", function(ctx, rows)?)?;
    natives.set(
        "view",
        data(ctx, arrays, |_| Ok(()))?.get::<_, Value<'js>>("viewOf")?,
    )?;
    source::run(ctx, include_str!("js/csv.js"), natives)?.get()
}

fn text_of<'js>(ctx: &Ctx<'js>, options: &Object<'js>) -> Result<String> {
    let text = ctx.json_stringify(options.clone())?;
    text.map_or_else(|| Ok(String::new()), |text| text.to_string())
}

/// The rows as JSON texts: arrays, or objects by the names in the first line.
fn parsed<'js>(ctx: &Ctx<'js>, content: &[u8], options: &Object<'js>) -> Result<Arc<[Box<str>]>> {
    let delimiter: Option<String> = options.get("delimiter")?;
    let delimiter = delimiter
        .and_then(|text| text.bytes().next())
        .unwrap_or(b',');
    let from: Option<usize> = options.get("fromLine")?;
    let to: Option<usize> = options.get("toLine")?;
    let as_objects = options.get::<_, Option<bool>>("asObjects")? == Some(true);
    let skips = as_objects || options.get::<_, Option<bool>>("skipFirstLine")? == Some(true);
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader
        .delimiter(delimiter)
        .has_headers(false)
        .from_reader(content);
    let (mut names, mut rows) = (None, Vec::new());
    for (line, record) in reader.records().enumerate() {
        let record = record.map_err(|error| go_error(ctx, error.to_string()))?;
        if line == 0 && skips {
            names = as_objects.then_some(record);
        } else if line >= from.unwrap_or(0) && to.is_none_or(|to| line <= to) {
            rows.push(row(names.as_ref(), &record).to_string().into());
        }
    }
    Ok(rows.into())
}

fn row(names: Option<&csv::StringRecord>, record: &csv::StringRecord) -> serde_json::Value {
    match names {
        Some(names) => names
            .iter()
            .zip(record)
            .map(|(n, v)| (n.to_owned(), serde_json::Value::from(v)))
            .collect(),
        None => record.iter().collect(),
    }
}
