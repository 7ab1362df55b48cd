//! Nodes as HTML again, in the form that Go's library writes: `<br/>`, `&#34;` for a quotation
//! mark, and an attribute without a value as `name=""`.

use super::document::{attribute_name, children};
use scraper::{ElementRef, Node};

type NodeRef<'a> = ego_tree::NodeRef<'a, Node>;

/// Elements that have no content and no end tag.
const VOID: [&str; 16] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track", "wbr", "command",
];

/// Elements whose texts are written as they are.
const RAW: [&str; 8] = [
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "script",
    "style",
    "xmp",
];

/// Elements whose attributes Go's parser keeps in the order of their names.
const FORMATTING: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// What is inside a node. A text alone is escaped, even that of a script.
pub(super) fn inner(node: NodeRef<'_>) -> String {
    let mut html = String::new();
    for child in children(node) {
        write(&mut html, child, false);
    }
    html
}

fn write(html: &mut String, node: NodeRef<'_>, is_raw: bool) {
    match node.value() {
        Node::Text(text) if is_raw => *html += text,
        Node::Text(text) => escape(html, text),
        Node::Comment(comment) => *html += &format!("<!--{}-->", &**comment),
        Node::Doctype(doctype) => write_doctype(html, doctype),
        Node::Element(_) => write_element(html, node),
        _ => {}
    }
}

fn write_doctype(html: &mut String, doctype: &scraper::node::Doctype) {
    *html += &format!("<!DOCTYPE {}", doctype.name());
    let (public, system) = (doctype.public_id(), doctype.system_id());
    match (public.is_empty(), system.is_empty()) {
        (false, true) => *html += &format!(" PUBLIC \"{public}\""),
        (false, false) => *html += &format!(" PUBLIC \"{public}\" \"{system}\""),
        (true, false) => *html += &format!(" SYSTEM \"{system}\""),
        (true, true) => {}
    }
    html.push('>');
}

fn write_element(html: &mut String, node: NodeRef<'_>) {
    let Some(element) = ElementRef::wrap(node) else {
        return;
    };
    let name = element.value().name();
    html.push('<');
    *html += name;
    write_attributes(html, element);
    if VOID.contains(&name) {
        *html += "/>";
        return;
    }
    html.push('>');
    if matches!(name, "pre" | "listing" | "textarea") && begins_with_newline(node) {
        html.push('\n');
    }
    for child in children(node) {
        write(html, child, RAW.contains(&name));
    }
    *html += &format!("</{name}>");
}

/// A parser leaves out the first newline of such an element, so it needs another one.
fn begins_with_newline(node: NodeRef<'_>) -> bool {
    let text = node.first_child().and_then(|child| child.value().as_text());
    text.is_some_and(|text| text.starts_with('\n'))
}

fn write_attributes(html: &mut String, element: ElementRef<'_>) {
    let mut attributes: Vec<_> = element.value().attrs.iter().collect();
    if FORMATTING.contains(&element.value().name()) {
        attributes.sort_by(|one, other| one.0.local.cmp(&other.0.local));
    }
    for (name, value) in attributes {
        let name = attribute_name(name.prefix.as_deref(), &name.local);
        *html += &format!(" {name}=\"");
        escape(html, value);
        html.push('"');
    }
}

fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => *html += "&amp;",
            '<' => *html += "&lt;",
            '>' => *html += "&gt;",
            '"' => *html += "&#34;",
            '\'' => *html += "&#39;",
            '\r' => *html += "&#13;",
            c => html.push(c),
        }
    }
}
