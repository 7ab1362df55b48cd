//! Passes the compiler flags of the build to the program, which records them in its results.

use std::env;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let flags = format!(
        "opt-level={} target={} target-feature={}",
        variable("OPT_LEVEL"),
        variable("TARGET"),
        variable("CARGO_CFG_TARGET_FEATURE")
    );
    println!("cargo::rustc-env=LOADLINE_BUILD_FLAGS={flags}");
    println!("cargo::rerun-if-changed=build.rs");
}
