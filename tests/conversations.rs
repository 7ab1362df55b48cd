//! Conversations with the command, as text: see the files in `cli/`.
//!
//! `TRYCMD=overwrite cargo test -p loadline-integration` writes down what the command says now; read
//! the difference before you keep it.

use crate::rig::program;
use trycmd::TestCases;

#[test]
fn the_command_says_what_is_written() {
    TestCases::new()
        .register_bin("loadline", program())
        .env("COLUMNS", "100")
        .case(concat!(env!("CARGO_MANIFEST_DIR"), "/cli/*.trycmd"));
}
