//! The imports of a module, as expressions of its link.

use super::edits::Edits;
use super::{Module, declarations, member, quoted};
use oxc::ast::AstKind;
use oxc::ast::ast::{
    BindingIdentifier, ImportDeclaration, ImportDeclarationSpecifier, Program, Statement,
};
use oxc::semantic::Reference;
use oxc::span::GetSpan;
use std::collections::HashMap;
use std::fmt::Write;

/// The imports of a module.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// The specifiers, each once, in the order of the text.
    pub(super) requests: Vec<String>,
    /// Names with a fixed value, and its expression: members of built-in modules never change.
    constants: Vec<(String, String)>,
    /// Names that are looked up in a module on each use, with their expressions.
    pub(super) looked_up: HashMap<String, String>,
}

/// True if a module is one of k6's own.
fn is_built_in(specifier: &str) -> bool {
    specifier == "k6" || specifier.starts_with("k6/")
}

impl Imports {
    fn request(&mut self, specifier: &str) {
        if !self.requests.iter().any(|known| known == specifier) {
            self.requests.push(specifier.to_owned());
        }
    }

    /// Returns the expression for a member of a requested module.
    pub(super) fn expression(&self, link: &str, specifier: &str, name: &str) -> String {
        let module = self.namespace(link, specifier);
        match is_built_in(specifier) && name == "default" {
            true => module,
            false => member(&module, name),
        }
    }

    /// Returns the expression for the namespace of a requested module.
    pub(super) fn namespace(&self, link: &str, specifier: &str) -> String {
        let index = self.requests.iter().position(|known| known == specifier);
        format!("{link}{}", index.unwrap_or_default())
    }

    /// Returns the declarations of the modules.
    pub(super) fn modules(&self, link: &str) -> String {
        let mut head = String::new();
        for index in 0..self.requests.len() {
            // Writing to a string can't fail.
            let _ = write!(head, "const {link}{index}={link}.m[{index}];");
        }
        head
    }

    /// Returns the declarations of the names with fixed values.
    pub(super) fn constants(&self) -> String {
        let constants = self.constants.iter();
        constants
            .map(|(name, value)| format!("const {name}={value};"))
            .collect()
    }
}

impl<'a> Module<'a> {
    /// Blanks the imports, and rewrites the uses of imported names.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's statements: the others import nothing"
    )]
    pub(super) fn imports(&self, program: &Program<'a>, edits: &mut Edits<'_>) -> Imports {
        let mut imports = Imports::default();
        for declaration in declarations(program) {
            match declaration {
                Statement::ImportDeclaration(import) => {
                    edits.blank(import.span);
                    self.import(import, &mut imports, edits);
                }
                Statement::ExportAllDeclaration(export) => {
                    imports.request(export.source.value.as_str());
                }
                Statement::ExportFromDeclaration(export) => {
                    imports.request(export.source.value.as_str());
                }
                _ => {}
            }
        }
        imports
    }

    fn import(&self, import: &ImportDeclaration<'a>, into: &mut Imports, edits: &mut Edits<'_>) {
        let from = import.source.value.as_str();
        into.request(from);
        for specifier in import.specifiers.iter().flatten() {
            let local = specifier.local();
            let value = match specifier {
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                    let value = into.namespace(&self.link, from);
                    into.constants.push((local.name.to_string(), value));
                    continue;
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                    into.expression(&self.link, from, "default")
                }
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    into.expression(&self.link, from, one.imported.name().as_str())
                }
            };
            if is_built_in(from) {
                into.constants.push((local.name.to_string(), value));
            } else {
                self.look_up(local, &value, edits);
                into.looked_up.insert(local.name.to_string(), value);
            }
        }
    }

    /// Replaces each use of a name by a lookup.
    fn look_up(&self, local: &BindingIdentifier<'a>, value: &str, edits: &mut Edits<'_>) {
        let Some(symbol) = local.symbol_id.get() else {
            return;
        };
        for reference in self.semantic.symbol_references(symbol) {
            let span = self.semantic.reference_span(reference);
            let parent = self.semantic.nodes().parent_kind(reference.node_id());
            if !matches!(parent, AstKind::ExportSpecifier(_)) {
                edits.replace(span, self.use_of(reference, &parent, local, value));
            }
        }
    }

    /// Returns the code for the use of a name. A call must not get the module as its `this`, and at
    /// the beginning of a statement, the bracket must not continue the previous line.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's nodes: more than a hundred"
    )]
    fn use_of(
        &self,
        reference: &Reference,
        parent: &AstKind<'a>,
        local: &BindingIdentifier<'a>,
        value: &str,
    ) -> String {
        let span = self.semantic.reference_span(reference);
        let is_called = match parent {
            AstKind::CallExpression(call) => call.callee.span() == span,
            AstKind::TaggedTemplateExpression(template) => template.tag.span() == span,
            AstKind::ObjectProperty(property) if property.shorthand => {
                return format!("{}:{value}", local.name);
            }
            _ => false,
        };
        if !is_called {
            return value.to_owned();
        }
        let mut above = self.semantic.nodes().ancestor_kinds(reference.node_id());
        let begins = above.any(
            |kind| matches!(kind, AstKind::ExpressionStatement(it) if it.span.start == span.start),
        );
        match begins {
            true => format!("void 0,(0,{value})"),
            false => format!("(0,{value})"),
        }
    }
}

/// Returns a list of texts as code of JavaScript.
pub(super) fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(quoted).collect();
    format!("[{}]", names.join(","))
}
