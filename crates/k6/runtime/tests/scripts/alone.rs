//! A process of its own for one test, which measures the whole process.

use std::any::type_name_of_val;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The environment variable that is set in the process of one test.
const ALONE: &str = "LOADLINE_TEST_ALONE";

/// Runs the body of this test in a process where no other test runs, one such process at a time.
#[expect(clippy::print_stdout, reason = "it is what the test's process printed")]
pub(crate) fn alone<T: Fn()>(test: T, body: impl FnOnce()) {
    static TURN: Mutex<()> = Mutex::new(());
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let path = type_name_of_val(&test);
    let (_, name) = path.split_once("::").expect("a test of this crate");
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let ran = Command::new(std::env::current_exe().expect("this program's file"))
        .args([name, "--exact", "--ignored", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("this program can be started again");
    let printed = String::from_utf8_lossy(&ran.stdout);
    println!("{printed}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{name} failed in its own process");
    assert!(printed.contains("1 passed"), "{name} is not a test");
}
