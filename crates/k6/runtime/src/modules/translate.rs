//! From the text of a file to JavaScript that QuickJS compiles: types are stripped, and CommonJS is
//! distinguished from modules.
//!
//! A file of plain JavaScript is left unchanged, so that its lines are those of its errors. A file
//! with types is generated anew, with a table from the new lines to the original ones.

use super::depth::deep_enough;
use super::lines::Lines;
use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::parser::{Parser, ParserReturn};
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};
use std::path::{Path, PathBuf};

/// A file, ready to be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Translated {
    /// The code, as JavaScript.
    pub(crate) code: String,
    /// True for CommonJS: a file without module syntax.
    pub(crate) is_common_js: bool,
    /// The origins of its lines, if the code was generated anew.
    pub(crate) lines: Option<Lines>,
}

/// The error for a file that is neither JavaScript nor, where that is allowed, TypeScript: the
/// first problem with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: Line {line}:{column} {message}{}", more(*.others))]
pub(crate) struct SyntaxProblem {
    /// The file.
    pub(crate) name: String,
    /// The message.
    pub(crate) message: String,
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column, from 1.
    pub(crate) column: u32,
    /// The number of further problems.
    pub(crate) others: usize,
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        others => format!(" (and {others} more errors)"),
    }
}

/// Translates a file to JavaScript. It may have types if its name ends in `.ts`, or if it is
/// standard input.
pub(crate) fn translate(name: &str, text: &str) -> Result<Translated, SyntaxProblem> {
    let text = blank_shebang(text);
    let translated = deep_enough(&text, || match as_javascript(name, &text) {
        Ok(is_common_js) => Ok((None, is_common_js)),
        Err(_) if may_have_types(name) => {
            without_types(name, &text).map(|translated| (Some(translated), false))
        }
        Err(problem) => Err(problem),
    });
    let translated = translated.map_err(|problem| SyntaxProblem {
        name: name.to_owned(),
        message: problem.to_string(),
        line: 1,
        column: 1,
        others: 0,
    })?;
    translated.map(|(printed, is_common_js)| {
        printed.unwrap_or(Translated {
            code: text,
            is_common_js,
            lines: None,
        })
    })
}

fn may_have_types(name: &str) -> bool {
    let path = name.split(['?', '#']).next().unwrap_or(name);
    path.ends_with(".ts") || path.ends_with("/-")
}

/// Turns a first line for the shell into a comment of the same length.
fn blank_shebang(text: &str) -> String {
    match text.strip_prefix("#!") {
        Some(rest) => format!("//{rest}"),
        None => text.to_owned(),
    }
}

/// True if the text is CommonJS, false if it is a module.
fn as_javascript(name: &str, text: &str) -> Result<bool, SyntaxProblem> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::mjs()).parse();
    let is_module = parsed.module_record.has_module_syntax;
    if is_module {
        return refuse(name, text, &parsed).map(|()| false);
    }
    // Without module syntax only a top-level `await` makes a file a module.
    let as_common_js = Parser::new(&allocator, text, SourceType::cjs()).parse();
    if as_common_js.diagnostics.is_empty() {
        return Ok(true);
    }
    refuse(name, text, &parsed).map(|()| false)
}

fn refuse(name: &str, text: &str, parsed: &ParserReturn<'_>) -> Result<(), SyntaxProblem> {
    let Some(first) = parsed.diagnostics.iter().next() else {
        return Ok(());
    };
    let labels = first.labels.iter();
    let offset = labels.map(|label| label.offset() as usize).next();
    let (line, column) = place(text, offset.unwrap_or_default());
    Err(SyntaxProblem {
        name: name.to_owned(),
        message: first.message.to_string(),
        line,
        column,
        others: parsed.diagnostics.len() - 1,
    })
}

/// Returns the line and column of an offset, both from 1.
fn place(text: &str, offset: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n');
    (line as u32 + 1, column.count() as u32 + 1)
}

fn without_types(name: &str, text: &str) -> Result<Translated, SyntaxProblem> {
    let allocator = Allocator::default();
    let mut parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    refuse(name, text, &parsed)?;
    let is_module = parsed.module_record.has_module_syntax;
    let path = Path::new(name);
    let semantic = SemanticBuilder::new().with_enum_eval(true);
    let scoping = semantic.build(&parsed.program).semantic;
    let options = TransformOptions::default();
    Transformer::new(&allocator, path, &options)
        .build_with_scoping(scoping.into_scoping(), &mut parsed.program);
    let printed = Codegen::new()
        .with_options(CodegenOptions {
            source_map_path: Some(PathBuf::from(name)),
            ..CodegenOptions::default()
        })
        .build(&parsed.program);
    let lines = printed.map.map(|map| Lines::of(&map, false));
    // A module whose imports were all types has no module syntax left.
    let is_common_js = !is_module && as_javascript(name, &printed.code)?;
    Ok(Translated {
        code: printed.code,
        is_common_js,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Translated {
        translate(name, text).unwrap()
    }

    #[test]
    fn javascript_stays_as_it_is() {
        let text = "import http from 'k6/http';\nexport default () => http.get('/');\n";
        let translated = of("file:///a.js", text);
        assert_eq!((translated.code.as_str(), translated.lines), (text, None));
        assert!(!translated.is_common_js);
    }

    #[test]
    fn a_file_without_module_syntax_is_common_js_unless_it_awaits() {
        assert!(of("file:///a.js", "module.exports = 1;").is_common_js);
        assert!(!of("file:///a.js", "await 1;").is_common_js);
        assert!(!of("file:///a.js", "export {};").is_common_js);
    }

    #[test]
    fn types_are_stripped_and_lines_are_kept_apart() {
        let text = "interface A { a: number }\n\nimport type { B } from './b';\n\
                    export const x: number = 1;\nenum Kind { One, Two }\n\
                    export default (a: A): void => { throw new Error(`${Kind.Two}`); };\n";
        let translated = of("file:///a.ts", text);
        assert!(
            !translated.code.contains("interface"),
            "{}",
            translated.code
        );
        assert!(!translated.code.contains("./b"), "{}", translated.code);
        let thrown = translated
            .code
            .lines()
            .position(|line| line.contains("throw"));
        let line = thrown.unwrap() as u32 + 1;
        let lines = translated.lines.unwrap();
        assert_eq!(lines.written(line, 20).map(|place| place.line), Some(6));
    }

    #[test]
    fn types_in_plain_javascript_are_refused_with_their_place() {
        let problem = translate("file:///a.js", "let a = 1;\nlet b: number = 2;").unwrap_err();
        assert_eq!((problem.line, problem.column), (2, 6), "{problem}");
    }

    #[test]
    fn a_shebang_is_a_comment() {
        assert_eq!(
            of("file:///a.js", "#!/usr/bin/env k6\nexport {}")
                .code
                .len(),
            27
        );
    }
}
