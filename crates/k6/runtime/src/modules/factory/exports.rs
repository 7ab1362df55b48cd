//! The exports of a module, as getters.

use super::edits::Edits;
use super::imports::{Imports, list};
use super::{Module, declarations, quoted};
use oxc::ast::ast::{
    Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, ExportSpecifier, Program,
    Statement,
};
use oxc::span::GetSpan;
use std::fmt::Write;

/// The exports of a module.
#[derive(Debug, Default)]
pub(super) struct Exports {
    all: Vec<Export>,
    /// Modules whose exports are all exported again (`export *`).
    stars: Vec<String>,
}

/// An export: its name, and the expression of its value.
#[derive(Debug)]
struct Export {
    name: String,
    value: String,
    /// True if the value never changes once the module has run.
    is_fixed: bool,
}

impl Exports {
    fn add(&mut self, name: &str, value: String, is_fixed: bool) {
        self.all.push(Export {
            name: name.to_owned(),
            value,
            is_fixed,
        });
    }

    /// Returns the code that passes the exports to the link.
    pub(super) fn head(&self, link: &str) -> String {
        let mut head = String::new();
        let getters: Vec<String> = self
            .all
            .iter()
            .map(|export| format!("{}:()=>{}", quoted(&export.name), export.value))
            .collect();
        if !getters.is_empty() {
            // Writing to a string can't fail.
            let _ = write!(head, "{link}.e({{{}}});", getters.join(","));
        }
        for star in &self.stars {
            let _ = write!(head, "{link}.s({star});");
        }
        head
    }

    /// Returns the list of the exports that never change, as code.
    pub(super) fn fixed(&self) -> String {
        let fixed = self.all.iter().filter(|export| export.is_fixed);
        list(fixed.map(|export| export.name.as_str()))
    }
}

impl<'a> Module<'a> {
    /// Blanks the syntax of exports, and returns the exports.
    pub(super) fn exports(
        &self,
        program: &Program<'a>,
        imports: &Imports,
        edits: &mut Edits<'_>,
    ) -> Exports {
        let mut exports = Exports::default();
        for statement in declarations(program) {
            self.export(statement, imports, &mut exports, edits);
        }
        exports
    }

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's statements: the others export nothing"
    )]
    fn export(
        &self,
        statement: &Statement<'a>,
        imports: &Imports,
        exports: &mut Exports,
        edits: &mut Edits<'_>,
    ) {
        let link = &self.link;
        match statement {
            Statement::ExportDeclaration(export) => {
                let declared = export.declaration.span().start;
                edits.replace(export.span.start..declared, " ".repeat("export ".len()));
                self.declared(&export.declaration, exports);
            }
            Statement::ExportNamedDeclaration(export) => {
                edits.blank(export.span);
                for one in &export.specifiers {
                    self.named(one, imports, exports);
                }
            }
            Statement::ExportFromDeclaration(export) => {
                edits.blank(export.span);
                let from = export.source.value.as_str();
                for one in &export.specifiers {
                    let value = imports.expression(link, from, one.local.name().as_str());
                    exports.add(one.exported.name().as_str(), value, false);
                }
            }
            Statement::ExportAllDeclaration(export) => {
                edits.blank(export.span);
                let module = imports.namespace(link, export.source.value.as_str());
                match &export.exported {
                    Some(name) => exports.add(name.name().as_str(), module, true),
                    None => exports.stars.push(module),
                }
            }
            Statement::ExportDefaultDeclaration(export) => self.default(export, exports, edits),
            _ => {}
        }
    }

    fn declared(&self, declaration: &Declaration<'a>, exports: &mut Exports) {
        let start = declaration.span().start;
        let end = declaration.span().end;
        let scoping = self.semantic.scoping();
        for symbol in scoping.iter_bindings_in(scoping.root_scope_id()) {
            let span = scoping.symbol_span(symbol);
            if (start..end).contains(&span.start) {
                let name = scoping.symbol_name(symbol);
                let is_fixed = !scoping.symbol_is_mutated(symbol);
                exports.add(name, name.to_owned(), is_fixed);
            }
        }
    }

    /// Handles `export { local as name }`.
    fn named(&self, export: &ExportSpecifier<'a>, imports: &Imports, exports: &mut Exports) {
        let local = export.local.name();
        let name = export.exported.name();
        if let Some(value) = imports.looked_up.get(local.as_str()) {
            exports.add(name.as_str(), value.clone(), false);
            return;
        }
        let scoping = self.semantic.scoping();
        let mut symbols = scoping.iter_bindings_in(scoping.root_scope_id());
        let symbol = symbols.find(|symbol| scoping.symbol_name(*symbol) == local.as_str());
        let is_fixed = symbol.is_some_and(|symbol| !scoping.symbol_is_mutated(symbol));
        exports.add(name.as_str(), local.to_string(), is_fixed);
    }

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the parser's kinds: the others are expressions"
    )]
    fn default(
        &self,
        export: &ExportDefaultDeclaration<'a>,
        exports: &mut Exports,
        edits: &mut Edits<'_>,
    ) {
        let keywords = export.span.start..export.declaration.span().start;
        let blank = || " ".repeat("export default ".len());
        let (id, named_at) = match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                (&function.id, function.params.span.start)
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                (&class.id, class.span.start + "class".len() as u32)
            }
            _ => {
                edits.replace(keywords, format!("const {}=", self.default));
                return exports.add("default", self.default.clone(), true);
            }
        };
        edits.replace(keywords, blank());
        match id {
            Some(id) => exports.add("default", id.name.to_string(), false),
            None => {
                edits.replace(named_at..named_at, format!(" {}", self.default));
                exports.add("default", self.default.clone(), true);
            }
        }
    }
}
