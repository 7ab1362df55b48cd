//! `k6/experimental/fs` and `k6/experimental/csv`: files that the caller provides.
//!
//! An open file is an object of the script with a position. The modules keep its data in a map of
//! the realm, so that scripts can't pass another object as a file.

use crate::bytes;
use crate::data::{SharedArrays, access, data};
use crate::error::go_error;
use crate::native::function;
use crate::source;
use crate::table::{Layout, Table};
use crate::text::Text;
use rquickjs::{Array, Ctx, Function, IntoJs, Object, Result, Value};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The source of files.
pub trait Files {
    /// True while the script in this realm is being initialised: only then files can be opened.
    fn is_init(&self, ctx: &Ctx<'_>) -> bool;

    /// Opens a file for the script in this realm.
    ///
    /// # Errors
    /// The reason why it can't be opened.
    fn open(&self, ctx: &Ctx<'_>, path: &str) -> std::result::Result<Opened, OpenError>;

    /// Returns the bytes of a file that was opened, by its path.
    fn opened(&self, ctx: &Ctx<'_>, path: &str) -> Option<Arc<[u8]>>;
}

/// A file that was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The path from the root.
    pub path: String,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

/// The reason why a file can't be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// There is no file with this path.
    NotFound(String),
    /// The path is that of a folder.
    Folder(String),
    /// Any other reason, as a sentence.
    Other(String),
}

impl OpenError {
    /// Returns the name of the error for scripts; `None` for a `GoError`.
    fn name(&self) -> Option<&'static str> {
        match self {
            OpenError::NotFound(_) => Some("NotFoundError"),
            OpenError::Folder(_) => Some("InvalidResourceError"),
            OpenError::Other(_) => None,
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::NotFound(path) => write!(f, "no such file or directory \"{path}\""),
            OpenError::Folder(path) => {
                write!(
                    f,
                    "cannot open \"{path}\": opening a directory is not supported"
                )
            }
            OpenError::Other(sentence) => f.write_str(sentence),
        }
    }
}

/// Returns the map from file objects to their data in this realm.
fn known<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    source::once(ctx, "files", || source::evaluate(ctx, "new WeakMap()"))
}

/// Creates the module `k6/experimental/fs`.
///
/// # Errors
/// An exception of QuickJS.
pub fn experimental_fs<'js>(ctx: &Ctx<'js>, files: Rc<dyn Files>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("known", known(ctx)?)?;
    natives.set("isInit", is_init(ctx, &files)?)?;
    let open = move |ctx: Ctx<'js>, Text(path): Text, refuse: Function<'js>| match files
        .open(&ctx, &path)
    {
        Ok(opened) => file(&ctx, opened),
        Err(error) => match error.name() {
            Some(name) => refuse.call((name, error.to_string())),
            None => Err(go_error(&ctx, error.to_string())),
        },
    };
    natives.set("open", function(ctx, open)?)?;
    source::run(ctx, include_str!("js/fs.js"), natives)?.get()
}

fn is_init<'js>(ctx: &Ctx<'js>, files: &Rc<dyn Files>) -> Result<Function<'js>> {
    let files = Rc::clone(files);
    function(ctx, move |ctx: Ctx<'js>| files.is_init(&ctx))
}

/// Creates `{ path, size, slice(from, length) }` for a file.
fn file<'js>(ctx: &Ctx<'js>, opened: Opened) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("path", opened.path)?;
    object.set("size", opened.bytes.len())?;
    let slice = move |ctx: Ctx<'js>, from: usize, length: usize| {
        let end = from.saturating_add(length).min(opened.bytes.len());
        let bytes = opened.bytes.get(from..end).unwrap_or_default();
        bytes::buffer(&ctx, bytes.to_vec())
    };
    object.set("slice", function(ctx, slice)?)?;
    Ok(object)
}

/// Creates the module `k6/experimental/csv`; parsed files join the shared arrays.
///
/// # Errors
/// An exception of QuickJS.
pub fn experimental_csv<'js>(
    ctx: &Ctx<'js>,
    files: Rc<dyn Files>,
    arrays: &SharedArrays,
) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("known", known(ctx)?)?;
    natives.set("isInit", is_init(ctx, &files)?)?;
    let (of_table, store) = (Rc::clone(&files), arrays.clone());
    let rows = move |ctx: Ctx<'js>, Text(path): Text, at: usize, layout: Array<'js>| {
        let layout = Layout::of(&layout)?;
        let key = format!("csv {at} {layout:?} {path}");
        let elements = match store.named(&key) {
            Some(elements) => elements,
            None => store.keep(key, all(&ctx, table(&ctx, &*files, &path, at, layout)?)?),
        };
        access(&ctx, elements)
    };
    natives.set("rows", function(ctx, rows)?)?;
    let begin = move |ctx: Ctx<'js>, Text(path): Text, at: usize, layout: Array<'js>| {
        let table = table(&ctx, &*of_table, &path, at, Layout::of(&layout)?)?;
        stepping(&ctx, table)
    };
    natives.set("begin", function(ctx, begin)?)?;
    natives.set(
        "view",
        data(ctx, arrays, |_| Ok(()))?.get::<_, Value<'js>>("viewOf")?,
    )?;
    source::run(ctx, include_str!("js/csv.js"), natives)?.get()
}

fn table(ctx: &Ctx<'_>, files: &dyn Files, path: &str, at: usize, layout: Layout) -> Result<Table> {
    let content = files.opened(ctx, path).unwrap_or_default();
    Table::new(content, at, layout).map_err(|problem| {
        let text = format!("failed to create a new parser; reason: {problem}");
        go_error(ctx, text)
    })
}

/// Returns the rows of a table as JSON texts, or throws the error of the first invalid one.
fn all(ctx: &Ctx<'_>, mut table: Table) -> Result<Arc<[Box<str>]>> {
    let mut rows = Vec::new();
    loop {
        match table.row() {
            Ok(Some(row)) => rows.push(row.into()),
            Ok(None) => return Ok(rows.into()),
            Err(error) => {
                let text = format!("failed to read record; reason: {error}");
                return Err(go_error(ctx, text));
            }
        }
    }
}

/// Creates a function that returns one row per call: `[row]`, `undefined` at the end, or `{
/// message, start_line, line, column }` for an error.
fn stepping<'js>(ctx: &Ctx<'js>, table: Table) -> Result<Function<'js>> {
    let table = RefCell::new(table);
    function(ctx, move |ctx: Ctx<'js>| match table.borrow_mut().row() {
        Ok(Some(row)) => {
            let rows = Array::new(ctx.clone())?;
            rows.set(0, ctx.json_parse(row)?)?;
            Ok(rows.into_value())
        }
        Ok(None) => Ok(Value::new_undefined(ctx)),
        Err(error) => {
            let details = Object::new(ctx.clone())?;
            details.set("message", error.to_string())?;
            details.set("start_line", error.start_line)?;
            details.set("line", error.line)?;
            details.set("column", error.column)?;
            details.into_js(&ctx)
        }
    })
}
