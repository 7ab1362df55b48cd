//! The types of the API in TypeScript, and the file that the page imports.

use crate::api::{
    Compared, Composed, EarlierRun, Event, NameCourse, NewBaseline, NewCheck, NewEnd, NewLevel,
    NewNote, NewRun, Offer, Problem, SlowRows, Span, State, Steered,
};
use std::collections::BTreeMap;
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};

/// The path of the generated file, relative to the folder of this crate.
const FILE: &str = "../../web/src/generated/live.ts";
const HEAD: &str = "// Generated from the types in crates/live-page. Do not edit; write it by\n\
                    // GENERATE=1 cargo test -p loadline-live-page typescript\n";

/// The declarations of all types that the API reaches, by name.
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
        }
    }
}

fn declarations() -> String {
    let mut all = Declarations {
        // Counts are of type `number`, as the browser reads them from JSON.
        config: Config::new().with_large_int("number"),
        found: BTreeMap::new(),
    };
    all.visit::<State>();
    all.visit::<Event>();
    all.visit::<NewLevel>();
    all.visit::<NewNote>();
    all.visit::<NewBaseline>();
    all.visit::<NewCheck>();
    all.visit::<NewEnd>();
    all.visit::<Steered>();
    all.visit::<Problem>();
    all.visit::<Span>();
    all.visit::<NameCourse>();
    all.visit::<SlowRows>();
    all.visit::<Offer>();
    all.visit::<NewRun>();
    all.visit::<Composed>();
    all.visit::<EarlierRun>();
    all.visit::<Compared>();
    let types: Vec<String> = all.found.into_values().collect();
    format!("{HEAD}\n{}", types.join("\n"))
}

#[test]
fn the_page_imports_these_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let types = declarations();
    if std::env::var_os("GENERATE").is_some() {
        std::fs::write(&path, types).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == types,
        "web/src/generated/live.ts is not what the types in crates/live-page give. \
         Run GENERATE=1 cargo test -p loadline-live-page typescript, and commit the file."
    );
}
