//! `scripts/need` on machines that lack a program, with package managers that only write down how
//! they are called.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/need");
const POLICY: &str = "/usr/sbin/policy-rc.d";
const INSTALL: &str = "env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq";

/// A machine with no commands but those it was given.
struct Machine {
    commands: TempDir,
}

impl Machine {
    /// A machine whose user has this number.
    fn of_user(id: u32) -> Self {
        let machine = Machine {
            commands: tempfile::tempdir().unwrap(),
        };
        machine.command("id", &format!("echo {id}"));
        machine
    }

    /// Gives it a command that does this.
    fn command(&self, name: &str, does: &str) {
        let path = self.commands.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Gives it commands that write down how they were called and do nothing.
    fn recorded(self, names: &[&str]) -> Self {
        let calls = self.calls_path();
        for name in names {
            self.command(name, &format!("echo {name} \"$@\" >> {}", calls.display()));
        }
        self
    }

    fn calls_path(&self) -> std::path::PathBuf {
        self.commands.path().join("calls")
    }

    /// Asks for two programs that are missing, and one that is there.
    fn need(&self) -> Output {
        Command::new("/bin/sh")
            .args([
                SCRIPT,
                "no-such-a=package-a",
                "id=coreutils",
                "no-such-b=package-b",
            ])
            .env("PATH", self.commands.path())
            .output()
            .unwrap()
    }

    /// The calls, but for those that keep services from being started, which depend on whether the
    /// machine does so already.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.calls_path()).unwrap_or_default();
        let about_policy = |call: &&str| call.contains(POLICY);
        assert_eq!(
            calls.lines().filter(about_policy).count(),
            if Path::new(POLICY).exists() { 0 } else { 3 },
            "{calls}"
        );
        let others = calls.lines().filter(|call| !about_policy(call));
        others.map(str::to_owned).collect()
    }
}

fn outcome_of(output: &Output) -> (Option<i32>, String) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn what_is_there_needs_nothing() {
    let machine = Machine::of_user(1000);
    let need = Command::new("/bin/sh")
        .args([SCRIPT, "id=coreutils"])
        .env("PATH", machine.commands.path())
        .output()
        .unwrap();
    assert_eq!(outcome_of(&need), (Some(0), String::new()));
    assert!(need.stdout.is_empty());
}

#[test]
fn without_a_package_manager_that_is_known_it_names_what_is_missing() {
    let need = Machine::of_user(0).need();
    let sentence = "Missing on this machine: package-a package-b. Install these programs with the \
                    package manager of your system and run make again.\n";
    assert_eq!(outcome_of(&need), (Some(1), sentence.to_owned()));
}

#[test]
fn who_may_not_install_is_told_the_command() {
    let sentence = "Missing on this machine: package-a package-b. Run: sudo apt-get install \
                    package-a package-b, and then make again.\n";
    let without_sudo = Machine::of_user(1000).recorded(&["apt-get"]);
    assert_eq!(
        outcome_of(&without_sudo.need()),
        (Some(1), sentence.to_owned())
    );
    let with_password = Machine::of_user(1000).recorded(&["apt-get"]);
    with_password.command("sudo", "exit 1");
    assert_eq!(
        outcome_of(&with_password.need()),
        (Some(1), sentence.to_owned())
    );
    assert!(!with_password.calls_path().exists());
}

#[test]
fn root_installs_what_is_missing() {
    let machine = Machine::of_user(0).recorded(&["apt-get", "env", "tee", "chmod", "rm"]);
    let need = machine.need();
    assert_eq!(outcome_of(&need), (Some(0), String::new()));
    assert_eq!(need.stdout, b"Installing package-a package-b\n");
    assert_eq!(machine.calls(), [format!("{INSTALL} package-a package-b")]);
}

#[test]
fn others_install_through_sudo() {
    let machine = Machine::of_user(1000).recorded(&["apt-get", "sudo"]);
    assert_eq!(outcome_of(&machine.need()), (Some(0), String::new()));
    let install = format!("sudo {INSTALL} package-a package-b");
    assert_eq!(machine.calls(), ["sudo -n true", &install]);
}

#[test]
fn lists_of_packages_that_are_out_of_date_are_renewed() {
    let machine = Machine::of_user(0).recorded(&["tee", "chmod", "rm"]);
    let calls = machine.calls_path();
    let calls = calls.display();
    machine.command("apt-get", &format!("echo apt-get \"$@\" >> {calls}"));
    // Fails until the lists are new.
    machine.command(
        "env",
        &format!(
            "echo env \"$@\" >> {calls}\nwhile read -r call; do\n[ \
                                     \"$call\" = 'apt-get update -qq' ] && exit 0\ndone < \
                                     {calls}\nexit 1"
        ),
    );
    assert_eq!(outcome_of(&machine.need()), (Some(0), String::new()));
    let install = format!("{INSTALL} package-a package-b");
    assert_eq!(machine.calls(), [&install, "apt-get update -qq", &install]);
}
