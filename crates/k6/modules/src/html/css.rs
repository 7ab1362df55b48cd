//! CSS selectors in k6's dialect, which is that of its Go library and close to jQuery's: in
//! addition to CSS 3 there are `[name!=value]`, `[name#=(pattern)]`, `:contains(text)`,
//! `:matches(pattern)`, `:has()`, `:haschild()` and `:input`; there is no `:is()` or `:where()`,
//! and no `:first`. So a library for the CSS of browsers would select other elements.

mod matching;
mod parsing;

use regex::Regex;

/// Selectors separated by commas. An element matches if it matches one of them.
pub(super) struct Group(Vec<Chain>);

/// Compound selectors from right to left, each with the combinator between it and the one on its
/// right.
struct Chain {
    last: Compound,
    before: Vec<(Combinator, Compound)>,
}

/// Tests that one element must pass, such as those of `a.x[href]`.
type Compound = Vec<Test>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

enum Test {
    Any,
    Tag(String),
    Id(String),
    Class(String),
    Attribute(String, Option<Condition>),
    Not(Group),
    Has(Group),
    HasChild(Group),
    Contains(String, Extent),
    Matches(Regex, Extent),
    Nth(Nth),
    Only { of_type: bool },
    Lang(String),
    State(State),
}

/// A condition on an attribute's value.
struct Condition {
    operator: Operator,
    ignores_case: bool,
}

enum Operator {
    Equal(String),
    Unequal(String),
    Word(String),
    Dash(String),
    Start(String),
    End(String),
    Part(String),
    Pattern(Regex),
}

/// The texts to search: all below the element, or only its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    Own,
}

/// `an+b`, counted among siblings, or among siblings of the same name.
struct Nth {
    a: i64,
    b: i64,
    from_end: bool,
    of_type: bool,
}

#[derive(Clone, Copy)]
enum State {
    Empty,
    Root,
    Input,
    Link,
    Checked,
    Disabled,
    Enabled,
}
