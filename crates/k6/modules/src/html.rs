//! `k6/html`: documents, selections of their nodes, and elements.
//!
//! The document is kept in Rust; a selection is a list of node numbers in JavaScript. Numbers
//! follow the order of the document. The classes are created once in a realm, since a script may
//! parse one document for each response.

mod css;
mod document;
mod render;

use crate::error::go_error;
use crate::native::function;
use crate::source;
use crate::text::Text;
use document::{DEEPEST, Document};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::rc::Rc;

/// The sources of the classes. Each adds members to one object that later ones need.
const SOURCES: [&str; 7] = [
    include_str!("js/html/walk.js"),
    include_str!("js/html/rules.js"),
    include_str!("js/html/links.js"),
    include_str!("js/html/fields.js"),
    include_str!("js/html/kinds.js"),
    include_str!("js/html/element.js"),
    include_str!("js/html/selection.js"),
];

/// Creates the module `k6/html`.
pub fn html<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let parse = |ctx: Ctx<'js>, text: Opt<Value<'js>>, url: Opt<Value<'js>>| {
        let text = crate::bytes::word(text.0)?.unwrap_or_default();
        let url = crate::bytes::word(url.0)?;
        selection_of(&ctx, &text, url.as_deref())
    };
    module.set("parseHTML", function(ctx, parse)?)?;
    Ok(module)
}

/// Returns a selection of a document's root; `url` is the URL of the document.
pub fn selection_of<'js>(ctx: &Ctx<'js>, html: &str, url: Option<&str>) -> Result<Value<'js>> {
    let document = Document::parse(html).ok_or_else(|| {
        let sentence = format!("html: open stack of elements exceeds {DEEPEST} nodes");
        go_error(ctx, sentence)
    })?;
    let document = Rc::new(document);
    let natives = natives(ctx, &document)?;
    natives.set("url", url)?;
    let select: Function<'js> = source::once(ctx, "html", || classes(ctx))?.get()?;
    select.call((natives,))
}

/// Creates a function that returns the selection of a document's root, given its native functions.
fn classes<'js>(ctx: &Ctx<'js>) -> Result<Value<'js>> {
    let library = Object::new(ctx.clone())?;
    for text in SOURCES {
        source::run(ctx, text, library.clone())?;
    }
    let select = "(library) => (doc) => new library.Selection(doc, [0])";
    source::run(ctx, select, library)
}

fn natives<'js>(ctx: &Ctx<'js>, document: &Rc<Document>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let doc = document.clone();
    let find = move |from: usize, Text(css): Text| doc.find(from, &css);
    natives.set("find", function(ctx, find)?)?;
    let doc = document.clone();
    let matches = move |node: usize, Text(css): Text| doc.matches(node, &css);
    natives.set("matches", function(ctx, matches)?)?;
    let doc = document.clone();
    let parent = move |node: usize| doc.parent(node);
    natives.set("parent", function(ctx, parent)?)?;
    let doc = document.clone();
    let contents = move |node: usize| doc.contents(node);
    natives.set("contents", function(ctx, contents)?)?;
    let doc = document.clone();
    let name = move |node: usize| doc.name(node);
    natives.set("name", function(ctx, name)?)?;
    let doc = document.clone();
    let kind = move |node: usize| doc.kind(node);
    natives.set("kind", function(ctx, kind)?)?;
    let doc = document.clone();
    let namespace = move |node: usize| doc.namespace(node);
    natives.set("namespace", function(ctx, namespace)?)?;
    let doc = document.clone();
    let text = move |node: usize| doc.text(node);
    natives.set("text", function(ctx, text)?)?;
    let doc = document.clone();
    let inner = move |node: usize| doc.inner_html(node);
    natives.set("inner", function(ctx, inner)?)?;
    let doc = document.clone();
    let attribute = move |node: usize, Text(name): Text| doc.attribute(node, &name);
    natives.set("attribute", function(ctx, attribute)?)?;
    let doc = document.clone();
    let attributes = move |node: usize| doc.attributes(node);
    natives.set("attributes", function(ctx, attributes)?)?;
    Ok(natives)
}
