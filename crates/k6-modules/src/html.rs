//! `k6/html`: documents, and selections of their nodes.
//!
//! The document stays in Rust; a selection is a list of node numbers in JavaScript. Numbers follow
//! the order of the document, so sorting them sorts nodes.

mod document;

use crate::native::function;
use crate::source;
use document::Document;
use rquickjs::function::Opt;
use rquickjs::{Ctx, Object, Result, Value};
use std::rc::Rc;

/// The module `k6/html`.
pub fn html<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let parse = |ctx: Ctx<'js>, text: String, url: Opt<Value<'js>>| {
        let url = crate::bytes::word(url.0)?;
        selection_of(&ctx, &text, url.as_deref())
    };
    module.set("parseHTML", function(ctx, parse)?)?;
    Ok(module)
}

/// A selection of a document's root; `url` is where the document comes from.
pub fn selection_of<'js>(ctx: &Ctx<'js>, html: &str, url: Option<&str>) -> Result<Value<'js>> {
    let document = Rc::new(Document::parse(html));
    let natives = natives(ctx, &document)?;
    natives.set("url", url)?;
    source::run(ctx, include_str!("js/html.js"), natives)
}

fn natives<'js>(ctx: &Ctx<'js>, document: &Rc<Document>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let doc = document.clone();
    let find = move |from: usize, css: String| doc.find(from, &css);
    natives.set("find", function(ctx, find)?)?;
    let doc = document.clone();
    let matches = move |node: usize, css: String| doc.matches(node, &css);
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
    let text = move |node: usize| doc.text(node);
    natives.set("text", function(ctx, text)?)?;
    let doc = document.clone();
    let inner = move |node: usize| doc.inner_html(node);
    natives.set("inner", function(ctx, inner)?)?;
    let doc = document.clone();
    let attributes = move |node: usize| doc.attributes(node);
    natives.set("attributes", function(ctx, attributes)?)?;
    Ok(natives)
}
