//! Parses selectors. The result for an invalid selector is `None`: it selects nothing.

use super::{Chain, Combinator, Compound, Condition, Extent, Group, Nth, Operator, State, Test};
use regex::Regex;

/// The maximum number of compound selectors in a chain, and the maximum depth of groups: matching
/// recurses for each.
const MOST_IN_CHAIN: usize = 64;
const MOST_NESTED: usize = 4;

impl Group {
    pub(in crate::html) fn parse(text: &str) -> Option<Self> {
        let mut input = Input(text, 0);
        let group = input.group()?;
        input.0.is_empty().then_some(group)
    }
}

/// Creates an operator from its value.
type MakeOperator = fn(String) -> Operator;

/// The text that is still to be parsed, and its depth.
struct Input<'a>(&'a str, usize);

impl Input<'_> {
    fn group(&mut self) -> Option<Group> {
        let mut chains = vec![self.chain()?];
        while self.takes(",") {
            chains.push(self.chain()?);
        }
        Some(Group(chains))
    }

    /// Parses a group inside of another one.
    fn nested(&mut self) -> Option<Group> {
        self.1 += 1;
        let group = (self.1 <= MOST_NESTED).then(|| self.group()).flatten();
        self.1 -= 1;
        group
    }

    fn chain(&mut self) -> Option<Chain> {
        self.skip_space();
        let (mut last, mut before) = (self.compound()?, Vec::new());
        while let Some(combinator) = self.combinator() {
            before.push((combinator, last));
            last = self.compound()?;
        }
        before.reverse();
        (before.len() < MOST_IN_CHAIN).then_some(Chain { last, before })
    }

    /// Parses the combinator between two compound selectors; `None` at the end of a chain.
    fn combinator(&mut self) -> Option<Combinator> {
        let had_space = self.skip_space();
        let combinator = match self.0.chars().next()? {
            '>' => Combinator::Child,
            '+' => Combinator::Next,
            '~' => Combinator::Later,
            ',' | ')' => return None,
            _ => return had_space.then_some(Combinator::Descendant),
        };
        self.0 = &self.0[1..];
        self.skip_space();
        Some(combinator)
    }

    fn compound(&mut self) -> Option<Compound> {
        let mut tests = Vec::new();
        if self.takes("*") {
            tests.push(Test::Any);
        } else if self.starts_name() {
            tests.push(Test::Tag(self.identifier()?.to_ascii_lowercase()));
        }
        while let Some(first) = self.0.chars().next() {
            tests.push(match first {
                '#' => Test::Id(self.after_sign(Self::name)?),
                '.' => Test::Class(self.after_sign(Self::identifier)?),
                '[' => self.after_sign(Self::attribute)?,
                ':' => self.after_sign(Self::pseudo)?,
                _ => break,
            });
        }
        (!tests.is_empty()).then_some(tests)
    }

    fn after_sign<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.0 = &self.0[1..];
        read(self)
    }

    fn attribute(&mut self) -> Option<Test> {
        self.skip_space();
        let name = self.identifier()?.to_ascii_lowercase();
        self.skip_space();
        if self.takes("]") {
            return Some(Test::Attribute(name, None));
        }
        let operator = self.operator()?;
        self.skip_space();
        let ignores_case = self.takes("i") || self.takes("I");
        self.skip_space();
        let condition = Condition {
            operator,
            ignores_case,
        };
        self.takes("]")
            .then_some(Test::Attribute(name, Some(condition)))
    }

    fn operator(&mut self) -> Option<Operator> {
        if self.takes("#=") {
            self.skip_space();
            let pattern = self.balanced(']')?;
            return Some(Operator::Pattern(Regex::new(pattern).ok()?));
        }
        let signs: [(&str, MakeOperator); 7] = [
            ("=", Operator::Equal),
            ("!=", Operator::Unequal),
            ("~=", Operator::Word),
            ("|=", Operator::Dash),
            ("^=", Operator::Start),
            ("$=", Operator::End),
            ("*=", Operator::Part),
        ];
        let (_, make) = signs.into_iter().find(|(sign, _)| self.takes(sign))?;
        self.skip_space();
        Some(make(self.word()?))
    }

    /// Parses a pseudo-class after its colon.
    fn pseudo(&mut self) -> Option<Test> {
        let name = self.identifier()?.to_ascii_lowercase();
        match self.takes("(") {
            true => {
                let test = self.call(&name)?;
                self.skip_space();
                self.takes(")").then_some(test)
            }
            false => plain(&name),
        }
    }

    fn call(&mut self, name: &str) -> Option<Test> {
        Some(match name {
            "not" => Test::Not(self.nested()?),
            "has" => Test::Has(self.nested()?),
            "haschild" => Test::HasChild(self.nested()?),
            "contains" => Test::Contains(self.argument()?, Extent::All),
            "containsown" => Test::Contains(self.argument()?, Extent::Own),
            "matches" => Test::Matches(self.pattern()?, Extent::All),
            "matchesown" => Test::Matches(self.pattern()?, Extent::Own),
            "lang" => Test::Lang(self.argument()?),
            _ => {
                let (from_end, of_type) = match name {
                    "nth-child" => (false, false),
                    "nth-last-child" => (true, false),
                    "nth-of-type" => (false, true),
                    "nth-last-of-type" => (true, true),
                    _ => return None,
                };
                let (a, b) = formula(self.balanced(')')?)?;
                Test::Nth(Nth {
                    a,
                    b,
                    from_end,
                    of_type,
                })
            }
        })
    }

    /// Returns the text between parentheses, in lower case; it may be quoted.
    fn argument(&mut self) -> Option<String> {
        self.skip_space();
        let text = match self.0.starts_with(['"', '\'']) {
            true => self.quoted()?,
            false => self.balanced(')')?.trim().to_owned(),
        };
        Some(text.to_lowercase())
    }

    fn pattern(&mut self) -> Option<Regex> {
        Regex::new(self.balanced(')')?.trim()).ok()
    }

    /// Returns the text up to a closing sign that no other sign has opened.
    fn balanced(&mut self, close: char) -> Option<&str> {
        let mut depth = 0_usize;
        for (at, c) in self.0.char_indices() {
            if c == close && depth == 0 {
                let (inside, rest) = self.0.split_at(at);
                self.0 = rest;
                return Some(inside);
            }
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    fn word(&mut self) -> Option<String> {
        match self.0.starts_with(['"', '\'']) {
            true => self.quoted(),
            false => self.identifier(),
        }
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.0.chars().next()?;
        self.0 = &self.0[1..];
        let mut text = String::new();
        while !self.0.starts_with(quote) {
            text.push(self.character()?);
        }
        self.0 = &self.0[1..];
        Some(text)
    }

    /// Parses a name that does not begin with a digit.
    fn identifier(&mut self) -> Option<String> {
        self.starts_name().then(|| self.name()).flatten()
    }

    fn starts_name(&self) -> bool {
        let rest = self.0.trim_start_matches('-');
        rest.starts_with(|c: char| is_name(c) && !c.is_ascii_digit() || c == '\\')
    }

    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        while self.0.starts_with(|c: char| is_name(c) || c == '\\') {
            name.push(self.character()?);
        }
        (!name.is_empty()).then_some(name)
    }

    /// Parses one character, which may be escaped: `\:`, or `\3a ` with its number.
    fn character(&mut self) -> Option<char> {
        let first = self.0.chars().next()?;
        self.0 = &self.0[first.len_utf8()..];
        if first != '\\' {
            return Some(first);
        }
        let digits = self.0.bytes().take(6).take_while(u8::is_ascii_hexdigit);
        let (number, rest) = self.0.split_at(digits.count());
        if number.is_empty() {
            let escaped = self.0.chars().next()?;
            self.0 = &self.0[escaped.len_utf8()..];
            return Some(escaped);
        }
        self.0 = rest.strip_prefix(' ').unwrap_or(rest);
        char::from_u32(u32::from_str_radix(number, 16).ok()?)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.0.trim_ascii_start();
        let had_space = rest.len() < self.0.len();
        self.0 = rest;
        had_space
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_' || !c.is_ascii()
}

/// Returns the test for a pseudo-class without parentheses.
fn plain(name: &str) -> Option<Test> {
    let end = |from_end, of_type| {
        Test::Nth(Nth {
            a: 0,
            b: 1,
            from_end,
            of_type,
        })
    };
    Some(match name {
        "first-child" => end(false, false),
        "last-child" => end(true, false),
        "first-of-type" => end(false, true),
        "last-of-type" => end(true, true),
        "only-child" => Test::Only { of_type: false },
        "only-of-type" => Test::Only { of_type: true },
        "empty" => Test::State(State::Empty),
        "root" => Test::State(State::Root),
        "input" => Test::State(State::Input),
        "link" => Test::State(State::Link),
        "checked" => Test::State(State::Checked),
        "disabled" => Test::State(State::Disabled),
        "enabled" => Test::State(State::Enabled),
        _ => return None,
    })
}

/// Parses `odd`, `even`, `b` or `an+b` to `(a, b)`.
fn formula(text: &str) -> Option<(i64, i64)> {
    let text: String = text.split_ascii_whitespace().collect();
    let text = text.to_ascii_lowercase();
    match text.as_str() {
        "odd" => return Some((2, 1)),
        "even" => return Some((2, 0)),
        _ => {}
    }
    let Some((a, b)) = text.split_once('n') else {
        return Some((0, text.parse().ok()?));
    };
    let a = match a {
        "" | "+" => 1,
        "-" => -1,
        a => a.parse().ok()?,
    };
    let b = if b.is_empty() { 0 } else { b.parse().ok()? };
    Some((a, b))
}
