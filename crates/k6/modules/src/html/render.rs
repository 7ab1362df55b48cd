//! Serialisation of nodes to HTML in the form of Go's library: `<br/>`, `&#34;` for a quotation
//! mark, and an attribute without a value as `name=""`.

use super::document::{attribute_name, children};
use scraper::{ElementRef, Node};

type NodeRef<'a> = ego_tree::NodeRef<'a, Node>;

/// Elements that have no content and no end tag.
const VOID: [&str; 16] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track", "wbr", "command",
];

/// Elements whose texts are not escaped.
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

/// Elements whose attributes Go's parser sorts by name.
const FORMATTING: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Remaining work. It is a list, because documents may be nested deeper than the stack allows.
enum Left<'a> {
    Node { node: NodeRef<'a>, is_raw: bool },
    EndTag(&'a str),
}

/// Returns the contents of a node as HTML. Texts directly inside of the node are escaped, even
/// those of a script.
pub(super) fn inner(node: NodeRef<'_>) -> String {
    let mut html = String::new();
    let mut left = Vec::new();
    add_children(&mut left, node, false);
    while let Some(next) = left.pop() {
        match next {
            Left::Node { node, is_raw } => write(&mut html, node, is_raw, &mut left),
            Left::EndTag(name) => html += &format!("</{name}>"),
        }
    }
    html
}

fn add_children<'a>(left: &mut Vec<Left<'a>>, node: NodeRef<'a>, is_raw: bool) {
    let before = left.len();
    left.extend(children(node).map(|node| Left::Node { node, is_raw }));
    left[before..].reverse();
}

#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's nodes: the others have no text"
)]
fn write<'a>(html: &mut String, node: NodeRef<'a>, is_raw: bool, left: &mut Vec<Left<'a>>) {
    match node.value() {
        Node::Text(text) if is_raw => *html += text,
        Node::Text(text) => escape(html, text),
        Node::Comment(comment) => *html += &format!("<!--{}-->", &**comment),
        Node::Doctype(doctype) => write_doctype(html, doctype),
        Node::Element(_) => write_element(html, node, left),
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

/// Writes an element's start tag; its contents and its end tag are added to the remaining work.
fn write_element<'a>(html: &mut String, node: NodeRef<'a>, left: &mut Vec<Left<'a>>) {
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
    left.push(Left::EndTag(name));
    add_children(left, node, RAW.contains(&name));
}

/// True if an element begins with a newline. A parser drops the first newline of such an element,
/// so it needs another one.
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
