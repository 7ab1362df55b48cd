//! The documents as TypeScript, for programs that read them.

use crate::{Comparison, Doctor, Run, Search, Series, Watched};
use std::collections::BTreeMap;
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};

/// The path of the generated file, relative to the folder of this crate.
const FILE: &str = "../../docs/guide/schema/loadline.ts";
const HEAD: &str = "// Generated from the types in crates/json. Do not edit; to write it anew:\n\
                    // GENERATE=1 cargo test -p loadline-json typescript\n";

/// The declarations of all types that the documents reach, by name.
struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() {
            // A type of a library, such as a number or a list, has no declaration.
            T::visit_generics(self);
            return;
        }
        let name = T::ident(&self.config);
        if !self.found.contains_key(&name) {
            let docs = T::docs().unwrap_or_default();
            let text = format!("{docs}export {}\n", T::decl(&self.config));
            self.found.insert(name, text);
            T::visit_dependencies(self);
            T::visit_generics(self);
        }
    }
}

fn declarations() -> String {
    let mut all = Declarations {
        // Programs that read JSON as JavaScript does have its numbers.
        config: Config::new().with_large_int("number"),
        found: BTreeMap::new(),
    };
    all.visit::<Run>();
    all.visit::<Series>();
    all.visit::<Comparison>();
    all.visit::<Search>();
    all.visit::<Watched>();
    all.visit::<Doctor>();
    let types: Vec<String> = all.found.into_values().collect();
    format!("{HEAD}\n{}", types.join("\n")).replace("`None`", "null")
}

#[test]
fn the_types_in_the_guide_are_those_of_the_documents() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let types = declarations();
    if std::env::var_os("GENERATE").is_some() {
        std::fs::write(&path, types).unwrap();
        return;
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == types,
        "docs/guide/schema/loadline.ts is not what the types in crates/json give. \
         Run GENERATE=1 cargo test -p loadline-json typescript, and commit the file."
    );
}
