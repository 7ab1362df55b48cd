//! The interpreters that can run the package: where they are looked for, and their commands.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the interpreter, where it is not to be looked for.
const VARIABLE: &str = "LOADLINE_PYTHON";

/// Names this program to Python, which has it judge runs and write reports.
const PROGRAM: &str = "LOADLINE_PROGRAM";

/// The program that exits with 0 if an interpreter can run the package: Python from 3.10 on that
/// finds it.
const PROBE: &str = "\
import importlib.util, sys
old = sys.version_info < (3, 10)
sys.exit(10 if old else 0 if importlib.util.find_spec('loadline') else 11)";

const TOO_OLD: i32 = 10;
const NO_PACKAGE: i32 = 11;

/// The command of an interpreter that runs a module of the package.
pub(crate) fn command(program: &Path, module: &str) -> Command {
    let mut python = Command::new(program);
    python.args(["-m", module]);
    if let (None, Ok(own)) = (std::env::var_os(PROGRAM), std::env::current_exe()) {
        python.env(PROGRAM, own);
    }
    python
}

/// An interpreter that can run the package.
///
/// # Errors
/// Why there is none, and what to do.
pub(crate) fn find() -> Result<PathBuf, String> {
    let tried: Vec<Tried> = candidates().into_iter().map(Tried::of).collect();
    let found = tried.iter().find(|tried| tried.fitness == Fitness::Fit);
    found
        .map(|found| found.program.clone())
        .ok_or_else(|| sentence(&tried))
}

/// An interpreter, and whether it will do.
#[derive(Debug)]
struct Tried {
    program: PathBuf,
    fitness: Fitness,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fitness {
    Fit,
    /// There is none of this name.
    Missing,
    /// It is of a version before 3.10.
    Old,
    /// The package is not installed for it.
    Bare,
}

impl Tried {
    fn of(program: PathBuf) -> Self {
        let fitness = fitness(&program);
        Tried { program, fitness }
    }
}

fn fitness(program: &Path) -> Fitness {
    let status = Command::new(program)
        .args(["-c", PROBE])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => Fitness::Fit,
        Ok(Some(NO_PACKAGE)) => Fitness::Bare,
        Ok(Some(TOO_OLD) | None) => Fitness::Old,
        // One that does not even read the question is not of this decade.
        Ok(Some(_)) => Fitness::Old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Fitness::Missing,
        Err(_) => Fitness::Missing,
    }
}

/// The interpreters in which the package may be: the one that is named, the one beside this program
/// (of a wheel, or of a clone), the one of the environment that is active, and the system's.
fn candidates() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return vec![named.into()];
    }
    let beside = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .ok()
        .and_then(|program| Some(program.parent()?.to_owned()));
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    candidates_of(beside.as_deref(), active.as_deref())
}

fn candidates_of(beside: Option<&Path>, active: Option<&Path>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if let Some(folder) = beside {
        // A wheel puts this program beside its interpreter; `make build` makes an environment in
        // the folder above.
        all.push(folder.join("python3"));
        all.extend(
            folder
                .parent()
                .map(|target| target.join("python/bin/python3")),
        );
    }
    all.extend(active.map(|folder| folder.join("bin/python3")));
    all.push("python3".into());
    let is_there = |program: &PathBuf| program == OsStr::new("python3") || program.exists();
    all.retain(is_there);
    all
}

/// Returns the reason why none of them is usable, and advice.
fn sentence(tried: &[Tried]) -> String {
    let has = |fitness| tried.iter().find(|tried| tried.fitness == fitness);
    if let Some(bare) = has(Fitness::Bare) {
        return format!(
            "locustfiles need Loadline's package for Python, and {} has none: pip install \
             'loadline[locust]', or run `make build` in a clone",
            bare.program.display()
        );
    }
    if let Some(old) = has(Fitness::Old) {
        return format!(
            "locustfiles need Python 3.10 or newer, and {} is older; install a newer one, or name \
             it in {VARIABLE}",
            old.program.display()
        );
    }
    format!(
        "locustfiles need Python 3.10 or newer, and there is no python3 here; install it, and with \
         its pip: pip install 'loadline[locust]' ({VARIABLE} names another interpreter)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence_on(fitnesses: &[Fitness]) -> String {
        let tried = |fitness: &Fitness| Tried {
            program: "python3".into(),
            fitness: *fitness,
        };
        sentence(&fitnesses.iter().map(tried).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_missing_is_said_in_one_sentence() {
        let none = sentence_on(&[Fitness::Missing]);
        assert!(none.contains("no python3 here; install it"), "{none}");
        let old = sentence_on(&[Fitness::Missing, Fitness::Old]);
        assert!(old.contains("python3 is older"), "{old}");
        let bare = sentence_on(&[Fitness::Old, Fitness::Bare]);
        assert!(bare.contains("pip install 'loadline[locust]'"), "{bare}");
    }

    #[test]
    fn interpreters_are_looked_for_beside_the_program_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let (release, python) = (
            folder.path().join("release"),
            folder.path().join("python/bin"),
        );
        for made in [&release, &python] {
            std::fs::create_dir_all(made).expect("a folder");
        }
        std::fs::write(python.join("python3"), "").expect("a file");
        let found = candidates_of(Some(&release), None);
        assert_eq!(found, [python.join("python3"), "python3".into()]);
        assert_eq!(candidates_of(None, None), [PathBuf::from("python3")]);
    }

    #[test]
    fn an_interpreter_that_is_not_there_is_missing() {
        assert_eq!(fitness(Path::new("/nowhere/python3")), Fitness::Missing);
    }
}
