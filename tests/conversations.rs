//! Conversations with the command, as text: see the files in `cli/`.
//!
//! `TRYCMD=overwrite cargo test -p loadline --test integration` writes down what the command says
//! now; read the difference before you keep it.

use std::path::Path;
use trycmd::TestCases;

#[test]
fn the_command_says_what_is_written() {
    TestCases::new()
        .register_bin("loadline", Path::new(env!("CARGO_BIN_EXE_loadline")))
        .env("COLUMNS", "100")
        .case(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/cli/*.trycmd"
        ));
}
