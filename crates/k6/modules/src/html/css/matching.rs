//! Matching of elements against selectors.

use super::{Chain, Combinator, Condition, Extent, Group, Nth, Operator, State, Test};
use crate::html::document::{attribute, text_below};
use scraper::{ElementRef, Node};

impl Group {
    pub(in crate::html) fn matches(&self, element: ElementRef<'_>) -> bool {
        self.0.iter().any(|chain| chain.matches(element))
    }
}

impl Chain {
    fn matches(&self, element: ElementRef<'_>) -> bool {
        passes(&self.last, element) && leads(&self.before, element)
    }
}

fn passes(tests: &[Test], element: ElementRef<'_>) -> bool {
    tests.iter().all(|test| test.holds(element))
}

/// True if the rest of a chain matches the elements before or above an element.
fn leads(before: &[(Combinator, Vec<Test>)], element: ElementRef<'_>) -> bool {
    let Some(((combinator, tests), rest)) = before.split_first() else {
        return true;
    };
    let fits = |other: ElementRef<'_>| passes(tests, other) && leads(rest, other);
    match combinator {
        Combinator::Descendant => element.ancestors().filter_map(ElementRef::wrap).any(fits),
        Combinator::Child => parent(element).is_some_and(fits),
        Combinator::Next => earlier(element).next().is_some_and(fits),
        Combinator::Later => earlier(element).any(fits),
    }
}

fn parent(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    element.parent().and_then(ElementRef::wrap)
}

/// Returns the siblings before an element, the nearest one first.
fn earlier(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.prev_siblings().filter_map(ElementRef::wrap)
}

fn later(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.next_siblings().filter_map(ElementRef::wrap)
}

fn name(element: ElementRef<'_>) -> &str {
    element.value().name()
}

fn has(element: ElementRef<'_>, attribute_name: &str) -> bool {
    attribute(element, attribute_name).is_some()
}

impl Test {
    fn holds(&self, element: ElementRef<'_>) -> bool {
        match self {
            Test::Any => true,
            Test::Tag(tag) => name(element) == tag,
            Test::Id(id) => attribute(element, "id") == Some(id),
            Test::Class(class) => {
                let classes = attribute(element, "class").unwrap_or_default();
                classes.split_ascii_whitespace().any(|other| other == class)
            }
            Test::Attribute(name, None) => has(element, name),
            Test::Attribute(name, Some(condition)) => condition.holds(attribute(element, name)),
            Test::Not(group) => !group.matches(element),
            Test::Has(group) => below(element).any(|other| group.matches(other)),
            Test::HasChild(group) => element.child_elements().any(|other| group.matches(other)),
            Test::Contains(text, extent) => text_of(element, *extent).to_lowercase().contains(text),
            Test::Matches(pattern, extent) => pattern.is_match(&text_of(element, *extent)),
            Test::Nth(nth) => nth.holds(element),
            Test::Only { of_type } => {
                let alike = |other| !of_type || name(other) == name(element);
                !earlier(element).chain(later(element)).any(alike)
            }
            Test::Lang(lang) => speaks(element, lang),
            Test::State(state) => state.holds(element),
        }
    }
}

fn below(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.descendants().skip(1).filter_map(ElementRef::wrap)
}

fn text_of(element: ElementRef<'_>, extent: Extent) -> String {
    let own = element.children().filter_map(|node| node.value().as_text());
    match extent {
        Extent::All => text_below(*element),
        Extent::Own => own.map(|text| &**text).collect(),
    }
}

/// True if an element or one of its ancestors has this language, or a dialect of it.
fn speaks(element: ElementRef<'_>, lang: &str) -> bool {
    let around = element.ancestors().filter_map(ElementRef::wrap);
    let languages = std::iter::once(element).chain(around);
    languages
        .filter_map(|element| attribute(element, "lang"))
        .any(|value| is_dash_match(&value.to_lowercase(), lang))
}

fn is_dash_match(value: &str, start: &str) -> bool {
    let rest = value.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

impl Condition {
    fn holds(&self, value: Option<&str>) -> bool {
        let Some(value) = value else {
            return matches!(self.operator, Operator::Unequal(_));
        };
        match self.ignores_case {
            true => self
                .operator
                .holds(&value.to_lowercase(), str::to_lowercase),
            false => self.operator.holds(value, str::to_owned),
        }
    }
}

impl Operator {
    /// True if a value fulfils the condition. Blank values have no start, end or part.
    fn holds(&self, value: &str, folded: fn(&str) -> String) -> bool {
        let has_text = !value.trim_ascii().is_empty();
        match self {
            Operator::Equal(searched) => value == folded(searched),
            Operator::Unequal(searched) => value != folded(searched),
            Operator::Word(searched) => {
                let searched = folded(searched);
                value.split_ascii_whitespace().any(|word| word == searched)
            }
            Operator::Dash(searched) => is_dash_match(value, &folded(searched)),
            Operator::Start(searched) => has_text && value.starts_with(&folded(searched)),
            Operator::End(searched) => has_text && value.ends_with(&folded(searched)),
            Operator::Part(searched) => has_text && value.contains(&folded(searched)),
            Operator::Pattern(pattern) => pattern.is_match(value),
        }
    }
}

impl Nth {
    fn holds(&self, element: ElementRef<'_>) -> bool {
        let counts = |other: &ElementRef<'_>| !self.of_type || name(*other) == name(element);
        let others = match self.from_end {
            true => later(element).filter(counts).count(),
            false => earlier(element).filter(counts).count(),
        };
        let steps = i64::try_from(others).unwrap_or(i64::MAX) + 1 - self.b;
        match self.a {
            0 => steps == 0,
            a => steps % a == 0 && steps / a >= 0,
        }
    }
}

impl State {
    fn holds(self, element: ElementRef<'_>) -> bool {
        match self {
            State::Empty => !element
                .children()
                .any(|node| matches!(node.value(), Node::Element(_) | Node::Text(_))),
            State::Root => element
                .parent()
                .is_some_and(|node| node.value().is_document()),
            State::Input => {
                matches!(name(element), "input" | "select" | "textarea" | "button")
            }
            State::Link => matches!(name(element), "a" | "area" | "link") && has(element, "href"),
            State::Checked => match name(element) {
                "option" => has(element, "selected"),
                "input" => {
                    let kind = attribute(element, "type").unwrap_or_default();
                    let is_box = ["checkbox", "radio"]
                        .iter()
                        .any(|b| kind.eq_ignore_ascii_case(b));
                    is_box && has(element, "checked")
                }
                _ => false,
            },
            State::Disabled => can_be_disabled(element) && is_disabled(element),
            State::Enabled => can_be_disabled(element) && !is_disabled(element),
        }
    }
}

fn can_be_disabled(element: ElementRef<'_>) -> bool {
    matches!(
        name(element),
        "button"
            | "select"
            | "input"
            | "textarea"
            | "option"
            | "optgroup"
            | "menuitem"
            | "fieldset"
    )
}

fn is_disabled(element: ElementRef<'_>) -> bool {
    let is_field = !matches!(name(element), "optgroup" | "menuitem" | "fieldset");
    has(element, "disabled") || is_field && is_in_disabled_fieldset(element)
}

fn is_in_disabled_fieldset(element: ElementRef<'_>) -> bool {
    let around = element.ancestors().filter_map(ElementRef::wrap);
    around
        .filter(|other| name(*other) == "fieldset")
        .any(|fieldset| has(fieldset, "disabled"))
}
