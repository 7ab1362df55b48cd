//! From a module to a factory: a function that instantiates the module each time it is called.
//!
//! Where users share a runtime, a module is compiled once for all of them and instantiated for
//! each: its top-level declarations are then variables of a call, so each user has its own. The
//! text is left as it is wherever possible, so that its lines are those of its errors. `import` and
//! `export` are blanked; their meaning is in a head on the first line:
//!
//! ```text
//! import http from 'k6/http';           (function(L){"use strict";const L0=L.m[0];const L1=L.m[1];
//!                                       L.e({"default":()=>_default});const http=L0;
//! import { add } from './sums.js';
//! export default () => add(1, 2);       const _default=() => (0,L1.add)(1, 2);
//!                                       L.f(["default"])})
//! ```
//!
//! `L` is the *link*, which `linking` provides: `m` has the modules that this one imports, `e`
//! takes the exports as getters, `f` is called when the module has run, with the names of the
//! exports that never change. An imported value is looked up on each use, since the other module
//! may change it.

mod edits;
mod exports;
mod imports;

use super::depth::deep_enough;
use edits::Edits;
use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{Program, Statement};
use oxc::parser::Parser;
use oxc::semantic::{Semantic, SemanticBuilder};
use oxc::span::SourceType;

/// A module as a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Factory {
    /// An expression, whose value is the function.
    pub(crate) code: String,
    /// The specifiers of the imported modules, in the order of the link's modules.
    pub(crate) requests: Vec<String>,
    /// True if the module has a top-level `await`, so that the function returns a promise.
    pub(crate) is_async: bool,
}

/// The input of all steps of the rewriting.
struct Module<'a> {
    text: &'a str,
    semantic: Semantic<'a>,
    /// The name of the link in the function.
    link: String,
    /// The name of the variable for `export default` of an expression.
    default: String,
}

/// Returns the factory of a text that was recognised as a module.
pub(crate) fn factory(text: &str) -> Factory {
    // Text that is nested too deep was refused when it was recognised as a module.
    deep_enough(text, || made(text)).unwrap_or_default()
}

fn made(text: &str) -> Factory {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).parse();
    let built = SemanticBuilder::new()
        .with_build_nodes(true)
        .build(&parsed.program);
    let module = Module {
        text,
        semantic: built.semantic,
        link: unused(text, "__link"),
        default: unused(text, "_default"),
    };
    module.rewritten(&parsed.program)
}

/// Returns a name like this one that does not occur in a text.
fn unused(text: &str, like: &str) -> String {
    let mut name = like.to_owned();
    while text.contains(&name) {
        name.push('_');
    }
    name
}

impl<'a> Module<'a> {
    fn rewritten(&self, program: &Program<'a>) -> Factory {
        let mut edits = Edits::of(self.text);
        let imports = self.imports(program, &mut edits);
        let exports = self.exports(program, &imports, &mut edits);
        self.replace_meta(&mut edits);
        let is_async = self.waits();
        let kind = if is_async {
            "async function"
        } else {
            "function"
        };
        let link = &self.link;
        let code = format!(
            "({kind}({link}){{\"use strict\";{}{}{}{}\n{link}.f({})}})",
            imports.modules(link),
            exports.head(link),
            imports.constants(),
            edits.applied(),
            exports.fixed(),
        );
        Factory {
            code,
            requests: imports.requests,
            is_async,
        }
    }

    /// Replaces `import.meta`, and `import()` of a computed module, by members of the link.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's nodes: more than a hundred"
    )]
    fn replace_meta(&self, edits: &mut Edits<'_>) {
        for node in self.semantic.nodes().iter() {
            match node.kind() {
                AstKind::ImportMeta(meta) => {
                    edits.replace(meta.span, format!("{}.meta", self.link));
                }
                AstKind::ImportExpression(import) => {
                    let word = import.span.start..import.span.start + "import".len() as u32;
                    edits.replace(word, format!("{}.i", self.link));
                }
                _ => {}
            }
        }
    }

    /// True if there is an `await` outside of all functions.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's nodes: more than a hundred"
    )]
    fn waits(&self) -> bool {
        let nodes = self.semantic.nodes();
        let is_inside = |id| {
            nodes.ancestor_kinds(id).any(|kind| {
                matches!(
                    kind,
                    AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)
                )
            })
        };
        nodes.iter().any(|node| {
            let waits = match node.kind() {
                AstKind::AwaitExpression(_) => true,
                AstKind::ForOfStatement(statement) => statement.r#await,
                _ => false,
            };
            waits && !is_inside(node.id())
        })
    }
}

/// Returns the top-level statements of a module that import or export.
fn declarations<'p, 'a>(program: &'p Program<'a>) -> impl Iterator<Item = &'p Statement<'a>> {
    let statements = program.body.iter();
    statements.filter(|statement| statement.is_module_declaration())
}

/// Returns the expression `object.name`, for any name.
fn member(object: &str, name: &str) -> String {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    let is_plain =
        name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit());
    match is_plain {
        true => format!("{object}.{name}"),
        false => format!("{object}[{}]", quoted(name)),
    }
}

/// Returns a text as a literal of JavaScript.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
