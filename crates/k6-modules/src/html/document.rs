//! A parsed document whose nodes have numbers, in its order; 0 is the document itself.

use scraper::{ElementRef, Html, Node, Selector};
use std::collections::HashMap;

type Id = ego_tree::NodeId;
type NodeRef<'a> = ego_tree::NodeRef<'a, Node>;

/// The document.
pub(super) struct Document {
    html: Html,
    ids: Vec<Id>,
    numbers: HashMap<Id, usize>,
}

impl Document {
    pub(super) fn parse(text: &str) -> Self {
        let html = Html::parse_document(text);
        let ids: Vec<Id> = html
            .tree
            .root()
            .descendants()
            .map(|node| node.id())
            .collect();
        let numbers = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        Document { html, ids, numbers }
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

    /// The elements below a node that a CSS selector selects; a bad selector selects nothing.
    pub(super) fn find(&self, from: usize, css: &str) -> Vec<usize> {
        let Ok(selector) = Selector::parse(css) else {
            return Vec::new();
        };
        let below = self.node(from).into_iter();
        let below = below.flat_map(|node| node.descendants().skip(1));
        let elements = below.filter_map(ElementRef::wrap);
        let found = elements.filter(|element| selector.matches(element));
        found.filter_map(|element| self.number(*element)).collect()
    }

    pub(super) fn matches(&self, number: usize, css: &str) -> bool {
        let element = self.element(number);
        let selector = Selector::parse(css);
        element.is_some_and(|element| selector.is_ok_and(|css| css.matches(&element)))
    }

    pub(super) fn parent(&self, number: usize) -> Option<usize> {
        self.number(self.node(number)?.parent()?)
    }

    /// All children, texts and comments too.
    pub(super) fn contents(&self, number: usize) -> Vec<usize> {
        let children = self
            .node(number)
            .into_iter()
            .flat_map(|node| node.children());
        children.filter_map(|node| self.number(node)).collect()
    }

    /// An element's name in lower case, or `#text`, `#comment`, `#document`, `#other`.
    pub(super) fn name(&self, number: usize) -> String {
        match self.node(number).map(|node| node.value()) {
            Some(Node::Element(element)) => element.name().to_owned(),
            Some(Node::Text(_)) => "#text".to_owned(),
            Some(Node::Comment(_)) => "#comment".to_owned(),
            Some(Node::Document) => "#document".to_owned(),
            _ => "#other".to_owned(),
        }
    }

    pub(super) fn text(&self, number: usize) -> String {
        let nodes = self.node(number).into_iter();
        let nodes = nodes.flat_map(|node| node.descendants());
        nodes
            .filter_map(|node| node.value().as_text().map(|text| &**text))
            .collect()
    }

    pub(super) fn inner_html(&self, number: usize) -> String {
        match self.element(number) {
            Some(element) => element.inner_html(),
            None if number == 0 => self.html.html(),
            None => self.text(number),
        }
    }

    pub(super) fn attributes(&self, number: usize) -> HashMap<String, String> {
        let element = self.element(number);
        let attributes = element.iter().flat_map(|element| element.value().attrs());
        attributes
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }
}
