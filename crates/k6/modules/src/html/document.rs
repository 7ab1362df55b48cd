//! A parsed document whose nodes are numbered in its order; 0 is the document itself.

use super::css::Group;
use super::render;
use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use scraper::{ElementRef, Html, HtmlTreeSink, Node};
use std::borrow::Cow;
use std::collections::HashMap;

type Id = ego_tree::NodeId;
type NodeRef<'a> = ego_tree::NodeRef<'a, Node>;

/// The maximum depth of nested elements. For each new one the parser searches the open ones, and
/// can't be interrupted. k6 has a limit of 512.
pub(super) const DEEPEST: usize = 10_000;

/// The number of bytes that are parsed between two checks of the depth.
const PART_BYTES: usize = 4_096;

/// A parsed document.
pub(super) struct Document {
    html: Html,
    ids: Vec<Id>,
    numbers: HashMap<Id, usize>,
}

impl Document {
    /// Parses a document; `None` if its elements are nested too deep.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let html = tree(text)?;
        let ids: Vec<Id> = html
            .tree
            .root()
            .descendants()
            .map(|node| node.id())
            .collect();
        let numbers = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        Some(Document { html, ids, numbers })
    }

    fn node(&self, number: usize) -> Option<NodeRef<'_>> {
        self.html.tree.get(*self.ids.get(number)?)
    }

    fn element(&self, number: usize) -> Option<ElementRef<'_>> {
        ElementRef::wrap(self.node(number)?)
    }

    fn number(&self, node: NodeRef<'_>) -> Option<usize> {
        self.numbers.get(&node.id()).copied()
    }

    /// Returns the elements below a node that a CSS selector selects; an invalid one selects
    /// nothing.
    pub(super) fn find(&self, from: usize, css: &str) -> Vec<usize> {
        let Some(selector) = Group::parse(css) else {
            return Vec::new();
        };
        let below = self.node(from).into_iter();
        let below = below.flat_map(|node| node.descendants().skip(1));
        let elements = below.filter_map(ElementRef::wrap);
        let found = elements.filter(|element| selector.matches(*element));
        found.filter_map(|element| self.number(*element)).collect()
    }

    pub(super) fn matches(&self, number: usize, css: &str) -> bool {
        let element = self.element(number);
        let selector = Group::parse(css);
        element.is_some_and(|element| selector.is_some_and(|css| css.matches(element)))
    }

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library's nodes: only a fragment is none of the document"
    )]
    pub(super) fn parent(&self, number: usize) -> Option<usize> {
        let parent = self.node(number)?.parent()?;
        match parent.value() {
            Node::Fragment => self.number(parent.parent()?),
            _ => self.number(parent),
        }
    }

    /// Returns all children, including texts and comments.
    pub(super) fn contents(&self, number: usize) -> Vec<usize> {
        let children = self.node(number).into_iter().flat_map(children);
        children.filter_map(|node| self.number(node)).collect()
    }

    /// Returns an element's name in lower case, a document type's name, or the name of another kind
    /// of node, such as `#text`.
    pub(super) fn name(&self, number: usize) -> String {
        match self.node(number).map(|node| node.value()) {
            Some(Node::Element(element)) => element.name().to_owned(),
            Some(Node::Doctype(doctype)) => doctype.name().to_owned(),
            Some(Node::Text(_)) => "#text".to_owned(),
            Some(Node::Comment(_)) => "#comment".to_owned(),
            Some(Node::Document) => "#document".to_owned(),
            _ => "#other".to_owned(),
        }
    }

    /// Returns the number of this kind of node in browsers (`nodeType`).
    pub(super) fn kind(&self, number: usize) -> u8 {
        match self.node(number).map(|node| node.value()) {
            Some(Node::Element(_)) => 1,
            Some(Node::Text(_)) => 3,
            Some(Node::Comment(_)) => 8,
            Some(Node::Document) => 9,
            Some(Node::Doctype(_)) => 10,
            _ => 0,
        }
    }

    /// Returns the namespace of an element; for all other nodes that of HTML.
    pub(super) fn namespace(&self, number: usize) -> String {
        let element = self.element(number);
        let namespace = element.map(|element| element.value().name.ns.to_string());
        namespace.unwrap_or_else(|| "http://www.w3.org/1999/xhtml".to_owned())
    }

    pub(super) fn text(&self, number: usize) -> String {
        self.node(number).map(text_below).unwrap_or_default()
    }

    pub(super) fn inner_html(&self, number: usize) -> String {
        self.node(number).map(render::inner).unwrap_or_default()
    }

    /// Returns an attribute; the case of its name matters.
    pub(super) fn attribute(&self, number: usize, name: &str) -> Option<String> {
        attribute(self.element(number)?, name).map(str::to_owned)
    }

    pub(super) fn attributes(&self, number: usize) -> HashMap<String, String> {
        let element = self.element(number);
        let attributes = element.iter().flat_map(|element| &element.value().attrs);
        attributes
            .map(|(name, value)| {
                let name = attribute_name(name.prefix.as_deref(), &name.local);
                (name.into_owned(), value.to_string())
            })
            .collect()
    }
}

/// Parses a text part by part, as long as it is not nested too deep.
fn tree(mut text: &str) -> Option<Html> {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = parse_document(sink, ParseOpts::default());
    while !text.is_empty() {
        let mut end = PART_BYTES.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (part, rest) = text.split_at(end);
        parser.process(part.into());
        if depth_of_last(&parser.tokenizer.sink.sink.0.borrow()) > DEEPEST {
            return None;
        }
        text = rest;
    }
    Some(parser.finish())
}

/// Returns the depth of the node that was created last.
fn depth_of_last(html: &Html) -> usize {
    let last = html.tree.nodes().next_back();
    last.map_or(0, |node| node.ancestors().count())
}

/// Returns the children of a node. The contents of a template are in a fragment, which is not a
/// node for scripts.
pub(super) fn children(node: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    let inside = |child: NodeRef<'_>| child.value().is_fragment();
    let fragment = node.first_child().filter(|child| inside(*child));
    fragment.unwrap_or(node).children()
}

/// Returns all texts of a node, one after another.
pub(super) fn text_below(node: NodeRef<'_>) -> String {
    let texts = node.descendants();
    texts
        .filter_map(|node| node.value().as_text().map(|text| &**text))
        .collect()
}

pub(super) fn attribute<'a>(element: ElementRef<'a>, name: &str) -> Option<&'a str> {
    let mut attributes = element.value().attrs.iter();
    let (_, value) = attributes
        .find(|(other, _)| attribute_name(other.prefix.as_deref(), &other.local) == name)?;
    Some(value)
}

/// Returns a name with its prefix, as in `xlink:href`.
pub(super) fn attribute_name<'a>(prefix: Option<&str>, local: &'a str) -> Cow<'a, str> {
    match prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{local}").into(),
        _ => local.into(),
    }
}
